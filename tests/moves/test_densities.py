"""Densities of turns and steps, beside SciPy's."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from shoal.moves.densities import (
    FLOOR,
    ODD,
    after_step,
    expected_log_step,
    level_of,
    log_step,
    log_turn,
    quantiles,
)

DEGREES = np.linspace(-179.5, 179.5, 360)


def density(kind, values):
    mixed = np.exp(np.asarray(log_turn(kind, values, jnp.asarray(DEGREES))))
    return (mixed - FLOOR / 360.0) / (1 - FLOOR)


@pytest.mark.parametrize("spread", [0.7, 5.0, 60.0])
def test_a_cauchy_turn_is_scipys_wrapped_cauchy(spread):
    radians = np.mod(np.deg2rad(DEGREES), 2 * np.pi)
    known = stats.wrapcauchy(np.exp(-np.deg2rad(spread))).pdf(radians) * np.pi / 180
    np.testing.assert_allclose(density("cauchy", {"spread": spread}), known, rtol=1e-9)


@pytest.mark.parametrize("spread", [3.0, 40.0, 150.0])
def test_a_von_mises_turn_is_scipys(spread):
    known = stats.vonmises(np.deg2rad(spread) ** -2.0).pdf(np.deg2rad(DEGREES)) * np.pi / 180
    np.testing.assert_allclose(
        density("von-mises", {"spread": spread}), known, rtol=1e-7, atol=1e-14
    )


def test_normal_turns_wrap_round_the_circle():
    values = {"spread": 8.0, "wide": 70.0, "share": 0.3}
    known = sum(
        0.7 * stats.norm(360 * lap, 8.0).pdf(DEGREES)
        + 0.3 * stats.norm(360 * lap, 70.0).pdf(DEGREES)
        for lap in range(-4, 5)
    )
    np.testing.assert_allclose(density("normals", values), known, rtol=1e-6, atol=1e-14)


def test_several_turns_are_equally_likely():
    known = (stats.norm(-45, 6).pdf(DEGREES) + stats.norm(30, 6).pdf(DEGREES)) / 2
    np.testing.assert_allclose(
        density((-45.0, 30.0), {"spread": 6.0}), known, rtol=1e-6, atol=1e-14
    )


@pytest.mark.parametrize("variation", [0.2, 0.5, 1.3])
def test_log_steps_have_the_density_of_gamma_and_log_normal_steps(variation):
    away = np.linspace(-2, 1.5, 30)
    step, shape = np.exp(away), variation**-2.0
    scale = np.exp(-special.digamma(shape))  # the mean of the logarithm is 0
    gamma = stats.gamma(shape, scale=scale).logpdf(step) + away
    normal = np.log(stats.lognorm(variation).pdf(step) * step)
    values = {"variation": variation}
    for kind, known in (("gamma", gamma), ("log-normal", normal)):
        found = log_step(kind, values, jnp.asarray(away), plain=False)
        np.testing.assert_allclose(found, known, rtol=1e-9)


@pytest.mark.parametrize("variation", [0.2, 0.5, 1.3])
def test_plain_steps_are_gamma_steps_of_that_mean_and_odd_ones_are_log_cauchy(variation):
    away, shape = np.linspace(-6, 3.0, 40), variation**-2.0
    step, values = np.exp(away), {"variation": variation}
    gamma = stats.gamma(shape, scale=1 / shape).pdf(step) * step
    normal = stats.norm(0, variation).pdf(away)
    for kind, known in (("gamma", gamma), ("log-normal", normal)):
        mixed = (1 - ODD) * known + ODD * stats.cauchy.pdf(away)
        found = log_step(kind, values, jnp.asarray(away), plain=True)
        np.testing.assert_allclose(found, np.log(mixed), rtol=1e-9)
        found = log_step(kind, values, jnp.asarray(away[20:]), plain=True, odd=0.0)
        np.testing.assert_allclose(np.exp(found), known[20:], rtol=1e-9, atol=1e-300)


def test_after_long_steps_turns_are_narrower_and_steps_more_even():
    values = {"spread": 10.0, "wide": 50.0, "variation": 0.4, "evenness": 0.8, "straightness": 0.5}
    level = level_of(np.log([0.01, 0.5, 1.0, 1.3, 4.0, 1000.0]), np)
    np.testing.assert_array_equal(level, [-5, -1, 0, 1, 3, 5])
    found = after_step(values, level, np)
    step = np.exp(0.5 * level)
    np.testing.assert_allclose(found["spread"], 10.0 * step**-0.5)
    np.testing.assert_allclose(found["wide"], 50.0 * step**-0.5)
    np.testing.assert_allclose(found["variation"] ** 2, 0.4**2 * step**-0.8)
    assert after_step(values, 0, np) == values


def test_a_step_is_expected_between_a_typical_one_and_the_one_before():
    before = np.log([0.5, 1.0, 8.0])
    plain = expected_log_step(np.log(2.0), 0.75, before, plain=True, xp=np)
    np.testing.assert_allclose(np.exp(plain), 0.25 * 2.0 + 0.75 * np.exp(before))
    logs = expected_log_step(np.log(2.0), 0.75, before, plain=False, xp=np)
    np.testing.assert_allclose(logs, 0.25 * np.log(2.0) + 0.75 * before)


def test_quantiles_are_those_of_the_tabulated_density():
    grid = np.linspace(-8, 8, 20001)
    shares = np.array([0.01, 0.3, 0.5, 0.9])
    found, logs = quantiles(stats.norm.logpdf(grid), grid, shares)
    np.testing.assert_allclose(found, stats.norm.ppf(shares), atol=1e-5)
    np.testing.assert_allclose(logs, stats.norm.logpdf(found), atol=1e-5)
