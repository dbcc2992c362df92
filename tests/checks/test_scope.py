"""How much of large groups a predictive check repeats by default, and that it says so."""

import numpy as np
import pytest

import shoal
from shoal.checks.scope import (
    FEWEST,
    FEWEST_STEPS,
    REPLICATES,
    WORK,
    affordable,
    cost_of,
    scope,
    walls_in_words,
)
from shoal.measures.shape import CROWD, nearest_distance
from shoal.simulation.designs import Scenario
from shoal.simulation.release import Window


def window(animals, steps):
    return Window((np.zeros((animals, 2)), np.zeros(animals)), 0, steps + 1)


def test_small_groups_are_repeated_whole_and_what_was_asked_for_is_done():
    given = Scenario()
    assert affordable([window(6, 300)], given, None) == (REPLICATES, given)
    assert affordable([window(256, 300)], given, 500) == (500, given)


@pytest.mark.parametrize("groups", [[(256, 300)], [(40, 5000), (10, 80)], [(20, 900)] * 3])
def test_the_work_of_large_groups_is_bounded(groups):
    windows = [window(*group) for group in groups]
    replicates, given = affordable(windows, Scenario(), None)
    assert FEWEST <= replicates < REPLICATES
    done = replicates * sum(cost_of(w) * w.at_most(given.most).steps for w in windows)
    assert 0.9 * WORK < done <= WORK


def test_the_largest_groups_are_compared_for_a_hundred_frames_all_the_same():
    assert affordable([window(5000, 300)], Scenario(), None)[1].most == FEWEST_STEPS


def test_what_was_sampled_is_said():
    tracks = shoal.Tracks.from_arrays(np.zeros((301, 256, 2)))
    (first, second) = scope([tracks], [window(256, 150)], 40, [False])
    assert "256 of 256 animals in frames 1 to 151 of 301" in first and "40 replicates" in second
    assert scope([tracks], [window(256, 300)], 0, [False]) == ()


def test_walls_that_nobody_gave_are_said():
    free = shoal.Tracks.from_arrays(np.zeros((3, 2, 2)))
    walled = free.with_arena(shoal.tracks.Rectangle(0, 0, 1, 1))
    assert walls_in_words([free, walled], [False, False]) == ()
    (words,) = walls_in_words([walled], [True])
    assert "stay within the rectangle" in words and "--arena none" in words
    (words,) = walls_in_words([free], [True])
    assert "may go anywhere" in words
    assert len(walls_in_words([free, walled], [True, True])) == 2


@pytest.mark.parametrize("arena", [None, shoal.tracks.Periodic(-1, 2, 9, 7)])
def test_nearest_neighbours_in_a_crowd_are_those_of_all_pairs(arena):
    rng = np.random.default_rng(1)
    places = rng.uniform((-1, 2), (9, 7), (3, CROWD + 20, 2))
    places[0, 5:30] = np.nan
    places[2, 1:] = np.nan
    found = nearest_distance(places, arena)
    for n in (0, 1):
        seen = places[n][np.isfinite(places[n, :, 0])]
        gap = seen[:, None] - seen[None]
        gap = gap if arena is None else arena.shortest(gap)
        away = np.hypot(gap[..., 0], gap[..., 1]) + np.diag(np.full(len(seen), np.inf))
        assert found[n] == pytest.approx(away.min(axis=1).mean(), rel=1e-12)
    assert np.isnan(found[2])
