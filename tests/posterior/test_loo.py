"""Leave-one-out scores from the draws of one fit are those of fits that left one out."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import shoal
from handmade import fit_of, walked
from registries import random_matrix
from shoal.posterior import loo
from shoal.states import Transitions

TWO, FOUR = shoal.StateSpace.discrete(2), shoal.StateSpace.discrete(4)
FIXED = shoal.Prior("fixed", value=0.5)
DENSE = np.array([[0.6, 0.4], [0.3, 0.7]])
GRID = np.linspace(-8, 8, 4001)
"""Of v₀ − v₁, all that two states can tell."""


def pair_chances():
    """Log p(j | i) at every place of the grid."""
    table = {}
    for i in range(2):
        total = np.log(DENSE[i, 0] * np.exp(-GRID) + DENSE[i, 1])
        table[i, 0], table[i, 1] = np.log(DENSE[i, 0]) - GRID - total, np.log(DENSE[i, 1]) - total
    return table


def grid_weights(counts):
    """The posterior on the grid: the prior variance of a difference is 2/precision."""
    logs = norm.logpdf(GRID, scale=np.sqrt(2 / FIXED.value))
    logs = logs + sum(counts[pair] * log for pair, log in pair_chances().items())
    return logs - logsumexp(logs)


@pytest.fixture(scope="module")
def exact():
    """Draws from the exact posterior of two states, and what is left out by integration."""
    counts = np.array([[9, 14], [3, 14]])
    transitions = Transitions.from_matrix(counts, TWO)
    draws = 4000
    places = np.interp(
        (np.arange(draws) + 0.5) / draws, np.cumsum(np.exp(grid_weights(counts))), GRID
    )
    places = np.random.default_rng(1).permutation(places)
    v = np.column_stack([places, np.zeros(draws)])
    fit = fit_of(shoal.Model(TWO, DENSE, prior=FIXED), v, transitions=transitions)
    expected = []
    for pair, log in sorted(pair_chances().items()):
        fewer = counts.copy()
        fewer[pair] -= 1
        expected.append(logsumexp(grid_weights(fewer) + log) / np.log(2))
    return fit, counts, np.array(expected)


def test_left_out_chances_are_those_of_integration(exact):
    fit, counts, expected = exact
    found = loo.loo(fit, draws=4000)
    assert np.all(found.counts == 1)
    assert found.transitions == counts.sum()
    assert found.independent
    each = [found.sums[np.cumsum(counts.ravel())[n] - 1] for n in range(4)]
    # 1/p varies by some 20 % between draws: 4 × 0.2 × log₂ e / √4000 for draws at random
    assert np.allclose(each, expected, atol=4 * 0.2 * np.log2(np.e) / np.sqrt(4000))
    assert found.unsure == 0
    assert found.pareto_k.shape == (4,)


def test_what_was_left_out_is_less_probable_than_what_was_learned_from(exact):
    fit, counts, expected = exact
    learned = fit.score(Transitions.from_matrix(counts, TWO)).bits
    left_out = fit.loo().bits
    gap = learned - (expected * counts.ravel()).sum() / counts.sum()
    assert learned > left_out
    assert abs((learned - left_out) / gap - 1) < 0.2


def test_counts_of_the_same_transition_share_a_score_and_their_order_is_nothing(exact):
    fit, counts, _ = exact
    apart = np.repeat(np.arange(4), counts.ravel())
    order = np.random.default_rng(2).permutation(apart)
    path = Transitions.from_pairs(order // 2, order % 2, TWO)
    again = fit_of(fit.model, fit.sampled.values[0], transitions=path)
    assert np.array_equal(again.loo().sums, fit.loo().sums)
    assert [
        len(set(part)) for part in np.split(fit.loo().sums, np.cumsum(counts.ravel())[:-1])
    ] == [1] * 4


def test_chunks_do_not_matter(exact, monkeypatch):
    fit, _, _ = exact
    whole = fit.loo()
    monkeypatch.setattr(loo, "CHUNK", 3)
    assert np.allclose(fit.loo().sums, whole.sums, atol=1e-12)
    assert np.allclose(fit.loo().pareto_k, whole.pareto_k, atol=1e-9)


def test_laplace_agrees_with_fits_that_leave_out_one_transition():
    counts = walked(random_matrix(4, 2), FOUR, animals=2, frames=21, seed=3)
    assert counts.total == 40
    model = shoal.Model(FOUR, shoal.Uniform(), prior=FIXED)
    fit = model.fit(counts, "laplace", draws=1000, seed=1)
    expected = {}
    for state in range(4):  # nothing but arrivals matters to uniform dynamics
        fewer = counts.matrix()
        origin = int(np.argmax(fewer[:, state]))
        fewer[origin, state] -= 1
        refit = model.fit(Transitions.from_matrix(fewer, FOUR), "laplace", draws=1000, seed=1)
        left = Transitions.from_pairs([origin], [state], FOUR)
        expected[state] = refit.score(left).bits
    found = fit.loo()
    pairs = counts.pairs
    each = dict(zip(np.repeat(pairs.destination, pairs.count), found.sums, strict=True))
    for state, bits in expected.items():
        # some 10 arrivals: p varies by 1/√10 between draws; 1,000 draws in the score and 2,000 in
        # the other, and the third moments that Laplace does not see, 1/10 of a sd
        noise = np.log2(np.e) / np.sqrt(10) * (4 / np.sqrt(1000) + 0.1)
        assert abs(each[state] - bits) < noise
    whole = sum(expected[j] * n for j, n in zip(pairs.destination, pairs.count, strict=True))
    assert abs(found.bits - whole / counts.total) < 0.02
    assert fit.score(counts).bits > found.bits


def test_one_answer_or_few_draws_are_refused(exact):
    fit, counts, _ = exact
    transitions = Transitions.from_matrix(counts, TWO)
    with pytest.raises(shoal.InputError, match="need draws: use nuts, laplace or advi"):
        fit_of(fit.model, [[0.0, 1.0]], transitions=transitions, method="map").loo()
    with pytest.raises(shoal.InputError, match="100 draws or more, got 99"):
        fit_of(fit.model, np.zeros((99, 2)), transitions=transitions).loo()


def test_scores_that_cannot_be_trusted_are_counted():
    """1/p = e^(v/θ) with v exponential has a Pareto tail of shape θ, here 1.5."""
    counts = Transitions.from_pairs([0, 1], [1, 1], TWO)
    v = np.zeros((2000, 2))
    v[:, 1] = 1.5 * np.random.default_rng(3).exponential(size=2000)
    fit = fit_of(shoal.Model(TWO, DENSE, prior=FIXED), v, transitions=counts)
    assert fit.loo().unsure == 2


def test_a_leave_one_out_score_is_shown_as_a_score(exact):
    assert len(repr(exact[0].loo())) < 100
