"""The stand-in for the guppies: the design of the experiment, and a truth that is found again."""

import numpy as np
import pytest

import shoal
from shoal.measures import summaries
from shoal.paper.tank import LONGEST, SHORTEST


@pytest.fixture(scope="module")
def tank():
    return shoal.paper.simulate_tank(seed=1)


@pytest.mark.slow
def test_the_design_is_that_of_the_experiment(tank):
    groups = list(tank.tracks)
    sexes = [group.covariates["sex"] for group in groups]
    assert (sexes.count("female"), sexes.count("male")) == (12, 14)
    assert {len(group.members) for group in groups} == {10}
    assert {group.fps for group in groups} == {10.0}
    frames = [len(group.positions) for group in groups]
    assert min(frames) >= SHORTEST and max(frames) <= LONGEST
    assert len(set(frames)) > 10
    for group in groups:
        assert group.arena.holds(group.positions).all()
        away = np.hypot(*np.moveaxis(group.positions - np.asarray(tank.target), -1, 0))
        there = (away <= tank.settings.reach).any(axis=1)
        assert not there[:-1].any() and (there[-1] or len(group.positions) == LONGEST)
        assert (away[0] > 0.5).all()  # let go in the opposite corner


@pytest.mark.slow
def test_groups_move_like_the_one_that_can_be_seen(tank):
    """Figures of the digitised experiment, and by how much 26 groups may differ from one."""
    found = [summaries(group) for group in tank.tracks]
    mean = {name: np.mean([group[name] for group in found]) for name in found[0]}
    assert mean["polarisation"] == pytest.approx(0.792, abs=0.06)
    assert mean["speed"] == pytest.approx(0.066, abs=0.015)
    assert mean["group_speed"] == pytest.approx(0.067, abs=0.015)
    assert mean["turning_angle"] == pytest.approx(5.5, abs=1.0)
    straight = [group["straightness"] for group in found]
    assert min(straight) < 0.624 < max(straight)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the target")  # one group never came near it
def test_what_the_fish_want_is_found_again_from_their_places_alone(tank):
    bare = shoal.Collection(
        shoal.Tracks.from_arrays(t.positions, fps=t.fps, group=t.group) for t in tank.tracks
    )
    counts = shoal.count_transitions(bare, tank.space)
    fit = shoal.Model(tank.space, shoal.RandomWalk(90.0), shoal.Bisquare()).fit(
        counts, method="map"
    )
    mean, weight = fit.cost_to_go.values[0, 0], counts.arrivals
    centres = tank.space.axes[0].centres
    for axis, truth in ((0, 0.0), (1, tank.settings.side)):
        total = weight.sum(axis=1 - axis)
        marginal = (mean * weight).sum(axis=1 - axis) / np.maximum(total, 1)
        lowest = centres[np.where(total > 0, marginal, np.inf).argmin()]
        assert abs(lowest - truth) <= 20.0
        v = tank.solution.cost_to_go.mean(axis=1 - axis)
        assert centres[v.argmin()] == pytest.approx(truth, abs=1e-9)


def test_a_tank_is_the_same_for_a_seed_and_takes_other_designs():
    small = shoal.paper.TankSettings(females=1, males=1, animals=4)
    one, other = (shoal.paper.simulate_tank(seed=3, settings=small) for _ in range(2))
    assert one.tracks.groups == ("fm1", "ml1")
    for a, b in zip(one.tracks, other.tracks, strict=True):
        assert np.array_equal(a.positions, b.positions)
    with pytest.raises(shoal.InputError, match="at least one group"):
        shoal.paper.simulate_tank(seed=1, settings=shoal.paper.TankSettings(females=0, males=0))
    with pytest.raises(shoal.InputError, match="swim slower"):
        shoal.paper.simulate_tank(seed=1, settings=shoal.paper.TankSettings(1, 0, 4, speed=5.0))
