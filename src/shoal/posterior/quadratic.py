"""The most probable scales, lengths and passive moves, where a curvature is dear.

The log likelihood of the costs' coefficients c and of the passive unknowns p is taken as quadratic
around the last guess. Then everything has a closed form: ξ = c / amplitude(u) is normal given
(u, p), and what is left of the posterior is a function of (u, p) that needs one small Cholesky
factor. It is climbed, the guess moves there, and the quadratic is made again. A handful of
curvatures is needed where an exact search takes one at each of its steps.
"""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg.lapack import dpotrf, dtrtri, dtrtrs
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from shoal.basis import ScaledBasis
from shoal.basis.scaled import prior_at, priors_at
from shoal.passive.estimating import LOST, most_probable
from shoal.posterior.decision_likelihood import DecisionLikelihood, Quadratic
from shoal.posterior.density import Density
from shoal.precision import as_jax
from shoal.system.progress import Report
from shoal.system.threads import side_by_side

ROUNDS = 30
"""Quadratics that are made at most."""

SETTLED = 1e-3
"""Nats that the last step may gain."""

STEP = 1e-3
"""Of the unknowns, for second derivatives by differences."""

VANISHING = 1e-12
"""Nats: an amplitude that no tracks can tell from 0."""

SHORTEST = 1e-4
"""Of a step that was predicted, before the search gives up."""


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
    u, p = as_jax(hyper[:count]), hyper[count:]
    amplitude, log_prior, prior_slope = (np.asarray(part) for part in prior_at(basis, u))
    n = amplitude.size
    pull, factor, failed = _system(found, amplitude, p)
    if failed:
        return Climb(-np.inf, np.zeros(hyper.size), np.zeros(n))
    root, _ = dtrtri(factor, lower=1)
    root = np.tril(root)
    mean = root.T @ (root @ pull)
    height = (
        0.5 * pull @ mean - np.sum(np.log(np.diag(factor))) + log_prior + _moves_alone(found, p)
    )
    free = amplitude > VANISHING  # below it a coefficient is nothing, whatever its amplitude
    by_amplitude = (mean**2 + np.sum(root**2, axis=0) - 1) / np.where(free, amplitude, np.inf)
    by_basis = np.asarray(_pulled_back(basis, u, as_jax(by_amplitude))) + prior_slope
    across, along, away = found.bend[:n, n:], found.bend[n:, n:], p - found.passive
    by_passive = found.slope[n:] + found.costs @ across - across.T @ (amplitude * mean)
    return Climb(float(height), np.concatenate([by_basis, by_passive - along @ away - p]), mean)


def heights_given(
    basis: ScaledBasis, found: Quadratic, hypers: Float[np.ndarray, "draws hyper"]
) -> Float[np.ndarray, " draws"]:
    """The height of ``log_given`` at many points, without its slope."""
    count = len(basis.names)
    amplitudes, log_priors = priors_at(basis, hypers[:, :count])

    def height(number: int) -> float:
        p = hypers[number, count:]
        pull, factor, failed = _system(found, amplitudes[number], p)
        if failed:
            return -np.inf
        half, _ = dtrtrs(factor, pull, lower=1)
        volume = np.sum(np.log(np.diag(factor)))
        return float(0.5 * half @ half - volume + log_priors[number] + _moves_alone(found, p))

    return np.array(side_by_side(height, range(len(hypers))))


