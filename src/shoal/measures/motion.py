"""What summaries are taken of: the places and headings of one group, or of a stack of them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.measures.arrival import checked_places, checked_reach
from shoal.measures.shape import PerAnimal, PerFrame, checked_rate, is_number, polarisation
from shoal.measures.turning import turning_angles
from shoal.states.scene import Scene
from shoal.states.targets import checked_target, target_places
from shoal.tracks import Tracks
from shoal.tracks.arena import Arena


@dataclass(frozen=True, eq=False)
class Motion:
    """The members of a group in motion, or of many groups of the same size.

    Attributes
    ----------
    positions, headings
        (…, time, individuals, 2) and (…, time, individuals), headings in degrees; NaN where there
        is none. Groups that end before others are NaN from there on.
    fps
        Frames per second; None where it is not known.
    arena
        The walls or the periodic box, where known.
    target
        A point (x, y), or its places (time, 2) where it moves; None where there is none.
    reach
        The distance within which the target is reached; given with a target, and only then.
    """

    positions: Any
    headings: Any
    fps: Any = None
    arena: Any = None
    target: Any = None
    reach: Any = None

    def __post_init__(self) -> None:
        """Check that everything fits."""
        places, angles = _numbers(self.positions, "positions"), _numbers(self.headings, "headings")
        if places.ndim < 3 or places.shape[-1] != 2 or 0 in places.shape[-3:]:
            raise InputError(
                f"positions are an array (…, time, individuals, 2), got shape {places.shape}"
            )
        if angles.shape != places.shape[:-1]:
            raise InputError(
                "headings are one angle for each animal in each frame, of shape "
                f"{places.shape[:-1]} for these positions; got {angles.shape}"
            )
        object.__setattr__(self, "positions", places)
        object.__setattr__(self, "headings", angles)
        checked_rate(self.fps)
        if self.arena is not None and not isinstance(self.arena, Arena):
            raise InputError(f"an arena is a Rectangle, Circle or Periodic, got {self.arena!r:.80}")
        if (self.target is None) != (self.reach is None):
            raise InputError(
                "a target and the reach within which it counts as reached are given together, got "
                f"target={self.target!r:.80} and reach={self.reach!r}"
            )
        if self.target is not None:
            checked_places(self.target, places.shape)
            checked_reach(self.reach)

    @classmethod
    def of(
        cls,
        tracks: Any,
        *,
        target: Any = None,
        reach: Any = None,
        heading_frames: Any = 1,
        minimum_step: Any = 0.0,
    ) -> "Motion":
        """Of the members of tracks; the target is a point, a landmark's name or one a group."""
        if not isinstance(tracks, Tracks):
            raise InputError(f"expected the Tracks of one group, got {type(tracks).__name__}")
        if not hasattr(heading_frames, "__index__") or heading_frames < 1:
            raise InputError(
                "headings are taken over a whole number of frames, 1 or more; got "
                f"{heading_frames!r}"
            )
        if not is_number(minimum_step) or not minimum_step >= 0:
            raise InputError(f"a minimum step is a number, 0 or more; got {minimum_step!r}")
        scene = Scene.of(tracks, int(heading_frames), float(minimum_step))
        place = None if target is None else _place(target, scene)
        return cls(scene.positions, scene.headings, scene.fps, scene.arena, place, reach)

    @cached_property
    def polarisation(self) -> PerFrame:
        """In every frame."""
        return polarisation(self.headings)

    @cached_property
    def turns(self) -> PerAnimal:
        """Of every animal since the frame before, in degrees."""
        return turning_angles(self.headings)


def _place(target: Any, scene: Scene) -> np.ndarray:
    """The target's point, or its places where it moves."""
    chosen = checked_target(target)
    if isinstance(chosen, str) and chosen in scene.members:
        raise InputError(
            f"the target {chosen!r} is a member of the group and always at itself: take a point, "
            "or make it a landmark with tracks.with_landmarks"
        )
    places = target_places(chosen, scene)[:, 0]
    return places if isinstance(chosen, str) else places[0]


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} are an array of numbers ({error})") from error
    if np.any(np.isinf(array)):
        raise InputError(f"{what} are finite, or NaN where there is none; got infinity")
    return array
