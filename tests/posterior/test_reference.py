"""NUTS against posteriors that other engines computed."""

import csv
from pathlib import Path

import numpy as np
import pytest
from arviz_stats.base.array import array_stats

import shoal
from posterior_problems import SPP, spp_transitions
from shoal.states import Transitions

SHARED = Path(__file__).parents[3] / "shared" / "reference" / "spp"


def stan_reference():
    """Counts, means, Monte Carlo errors and sds of the reference posterior."""
    counts = np.loadtxt(SHARED / "transition_counts.csv", delimiter=",", dtype=int)
    with (SHARED / "stan_posterior.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["parameter"].startswith("v[")]
    columns = [np.array([float(row[name]) for row in rows]) for name in ("mean", "mcse_mean", "sd")]
    return Transitions.from_matrix(counts, SPP), *columns


def slice_step(height, point, direction, rng, width=2.0):
    """Neal's slice sampling along one direction: step out, then shrink."""
    floor = height(point) - rng.exponential()
    low = -rng.random() * width
    high = low + width
    while height(point + low * direction) > floor:
        low -= width
    while height(point + high * direction) > floor:
        high += width
    while True:
        step = rng.uniform(low, high)
        moved = point + step * direction
        if height(moved) > floor:
            return moved
        low, high = (step, high) if step < 0 else (low, step)


def slice_reference(draws=12_000, seed=9):
    """The same from an engine made here: one direction at a time, on slices, in plain NumPy."""
    transitions, _ = spp_transitions(agents=60, steps=30)
    space = shoal.StateSpace(shoal.Circular("local", bins=6))
    fold = np.arange(36) // 6
    pairs = transitions.pairs
    small = Transitions.from_pairs(fold[pairs.origin], fold[pairs.destination], space, pairs.count)
    dense = np.asarray(shoal.RandomWalk(60.0).on(space).dense())
    arrivals, departures = small.arrivals.astype(float), small.departures.astype(float)
    rng = np.random.default_rng(seed)

    def height(point):
        """Log density of (v, log α)."""
        v, alpha = point[:6], np.exp(point[6])
        fit = -arrivals @ v - departures @ np.log(dense @ np.exp(-v))
        prior = 6 * np.log(alpha) - 0.5 * alpha**2 * v @ v
        return fit + prior + 0.1 * np.log(alpha) - 0.1 * alpha

    directions = [*np.eye(7), np.append(np.ones(6), 0.0)]  # each unknown, and the level
    point, kept = np.zeros(7), np.empty((draws, 6))
    for draw in range(draws):
        for direction in directions:
            point = slice_step(height, point, direction, rng)
        kept[draw] = point[:6]
    chains = kept[2000:].reshape(2, -1, 6)
    error = array_stats.mcse(chains, chain_axis=0, draw_axis=1, method="mean")
    return small, kept[2000:].mean(axis=0), error, kept[2000:].std(axis=0)


def agreement(model, transitions, mean, error, sd):
    fit = model.fit(transitions, shoal.NUTS(warmup=1000), chains=4, draws=5000, seed=1)
    v = fit.sampled.values
    own = array_stats.mcse(v, chain_axis=0, draw_axis=1, method="mean")
    score = (v.mean(axis=(0, 1)) - mean) / np.hypot(own, error)
    return np.abs(score).max(), np.abs(v.std(axis=(0, 1)) / sd - 1).max()


REFERENCES = {"slices": (slice_reference, shoal.RandomWalk(60.0), 0.1)}
"""Reference posteriors: how to get one, its passive dynamics, and the error of its sds."""

if SHARED.is_dir():
    REFERENCES["stan"] = (stan_reference, shoal.TurningMixture(), 0.05)


@pytest.mark.slow
@pytest.mark.parametrize(("reference", "passive", "limit"), REFERENCES.values(), ids=REFERENCES)
def test_nuts_agrees_with_engines_that_share_no_code_with_it(reference, passive, limit):
    transitions, mean, error, sd = reference()
    model = shoal.Model(transitions.space, passive, prior=shoal.Prior("inverse-sd"))
    score, ratio = agreement(model, transitions, mean, error, sd)
    assert score < 4  # combined Monte Carlo errors, level included
    assert ratio < limit
