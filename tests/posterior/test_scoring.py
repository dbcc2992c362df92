"""Scores are means over draws of what the policy says, and their errors those of blocks."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import shoal
from handmade import fit_of, turning_space, walked
from registries import CIRCLE, NUMBERED, TORUS, Lazy, random_graph, random_matrix
from shoal.posterior import Score
from shoal.states import Transitions

THREE = shoal.StateSpace.discrete(3)
SHORT = shoal.StateSpace(shoal.Circular("angle", bins=8))


def by_hand(fit, passives):
    """Log₂ of the mean over draws of the policy's matrix."""
    v = fit.sampled.values.reshape(-1, fit.model.space.size)
    each = [
        shoal.lmdp.policy(one, passive, fit.model.discount)
        for one, passive in zip(v, passives, strict=True)
    ]
    with np.errstate(divide="ignore"):
        return np.log2(np.mean(each, axis=0))


def random_draws(space, count, seed):
    return np.random.default_rng(seed).normal(0, 1.5, (count, *space.shape))


def random_counts(space, seed, pairs=40):
    """Some pairs, counted, without records."""
    rng = np.random.default_rng(seed)
    origin, destination = rng.integers(0, space.size, (2, pairs))
    return Transitions.from_pairs(origin, destination, space, rng.integers(1, 5, pairs))


ANY = {
    "walk": (CIRCLE, shoal.RandomWalk(40.0)),
    "dense": (NUMBERED, random_matrix(15, 1)),
    "sparse": (NUMBERED, random_graph(15, 2)),
}


@pytest.mark.parametrize(
    ("space", "passive", "discount"),
    [(*ANY["walk"], gamma) for gamma in (1.0, 0.6, 0.0)]
    + [(*ANY[name], 0.9) for name in ("dense", "sparse")]
    + [(TORUS, Lazy(shape=TORUS.shape), 0.9)],
    ids=["walk", "walk, discounted", "walk, myopic", "dense", "sparse", "written by a user"],
)
def test_a_score_is_the_mean_over_draws_of_the_policys_matrix(space, passive, discount):
    model = shoal.Model(space, passive, discount=discount)
    fit = fit_of(model, random_draws(space, 7, seed=2))
    counts = random_counts(space, seed=3)
    seen = (counts.pairs.origin, counts.pairs.destination)
    if isinstance(passive, sp.csr_array):  # only what can happen
        seen = passive.nonzero()
        counts = Transitions.from_pairs(*seen, space)
    expected = by_hand(fit, [model.operator()] * 7)[seen] @ counts.pairs.count
    found = fit.score(counts)
    assert found.transitions == counts.total
    assert np.isclose(found.bits, expected / counts.total, atol=1e-12)


def test_every_draw_is_scored_with_its_own_passive_dynamics():
    space = turning_space()
    model = shoal.Model(space, shoal.TurnCoupled(noise=6.0, tails=1.0, follow=1.0))
    spreads = [4.0, 9.0, 30.0]
    other = [[1.0], [2.0], [3.0]]  # the precision, which a score has no use for
    parameters = np.hstack([other, np.array(spreads)[:, None]])
    fit = fit_of(model, random_draws(space, 3, seed=5), parameters)
    passives = [
        shoal.TurnCoupled(spread=spread, noise=6.0, tails=1.0, follow=1.0).on(space)
        for spread in spreads
    ]
    counts = random_counts(space, seed=6)
    expected = (by_hand(fit, passives) * counts.matrix()).sum() / counts.total
    assert np.isclose(fit.score(counts).bits, expected, atol=1e-10)
    mixed = (by_hand(fit, passives[::-1]) * counts.matrix()).sum() / counts.total
    assert abs(mixed - expected) > 0.1, "the draws differ enough to tell"


def test_fewer_draws_are_spread_evenly_and_the_first_and_last_are_among_them():
    model = shoal.Model(SHORT, shoal.Uniform())
    v = random_draws(SHORT, 9, seed=1)
    counts = random_counts(SHORT, seed=2)
    some = fit_of(model, v[[0, 4, 8]]).score(counts).bits
    assert np.isclose(fit_of(model, v).score(counts, draws=3).bits, some, atol=1e-12)
    every = fit_of(model, v).score(counts).bits
    assert fit_of(model, v).score(counts, draws=50).bits == every
    assert every != some


def test_a_fit_scores_better_where_it_was_made_than_any_shuffled_one():
    truth = np.array([0.0, 1.0, 2.0])
    matrix = shoal.lmdp.policy(truth, np.full((3, 3), 1 / 3))
    counts = walked(matrix, THREE, seed=1)
    model = shoal.Model(THREE, shoal.Uniform())
    right, wrong = fit_of(model, truth[None]), fit_of(model, truth[None, ::-1])
    gain, error = right.score(counts).minus(wrong.score(counts))
    # expected: Σ π_j (log₂ π_j − log₂ π_j reversed), the stationary law being a row of the matrix
    law = matrix[0]
    expected = law @ (np.log2(law) - np.log2(law[::-1]))
    assert abs(gain - expected) < 4 * error
    assert gain > 10 * error
    entropy = law @ np.log2(law)
    assert abs(right.score(counts).bits - entropy) < 4 * right.score(counts).standard_error