def _system(
    found: Quadratic, amplitude: Float[np.ndarray, " n"], p: Float[np.ndarray, " p"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"], int]:
    """A b, a Cholesky factor of Λ, and whether there is none."""
    n = amplitude.size
    inner, across = found.bend[:n, :n], found.bend[:n, n:]
    pull = inner @ found.costs + found.slope[:n] - across @ (p - found.passive)
    precise = np.asarray(np.eye(n) + amplitude[:, None] * inner * amplitude)
    factor, failed = dpotrf(precise, lower=1, overwrite_a=1)
    return np.asarray(amplitude * pull), factor, failed


def _moves_alone(found: Quadratic, p: Float[np.ndarray, " p"]) -> float:
    """What the passive unknowns change by themselves, their prior included."""
    n, away = found.costs.size, p - found.passive
    slope = found.slope[n:] + found.costs @ found.bend[:n, n:]
    return float(slope @ away - 0.5 * away @ found.bend[n:, n:] @ away - 0.5 * p @ p)


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
    """The most probable unknowns, the mode of the coefficients there, and how it was found.

    Of decisions, ``likelihood`` is what was climbed, and ``around`` its quadratic there.
    """

    hyper: Float[np.ndarray, " hyper"]
    xi: Float[Array, " n"]
    converged: bool
    iterations: int
    likelihood: DecisionLikelihood | None = None
    around: Quadratic | None = None


def amplitude_of(model: Density, hyper: Any) -> Float[np.ndarray, " n"]:
    """The sd of each coefficient."""
    basis = as_jax(np.asarray(hyper)[: len(model.basis.names)])
    return np.asarray(prior_at(model.basis, basis)[0])


def started(model: Density) -> tuple[Density, Float[np.ndarray, " hyper"], Float[Array, " n"]]:
    """Where a search begins: where a similar fit was, or with passive dynamics learned alone."""
    if model.warm is None:
        alone = most_probable(model.family.bare, model.digest)
        nothing = as_jax(np.zeros(model.coefficients))
        return model, np.concatenate([model.basis.start, alone]), nothing
    xi, rest = model.split(as_jax(model.warm))
    return eqx.tree_at(lambda m: m.warm, model, None), np.asarray(rest), xi


def summit(model: Density, bounds: list[tuple[float, float]], report: Report) -> Top:
    """The most probable unknowns besides the coefficients, and the coefficients there."""
    count = len(model.basis.names)
    model, hyper, xi = started(model)
    likelihood = DecisionLikelihood.of(model)
    amplitude = likelihood.given(hyper).amplitude
    around = likelihood.quadratic(amplitude * np.asarray(xi), hyper[count:])
    for rounds in range(1, ROUNDS + 1):
        report("finding scales and dynamics", rounds, None)
        higher = _highest(model.basis, around, hyper, bounds)
        if higher is None:
            break
        hyper = higher
        mean = log_given(model.basis, around, hyper).mean
        amplitude = likelihood.given(hyper).amplitude
        ahead = (amplitude * mean - around.costs, hyper[count:] - around.passive)
        share, gain = _shortened(likelihood, around, ahead, amplitude)
        passive = around.passive + share * ahead[1]
        around = likelihood.quadratic(around.costs + share * ahead[0], passive)
        hyper = np.concatenate([hyper[:count], passive])
        if share == 1.0 and gain < SETTLED:
            break
        if share < SHORTEST:
            break
    report("finding scales and dynamics", rounds, rounds)
    settled = bool(higher is not None and share == 1.0 and gain < SETTLED)
    xi = as_jax(around.costs / amplitude)
    return Top(hyper, xi, settled, rounds, likelihood, around)


def _highest(
    basis: ScaledBasis,
    around: Quadratic,
    hyper: Float[np.ndarray, " hyper"],
    bounds: list[tuple[float, float]],
) -> Float[np.ndarray, " hyper"] | None:
    """The most probable unknowns of a quadratic; None where its height cannot be computed."""

    def loss(at: Float[np.ndarray, " hyper"]) -> tuple[float, Float[np.ndarray, " hyper"]]:
        found = log_given(basis, around, at)
        value, down = -found.height, -found.slope
        usable = np.isfinite(value) and np.all(np.isfinite(down))
        return (value, down) if usable else (LOST, np.zeros_like(down))

    if not hyper.size:
        return hyper
    with threadpool_limits(1):
        found = minimize(
            loss, hyper, jac=True, method="L-BFGS-B", bounds=bounds, options={"gtol": 1e-3}
        )
    return np.asarray(found.x) if found.fun < LOST else None


def _shortened(
    likelihood: DecisionLikelihood,
    around: Quadratic,
    ahead: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " p"]],
    amplitude: Float[np.ndarray, " n"],
) -> tuple[float, float]:
    """The first of 1, ½, ¼, … of a step at which the log posterior rises, and by how much."""

    def height(share: float) -> float:
        passive = around.passive + share * ahead[1]
        costs = around.costs + share * ahead[0]
        given = likelihood.given(np.concatenate([likelihood.model.basis.start, passive]))
        fit = likelihood.log_likelihoods(given, costs[None])[0]
        return float(fit - 0.5 * np.sum((costs / amplitude) ** 2) - 0.5 * passive @ passive)

    here, share = height(0.0), 1.0
    while share > SHORTEST / 2:
        there = height(share)
        if np.isfinite(there) and there >= here - 1e-9 * (1 + abs(here)):
            return share, abs(there - here)
        share /= 2
    return share, 0.0
