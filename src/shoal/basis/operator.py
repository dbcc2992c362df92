"""What the mathematics sees of a basis: coefficients in, an array shaped like the grid out."""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from shoal.linear import LinearMap, PerAxisMap
from shoal.states import Axis, StateSpace


class BasisOperator(eqx.Module):
    """X on a grid of states, as a linear map from coefficients."""

    map: LinearMap

    @property
    def count(self) -> int:
        """The number of coefficients."""
        return int(np.prod(self.map.in_shape))

    def apply(self, coefficients: Float[Array, " n"]) -> Float[Array, "*grid"]:
        """X β."""
        return self.map.apply(coefficients.reshape(self.map.in_shape))

    def adjoint(self, values: Float[Array, "*grid"]) -> Float[Array, " n"]:
        """Xᵀ y."""
        return self.map.adjoint(values).ravel()

    def dense(self) -> Float[Array, "J n"]:
        """X written out."""
        return self.map.dense()

    def support(self) -> Bool[np.ndarray, "*grid"]:
        """Where the functions of the basis amount to something: a thousandth of the most."""
        size = np.sqrt(np.asarray(self.map.squared().apply(jnp.ones(self.map.in_shape))))
        return np.asarray(size > 1e-3 * size.max())


@runtime_checkable
class Basis(Protocol):
    """A specification of a basis: small, frozen, bound to a space by ``on``."""

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space."""
        ...


@runtime_checkable
class AxisBasis(Protocol):
    """A basis that has a one-dimensional form, for products kept factored."""

    def on_axis(self, axis: Axis) -> Float[np.ndarray, "bins functions"]:
        """Its functions on one axis."""
        ...


def factored(*matrices: Float[np.ndarray, "_ _"]) -> BasisOperator:
    """The tensor product of one-dimensional bases, never multiplied out."""
    return BasisOperator(PerAxisMap.of(*matrices))
