"""Costs that are a sum of a few given functions: what regressions and rules of thumb assume."""

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.basis.operator import BasisOperator
from shoal.basis.scaled import ScaledBasis
from shoal.errors import InputError
from shoal.linear import DenseMap
from shoal.precision import as_jax
from shoal.states import StateSpace

FUNCTIONS = ("value", "log", "cos", "sin")


@dataclass(frozen=True)
class Term:
    """One function of one axis, everywhere or only where another axis lies between two numbers.

    Parameters
    ----------
    axis
        Its name, such as ``"neighbour_distance"``.
    function
        ``"value"``, ``"log"``, ``"cos"`` or ``"sin"`` (of degrees).
    within
        The name of an axis, and the range of it in which the function counts; None for everywhere.

    Examples
    --------
    >>> import shoal
    >>> shoal.basis.Term("neighbour_bearing", "cos", within=("neighbour_distance", 0.0, 2.0)).words
    'cos neighbour bearing where neighbour distance is 0 to 2'
    """

    axis: str
    function: str = "value"
    within: Any = None

    def __post_init__(self) -> None:
        """Check the word."""
        if self.function not in FUNCTIONS:
            raise InputError(
                f"the function of a term is one of {', '.join(FUNCTIONS)}; got {self.function!r}"
            )

    @property
    def words(self) -> str:
        """As a user reads it."""
        name = self.axis.replace("_", " ")
        head = name if self.function == "value" else f"{self.function} {name}"
        if self.within is None:
            return head
        axis, low, high = self.within
        range_ = f"beyond {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"
        return f"{head} where {axis.replace('_', ' ')} is {range_}"

    def on(self, space: StateSpace) -> Float[np.ndarray, "*grid"]:
        """Its value in every state: at the centres of bins, distances in units of their spread."""
        values = _along(space, self.axis)
        if self.function in ("cos", "sin"):
            column = getattr(np, self.function)(np.deg2rad(values))
        else:
            if self.function == "log" and values.min() <= 0:
                raise InputError(f"{self.axis} has values of 0 or less, which have no logarithm")
            column = np.log(values) if self.function == "log" else values
            column = (column - column.mean()) / max(float(column.std()), 1e-300)
        if self.within is not None:
            axis, low, high = self.within
            where = _along(space, axis)
            column = np.where((where >= low) & (where < high), column, 0.0)
        return np.broadcast_to(column, space.shape)


def _along(space: StateSpace, name: str) -> Float[np.ndarray, "*grid"]:
    """The centres of an axis's bins, shaped so that they broadcast over the grid."""
    if name not in space.names:
        raise InputError(f"there is no axis {name!r}; there are {', '.join(space.names)}")
    place = space.names.index(name)
    shape = [-1 if n == place else 1 for n in range(len(space.axes))]
    return np.asarray(space.axes[place].centres, dtype=float).reshape(shape)


@dataclass(frozen=True)
class Terms:
    """Costs that are a sum of given terms, each with a strength that is learned.

    Parameters
    ----------
    terms
        ``Term(...)``, one or several.
    sd
        Of the normal prior of each strength, in nats: wide.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.Circular("local_misalignment"))
    >>> shoal.basis.Terms((shoal.basis.Term("local_misalignment", "cos"),)).on(space).count
    1
    """

    terms: Any
    sd: Any = 10.0

    def __post_init__(self) -> None:
        """Check the terms."""
        given = self.terms if isinstance(self.terms, tuple | list) else (self.terms,)
        if not given or not all(isinstance(term, Term) for term in given):
            raise InputError(f"terms are one or more shoal.basis.Term(…), got {self.terms!r:.60}")
        object.__setattr__(self, "terms", tuple(given))
        if not isinstance(self.sd, int | float | np.number) or not 0 < self.sd < math.inf:
            raise InputError(f"the sd of strengths is a positive number, got {self.sd!r}")

    def scaled(self, space: StateSpace) -> "TermsBasis":
        """The basis; nothing is unknown but the strengths."""
        columns = np.stack([term.on(space).ravel() for term in self.terms], axis=1)
        shape = (len(self.terms),)
        return TermsBasis(DenseMap(shape, space.shape, as_jax(columns)), float(self.sd))

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space."""
        return self.scaled(space).at(jnp.zeros(0))


class TermsBasis(ScaledBasis):
    """Functions with independent normal strengths."""

    sd: float = eqx.field(static=True)

    @property
    def names(self) -> tuple[str, ...]:
        """None."""
        return ()

    def amplitude(self, u: Float[Array, " k"]) -> Float[Array, " n"]:
        """The same for all."""
        return jnp.full(self.size, self.sd)

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """None."""
        return u
