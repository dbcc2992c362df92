"""Counts to split, and what every part of a split must be."""

from collections import Counter

import numpy as np
from hypothesis import strategies as st

import shoal
from shoal.states import Transitions

TURNS = shoal.StateSpace(shoal.states.TurningAngle(bins=4))
CHOICES = st.tuples(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 4))
"""A seed, a number of groups and a lag."""


def wander(seed=1, frames=40, animals=3, missing=0.06, **known):
    rng = np.random.default_rng(seed)
    positions = np.cumsum(rng.normal(size=(frames, animals, 2)), axis=0)
    positions[rng.random((frames, animals)) < missing] = np.nan
    return shoal.Tracks.from_arrays(positions, **({"fps": 10.0} | known))


def groups_of(seed, number):
    """Groups of different lengths with gaps; one begins late."""
    made = [wander(seed + i, 50 + 9 * i, 2 + i % 3, group=f"g{i}") for i in range(number)]
    late = made[0].positions.copy()
    late[:6] = np.nan
    made[0] = shoal.Tracks.from_arrays(late, fps=10.0, group="g0")
    return shoal.Collection(made)


def counted(seed, number, lag):
    """Transitions of several groups."""
    return shoal.count_transitions(groups_of(seed, number), TURNS, lag=lag)


def rows(transitions):
    """The transitions one by one, by their labels."""
    records = transitions.records
    columns = (
        [records.groups[number] for number in records.group],
        [records.individuals[number] for number in records.individual],
        records.frame.tolist(),
        records.origin.tolist(),
        records.destination.tolist(),
    )
    return Counter(zip(*columns, strict=True))


def is_part_of(part, whole):
    """What every part of a split must be."""
    assert part.lag == whole.lag
    assert part.space == whole.space
    records, made = part.records, Transitions.from_pairs
    again = made(records.origin, records.destination, part.space)
    assert np.array_equal(again.matrix(), part.matrix()), "pairs are those of the records"
    assert all(group == records.individuals[i][0] for group, i in labels(records))
    assert set(records.group.tolist()) == set(range(len(records.groups)))
    assert set(records.individual.tolist()) == set(range(len(records.individuals)))
    for name in ("origin", "destination", "group", "individual", "frame"):
        assert getattr(records, name).dtype == np.int32
    assert rows(part) <= rows(whole)


def labels(records):
    pairs = zip(records.group, records.individual, strict=True)
    return ((records.groups[group], individual) for group, individual in pairs)


def summed(parts):
    return sum((rows(part) for part in parts), Counter())


def frames_by_group(counts):
    """The frames of both states, in each group."""
    found = {}
    for group, _, frame, _, _ in rows(counts):
        found.setdefault(group, set()).update((frame, frame + counts.lag))
    return found
