"""A typical step of each animal's own."""

import numpy as np
import pytest

import shoal
from shoal.moves.sampling import ALIKE
from shoal.posterior.specification import described, restored
from shoal.simulation.speeds import Constant, Gamma, Observed, Wandering

SPACE = shoal.StateSpace(shoal.Bearing(bins=8))


def walkers(paces, follow=0.3, frames=400, seed=0, group="a"):
    """Animals of these typical steps, whose log steps follow the step before; no preferences."""
    rng = np.random.default_rng(seed)
    animals = len(paces)
    away = np.zeros((frames, animals))
    for frame in range(1, frames):
        away[frame] = follow * away[frame - 1] + rng.normal(0, 0.3, animals)
    angle = np.cumsum(rng.normal(0, 0.4, (frames, animals)), axis=0)
    step = (np.asarray(paces) * np.exp(away))[..., None]
    moved = step * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    places = rng.normal(0, 5, (animals, 2)) + np.cumsum(moved, axis=0)
    names = [f"{group}{n}" for n in range(animals)]
    return shoal.Tracks.from_arrays(places, individuals=names, group=group, fps=1.0)


DIFFERENT = [walkers([1.0, 4.0], group="a"), walkers([0.5, 9.0], frames=60, seed=1, group="b")]


def test_a_pace_is_the_geometric_mean_of_an_animals_steps_pulled_to_that_of_all():
    found = shoal.decisions(DIFFERENT, SPACE, shoal.Steps())
    owner = list(zip(found.records.group, found.records.individual, strict=True))
    everybody = {one: np.log(found.step[[other == one for other in owner]]) for one in set(owner)}
    mean = np.log(found.step).mean()
    within = np.sum([np.sum((logs - logs.mean()) ** 2) for logs in everybody.values()])
    within *= ALIKE / (found.total - len(everybody))
    between = np.mean(
        [(logs.mean() - mean) ** 2 - within / logs.size for logs in everybody.values()]
    )
    for one, logs in everybody.items():
        expected = mean + (logs.mean() - mean) * between / (between + within / logs.size)
        own = np.array([other == one for other in owner])
        np.testing.assert_allclose(np.log(found.pace[own]), expected, atol=1e-6)
    assert len(np.unique(found.pace)) == 4


def test_animals_that_are_alike_have_nearly_the_same_pace():
    found = shoal.decisions([walkers([1.0] * 6, frames=40, seed=3)], SPACE, shoal.Steps())
    assert np.ptp(np.log(found.pace)) < 0.1


@pytest.mark.parametrize(("pace", "lowest", "highest"), [(True, 0.2, 0.42), (False, 0.85, 1.0)])
def test_what_is_kept_of_a_longer_step_is_an_animals_own_and_not_its_pace(pace, lowest, highest):
    found = shoal.decisions(DIFFERENT, SPACE, shoal.Steps(pace=pace))
    assert lowest < found.moves.follow < highest  # the truth: 0.3


@pytest.mark.slow
def test_animals_twice_as_large_are_scored_the_same():
    gains = []
    for factor in (1.0, 2.0):
        tracks = [
            shoal.Tracks.from_arrays(
                factor * seen.positions, individuals=seen.individuals, group=seen.group, fps=1.0
            )
            for seen in DIFFERENT
        ]
        found = shoal.decisions(tracks, SPACE, shoal.Steps())
        fit = shoal.Model(SPACE, shoal.Steps()).fit(found, "map", progress=False)
        gains.append((fit.score(found).bits, fit.score(found).gain[0]))
    np.testing.assert_allclose(gains[0], gains[1], atol=1e-3)


@pytest.fixture(scope="module")
def own():
    """Decisions of animals that differ in pace, and a fit of them."""
    found = shoal.decisions(DIFFERENT, SPACE, shoal.Steps())
    return found, shoal.Model(SPACE, shoal.Steps()).fit(found, "map", progress=False)


def test_simulated_animals_have_the_paces_of_those_they_start_from(own):
    _, fit = own
    herd = shoal.simulate(fit, start=DIFFERENT[0], steps=300, seed=1, progress=False)
    moved = np.diff(herd.positions, axis=0)
    means = np.exp(np.log(np.hypot(moved[..., 0], moved[..., 1])).mean(axis=0))
    np.testing.assert_allclose(means, [1.0, 4.0], rtol=0.2)


def test_a_fit_refuses_decisions_read_with_another_pace(own):
    found, fit = own
    same = shoal.decisions(DIFFERENT, SPACE, shoal.Steps(pace=False))
    with pytest.raises(shoal.InputError, match="pace=True"):
        fit.score(same)
    with pytest.raises(shoal.InputError, match="pace"):
        shoal.Model(SPACE, shoal.Steps(pace=False)).fit(found, "map", progress=False)


def test_files_from_before_mean_one_pace_for_all():
    told = described(shoal.Steps())
    assert restored(told) == shoal.Steps()
    del told["pace"]
    assert restored(told) == shoal.Steps(pace=False)


def test_the_typical_length_of_speeds_is_the_geometric_mean_of_what_they_draw():
    own = np.random.default_rng(0).lognormal(0.3, 0.5, 4000)
    resting = Observed((np.where(own < 0.6, 0.01, own), np.zeros(50)), rest=0.01)
    for speeds in (Constant(2.0), Gamma(3.0, 0.5, 0.0), Wandering(1.5, 0.4, 0.8), resting):
        drawn = speeds.drawn(np.random.default_rng(1), 20_000, 2)[:, 0]
        expected = np.exp(np.log(drawn[drawn > 0.01]).mean())
        np.testing.assert_allclose(speeds.typical(2)[0], expected, rtol=0.03)
    assert resting.typical(2)[1] == resting.typical(2)[0]  # an animal that never moved
