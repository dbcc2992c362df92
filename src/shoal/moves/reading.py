"""From tracks to decisions: what an animal perceived, how it moved, and how else it could have.

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
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from shoal.angles import difference
from shoal.errors import InputError
from shoal.moves.quadrature import Quadrature, quadrature
from shoal.moves.record import EACH, Decisions, moved_of
from shoal.moves.specification import Steps, Turns
from shoal.progress import Report, reporting
from shoal.states import (
    Custom,
    Headings,
    Interval,
    MovableFeature,
    Records,
    Scene,
    Speed,
    StateSpace,
)
from shoal.states.perceiving import check_scene, warn_of_arena, warn_of_target
from shoal.states.recipe import Counting
from shoal.tracks import Circle, Rectangle, Tracks
from shoal.tracks.record import warn
from shoal.tracks.splitting import group_facts

BLOCK = 1 << 20
"""Candidate moves that are looked at together."""

AROUND = 2
"""Frames before and after one that tell how far an animal goes in it."""

Mask = Bool[np.ndarray, "time individuals"]


@dataclass(frozen=True, eq=False)
class Seen:
    """What one group did, before candidates are known; one row for each decision.

    ``scene`` is what was perceived, with one frame for each in which decisions may have been made.
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
    dropped: dict[str, int]


def decisions(
    tracks: Any,
    space: StateSpace,
    moves: Turns | None = None,
    *,
    heading_frames: int = 1,
    minimum_step: float = 0.0,
    tracker_headings: bool = False,
    progress: bool | Report | None = None,
) -> Decisions:
    """What the animals of tracks decided.

    Parameters
    ----------
    tracks
        Tracks, or several Tracks.
    space
        Features such as ``LocalMisalignment()``.
    moves
        What an animal can choose: ``shoal.Turns()`` or ``shoal.Steps()``.
    heading_frames, minimum_step, tracker_headings
        How headings are taken, see ``shoal.headings``. Steps are taken from frame to frame.
    progress
        True for a bar, False for none, None for a bar on a terminal.

    Examples
    --------
    >>> import shoal
    >>> tank = shoal.simulate_tank(seed=1, progress=False)
    >>> found = shoal.decisions(tank.tracks, tank.space, shoal.Turns())
    >>> found.states.shape[1]
    64
    """
    chosen = Turns() if moves is None else moves
    if not isinstance(chosen, Turns):
        raise InputError(f"moves are shoal.Turns() or shoal.Steps(), got {chosen!r}")
    recipe = Counting(space, 1, heading_frames, minimum_step, tracker_headings)
    recipe.check_features()
    check_moves(chosen, space)
    if chosen.steps and (recipe.heading_frames > 1 or recipe.tracker_headings):
        raise InputError(
            "steps go from frame to frame: leave out heading_frames and tracker_headings; to take "
            "longer steps thin the tracks, tracks.thin(5)"
        )
    with reporting(progress) as report:
        groups = _read(tracks, recipe, chosen)
        return _assembled(groups, recipe, chosen, report)


def check_moves(moves: Turns, space: StateSpace) -> None:
    """A move must be able to change some feature, and every feature must say how."""
    parts: Any = space.parts
    for part in parts:
        if isinstance(part, Custom) and (moves.steps or part.turn is None):
            raise InputError(
                f"nobody said what a move does to {part.axis.name!r}: a feature of your own needs "
                "Custom(axis, function, turn=-1) and shoal.Turns()"
            )
        if not isinstance(part, MovableFeature | Custom):
            raise InputError(f"{part!r} does not say what a move does to it")
        if isinstance(part, Speed) and part.frames > 1:
            raise InputError("a decided speed is that of one step: use Speed(edges, frames=1)")
    if not moves.steps and not any(part.turn for part in parts):
        names = ", ".join(space.names)
        raise InputError(
            f"a turn changes nothing of {names}: use shoal.Steps(), with which animals choose how "
            "far they go as well, or add an angle such as neighbour-bearing"
        )


