"""Densities of turns and steps, beside SciPy's."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import special, stats

from shoal.moves.densities import FLOOR, log_step, log_turn, quantiles

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
    np.testing.assert_allclose(log_step("gamma", values, jnp.asarray(away)), gamma, rtol=1e-9)
    np.testing.assert_allclose(log_step("log-normal", values, jnp.asarray(away)), normal, rtol=1e-9)


def test_quantiles_are_those_of_the_tabulated_density():
    grid = np.linspace(-8, 8, 20001)
    shares = np.array([0.01, 0.3, 0.5, 0.9])
    found, logs = quantiles(stats.norm.logpdf(grid), grid, shares)
    np.testing.assert_allclose(found, stats.norm.ppf(shares), atol=1e-5)
    np.testing.assert_allclose(logs, stats.norm.logpdf(found), atol=1e-5)
