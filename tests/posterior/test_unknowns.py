"""Draws of scales, lengths and passive moves from a density in closed form."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import multivariate_t, skewnorm

from shoal.posterior.importance import resampled
from shoal.posterior.unknowns import SplitStudent, tempered, weighted_unknowns

QUIET = lambda *words: None  # noqa: E731


def split(seed=1, size=3):
    rng = np.random.default_rng(seed)
    factor = np.tril(rng.normal(size=(size, size))) + 2 * np.eye(size)
    return SplitStudent(
        rng.normal(size=size), factor, rng.uniform(0.5, 2, size), rng.uniform(0.5, 2, size)
    )


def test_without_skew_it_is_scipys_student_t():
    skewed = split()
    plain = SplitStudent.around(skewed.centre, skewed.factor)
    points = plain.draw(50, np.random.default_rng(2))
    shape = skewed.factor @ skewed.factor.T
    np.testing.assert_allclose(
        plain.log_density(points), multivariate_t(plain.centre, shape, df=7).logpdf(points)
    )


def test_a_skewed_density_has_mass_one():
    one = split(size=1)
    mass, _ = quad(lambda x: np.exp(one.log_density(np.array([[x]]))[0]), -200, 200, limit=500)
    assert abs(mass - 1) < 1e-5


def test_draws_have_the_density_that_is_said():
    """The mean of p/q over draws of q is 1 where p is another density, within its error."""
    skewed = split()
    other = skewed._replace(left=np.full(3, 0.8), right=np.full(3, 0.8))
    points = skewed.draw(40_000, np.random.default_rng(3))
    ratio = np.exp(other.log_density(points) - skewed.log_density(points))
    assert abs(ratio.mean() - 1) < 4 * ratio.std() / np.sqrt(ratio.size)


def test_weighted_points_have_the_moments_of_a_skewed_target():
    """Twelve unknowns, each skewed, none at 0: the mean and sd of each, from weighted points."""
    shapes = np.linspace(-6, 6, 12)
    targets = [skewnorm(a) for a in shapes]

    def heights(points):
        return sum(t.logpdf(points[:, n]) for n, t in enumerate(targets))

    start = SplitStudent.around(np.full(12, 0.3), np.eye(12))
    points, logs, weighing = weighted_unknowns(
        start, heights, 2000, np.random.default_rng(4), QUIET
    )
    assert weighing.effective >= 2000
    assert weighing.pareto_k < 0.5
    np.testing.assert_allclose(logs, heights(points))
    mean = weighing.weights @ points
    sd = np.sqrt(weighing.weights @ (points - mean) ** 2)
    right, wide = (
        np.array([f(t) for t in targets]) for f in (lambda t: t.mean(), lambda t: t.std())
    )
    error = 4.5 * wide / np.sqrt(weighing.effective)
    assert np.all(np.abs(mean - right) < error)
    assert np.all(np.abs(sd - wide) < error)


def test_a_start_far_away_is_left_behind():
    def heights(points):
        return -0.5 * np.sum(((points - 4.0) / 0.5) ** 2, axis=1)

    start = SplitStudent.around(np.zeros(4), np.eye(4))
    points, _, weighing = weighted_unknowns(start, heights, 1000, np.random.default_rng(5), QUIET)
    assert weighing.effective >= 1000
    assert np.all(np.abs(weighing.weights @ points - 4.0) < 0.1)


def test_what_cannot_be_drawn_is_said_to_be_worth_little():
    """Two peaks, one of them never seen: nobody can know; one that no t follows is told."""

    def heights(points):
        return -50.0 * np.abs(np.sum(points**2, axis=1) - 9.0)

    start = SplitStudent.around(np.zeros(10), np.eye(10))
    _, _, weighing = weighted_unknowns(start, heights, 5000, np.random.default_rng(6), QUIET)
    assert weighing.effective < 5000


def test_few_weights_are_softened_until_enough_points_count():
    weights = np.exp(-np.arange(1000.0))
    soft = tempered(weights / weights.sum())
    assert 1 / np.sum(soft**2) >= 100
    even = np.full(500, 1 / 500)
    np.testing.assert_array_equal(tempered(even), even)


def test_resampling_keeps_every_draw_as_often_as_its_weight():
    weights = np.array([0.5, 0.3, 0.15, 0.05])
    kept = resampled(weights, 1000, np.random.default_rng(1))
    assert np.all(np.abs(np.bincount(kept, minlength=4) - 1000 * weights) <= 1)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_same_seed_gives_the_same_points(seed):
    def heights(points):
        return -0.5 * np.sum(points**2, axis=1)

    start = SplitStudent.around(np.zeros(2), np.eye(2))
    one, two = (
        weighted_unknowns(start, heights, 300, np.random.default_rng(seed), QUIET)[0]
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)
