"""The nearest Gaussian with independent unknowns."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key
from scipy.optimize import OptimizeResult, minimize

from shoal.posterior.approach import approach_to
from shoal.posterior.density import Density, Hyper
from shoal.precision import as_jax
from shoal.system.progress import Report

FRESH_ROUNDS, FRESH_DRAWS, FRESH_CHUNK = 3, 4000, 1000
"""How often sds are set anew, from how many draws, and how many of them at a time."""

WINDOW = 10
"""Iterations over which the change of the bound is judged."""


class Approximation(NamedTuple):
    """A Gaussian: mean, how it spreads standard normal noise, and log √det of its covariance.

    ``sd_error`` is the relative Monte Carlo error of its least known sd, where it has one.
    """

    mean: Float[np.ndarray, " unknowns"]
    spread: Callable[[Float[np.ndarray, "draws unknowns"]], Float[np.ndarray, "draws unknowns"]]
    log_volume: float
    elbo: Float[np.ndarray, " iterations"]
    converged: bool
    iterations: int
    sd_error: float = float("nan")


def base_noise(
    count: int, dimension: int, generator: np.random.Generator
) -> Float[np.ndarray, "draws unknowns"]:
    """Standard normal draws in pairs of opposite sign, scaled to variance one per unknown."""
    half = generator.standard_normal(((count + 1) // 2, dimension))
    noise = np.concatenate([half, -half])
    return np.asarray(noise / np.sqrt((noise**2).mean(axis=0)))


def mean_field(
    density: Density,
    base_draws: int,
    tolerance: float,
    max_iterations: int,
    generator: np.random.Generator,
    report: Report,
) -> Approximation:
    """Maximise the bound on fixed base draws, by L-BFGS.

    Mean and log sd of each unknown are scaled by the Laplace sd, where the search starts. With few
    draws the bound is overfitted where functions overlap, above all in the sds: these are set anew
    at the end, from fresh draws (``_fresh_sds``).
    """
    size = density.dimension
    mean, sd = approach_to(density).spread(report)
    noise = as_jax(base_noise(base_draws, size, generator))
    centre, scale = as_jax(mean), as_jax(sd)

    def unscaled(x: Float[Array, " twice"]) -> tuple[Array, Array]:
        return centre + scale * x[:size], jnp.log(scale) + x[size:]

    @eqx.filter_jit
    def loss(model: Density, x: Float[Array, " twice"]) -> tuple[Array, Array]:
        def value(y: Float[Array, " twice"]) -> Float[Array, ""]:
            return -_bound(model, *unscaled(y), noise)

        return jax.value_and_grad(value)(x)

    trace: list[float] = []

    def note(intermediate_result: OptimizeResult) -> None:
        trace.append(-float(intermediate_result.fun))
        report("ADVI", len(trace), None)
        if len(trace) > WINDOW and trace[-1] - trace[-1 - WINDOW] < tolerance:
            raise StopIteration

    def objective(x: Float[np.ndarray, " twice"]) -> tuple[float, Float[np.ndarray, " twice"]]:
        value, slope = loss(density, as_jax(x))
        return float(value), np.asarray(slope)

    result = minimize(
        objective,
        np.zeros(2 * size),
        jac=True,
        method="L-BFGS-B",
        callback=note,
        options={
            "maxiter": max_iterations,
            "maxfun": 3 * max_iterations,
            "maxcor": 20,
            "ftol": 0.0,
        },
    )
    report("ADVI", len(trace), len(trace))
    found, log_sd = (np.asarray(part) for part in unscaled(as_jax(result.x)))
    settled = len(trace) > WINDOW and trace[-1] - trace[-1 - WINDOW] < tolerance
    log_sd, error = _fresh_sds(density, found, log_sd, generator)
    approximation = _independent(
        found, log_sd, np.array(trace), settled or result.status == 0, len(trace)
    )
    return approximation._replace(sd_error=error)


def _fresh_sds(
    density: Density,
    mean: Float[np.ndarray, " unknowns"],
    log_sd: Float[np.ndarray, " unknowns"],
    generator: np.random.Generator,
) -> tuple[Float[np.ndarray, " unknowns"], float]:
    """Log sds at which the bound is stationary, and the largest relative error of an sd.

    There sd⁻² = −E[∂² log p], which is −E[ε ∂ log p] / sd: an average over fresh draws ε, in pairs
    of opposite sign, that were not fitted to. Steps are bounded, and there are a few of them, since
    the expectation depends on the sds.
    """
    error = np.zeros_like(log_sd)
    for _ in range(FRESH_ROUNDS):
        products = []
        for _ in range(FRESH_DRAWS // FRESH_CHUNK):
            half = generator.standard_normal((FRESH_CHUNK // 2, mean.size))
            slopes = _paired_slopes(density, *map(as_jax, (mean, np.exp(log_sd), half)))
            products.append(-np.asarray(slopes) * half)
        each = np.concatenate(products) / np.exp(log_sd)
        curvature = each.mean(axis=0)
        known = np.isfinite(curvature) & (curvature > 0)
        safe = np.where(known, curvature, 1.0)
        error = np.where(known, each.std(axis=0) / np.sqrt(len(each)) / safe / 2, 0.0)
        wanted = np.where(known, -0.5 * np.log(safe), log_sd)
        log_sd = log_sd + np.clip(wanted - log_sd, -1.0, 1.0)
    return log_sd, float(error.max())


@eqx.filter_jit
def _paired_slopes(
    density: Density,
    mean: Float[Array, " unknowns"],
    sd: Float[Array, " unknowns"],
    half: Float[Array, "draws unknowns"],
) -> Float[Array, "draws unknowns"]:
    """Half the difference of ∇ log p at mean ± sd ε."""

    def one(noise: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        slope = jax.grad(density.log_posterior)
        return (slope(mean + sd * noise) - slope(mean - sd * noise)) / 2

    return jax.lax.map(one, half, batch_size=32)


def stochastic_mean_field(
    density: Density, tolerance: float, max_iterations: int, seed: int, report: Report
) -> Approximation:
    """Fresh draws at every step and Stan's stopping rule, as the paper's program ran.

    The bound is evaluated every hundred steps; the search stops when the mean or the median of its
    recent relative changes falls below the tolerance, but takes a thousand steps at the least.
    """
    import optax  # noqa: PLC0415  (slow to load, and only needed here)

    mean, sd = approach_to(density).spread(report)
    unpressed = float(_log_passive(density, as_jax(density.start)))
    optimiser = optax.adam(optax.exponential_decay(0.05, 1000, 0.5))
    centre, scale = as_jax(mean), as_jax(sd)
    parameters = (jnp.zeros_like(centre), jnp.log(scale))
    state = optimiser.init(parameters)
    key = jax.random.key(seed)
    trace: list[float] = []
    changes: list[float] = []
    converged, steps = False, 0
    while steps < max_iterations and not converged:
        key, block_key, check_key = jax.random.split(key, 3)
        parameters, state = _stochastic_block(
            density, optimiser, centre, scale, parameters, state, jax.random.split(block_key, 100)
        )
        steps += 100
        check = jax.random.normal(check_key, (100, density.dimension))
        trace.append(
            float(_jitted_bound(density, centre + scale * parameters[0], parameters[1], check))
        )
        if len(trace) > 1:  # Stan's bound has no part that costs do not change
            size = abs(trace[-1] - unpressed)
            changes.append(abs(trace[-1] - trace[-2]) / size)
            recent = changes[-WINDOW:]
            small = min(float(np.mean(recent)), float(np.median(recent))) < tolerance
            converged = small and len(changes) >= WINDOW
        report("ADVI", steps, None)
    report("ADVI", steps, steps)
    found = np.asarray(centre + scale * parameters[0])
    return _independent(found, np.asarray(parameters[1]), np.array(trace), converged, steps)


@eqx.filter_jit
def _stochastic_block(density, optimiser, centre, scale, parameters, state, keys):  # type: ignore[no-untyped-def]
    import optax  # noqa: PLC0415  (slow to load, and only needed here)

    def step(carry, key: Key[Array, ""]):  # type: ignore[no-untyped-def]
        parameters, state = carry
        noise = jax.random.normal(key, (1, centre.size))

        def loss(pair: tuple[Array, Array]) -> Float[Array, ""]:
            return -_bound(density, centre + scale * pair[0], pair[1], noise)

        updates, state = optimiser.update(jax.grad(loss)(parameters), state)
        return (optax.apply_updates(parameters, updates), state), None

    carry, _ = jax.lax.scan(step, (parameters, state), keys)
    return carry


def _bound(
    density: Density,
    mean: Float[Array, " unknowns"],
    log_sd: Float[Array, " unknowns"],
    noise: Float[Array, "draws unknowns"],
) -> Float[Array, ""]:
    """The evidence lower bound on these base draws."""
    places = mean + jnp.exp(log_sd) * noise
    entropy = jnp.sum(log_sd) + 0.5 * mean.size * (1 + jnp.log(2 * jnp.pi))
    return jax.vmap(density.log_posterior)(places).mean() + entropy


_jitted_bound = eqx.filter_jit(_bound)


@eqx.filter_jit
def _log_passive(density: Density, hyper: Hyper) -> Float[Array, ""]:
    """The part of the log posterior that no cost changes."""
    return density.given(hyper).log_passive


def _independent(
    mean: Float[np.ndarray, " unknowns"],
    log_sd: Float[np.ndarray, " unknowns"],
    elbo: Float[np.ndarray, " iterations"],
    converged: bool,
    iterations: int,
) -> Approximation:
    sd = np.exp(log_sd)
    return Approximation(
        mean, lambda noise: noise * sd, float(log_sd.sum()), elbo, converged, iterations
    )
