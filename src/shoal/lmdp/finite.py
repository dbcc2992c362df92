"""Finite horizon: a cost-to-go for every step, found backwards from the last."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from shoal.lmdp.log_space import log_apply
from shoal.passive import PassiveOperator


@eqx.filter_jit
def backward_recursion(
    passive: PassiveOperator, costs: Float[Array, "times *grid"]
) -> Float[Array, "times *grid"]:
    """v_T = r_T and v_t = r_t − log P̄ e^{−v_{t+1}} before it."""

    def back(
        ahead: Float[Array, "*grid"], cost: Float[Array, "*grid"]
    ) -> tuple[Float[Array, "*grid"], Float[Array, "*grid"]]:
        now = cost - log_apply(passive, -ahead)
        return now, now

    _, earlier = jax.lax.scan(back, costs[-1], costs[:-1], reverse=True)
    return jnp.concatenate([earlier, costs[-1:]])
