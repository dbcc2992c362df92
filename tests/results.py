"""One of every result: a new class is added here and inherits every law in test_results.py."""

from functools import cache

import numpy as np

import shoal
import shoal.basis
from shoal.paper.spp import simulate_spp
from shoal.paper.tank import TankSettings, simulate_tank
from shoal.posterior import Score
from shoal.selection import Comparison
from shoal.selection.verdict import Entry
from shoal.simulation import Vicsek

CIRCLE = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
BOTH = shoal.StateSpace(
    shoal.LocalMisalignment(bins=8), shoal.TargetMisalignment(target=(0.2, 0.8), bins=8)
)
PLAIN = shoal.StateSpace.discrete(3)


@cache
def herd():
    start = shoal.Release(6, place=(0, 0), spread=1.0)
    return shoal.simulate(Vicsek(noise=20), start=start, steps=150, speed=0.1, fps=10.0, seed=1)


@cache
def tank():
    return simulate_tank(seed=1, settings=TankSettings(females=2, males=1, animals=5))


@cache
def counts():
    return shoal.count_transitions(herd(), CIRCLE)


@cache
def chosen():
    return shoal.decisions(herd(), CIRCLE, shoal.Turns())


@cache
def fitted():
    model = shoal.Model(CIRCLE, shoal.RandomWalk(60.0))
    return model.fit(counts(), method="laplace", draws=100, seed=1)


@cache
def decided():
    model = shoal.Model(CIRCLE, shoal.Turns(), shoal.Smooth())
    return model.fit(chosen(), method="laplace", draws=100, seed=1)


@cache
def mapped():
    return shoal.Model(BOTH, shoal.RandomWalk(60.0)).fit(
        shoal.count_transitions(tank().tracks, BOTH), method="laplace", draws=100, seed=1
    )


@cache
def sampled():
    plain = shoal.count_transitions([[0, 1, 1, 2, 1, 1, 0, 1] * 10], PLAIN)
    return shoal.Model(PLAIN, shoal.Uniform()).fit(plain, method="nuts", draws=100, seed=1)


@cache
def passive_only():
    model = shoal.Model(CIRCLE, shoal.TurnCoupled(), shoal.basis.Flat())
    return model.fit(counts(), method="laplace", draws=100, seed=1)


def flock():
    cost = 1 - np.cos(np.deg2rad(CIRCLE.axes[0].centres))
    truth = shoal.solve(shoal.RandomWalk(60.0).on(CIRCLE), cost)
    return simulate_spp(truth, agents=20, steps=20, seed=1)


def calibration():
    model = shoal.Model(PLAIN, np.full((3, 3), 1 / 3), prior=shoal.Prior(shape=5, rate=5))
    return shoal.calibrate(model, method="laplace", replicates=20, seed=1)


def compared(unit):
    """Three models by hand: passive moves, and two with costs, one of them not to be trusted."""
    rng, each = np.random.default_rng(1), np.full(20, 30.0)
    entries = []
    for name, costs, mean in (("walk", False, -2.0), ("costs", True, -1.6), ("map", True, -1.61)):
        logs = rng.normal(mean, 0.5, (20, 30))
        score = Score(logs.sum(axis=1), each)
        converged = name != "map"
        entries.append(Entry(name, costs, "walk", score, logs.ravel(), mean, converged, unknowns=3))
    return Comparison(tuple(entries), np.ones(600), "one half", unit)


def solution(horizon, **options):
    walk = np.array([[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.5, 0.5]])
    return shoal.solve(walk, np.array([0.0, 1.0, 2.0]), horizon, **options)


RESULTS = {
    "tracks": herd,
    "several groups": lambda: tank().tracks,
    "transitions on a circle": counts,
    "transitions on two axes": lambda: shoal.count_transitions(tank().tracks, BOTH),
    "transitions between numbers": lambda: shoal.count_transitions([[0, 1, 2, 1]], PLAIN),
    "decisions": chosen,
    "decisions by steps": lambda: shoal.decisions(tank().tracks, CIRCLE, shoal.Steps()),
    "fit": fitted,
    "fit on two axes": mapped,
    "fit by nuts": sampled,
    "fit without costs": passive_only,
    "fit to decisions": decided,
    "score": lambda: fitted().score(counts()),
    "score of plain sequences": lambda: sampled().score(
        shoal.count_transitions([[0, 1, 1, 2] * 30], PLAIN)
    ),
    "score of decisions": lambda: decided().score(chosen()),
    "leave-one-out score": lambda: fitted().loo(),
    "effects": lambda: mapped().effects(),
    "diagnostics": lambda: fitted().diagnostics(),
    "diagnostics of chains": lambda: sampled().diagnostics(),
    "diagnostics of decisions": lambda: decided().diagnostics(),
    "comparison": lambda: compared("transition"),
    "comparison of decisions": lambda: compared("decision"),
    "calibration": calibration,
    "predictive check": lambda: shoal.predictive_check(fitted(), herd(), replicates=40, seed=1),
    "average cost": lambda: solution("average"),
    "finite horizon": lambda: solution("finite", steps=4),
    "flock": flock,
    "tank": tank,
}
"""How to make one of each. Nothing is made twice in one process."""

RESULTS = {name: cache(make) for name, make in RESULTS.items()}
