"""How far an animal points away from its neighbours, and from where it may want to go."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from shoal.angles import difference, namespace
from shoal.errors import InputError
from shoal.inputs import Targets
from shoal.states.angular import angular_axis, bearing
from shoal.states.axes import Circular, Folded
from shoal.states.scene import PerAnimal, PerMove, Places, Scene, by_frames
from shoal.states.targets import checked_target, target_places

Known = Bool[Any, "time individuals"]


@dataclass(frozen=True)
class LocalMisalignment:
    """Mean heading of the neighbours minus own heading: the turn that would align the animal.

    Parameters
    ----------
    bins
        How many bins go round the circle.
    radius
        Neighbours are the animals within this distance; None takes all. The paper's flock has 0.1,
        its guppies all.
    nearest
        Neighbours are this many nearest animals; None takes all.
    include_self
        Whether an animal's own heading is part of the mean, as in the paper.
    absolute
        Left and right taken together: the absolute value.
    name
        Of the axis.

    Examples
    --------
    >>> import shoal
    >>> near = shoal.LocalMisalignment(bins=24, radius=10.0, include_self=False)
    >>> shoal.StateSpace(near).shape
    (24,)
    """

    bins: int = 36
    radius: float | None = None
    nearest: int | None = None
    include_self: bool = True
    absolute: bool = False
    name: str = "local_misalignment"
    social: ClassVar[bool] = True
    turn: ClassVar[int] = -1

    def __post_init__(self) -> None:
        """Check the neighbourhood."""
        if self.radius is not None and not (np.isfinite(self.radius) and self.radius > 0):
            raise InputError(f"the radius of a neighbourhood must be positive, got {self.radius}")
        if self.nearest is not None and not (
            hasattr(self.nearest, "__index__") and self.nearest >= 1
        ):
            raise InputError(f"nearest is a whole number of neighbours, got {self.nearest!r}")
        if self.radius is not None and self.nearest is not None:
            raise InputError("neighbours are those within a radius or the nearest few, not both")

    @property
    def axis(self) -> Circular | Folded:
        """The axis it is measured on."""
        return angular_axis(self.name, self.bins, self.absolute)

    def values(self, scene: Scene) -> PerAnimal:
        """Degrees in [−180, 180); NaN where the animal or all its neighbours have no heading."""
        return self.decided(scene, *scene.own())[..., 0]

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """Degrees, from where each move would lead; an own heading in the mean stays as it was."""
        if self.radius is None and self.nearest is None:
            return self._towards_all(scene.headings, headings)
        return by_frames(scene, places, partial(self._towards_near, scene, places, headings))

    def _towards_all(self, seen: PerAnimal, headings: PerMove) -> PerMove:
        xp = namespace(seen)
        known, east, north = _directions(seen)
        company = _count(known) - known > 0  # alone with oneself one is not aligned with anybody
        x = xp.broadcast_to(east.sum(axis=1, keepdims=True), east.shape)
        y = xp.broadcast_to(north.sum(axis=1, keepdims=True), north.shape)
        if not self.include_self:
            x, y = x - east, y - north
        first = slice(headings.shape[1])
        sums = x[:, first, None], y[:, first, None]
        able = (known & company)[:, first, None]
        return _turn(*sums, able, headings, _count(known)[..., None])

    def _towards_near(self, scene: Scene, places: Places, headings: PerMove, run: slice) -> PerMove:
        known, east, north = _directions(scene.headings[run])
        gap = scene.shortest(places[run, :, :, None] - scene.positions[run, None, None])
        first = slice(gap.shape[1])
        near = self._neighbours(gap, known).astype(float)
        x, y = (near @ way[:, None, :, None] for way in (east, north))
        company = known & (_count(known) - known > 0)
        number = _count(known)[..., None]
        return _turn(x[..., 0], y[..., 0], company[:, first, None], headings[run], number)

    def _neighbours(
        self, gap: Float[Any, "time deciding moves individuals 2"], known: Known
    ) -> Bool[Any, "time deciding moves individuals"]:
        """Whose headings count for whom."""
        xp = namespace(gap)
        own = np.eye(gap.shape[3], dtype=bool)[: gap.shape[1], None]
        squared = gap[..., 0] ** 2 + gap[..., 1] ** 2
        usable = known[:, None, None, :] & ~own
        if self.radius is not None:
            with np.errstate(invalid="ignore"):
                near = usable & (squared <= self.radius**2)
        else:
            usable = usable & xp.isfinite(squared)
            order = xp.argsort(xp.where(usable, squared, xp.inf), axis=-1, stable=True)
            rank = xp.argsort(order, axis=-1, stable=True)
            near = usable & (rank < (self.nearest or 0))
        return near | (own & known[:, : gap.shape[1], None, None]) if self.include_self else near


def _directions(headings: PerAnimal) -> tuple[Known, PerAnimal, PerAnimal]:
    xp = namespace(headings)
    known = xp.isfinite(headings)
    theta = xp.deg2rad(xp.where(known, headings, 0.0))
    return known, xp.where(known, xp.cos(theta), 0.0), xp.where(known, xp.sin(theta), 0.0)


def _count(known: Known) -> Any:
    """How many headings are known in each frame."""
    return known.sum(axis=1, keepdims=True)


def _turn(
    x: Any, y: Any, known: Bool[Any, "time deciding _"], headings: PerMove, number: Any
) -> PerMove:
    xp = namespace(headings)
    towards = xp.rad2deg(xp.arctan2(y, x))
    # headings that cancel have no mean, whatever rounding leaves of their sum
    defined = known & (xp.hypot(x, y) > 1e-9 * xp.maximum(number, 1))
    return xp.where(defined, difference(towards, xp.where(known, headings, 0.0)), xp.nan)


@dataclass(frozen=True)
class TargetMisalignment:
    """Direction to a target minus own heading: the turn that would make the animal face it.

    Parameters
    ----------
    target
        A point (x, y); the name of an animal or landmark, which may move; or a dictionary with
        a point for each group.
    bins
        How many bins go round the circle.
    absolute
        Left and right taken together: the absolute value.
    name
        Of the axis.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(
    ...     shoal.LocalMisalignment(bins=36), shoal.TargetMisalignment(target=(0.2, 0.8), bins=36)
    ... )
    >>> space.names
    ('local_misalignment', 'target_misalignment')
    """

    target: Targets = (0.0, 0.0)
    bins: int = 36
    absolute: bool = False
    name: str = "target_misalignment"
    turn: ClassVar[int] = -1

    def __post_init__(self) -> None:
        """Check the target."""
        object.__setattr__(self, "target", checked_target(self.target))

    @property
    def axis(self) -> Circular | Folded:
        """The axis it is measured on."""
        return angular_axis(self.name, self.bins, self.absolute)

    def values(self, scene: Scene) -> PerAnimal:
        """Degrees in [−180, 180); NaN where the animal has no heading or is at the target."""
        return self.decided(scene, *scene.own())[..., 0]

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """Degrees, from where each move would lead."""
        checked: Any = self.target
        goal = target_places(checked, scene)[:, :, None]
        return bearing(scene.shortest(goal - places), headings)
