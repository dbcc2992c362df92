"""Animals that prefer nothing are found to prefer nothing, and learned steps keep their unit.

``bench/nulls.py`` does the same with ten times as many transitions, and prints what it finds.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

import shoal
from shoal.passive import as_operator
from walkers import (
    CIRCLE,
    EVEN,
    estimated_with_errors,
    judged,
    line,
    normal,
    nulls,
    turned,
    two_normals,
    walked,
)

NULLS = nulls()
SEEDS = range(20)
RARE = 1e-3
"""How improbable a χ² summed over all seeds may be; the smallest of 27 is below it 1 time in 38."""


def chance(case, space, passive):
    """Of so large a score at equal costs, over all seeds together."""
    matrix = np.asarray(as_operator(passive, space).dense())
    counts = [case.animals(seed, 2000) for seed in SEEDS]
    verdicts = [judged(matrix, each.arrivals, each.departures) for each in counts]
    square, freedom = (sum(getattr(v, part) for v in verdicts) for part in ("square", "freedom"))
    return chi2.sf(square, freedom)


@pytest.mark.parametrize("name", NULLS)
def test_animals_that_prefer_nothing_have_equal_costs(name):
    case = NULLS[name]
    assert chance(case, case.space, case.passive) > RARE


@pytest.mark.parametrize(
    "name",
    [
        "uniform, folded",
        "uniform, uneven interval",
        "uniform by area, distances",
        "walk of 8, two walls",
        "walk of 1, no wall, uneven",
        "two walks, two walls, uneven",
    ],
)
def test_counting_bins_alike_or_starting_at_centres_invents_preferences(name):
    """The form of earlier versions: that it is refused shows that the test above could."""
    case = NULLS[name]
    assert chance(case, *case.earlier()) < 1e-6


def right(specification, counts, truths):
    """Within 3 % or two standard errors."""
    found, errors, names = estimated_with_errors(specification, counts)
    for name, value, error, true in zip(names, found, errors, truths, strict=True):
        assert abs(value - true) <= max(0.03 * true, 2 * error), (
            f"{name}: {value:.3f} ± {error:.3f}"
        )


@pytest.mark.parametrize("space", [CIRCLE, line(EVEN)], ids=["circle", "walls"])
def test_the_sd_of_a_walk_is_learned_in_its_own_unit(space):
    walk = shoal.RandomWalk(shoal.passive.Unknown(10.0, 4.0))
    for sd in (1.0, 2.0, 3.0, 5.0, 10.0, 20.0):
        right(walk, walked(space, (normal(sd),), 1, 20_000), [sd])


def test_a_mixture_of_walks_is_learned_in_its_own_unit():
    for sd in (2.0, 5.0):
        counts = walked(CIRCLE, (two_normals(sd, 60.0, 0.15),), 3, 20_000)
        right(shoal.passive.WalkMixture(), counts, [sd, 60.0, 0.15])


def test_turns_noise_and_steps_are_learned_in_their_own_unit():
    space = shoal.StateSpace(
        shoal.Circular("a"), shoal.Circular("b"), *line((0.0, 10.0, 20.0)).axes
    )
    turns = shoal.TurnCoupled(tails=0.5, follow=1.0, effects=(-1, -1, 0))
    truth = replace(turns, spread=3.0, noise=4.0, step=2.0)
    right(turns, turned(space, truth, 5, 20_000), [3.0, 4.0, 4.0, 2.0])