def test_a_fit_from_a_file_scores_the_same(tmp_path):
    counts = walked(random_matrix(8, 3), SHORT, animals=4, frames=30)
    fit = shoal.Model(SHORT, shoal.RandomWalk(90.0)).fit(counts, "laplace", draws=20, seed=1)
    again = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    assert np.allclose(again.score(counts).sums, fit.score(counts).sums, atol=1e-12)


BITS = st.lists(st.floats(-50, 0), min_size=2, max_size=12)


@given(BITS, st.integers(1, 9))
def test_equal_blocks_have_the_standard_error_of_a_mean(sums, size):
    found = Score(np.array(sums), np.full(len(sums), float(size)))
    means = np.array(sums) / size
    assert np.isclose(found.bits, means.mean())
    assert np.isclose(found.standard_error, means.std(ddof=1) / np.sqrt(len(sums)), atol=1e-12)


def test_unequal_blocks_have_the_error_of_a_ratio():
    found = Score(np.array([-2.0, -9.0, -4.0]), np.array([1.0, 3.0, 2.0]))
    assert found.bits == -15 / 6
    assert found.transitions == 6
    rest = [-2 + 2.5, -9 + 7.5, -4 + 5.0]
    assert np.isclose(found.standard_error, np.sqrt(3 / 2 * np.square(rest).sum()) / 6)
    assert repr(found) == "Score(-2.500 ± 0.382 bits per transition, 6 transitions, 3 blocks)"


def test_the_error_of_a_ratio_is_the_spread_of_scores_over_many_samples():
    rng = np.random.default_rng(1)
    counts = rng.integers(1, 30, (4000, 25)).astype(float)
    sums = -counts * rng.normal(2.0, 0.4, counts.shape)
    scores = [Score(one, many) for one, many in zip(sums, counts, strict=True)]
    spread = np.std([one.bits for one in scores])
    claimed = np.sqrt(np.mean([one.standard_error**2 for one in scores]))
    # 4,000 samples: the spread is known within 1/√8000; linearising costs 2/25 of the variance
    assert abs(np.log(claimed / spread)) < 4 / np.sqrt(8000) + 1 / 25


def test_one_block_has_no_standard_error():
    one = Score(np.array([-3.0]), np.array([2.0]))
    assert np.isnan(one.standard_error)
    assert np.isnan(one.minus(one)[1])


@given(BITS, st.randoms(use_true_random=False))
def test_a_difference_is_that_of_the_bits_with_the_error_of_the_differences(sums, random):
    first = np.array(sums)
    second = np.array([random.uniform(-50, 0) for _ in sums])
    counts = np.array([float(random.randint(1, 9)) for _ in sums])
    one, other = Score(first, counts), Score(second, counts)
    gap, error = one.minus(other)
    assert np.isclose(gap, one.bits - other.bits, atol=1e-9)
    assert np.isclose(error, Score(first - second, counts).standard_error)
    back = other.minus(one)
    assert np.isclose(back[0], -gap)
    assert np.isclose(back[1], error)
    assert one.minus(one) == (0.0, 0.0)


@pytest.mark.parametrize("counts", [[10.0, 11.0], [10.0, 10.0, 10.0]])
def test_scores_of_different_transitions_have_no_difference(counts):
    one = Score(np.array([-1.0, -2.0]), np.array([10.0, 10.0]))
    with pytest.raises(shoal.InputError, match="different transitions"):
        one.minus(Score(-np.ones(len(counts)), np.array(counts)))


@pytest.fixture(scope="module")
def simple():
    """A fit to three states, and some transitions with records."""
    model = shoal.Model(THREE, shoal.Uniform())
    fit = fit_of(model, [[0.0, 1.0, 2.0], [0.5, 0.0, 1.0]])
    return fit, walked(random_matrix(3, 4), THREE, animals=5, frames=40, seed=2)


def test_transitions_that_know_their_times_are_cut_into_their_blocks(simple):
    fit, counts = simple
    logs = by_hand(fit, [fit.model.operator()] * 2)
    found, blocks = fit.score(counts), counts.blocks()
    assert np.allclose(found.sums, [(logs * block.matrix()).sum() for block in blocks])
    assert found.counts.tolist() == [block.total for block in blocks]
    assert not found.independent
    assert np.isclose(found.bits, (logs * counts.matrix()).sum() / counts.total)


