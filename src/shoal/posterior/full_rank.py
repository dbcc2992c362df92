"""The nearest Gaussian of any covariance, by Newton steps on the bound."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from shoal.posterior.curvature import joint_corner, likelihood_curvature
from shoal.posterior.density import Density
from shoal.posterior.hierarchy import Hierarchy
from shoal.posterior.laplace import marginal_peak
from shoal.posterior.marginal import gaussian_around, marginal_top
from shoal.posterior.mean_field import Approximation, Target, base_noise
from shoal.posterior.mode import rough_mode
from shoal.precision import as_jax
from shoal.system.progress import Report


def full_rank(
    density: Target,
    base_draws: int,
    tolerance: float,
    max_iterations: int,
    generator: np.random.Generator,
    report: Report,
) -> Approximation:
    """Where the bound is stationary: E[∇ log p] = 0 and covariance⁻¹ = −E[∇² log p].

    Both expectations are taken over the same base draws throughout, and the two conditions are
    iterated from the Laplace approximation; a step that does not raise the bound is halved.
    """
    noise = base_noise(base_draws, density.dimension, generator)
    mean, precision = _start(density, report)
    factor = _factor(precision)
    bound, slope = _bound(density, mean, factor, noise)
    trace, converged = [bound], False
    while len(trace) <= max_iterations and not converged:
        places = mean + _spread(factor, noise)
        wanted = _expected_curvature(density, places)
        rate = 1.0
        while rate > 1e-3:
            new_precision = (1 - rate) * precision + rate * wanted
            try:
                new_factor = _factor(new_precision)
            except LinAlgError:
                rate /= 2
                continue
            half = solve_triangular(new_factor, slope, lower=True)
            new_mean = mean + rate * solve_triangular(new_factor, half, lower=True, trans="T")
            new_bound, new_slope = _bound(density, new_mean, new_factor, noise)
            if new_bound > bound:
                break
            rate /= 2
        else:
            converged = True  # no step raises the bound any more
            break
        converged = new_bound - bound < tolerance
        mean, precision, factor = new_mean, new_precision, new_factor
        bound, slope = new_bound, new_slope
        trace.append(bound)
        report("ADVI", len(trace) - 1, None)
    report("ADVI", len(trace) - 1, len(trace) - 1)
    return Approximation(
        mean,
        lambda fresh: _spread(factor, fresh),
        -float(np.sum(np.log(np.diag(factor)))),
        np.array(trace),
        converged,
        len(trace) - 1,
    )


def _start(
    density: Target, report: Report
) -> tuple[Float[np.ndarray, " unknowns"], Float[np.ndarray, "unknowns unknowns"]]:
    """The Laplace approximation: where it is highest, and its precision."""
    if isinstance(density, Hierarchy):
        around = gaussian_around(density, marginal_top(density, report), report)
        inverse = np.linalg.inv(around.matrix)
        return around.centre, inverse.T @ inverse
    mode, t, _ = rough_mode(density)
    beta = mode.beta
    if density.prior.unknowns:
        peak = marginal_peak(density, t, beta, report)
        t, beta = peak.t, peak.beta
    mean = np.asarray(density.join(beta, as_jax(t)))
    return mean, _expected_curvature(density, mean[None])


def _factor(precision: Float[np.ndarray, "k k"]) -> Float[np.ndarray, "k k"]:
    return np.asarray(cholesky(precision, lower=True, check_finite=False))


def _spread(
    factor: Float[np.ndarray, "k k"], noise: Float[np.ndarray, "draws k"]
) -> Float[np.ndarray, "draws k"]:
    """Noise with covariance (L Lᵀ)⁻¹."""
    return np.asarray(solve_triangular(factor, noise.T, lower=True, trans="T").T)


def _expected_curvature(
    density: Target, places: Float[np.ndarray, "draws unknowns"]
) -> Float[np.ndarray, "unknowns unknowns"]:
    """The mean of −∇² log p over these points."""
    if isinstance(density, Hierarchy):
        return np.asarray(_expected_hessian(density, as_jax(places)))
    size, count = density.dimension, density.coefficients
    total = np.zeros((size, size))
    for place in as_jax(places):
        total[:count, :count] += likelihood_curvature(density, place[:count])
    precisions, edge, corner = _prior_curvature(density, as_jax(places))
    total[np.arange(count), np.arange(count)] += float(precisions)
    if density.prior.unknowns:
        total[:count, count] = total[count, :count] = np.asarray(edge)
        total[count, count] = float(corner)
    return total / len(places)


@eqx.filter_jit
def _expected_hessian(
    density: Hierarchy, places: Float[Array, "draws unknowns"]
) -> Float[Array, "unknowns unknowns"]:
    def add(total: Array, place: Array) -> tuple[Array, None]:
        return total - jax.hessian(density.log_posterior)(place), None

    size = places.shape[1]
    total, _ = jax.lax.scan(add, jnp.zeros((size, size)), places)
    return total / places.shape[0]


@eqx.filter_jit
def _prior_curvature(
    density: Density, places: Float[Array, "draws unknowns"]
) -> tuple[Float[Array, ""], Float[Array, " n"], Float[Array, ""]]:
    """Summed over these points: the prior's curvature in β, in β and t, in t."""

    def one(position: Float[Array, " unknowns"]) -> tuple[Array, Array, Array]:
        beta, t = density.split(position)
        edge, corner = joint_corner(density, position, jnp.vdot(beta, beta))
        return density.prior.precision(t), edge, corner

    return jax.tree.map(lambda parts: parts.sum(axis=0), jax.vmap(one)(places))


def _bound(
    density: Target,
    mean: Float[np.ndarray, " unknowns"],
    factor: Float[np.ndarray, "unknowns unknowns"],
    noise: Float[np.ndarray, "draws unknowns"],
) -> tuple[float, Float[np.ndarray, " unknowns"]]:
    """The evidence lower bound on these base draws, and E[∇ log p]."""
    places = mean + _spread(factor, noise)
    heights, slopes = _heights(density, as_jax(places))
    entropy = 0.5 * mean.size * (1 + np.log(2 * np.pi)) - np.sum(np.log(np.diag(factor)))
    return float(heights.mean()) + float(entropy), np.asarray(slopes.mean(axis=0))


@eqx.filter_jit
def _heights(
    density: Target, places: Float[Array, "draws unknowns"]
) -> tuple[Float[Array, " draws"], Float[Array, "draws unknowns"]]:
    return jax.vmap(jax.value_and_grad(density.log_posterior))(places)
