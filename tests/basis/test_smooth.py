"""Smooth costs: scales that mean what they say, kernels that are the ones named."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from registries import CUBE, FOLDED, MIXED, NUMBERED, TORUS
from shoal.basis import Smooth

LONG = shoal.StateSpace(shoal.states.Interval.regular("distance", 0.0, 10.0, 40, "cm"))
FINE = shoal.StateSpace(shoal.Circular("angle", bins=72))


def prior_covariance(basis, u):
    functions = np.asarray(basis.at(u).dense())
    return functions @ functions.T


@pytest.mark.parametrize("space", [TORUS, MIXED, CUBE, FOLDED, NUMBERED, LONG], ids=str)
@pytest.mark.parametrize("kernel", ["matern-3/2", "matern-5/2", "squared-exponential"])
def test_the_scale_of_an_effect_is_its_standard_deviation(space, kernel):
    basis = Smooth(kernel, order=3).scaled(space)
    u = jnp.asarray(np.random.default_rng(0).normal(size=len(basis.names)) * 0.5)
    scales = np.asarray(basis.values(u))[: len(basis.subsets)]
    assert np.diag(prior_covariance(basis, u)).mean() == pytest.approx((scales**2).sum())


@pytest.mark.parametrize("space", [TORUS, MIXED, CUBE, FOLDED, NUMBERED, LONG], ids=str)
def test_every_function_has_mean_zero_so_that_the_level_is_left_out(space):
    functions = np.asarray(Smooth(order=3).on(space).dense())
    assert np.allclose(functions.mean(axis=0), 0, atol=1e-12)


def test_interactions_have_no_main_effects():
    basis = Smooth(order=2).scaled(TORUS)
    functions = np.asarray(basis.map.dense()).reshape(*TORUS.shape, -1)
    together = np.asarray(basis.effect) == 2
    assert np.allclose(functions[..., together].mean(axis=0), 0, atol=1e-12)
    assert np.allclose(functions[..., together].mean(axis=1), 0, atol=1e-12)
    assert together.sum() == 16


def test_scales_have_an_exponential_prior():
    basis = Smooth(scale=2.0).scaled(TORUS)
    u = jnp.asarray(np.random.default_rng(1).normal(size=(4000, len(basis.names))))
    scales = np.asarray(jax.vmap(basis.values)(u))[:, 0]
    assert scales.mean() == pytest.approx(2.0, abs=4 * 2.0 / np.sqrt(4000))
    assert np.mean(scales > 2.0) == pytest.approx(np.exp(-1), abs=0.04)


def test_lengths_lie_within_a_factor_of_two():
    basis = Smooth(length=(40.0, 90.0)).scaled(TORUS)
    ahead = np.asarray(basis.values(jnp.ones(5)))
    assert ahead[3:] == pytest.approx([80.0, 180.0])


def test_round_a_circle_the_kernel_is_the_wrapped_one():
    basis = Smooth("matern-5/2", order=36, length=30.0).scaled(FINE)
    u = jnp.zeros(len(basis.names))
    scale = float(basis.values(u)[0])
    covariance = prior_covariance(basis, u)[36] / scale**2
    apart = np.abs(FINE.axes[0].centres)
    laps = np.abs(apart[:, None] + 360.0 * np.arange(-5, 6)) * np.sqrt(5) / 30.0
    matern = ((1 + laps + laps**2 / 3) * np.exp(-laps)).sum(axis=1)
    matern = (matern - matern.mean()) / (matern - matern.mean()).max()
    assert np.allclose(covariance, matern, atol=5e-3)


def test_along_an_interval_the_kernel_is_the_one_named_less_its_mean():
    basis = Smooth("squared-exponential", order=10, length=2.0).scaled(LONG)
    covariance = prior_covariance(basis, jnp.zeros(len(basis.names)))
    places = LONG.axes[0].centres
    kernel = np.exp(-0.5 * ((places[:, None] - places[None, :]) / 2.0) ** 2)
    less = np.eye(40) - 1 / 40
    expected = less @ kernel @ less
    covariance = covariance / np.diag(covariance).mean()
    assert np.allclose(covariance, expected / np.diag(expected).mean(), atol=0.06)


def test_longer_lengths_are_smoother():
    basis = Smooth(order=6).scaled(TORUS)
    short, long = jnp.zeros(5), jnp.zeros(5).at[3].set(2.0)
    waves = np.asarray(basis.effect) == 0
    first = np.asarray(basis.amplitude(short))[waves]
    second = np.asarray(basis.amplitude(long))[waves]
    assert second[-1] / second[0] < first[-1] / first[0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Smooth("cubic"), "a kernel is one of"),
        (lambda: Smooth(order=0), "the order of smooth costs"),
        (lambda: Smooth(interactions=0), "the interactions of smooth costs"),
        (lambda: Smooth(scale=-1.0), "positive numbers"),
        (lambda: Smooth(length=(10.0, 0.0)), "positive numbers"),
        (lambda: Smooth(length=(10.0, 20.0, 30.0)).on(TORUS), "3 lengths for 2 axes"),
        (
            lambda: Smooth().on(shoal.StateSpace(shoal.states.Interval("x", (0, 1)))),
            "2 bins or more",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()


def matern(apart, length):
    ratio = np.sqrt(5) * apart / length
    return (1 + ratio + ratio**2 / 3) * np.exp(-ratio)


def test_waves_follow_every_length_that_they_allow():
    """The correlation of neighbours is the wrapped kernel's, less its mean over the circle."""
    space = shoal.StateSpace(shoal.Circular("angle", bins=36))
    laps = 360.0 * np.arange(-3, 4)
    for order, lengths in ((None, (12.0, 15.0, 30.0)), (6, (26.0, 40.0))):
        for length in lengths:
            basis = Smooth(order=order, length=length).scaled(space)
            found = prior_covariance(basis, jnp.zeros(2))
            kernel = matern(np.abs(np.arange(36)[:, None] * 10.0 + laps), length).sum(axis=1)
            kernel = kernel - kernel.mean()
            assert found[0, 1] / found[0, 0] == pytest.approx(kernel[1] / kernel[0], abs=0.035)


def test_lengths_that_few_waves_cannot_follow_are_excluded():
    space = shoal.StateSpace(shoal.Circular("angle", bins=36))
    basis = Smooth(order=6).scaled(space)
    shortest = float(basis.values(jnp.array([0.0, -8.0]))[1])
    assert shortest == pytest.approx(float(basis.floors[0]), rel=0.01)
    assert 20.0 < shortest < 30.0
    assert [float(floor) for floor in Smooth().scaled(space).floors] == [0.0], "all bins can show"
    with pytest.raises(shoal.InputError, match=r"length of 15 °: the shortest .* is 23.8"):
        Smooth(order=6, length=15.0).scaled(space)
