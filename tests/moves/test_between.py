"""Costs of distances between the middles of bins."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from shoal.moves.between import FINEST, grid_of
from shoal.posterior.specification import described, restored

EDGES = (0.0, 1.0, 3.0, 6.0)
SPACE = shoal.StateSpace(shoal.Bearing(bins=6), shoal.Distance(EDGES, beyond=True))


def test_costs_that_are_straight_lines_are_met_between_bins():
    grid = grid_of(SPACE, shoal.Steps(), 0.5)
    fine = grid.space.axes[1]
    assert fine.size == 4 + 8 + 12 and set(EDGES) <= set(fine.edges)
    q = 2.0 - 3.0 * SPACE.axes[1].centres + np.arange(6.0)[:, None]
    found = grid.fine(q.ravel(), SPACE.shape).reshape(6, fine.size)
    inner = np.minimum(fine.centres, 4.5)  # level after the middle of an open last bin
    np.testing.assert_allclose(found, 2.0 - 3.0 * inner + np.arange(6.0)[:, None])
    closed = shoal.StateSpace(shoal.Bearing(bins=6), shoal.Distance(EDGES))
    found = grid_of(closed, shoal.Steps(), 0.5).fine(q.ravel(), SPACE.shape).reshape(6, fine.size)
    np.testing.assert_allclose(found, 2.0 - 3.0 * fine.centres + np.arange(6.0)[:, None])
    bent = np.array([1.0, 5.0, 2.0])
    middles = np.interp(fine.centres[2:18], SPACE.axes[1].centres, bent)
    found = grid.fine(np.tile(bent, 6), SPACE.shape).reshape(6, fine.size)
    np.testing.assert_allclose(found[3, 2:18], middles)
    (along,) = grid.maps(SPACE.shape)
    again = np.asarray(along.apply(jnp.asarray(q)))
    np.testing.assert_allclose(again, grid.fine(q.ravel(), SPACE.shape).reshape(6, fine.size))


def test_turns_speeds_and_many_bins():
    assert grid_of(SPACE, shoal.Turns(), 0.5) is None
    assert grid_of(SPACE, shoal.Steps(between="bins"), 0.5) is None
    assert grid_of(SPACE, shoal.Steps(), 50.0) is None
    speed = shoal.StateSpace(shoal.states.Speed((0.0, 1.0, 2.0), frames=1))
    assert grid_of(speed, shoal.Steps(), 0.5).space.size == 8
    assert grid_of(SPACE, shoal.Steps(), 1e-5).space.size <= FINEST


def herd(seed, width=0.05):
    """Animals that like their neighbours 3 away: costs in bins much narrower than a step."""
    narrow = shoal.StateSpace(shoal.Distance(np.arange(0, 8 + width, width), beyond=True))
    truth = 0.8 * np.abs(narrow.axes[0].centres - 3.0)
    return shoal.simulate(
        truth, space=narrow, passive=shoal.Steps(spread=20.0, typical=0.2, variation=0.3,
        follow=0.5), start=shoal.Release(4, (0.0, 0.0), 2.0), steps=300, replicates=4, speed=0.2,
        seed=seed, progress=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("between", "least", "most"), [("lines", 0.7, 1.2), ("bins", -0.2, 0.45)])
def test_costs_in_bins_wider_than_steps_come_back_by_lines_alone(between, least, most):
    wide = shoal.StateSpace(shoal.Distance((0.0, 2.0, 4.0, 6.0, 8.0), beyond=True))
    moves = shoal.Steps(between=between, candidates=128)
    found = shoal.decisions(herd(1), wide, moves)
    fit = shoal.Model(wide, moves, shoal.Smooth()).fit(found, "laplace", draws=250, seed=1)
    draws = fit.sampled.values.reshape(-1, 4)
    slope = (draws[:, 2] - draws[:, 1]) / 2.0 / 0.8  # from 3 to 5, over the truth
    assert least < slope.mean() < most
    assert (np.quantile(slope, 0.975) > 1.0) == (between == "lines")


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


def test_files_from_before_have_costs_by_bins():
    told = described(shoal.Steps())
    del told["between"]
    assert restored(told) == shoal.Steps(between="bins")
    with pytest.raises(shoal.InputError, match="lines, bins"):
        shoal.Steps(between="curves")
