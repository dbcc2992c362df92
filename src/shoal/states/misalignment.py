"""How far an animal points away from its neighbours, and from where it may want to go."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Float

from shoal.angles import difference
from shoal.errors import InputError
from shoal.states.angular import angular_axis, bearing
from shoal.states.axes import Circular, Folded
from shoal.states.scene import PerAnimal, Positions, Scene, by_frames
from shoal.states.targets import checked_target, target_places


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
    """

    bins: int = 36
    radius: float | None = None
    nearest: int | None = None
    include_self: bool = True
    absolute: bool = False
    name: str = "local_misalignment"
    social: ClassVar[bool] = True

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
        if self.radius is None and self.nearest is None:
            return self._towards_all(scene.headings)
        return by_frames(scene, self._towards_near)

    def _towards_all(self, headings: PerAnimal) -> PerAnimal:
        known, east, north = _directions(headings)
        weight = np.broadcast_to(known.sum(axis=1, keepdims=True), known.shape).astype(float)
        company = weight - known > 0  # alone with oneself one is not aligned with anybody
        x = np.broadcast_to(east.sum(axis=1, keepdims=True), east.shape)
        y = np.broadcast_to(north.sum(axis=1, keepdims=True), north.shape)
        if not self.include_self:
            weight, x, y = weight - known, x - east, y - north
        return _turn(x, y, weight, known & company, headings)

    def _towards_near(self, positions: Positions, headings: PerAnimal) -> PerAnimal:
        known, east, north = _directions(headings)
        near = self._neighbours(positions, known).astype(float)
        x, y = np.einsum("tij,tj->ti", near, east), np.einsum("tij,tj->ti", near, north)
        company = known.sum(axis=1, keepdims=True) - known > 0
        return _turn(x, y, near.sum(axis=-1), known & company, headings)

    def _neighbours(
        self, positions: Positions, known: Bool[np.ndarray, "time individuals"]
    ) -> Bool[np.ndarray, "time individuals individuals"]:
        """Whose headings count for whom."""
        animals = positions.shape[1]
        own = np.arange(animals)
        gap = positions[:, :, None] - positions[:, None, :]
        distance = np.hypot(gap[..., 0], gap[..., 1])
        usable = known[:, None, :] & np.isfinite(distance)
        usable[:, own, own] = False
        if self.radius is not None:
            with np.errstate(invalid="ignore"):
                near = usable & (distance <= self.radius)
        else:
            order = np.argsort(np.where(usable, distance, np.inf), axis=-1, kind="stable")
            rank = np.argsort(order, axis=-1, kind="stable")
            near = usable & (rank < (self.nearest or 0))
        near[:, own, own] = known if self.include_self else False
        return near


def _directions(
    headings: PerAnimal,
) -> tuple[Bool[np.ndarray, "time individuals"], PerAnimal, PerAnimal]:
    known = np.isfinite(headings)
    theta = np.deg2rad(np.where(known, headings, 0.0))
    return known, np.where(known, np.cos(theta), 0.0), np.where(known, np.sin(theta), 0.0)


def _turn(
    x: Float[np.ndarray, "time individuals"],
    y: Float[np.ndarray, "time individuals"],
    weight: Float[np.ndarray, "time individuals"],
    known: Bool[np.ndarray, "time individuals"],
    headings: PerAnimal,
) -> PerAnimal:
    towards = np.rad2deg(np.arctan2(y, x))
    # headings that cancel have no mean, whatever rounding leaves of their sum
    defined = known & (np.hypot(x, y) > 1e-9 * np.maximum(weight, 1))
    return np.where(defined, difference(towards, np.where(known, headings, 0.0)), np.nan)


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
    """

    target: Any = (0.0, 0.0)
    bins: int = 36
    absolute: bool = False
    name: str = "target_misalignment"

    def __post_init__(self) -> None:
        """Check the target."""
        object.__setattr__(self, "target", checked_target(self.target))

    @property
    def axis(self) -> Circular | Folded:
        """The axis it is measured on."""
        return angular_axis(self.name, self.bins, self.absolute)

    def values(self, scene: Scene) -> PerAnimal:
        """Degrees in [−180, 180); NaN where the animal has no heading or is at the target."""
        return bearing(target_places(self.target, scene) - scene.positions, scene.headings)
