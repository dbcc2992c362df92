"""First exit: costs are paid until an absorbing state is reached."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from shoal.errors import InputError
from shoal.lmdp.log_space import log_apply
from shoal.passive import PassiveOperator


def exit_iteration(
    passive: PassiveOperator,
    cost: Float[Array, "*grid"],
    absorbing: Bool[Array, "*grid"],
    tolerance: float,
    max_iterations: int,
) -> tuple[Float[Array, "*grid"], bool, int]:
    """v, equal to the cost on absorbing states; whether it converged; the iterations.

    z is the sum over all paths to an absorbing state; iteration adds longer and longer ones, so z
    rises. The remaining error is estimated from how fast the changes shrink.
    """
    check_reachable(passive, np.asarray(absorbing))
    log_z, error, steps = _iterate(passive, cost, absorbing, tolerance, max_iterations)
    return -log_z, bool(error <= tolerance), int(steps)


def check_reachable(passive: PassiveOperator, absorbing: Bool[np.ndarray, "*grid"]) -> None:
    """Raise an error where passive dynamics never lead from some state to an absorbing one."""
    reach = jnp.asarray(absorbing)
    count, before = int(reach.sum()), -1
    while count != before:
        before = count
        reach = reach | (passive.apply(reach.astype(float)) > 0)
        count = int(reach.sum())
    if count < passive.size:
        lost = int(np.argmin(np.asarray(reach).ravel()))
        raise InputError(
            f"no absorbing state can be reached from {passive.size - count} of {passive.size} "
            f"states, the first is state {lost}: make more states absorbing or the passive "
            "dynamics wider"
        )


@eqx.filter_jit
def _iterate(
    passive: PassiveOperator,
    cost: Float[Array, "*grid"],
    absorbing: Bool[Array, "*grid"],
    tolerance: float,
    limit: int,
) -> tuple[Float[Array, "*grid"], Float[Array, ""], Array]:
    def unfinished(carry: tuple[Array, Array, Array, Array]) -> Array:
        return (carry[1] > tolerance) & (carry[3] < limit)

    def step(carry: tuple[Array, Array, Array, Array]) -> tuple[Array, Array, Array, Array]:
        log_z, _, before, count = carry
        new = jnp.where(absorbing, -cost, log_apply(passive, log_z) - cost)
        change = jnp.where(absorbing | (new == log_z), 0.0, jnp.abs(new - log_z)).max()
        rate = change / before  # NaN at first, from inf / inf
        left = jnp.where(rate < 1, change * jnp.maximum(rate / (1 - rate), 1.0), jnp.inf)
        return new, jnp.where(change == 0, 0.0, left), change, count + 1

    unknown = jnp.asarray(jnp.inf)
    start = (jnp.where(absorbing, -cost, -jnp.inf), unknown, unknown, jnp.asarray(0))
    log_z, error, _, count = jax.lax.while_loop(unfinished, step, start)
    return log_z, error, count
