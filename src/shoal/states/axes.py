"""One perceived quantity cut into bins: around a circle, along an interval, or plainly numbered."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from shoal.angles import namespace
from shoal.errors import InputError
from shoal.inputs import Whole

RESERVED = frozenset(
    {
        *("chain", "draw", "state", "coefficient", "pair", "iteration", "quantile"),
        *("from", "to", "row", "column", "entry", "probability"),
        *("cost_to_go", "state_cost", "precision", "coefficients", "arrivals", "departures"),
        *("parameter", "parameters"),
        *("origin", "destination", "count"),
        *("mean", "sd", "lower", "upper", "r_hat", "ess_bulk", "ess_tail"),
    }
)
"""Names that results use for themselves."""

WALLS = ("both", "low", "high", "none")
"""The ends of an interval that nothing can pass."""


class Axis(ABC):
    """A quantity and its bins."""

    name: str
    unit: str

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of bins."""

    @property
    @abstractmethod
    def centres(self) -> Float[np.ndarray, " bins"]:
        """The centre of every bin."""

    @property
    @abstractmethod
    def widths(self) -> Float[np.ndarray, " bins"]:
        """The width of every bin."""

    @abstractmethod
    def locate(self, values: Float[Any, "*shape"]) -> Int[Any, "*shape"]:
        """The bin of every value; −1 where a value is not finite or outside."""

    @property
    def label(self) -> str:
        """The name with its unit, for figures."""
        words = self.name.replace("_", " ")
        return f"{words} ({self.unit})" if self.unit else words


def _check_name(name: Any) -> None:
    if not isinstance(name, str) or not name or name in RESERVED or "/" in name:
        raise InputError(
            f"an axis cannot be named {name!r}, which results use for themselves: choose another, "
            "such as local_misalignment"
        )


def _whole(value: Any, what: str) -> int:
    """A whole number, 1 or more."""
    if not hasattr(value, "__index__") or value.__index__() < 1:
        raise InputError(f"{what}, 1 or more; got {value!r}")
    return int(value.__index__())


@dataclass(frozen=True)
class Circular(Axis):
    """Angles in degrees, in equal bins; the first bin is centred on ±180°.

    Parameters
    ----------
    name
        What the angle is, for example ``"local_misalignment"``.
    bins
        How many bins go round the circle; 36 gives centres −180, −170, …, 170 as in the paper.

    Examples
    --------
    >>> import shoal
    >>> shoal.Circular("heading", bins=4).centres.tolist()
    [-180.0, -90.0, 0.0, 90.0]
    """

    name: str = "angle"
    bins: Whole = 36
    unit: str = "°"

    def __post_init__(self) -> None:
        """Check the name and the number of bins."""
        _check_name(self.name)
        whole = _whole(self.bins, f"axis {self.name!r} has a whole number of bins")
        object.__setattr__(self, "bins", whole)

    @property
    def size(self) -> int:
        """The number of bins."""
        return self.bins

    @property
    def step(self) -> float:
        """The width of a bin in degrees."""
        return 360.0 / self.bins

    @property
    def centres(self) -> Float[np.ndarray, " bins"]:
        """From −180 in steps."""
        return -180.0 + self.step * np.arange(self.bins)

    @property
    def widths(self) -> Float[np.ndarray, " bins"]:
        """The step, for every bin."""
        return np.full(self.bins, self.step)

    def locate(self, values: Float[Any, "*shape"]) -> Int[Any, "*shape"]:
        """The bin of every angle, however often it goes round; −1 where it is not finite."""
        xp = namespace(values)
        finite = xp.isfinite(values)
        turned = xp.mod(xp.where(finite, values, 0.0) + 180.0 + self.step / 2, 360.0)
        index = xp.floor(turned / self.step).astype(int) % self.bins
        return xp.where(finite, index, -1)


@dataclass(frozen=True)
class Folded(Axis):
    """Angles without their sign: the bins of a circle, left and right taken together.

    Parameters
    ----------
    name
        What the angle is.
    bins
        How many bins go round the whole circle; 36 gives centres 0, 10, …, 180.
    """

    name: str = "angle"
    bins: Any = 36
    unit: str = "°"

    def __post_init__(self) -> None:
        """Check the name and the number of bins."""
        object.__setattr__(self, "bins", self.circle.bins)

    @property
    def circle(self) -> Circular:
        """The axis before it was folded."""
        return Circular(self.name, self.bins)

    @property
    def fold(self) -> Int[np.ndarray, " circle"]:
        """The bin of this axis for every bin of the circle."""
        return np.searchsorted(self.centres, np.abs(self.circle.centres) - 1e-9)

    @property
    def size(self) -> int:
        """The number of bins."""
        return self.bins // 2 + 1

    @property
    def centres(self) -> Float[np.ndarray, " bins"]:
        """From 0, or half a step for odd numbers of bins, to 180."""
        return 180.0 - self.circle.step * np.arange(self.size)[::-1]

    @property
    def widths(self) -> Float[np.ndarray, " bins"]:
        """Of the circle's bins as far as they are on one side."""
        edges = np.concatenate([[0.0], self.centres[:-1] + self.circle.step / 2, [180.0]])
        return np.diff(edges)

    @property
    def label(self) -> str:
        """The name with its unit, for figures."""
        return f"|{self.name.replace('_', ' ')}| ({self.unit})"

    def locate(self, values: Float[Any, "*shape"]) -> Int[Any, "*shape"]:
        """The bin of every angle, whatever its sign; −1 where it is not finite."""
        xp = namespace(values)
        index = self.circle.locate(values)
        return xp.where(index >= 0, xp.asarray(self.fold)[index], -1)


