"""How far an animal points away from its neighbours, and from where it may want to go."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from shoal.angles import difference
from shoal.errors import InputError
from shoal.states.axes import Circular
from shoal.states.distances import bearing, checked_point

Positions = Float[np.ndarray, "time individuals 2"]
Headings = Float[np.ndarray, "time individuals"]


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
    include_self
        Whether an animal's own heading is part of the mean, as in the paper.
    name
        Of the axis.
    """

    bins: int = 36
    radius: float | None = None
    include_self: bool = True
    name: str = "local_misalignment"

    def __post_init__(self) -> None:
        """Check the radius."""
        if self.radius is not None and not (np.isfinite(self.radius) and self.radius > 0):
            raise InputError(f"the radius of a neighbourhood must be positive, got {self.radius}")

    @property
    def axis(self) -> Circular:
        """The axis it is measured on."""
        return Circular(self.name, self.bins)

    def values(self, positions: Positions, headings: Headings) -> Headings:
        """Degrees in [−180, 180); NaN where the animal or all its neighbours have no heading."""
        theta = np.deg2rad(headings)
        direction = np.stack([np.cos(theta), np.sin(theta)], axis=-1)
        known = np.isfinite(theta)
        direction = np.where(known[..., None], direction, 0.0)
        near = self._neighbours(positions, known)
        mean = np.einsum("tij,tjk->tik", near.astype(float), direction)
        length = np.hypot(mean[..., 0], mean[..., 1])
        towards = np.rad2deg(np.arctan2(mean[..., 1], mean[..., 0]))
        # headings that cancel have no mean, whatever rounding leaves of their sum
        defined = known & (length > 1e-9 * np.maximum(near.sum(axis=-1), 1))
        return np.where(defined, difference(towards, np.where(known, headings, 0.0)), np.nan)

    def _neighbours(
        self, positions: Positions, known: Bool[np.ndarray, "time individuals"]
    ) -> Bool[np.ndarray, "time individuals individuals"]:
        """Whose headings count for whom."""
        animals = positions.shape[1]
        near = np.broadcast_to(known[:, None, :], (len(positions), animals, animals)).copy()
        if self.radius is not None:
            gap = positions[:, :, None] - positions[:, None, :]
            with np.errstate(invalid="ignore"):
                near &= np.hypot(gap[..., 0], gap[..., 1]) <= self.radius
        own = np.arange(animals)
        near[:, own, own] = known if self.include_self else False
        return near


@dataclass(frozen=True)
class TargetMisalignment:
    """Direction to a target minus own heading: the turn that would make the animal face it.

    Parameters
    ----------
    target
        x and y of the point.
    bins
        How many bins go round the circle.
    name
        Of the axis.
    """

    target: Any = (0.0, 0.0)
    bins: int = 36
    name: str = "target_misalignment"

    def __post_init__(self) -> None:
        """Check the target."""
        object.__setattr__(self, "target", checked_point(self.target))

    @property
    def axis(self) -> Circular:
        """The axis it is measured on."""
        return Circular(self.name, self.bins)

    def values(self, positions: Positions, headings: Headings) -> Headings:
        """Degrees in [−180, 180); NaN where the animal has no heading or is at the target."""
        return bearing(np.asarray(self.target) - positions, headings)
