"""The grid of states an animal can be in: a product of axes."""

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from shoal.errors import InputError
from shoal.inputs import Numbers, Whole
from shoal.states.axes import Axis, Circular, Folded, Numbered


@runtime_checkable
class HasAxis(Protocol):
    """Anything that is measured on an axis, such as a feature."""

    @property
    def axis(self) -> Axis:
        """The axis it is measured on."""
        ...


@dataclass(frozen=True, init=False)
class StateSpace:
    """Every combination of one bin per axis; states are numbered with the last axis fastest.

    Parameters
    ----------
    *parts
        Axes, or features that have one.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.Circular("local"), shoal.Circular("target", bins=18))
    >>> space.shape, space.size
    ((36, 18), 648)
    """

    axes: tuple[Axis, ...]
    parts: tuple[Axis | HasAxis, ...]

    def __init__(self, *parts: Any) -> None:
        for part in parts:
            if not isinstance(part, Axis | HasAxis):
                raise InputError(
                    "a state space is made of axes one after the other, such as Circular(...), "
                    f"Interval(...); got {part!r}"
                )
        axes = tuple(part if isinstance(part, Axis) else part.axis for part in parts)
        if not axes:
            raise InputError("a state space needs at least one axis")
        names = [axis.name for axis in axes]
        if len(set(names)) < len(names):
            raise InputError(f"the axes of a state space need different names, got {names}")
        object.__setattr__(self, "axes", axes)
        object.__setattr__(self, "parts", parts)

    @classmethod
    def discrete(cls, count: Whole) -> "StateSpace":
        """Plain numbered states 0 … count − 1."""
        return cls(Numbered(count=count))

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of bins of each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def size(self) -> int:
        """The number of states, J."""
        return math.prod(self.shape)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the axes."""
        return tuple(axis.name for axis in self.axes)

    @property
    def coordinates(self) -> dict[str, Float[np.ndarray, " bins"]]:
        """The bin centres of each axis, by name."""
        return {axis.name: axis.centres for axis in self.axes}

    def locate(
        self, *values: Numbers
    ) -> tuple[Int[np.ndarray, "*shape"], tuple[Bool[np.ndarray, "*shape"], ...]]:
        """The state of every tuple of values, and per axis which values had no bin.

        A state is −1 where any of its values has no bin.
        """
        if len(values) != len(self.axes):
            raise InputError(
                f"give one array for each of the axes {list(self.names)}; got {len(values)}"
            )
        try:
            arrays = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in values))
        except (TypeError, ValueError) as error:
            raise InputError(f"values are arrays of numbers of one shape ({error})") from error
        bins = [axis.locate(array) for axis, array in zip(self.axes, arrays, strict=True)]
        missing = tuple(np.asarray(index < 0) for index in bins)
        invalid = np.logical_or.reduce(missing)
        safe = tuple(np.where(invalid, 0, index) for index in bins)
        return np.where(invalid, -1, np.ravel_multi_index(safe, self.shape)), missing

    def encode(self, *values: Numbers) -> Int[np.ndarray, "*shape"]:
        """The state of every tuple of values; a value without a bin is an error that names it."""
        states, missing = self.locate(*values)
        for axis, value, lost in zip(self.axes, values, missing, strict=True):
            if np.any(lost):
                array = np.broadcast_to(np.asarray(value, dtype=float), lost.shape)
                where = tuple(int(i) for i in np.argwhere(lost)[0])
                place = where[0] if len(where) == 1 else where
                raise InputError(
                    f"{int(lost.sum())} of {lost.size} values of {axis.name!r} are in no bin, the "
                    f"first is {array[where]:g} at index {place}, counted from 0: "
                    f"{_expected(axis, array[where])}"
                )
        return states

    def decode(self, states: Numbers) -> tuple[Float[np.ndarray, "*shape"], ...]:
        """The bin centres of every state, one array per axis."""
        numbers = np.asarray(states)
        if not np.issubdtype(numbers.dtype, np.integer):
            raise InputError(f"states are whole numbers, got {numbers.dtype}")
        self.check_states(numbers)
        bins = np.unravel_index(numbers, self.shape)
        return tuple(
            np.asarray(axis.centres[index]) for axis, index in zip(self.axes, bins, strict=True)
        )

    def check_states(self, states: Int[np.ndarray, "*shape"]) -> None:
        """Raise an error naming the first state that is not in this space."""
        outside = (states < 0) | (states >= self.size)
        if np.any(outside):
            raise InputError(
                f"state {states[outside].flat[0]} is out of range: this space has states 0 to "
                f"{self.size - 1}; where an animal was not seen, end its sequence and begin another"
            )

    def describe(self, state: int) -> str:
        """A state in words, for messages."""
        centres = self.decode(np.asarray(state))
        if isinstance(self.axes[0], Numbered) and len(self.axes) == 1:
            return f"state {state}"
        words = ", ".join(
            f"{axis.name} {centre:.4g}{'' if axis.unit in ('', '°') else ' '}{axis.unit}"
            for axis, centre in zip(self.axes, centres, strict=True)
        )
        return f"state {state} ({words})"


def _expected(axis: Axis, value: float) -> str:
    """What would have been a value, and what to do."""
    if np.isnan(value):
        return "a value is missing there; cut the sequence before it, or fill the gap"
    if isinstance(axis, Circular | Folded):
        return "angles are finite numbers of degrees; cut the sequence before this value"
    low = axis.centres[0] - axis.widths[0] / 2
    high = axis.centres[-1] + axis.widths[-1] / 2
    return (
        f"bins go from {low:g} to {high:g}; widen the axis, or cut the sequence before this value"
    )
