"""How the animals of one group moved: what they perceived, their turns and steps, frame by frame.

Rules, for a decision in frame t:

*Turns.* The heading of a frame is the direction of the step that follows it. The animal perceives
places and headings of frame t and decides on the heading of frame t + 1. Its decided state has
everybody where they were in frame t, and its own heading turned.

*Steps.* The animal is where it is in frame t, and all headings are those of the steps that led
there. It decides on the step to frame t + 1, by turn and length. Its decided state has the animal
at the end of that step, and all others where they were in frame t, or its members where going
straight on would lead them.

*Rest.* A step no longer than the minimum step has no direction, and is no decision. *Gaps.* All
places that a decision needs must have been seen. *Walls.* A heading that a wall may have changed is
not the animal's choice: where walls are known, turns are left out in frames in which an animal may
have met one. Steps beyond known walls are no candidates.
*Bins.* A perceived state outside the bins is left out; a decided one beyond an end of an interval
counts as its last bin, as it does in simulations.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from shoal.angles import difference
from shoal.errors import InputError
from shoal.states import Scene, SpeedFeature
from shoal.states.recipe import Counting
from shoal.tracks import Circle, Rectangle, Tracks

AROUND = 2
"""Frames before and after one that tell how far an animal goes in it."""

Mask = Bool[np.ndarray, "time individuals"]


@dataclass(frozen=True, eq=False)
class Seen:
    """What one group did, before candidates are known; one row for each decision.

    ``scene`` is what was perceived, with one frame for each in which decisions may have been made;
    ``first`` is the number of its first frame among those of the group. ``fixes`` counts animals
    times frames, all that were looked at. ``pace`` is 1 until all tracks are known.
    """

    tracks: Tracks
    scene: Scene
    frame: Int[np.ndarray, " n"]
    animal: Int[np.ndarray, " n"]
    first: int
    perceived: Float[np.ndarray, "n features"]
    origin: Int[np.ndarray, " n"]
    turn: Float[np.ndarray, " n"]
    step: Float[np.ndarray, " n"]
    turn_before: Float[np.ndarray, " n"]
    step_before: Float[np.ndarray, " n"]
    pace: Float[np.ndarray, " n"]
    dropped: dict[str, int]
    fixes: int

    def describe(self, row: int) -> str:
        """Whose decision it was and when, for messages."""
        name = self.tracks.members[self.animal[row]]
        frame = self.frame[row] + self.first
        return f"group {self.tracks.group!r}, animal {name!r}, frame {frame}"


class Window(NamedTuple):
    """A run of a group's frames whose decisions are wanted, with frames around it.

    ``own`` says which frames of the tracks these are, ``first`` is the number of the tracks' first
    frame among those of the whole group.
    """

    tracks: Tracks
    own: slice
    first: int = 0

    @classmethod
    def whole(cls, tracks: Tracks) -> "Window":
        """All frames."""
        return cls(tracks, slice(0, len(tracks.positions)))


def moves_in(window: Window, scene: Scene, recipe: Counting, *, steps: bool) -> Seen:
    """What the animals of a group did in some of its frames."""
    return steps_of(window, scene, recipe) if steps else turns_of(window, scene, recipe)


def summed(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Counts of every reason, added up."""
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return total


def check_frames(scene: Scene) -> None:
    """Refuse a group that cannot have moved."""
    if len(scene.positions) < 2:
        raise InputError(f"group {scene.group!r} has 1 frame, and a move needs two")


def turns_of(window: Window, scene: Scene, recipe: Counting) -> Seen:
    """Of one group whose animals choose headings."""
    headings = scene.headings
    turn = np.full(headings.shape, np.nan)
    turn[:-1] = _difference(headings[1:], headings[:-1])
    before = np.zeros(headings.shape)
    before[1:] = np.nan_to_num(turn[:-1])
    if recipe.tracker_headings:
        resting = np.zeros(headings.shape, dtype=bool)
    else:
        resting = _shifted(_rests(scene, recipe), 1)
    # a heading that starts at a wall, or leads there
    touched = _at_wall(scene, recipe)
    touched |= _shifted(touched, 1) & (not recipe.tracker_headings)
    reasons = {"resting": resting, "at a wall": touched}
    return _gathered(window, scene, recipe, 0, (turn, np.full(turn.shape, np.nan)), reasons, (
        before, np.full(turn.shape, np.nan)
    ))  # fmt: skip


def steps_of(window: Window, scene: Scene, recipe: Counting) -> Seen:
    """Of one group whose animals choose steps: headings are those that led to a frame."""
    if len(scene.positions) < 3:
        raise InputError(
            f"group {scene.group!r} has {len(scene.positions)} frames, and a step that has one "
            "before it needs three"
        )
    now = replace(
        scene,
        positions=scene.positions[1:-1],
        headings=scene.headings[:-2],
        lengths=None if scene.lengths is None else scene.lengths[1:-1],
        places={name: path[1:-1] for name, path in scene.places.items()},
    )
    length = _length(_displacements(scene))
    onward = np.where(_rests(scene, recipe), np.nan, scene.headings)[1:-1]
    turn = _difference(onward, now.headings)
    earlier = np.full(now.headings.shape, 0.0)
    earlier[1:] = np.nan_to_num(turn[:-1])
    resting = _rests(scene, recipe)[1:-1]
    before = np.where(length[:-2] > recipe.minimum_step, length[:-2], np.nan)
    return _gathered(
        window, now, recipe, 1, (turn, length[1:-1]), {"resting": resting}, (earlier, before)
    )


