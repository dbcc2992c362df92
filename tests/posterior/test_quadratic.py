"""The posterior of scales, lengths and passive moves for a quadratic log likelihood."""

import jax.numpy as jnp
import numpy as np

import shoal
from shoal.posterior.quadratic import Quadratic, heights_given, hyper_bend, log_given

SPACE = shoal.StateSpace(
    shoal.Circular("bearing", bins=10), shoal.states.Interval("distance", np.linspace(0, 1, 7))
)


def problem():
    basis = shoal.Smooth(order=3).scaled(SPACE)
    rng = np.random.default_rng(4)
    n, p = basis.size, 2
    spread = rng.normal(size=(n + p + 5, n + p))
    found = Quadratic(
        jnp.asarray(rng.normal(size=n)),
        jnp.asarray(rng.normal(size=p)),
        jnp.asarray(rng.normal(size=n + p)),
        jnp.asarray(spread.T @ spread / 10),
    )
    return basis, found, rng.normal(0, 0.5, len(basis.names) + p)


def plain_height(basis, found, hyper):
    """ξ integrated out by completing the square with a plain inverse and determinant."""
    k = len(basis.names)
    a = np.asarray(basis.amplitude(jnp.asarray(hyper[:k])))
    n, away = a.size, hyper[k:] - np.asarray(found.passive)
    bend, slope, costs = (np.asarray(x) for x in (found.bend, found.slope, found.costs))
    quadratic = np.diag(a) @ bend[:n, :n] @ np.diag(a) + np.eye(n)
    linear = a * (bend[:n, :n] @ costs + slope[:n] - bend[:n, n:] @ away)
    integral = 0.5 * linear @ np.linalg.inv(quadratic) @ linear
    integral -= 0.5 * np.linalg.slogdet(quadratic)[1]
    rest = slope[n:] @ away + costs @ bend[:n, n:] @ away - 0.5 * away @ bend[n:, n:] @ away
    prior = float(basis.log_prior(jnp.asarray(hyper[:k]))) - 0.5 * hyper[k:] @ hyper[k:]
    return integral + rest + prior


def test_the_height_is_the_integral_and_its_slope_the_difference_of_heights():
    basis, found, hyper = problem()
    climb = log_given(basis, found, hyper)
    np.testing.assert_allclose(climb.height, plain_height(basis, found, hyper), rtol=1e-10)
    for n in range(hyper.size):
        step = np.zeros(hyper.size)
        step[n] = 1e-5
        ends = [plain_height(basis, found, hyper + sign * step) for sign in (1, -1)]
        np.testing.assert_allclose(climb.slope[n], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-7)


def test_the_bend_is_the_second_difference_of_heights():
    basis, found, hyper = problem()
    bend = hyper_bend(basis, found, hyper)
    rng = np.random.default_rng(1)
    for way in rng.normal(size=(3, hyper.size)):
        ends = [plain_height(basis, found, hyper + s * 1e-3 * way) for s in (1, 0, -1)]
        second = (ends[0] - 2 * ends[1] + ends[2]) / 1e-6
        np.testing.assert_allclose(way @ bend @ way, -second, rtol=1e-3, atol=1e-3)


def test_heights_of_many_points_are_those_of_each():
    basis, found, hyper = problem()
    points = hyper + np.random.default_rng(2).normal(0, 0.5, (7, hyper.size))
    each = [log_given(basis, found, point).height for point in points]
    np.testing.assert_allclose(heights_given(basis, found, points), each, rtol=1e-10)


def test_scales_and_lengths_far_from_any_that_make_sense_have_a_height():
    """Squared-exponential costs over 360 lengths: amplitudes vanish, and their slopes with them."""
    basis = shoal.Smooth(kernel="squared-exponential").scaled(SPACE)
    n = basis.size
    none = Quadratic(np.zeros(n), np.zeros(0), np.ones(n), np.eye(n))
    for far in (-8.0, 8.0):
        climb = log_given(basis, none, np.full(len(basis.names), far))
        assert np.isfinite(climb.height) and np.all(np.isfinite(climb.slope))