def test_a_list_or_dictionary_has_a_block_each_and_none_for_the_empty(simple):
    fit, counts = simple
    parts = counts.blocks(3)
    empty = shoal.count_transitions([[0]], THREE)
    named = dict(zip("abc", parts, strict=True)) | {"none": empty}
    for given_ in ([*parts, empty], tuple(parts), named, iter(parts)):
        found = fit.score(given_)
        assert found.counts.tolist() == [part.total for part in parts]
        assert np.isclose(found.bits, fit.score(counts).bits)
        assert not found.independent
    bare = [Transitions.from_matrix(part.matrix(), THREE) for part in parts]
    assert np.allclose(fit.score(bare).sums, fit.score(parts).sums)


def test_where_nobody_knows_times_transitions_are_taken_for_independent(simple):
    fit, counts = simple
    bare = Transitions.from_matrix(counts.matrix(), THREE)
    found, logs = fit.score(bare), by_hand(fit, [fit.model.operator()] * 2)
    each = np.repeat(logs[bare.pairs.origin, bare.pairs.destination], bare.pairs.count)
    assert found.independent
    assert np.allclose(np.sort(found.sums), np.sort(each))
    assert np.isclose(found.standard_error, each.std(ddof=1) / np.sqrt(each.size))
    assert np.isclose(found.bits, fit.score(counts).bits)
    assert "blocks" not in repr(found)


def test_a_transition_that_cannot_happen_costs_everything_and_is_said():
    matrix = np.array([[0.5, 0.5, 0.0], [0.3, 0.4, 0.3], [0.0, 0.5, 0.5]])
    fit = fit_of(shoal.Model(THREE, matrix), [[0.0, 1.0, 0.5]])
    counts = shoal.count_transitions([[0, 1, 2, 0, 1, 2, 0, 0]], THREE)
    with pytest.warns(UserWarning, match="2 of 7 transitions cannot happen under this model: −∞"):
        found = fit.score(counts)
    assert found.bits == -np.inf
    possible = shoal.count_transitions([[0, 1, 2, 1, 0]], THREE)
    assert np.isfinite(fit.score(possible).bits), "no warning and no infinity without them"


WRONG = {
    "other axes": (random_counts(SHORT, 1), r"3 bins.*on \('angle',\) with 8: count them on the"),
    "another lag": (
        replace(shoal.count_transitions([[0, 1, 2]], THREE), lag=2),
        "fitted at a lag of 1, the transitions have 2",
    ),
    "nothing": (shoal.count_transitions([[0]], THREE), "no transitions to score"),
    "no list": ([], "counted transitions or a list of them"),
    "a number": (3, "counted transitions or a list of them; got int"),
    "a list of something else": ([[0, 1, 2]], "counted transitions or a list of them"),
    "one of other axes": (
        [shoal.count_transitions([[0, 1]], THREE), random_counts(SHORT, 1)],
        "count them on the model's space",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_scored_is_refused_in_words(name, simple):
    fit, _ = simple
    given_, words = WRONG[name]
    with pytest.raises(shoal.InputError, match=words):
        fit.score(given_)


def test_a_fit_at_another_lag_scores_transitions_at_that_lag(simple):
    fit, _ = simple
    at_two = fit_of(fit.model, fit.sampled.values[0], lag=2)
    counts = shoal.count_transitions([[0, 1, 2, 0, 1]], THREE, lag=2)
    assert at_two.score(counts).transitions == 2
    with pytest.raises(shoal.InputError, match="a lag of 2, the transitions have 1"):
        at_two.score(shoal.count_transitions([[0, 1, 2]], THREE))


def test_several_of_nothing_are_nothing_to_score(simple):
    empty = shoal.count_transitions([[0]], THREE)
    with pytest.raises(shoal.InputError, match="no transitions to score"):
        simple[0].score([empty, empty]).bits  # noqa: B018  (where it fails)


@pytest.mark.parametrize("draws", [0, -1, 2.5])
def test_a_number_of_draws_that_makes_no_sense_is_refused(simple, draws):
    fit, counts = simple
    with pytest.raises(shoal.InputError, match="draws"):
        fit.score(counts, draws=draws)


def test_a_score_of_minus_infinity_can_be_shown_and_compared():
    lost = Score(np.array([-np.inf, -3.0]), np.array([2.0, 3.0]))
    fine = Score(np.array([-2.0, -3.0]), np.array([2.0, 3.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not lost.standard_error >= 0
        assert fine.minus(lost)[0] == np.inf
        assert repr(lost).startswith("Score(-inf")


def test_transitions_that_a_model_was_fitted_to_can_be_scored():
    """The axes are alike, their origin is not: a fit takes them, and so must its score."""
    counts = walked(random_matrix(8, 3), shoal.StateSpace(shoal.Circular("turning_angle", bins=8)))
    space = shoal.StateSpace(shoal.states.TurningAngle(bins=8))
    assert space.axes == counts.space.axes
    fit = fit_of(shoal.Model(space, shoal.Uniform()), np.zeros((1, 8)))
    assert np.isclose(fit.score(counts).bits, -3.0)
