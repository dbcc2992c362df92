import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from registries import NUMBERED, TORUS
from shoal.states import Transitions

SEQUENCES = st.lists(st.lists(st.integers(0, 14), max_size=20), max_size=6)


@given(SEQUENCES)
def test_counts_agree_with_a_plain_loop(sequences):
    expected = np.zeros((15, 15), dtype=int)
    for sequence in sequences:
        for before, after in itertools.pairwise(sequence):
            expected[before, after] += 1
    counts = shoal.count_transitions(sequences, NUMBERED)
    assert np.array_equal(counts.matrix(), expected)
    assert np.array_equal(counts.arrivals, expected.sum(axis=0))
    assert np.array_equal(counts.departures, expected.sum(axis=1))
    assert counts.total == expected.sum()
    assert len(counts.pairs) == np.count_nonzero(expected)


@given(SEQUENCES, SEQUENCES)
def test_counting_apart_and_adding_is_counting_together(one, other):
    together = shoal.count_transitions(one + other, NUMBERED)
    apart = shoal.count_transitions(one, NUMBERED) + shoal.count_transitions(other, NUMBERED)
    assert np.array_equal(together.matrix(), apart.matrix())


def test_a_matrix_of_counts_comes_back_as_it_was():
    counts = np.random.default_rng(3).integers(0, 4, (48, 48))
    transitions = Transitions.from_matrix(counts, TORUS)
    assert np.array_equal(transitions.matrix(), counts)
    assert transitions.arrivals.shape == TORUS.shape


@pytest.mark.parametrize(
    ("sequence", "words"),
    [
        ([0, 15], "state 15 is out of range: this space has states 0 to 14"),
        ([0, -1], "state -1 is out of range"),
        ([0.0, 1.5], "whole numbers, got 1.5"),
        ([0.0, float("nan")], "whole numbers, got nan"),
        (["a", "b"], "whole numbers, got .a"),
        ([0, None, 1], "whole numbers, got None"),
    ],
)
def test_states_that_are_not_in_the_space_are_refused_by_name(sequence, words):
    with pytest.raises(shoal.InputError, match=words):
        shoal.count_transitions([sequence], NUMBERED)


def test_matrices_of_the_wrong_size_or_with_negative_counts_are_refused():
    with pytest.raises(shoal.InputError, match="15 × 15 matrix of counts"):
        Transitions.from_matrix(np.ones((3, 3), dtype=int), NUMBERED)
    with pytest.raises(shoal.InputError, match="not negative"):
        Transitions.from_matrix(-np.eye(15, dtype=int), NUMBERED)


def test_masked_states_are_not_taken_for_seen_ones():
    hidden = np.ma.masked_array([1, 2, 3], [False, True, False])
    with pytest.raises(shoal.InputError, match="masked states were not seen"):
        shoal.count_transitions([hidden], NUMBERED)
    whole = np.ma.masked_array([1, 2, 3], False)
    assert shoal.count_transitions([whole], NUMBERED).total == 2


@pytest.mark.parametrize("flat", [[0, 2, 1], np.array([0, 2, 1])])
def test_a_flat_list_of_states_is_refused_with_how_it_should_look(flat):
    with pytest.raises(shoal.InputError, match="one sequence of states for each animal"):
        shoal.count_transitions(flat, NUMBERED)


@pytest.mark.parametrize(
    ("counts", "words"), [([1, 2.5], "got 2.5"), ([1, np.inf], "got inf"), (["a", "b"], "whole")]
)
def test_counts_that_are_none_are_refused_by_name(counts, words):
    with pytest.raises(shoal.InputError, match=words):
        Transitions.from_pairs([0, 1], [1, 2], NUMBERED, counts)


def test_transitions_on_different_spaces_cannot_be_added():
    one = shoal.count_transitions([[0, 1]], NUMBERED)
    other = shoal.count_transitions([[0, 1]], TORUS)
    with pytest.raises(shoal.InputError, match="different state spaces"):
        one + other


def test_a_pair_that_mirrors_itself_is_warned_of_once():
    rng = np.random.default_rng(1)
    pairs = [
        shoal.Tracks.from_arrays(np.cumsum(rng.normal(size=(40, 2, 2)), axis=0), group=name)
        for name in ("a", "b")
    ]
    alone = shoal.StateSpace(shoal.LocalMisalignment(bins=9, include_self=False))
    with pytest.warns(UserWarning, match="counted twice") as warned:
        counts = shoal.count_transitions(pairs, alone)
    assert len(warned) == 1
    assert np.array_equal(counts.arrivals[1:], counts.arrivals[:0:-1])  # a mirror image, indeed
    both = shoal.StateSpace(shoal.LocalMisalignment(bins=9), shoal.Bearing("neighbour", bins=8))
    shoal.count_transitions(pairs, both)  # without a word


@pytest.mark.parametrize("lag", [1, 5])
def test_scores_of_transitions_at_a_lag_vary_as_the_likelihood_says(lag):
    """Walkers that prefer nothing: squared scores over their variance are χ² in the mean.

    Transitions that overlapped would vary five times as much at a lag of 5.
    """
    rng = np.random.default_rng(lag)
    space = shoal.StateSpace(shoal.Circular("a", bins=36))
    passive = np.asarray(shoal.RandomWalk(10.0 * np.sqrt(lag)).on(space).dense())
    angle = np.deg2rad(space.axes[0].centres)
    waves = np.column_stack([np.cos(angle), np.sin(angle)])
    found = []
    for _ in range(150):
        steps = rng.normal(0.0, 10.0, (10, 601))
        steps[:, 0] = rng.uniform(0.0, 360.0, 10)
        states = np.floor((np.cumsum(steps, axis=1) + 185.0) / 10.0).astype(int) % 36
        counts = shoal.count_transitions(list(states), space, lag=lag)
        left, ahead = counts.departures, passive @ waves
        score = counts.arrivals @ waves - left @ ahead
        spread = (waves.T * (left @ passive)) @ waves - (ahead.T * left) @ ahead
        found.append(score @ np.linalg.solve(spread, score) / 2)
    # the mean of χ² with 2 degrees of freedom, halved: 1 ± 1/√sets
    assert abs(np.mean(found) - 1) < 4 / np.sqrt(150)
