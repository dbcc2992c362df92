"""Each kernel against a plain loop over its definition, and bad input against its sentence."""

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad

import shoal
from registries import CIRCLE, MIXED, NUMBERED, TORUS
from shoal.passive import MatrixDynamics, SparseDynamics, as_operator
from shoal.states import Numbered


def phi(x):
    return 0.5 * math.erfc(-x / math.sqrt(2))


def test_the_papers_walk_starts_at_the_centre_of_its_bin():
    for sd in (20.0, 90.0, 500.0):
        kernel = np.asarray(shoal.RandomWalk(sd, start="centre").on(CIRCLE).dense())
        centres, half = CIRCLE.axes[0].centres, 15.0
        expected = np.zeros((12, 12))
        for i, start in enumerate(centres):
            for j, end in enumerate(centres):
                for turn in range(-60, 61):
                    gap = end - start + 360 * turn
                    expected[i, j] += phi((gap + half) / sd) - phi((gap - half) / sd)
        expected /= expected.sum(axis=1, keepdims=True)
        assert np.allclose(kernel, expected, atol=1e-13)


def test_where_an_end_is_no_wall_the_walk_is_that_of_animals_that_stay():
    space = shoal.StateSpace(replace(MIXED.axes[1], walls="none"))
    kernel = np.asarray(shoal.RandomWalk(1.5, start="centre").on(space).dense())
    edges, centres = MIXED.axes[1].edges, MIXED.axes[1].centres
    for i, start in enumerate(centres):
        mass = [phi((edges[j + 1] - start) / 1.5) - phi((edges[j] - start) / 1.5) for j in range(3)]
        assert np.allclose(kernel[i], np.array(mass) / sum(mass), atol=1e-13)


def test_the_tails_of_a_narrow_walk_keep_their_digits():
    kernel = np.asarray(shoal.RandomWalk(10.0, start="centre").on(CIRCLE).dense())
    assert 0 < kernel[6, 0] < 1e-60  # 180° away, nearest edge 16.5 sd
    upper = 0.5 * math.erfc(16.5 / math.sqrt(2))
    assert math.isclose(kernel[6, 0], 2 * upper, rel_tol=1e-6)
    anywhere = np.asarray(shoal.RandomWalk(10.0).on(CIRCLE).dense())[6, 0]
    beyond = quad(lambda t: 0.5 * math.erfc(t / math.sqrt(2)), 15, 25, epsabs=0, epsrel=1e-12)[0]
    assert math.isclose(anywhere, 2 * beyond / 3, rel_tol=1e-8)  # bins are 3 sd wide


def test_the_turning_mixture_is_the_papers_equation():
    space = shoal.StateSpace(shoal.Circular("local"))
    kernel = np.asarray(shoal.TurningMixture().on(space).dense())
    centres = space.axes[0].centres
    expected = np.zeros((36, 36))
    for i, start in enumerate(centres):
        for j, end in enumerate(centres):
            for turn in range(-60, 61, 10):
                gap = (end - start - turn + 180) % 360 - 180
                expected[i, j] += phi((gap + 5) / 10) - phi((gap - 5) / 10)
    expected /= expected.sum(axis=1, keepdims=True)
    assert np.allclose(kernel, expected, atol=1e-12)


BAD_ROWS = np.array([[0.5, 0.5, 0.0], [0.2, 0.2, 0.2], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (BAD_ROWS, r"row 1 sums to 0\.6 "),
        (np.array([[1.5, -0.5], [0.0, 1.0]]), r"entry \(0, 1\) is -0\.5"),
        (np.array([[1.0, 0.0], [np.nan, 1.0]]), r"entry \(1, 0\) is nan"),
        (np.ones((2, 3)) / 3, "square matrix.*2 × 3"),
        (np.ones(4) / 4, "square matrix"),
        (np.array([["a", "b"], ["c", "d"]]), "matrix of numbers"),
    ],
)
def test_matrices_that_are_not_stochastic_are_refused_with_the_entry(matrix, words):
    with pytest.raises(shoal.InputError, match=words):
        MatrixDynamics.of(matrix)
    if matrix.ndim == 2 and matrix.dtype == float:
        with pytest.raises(shoal.InputError, match=words):
            SparseDynamics.of(sp.csr_array(matrix))


def test_rows_that_sum_to_one_in_single_precision_are_good_enough():
    rows = np.random.default_rng(0).random((30, 30)).astype(np.float32)
    rows /= rows.sum(axis=1, keepdims=True)
    for operator in (MatrixDynamics.of(rows), SparseDynamics.of(sp.csr_array(rows))):
        assert np.abs(np.asarray(operator.dense()).sum(axis=1) - 1).max() < 1e-14


def test_an_operator_of_the_users_own_is_held_to_its_rows_too():
    class Leaky(shoal.passive.PassiveOperator):
        def apply(self, values):
            return 1.2 * values

    with pytest.raises(shoal.InputError, match=r"row 0 of Leaky sums to 1\.2"):
        shoal.solve(Leaky(shape=(3,)), np.ones(3))


def test_very_wide_walks_are_uniform_and_quick():
    circle = np.asarray(shoal.RandomWalk(1e9).on(CIRCLE).dense())
    assert np.allclose(circle, 1 / 12, atol=1e-15)
    line = np.asarray(shoal.RandomWalk(1e17).on(shoal.StateSpace(MIXED.axes[1])).dense())
    assert np.allclose(line, np.array([1, 1.5, 3.5]) / 6, atol=1e-12)
    near = np.asarray(shoal.RandomWalk(719.0).on(CIRCLE).dense())
    assert np.allclose(near, 1 / 12, atol=1e-15)  # no jump where the short cut begins


