"""How many others are near."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from shoal.angles import namespace
from shoal.errors import InputError
from shoal.states.axes import Interval
from shoal.states.scene import PerAnimal, PerMove, Places, Scene, by_frames


@dataclass(frozen=True)
class NeighboursWithin:
    """The number of others within a radius.

    Parameters
    ----------
    radius
        In the unit of the tracks.
    most
        The last bin holds this many and more.
    """

    radius: Any
    most: Any = 8
    social: ClassVar[bool] = True
    turn: ClassVar[int] = 0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not (np.isreal(self.radius) and np.isfinite(self.radius) and self.radius > 0):
            raise InputError(f"the radius of a neighbourhood must be positive, got {self.radius}")
        if not hasattr(self.most, "__index__") or self.most < 1:
            raise InputError(f"most is a whole number of neighbours, 1 or more; got {self.most!r}")

    @property
    def axis(self) -> Interval:
        """The axis it is measured on: a bin for each number."""
        edges = tuple(np.arange(self.most + 2) - 0.5)
        return Interval("neighbours", edges, f"within {self.radius:g}", beyond=True)

    def values(self, scene: Scene) -> PerAnimal:
        """Numbers, at most ``most``; NaN where the animal is not seen."""
        return self.decided(scene, *scene.own())[..., 0]

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """Numbers around where each move would lead."""
        return by_frames(scene, places, partial(self._counted, scene, places))

    def _counted(self, scene: Scene, places: Places, run: slice) -> PerMove:
        xp = namespace(places)
        gap = scene.shortest(scene.positions[run, None, None] - places[run, :, :, None])
        own = np.eye(gap.shape[3], dtype=bool)[: gap.shape[1], None]
        with np.errstate(invalid="ignore"):
            near = (xp.hypot(gap[..., 0], gap[..., 1]) <= self.radius) & ~own
        count = near.sum(axis=-1) * 1.0
        return xp.where(xp.isfinite(places[run, ..., 0]), xp.minimum(count, self.most), xp.nan)
