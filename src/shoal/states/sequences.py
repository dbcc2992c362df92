"""Transitions of plain sequences of state numbers."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.states.recipe import Counting
from shoal.states.records import Records
from shoal.states.transitions import Transitions, checked_states
from shoal.tracks import Collection, Tracks


def counted_sequences(given: Iterable[Any], recipe: Counting, by: str | None) -> Transitions:
    """Which state followed which within each sequence."""
    if by is not None:
        raise InputError("plain sequences of states have no groups to count by")
    rows = []
    for sequence in given:
        if isinstance(sequence, Tracks | Collection):
            raise InputError("tracks and plain sequences of states cannot be counted together")
        if not hasattr(sequence, "__iter__") or isinstance(sequence, str):
            raise InputError(
                "expected one sequence of states for each animal, such as [[0, 2, 5], [1, 1]]; "
                f"got {sequence!r} where a sequence should be"
            )
        rows.append(checked_states(sequence, recipe.space))
    empty, lag = np.empty(0, dtype=int), recipe.lag
    start = np.concatenate([empty, *(row[:-lag:lag] for row in rows)])
    end = np.concatenate([empty, *(row[lag::lag] for row in rows)])
    counted = Transitions.from_pairs(start, end, recipe.space)
    long = np.array([max(0, len(row) - 1) // lag for row in rows], dtype=int)
    frame = lag * (np.arange(len(start)) - np.repeat(np.cumsum(long) - long, long))
    animal = np.repeat(np.arange(len(rows)), long)
    records = Records.of_group((start, end), frame, animal, "", [str(i) for i in range(len(rows))])
    return replace(counted, lag=int(lag), records=records)
