"""State costs behind decisions, where what others do is known."""

import numpy as np
import pytest

import shoal
from shoal.moves import surroundings
from shoal.moves.surroundings import following

BINS, SPREAD = 12, 12.0
SPACE = shoal.StateSpace(shoal.TargetMisalignment("leader", bins=BINS))
CENTRES = SPACE.axes[0].centres
COSTS = 0.5 * (1 - np.cos(np.deg2rad(CENTRES)))
FINE = np.arange(-179.5, 180.0)


def passive_turns():
    kept = np.exp(-np.deg2rad(SPREAD))
    heights = (1 - kept**2) / (1 + kept**2 - 2 * kept * np.cos(np.deg2rad(FINE)))
    return heights / heights.sum()


def led(noise, follows):
    """What a leader adds to the animal's bearing of it: its own way, or partly back to 0."""
    turns = np.exp(-0.5 * (FINE / max(noise, 0.1)) ** 2)
    chances = np.zeros((BINS, BINS))
    for row in range(BINS):
        inside = CENTRES[row] + np.linspace(-14.5, 14.5, 30)
        for start in inside:
            ends = SPACE.axes[0].locate(wrapped((1 - follows) * start + FINE))
            chances[row] += np.bincount(ends, turns, BINS)
    return chances / chances.sum(axis=1, keepdims=True)


def wrapped(degrees):
    return np.mod(degrees + 180, 360) - 180


def solved(others):
    """v and q where v + c = r − log Σ p̄ e^{−q}, q = N v, the sum as bins see it."""
    chances, v = passive_turns(), np.zeros(BINS)
    to = np.stack([
        np.mean([
            np.bincount(SPACE.axes[0].locate(wrapped(centre + inside - FINE)), chances, BINS)
            for inside in np.linspace(-14.5, 14.5, 30)
        ], axis=0)
        for centre in CENTRES
    ])  # fmt: skip
    for _ in range(500):
        v = COSTS - np.log(to @ np.exp(-(others @ v)))
        v = v - v.min()
    return v, others @ v


def tracks_of(q, noise, follows, steps, seed):
    """Eight animals, each with a leader of its own that is where the rule says."""
    rng, chances, found = np.random.default_rng(seed), passive_turns(), []
    for group in range(8):
        place, heading, bearing = np.zeros(2), 0.0, 20.0
        animal, leader = [], []
        for _ in range(steps):
            way = np.deg2rad(heading + bearing)
            animal.append(place)
            leader.append(place + 50 * np.array([np.cos(way), np.sin(way)]))
            place = place + 0.1 * np.array(
                [np.cos(np.deg2rad(heading)), np.sin(np.deg2rad(heading))]
            )
            ends = SPACE.axes[0].locate(wrapped(bearing - FINE))
            weight = chances * np.exp(-q[ends])
            turn = rng.choice(FINE, p=weight / weight.sum()) + rng.uniform(-0.5, 0.5)
            heading = wrapped(heading + turn)
            bearing = wrapped((1 - follows) * wrapped(bearing - turn) + noise * rng.normal())
        found.append(
            shoal.Tracks.from_arrays(
                np.stack([animal, leader], axis=1), individuals=["animal", "leader"],
                group=f"g{group}",
            ).with_landmarks("leader")
        )  # fmt: skip
    return shoal.Collection(found)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "follows"), [(15.0, 0.0), (25.0, 0.3)])
def test_state_costs_come_back_whatever_the_others_do(noise, follows):
    _, q = solved(led(noise, follows))
    read = shoal.decisions(tracks_of(q, noise, follows, 500, 1), SPACE, shoal.Turns())
    model = shoal.Model(SPACE, shoal.Turns(), shoal.Smooth(), state_costs=True)
    fit = model.fit(read, "laplace", draws=250, seed=1)
    known = read.departures >= 20
    found = fit.state_cost.values.reshape(-1, BINS)[:, known]
    apart = found - found.mean(axis=1, keepdims=True)
    truth = COSTS[known] - COSTS[known].mean()
    error, sd = apart.mean(axis=0) - truth, apart.std(axis=0)
    assert sd.max() < 0.25
    assert np.max(np.abs(error) / (3 * sd + 0.05)) < 1, (error, sd)
    # q alone is another thing: it spans what is yet to come
    assert np.ptp(q) > 1.2 * np.ptp(COSTS)


def test_what_others_do_is_read_off_the_tracks():
    noise, follows = 20.0, 0.3
    read = shoal.decisions(tracks_of(np.zeros(BINS), noise, follows, 500, 2), SPACE, shoal.Turns())
    first, second = following(read)
    assert np.all(read.records.frame[second] == read.records.frame[first] + 1)
    assert first.size == read.total - 8
    found, truth = surroundings(read).toarray(), led(noise, follows)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    # two hundred neighbours a row, some 20° around it: a total variation of a few per cent
    assert np.abs(found - truth).sum(axis=1).mean() / 2 < 0.15


def test_state_costs_are_stored_and_need_to_be_asked_for(tmp_path):
    read = shoal.decisions(tracks_of(np.zeros(BINS), 20.0, 0.0, 40, 3), SPACE, shoal.Turns())
    asked = shoal.Model(SPACE, shoal.Turns(), shoal.Smooth(), state_costs=True)
    fit = asked.fit(read, "laplace", draws=50, seed=1)
    back = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    np.testing.assert_array_equal(back.state_cost.values, fit.state_cost.values)
    assert back.model.state_costs
    plain = shoal.Model(SPACE, shoal.Turns(), shoal.Smooth()).fit(read, "map")
    with pytest.raises(shoal.InputError, match="state_costs=True"):
        _ = plain.state_cost