@dataclass(frozen=True)
class Interval(Axis):
    """A quantity on a line, cut at increasing edges; bins are [a, b), the last one [a, b].

    Parameters
    ----------
    name
        What the quantity is, for example ``"neighbour_distance"``.
    edges
        One more than there are bins.
    unit
        For axis labels.
    beyond
        Whether the last bin also holds what lies beyond its upper edge.
    walls
        Which ends nothing can pass: ``"both"``, ``"low"``, ``"high"`` or ``"none"``. Passive steps
        turn back at a wall. At an end that is no wall values beyond it are left out, and passive
        steps are those of animals that stay. An open last bin has no wall; by default all other
        ends are walls.
    """

    name: str
    edges: Any
    unit: str = ""
    beyond: bool = False
    walls: Any = None

    def __post_init__(self) -> None:
        """Check the name and the edges."""
        _check_name(self.name)
        try:
            edges = tuple(float(edge) for edge in self.edges)
        except (TypeError, ValueError):
            raise InputError(
                f"the edges of axis {self.name!r} are numbers, one more than there are bins; "
                f"got {self.edges!r}"
            ) from None
        object.__setattr__(self, "edges", edges)
        if len(edges) < 2 or not np.all(np.isfinite(edges)) or not np.all(np.diff(edges) > 0):
            raise InputError(
                f"axis {self.name!r} needs two or more finite, increasing edges, got {edges}"
            )
        if self.walls is None:
            object.__setattr__(self, "walls", "low" if self.beyond else "both")
        if self.walls not in WALLS:
            raise InputError(
                f"the walls of axis {self.name!r} are one of {', '.join(WALLS)}; got {self.walls!r}"
            )
        if self.beyond and self.walls in ("high", "both"):
            raise InputError(
                f"the last bin of axis {self.name!r} is open, so there is no wall behind it: its "
                f"walls are 'low' or 'none', got {self.walls!r}"
            )

    @classmethod
    def from_zero(
        cls, name: str, edges: Any, unit: str = "", beyond: bool = False, walls: Any = None
    ) -> "Interval":
        """Of a quantity that is never negative: where it begins at 0, that end is a wall.

        Its upper end is none unless ``walls`` says so: values beyond it are left out, or are in an
        open last bin.
        """
        axis = cls(name, edges, unit, beyond, "none" if walls is None else walls)
        return replace(axis, walls="low") if walls is None and axis.edges[0] == 0 else axis

    @classmethod
    def regular(cls, name: str, low: float, high: float, bins: int, unit: str = "") -> "Interval":
        """Equal bins from ``low`` to ``high``."""
        return cls(name, tuple(np.linspace(low, high, bins + 1).tolist()), unit)

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.edges) - 1

    @property
    def centres(self) -> Float[np.ndarray, " bins"]:
        """Midway between the edges."""
        edges = np.asarray(self.edges)
        return (edges[:-1] + edges[1:]) / 2

    @property
    def widths(self) -> Float[np.ndarray, " bins"]:
        """From edge to edge."""
        return np.diff(self.edges)

    @property
    def label(self) -> str:
        """The name with its unit, for figures."""
        words = [word for word in (self.unit, "last bin open" if self.beyond else "") if word]
        name = self.name.replace("_", " ")
        return f"{name} ({', '.join(words)})" if words else name

    def locate(self, values: Float[Any, "*shape"]) -> Int[Any, "*shape"]:
        """The bin of every value; −1 where it is outside the edges or not finite."""
        xp = namespace(values)
        edges = xp.asarray(self.edges)
        top = np.inf if self.beyond else self.edges[-1]
        inside = (values >= edges[0]) & (values <= top) & xp.isfinite(values)
        index = xp.searchsorted(edges, values, side="right") - 1
        return xp.where(inside, xp.minimum(index, self.size - 1), -1)


@dataclass(frozen=True)
class Numbered(Axis):
    """Plain numbered states 0, 1, …, with no distance between them."""

    name: str = "number"
    count: Any = 1
    unit: str = ""

    def __post_init__(self) -> None:
        """Check the name and the count."""
        _check_name(self.name)
        whole = _whole(self.count, "a state space has a whole number of states")
        object.__setattr__(self, "count", whole)

    @property
    def size(self) -> int:
        """The number of states."""
        return self.count

    @property
    def centres(self) -> Float[np.ndarray, " bins"]:
        """The numbers themselves."""
        return np.arange(self.count, dtype=float)

    @property
    def widths(self) -> Float[np.ndarray, " bins"]:
        """One, for every state."""
        return np.ones(self.count)

    def locate(self, values: Float[Any, "*shape"]) -> Int[Any, "*shape"]:
        """The number itself; −1 where it is not one of them."""
        xp = namespace(values)
        whole = xp.isfinite(values) & (xp.floor(values) == values)
        inside = whole & (values >= 0) & (values < self.count)
        return xp.where(inside, xp.where(inside, values, 0.0).astype(int), -1)