def test_a_matrix_of_another_size_than_the_space_is_refused():
    with pytest.raises(shoal.InputError, match="3 states do not fit a space of 15"):
        as_operator(np.eye(3), NUMBERED)
    with pytest.raises(shoal.InputError, match="do not fit a state space"):
        as_operator(shoal.RandomWalk(90.0).on(CIRCLE), TORUS)


@pytest.mark.parametrize("sd", [0.0, -1.0, float("nan"), float("inf")])
def test_walks_need_a_positive_sd(sd):
    with pytest.raises(shoal.InputError, match="positive and finite"):
        shoal.RandomWalk(sd)
    with pytest.raises(shoal.InputError, match="positive and finite"):
        shoal.TurningMixture((0.0,), sd)


def test_walks_need_a_distance_and_turns_a_circle():
    with pytest.raises(shoal.InputError, match="distance between states"):
        shoal.RandomWalk(1.0).on(NUMBERED)
    with pytest.raises(shoal.InputError, match="'distance' is not one"):
        shoal.TurningMixture().on(MIXED)
    with pytest.raises(shoal.InputError, match="3 standard deviations do not fit"):
        shoal.RandomWalk((1.0, 2.0, 3.0)).on(TORUS)


def test_an_unbound_specification_and_a_stranger_are_refused_with_advice():
    with pytest.raises(
        shoal.InputError, match=r"RandomWalk\(sd=90.0, start='anywhere'\)\.on\(space\)"
    ):
        as_operator(shoal.RandomWalk(90.0))
    with pytest.raises(shoal.InputError, match="got str"):
        as_operator("random-walk")
    with pytest.raises(shoal.InputError, match="got type"):
        as_operator(shoal.RandomWalk, CIRCLE)
    with pytest.raises(shoal.InputError, match="is no passive dynamics"):
        as_operator(shoal.Identity(), CIRCLE)


@pytest.mark.parametrize("bins", [12, 7])
def test_a_walk_on_a_folded_circle_is_the_walk_on_the_circle_folded(bins):
    """Summed over both signs of where it goes, from either sign of where it was."""
    whole = np.asarray(
        shoal.RandomWalk(50.0).on(shoal.StateSpace(shoal.Circular("a", bins))).dense()
    )
    axis = shoal.states.Folded("a", bins)
    half = np.asarray(shoal.RandomWalk(50.0).on(shoal.StateSpace(axis)).dense())
    size = np.abs(shoal.Circular("a", bins).centres)
    for i, start in enumerate(size):
        row = [whole[i, np.isclose(size, end)].sum() for end in axis.centres]
        assert np.allclose(row, half[int(np.argmin(np.abs(axis.centres - start)))])


def test_all_that_lies_beyond_an_open_end_is_in_the_last_bin():
    shut = shoal.StateSpace(shoal.states.Interval("d", (0, 1, 2), walls="low"))
    wide = shoal.StateSpace(shoal.states.Interval("d", (0, 1, 2), beyond=True))
    far = shoal.StateSpace(shoal.states.Interval("d", (0, 1, 2, 400)))
    kernels = [np.asarray(shoal.RandomWalk(1.5).on(space).dense()) for space in (shut, wide, far)]
    lumped = np.stack([kernels[2][:2, 0], kernels[2][:2, 1:].sum(axis=1)], axis=1)
    assert np.allclose(kernels[1], lumped)
    assert not np.allclose(kernels[0], lumped)


def test_uniform_dynamics_weigh_bins_by_what_they_hold():
    folded = shoal.StateSpace(shoal.states.Folded("a", 12))
    row = np.asarray(shoal.Uniform().on(folded).row(3))
    assert np.allclose(row, np.array([1, 2, 2, 2, 2, 2, 1]) / 12)
    space = shoal.StateSpace(
        shoal.states.Folded("a", 4), shoal.Distance((0, 1, 3)), Numbered(count=2)
    )
    angle = np.array([1, 2, 1]) / 4
    for measure, distance in (
        ("length", np.array([1, 2]) / 3),
        ("area", np.array([1, 8]) / 9),
        (("length", "area", "length"), np.array([1, 8]) / 9),
    ):
        expected = angle[:, None, None] * distance[:, None] * np.array([0.5, 0.5])
        operator = shoal.Uniform(measure).on(space)
        assert np.allclose(np.asarray(operator.row(5)), expected)
    alike = shoal.Uniform("bins").on(space)
    assert np.allclose(np.asarray(alike.row(0)), 1 / 12)


def test_on_equal_bins_all_measures_of_length_are_one():
    """Nothing is kept for each bin, and the program is the one it always was."""
    for space in (
        TORUS,
        CIRCLE,
        NUMBERED,
        shoal.StateSpace(shoal.states.Interval.regular("x", 0, 1, 7)),
    ):
        assert shoal.Uniform().on(space).shares == ()


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("volume", "one of length, area, bins.*'volume'"),
        (("length", 3), "one of length, area, bins"),
        (("length", "area", "area"), "3 measures do not fit the 2 axes"),
        ("area", "'north' begins at -1, below 0: use measure='length'"),
    ],
)
def test_measures_that_cannot_be_are_refused(measure, words):
    space = shoal.StateSpace(shoal.Circular("a", 4), shoal.states.Interval("north", (-1, 0, 1)))
    with pytest.raises(shoal.InputError, match=words):
        shoal.Uniform(measure).on(space)
