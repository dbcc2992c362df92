import numpy as np
import pytest
from scipy.stats import chi2

import shoal
from registries import PASSIVES, TORUS


def test_decisions_follow_the_policy():
    passive = PASSIVES["walk on a torus"]
    v = np.random.default_rng(0).uniform(0, 3, TORUS.shape)
    start = np.full(6000, 17)
    states = shoal.simulation.simulate_decisions(
        v, passive=passive, agents=6000, steps=1, seed=2, start=start, discount=0.9
    )
    row = shoal.lmdp.policy(v, passive, 0.9)[17]
    seen = np.bincount(states[:, 1], minlength=48)
    kept = row * 6000 >= 5
    statistic = ((seen - 6000 * row)[kept] ** 2 / (6000 * row[kept])).sum()
    assert statistic < chi2.ppf(1 - 1e-5, kept.sum())


def test_the_start_is_included_and_the_seed_decides():
    solution = shoal.solve(PASSIVES["walk on a circle"], np.arange(12.0))
    one = shoal.simulation.simulate_decisions(solution, agents=7, steps=9, seed=1)
    assert one.shape == (7, 10)
    assert np.array_equal(
        one, shoal.simulation.simulate_decisions(solution, agents=7, steps=9, seed=1)
    )
    assert not np.array_equal(
        one, shoal.simulation.simulate_decisions(solution, agents=7, steps=9, seed=2)
    )
    given = shoal.simulation.simulate_decisions(
        solution, agents=2, steps=3, seed=1, start=np.array([4, 5])
    )
    assert given[:, 0].tolist() == [4, 5]


def test_long_runs_visit_states_as_often_as_the_stationary_distribution_says():
    solution = shoal.solve(PASSIVES["walk on a circle"], np.linspace(0, 2, 12))
    states = shoal.simulation.simulate_decisions(solution, agents=400, steps=60, seed=3)[:, -1]
    mass = solution.stationary()
    expected = 400 * mass
    statistic = ((np.bincount(states, minlength=12) - expected) ** 2 / expected).sum()
    assert statistic < chi2.ppf(1 - 1e-5, 11)


def test_a_finite_horizon_has_its_own_policy_at_every_step():
    costs = np.array([[0.0, 0.0], [40.0, 0.0], [0.0, 40.0]])  # be in 1, then in 0
    solution = shoal.solve(np.full((2, 2), 0.5), costs, "finite")
    states = shoal.simulation.simulate_decisions(solution, agents=50, steps=2, seed=0)
    assert np.all(states[:, 1] == 1)
    assert np.all(states[:, 2] == 0)
    with pytest.raises(shoal.InputError, match="has 2 decisions, got steps=3"):
        shoal.simulation.simulate_decisions(solution, agents=1, steps=3, seed=0)


def test_nobody_leaves_an_absorbing_state():
    solution = shoal.solve(np.full((4, 4), 0.25), np.ones(4), "first-exit", absorbing=[1])
    states = shoal.simulation.simulate_decisions(solution, agents=200, steps=30, seed=0)
    for path in states:
        ends = np.flatnonzero(path == 1)
        assert ends.size == 0 or np.all(path[ends[0] :] == 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"agents": 0}, "at least 1 agent"),
        ({"start": np.array([0, 99])}, "between 0 and 11"),
        ({"start": np.array([0])}, "needs 2 states"),
        ({"start": np.array([0.0, 1.0])}, "whole numbers"),
        ({"seed": -1}, "a seed is a whole number, 0 or more; got -1"),
    ],
)
def test_bad_input_is_refused(options, words):
    solution = shoal.solve(PASSIVES["walk on a circle"], np.arange(12.0))
    with pytest.raises(shoal.InputError, match=words):
        shoal.simulation.simulate_decisions(
            solution, **{"agents": 2, "steps": 1, "seed": 0} | options
        )
    with pytest.raises(shoal.InputError, match="needs passive="):
        shoal.simulation.simulate_decisions(np.zeros(12), agents=1, steps=1, seed=0)
