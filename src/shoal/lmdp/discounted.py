"""Discounted costs: the future counts γ per step."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from shoal.lmdp.log_space import EPSILON, log_apply
from shoal.passive import PassiveOperator


@eqx.filter_jit
def _iterate(
    passive: PassiveOperator,
    cost: Float[Array, "*grid"],
    discount: float,
    tolerance: float,
    limit: int,
) -> tuple[Float[Array, "*grid"], Float[Array, ""], Array]:
    weight = discount / (1 - discount)

    def unfinished(carry: tuple[Array, Array, Array, Array]) -> Array:
        return (carry[2] > tolerance) & (carry[3] < limit)

    def step(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        v, _, _, count = carry  # v has minimum 0; its level is worked out below
        new = cost - log_apply(passive, -discount * v)
        low, high = jnp.min(new - v), jnp.max(new - v)
        level = jnp.min(new)
        rounding = 32 * EPSILON * (1 + jnp.max(jnp.abs(new)))
        error = weight * jnp.maximum(high - low - rounding, 0.0)
        rest = level + weight * (low + high) / 2
        return new - level, rest, error, count + 1

    lowest = jnp.min(cost)
    start = (cost - lowest, lowest, jnp.asarray(jnp.inf), jnp.asarray(0))
    v, level, error, count = jax.lax.while_loop(unfinished, step, start)
    return v + level, error, count


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
    the tolerance, or as near as rounding allows, however near γ is to 1. v is iterated with
    minimum 0 and its level kept apart, so that contrasts keep their digits.
    """
    v, error, steps = _iterate(passive, cost, discount, tolerance, max_iterations)
    return v, bool(error <= tolerance), int(steps)
