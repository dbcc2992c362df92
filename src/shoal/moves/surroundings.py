"""What others do between a decision and what the animal perceives next, estimated from tracks.

An animal decides for a state y. Then everybody else moves, and it perceives x'. N(x' | y) has a
row for every state y: the decisions nearest to y are looked up, and what was added to each of them
until the next frame is added to y. Neighbours that follow, ignore or lead an animal differ in
nothing but N.
"""

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float, Int
from scipy.spatial import cKDTree

from shoal.angles import difference
from shoal.errors import InputError
from shoal.moves.record import Decisions
from shoal.states import Axis, Circular, Interval, StateSpace

NEAREST = 200
"""Decisions that a row is made from."""

FEWEST = 50
"""Decisions with a next one, below which others cannot be judged."""


def surroundings(decisions: Decisions) -> sp.csr_array:
    """N, states × states: the chance of what is perceived next after every decided state."""
    first, second = following(decisions)
    if first.size < FEWEST:
        raise InputError(
            f"state costs need to know what others do between decisions, and {first.size} "
            f"decisions have a next one by the same animal: {FEWEST} or more are needed"
        )
    space = decisions.space
    start, end = decisions.decided[first], decisions.perceived[second]
    added = np.column_stack(
        [_apart(axis, end[:, n], start[:, n]) for n, axis in enumerate(space.axes)]
    )
    centres = _centres(space)
    count = min(NEAREST, first.size)
    _, near = cKDTree(_embedded(space, start)).query(_embedded(space, centres), count)
    near = near.reshape(space.size, count)
    columns = [
        _onto(axis, centres[:, n, None] + added[near, n]) for n, axis in enumerate(space.axes)
    ]
    ends = np.asarray(space.locate(*columns)[0])
    if np.any(ends < 0):
        raise InputError("what is perceived next lies outside the states: use wider bins")
    places = np.repeat(np.arange(space.size), count)
    chances = np.full(places.size, 1 / count)
    return sp.csr_array((chances, (places, ends.ravel())), shape=(space.size, space.size))


def following(decisions: Decisions) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
    """Rows of decisions, and of those that the same animal made one frame later."""
    records = decisions.records
    order = np.lexsort((records.frame, records.individual, records.group))
    keys = np.stack([records.group, records.individual, records.frame]).astype(np.int64)[:, order]
    found = np.all(np.diff(keys) == np.array([0, 0, 1])[:, None], axis=0)
    return order[:-1][found], order[1:][found]


def _apart(
    axis: Axis, end: Float[np.ndarray, " n"], start: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    return np.asarray(difference(end, start) if isinstance(axis, Circular) else end - start)


def _onto(axis: Axis, value: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
    """A value of an axis: angles wrap, intervals end at their last bin."""
    if isinstance(axis, Circular):
        return np.asarray(difference(value, 0.0))
    if isinstance(axis, Interval):
        return np.asarray(np.clip(value, axis.edges[0], axis.edges[-1]))
    return np.asarray(np.clip(value, axis.centres[0], axis.centres[-1]))


def _centres(space: StateSpace) -> Float[np.ndarray, "states axes"]:
    grids = np.meshgrid(*[axis.centres for axis in space.axes], indexing="ij")
    return np.stack([grid.ravel() for grid in grids], axis=1)


def _embedded(
    space: StateSpace, values: Float[np.ndarray, "n axes"]
) -> Float[np.ndarray, "n places"]:
    """Points whose distances say how alike states are: every axis has about the same range."""
    columns = []
    for n, axis in enumerate(space.axes):
        if isinstance(axis, Circular):
            angle = np.deg2rad(values[:, n])
            columns += [np.cos(angle), np.sin(angle)]
        else:
            columns.append(2 * values[:, n] / float(axis.widths.sum()))
    return np.stack(columns, axis=1)
