"""What the mathematics sees of passive dynamics: P̄ applied to an array shaped like the grid."""

import math
from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

import shoal.precision  # noqa: F401


class PassiveOperator(eqx.Module):
    """P̄ on a grid of states. Only ``apply`` is needed; the rest follows from it.

    Examples
    --------
    Animals that stay where they are nine times in ten, or else go anywhere:

    >>> import shoal
    >>> class Lazy(shoal.PassiveOperator):
    ...     stay: float = 0.9
    ...
    ...     def apply(self, values):
    ...         return self.stay * values + (1 - self.stay) * values.mean()
    >>> lazy = Lazy(shape=(4,))
    >>> [round(float(p), 3) for p in lazy.row(2)]
    [0.025, 0.025, 0.925, 0.025]
    """

    shape: tuple[int, ...] = eqx.field(static=True)

    @abstractmethod
    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ x: the mean of x over where each state leads, Σ_j p̄_ij x_j."""

    def adjoint(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ᵀ x: where mass x goes in one step, Σ_i p̄_ij x_i."""
        (moved,) = jax.linear_transpose(self.apply, jax.ShapeDtypeStruct(self.shape, values.dtype))(
            values
        )
        return moved

    @property
    def size(self) -> int:
        """The number of states, J."""
        return math.prod(self.shape)

    def row(self, origin: int | Int[Array, ""]) -> Float[Array, "*grid"]:
        """p̄(· | origin)."""
        unit = jnp.zeros(self.size).at[origin].set(1.0)
        return self.adjoint(unit.reshape(self.shape))

    def log_probability(
        self, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
    ) -> Float[Array, " pairs"]:
        """Log p̄(destination | origin) of each pair; −inf where it cannot happen."""
        starts, which = jnp.unique(origin, return_inverse=True)
        rows = jax.lax.map(lambda start: self.row(start).ravel(), starts)
        return jnp.log(rows[which, destination])

    def sample(self, key: Key[Array, ""], origin: Int[Array, " n"]) -> Int[Array, " n"]:
        """One next state for each origin."""
        keys = jax.random.split(key, origin.shape[0])

        def one(pair: tuple[Key[Array, ""], Int[Array, ""]]) -> Int[Array, ""]:
            return jax.random.categorical(pair[0], jnp.log(self.row(pair[1]).ravel()))

        return jax.lax.map(one, (keys, origin))

    def dense(self) -> Float[Array, "J J"]:
        """P̄ written out."""
        unit = jnp.eye(self.size).reshape(self.size, *self.shape)
        return jax.vmap(self.apply)(unit).reshape(self.size, self.size).T
