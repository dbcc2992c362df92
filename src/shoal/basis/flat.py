"""No preferences at all."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.basis.operator import BasisOperator
from shoal.basis.scaled import ScaledBasis
from shoal.linear import DenseMap
from shoal.precision import as_jax
from shoal.states import StateSpace


class LevelBasis(ScaledBasis):
    """The constant function, which changes nothing that animals do."""

    @property
    def names(self) -> tuple[str, ...]:
        """None."""
        return ()

    def amplitude(self, u: Float[Array, " k"]) -> Float[Array, " n"]:
        """One."""
        return jnp.ones(1)

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """None."""
        return u


@dataclass(frozen=True)
class Flat:
    """The same cost-to-go in every state: animals that live by their passive dynamics.

    What a model with costs is compared with, and how passive dynamics are learned by themselves.
    """

    def scaled(self, space: StateSpace) -> LevelBasis:
        """The basis with its (no) unknowns."""
        return LevelBasis(DenseMap((1,), space.shape, as_jax(np.ones((space.size, 1)))))

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space."""
        return self.scaled(space).at(as_jax(np.zeros(0)))
