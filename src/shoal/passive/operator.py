"""What the mathematics sees of passive dynamics: P̄ applied to an array shaped like the grid."""

import math
from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from shoal.precision import as_jax
from shoal.states import Transitions


class PassiveOperator(eqx.Module):
    """P̄ on a grid of states. Only ``apply`` is needed; the rest follows from it.

    Examples
    --------
    Animals that stay where they are nine times in ten, or else go anywhere:

    >>> import shoal
    >>> class Lazy(shoal.passive.PassiveOperator):
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

    def apply_positive(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ x of x without negative entries, right also where the result is small."""
        return self.apply(values)

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

        def one(pair: tuple[Array, Array]) -> Array:
            return jnp.log(self.row(pair[0]).ravel()[pair[1]])

        return jax.lax.map(one, (origin, destination))

    def digest(self, transitions: Transitions) -> Any:
        """What ``log_weight`` needs of counted transitions."""
        pairs = transitions.pairs
        count = as_jax(pairs.count, dtype=float)
        return as_jax(pairs.origin), as_jax(pairs.destination), count

    def log_weight(self, digest: Any) -> Float[Array, ""]:
        """Σ y_ij log p̄_ij: the log likelihood of transitions where nothing is preferred."""
        origin, destination, count = digest
        return jnp.vdot(count, self.log_probability(origin, destination))

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


@eqx.filter_jit
def row_sums(operator: PassiveOperator) -> Float[Array, "*grid"]:
    """P̄ 1, by one program."""
    return operator.apply(jnp.ones(operator.shape))


@eqx.filter_jit
def rows_of(operator: PassiveOperator, origins: Int[Array, " n"]) -> Float[Array, "n *grid"]:
    """p̄(· | origin) of several origins, by one program."""
    return jax.lax.map(operator.row, origins)


def pair_logs(
    operator: PassiveOperator,
    origin: Int[np.ndarray, " pairs"],
    destination: Int[np.ndarray, " pairs"],
) -> Float[np.ndarray, " pairs"]:
    """Log p̄(destination | origin) of each pair, by one program; −inf where it cannot happen."""
    if type(operator).log_probability is not PassiveOperator.log_probability:
        return np.asarray(_pair_logs(operator, as_jax(origin), as_jax(destination)))
    starts, which = np.unique(origin, return_inverse=True)  # each row is made once
    rows = np.asarray(rows_of(operator, as_jax(starts))).reshape(starts.size, -1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(rows[which, destination]))


@eqx.filter_jit
def _pair_logs(
    operator: PassiveOperator, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
) -> Float[Array, " pairs"]:
    return operator.log_probability(origin, destination)


def counted(
    place: tuple[Any, ...], size: tuple[int, ...], count: Int[np.ndarray, " pairs"]
) -> Float[Array, "..."]:
    """How often each place of a table was seen."""
    code = np.ravel_multi_index(place, size)
    sums = np.bincount(code, weights=count, minlength=math.prod(size))
    return as_jax(sums.reshape(size))


def seen_logs(count: Float[Array, "*any"], table: Float[Array, "*any"]) -> Float[Array, ""]:
    """Σ count · log table, over entries that were seen."""
    seen = count > 0
    return jnp.vdot(count, jnp.where(seen, jnp.log(jnp.where(seen, table, 1.0)), 0.0))
