"""How far away, and in which direction: neighbours, the group's centre, a target, the wall."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from shoal.angles import namespace
from shoal.errors import InputError
from shoal.states.angular import angular_axis, bearing
from shoal.states.axes import Circular, Folded, Interval
from shoal.states.scene import PerAnimal, Positions, Scene
from shoal.states.targets import checked_target, target_places
from shoal.tracks import Arena, Periodic, shortest


def _gaps(positions: Positions, arena: Arena | None) -> Float[Any, "time individuals others 2"]:
    """The step from each animal to each other."""
    return shortest(positions[:, None, :] - positions[:, :, None], arena)


def to_nearest(positions: Positions, arena: Arena | None = None) -> Positions:
    """The step from each animal to its nearest neighbour; NaN where it or all others are unseen."""
    xp = namespace(positions)
    gap = _gaps(positions, arena)
    distance = xp.hypot(gap[..., 0], gap[..., 1])
    own = np.eye(positions.shape[1], dtype=bool)
    distance = xp.where(own | xp.isnan(distance), xp.inf, distance)
    nearest = xp.argmin(distance, axis=2)
    step = xp.take_along_axis(gap, nearest[:, :, None, None], axis=2)[:, :, 0]
    lonely = xp.isinf(xp.min(distance, axis=2))
    return xp.where(lonely[..., None], xp.nan, step)


def to_centroid(positions: Positions, arena: Arena | None = None) -> Positions:
    """The step from each animal to the centroid of the others that are seen.

    In a periodic box, where there is no centroid: the mean of the shortest steps to the others.
    """
    xp = namespace(positions)
    seen = xp.isfinite(positions).all(axis=-1)
    others = seen.sum(axis=1, keepdims=True) - seen
    number = xp.maximum(others, 1)[..., None]
    if isinstance(arena, Periodic):
        gap = _gaps(positions, arena)
        step = xp.where(xp.isfinite(gap), gap, 0.0).sum(axis=2) / number
    else:
        placed = xp.where(seen[..., None], positions, 0.0)
        step = (placed.sum(axis=1, keepdims=True) - placed) / number - placed
    return xp.where((seen & (others > 0))[..., None], step, xp.nan)


STEPS = {"neighbour": to_nearest, "centroid": to_centroid}
"""Where a distance or a bearing is taken to."""


def _steps(scene: Scene, towards: str) -> Positions:
    parts = [STEPS[towards](scene.positions[run], scene.arena) for run in scene.blocks()]
    return namespace(scene.positions).concatenate(parts)


def _length(step: Positions) -> PerAnimal:
    return namespace(step).hypot(step[..., 0], step[..., 1])


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
    walls
        Of the axis: ``"both"``, ``"low"``, ``"high"`` or ``"none"`` (see ``Interval``). By default
        an end at 0 is a wall and the upper end is none.
    """

    edges: Any
    towards: str = "neighbour"
    unit: str = ""
    beyond: bool = False
    walls: Any = None
    social: ClassVar[bool] = True
    turn: ClassVar[int] = 0

    def __post_init__(self) -> None:
        """Check the edges and the word."""
        _check_towards(self.towards)
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval.from_zero(
            f"{self.towards}_distance", self.edges, self.unit, self.beyond, self.walls
        )

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
    turn: ClassVar[int] = -1

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
    walls
        Of the axis: ``"both"``, ``"low"``, ``"high"`` or ``"none"`` (see ``Interval``). By default
        an end at 0 is a wall and the upper end is none.
    """

    target: Any
    edges: Any
    unit: str = ""
    beyond: bool = False
    name: str = "target_distance"
    walls: Any = None
    turn: ClassVar[int] = 0

    def __post_init__(self) -> None:
        """Check the target and the edges."""
        object.__setattr__(self, "target", checked_target(self.target))
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval.from_zero(self.name, self.edges, self.unit, self.beyond, self.walls)

    def values(self, scene: Scene) -> PerAnimal:
        """Distances, in the unit of the tracks."""
        distance = _length(scene.shortest(target_places(self.target, scene) - scene.positions))
        if isinstance(self.target, str) and self.target in scene.members:
            own = np.arange(distance.shape[1]) == scene.members.index(self.target)
            distance = namespace(distance).where(own, np.nan, distance)  # nobody is its own goal
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
    walls
        Of the axis: ``"both"``, ``"low"``, ``"high"`` or ``"none"`` (see ``Interval``). By default
        an end at 0 is a wall and the upper end is none.
    """

    edges: Any
    arena: Arena | None = None
    unit: str = ""
    beyond: bool = False
    walls: Any = None
    turn: ClassVar[int] = 0

    def __post_init__(self) -> None:
        """Check the edges."""
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval.from_zero("wall_distance", self.edges, self.unit, self.beyond, self.walls)

    def values(self, scene: Scene) -> PerAnimal:
        """Distances, in the unit of the tracks; NaN outside."""
        arena = self.arena or scene.arena
        if isinstance(arena, Periodic):
            raise InputError(f"a periodic box has no walls to be away from: {arena}")
        if arena is None:
            raise InputError(
                f"the walls around group {scene.group!r} are not known: give "
                "arena=shoal.Rectangle(left, bottom, right, top) or shoal.Circle(x, y, radius), or "
                "--arena on the command line"
            )
        distance = arena.distance(scene.positions)
        return namespace(distance).where(distance >= 0, distance, np.nan)
