"""Costs of distances between the middles of bins."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from shoal.moves.between import FINEST, SPEED_PARTS, grid_of, on_lines
from shoal.posterior.decision_checks import FLATTER, too_flat
from shoal.posterior.specification import described, restored

EDGES = (0.0, 1.0, 3.0, 6.0)
SPACE = shoal.StateSpace(shoal.Bearing(bins=6), shoal.Distance(EDGES, beyond=True))


def test_costs_that_are_straight_lines_are_met_between_bins():
    grid = grid_of(SPACE, shoal.Steps(), 2.0)
    fine = grid.space.axes[1]
    assert fine.size == 4 + 7 + 10 and set(EDGES) <= set(fine.edges)
    q = 2.0 - 3.0 * SPACE.axes[1].centres + np.arange(6.0)[:, None]
    found = grid.fine(q.ravel(), SPACE.shape).reshape(6, fine.size)
    inner = np.minimum(fine.centres, 4.5)  # level after the middle of an open last bin
    np.testing.assert_allclose(found, 2.0 - 3.0 * inner + np.arange(6.0)[:, None])
    closed = shoal.StateSpace(shoal.Bearing(bins=6), shoal.Distance(EDGES))
    found = grid_of(closed, shoal.Steps(), 2.0).fine(q.ravel(), SPACE.shape).reshape(6, fine.size)
    np.testing.assert_allclose(found, 2.0 - 3.0 * fine.centres + np.arange(6.0)[:, None])
    bent = np.array([1.0, 5.0, 2.0])
    middles = np.interp(fine.centres[2:16], SPACE.axes[1].centres, bent)
    found = grid.fine(np.tile(bent, 6), SPACE.shape).reshape(6, fine.size)
    np.testing.assert_allclose(found[3, 2:16], middles)
    (along,) = grid.maps(SPACE.shape)
    again = np.asarray(along.apply(jnp.asarray(q)))
    np.testing.assert_allclose(again, grid.fine(q.ravel(), SPACE.shape).reshape(6, fine.size))


def test_turns_speeds_and_many_bins():
    assert grid_of(SPACE, shoal.Turns(), 0.5) is None
    assert grid_of(SPACE, shoal.Steps(between="bins"), 0.5) is None
    assert grid_of(SPACE, shoal.Steps(), 50.0) is None
    speed = shoal.StateSpace(shoal.states.Speed((0.0, 1.0, 2.0), frames=1))
    assert grid_of(speed, shoal.Steps(), 0.5).space.size == 2 * SPEED_PARTS
    assert grid_of(SPACE, shoal.Steps(), 1e-5).space.size <= FINEST


def herd(seed, replicates=4, width=0.05):
    """Animals that like their neighbours 3 away: costs in bins much narrower than a step."""
    narrow = shoal.StateSpace(shoal.Distance(np.arange(0, 8 + width, width), beyond=True))
    truth = 0.8 * np.abs(narrow.axes[0].centres - 3.0)
    return shoal.simulate(
        truth, space=narrow, passive=shoal.Steps(spread=20.0, typical=0.2, variation=0.3,
        follow=0.5), start=shoal.Release(4, (0.0, 0.0), 2.0), steps=300, replicates=replicates,
        speed=0.2, seed=seed, progress=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("between", ["lines", "bins"])
def test_costs_in_bins_wider_than_steps_come_back_by_lines_alone(between):
    wide = shoal.StateSpace(shoal.Distance((0.0, 2.0, 4.0, 6.0, 8.0), beyond=True))
    moves = shoal.Steps(between=between, candidates=128)
    found = shoal.decisions(herd(1, replicates=16), wide, moves)
    fit = shoal.Model(wide, moves, shoal.Smooth()).fit(found, "laplace", draws=250, seed=1)
    draws = fit.sampled.values.reshape(-1, 4)
    slope = (draws[:, 2] - draws[:, 1]) / 2.0 / 0.8  # from 3 to 5, over the truth
    assert slope.std() < 0.2
    within = slope.mean() + 3 * slope.std() > 1.0
    assert within == (between == "lines") and slope.mean() - 3 * slope.std() < 1.0


def test_scores_by_lines_are_those_of_a_plain_sum_over_candidates():
    moves = shoal.Steps(candidates=32)
    wide = shoal.StateSpace(shoal.Distance((0.0, 2.0, 4.0, 8.0), beyond=True))
    found = shoal.decisions(herd(2), wide, moves)
    fit = shoal.Model(wide, moves, shoal.Smooth()).fit(found, "map", progress=False)
    q = fit.sampled.values.ravel()
    centres = np.asarray(found.places.axes[0].centres)
    middles = wide.axes[0].centres
    fine = np.interp(centres, middles, q)
    fine += np.minimum(centres - middles[0], 0) * (q[1] - q[0]) / (middles[1] - middles[0])
    np.testing.assert_allclose(found.on_places(q), fine)
    ends = found.places.axes[0].locate(np.clip(found.decided[:, 0], 0, 8))
    np.testing.assert_array_equal(found.ends, ends)
    np.testing.assert_array_equal(
        found.records.destination, wide.axes[0].locate(np.clip(found.decided[:, 0], 0, 8))
    )
    density = fit.model.density(found)
    position = jnp.asarray(fit.centre)
    passive = density.passive(position[density.coefficients :])
    weights = np.broadcast_to(np.asarray(passive.weights).T, passive.candidates.states.T.shape)
    states = np.asarray(passive.candidates.states).T
    norm = np.log((weights * np.exp(-fine[states])).sum(axis=1))
    logs = -np.asarray(density.arrivals) @ fine - np.asarray(density.departures) @ norm

    @jax.jit  # one program instead of a hundred
    def choices(at):
        given = density.given(at[density.coefficients :])
        return given.log_likelihood(density.cost_to_go(at)) - given.log_passive

    assert float(choices(position)) == pytest.approx(float(logs), rel=1e-10)


def flatness(narrow: np.ndarray, seed: int = 1) -> float:
    """A slope in nats per step by narrow bins, over the true one, with no error of sampling.

    Every decision stands for all that could have been made of it: what narrow bins say of a cost
    that is a straight line is found by Newton's method on the expected log likelihood.
    """
    rng = np.random.default_rng(seed)
    count, k, slope = 3000, 300, 1.0
    angle = rng.uniform(-np.pi, np.pi, (count, 1)) + np.deg2rad(10) * rng.standard_cauchy(
        (count, k)
    )
    step = rng.gamma(1 / 0.3**2, 0.3**2, (count, k))  # of mean 1 and sd 0.3
    here = rng.uniform(5.0, 10.0, (count, 1))
    there = here - step * np.cos(angle)
    chosen = np.exp(-slope * (there - here))
    chosen /= chosen.sum(axis=1, keepdims=True)
    middles = (narrow[1:] + narrow[:-1]) / 2
    seen = middles[np.clip(np.searchsorted(narrow, there) - 1, 0, middles.size - 1)]
    found = slope
    for _ in range(20):
        weight = np.exp(-found * (seen - here))
        weight /= weight.sum(axis=1, keepdims=True)
        mean = (weight * seen).sum(axis=1)
        bend = np.mean((weight * seen**2).sum(axis=1) - mean**2)
        found += np.mean(mean - (chosen * seen).sum(axis=1)) / bend
    return found / slope


def test_narrow_bins_take_little_off_a_slope():
    far = shoal.StateSpace(shoal.Distance((0.0, 5.0, 10.0, 15.0)))
    narrow = np.asarray(grid_of(far, shoal.Steps(), 1.0).space.axes[0].edges)
    assert 0.985 < flatness(narrow) < 1.0
    half = np.arange(0.0, 15.5, 0.5)
    said = 1 / (1 + FLATTER * 0.5**2)
    assert flatness(half) == pytest.approx(said, abs=0.01), "what a fit says of wide bins"
    assert flatness(np.arange(0.0, 16.0, 1.0)) == pytest.approx(1 / (1 + FLATTER), abs=0.01)


def test_costs_on_lines_are_those_of_ever_narrower_bins():
    rng = np.random.default_rng(1)
    costs = rng.normal(size=SPACE.size)
    grid = grid_of(SPACE, shoal.Steps(), 0.05)
    fine = grid.fine(costs, SPACE.shape)
    angle, far = rng.uniform(-180, 180, 500), rng.uniform(0, 6, 500)
    found = on_lines(SPACE, [1], costs, [angle, far])
    near = fine[grid.space.locate(angle, far)[0]]
    steepest = 2 * np.abs(np.diff(costs.reshape(SPACE.shape), axis=1)).max()
    assert np.max(np.abs(found - near)) < steepest * 0.05 * 0.15
    compiled = on_lines(SPACE, [1], jnp.asarray(costs), [jnp.asarray(angle), jnp.asarray(far)], jnp)
    np.testing.assert_allclose(compiled, found, rtol=1e-10)


def test_bins_too_wide_for_short_steps_are_told():
    wide = shoal.StateSpace(shoal.Distance((0.0, 2.0, 4.0, 6.0, 8.0), beyond=True))
    moves = shoal.Steps(candidates=16)
    found = shoal.decisions(herd(3), wide, moves)
    assert too_flat(found)["neighbour_distance"] < 0.02
    fit = shoal.Model(wide, moves, shoal.Smooth()).fit(found, "map", progress=False)
    assert not any("too flat" in line for line in fit.diagnostics().notes)
    facts = fit.facts
    for share, kind in ((0.1, "notes"), (0.4, "failures")):
        told = facts | {"too_flat": {"neighbour_distance": share}}
        fit.data.attrs["facts"] = json.dumps(told)
        lines = [line for line in getattr(fit.diagnostics(), kind) if "too flat" in line]
        assert len(lines) == 1 and f"{share:.0%}" in lines[0] and "neighbour distance" in lines[0]


def test_files_from_before_have_costs_by_bins():
    told = described(shoal.Steps())
    del told["between"]
    assert restored(told) == shoal.Steps(between="bins")
    with pytest.raises(shoal.InputError, match="lines, bins"):
        shoal.Steps(between="curves")
