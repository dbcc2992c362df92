"""Decisions filled up to one of few lengths, so that fits of similar size share their programs.

What is added counts for nothing: rows that no decision has, and moves that nobody made.
"""

from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float

from shoal.moves.passive import Candidates, Moved
from shoal.precision import as_jax

SHORTEST = 256


def padded_length(count: int, shortest: int = SHORTEST) -> int:
    """The least of 256, 384, 512, 768, 1024, … that is not below a count.

    >>> [padded_length(n) for n in (1, 256, 257, 400, 1000)]
    [256, 256, 384, 512, 1024]
    """
    length = shortest
    while length < count:
        length *= 2
    return 3 * length // 4 if count <= 3 * length // 4 and length > shortest else length


def sorted_rows(
    given: Candidates, counts: Float[np.ndarray, " rows"]
) -> tuple[Candidates, Float[np.ndarray, " longer"]]:
    """Candidates in the order of their sets, as many rows of each, and how often each row counts.

    Which set a row has is then known without looking it up.
    """
    assert given.row is None
    if given.which is None:
        return padded_rows(given, counts)
    which = np.asarray(given.which)
    sizes = np.bincount(which, minlength=given.turn.shape[1])
    length = padded_length(int(sizes.max()), max(1, SHORTEST // sizes.size))
    place = np.repeat(np.arange(sizes.size) * length, sizes)
    place = place + np.arange(which.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    order = np.zeros(sizes.size * length, dtype=np.int64)
    order[place] = np.argsort(which, kind="stable")
    filled = np.zeros(order.size)
    filled[place] = counts[order[place]]

    def rows_of(part: Array | None) -> Array | None:
        return None if part is None else as_jax(np.asarray(part)[..., order])

    parts = (given.states, given.possible, given.turn_before, given.log_step_before)
    ordered = eqx.tree_at(
        lambda c: (c.states, c.possible, c.turn_before, c.log_step_before, c.which),
        given,
        (*(rows_of(part) for part in parts), None),
        is_leaf=lambda part: part is None,
    )
    return ordered, filled


def padded_rows(
    given: Candidates, counts: Float[np.ndarray, " rows"]
) -> tuple[Candidates, Float[np.ndarray, " longer"]]:
    """Candidates with rows that stand for no decision, and how often every row does.

    The order of rows is kept.
    """
    assert given.row is None
    rows = given.states.shape[1]
    more = padded_length(rows) - rows
    own = np.asarray(given.turn_before)[:rows]
    filled = eqx.tree_at(
        lambda c: (c.states, c.turn_before),
        given,
        (_padded(given.states, ((0, 0), (0, more)), mode="edge"), _longer(own, more)),
    )
    if given.possible is not None:
        wide = _padded(given.possible, ((0, 0), (0, more)), mode="edge")
        filled = eqx.tree_at(lambda c: c.possible, filled, wide)
    if given.which is not None:
        which = _padded(given.which, (0, more), mode="edge")
        filled = eqx.tree_at(lambda c: c.which, filled, which)
    if given.lines is not None:
        place = _padded(given.lines.place, (0, more), mode="edge")
        filled = eqx.tree_at(lambda c: c.lines.place, filled, place)
    if given.log_step_before is not None:
        steps = _longer(np.asarray(given.log_step_before)[:rows], more)
        filled = eqx.tree_at(lambda c: c.log_step_before, filled, steps)
    return filled, np.pad(counts, (0, more))


def padded_moves(moved: Moved) -> Moved:
    """Moves with some that count for nothing."""
    more = padded_length(moved.turn.size) - moved.turn.size
    count = np.ones(moved.turn.size) if moved.count is None else moved.count
    log_step, log_step_before, level = (
        None if part is None else _longer(part, more)
        for part in (moved.log_step, moved.log_step_before, moved.level)
    )
    return Moved(
        _longer(moved.turn, more),
        log_step,
        _longer(moved.turn_before, more),
        log_step_before,
        level,
        _padded(count, (0, more)),
    )


def _longer(
    values: Float[Array, " n"] | Float[np.ndarray, " n"], more: int
) -> Float[Array, " longer"]:
    return _padded(values, (0, more), mode="edge")


def _padded(values: Array | np.ndarray, more: object, mode: Any = "constant") -> Array:
    """Filled up by NumPy: nothing here is worth a program for every length."""
    return as_jax(np.pad(np.asarray(values), more, mode=mode))  # type: ignore[call-overload]
