"""The nearest Gaussian of any covariance, by Newton steps on the bound."""

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from shoal.posterior.approach import approach_to
from shoal.posterior.curvature import expected_curvature
from shoal.posterior.density import Density
from shoal.posterior.mean_field import Approximation, base_noise
from shoal.precision import as_jax
from shoal.system.progress import Report


def full_rank(
    density: Density,
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
    mean, precision = approach_to(density).normal(report)
    factor = _factor(precision)
    bound, slope = _bound(density, mean, factor, noise)
    trace, converged = [bound], False
    while len(trace) <= max_iterations and not converged:
        places = mean + _spread(factor, noise)
        wanted = expected_curvature(density, places)
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


def _factor(precision: Float[np.ndarray, "k k"]) -> Float[np.ndarray, "k k"]:
    return np.asarray(cholesky(precision, lower=True, check_finite=False))


def _spread(
    factor: Float[np.ndarray, "k k"], noise: Float[np.ndarray, "draws k"]
) -> Float[np.ndarray, "draws k"]:
    """Noise with covariance (L Lᵀ)⁻¹."""
    return np.asarray(solve_triangular(factor, noise.T, lower=True, trans="T").T)


def _bound(
    density: Density,
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
    density: Density, places: Float[Array, "draws unknowns"]
) -> tuple[Float[Array, " draws"], Float[Array, "draws unknowns"]]:
    return jax.vmap(jax.value_and_grad(density.log_posterior))(places)
