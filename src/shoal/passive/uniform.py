"""Anywhere, with equal chance."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

from shoal.passive.operator import PassiveOperator
from shoal.states import StateSpace, Transitions


class UniformDynamics(PassiveOperator):
    """p̄_ij = 1 / J: applying it is taking a mean."""

    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """The mean, everywhere."""
        return jnp.broadcast_to(values.mean(), self.shape)

    def log_probability(
        self, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
    ) -> Float[Array, " pairs"]:
        """−log J."""
        return jnp.full(origin.shape, -jnp.log(float(self.size)))

    def digest(self, transitions: Transitions) -> Any:
        """How many there are."""
        return jnp.asarray(float(transitions.total))

    def log_weight(self, digest: Any) -> Float[Array, ""]:
        """−log J for each."""
        return -digest * jnp.log(float(self.size))

    def sample(self, key: Key[Array, ""], origin: Int[Array, " n"]) -> Int[Array, " n"]:
        """Any state."""
        return jax.random.randint(key, origin.shape, 0, self.size)


@dataclass(frozen=True)
class Uniform:
    """Every state may follow every state, with equal chance.

    With the identity basis the estimate is then nothing but shrunken −log arrivals.
    """

    def on(self, space: StateSpace) -> UniformDynamics:
        """The operator on a state space."""
        return UniformDynamics(space.shape)
