"""One coefficient for every state."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.basis.operator import BasisOperator
from shoal.linear import LinearMap
from shoal.states import Axis, StateSpace


class IdentityMap(LinearMap):
    """Nothing is done."""

    def apply(self, x: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """The same x."""
        return x

    def squared(self) -> "IdentityMap":
        """The same map."""
        return self

    def gram(self, weights: Float[np.ndarray, "*grid"]) -> Float[np.ndarray, "J J"]:
        """diag(w)."""
        return np.diag(weights.ravel())

    def dense(self) -> Float[Array, "J J"]:
        """The identity matrix."""
        return jnp.eye(int(np.prod(self.in_shape)))


@dataclass(frozen=True)
class Identity:
    """A cost-to-go of its own for every state, shrunk towards zero by the prior.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.LocalMisalignment(bins=36))
    >>> shoal.Identity().on(space).count
    36
    """

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space."""
        return BasisOperator(IdentityMap(space.shape, space.shape))

    def on_axis(self, axis: Axis) -> Float[np.ndarray, "bins functions"]:
        """The identity matrix."""
        return np.eye(axis.size)
