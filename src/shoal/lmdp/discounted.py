"""Discounted costs: the future counts γ per step."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.lmdp.log_space import log_apply
from shoal.passive import PassiveOperator

EPSILON = float(np.finfo(float).eps)


@eqx.filter_jit
def _iterate(
    passive: PassiveOperator,
    cost: Float[Array, "*grid"],
    discount: float,
    tolerance: float,
    limit: int,
) -> tuple[Float[Array, "*grid"], Float[Array, ""], Array]:
    weight = discount / (1 - discount)

    def unfinished(carry: tuple[Array, Array, Array]) -> Array:
        return (carry[1] > tolerance) & (carry[2] < limit)

    def step(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        v, _, count = carry
        new = cost - log_apply(passive, -discount * v)
        low, high = jnp.min(new - v), jnp.max(new - v)
        rounding = 8 * EPSILON * jnp.max(jnp.abs(new))
        error = weight * jnp.maximum(high - low - rounding, 0.0)
        return new + weight * (low + high) / 2, error, count + 1

    return jax.lax.while_loop(unfinished, step, (cost, jnp.asarray(jnp.inf), jnp.asarray(0)))


def discounted_iteration(
    passive: PassiveOperator,
    cost: Float[Array, "*grid"],
    discount: float,
    tolerance: float,
    max_iterations: int,
) -> tuple[Float[Array, "*grid"], bool, int]:
    """v, whether it converged, and the iterations.

    The iteration is monotone and shrinks constants by γ, so the least and the largest change
    enclose the solution (MacQueen): it moves to the middle and stops when the bounds are within
    the tolerance (beyond what rounding allows), however near γ is to 1.
    """
    v, error, steps = _iterate(passive, cost, discount, tolerance, max_iterations)
    return v, bool(error <= tolerance), int(steps)
