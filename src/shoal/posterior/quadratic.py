"""The most probable scales, lengths and passive moves, where a curvature is dear.

The log likelihood of the costs' coefficients c and of the passive unknowns p is taken as quadratic
around the last guess. Then everything has a closed form: ξ = c / amplitude(u) is normal given
(u, p), and what is left of the posterior is a function of (u, p) that needs one small Cholesky
factor. It is climbed, the guess moves there, and the quadratic is made again. A handful of
curvatures is needed where an exact search takes one at each of its steps.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg.lapack import dpotrf, dtrtri
from scipy.optimize import minimize

from shoal.basis import ScaledBasis
from shoal.passive.estimating import LOST, most_probable
from shoal.posterior.curvature import likelihood_curvature
from shoal.posterior.hierarchy import Hierarchy
from shoal.progress import Report

ROUNDS = 30
"""Quadratics that are made at most."""

SETTLED = 1e-3
"""Nats that the last step may gain."""

STEP = 1e-3
"""Of the unknowns, for second derivatives by differences."""

SHORTEST = 1e-4
"""Of a step that was predicted, before the search gives up."""


class Quadratic(NamedTuple):
    """The log likelihood around (c, p), to second order.

    ``slope`` and ``bend`` are in (c, p) together; ``bend`` is minus the second derivative.
    """

    costs: Float[Array, " n"]
    passive: Float[Array, " p"]
    slope: Float[Array, " both"]
    bend: Float[Array, "both both"]


def quadratic_at(
    model: Hierarchy, costs: Float[Array, " n"], passive: Float[Array, " p"]
) -> Quadratic:
    """Around a point."""
    basis = jnp.asarray(model.basis.start)
    plain = model.plain(jnp.concatenate([basis, passive]))
    curved = likelihood_curvature(plain, costs)
    slope, across, along = _passive_slopes(model, costs, passive)
    bend = np.block([[curved, -np.asarray(across)], [-np.asarray(across).T, -np.asarray(along)]])
    return Quadratic(costs, passive, slope, jnp.asarray(bend))


@eqx.filter_jit
def _passive_slopes(
    model: Hierarchy, costs: Float[Array, " n"], passive: Float[Array, " p"]
) -> tuple[Float[Array, " both"], Float[Array, "n p"], Float[Array, "p p"]]:
    """The slope in (c, p), and how it changes with p."""
    basis = jnp.asarray(model.basis.start)

    def slopes(at: Float[Array, " p"]) -> tuple[Array, Array]:
        def height(c: Float[Array, " n"], p: Float[Array, " p"]) -> Float[Array, ""]:
            density = model.plain(jnp.concatenate([basis, p]))
            return density.log_likelihood(density.basis.apply(c))

        return jax.grad(height, argnums=(0, 1))(costs, at)

    across, along = jax.jacfwd(slopes)(passive)
    return jnp.concatenate(slopes(passive)), across, along


class Climb(NamedTuple):
    """Log p(unknowns | tracks) up to a constant, its slope, and the mean of ξ there."""

    height: float
    slope: Float[np.ndarray, " hyper"]
    mean: Float[np.ndarray, " n"]


def log_given(basis: ScaledBasis, found: Quadratic, hyper: Float[np.ndarray, " hyper"]) -> Climb:
    """The posterior of the unknowns for this quadratic, ξ integrated out.

    With Λ = I + A H A, M = Λ⁻¹ and ξ = M A b the height is ½ ξᵀΛξ − ½ log |Λ|, and its slope in
    the amplitude of function i is (ξ_i² + M_ii − 1) / A_i.
    """
    count = len(basis.names)
    u, p = jnp.asarray(hyper[:count]), hyper[count:]
    amplitude, log_prior, prior_slope = (np.asarray(part) for part in _prior_at(basis, u))
    n, away = amplitude.size, p - np.asarray(found.passive)
    bend, first = np.asarray(found.bend), np.asarray(found.slope)
    costs = np.asarray(found.costs)
    inner, across, along = bend[:n, :n], bend[:n, n:], bend[n:, n:]
    pull = amplitude * (inner @ costs + first[:n] - across @ away)
    factor, failed = dpotrf(np.eye(n) + amplitude[:, None] * inner * amplitude, lower=1)
    if failed:
        return Climb(-np.inf, np.zeros(hyper.size), np.zeros(n))
    root, _ = dtrtri(factor, lower=1)
    root = np.tril(root)
    mean = root.T @ (root @ pull)
    moves = first[n:] + costs @ across
    height = 0.5 * pull @ mean - np.sum(np.log(np.diag(factor))) + log_prior
    height += moves @ away - 0.5 * away @ along @ away - 0.5 * p @ p
    by_amplitude = (mean**2 + np.sum(root**2, axis=0) - 1) / amplitude
    by_basis = np.asarray(_pulled_back(basis, u, jnp.asarray(by_amplitude))) + prior_slope
    by_passive = moves - across.T @ (amplitude * mean) - along @ away - p
    return Climb(float(height), np.concatenate([by_basis, by_passive]), mean)


@eqx.filter_jit
def _prior_at(
    basis: ScaledBasis, u: Float[Array, " k"]
) -> tuple[Float[Array, " n"], Float[Array, ""], Float[Array, " k"]]:
    """Amplitudes, and the log prior of the basis's unknowns with its slope."""
    return basis.amplitude(u), *jax.value_and_grad(basis.log_prior)(u)


