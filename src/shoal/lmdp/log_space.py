"""P̄ and P̄ᵀ applied in log space, so that costs of any sign and size work."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.passive import PassiveOperator

EPSILON = float(np.finfo(float).eps)

BAND = 300.0
"""Logarithms handled at once: e^−300 leaves room for passive probabilities down to e^−400."""


@eqx.filter_jit
def log_apply(passive: PassiveOperator, log_values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
    """log(P̄ exp(x)), exact for any range of x."""
    return _in_bands(passive.apply_positive, log_values)


@eqx.filter_jit
def log_adjoint(
    passive: PassiveOperator, log_values: Float[Array, "*grid"]
) -> Float[Array, "*grid"]:
    """log(P̄ᵀ exp(x)), exact for any range of x."""
    return _in_bands(passive.adjoint, log_values)


def _in_bands(
    apply: Callable[[Float[Array, "*grid"]], Float[Array, "*grid"]],
    log_values: Float[Array, "*grid"],
) -> Float[Array, "*grid"]:
    """log(A exp(x)) of a map A without negative entries.

    The values are cut into bands of logarithms narrow enough for doubles; A is applied to each
    band by itself and the results are added in log space. One application suffices for a range
    below 300; since nothing is negative, nothing cancels.
    """

    def pending(carry: tuple[Array, Array]) -> Array:
        return jnp.isfinite(carry[1])

    def add_band(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        total, top = carry
        inside = (log_values <= top) & (log_values > top - BAND)
        scaled = jnp.where(inside, jnp.exp(jnp.where(inside, log_values - top, 0.0)), 0.0)
        total = jnp.logaddexp(total, top + jnp.log(apply(scaled)))
        return total, jnp.max(log_values, where=log_values <= top - BAND, initial=-jnp.inf)

    start = (jnp.full(log_values.shape, -jnp.inf), jnp.max(log_values))
    total, _ = jax.lax.while_loop(pending, add_band, start)
    return jnp.where(jnp.any(jnp.isnan(log_values)), jnp.nan, total)
