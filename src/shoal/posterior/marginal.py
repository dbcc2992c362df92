"""Where the posterior lies when coefficients are integrated out, and the Gaussian around it."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.optimize import minimize

from shoal.passive.estimating import LOST
from shoal.posterior.curvature import likelihood_curvature
from shoal.posterior.density import Density, Hyper
from shoal.posterior.mode import mode_given
from shoal.posterior.quadratic import Top, amplitude_of, started
from shoal.precision import as_jax
from shoal.system.progress import Report

LARGEST_WORK = 60_000_000
"""States times coefficients beyond which the curvature is taken by its diagonal alone."""

STEP = 0.05
"""Between the points whose slopes give the curvature in the unknowns; these have prior sd 1."""


class Around(NamedTuple):
    """A Gaussian around the most probable unknowns.

    position = centre + matrix @ z with z standard normal; ``log_volume`` is log |matrix|, and
    ``informed`` the precision of each coefficient that the tracks add to the prior's 1.
    """

    centre: Float[np.ndarray, " unknowns"]
    matrix: Float[np.ndarray, "unknowns unknowns"]
    log_volume: float
    informed: Float[np.ndarray, " n"]
    converged: bool
    iterations: int


def curvature(model: Density, xi: Float[Array, " n"], hyper: Hyper) -> Float[Array, "n n"]:
    """−∇² log p(ξ | y, the other unknowns), in a form that JAX can differentiate."""
    density = model.given(hyper)
    left = density.departures > 0
    v = density.basis.apply(xi)
    _, z, reached = density.desirability(v)
    weight = jnp.where(left, jnp.sqrt(density.departures) / jnp.where(left, reached, 1.0), 0.0)
    functions = density.basis.dense()
    columns = (z.ravel() * functions.T).reshape(-1, *density.passive.shape)
    spread = (jax.vmap(density.passive.apply)(columns) * weight).reshape(xi.size, -1)
    entered = density.expected_arrivals(v).ravel()
    inner = (functions.T * entered) @ functions - spread @ spread.T
    return density.discount**2 * inner + jnp.eye(xi.size)


@eqx.filter_jit
def log_marginal(
    model: Density, hyper: Hyper, xi: Float[Array, " n"]
) -> tuple[Float[Array, ""], Hyper]:
    """Log p(y, unknowns) with the coefficients integrated out by Laplace's method, and its slope.

    ``xi`` is the mode of the coefficients there. The slope takes its movement into account: one
    Newton step from it has the same derivative as the mode itself.
    """
    if model.arrivals.size * xi.size > LARGEST_WORK:
        return jax.value_and_grad(lambda at: _by_diagonal(model, at, xi))(hyper)
    factor = jnp.linalg.cholesky(jax.lax.stop_gradient(curvature(model, xi, hyper)))

    def value(at: Hyper) -> Float[Array, ""]:
        slope = jax.grad(model.log_joint)(xi, at)
        moved = xi + jax.scipy.linalg.cho_solve((factor, True), slope)
        volume = jnp.sum(jnp.log(jnp.diag(jnp.linalg.cholesky(curvature(model, moved, at)))))
        normal = 0.5 * xi.size * jnp.log(2 * jnp.pi)
        return model.log_joint(moved, at) + model.log_hyperprior(at) + normal - volume

    return jax.value_and_grad(value)(hyper)


def _by_diagonal(model: Density, hyper: Hyper, xi: Float[Array, " n"]) -> Float[Array, ""]:
    """The same where the curvature is too large to write out: its diagonal stands for it."""
    density = model.given(hyper)
    entered = density.discount**2 * density.expected_arrivals(density.basis.apply(xi))
    diagonal = 1 + density.basis.map.squared().adjoint(jax.lax.stop_gradient(entered)).ravel()
    normal = 0.5 * xi.size * jnp.log(2 * jnp.pi)
    volume = 0.5 * jnp.sum(jnp.log(diagonal))
    return model.log_joint(xi, hyper) + model.log_hyperprior(hyper) + normal - volume


def _numbers(value: float, slope: Float[np.ndarray, " k"]) -> tuple[float, Float[np.ndarray, " k"]]:
    usable = np.isfinite(value) and np.all(np.isfinite(slope))
    return (value, slope) if usable else (LOST, np.zeros_like(slope))


def marginal_top(model: Density, report: Report) -> Top:
    """The most probable unknowns besides the coefficients, and the coefficients' mode there.

    The search begins where a similar fit was; or else the passive dynamics are learned without
    costs first.
    """
    model, hyper, xi = started(model)
    mode = mode_given(model, as_jax(hyper), xi)
    last, tries = {"xi": mode.beta}, 0
    if not hyper.size:
        return Top(hyper, mode.beta, bool(mode.converged), int(mode.steps))

    def loss(at: Float[np.ndarray, " hyper"]) -> tuple[float, Float[np.ndarray, " hyper"]]:
        nonlocal tries
        tries += 1
        report("finding scales and dynamics", tries, None)
        mode = mode_given(model, as_jax(at), last["xi"])
        if not bool(mode.converged):
            return LOST, np.zeros_like(at)
        last["xi"] = mode.beta
        value, slope = log_marginal(model, as_jax(at), mode.beta)
        return _numbers(-float(value), -np.asarray(slope))

    found = minimize(
        loss,
        hyper,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds_of(model),
        options={"maxiter": 200, "ftol": 1e-8, "gtol": 1e-2},
    )
    report("finding scales and dynamics", tries, tries)
    mode = mode_given(model, as_jax(found.x), last["xi"])
    settled = bool(found.success) and bool(mode.converged) and found.fun < LOST
    return Top(found.x, mode.beta, settled, int(found.nit))


def bounds_of(model: Density) -> list[tuple[float, float]]:
    """Eight prior sds either way; the logarithm of a precision may go farther."""
    wide = 20.0 if "precision" in model.basis.names else 8.0
    return [(-wide, wide)] * len(model.basis.names) + [(-8.0, 8.0)] * model.family.count


def gaussian_around(model: Density, top: Top, spread: Float[np.ndarray, "hyper hyper"]) -> Around:
    """The Gaussian that has the posterior's curvature around the most probable unknowns.

    Coefficients follow the other unknowns as their mode does.

    Parameters
    ----------
    spread
        A square root of the covariance of the other unknowns.
    """
    hyper, count = np.asarray(top.hyper), model.coefficients
    precise = _precision(model, top)
    factor = cholesky(precise, lower=True)
    inverse = solve_triangular(factor, np.eye(count), lower=True, trans="T")
    matrix = np.zeros((model.dimension, model.dimension))
    matrix[:count, :count] = inverse
    log_volume = -float(np.sum(np.log(np.diag(factor))))
    if hyper.size:
        edge = np.asarray(_edge(model, top.xi, as_jax(hyper)))
        follow = inverse @ (inverse.T @ edge)
        matrix[:count, count:] = follow @ spread
        matrix[count:, count:] = spread
        log_volume += float(np.linalg.slogdet(spread)[1])
    centre = np.concatenate([np.asarray(top.xi), hyper])
    informed = np.maximum(np.diag(precise) - 1, 0.0)
    return Around(centre, matrix, log_volume, informed, top.converged, top.iterations)


def _precision(model: Density, top: Top) -> Float[np.ndarray, "n n"]:
    """−∇² log p(ξ | y, the other unknowns) at the top."""
    amplitude = amplitude_of(model, top.hyper)
    if top.around is None:
        curved = likelihood_curvature(model, top.hyper, amplitude * np.asarray(top.xi))
    else:
        curved = top.around.bend[: amplitude.size, : amplitude.size]
    return np.asarray(np.eye(amplitude.size) + amplitude[:, None] * curved * amplitude)


@eqx.filter_jit
def _edge(model: Density, xi: Float[Array, " n"], hyper: Hyper) -> Float[Array, "n hyper"]:
    """How the slope in the coefficients changes with the other unknowns."""
    return jax.jacfwd(lambda at: jax.grad(model.log_joint)(xi, at))(hyper)


def hyper_spread(model: Density, top: Top, report: Report) -> Float[np.ndarray, "hyper hyper"]:
    """A square root of the covariance of the unknowns besides the coefficients.

    It comes from the curvature of the marginal density, which is never less than a quarter of what
    the prior alone would give.
    """
    hyper = np.asarray(top.hyper)
    bend = np.zeros((hyper.size, hyper.size))
    for n in range(hyper.size):
        slopes = []
        for sign in (1.0, -1.0):
            at = hyper.copy()
            at[n] += sign * STEP
            mode = mode_given(model, as_jax(at), top.xi)
            slopes.append(np.asarray(log_marginal(model, as_jax(at), mode.beta)[1]))
        bend[n] = (slopes[1] - slopes[0]) / (2 * STEP)
        report("curvature of scales and dynamics", n + 1, hyper.size)
    return root_of(bend)


def root_of(bend: Float[np.ndarray, "hyper hyper"]) -> Float[np.ndarray, "hyper hyper"]:
    """A square root of the covariance that belongs to a curvature."""
    values, vectors = eigh((bend + bend.T) / 2)
    return np.asarray(vectors / np.sqrt(np.maximum(values, 0.25)))
