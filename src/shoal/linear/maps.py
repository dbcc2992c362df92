"""Linear maps that know their transpose, and never form a matrix where the structure is known."""

import math
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.precision import as_jax


class LinearMap(eqx.Module):
    """A linear map from arrays of ``in_shape`` to arrays of ``out_shape``."""

    in_shape: tuple[int, ...] = eqx.field(static=True)
    out_shape: tuple[int, ...] = eqx.field(static=True)

    @abstractmethod
    def apply(self, x: Float[Array, "*source"]) -> Float[Array, "*target"]:
        """A x."""

    def adjoint(self, y: Float[Array, "*target"]) -> Float[Array, "*source"]:
        """Aᵀ y."""
        source = jax.ShapeDtypeStruct(self.in_shape, y.dtype)
        (x,) = jax.linear_transpose(self.apply, source)(y)
        return x

    @abstractmethod
    def squared(self) -> "LinearMap":
        """The map whose entries are the squares of these."""

    def gram(self, weights: Float[np.ndarray, "*target"]) -> Float[np.ndarray, "columns columns"]:
        """Aᵀ diag(w) A."""
        matrix = np.asarray(written_out(self))
        return np.asarray((matrix.T * weights.ravel()) @ matrix)

    def dense(self) -> Float[Array, "rows columns"]:
        """A written out, both shapes flattened."""
        columns = math.prod(self.in_shape)
        unit = jnp.eye(columns).reshape(columns, *self.in_shape)
        return jax.vmap(self.apply)(unit).reshape(columns, -1).T


@eqx.filter_jit
def written_out(linear: LinearMap) -> Float[Array, "rows columns"]:
    """The matrix of a linear map, by one program."""
    return linear.dense()


class DenseMap(LinearMap):
    """A matrix between flattened arrays."""

    matrix: Float[Array, "rows columns"]

    def apply(self, x: Float[Array, "*source"]) -> Float[Array, "*target"]:
        """A x."""
        return (self.matrix @ x.ravel()).reshape(self.out_shape)

    def squared(self) -> "DenseMap":
        """The entries squared."""
        return DenseMap(self.in_shape, self.out_shape, self.matrix**2)

    def dense(self) -> Float[Array, "rows columns"]:
        """The matrix itself."""
        return self.matrix


class PerAxisMap(LinearMap):
    """One matrix per axis: the Kronecker product, applied axis by axis."""

    matrices: tuple[Float[Array, "_ _"], ...]

    @classmethod
    def of(cls, *matrices: Float[Array, "_ _"] | Float[np.ndarray, "_ _"]) -> "PerAxisMap":
        """From the matrix of each axis in order."""
        arrays = tuple(as_jax(matrix) for matrix in matrices)
        rows = tuple(matrix.shape[0] for matrix in arrays)
        return cls(tuple(matrix.shape[1] for matrix in arrays), rows, arrays)

    def apply(self, x: Float[Array, "*source"]) -> Float[Array, "*target"]:
        """(A₁ ⊗ A₂ ⊗ …) x."""
        for axis, matrix in enumerate(self.matrices):
            x = jnp.moveaxis(jnp.tensordot(matrix, x, axes=(1, axis)), 0, axis)
        return x

    def squared(self) -> "PerAxisMap":
        """The entries squared, still one matrix per axis."""
        return PerAxisMap.of(*(matrix**2 for matrix in self.matrices))


class AlongAxis(LinearMap):
    """A matrix along one axis; nothing is done to the others."""

    matrix: Float[Array, "_ _"]
    axis: int = eqx.field(static=True)

    def apply(self, x: Float[Array, "*source"]) -> Float[Array, "*target"]:
        """A x, for every place on the other axes."""
        return jnp.moveaxis(jnp.tensordot(self.matrix, x, axes=(1, self.axis)), 0, self.axis)

    def squared(self) -> "AlongAxis":
        """The entries squared."""
        return AlongAxis(self.in_shape, self.out_shape, self.matrix**2, self.axis)


class ChainedMap(LinearMap):
    """One map after the other."""

    maps: tuple[LinearMap, ...]

    @classmethod
    def of(cls, *maps: LinearMap) -> "ChainedMap":
        """From maps in the order in which they are applied."""
        return cls(maps[0].in_shape, maps[-1].out_shape, maps)

    def apply(self, x: Float[Array, "*source"]) -> Float[Array, "*target"]:
        """… A₂ A₁ x."""
        for part in self.maps:
            x = part.apply(x)
        return x

    def squared(self) -> DenseMap:
        """The entries squared."""
        return DenseMap(self.in_shape, self.out_shape, self.dense() ** 2)
