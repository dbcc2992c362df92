"""The same decisions, read in several ways: with other features, or with other passive moves."""

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from shoal.errors import InputError
from shoal.moves import Decisions, Turns
from shoal.moves.specification import OPEN

SAME = 1e-3
"""How far two readings of one turn may differ, in degrees; and of one step, relatively."""

READ = ("others", "every", "between")
"""What decides how moves are read, and not how likely they are without preferences."""


def rows_of(own: Decisions, wanted: Decisions) -> Int[np.ndarray, " n"]:
    """The row of every wanted decision (by group, animal and frame) in another reading, or −1."""
    numbers = {animal: n for n, animal in enumerate(own.records.individuals)}
    span = 1 + max(
        int(part.records.frame.max(initial=0)) for part in (own, wanted)
    )  # every animal has so many numbers
    codes = own.records.individual.astype(np.int64) * span + own.records.frame
    known = np.array([numbers.get(who, -1) for who in wanted.records.individuals], dtype=np.int64)
    animal = known[wanted.records.individual] if len(known) else np.zeros(0, dtype=np.int64)
    code = np.where(animal >= 0, animal * span + wanted.records.frame, -1)
    order = np.argsort(codes)
    place = np.searchsorted(codes[order], code)
    place = np.minimum(place, max(len(codes) - 1, 0))
    if not len(codes):
        return np.full(len(code), -1)
    found = order[place]
    return np.where(codes[found] == code, found, -1)


def matched(own: Decisions, wanted: Decisions) -> Decisions:
    """The wanted decisions as another reading has them; all must be in it."""
    rows = rows_of(own, wanted)
    assert np.all(rows >= 0)
    return own.take(rows)


def common(decisions: Decisions, others: Iterable[tuple[str, Decisions]]) -> Decisions:
    """The decisions that are in every other reading as well; each must be the same move."""
    kept = np.ones(decisions.total, dtype=bool)
    for name, own in others:
        rows = rows_of(own, decisions)
        kept &= rows >= 0
        if not kept.any():
            raise InputError(
                f"the model {name!r} has no decision in common with those that are compared, by "
                "group, animal and frame: read both from the same tracks"
            )
        _check_moves(name, own, decisions, rows)
    return decisions if kept.all() else decisions.take(kept)


def _check_moves(
    name: str, own: Decisions, decisions: Decisions, rows: Int[np.ndarray, " n"]
) -> None:
    """The same decision is the same move, in whatever way it was read."""
    if own.moves.steps != decisions.moves.steps:
        kinds = [type(read.moves).__name__ for read in (own, decisions)]
        raise InputError(
            f"the model {name!r} is of {kinds[0]} and the others are of {kinds[1]}: densities of "
            "turns and of turns with steps cannot be compared; read its features with "
            f"shoal.{kinds[1]}() as well"
        )
    here = np.flatnonzero(rows >= 0)
    there = rows[here]
    apart = np.abs(np.mod(own.turn[there] - decisions.turn[here] + 180.0, 360.0) - 180.0) > SAME
    if decisions.moves.steps:
        apart |= np.abs(own.step[there] - decisions.step[here]) > SAME * decisions.step[here]
    if apart.any():
        row = here[int(np.argmax(apart))]
        group, who = decisions.records.individuals[decisions.records.individual[row]]
        raise InputError(
            f"the model {name!r} was given other moves: group {group!r}, animal {who!r}, frame "
            f"{decisions.records.frame[row]}; read both from the same tracks, with headings taken "
            "in the same way"
        )


def with_passive(decisions: Decisions, moves: Turns) -> Decisions:
    """The same decisions and candidates with passive moves of another form.

    Candidates were spread by other passive moves; their weights account for it.
    """
    given = decisions.moves
    if type(moves) is not type(given):
        raise InputError(
            f"a model of {type(moves).__name__} does not fit decisions that are "
            f"{type(given).__name__}"
        )
    for name in READ:
        one, other = getattr(moves, name, None), getattr(given, name, None)
        if one != other:
            raise InputError(
                f"a model with {name}={one!r} needs decisions that were read so, and these have "
                f"{name}={other!r}: give the model with its own decisions, (model, decisions)"
            )
    learned: dict[str, Any] = {
        field.name: getattr(given, field.name)
        for field in fields(moves)
        if field.name in OPEN and getattr(moves, field.name) is OPEN[field.name]
    }
    return replace(decisions, moves=replace(moves, candidates=given.candidates, **learned))