def _read(tracks: Any, recipe: Counting, moves: Turns) -> list[Seen]:
    if isinstance(tracks, str) or not isinstance(tracks, Iterable):
        raise InputError(f"expected tracks, got {tracks!r:.60}; read a file with shoal.read_tracks")
    groups, warned, misplaced = [], False, False
    for one in tracks:
        if not isinstance(one, Tracks):
            raise InputError(f"decisions are read off tracks, got {type(one).__name__}")
        scene = recipe.scene(one)
        _check_frames(scene)
        check_scene(scene, recipe)
        warned = warned or warn_of_target(scene, recipe)
        misplaced = misplaced or warn_of_arena(scene, recipe)
        groups.append(_steps(one, scene, recipe) if moves.steps else _turns(one, scene, recipe))
    if not groups:
        raise InputError("there are no tracks to read decisions from")
    if not sum(len(group.turn) for group in groups):
        lost = _summed(group.dropped for group in groups)
        words = ", ".join(f"{count} {reason}" for reason, count in lost.items() if count)
        raise InputError(f"there is no decision in these tracks ({words or 'too few frames'})")
    return groups


def _check_frames(scene: Scene) -> None:
    if len(scene.positions) < 2:
        raise InputError(f"group {scene.group!r} has 1 frame, and a move needs two")


def _turns(tracks: Tracks, scene: Scene, recipe: Counting) -> Seen:
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
    return _gathered(tracks, scene, recipe, 0, (turn, np.full(turn.shape, np.nan)), reasons, (
        before, np.full(turn.shape, np.nan)
    ))  # fmt: skip


def _steps(tracks: Tracks, scene: Scene, recipe: Counting) -> Seen:
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
        tracks, now, recipe, 1, (turn, length[1:-1]), {"resting": resting}, (earlier, before)
    )


def _gathered(
    tracks: Tracks,
    scene: Scene,
    recipe: Counting,
    first: int,
    moved: tuple[np.ndarray, np.ndarray],
    reasons: dict[str, Mask],
    before: tuple[np.ndarray, np.ndarray],
) -> Seen:
    """One row for each animal in each frame that decided, and why others did not."""
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
    left = np.ones(states.shape, dtype=bool)
    dropped = {}
    for reason, gone in missing.items():
        dropped[reason] = int((left & gone).sum())
        left &= ~gone
    left &= states >= 0
    frame, animal = np.nonzero(left)
    return Seen(
        tracks, scene, frame, animal, first,
        np.stack([value[left] for value in values], axis=1),
        states[left], moved[0][left], moved[1][left], before[0][left], before[1][left], dropped,
    )  # fmt: skip


def _perceived(
    part: Any, scene: Scene, moved: tuple[np.ndarray, np.ndarray], before: tuple[np.ndarray, Any]
) -> np.ndarray:
    """The value of a feature; a speed is that of the step before, where steps are chosen."""
    if isinstance(part, Speed) and np.isfinite(moved[1]).any():
        return np.asarray(before[1] * (scene.fps or 1.0))
    return np.asarray(part.values(scene))


def _assembled(groups: list[Seen], recipe: Counting, moves: Turns, report: Report) -> Decisions:
    """Candidates from all groups' moves, and what each would lead to."""
    turn, step, turn_before, step_before = (
        np.concatenate([getattr(group, name) for group in groups])
        for name in ("turn", "step", "turn_before", "step_before")
    )
    if isinstance(moves, Steps):
        moves = moves.resolved(step, step_before)
        usual = float(np.exp(np.median(np.log(step))))
        filled = [np.where(np.isnan(g.step_before), usual, g.step_before) for g in groups]
        groups = [replace(g, step_before=s) for g, s in zip(groups, filled, strict=True)]
        step_before = np.where(np.isnan(step_before), usual, step_before)
    spread = quadrature(moves, moved_of(moves, turn, step, turn_before, step_before), recipe.space)
    if not moves.steps and moves.every is not None:
        _check_multiples(groups, moves, recipe)
    parts = []
    for number, group in enumerate(groups):
        report("decisions", number, len(groups))
        parts.append(_with_candidates(group, recipe, moves, spread))
    report("decisions", len(groups), len(groups))
    return joined(parts)


