"""Estimates beside the truth, marginals, and times that are never set beside other data."""

import json

import numpy as np
import pytest
import xarray as xr

import shoal
from shoal.checks.recovery import Recovery
from shoal.paper.estimates import Estimate
from shoal.paper.timings import digest, refresh, timing_section, write_timings
from shoal.posterior.along import interval, marginal
from shoal.posterior.fit import SAMPLING


def fitted(seed=1, total=400):
    space = shoal.StateSpace(shoal.Circular("a", 6), shoal.Circular("b", 4))
    rng = np.random.default_rng(seed)
    counts = shoal.count_transitions([rng.integers(0, 12, total)], space)
    fit = shoal.Model(space, shoal.Uniform()).fit(counts, "laplace", draws=200, seed=1)
    return Estimate("laplace-identity-uniform", "Laplace", fit, 1.5)


@pytest.fixture(scope="module")
def estimate():
    return fitted()


def test_the_truths_level_does_not_matter(estimate):
    truth = np.random.default_rng(2).normal(size=24)
    one, two = estimate.beside(truth), estimate.beside(truth + 7.0)
    assert np.allclose(one.truth, two.truth)
    weights = estimate.fit.arrivals.values
    assert np.isclose(np.average(one.truth, weights=weights), np.average(one.mean, weights=weights))


def test_an_estimate_recovers_itself_and_nothing_else(estimate):
    itself = estimate.beside(estimate.mean())
    assert itself.coverage() == 1.0
    assert itself.error() < 1e-12
    assert np.isclose(itself.slope(), 1.0)
    turned = estimate.beside(-10 * estimate.mean())
    assert turned.correlation() < -0.99
    assert turned.coverage() < 0.5


def test_coverage_counts_states_entered_often_enough_only():
    truth = np.array([0.0, 1.0, 2.0, 3.0])
    found = Recovery(truth, truth, truth - [1, 1, 1, -1], truth + 2, np.array([50, 20, 1, 1]))
    assert found.coverage() == 0.75
    assert found.coverage(20) == 1.0
    assert found.seen(20).sum() == 2


def test_intervals_are_quantiles_of_all_chains_and_missing_where_draws_are():
    values = np.arange(2 * 100 * 3, dtype=float).reshape(2, 100, 3)
    values[:, :, 1] = np.nan
    draws = xr.DataArray(values, dims=(*SAMPLING, "state"))
    lower, upper = interval(draws)
    expected = np.quantile(values.reshape(-1, 3)[:, 0], [0.025, 0.975])
    assert np.allclose([lower[0], upper[0]], expected)
    assert np.isnan(lower[1]) and np.isnan(upper[1])


def test_a_marginal_is_a_mean_over_the_other_axis_by_a_plain_loop(estimate):
    draws, arrivals = estimate.fit.cost_to_go, estimate.fit.arrivals
    plain, weighted = marginal(draws, "b"), marginal(draws, "b", arrivals)
    for j in range(4):
        column = draws.values[0, 5, :, j]
        assert np.isclose(plain.values[0, 5, j], column.mean())
        weight = arrivals.values[:, j]
        expected = (column * weight).sum() / weight.sum() if weight.sum() else np.nan
        assert np.isclose(weighted.values[0, 5, j], expected, equal_nan=True)


def test_the_digest_tells_transitions_apart(estimate):
    assert digest(estimate.fit) == digest(fitted().fit)
    assert digest(estimate.fit) != digest(fitted(seed=2).fit)


def stan(estimate, of):
    row = {
        "fit": estimate.name, "transitions": of, "program": "published", "gradient_ms": 500.0,
        "sampling_seconds": None, "projected_seconds": 7200.0,
    }  # fmt: skip
    return json.dumps({"stan": {"compile_seconds": {"published": 30.0}}, "fits": [row]})


def test_stans_times_stand_beside_fits_of_the_same_transitions_only(estimate, tmp_path):
    write_timings(tmp_path, [estimate])
    assert "Stan," not in timing_section(tmp_path)
    (tmp_path / "stan.json").write_text(stan(estimate, digest(estimate.fit)))
    assert "500 ms a gradient, projected 2.0 h" in timing_section(tmp_path)
    (tmp_path / "stan.json").write_text(stan(estimate, "0" * 64))
    assert "500 ms" not in timing_section(tmp_path)


def test_a_readme_takes_new_times_and_keeps_the_rest(estimate, tmp_path):
    write_timings(tmp_path, [estimate])
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n\n{timing_section(tmp_path)}\n\nafter\n")
    (tmp_path / "stan.json").write_text(stan(estimate, digest(estimate.fit)))
    refresh(tmp_path)
    text = readme.read_text()
    assert text.startswith("before") and text.endswith("after\n")
    assert text.count("500 ms a gradient") == 1
    refresh(tmp_path)
    assert readme.read_text() == text
