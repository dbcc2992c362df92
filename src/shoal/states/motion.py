"""How an animal moves: its speed, alone and beside the others', and the turn it has just made."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.angles import difference, namespace
from shoal.errors import InputError
from shoal.inputs import Numbers, Word
from shoal.states.angular import angular_axis
from shoal.states.axes import Circular, Folded, Interval
from shoal.states.scene import PerAnimal, PerMove, Places, Scene

FASTEST = 1e6
"""Times as fast as others that all but rest."""


@dataclass(frozen=True)
class Speed:
    """How fast the animal goes: its displacement over the next frames, by the time it takes.

    Parameters
    ----------
    edges
        Of the bins, in lengths of the tracks a second, or a frame where their rate is unknown.
    frames
        Over how many frames the displacement is taken.
    unit
        For axis labels.
    beyond
        Whether the last bin also holds what lies beyond its upper edge.
    walls
        Of the axis: ``"both"``, ``"low"``, ``"high"`` or ``"none"`` (see ``Interval``). By default
        an end at 0 is a wall and the upper end is none.
    """

    edges: Numbers
    frames: int = 1
    unit: str = ""
    beyond: bool = False
    walls: Word | None = None
    turn: ClassVar[int] = 0

    def __post_init__(self) -> None:
        """Check the edges and the frames."""
        if not hasattr(self.frames, "__index__") or self.frames < 1:
            raise InputError(f"a speed is taken over 1 frame or more, got {self.frames!r}")
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        return Interval.from_zero("speed", self.edges, self.unit, self.beyond, self.walls)

    @property
    def after(self) -> int:
        """Frames that it looks ahead."""
        return self.frames

    def values(self, scene: Scene) -> PerAnimal:
        """Speeds; NaN where an animal is not seen all the way."""
        places, n = scene.positions, self.frames
        speed = np.full(places.shape[:2], np.nan)
        if n < len(places):
            moved = scene.shortest(places[n:] - places[:-n])
            seen = np.isfinite(places[..., 0])
            whole = np.all([seen[k : len(seen) - n + k] for k in range(n + 1)], axis=0)
            rate = (scene.fps or 1.0) / n
            speed[:-n] = np.where(whole, np.hypot(moved[..., 0], moved[..., 1]) * rate, np.nan)
        return speed

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """The speed of each move itself, in one frame."""
        return self.of_lengths(scene, _lengths_of(scene, places))

    def of_lengths(self, scene: Scene, lengths: PerMove) -> PerMove:
        """The speed of steps of these lengths."""
        return lengths * (scene.fps or 1.0)


@dataclass(frozen=True)
class RelativeSpeed:
    """How fast the animal goes beside the others: its last step over the mean of theirs.

    1 is as fast as the others, 2 twice as fast.

    Parameters
    ----------
    edges
        Of the bins.
    beyond
        Whether the last bin also holds what lies beyond its upper edge.
    walls
        Of the axis: ``"both"``, ``"low"``, ``"high"`` or ``"none"`` (see ``Interval``). By default
        an end at 0 is a wall and the upper end is none.

    Examples
    --------
    >>> import shoal
    >>> shoal.states.RelativeSpeed((0.0, 0.5, 1.0, 1.5, 2.0), beyond=True).axis.name
    'relative_speed'
    """

    edges: Numbers
    beyond: bool = False
    walls: Word | None = None
    social: ClassVar[bool] = True
    turn: ClassVar[int] = 0
    before: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the edges."""
        object.__setattr__(self, "edges", self.axis.edges)

    @property
    def axis(self) -> Interval:
        """The axis it is measured on."""
        unit = "times the others'"
        return Interval.from_zero("relative_speed", self.edges, unit, self.beyond, self.walls)

    def values(self, scene: Scene) -> PerAnimal:
        """Of the last steps; NaN where an animal, or all others, were not seen in both frames."""
        lengths = scene.lengths
        if lengths is None:
            raise InputError("how far animals have moved is not known in this scene")
        return self.of_lengths(scene, lengths[:, :, None])[..., 0]

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """Of each move itself, beside the others' last steps."""
        return self.of_lengths(scene, _lengths_of(scene, places))

    def of_lengths(self, scene: Scene, lengths: PerMove) -> PerMove:
        """Of steps of these lengths; very large where all others rest."""
        xp = namespace(lengths)
        steps = scene.lengths
        assert steps is not None
        known = xp.isfinite(steps)
        steps = xp.where(known, steps, 0.0)
        first = slice(lengths.shape[1])
        count = (known.sum(axis=1, keepdims=True) - known[:, first])[..., None]
        total = (steps.sum(axis=1, keepdims=True) - steps[:, first])[..., None]
        mean = xp.maximum(total, 0.0) / xp.maximum(count, 1)
        ratio = lengths / xp.maximum(mean, lengths / FASTEST + 1e-300)
        return xp.where(count > 0, ratio, xp.nan)


def _lengths_of(scene: Scene, places: Places) -> PerMove:
    """How far it is to each place."""
    moved = scene.shortest(places - scene.positions[:, : places.shape[1], None])
    return namespace(moved).hypot(moved[..., 0], moved[..., 1])


@dataclass(frozen=True)
class TurningAngle:
    """The turn since the frame before: heading now minus heading then.

    Parameters
    ----------
    bins
        How many bins go round the circle.
    absolute
        Left and right taken together: the absolute value.
    """

    bins: int = 36
    absolute: bool = False
    before: ClassVar[int] = 1
    turn: ClassVar[int] = 1

    @property
    def axis(self) -> Circular | Folded:
        """The axis it is measured on."""
        return angular_axis("turning_angle", self.bins, self.absolute)

    def values(self, scene: Scene) -> PerAnimal:
        """Degrees in [−180, 180); NaN where either heading is undefined."""
        angle = scene.headings
        turn = np.full(angle.shape, np.nan)
        known = np.isfinite(angle[1:]) & np.isfinite(angle[:-1])
        now, then = np.where(known, angle[1:], 0.0), np.where(known, angle[:-1], 0.0)
        turn[1:] = np.where(known, difference(now, then), np.nan)
        return turn

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """The turn of each move itself."""
        return difference(headings, scene.headings[:, : headings.shape[1], None])