def _gathered(
    window: Window,
    scene: Scene,
    recipe: Counting,
    skipped: int,
    moved: tuple[np.ndarray, np.ndarray],
    reasons: dict[str, Mask],
    before: tuple[np.ndarray, np.ndarray],
) -> Seen:
    """One row for each animal in each frame that decided, and why others did not.

    ``skipped`` is how many frames of the tracks come before the first of the scene.
    """
    parts: Any = recipe.space.parts
    values = [_perceived(part, scene, moved, before) for part in parts]
    states, lost = recipe.space.locate(*values)
    missing = {
        "not seen": np.isnan(scene.positions[..., 0]),
        "no heading": np.isnan(scene.headings),
        **reasons,
        "no next move seen": np.isnan(moved[0]),
    }
    for name, gone in zip(recipe.space.names, lost, strict=True):
        missing[f"{name}: undefined or outside its bins"] = gone
    frames = np.arange(len(states)) + skipped
    within = (frames >= window.own.start) & (frames < window.own.stop)
    left = np.repeat(within[:, None], states.shape[1], axis=1)
    dropped = {}
    for reason, gone in missing.items():
        dropped[reason] = int((left & gone).sum())
        left &= ~gone
    left &= states >= 0
    frame, animal = np.nonzero(left)
    fixes = (window.own.stop - window.own.start) * window.tracks.positions.shape[1]
    return Seen(
        window.tracks, scene, frame, animal, window.first + skipped,
        np.stack([value[left] for value in values], axis=1),
        states[left], moved[0][left], moved[1][left], before[0][left], before[1][left],
        np.ones(frame.size), dropped, fixes,
    )  # fmt: skip


def _perceived(
    part: Any, scene: Scene, moved: tuple[np.ndarray, np.ndarray], before: tuple[np.ndarray, Any]
) -> np.ndarray:
    """The value of a feature; a speed is that of the step before, where steps are chosen."""
    if isinstance(part, SpeedFeature) and np.isfinite(moved[1]).any():
        return np.asarray(part.of_lengths(scene, before[1][..., None])[..., 0])
    return np.asarray(part.values(scene))


def _displacements(scene: Scene) -> np.ndarray:
    """The step that follows each frame; NaN where it was not seen."""
    moved = np.full(scene.positions.shape, np.nan)
    moved[:-1] = scene.shortest(scene.positions[1:] - scene.positions[:-1])
    return moved


def _length(step: np.ndarray) -> np.ndarray:
    return np.asarray(np.hypot(step[..., 0], step[..., 1]))


def _rests(scene: Scene, recipe: Counting) -> Mask:
    """Who has a heading from before only, since the displacement that follows is too short."""
    n, places = recipe.heading_frames, scene.positions
    rests = np.zeros(scene.headings.shape, dtype=bool)
    if n < len(places):
        moved = _length(scene.shortest(places[n:] - places[:-n]))
        with np.errstate(invalid="ignore"):
            rests[:-n] = moved <= recipe.minimum_step
    return rests


def _shifted(mask: Mask, frames: int) -> Mask:
    """What holds so many frames later."""
    later = np.zeros(mask.shape, dtype=bool)
    later[:-frames] = mask[frames:]
    return later


def _at_wall(scene: Scene, recipe: Counting) -> Mask:
    """Whose way from a frame to the next may have met a wall.

    Both ends of a way that met a wall lie, together, no farther from it than the way is long; how
    long it was before the wall bent it is known from the frames around it. With headings from the
    tracker a way that goes straight along the heading met none.
    """
    arena = scene.arena
    if not isinstance(arena, Rectangle | Circle):
        return np.zeros(scene.headings.shape, dtype=bool)
    moved = _displacements(scene)
    length = np.nan_to_num(_length(moved))
    padded = np.pad(length, ((AROUND, AROUND), (0, 0)))
    longest = np.max([padded[k : k + len(length)] for k in range(2 * AROUND + 1)], axis=0)
    away = np.asarray(arena.distance(scene.positions))
    both = np.full(away.shape, np.inf)
    both[:-1] = away[:-1] + away[1:]
    with np.errstate(invalid="ignore"):
        near = both <= longest
    if recipe.tracker_headings:
        angle = np.deg2rad(scene.headings)
        ahead = length[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        with np.errstate(invalid="ignore"):
            near &= ~(_length(moved - ahead) <= 1e-9 * np.maximum(length, 1e-300))
    return near


def _difference(to: np.ndarray, start: np.ndarray) -> np.ndarray:
    known = np.isfinite(to) & np.isfinite(start)
    turn = difference(np.where(known, to, 0.0), np.where(known, start, 0.0))
    return np.where(known, turn, np.nan)