@eqx.filter_jit
def _pulled_back(
    basis: ScaledBasis, u: Float[Array, " k"], slope: Float[Array, " n"]
) -> Float[Array, " k"]:
    """The slope in the unknowns, from that in the amplitudes."""
    return jax.vjp(basis.amplitude, u)[1](slope)[0]


def hyper_bend(
    basis: ScaledBasis, found: Quadratic, hyper: Float[np.ndarray, " hyper"]
) -> Float[np.ndarray, "k k"]:
    """Minus the second derivative of the log posterior of the unknowns besides coefficients."""
    rows = []
    for n in range(hyper.size):
        ahead, back = hyper.copy(), hyper.copy()
        ahead[n], back[n] = hyper[n] + STEP, hyper[n] - STEP
        rows.append(
            (log_given(basis, found, back).slope - log_given(basis, found, ahead).slope)
            / (2 * STEP)
        )
    return np.array(rows).reshape(hyper.size, hyper.size)


class Top(NamedTuple):
    """The most probable unknowns, the mode of the coefficients there, and how it was found."""

    hyper: Float[np.ndarray, " hyper"]
    xi: Float[Array, " n"]
    height: float
    converged: bool
    iterations: int


def started(model: Hierarchy) -> tuple[Hierarchy, Float[np.ndarray, " hyper"], Float[Array, " n"]]:
    """Where a search begins: where a similar fit was, or with passive dynamics learned alone."""
    if model.warm is None:
        alone = most_probable(model.family, model.digest)
        return model, np.concatenate([model.basis.start, alone]), jnp.zeros(model.coefficients)
    xi, rest = model.split(jnp.asarray(model.warm))
    return eqx.tree_at(lambda m: m.warm, model, None), np.asarray(rest), xi


def summit(model: Hierarchy, bounds: list[tuple[float, float]], report: Report) -> Top:
    """The most probable unknowns besides the coefficients, and the coefficients there."""
    count = len(model.basis.names)
    model, hyper, xi = started(model)
    amplitude = model.basis.amplitude(jnp.asarray(hyper[:count]))
    costs, passive = amplitude * xi, jnp.asarray(hyper[count:])
    around = quadratic_at(model, costs, passive)
    for rounds in range(1, ROUNDS + 1):
        report("finding scales and dynamics", rounds, None)
        hyper = _highest(model.basis, around, hyper, bounds)
        xi = jnp.asarray(log_given(model.basis, around, hyper).mean)
        amplitude = model.basis.amplitude(jnp.asarray(hyper[:count]))
        ahead = (amplitude * xi - around.costs, jnp.asarray(hyper[count:]) - around.passive)
        share, gain = _shortened(model, around, ahead, amplitude)
        costs, passive = around.costs + share * ahead[0], around.passive + share * ahead[1]
        around = quadratic_at(model, costs, passive)
        hyper = np.concatenate([hyper[:count], np.asarray(passive)])
        if share == 1.0 and gain < SETTLED:
            break
        if share < SHORTEST:
            break
    report("finding scales and dynamics", rounds, rounds)
    return Top(hyper, costs / amplitude, 0.0, bool(share == 1.0 and gain < SETTLED), rounds)


def _highest(
    basis: ScaledBasis,
    around: Quadratic,
    hyper: Float[np.ndarray, " hyper"],
    bounds: list[tuple[float, float]],
) -> Float[np.ndarray, " hyper"]:
    """The most probable unknowns of a quadratic."""

    def loss(at: Float[np.ndarray, " hyper"]) -> tuple[float, Float[np.ndarray, " hyper"]]:
        found = log_given(basis, around, at)
        value, down = -found.height, -found.slope
        usable = np.isfinite(value) and np.all(np.isfinite(down))
        return (value, down) if usable else (LOST, np.zeros_like(down))

    if not hyper.size:
        return hyper
    found = minimize(
        loss, hyper, jac=True, method="L-BFGS-B", bounds=bounds, options={"gtol": 1e-3}
    )
    return np.asarray(found.x) if found.fun < LOST else hyper


def _shortened(
    model: Hierarchy,
    around: Quadratic,
    ahead: tuple[Float[Array, " n"], Float[Array, " p"]],
    amplitude: Float[Array, " n"],
) -> tuple[float, float]:
    """The first of 1, ½, ¼, … of a step at which the log posterior rises, and by how much."""
    here = float(_height(model, around.costs, around.passive, amplitude))
    share = 1.0
    while share > SHORTEST / 2:
        there = _height(
            model, around.costs + share * ahead[0], around.passive + share * ahead[1], amplitude
        )
        if np.isfinite(there) and float(there) >= here - 1e-9 * (1 + abs(here)):
            return share, abs(float(there) - here)
        share /= 2
    return share, 0.0


@eqx.filter_jit
def _height(
    model: Hierarchy,
    costs: Float[Array, " n"],
    passive: Float[Array, " p"],
    amplitude: Float[Array, " n"],
) -> Float[Array, ""]:
    """The log posterior of costs and passive unknowns, given the amplitudes."""
    density = model.plain(jnp.concatenate([jnp.asarray(model.basis.start), passive]))
    xi = costs / amplitude
    fit = density.log_likelihood(density.basis.apply(costs))
    return fit - 0.5 * jnp.vdot(xi, xi) - 0.5 * jnp.vdot(passive, passive)
