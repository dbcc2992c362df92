"""Blocks and folds: every transition is in one, and none is trained on where it is judged."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from registries import NUMBERED
from shoal.states import Transitions
from split_laws import CHOICES, TURNS, counted, groups_of, is_part_of, rows, summed, wander


@given(CHOICES, st.one_of(st.none(), st.integers(2, 40)))
def test_blocks_add_up_and_hold_all_animals_of_a_time(choice, count):
    counts = counted(*choice)
    blocks = counts.blocks(count)
    for block in blocks:
        is_part_of(block, counts)
        assert block.total > 0
        assert len(block.records.groups) == 1
    assert summed(blocks) == rows(counts)
    whole = Transitions.summed(blocks, counts.space)
    assert np.array_equal(whole.matrix(), counts.matrix())
    assert whole.lag == counts.lag
    homes = {}
    for number, block in enumerate(blocks):
        for group, _, frame, _, _ in rows(block):
            assert homes.setdefault((group, frame), number) == number
    each = Counter(block.records.groups[0] for block in blocks)
    assert min(each.values()) >= 2
    groups = len(counts.records.groups)
    assert len(blocks) <= max(2, count or 20) + 2 * groups


def test_blocks_are_about_as_many_as_are_asked_for_and_of_one_length():
    counts = shoal.count_transitions(np.zeros((3, 201), dtype=int), NUMBERED)
    assert [block.total for block in counts.blocks()] == [30] * 20
    assert len(counts.blocks(7)) == 7
    parts = [wander(i, 62, 2, 0.0, group=f"g{i}") for i in range(4)]
    four = shoal.count_transitions(parts, TURNS)
    assert len(four.blocks()) == 20
    assert len(four.blocks(2)) == 8, "two in each group"


def test_many_groups_are_blocks_themselves():
    tracks = shoal.Collection(wander(i, 12, 2, group=f"g{i}") for i in range(10))
    counts = shoal.count_transitions(tracks, TURNS)
    assert [block.records.groups for block in counts.blocks()] == [(f"g{i}",) for i in range(10)]
    assert summed(counts.blocks()) == rows(counts)
    nine = counts.split_groups(0.9)[0]
    assert len(nine.blocks()) > 9


def test_empty_blocks_are_left_out():
    positions = np.cumsum(np.random.default_rng(1).normal(size=(202, 2, 2)), axis=0)
    positions[20:180] = np.nan
    counts = shoal.count_transitions(shoal.Tracks.from_arrays(positions), TURNS)
    blocks = counts.blocks(10)
    assert len(blocks) == 2
    assert summed(blocks) == rows(counts)


@given(CHOICES, st.integers(2, 4), st.sampled_from(["time", "individual", "group"]))
def test_every_transition_is_held_out_once_and_never_trained_on_then(choice, k, by):
    counts = counted(*choice)
    if by != "time" and k > len(getattr(counts.records, f"{by}s")):
        with pytest.raises(shoal.InputError, match=f"folds by {by} need two"):
            counts.folds(k, by)
        return
    try:
        folds = counts.folds(k, by, seed=3)
    except shoal.InputError as error:
        assert by == "time" and "choose another number of folds" in str(error), "a gap as long"
        return
    assert len(folds) == k
    assert summed(held_out for _, held_out in folds) == rows(counts)
    for fold, (training, held_out) in enumerate(folds):
        is_part_of(training, counts)
        is_part_of(held_out, counts)
        if by == "time":
            assert rows(training) == rows_beside(counts, fold, k)
        else:
            assert summed([training, held_out]) == rows(counts)
            names = [set(getattr(part.records, f"{by}s")) for part in (training, held_out)]
            assert not names[0] & names[1]


def rows_beside(counts, fold, k):
    """Those that neither begin nor end in a fold's run of frames, nor go across it."""
    starts = {}
    for group, _, frame, _, _ in rows(counts):
        starts.setdefault(group, set()).add(frame)
    runs = {}
    for group, frames in starts.items():
        first, length = min(frames), max(frames) - min(frames) + 1
        runs[group] = {first + i for i in range(length) if i * k // length == fold}
    lag = counts.lag
    return Counter(
        row for row in rows(counts) if not runs[row[0]] & set(range(row[2], row[2] + lag + 1))
    )


def test_folds_in_time_of_one_sequence_come_out_exactly():
    counts = shoal.count_transitions([list(range(11))], NUMBERED)
    found = [
        (training.records.origin.tolist(), held_out.records.origin.tolist())
        for training, held_out in counts.folds(3)
    ]
    assert found == [
        ([4, 5, 6, 7, 8, 9], [0, 1, 2, 3]),
        ([0, 1, 2, 7, 8, 9], [4, 5, 6]),
        ([0, 1, 2, 3, 4, 5], [7, 8, 9]),
    ]


def test_a_lag_longer_than_a_run_is_not_trained_across_it():
    counts = shoal.count_transitions([[i % 15 for i in range(60)]], NUMBERED, lag=8)
    training, held_out = counts.folds(7)[3]
    assert held_out.records.frame.tolist() == [24]
    assert training.records.frame.tolist() == [0, 8, 32, 40, 48]


def test_one_group_or_one_animal_is_left_out_at_a_time():
    counts = shoal.count_transitions(groups_of(3, 3), TURNS)
    out = [held_out.records.groups for _, held_out in counts.folds(None, by="group")]
    assert sorted(out) == [("g0",), ("g1",), ("g2",)]
    animals = counts.records.individuals
    assert len(counts.folds(None, by="individual")) == len(animals)
