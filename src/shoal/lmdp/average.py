"""Average cost: Z-iteration in log space, with bounds on the eigenvalue (eq. ziter)."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from shoal.lmdp.log_space import EPSILON, log_apply
from shoal.passive import PassiveOperator

BLOCK = 50
"""Iterations between looks at whether plain iteration still gets nearer."""


def z_iteration(
    passive: PassiveOperator, cost: Float[Array, "*grid"], tolerance: float, max_iterations: int
) -> tuple[Float[Array, "*grid"], float, bool, int]:
    """V with minimum 0, the average cost −log λ, whether it converged, and the iterations.

    The ratios (Mz)_i / z_i of a positive z enclose the principal eigenvalue of M (Collatz and
    Wielandt), so the spread of their logarithms bounds the error of log λ; iteration stops when it
    is below the tolerance, or as small as rounding allows. Where plain iteration cycles, half of z
    is kept at each step. Where sets of states are all but cut off from each other, λ is found
    long before the cost-to-go between them.
    """
    log_z = -cost
    spread, iterations, lazy = float("inf"), 0, False
    centre = jnp.asarray(0.0)
    while spread > tolerance and iterations < max_iterations:
        before = spread
        block = min(BLOCK, max_iterations - iterations)
        log_z, centre, gap, steps = _block(
            passive, cost, log_z, jnp.asarray(lazy), tolerance, block
        )
        spread, iterations = float(gap), iterations + int(steps)
        lazy = lazy or not spread < 0.999 * before
    cost_to_go = -log_z - jnp.min(-log_z)
    return cost_to_go, -float(centre), spread <= tolerance, iterations


@eqx.filter_jit
def _block(
    passive: PassiveOperator,
    cost: Float[Array, "*grid"],
    log_z: Float[Array, "*grid"],
    lazy: Bool[Array, ""],
    tolerance: float,
    limit: int,
) -> tuple[Float[Array, "*grid"], Float[Array, ""], Float[Array, ""], Array]:
    """At most ``limit`` iterations: log z, the centre and the spread of the ratios, the count."""

    def unfinished(carry: tuple[Array, Array, Array, Array]) -> Array:
        return (carry[2] > tolerance) & (carry[3] < limit)

    def step(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        log_z, _, _, count = carry
        image = log_apply(passive, log_z) - cost
        ratio = image - log_z
        low, high = jnp.min(ratio), jnp.max(ratio)
        centre = (low + high) / 2
        image = image - centre
        new = jnp.where(lazy, jnp.logaddexp(image, log_z) - jnp.log(2.0), image)
        rounding = 32 * EPSILON * (1 + jnp.max(jnp.abs(image)))
        spread = jnp.maximum(high - low - rounding, 0.0)
        return new - jnp.max(new), centre, spread, count + 1

    start = (log_z, jnp.asarray(0.0), jnp.asarray(jnp.inf), jnp.asarray(0))
    return jax.lax.while_loop(unfinished, step, start)
