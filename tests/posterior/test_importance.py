"""Draws of approximations, weighted so that they are the posterior's."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import shoal
from shoal.posterior.importance import corrected, weigh

FOUR = shoal.StateSpace(shoal.Circular("a", bins=4))


def test_pareto_k_is_that_of_the_known_tail():
    """A normal of sd s for a standard normal: the ratio's tail has index 1 − s²."""
    rng = np.random.default_rng(0)
    for sd, expected in ((0.5, 0.75), (0.8, 0.36)):
        x = rng.normal(scale=sd, size=16_000)
        assert abs(weigh(norm.logpdf(x), norm.logpdf(x, scale=sd)).pareto_k - expected) < 0.2
    wide = rng.normal(scale=2.0, size=16_000)
    assert weigh(norm.logpdf(wide), norm.logpdf(wide, scale=2)).pareto_k < 0


def test_resampled_draws_have_the_moments_of_the_target():
    rng = np.random.default_rng(1)
    x = rng.normal(0.5, 1.5, size=16_000)
    weighing = weigh(norm.logpdf(x), norm.logpdf(x, 0.5, 1.5))
    kept, facts = corrected(weighing, 8000, rng)
    assert facts["reweighted"]
    assert 5000 < facts["importance_ess"] < 16_000
    # 4 standard errors of a mean and of an sd over as many effective draws
    assert abs(x[kept].mean()) < 4 / np.sqrt(facts["importance_ess"])
    assert abs(x[kept].std() - 1) < 4 / np.sqrt(2 * facts["importance_ess"])
    counts = np.bincount(kept, minlength=x.size)
    assert np.all(np.abs(counts - 8000 * weighing.weights) < 1), "systematic resampling"


def test_draws_whose_weights_have_too_heavy_a_tail_stay_as_they_are():
    rng = np.random.default_rng(2)
    x = rng.normal(scale=0.2, size=4000)
    kept, facts = corrected(weigh(norm.logpdf(x), norm.logpdf(x, scale=0.2)), 100, rng)
    assert facts["pareto_k"] > 0.7
    assert not facts["reweighted"]
    assert kept.tolist() == list(range(100))


def test_impossible_and_too_few_draws():
    rng = np.random.default_rng(3)
    x = rng.normal(size=1000)
    half = np.where(x > 0, norm.logpdf(x), -np.inf)
    weighing = weigh(half, norm.logpdf(x))
    assert weighing.weights[x <= 0].max() < 1e-12
    assert weighing.effective == pytest.approx(np.sum(x > 0), rel=0.01)
    assert weigh(half[:10], norm.logpdf(x[:10])).pareto_k == np.inf
    assert weigh(np.full(100, np.nan), np.zeros(100)).pareto_k == np.inf
    assert weigh(np.zeros(100), np.zeros(100)).pareto_k == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("basis", [shoal.Smooth(order=1)])
def test_laplace_with_learned_scales_agrees_with_draws_from_the_prior(basis):
    """Few data, so that draws from the prior, weighed by the likelihood, are an exact answer."""
    passive = np.array([[0.4, 0.3, 0.1, 0.2]] * 4)
    counts = shoal.count_transitions([[2, 2, 1, 2, 3, 2, 2, 0, 2, 2, 3, 2, 1, 2, 2, 2, 2]], FOUR)
    model = shoal.Model(FOUR, passive, basis)
    density = model.density(counts)
    rng = np.random.default_rng(4)
    u, xi = rng.standard_normal((200_000, 2)), rng.standard_normal((200_000, 2))
    functions = np.asarray(density.basis.map.dense())
    scale = -np.log(norm.cdf(-u[:, 0]))  # exponential; with one wave the length does nothing
    amplitude = scale[:, None] / np.sqrt((functions**2).mean(axis=0).sum())
    v = (amplitude * xi) @ functions.T
    norms = logsumexp(np.log(passive[0]) - v, axis=1)
    logs = -(v @ counts.arrivals) - counts.total * norms
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    contrast = v[:, 0] - v[:, 2]
    mean = weights @ contrast
    sd = np.sqrt(weights @ (contrast - mean) ** 2)
    fit = model.fit(counts, "laplace", draws=4000, seed=1)
    found = (fit.sampled.values[..., 0] - fit.sampled.values[..., 2]).ravel()
    effective = min(fit.facts["importance_ess"], 1 / np.sum(weights**2))
    assert effective > 3000
    assert abs(found.mean() - mean) < 4 * sd * np.sqrt(2 / effective)
    assert abs(found.std() / sd - 1) < 4 * np.sqrt(2) * np.sqrt(2 / (2 * effective))
