"""The decisions of a group, checked, and those of several groups put together."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from shoal.errors import InputError
from shoal.moves.leading import with_candidates
from shoal.moves.padding import padded_moves
from shoal.moves.passive import PassiveMoves, log_densities
from shoal.moves.record import EACH, Decisions, moved_of
from shoal.moves.sampling import Spread
from shoal.moves.seen import Seen, summed
from shoal.moves.sharing import shared_rows, shares
from shoal.moves.specification import Turns
from shoal.states import Headings, Records, StateSpace
from shoal.states.recipe import Counting
from shoal.tracks.record import warn

NO_CHANGE = (
    "no move leads to another state of {}: use narrower bins, or thin the tracks, tracks.thin(5)"
)


def decided(group: Seen, recipe: Counting, spread: Spread) -> Decisions:
    """The decisions of one group, or of a run of its frames."""
    if spread.moves.every is not None:
        _check_multiples(group, spread.moves)
    filled = spread.filled(group)
    _check_possible(filled, spread.passive)
    return with_candidates(filled, recipe, spread)


def _check_possible(group: Seen, passive: PassiveMoves) -> None:
    """Raise where animals without preferences cannot make a move that was made."""
    if not group.turn.size:
        return
    made = (group.turn, group.step, group.turn_before, group.step_before, group.pace)
    logs = np.asarray(log_densities(passive, padded_moves(moved_of(passive.moves, *made))))
    logs = logs[: group.turn.size]
    if not np.all(np.isfinite(logs)):
        row = int(np.argmin(np.isfinite(logs)))
        step = f" and a step of {group.step[row]:.4g}" if passive.moves.steps else ""
        raise InputError(
            f"{group.describe(row)}: passive moves exclude a turn of {group.turn[row]:.4g}°{step} "
            f"({int((~np.isfinite(logs)).sum())} such moves): use wider ones"
        )


def _check_multiples(group: Seen, moves: Turns) -> None:
    off = np.abs(np.mod(group.turn / moves.every + 0.5, 1.0) - 0.5) > 1e-3
    if off.any():
        row = int(np.argmax(off))
        raise InputError(
            f"{group.describe(row)}: a turn of {group.turn[row]:g}° is not a multiple of "
            f"{moves.every:g}°; leave out every"
        )


def joined(parts: list[Decisions]) -> Decisions:
    """The decisions of several groups, read with the same candidates."""
    first = parts[0]
    taken: Headings | None = first.headings
    for part in parts[1:]:
        assert taken is not None and part.headings is not None
        taken = taken.joined(part.headings)
    known = [part for part in parts if part.total] or parts[:1]
    if taken is not None and len({part.headings.interval for part in parts if part.headings}) > 1:
        warn("groups have different frame rates: a move takes different times")
    each: Any = {name: np.concatenate([getattr(part, name) for part in known]) for name in EACH}
    spread = first.quadrature
    candidates: Any
    if shares(first.space, steps=first.moves.steps):
        rows = shared_rows(first.space, each["perceived"], each["turn_before"], spread)
        candidates = dict(zip(("candidate_states", "row"), rows, strict=True))
    else:
        states = np.concatenate([part.candidate_states for part in known])
        candidates = {"candidate_states": states, "possible": _masks(known)}
    records = Records.joined([part.records for part in known])
    if first.grid is None:
        _check_change(candidates["candidate_states"], first.space, candidates.get("possible"))
    elif not first.grid.tells_apart(candidates["candidate_states"]):
        raise InputError(NO_CHANGE.format(", ".join(first.space.names)))
    return replace(
        first,
        records=records,
        dropped=summed(part.dropped for part in parts),
        fixes=sum(part.fixes for part in parts),
        headings=taken,
        **each,
        **candidates,
    )


def _check_change(table: np.ndarray, space: StateSpace, possible: np.ndarray | None) -> None:
    """Raise where every candidate leads to the same state as all others of its decision."""
    first = table[:, :1]
    if possible is not None:
        first = np.take_along_axis(table, possible.argmax(axis=1)[:, None], axis=1)
    if not np.any((table != first) & (True if possible is None else possible)):
        raise InputError(NO_CHANGE.format(", ".join(space.names)))


def _masks(parts: list[Decisions]) -> Bool[np.ndarray, "n k"] | None:
    """Which candidates can be made; None where all can."""
    if all(part.possible is None for part in parts):
        return None
    all_can = (np.ones_like(part.candidate_states, dtype=bool) for part in parts)
    masks = [
        every if part.possible is None else part.possible
        for part, every in zip(parts, all_can, strict=True)
    ]
    return np.concatenate(masks)
