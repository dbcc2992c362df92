"""From tracks to decisions: what an animal perceived, how it moved, and how else it could have.

``seen.py`` has the rules by which moves are read, ``leading.py`` what candidates lead to.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.moves.leading import with_candidates
from shoal.moves.quadrature import quadrature
from shoal.moves.record import EACH, Decisions, moved_of
from shoal.moves.seen import Seen, check_frames, steps_of, turns_of
from shoal.moves.specification import Steps, Turns
from shoal.progress import Report, reporting
from shoal.states import Custom, Headings, MovableFeature, Records, Speed, StateSpace
from shoal.states.perceiving import check_scene, warn_of_arena, warn_of_target
from shoal.states.recipe import Counting
from shoal.tracks import Tracks
from shoal.tracks.record import warn


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
        check_frames(scene)
        check_scene(scene, recipe)
        warned = warned or warn_of_target(scene, recipe)
        misplaced = misplaced or warn_of_arena(scene, recipe)
        groups.append(steps_of(one, scene, recipe) if moves.steps else turns_of(one, scene, recipe))
    if not groups:
        raise InputError("there are no tracks to read decisions from")
    if not sum(len(group.turn) for group in groups):
        lost = _summed(group.dropped for group in groups)
        words = ", ".join(f"{count} {reason}" for reason, count in lost.items() if count)
        raise InputError(f"there is no decision in these tracks ({words or 'too few frames'})")
    return groups


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
        parts.append(with_candidates(group, recipe, moves, spread))
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
