"""How far away, and in which direction: neighbours, the group's centre, a target; and how fast."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.angles import difference
from shoal.errors import InputError
from shoal.states.axes import Circular, Interval

Positions = Float[np.ndarray, "time individuals 2"]
PerAnimal = Float[np.ndarray, "time individuals"]


def to_nearest(positions: Positions) -> Positions:
    """The step from each animal to its nearest neighbour; NaN where it or all others are unseen."""
    gap = positions[:, None, :] - positions[:, :, None]  # from the second axis to the third
    distance = np.hypot(gap[..., 0], gap[..., 1])
    own = np.arange(positions.shape[1])
    distance[:, own, own] = np.inf
    distance = np.where(np.isnan(distance), np.inf, distance)
    nearest = np.argmin(distance, axis=2)
    step = np.take_along_axis(gap, nearest[:, :, None, None], axis=2)[:, :, 0]
    lonely = np.isinf(np.min(distance, axis=2))
    return np.where(lonely[..., None], np.nan, step)


def to_centroid(positions: Positions) -> Positions:
    """The step from each animal to the centroid of the others that are seen."""
    seen = np.isfinite(positions).all(axis=-1)
    placed = np.where(seen[..., None], positions, 0.0)
    others = seen.sum(axis=1, keepdims=True) - seen
    total = placed.sum(axis=1, keepdims=True) - placed
    centre = total / np.maximum(others, 1)[..., None]
    return np.where((seen & (others > 0))[..., None], centre - placed, np.nan)


STEPS = {"neighbour": to_nearest, "centroid": to_centroid}
"""Where a distance or a bearing is taken to."""


def _check_towards(towards: str) -> None:
    if towards not in STEPS:
        raise InputError(f"towards is one of {', '.join(STEPS)}; got {towards!r}")


@dataclass(frozen=True)
class Distance:
    """How far away the nearest neighbour or the centroid of the others is.

    Parameters
    ----------
    edges
        Of the bins, in the unit of the tracks.
    towards
        ``"neighbour"`` or ``"centroid"``.
    unit
        For axis labels.
    """

    edges: Any
    towards: str = "neighbour"
    unit: str = ""

    def __post_init__(self) -> None:
        """Check the edges and the word."""
        _check_towards(self.towards)
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval(f"{self.towards}_distance", self.edges, self.unit)

    def values(self, positions: Positions, headings: PerAnimal) -> PerAnimal:
        """Distances, in the unit of the tracks."""
        step = STEPS[self.towards](positions)
        return np.hypot(step[..., 0], step[..., 1])


@dataclass(frozen=True)
class Bearing:
    """In which direction the nearest neighbour or the centroid of the others is, from the heading.

    Parameters
    ----------
    towards
        ``"neighbour"`` or ``"centroid"``.
    bins
        How many bins go round the circle.
    """

    towards: str = "neighbour"
    bins: int = 36

    def __post_init__(self) -> None:
        """Check the word."""
        _check_towards(self.towards)

    @property
    def axis(self) -> Circular:
        """The axis it is measured on."""
        return Circular(f"{self.towards}_bearing", self.bins)

    def values(self, positions: Positions, headings: PerAnimal) -> PerAnimal:
        """Degrees in [−180, 180): the turn that would make the animal face it."""
        return bearing(STEPS[self.towards](positions), headings)


@dataclass(frozen=True)
class TargetDistance:
    """How far away a target is.

    Parameters
    ----------
    target
        x and y of the point.
    edges
        Of the bins, in the unit of the tracks.
    unit
        For axis labels.
    """

    target: Any
    edges: Any
    unit: str = ""

    def __post_init__(self) -> None:
        """Check the target and the edges."""
        object.__setattr__(self, "target", checked_point(self.target))
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval("target_distance", self.edges, self.unit)

    def values(self, positions: Positions, headings: PerAnimal) -> PerAnimal:
        """Distances, in the unit of the tracks."""
        step = np.asarray(self.target) - positions
        return np.hypot(step[..., 0], step[..., 1])


def bearing(step: Positions, headings: PerAnimal) -> PerAnimal:
    """The turn from each heading to the direction of a step; NaN where either is undefined."""
    known = np.isfinite(headings) & np.isfinite(step).all(axis=-1)
    known &= np.hypot(step[..., 0], step[..., 1]) > 0
    towards = np.rad2deg(np.arctan2(step[..., 1], step[..., 0]))
    turn = difference(np.where(known, towards, 0.0), np.where(known, headings, 0.0))
    return np.where(known, turn, np.nan)


def checked_point(target: Any) -> tuple[float, ...]:
    """A point (x, y)."""
    try:
        point = np.asarray(target, dtype=float)
    except (TypeError, ValueError):
        point = np.full(1, np.nan)
    if point.shape != (2,) or not np.all(np.isfinite(point)):
        raise InputError(f"a target is a point (x, y), got {target!r}")
    return tuple(point.tolist())
