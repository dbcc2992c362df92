"""How far away, and in which direction: neighbours, the group's centre, a target, the wall."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from shoal.angles import namespace
from shoal.errors import InputError
from shoal.inputs import Numbers, Word
from shoal.states.angular import angular_axis, bearing
from shoal.states.axes import Circular, Folded, Interval
from shoal.states.scene import PerAnimal, PerMove, Places, Positions, Scene
from shoal.states.targets import checked_target, target_places
from shoal.tracks import Arena, Periodic, shortest


def to_nearest(places: Places, positions: Positions, arena: Arena | None = None) -> Places:
    """The step from each place of an animal to its nearest neighbour.

    NaN where the place is unknown or no other animal is seen.
    """
    xp = namespace(positions)
    gap = shortest(positions[:, None, None] - places[:, :, :, None], arena)
    distance = xp.hypot(gap[..., 0], gap[..., 1])
    own = np.eye(positions.shape[1], dtype=bool)[: places.shape[1], None]
    distance = xp.where(own | xp.isnan(distance), xp.inf, distance)
    nearest = xp.argmin(distance, axis=3)
    step = xp.take_along_axis(gap, nearest[..., None, None], axis=3)[..., 0, :]
    lonely = xp.isinf(xp.min(distance, axis=3))
    return xp.where(lonely[..., None], xp.nan, step)


def to_centroid(places: Places, positions: Positions, arena: Arena | None = None) -> Places:
    """The step from each place of an animal to the centroid of the others that are seen.

    In a periodic box, where there is no centroid: the mean of the shortest steps to the others.
    """
    xp = namespace(positions)
    seen = xp.isfinite(positions).all(axis=-1)
    first = slice(places.shape[1])
    others = (seen.sum(axis=1, keepdims=True) - seen[:, first])[:, :, None]
    number = xp.maximum(others, 1)[..., None]
    if isinstance(arena, Periodic):
        gap = shortest(positions[:, None, None] - places[:, :, :, None], arena)
        own = np.eye(positions.shape[1], dtype=bool)[first, None, :, None]
        step = xp.where(xp.isfinite(gap) & ~own, gap, 0.0).sum(axis=3) / number
    else:
        placed = xp.where(seen[..., None], positions, 0.0)
        rest = placed.sum(axis=1, keepdims=True) - placed[:, first]
        step = rest[:, :, None] / number - places
    known = xp.isfinite(places).all(axis=-1) & (others > 0)
    return xp.where(known[..., None], step, xp.nan)


STEPS = {"neighbour": to_nearest, "centroid": to_centroid}
"""Where a distance or a bearing is taken to."""


def _steps(scene: Scene, places: Places, towards: str) -> Places:
    parts = [
        STEPS[towards](places[run], scene.positions[run], scene.arena)
        for run in scene.blocks(places.shape[2])
    ]
    return namespace(scene.positions).concatenate(parts)


def _length(step: Float[Any, "*shape 2"]) -> Float[Any, "*shape"]:
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

    Examples
    --------
    >>> import shoal
    >>> far = shoal.Distance((0, 2, 5, 10), "neighbour", unit="cm")
    >>> shoal.StateSpace(far).shape
    (3,)
    """

    edges: Numbers
    towards: str = "neighbour"
    unit: str = ""
    beyond: bool = False
    walls: Word | None = None
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
        return self.decided(scene, *scene.own())[..., 0]

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """Distances from where each move would lead."""
        return _length(_steps(scene, places, self.towards))


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

    Examples
    --------
    >>> import shoal
    >>> shoal.StateSpace(shoal.Bearing("neighbour", bins=12)).names
    ('neighbour_bearing',)
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
        return self.decided(scene, *scene.own())[..., 0]

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """Degrees, from where each move would lead."""
        return bearing(_steps(scene, places, self.towards), headings)


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
    edges: Numbers
    unit: str = ""
    beyond: bool = False
    name: str = "target_distance"
    walls: Word | None = None
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
        return self.decided(scene, *scene.own())[..., 0]

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """Distances from where each move would lead."""
        goal = target_places(self.target, scene)[:, :, None]
        distance = _length(scene.shortest(goal - places))
        if isinstance(self.target, str) and self.target in scene.members:
            own = np.arange(distance.shape[1]) == scene.members.index(self.target)
            distance = namespace(distance).where(own[:, None], np.nan, distance)
        return distance  # nobody is its own goal


@dataclass(frozen=True)
class WallDistance:
    """How far away the nearest wall of the arena is.

    Parameters
    ----------
    edges
        Of the bins, in the unit of the tracks. An animal outside has no distance.
    arena
        ``shoal.tracks.Rectangle(…)`` or ``shoal.tracks.Circle(…)``; None takes the one that the
        tracks know.
    unit
        For axis labels.
    beyond
        Whether the last bin also holds what lies beyond its upper edge.
    walls
        Of the axis: ``"both"``, ``"low"``, ``"high"`` or ``"none"`` (see ``Interval``). By default
        an end at 0 is a wall and the upper end is none.
    """

    edges: Numbers
    arena: Arena | None = None
    unit: str = ""
    beyond: bool = False
    walls: Word | None = None
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
        return self.decided(scene, *scene.own())[..., 0]

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """Distances from where each move would lead; NaN outside."""
        arena = self.arena or scene.arena
        if isinstance(arena, Periodic):
            raise InputError(f"a periodic box has no walls to be away from: {arena}")
        if arena is None:
            raise InputError(
                f"the walls around group {scene.group!r} are not known: give "
                "arena=shoal.tracks.Rectangle(left, bottom, right, top) or "
                "shoal.tracks.Circle(x, y, radius), or --arena on the command line"
            )
        distance = arena.distance(places)
        return namespace(distance).where(distance >= 0, distance, np.nan)
