"""Decisions filled up to one of few lengths, so that fits of similar size share their programs.

What is added counts for nothing: rows that no decision has, and moves that nobody made.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.moves.passive import Candidates, Moved

SHORTEST = 256


def padded_length(count: int) -> int:
    """The least of 256, 384, 512, 768, 1024, … that is not below a count.

    >>> [padded_length(n) for n in (1, 256, 257, 400, 1000)]
    [256, 256, 384, 512, 1024]
    """
    length = SHORTEST
    while length < count:
        length *= 2
    return 3 * length // 4 if count <= 3 * length // 4 and length > SHORTEST else length


def padded_rows(
    given: Candidates, counts: Float[np.ndarray, " rows"]
) -> tuple[Candidates, Float[np.ndarray, " longer"]]:
    """Candidates with rows that stand for no decision, and how often every row does."""
    assert given.row is None
    rows = given.states.shape[1]
    more = padded_length(rows) - rows
    own = given.turn_before[:rows]
    filled = eqx.tree_at(
        lambda c: (c.states, c.turn_before),
        given,
        (jnp.pad(given.states, ((0, 0), (0, more)), mode="edge"), _longer(own, more)),
    )
    if given.possible is not None:
        wide = jnp.pad(given.possible, ((0, 0), (0, more)), mode="edge")
        filled = eqx.tree_at(lambda c: c.possible, filled, wide)
    if given.log_step_before is not None:
        steps = _longer(given.log_step_before[:rows], more)
        filled = eqx.tree_at(lambda c: c.log_step_before, filled, steps)
    return filled, np.pad(counts, (0, more))


def padded_moves(moved: Moved) -> Moved:
    """Moves with some that count for nothing."""
    more = padded_length(moved.turn.size) - moved.turn.size
    count = jnp.ones(moved.turn.size) if moved.count is None else moved.count
    steps = (
        None if part is None else _longer(part, more)
        for part in (moved.log_step, moved.log_step_before)
    )
    log_step, log_step_before = steps
    return Moved(
        _longer(moved.turn, more),
        log_step,
        _longer(moved.turn_before, more),
        log_step_before,
        jnp.pad(count, (0, more)),
    )


def _longer(values: Float[Array, " n"], more: int) -> Float[Array, " longer"]:
    return jnp.pad(values, (0, more), mode="edge")