def _check_multiples(groups: list[Seen], moves: Turns, recipe: Counting) -> None:
    for group in groups:
        off = np.abs(np.mod(group.turn / moves.every + 0.5, 1.0) - 0.5) > 1e-3
        if off.any():
            row = int(np.argmax(off))
            name = group.tracks.members[group.animal[row]]
            raise InputError(
                f"group {group.tracks.group!r}, animal {name!r}, frame {group.frame[row]}: a turn "
                f"of {group.turn[row]:g}° is not a multiple of {moves.every:g}°; leave out every"
            )


def _with_candidates(group: Seen, recipe: Counting, moves: Turns, spread: Quadrature) -> Decisions:
    count, kinds = len(group.turn), len(recipe.space.parts)
    k = len(spread.turn)
    states = np.empty((count, k), dtype=np.int32)
    possible = np.ones((count, k), dtype=bool)
    decided = np.empty((count, kinds))
    end = np.empty(count, dtype=np.int32)
    seen = _others(group, moves)
    rows_each = max(1, BLOCK // (k * max(1, seen.positions.shape[1])))
    for start in range(0, count, rows_each):
        rows = slice(start, min(start + rows_each, count))
        turns = np.column_stack([group.turn[rows], spread.turns(group.turn_before[rows])])
        lengths = np.zeros_like(turns)
        if moves.steps:
            lengths = np.column_stack(
                [group.step[rows], spread.step_lengths(np.log(group.step_before[rows]))]
            )
        values, allowed = _decided(group, seen, recipe, rows, turns, lengths, steps=moves.steps)
        where = _located(recipe.space, values)
        decided[rows], end[rows] = values[:, 0], where[:, 0]
        states[rows] = np.maximum(where[:, 1:], 0)
        possible[rows] = (where[:, 1:] >= 0) & allowed[:, 1:]
    fine = (end >= 0) & possible.any(axis=1)
    dropped = group.dropped | {"decided state undefined": int((~fine).sum())}
    names = group.tracks.members
    records = Records.of_group(
        (group.origin, end), group.frame + group.first, group.animal, group.tracks.group, names
    )
    records = replace(records, facts={group.tracks.group: group_facts(group.tracks)})
    whole = Decisions(
        space=recipe.space,
        moves=moves,
        records=records,
        perceived=group.perceived,
        decided=decided,
        turn=group.turn,
        step=group.step,
        turn_before=group.turn_before,
        step_before=group.step_before,
        states=states,
        possible=None if possible.all() else possible,
        quadrature=spread,
        headings=recipe.headings.of(group.tracks),
    )
    if not fine.all():
        whole = whole.take(fine)
    if whole.possible is not None and whole.possible.all():
        whole = replace(whole, possible=None)
    return replace(whole, dropped=dropped, fixes=int(np.prod(group.tracks.positions.shape[:2])))


def _others(group: Seen, moves: Turns) -> Scene:
    """Everybody as an animal sees them when it decides."""
    scene = group.scene
    if not isinstance(moves, Steps) or moves.others == "still":
        return scene
    names = group.tracks.individuals
    places = group.tracks.positions[:, [names.index(name) for name in scene.members]]
    ahead = scene.positions + _known(scene.shortest(places[1:-1] - places[:-2]))
    members = {name: ahead[:, n] for n, name in enumerate(scene.members)}
    return replace(scene, positions=ahead, places={**scene.places, **members})


def _known(steps: np.ndarray) -> np.ndarray:
    """Steps, none where there is none."""
    return np.nan_to_num(steps, nan=0.0)


def _decided(
    group: Seen,
    seen: Scene,
    recipe: Counting,
    rows: slice,
    turns: Float[np.ndarray, "n moves"],
    lengths: Float[np.ndarray, "n moves"],
    *,
    steps: bool,
) -> tuple[Float[np.ndarray, "n moves features"], Bool[np.ndarray, "n moves"]]:
    """The value of every feature after each move, and which moves stay within the walls."""
    frame, animal = group.frame[rows], group.animal[rows]
    own = group.scene.headings[frame, animal]
    headings = np.asarray(difference(own[:, None] + turns, 0.0))
    place = group.scene.positions[frame, animal]
    angle = np.deg2rad(headings)
    places = place[:, None] + lengths[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=2)
    parts: Any = recipe.space.parts
    values = np.empty((*turns.shape, len(parts)))
    for number, part in enumerate(parts):
        if not steps and part.turn in (-1, 0):
            value = group.perceived[rows, number]
            values[..., number] = difference(value[:, None], turns) if part.turn else value[:, None]
        elif isinstance(part, Speed):
            values[..., number] = lengths * (seen.fps or 1.0)
        else:
            values[..., number] = _of_one(part, seen, frame, animal, places, headings)
    allowed = np.ones(turns.shape, dtype=bool)
    if steps and isinstance(seen.arena, Rectangle | Circle):
        allowed = seen.arena.holds(places)
    return values, allowed


def _of_one(
    part: Any,
    scene: Scene,
    frame: Int[np.ndarray, " n"],
    animal: Int[np.ndarray, " n"],
    places: Float[np.ndarray, "n moves 2"],
    headings: Float[np.ndarray, "n moves"],
) -> Float[np.ndarray, "n moves"]:
    """A feature of one animal in each of several frames, after each of its moves.

    Every row becomes a frame of its own in which the deciding animal comes first.
    """
    count = scene.positions.shape[1]
    order = np.argsort(np.arange(count)[None] != animal[:, None], axis=1, kind="stable")
    rows = np.arange(len(frame))[:, None]
    members = scene.members
    small = replace(
        scene,
        positions=scene.positions[frame][rows, order],
        headings=scene.headings[frame][rows, order],
        places={name: path[frame] for name, path in scene.places.items()},
        members=(),
    )
    target = getattr(part, "target", None)
    found = np.asarray(part.decided(small, places[:, None], headings[:, None]))[:, 0]
    if isinstance(target, str) and target in members:  # nobody is its own goal
        found = np.where((animal == members.index(target))[:, None], np.nan, found)
    return found


def _located(
    space: StateSpace, values: Float[np.ndarray, "n moves features"]
) -> Int[np.ndarray, "n moves"]:
    """Decided states; beyond an end of an interval its last bin, −1 where there is no value."""
    columns = []
    for number, axis in enumerate(space.axes):
        value = values[..., number]
        if isinstance(axis, Interval):
            value = np.clip(value, axis.edges[0], axis.edges[-1])
        columns.append(value)
    return np.asarray(space.locate(*columns)[0])


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


def _summed(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, number in part.items():
            total[name] = total.get(name, 0) + number
    return total


def joined(parts: list[Decisions]) -> Decisions:
    """The decisions of several groups, read with the same candidates."""
    first = parts[0]
    taken: Headings | None = first.headings
    for part in parts[1:]:
        assert taken is not None and part.headings is not None
        taken = taken.joined(part.headings)
    known = [part for part in parts if part.total] or parts[:1]
    whole = [np.ones(part.states.shape, dtype=bool) for part in known]
    masks = None
    if any(part.possible is not None for part in known):
        masks = np.concatenate(
            [w if p.possible is None else p.possible for p, w in zip(known, whole, strict=True)]
        )
    if taken is not None and len({part.headings.interval for part in parts if part.headings}) > 1:
        warn("groups have different frame rates: a move takes different times")
    return replace(
        first,
        records=Records.joined([part.records for part in known]),
        possible=masks,
        dropped=_summed(part.dropped for part in parts),
        fixes=sum(part.fixes for part in parts),
        headings=taken,
        **_chained(known),
    )


def _chained(parts: list[Decisions]) -> dict[str, Any]:
    """What every decision has, one part after the other."""
    return {name: np.concatenate([getattr(part, name) for part in parts]) for name in EACH}
