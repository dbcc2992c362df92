"""How far away, and in which direction: neighbours, the group's centre, a target, the wall."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.errors import InputError
from shoal.states.angular import angular_axis, bearing
from shoal.states.axes import Circular, Folded, Interval
from shoal.states.scene import PerAnimal, Positions, Scene
from shoal.states.targets import checked_target, target_places
from shoal.tracks import Circle, Rectangle


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


def _steps(scene: Scene, towards: str) -> Positions:
    parts = [STEPS[towards](scene.positions[run]) for run in scene.blocks()]
    return np.concatenate(parts) if parts else np.empty(scene.positions.shape)


def _length(step: Positions) -> PerAnimal:
    return np.hypot(step[..., 0], step[..., 1])


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
    beyond
        Whether the last bin also holds what lies beyond its upper edge.
    """

    edges: Any
    towards: str = "neighbour"
    unit: str = ""
    beyond: bool = False
    social: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the edges and the word."""
        _check_towards(self.towards)
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval(f"{self.towards}_distance", self.edges, self.unit, self.beyond)

    def values(self, scene: Scene) -> PerAnimal:
        """Distances, in the unit of the tracks."""
        return _length(_steps(scene, self.towards))


@dataclass(frozen=True)
class Bearing:
    """In which direction the nearest neighbour or the centroid of the others is, from the heading.

    Parameters
    ----------
    towards
        ``"neighbour"`` or ``"centroid"``.
    bins
        How many bins go round the circle.
    absolute
        Left and right taken together: the absolute value.
    """

    towards: str = "neighbour"
    bins: int = 36
    absolute: bool = False
    social: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the word."""
        _check_towards(self.towards)

    @property
    def axis(self) -> Circular | Folded:
        """The axis it is measured on."""
        return angular_axis(f"{self.towards}_bearing", self.bins, self.absolute)

    def values(self, scene: Scene) -> PerAnimal:
        """Degrees in [−180, 180): the turn that would make the animal face it."""
        return bearing(_steps(scene, self.towards), scene.headings)


@dataclass(frozen=True)
class TargetDistance:
    """How far away a target is.

    Parameters
    ----------
    target
        A point (x, y); the name of an animal or landmark, which may move; or a dictionary with
        a point for each group.
    edges
        Of the bins, in the unit of the tracks.
    unit
        For axis labels.
    beyond
        Whether the last bin also holds what lies beyond its upper edge.
    name
        Of the axis.
    """

    target: Any
    edges: Any
    unit: str = ""
    beyond: bool = False
    name: str = "target_distance"

    def __post_init__(self) -> None:
        """Check the target and the edges."""
        object.__setattr__(self, "target", checked_target(self.target))
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval(self.name, self.edges, self.unit, self.beyond)

    def values(self, scene: Scene) -> PerAnimal:
        """Distances, in the unit of the tracks."""
        distance = _length(target_places(self.target, scene) - scene.positions)
        if isinstance(self.target, str) and self.target in scene.members:
            distance[:, scene.members.index(self.target)] = np.nan  # nobody is away from itself
        return distance


@dataclass(frozen=True)
class WallDistance:
    """How far away the nearest wall of the arena is.

    Parameters
    ----------
    edges
        Of the bins, in the unit of the tracks. An animal outside has no distance.
    arena
        ``shoal.Rectangle(…)`` or ``shoal.Circle(…)``; None takes the one that the tracks know.
    unit
        For axis labels.
    beyond
        Whether the last bin also holds what lies beyond its upper edge.
    """

    edges: Any
    arena: Rectangle | Circle | None = None
    unit: str = ""
    beyond: bool = False

    def __post_init__(self) -> None:
        """Check the edges."""
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval("wall_distance", self.edges, self.unit, self.beyond)

    def values(self, scene: Scene) -> PerAnimal:
        """Distances, in the unit of the tracks; NaN outside."""
        arena = self.arena or scene.arena
        if arena is None:
            raise InputError(
                f"the walls around group {scene.group!r} are not known: give "
                "arena=shoal.Rectangle(left, bottom, right, top) or shoal.Circle(x, y, radius), or "
                "--arena on the command line"
            )
        distance = arena.distance(scene.positions)
        return np.where(distance >= 0, distance, np.nan)
