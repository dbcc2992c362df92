"""Kernels of steps against a walker in the continuum: quadrature over where in its bin it starts.

The oracle follows a walker from many places of a bin and adds up all images of every bin. It
knows neither the closed form nor the waves that wide steps are made of.
"""

from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtr

import shoal
from shoal.passive.steps import heavy_steps, normal_steps

EVEN = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
UNEVEN = (0.5, 1.0, 2.0, 4.0, 4.2, 7.0)
WALLS = ("both", "low", "high", "none")
LINES = [
    shoal.states.Interval("d", edges, walls=walls) for edges in (EVEN, UNEVEN) for walls in WALLS
] + [
    shoal.states.Interval("d", edges, beyond=True, walls=walls)
    for edges in (EVEN, UNEVEN)
    for walls in ("low", "none")
]
ANGLES = [kind("a", bins) for kind in (shoal.Circular, shoal.states.Folded) for bins in (12, 7)]


def normal(sd):
    """The chance of a normal step to somewhere between."""
    return lambda low, high: np.where(
        low > 0, ndtr(-low / sd) - ndtr(-high / sd), ndtr(high / sd) - ndtr(low / sd)
    )


def cauchy(width):
    """The same of a Cauchy step."""
    return lambda low, high: (np.arctan(high / width) - np.arctan(low / width)) / np.pi


def where_from(low, high, start):
    """Places in a bin with their weights, many of them near its ends; or its centre."""
    if start == "centre":
        return np.array([(low + high) / 2]), np.ones(1)
    nodes, weights = np.polynomial.legendre.leggauss(24)
    cuts = low + (high - low) * np.array([0, 1e-3, 0.02, 0.1, 0.5, 0.9, 0.98, 0.999, 1])
    half = np.diff(cuts)[:, None] / 2
    places = (cuts[:-1, None] + half + half * nodes).ravel()
    return places, (half * weights).ravel() / (high - low)


def landed(origin, ends, chance, start="anywhere", laps=0, period=0.0, mirrors=()):
    """From one bin into each: the mean, over places in it, of what lands in any image of a bin."""
    places, weights = where_from(*origin, start)
    found = np.zeros(len(ends) - 1)
    images = [ends, *((mirror - ends)[::-1] for mirror in mirrors)]
    for number, image in enumerate(images):
        for lap in range(-laps, laps + 1):
            gap = image + lap * period - places[:, None]
            into = weights @ chance(gap[:, :-1], gap[:, 1:])
            found += into[::-1] if number else into
    return found


def on_a_line(axis, chance, start="anywhere", laps=20):
    """Every row; steps between two walls that go farther than is followed lead anywhere."""
    edges = np.array(axis.edges)
    ends = np.append(edges[:-1], np.inf) if axis.beyond else edges
    low, high = [2 * edges[0]], [2 * edges[-1]]
    mirrors = {"both": low, "low": low, "high": high, "none": []}[axis.walls]
    period, laps = 2 * (edges[-1] - edges[0]), laps if axis.walls == "both" else 0
    rows = []
    for origin in pairwise(edges):
        row = landed(origin, ends, chance, start, laps, period, mirrors)
        if axis.walls == "both":
            row = row + (1 - row.sum()) * axis.widths / axis.widths.sum()
        rows.append(row / row.sum())
    return np.array(rows)


@pytest.mark.parametrize("start", ["anywhere", "centre"])
@pytest.mark.parametrize("axis", LINES, ids=str)
def test_normal_steps_between_ends_are_those_of_a_walker(axis, start):
    for sd in (0.05, 0.7, 1.2, 1.3, 9.0):
        kernel = normal_steps(axis, sd, start)
        np.testing.assert_allclose(
            kernel, on_a_line(axis, normal(sd), start), rtol=1e-9, atol=1e-14
        )


@pytest.mark.parametrize("start", ["anywhere", "centre"])
@pytest.mark.parametrize("axis", ANGLES, ids=str)
def test_normal_steps_of_angles_are_those_of_a_walker(axis, start):
    circle = axis if isinstance(axis, shoal.Circular) else axis.circle
    edges = np.append(circle.centres - circle.step / 2, circle.centres[-1] + circle.step / 2)
    for sd in (2.0, 20.0, 44.9, 45.1, 90.0, 400.0):
        row = landed(edges[:2], edges, normal(sd), start, laps=12, period=360.0)
        whole = np.stack([np.roll(row, n) for n in range(circle.bins)])
        if isinstance(axis, shoal.states.Folded):
            into = np.isclose(np.abs(circle.centres)[:, None], axis.centres)
            whole = (whole @ into)[np.argmax(into, axis=0)]
        np.testing.assert_allclose(normal_steps(axis, sd, start), whole, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("axis", LINES, ids=str)
def test_heavy_steps_between_ends_are_those_of_a_walker(axis):
    for width in (0.02, 0.3, 3.0):
        kernel = np.asarray(heavy_steps(axis, width))
        expected = on_a_line(axis, cauchy(width), laps=40)
        np.testing.assert_allclose(kernel, expected, rtol=2e-5, atol=2e-10)


@pytest.mark.parametrize("walls", WALLS)
def test_steps_that_are_very_wide_go_anywhere(walls):
    axis = shoal.states.Interval("d", UNEVEN, walls=walls)
    shares = axis.widths / axis.widths.sum()
    for kernel in (normal_steps(axis, 1e9), heavy_steps(axis, 1e9), normal_steps(axis, 1e100)):
        np.testing.assert_allclose(kernel, np.tile(shares, (5, 1)), rtol=1e-8)


@pytest.mark.parametrize("steps", [normal_steps, heavy_steps])
def test_between_walls_as_many_go_as_come(steps):
    """Detailed balance with the bins' widths: a walker that wants nothing is everywhere alike."""
    axis = shoal.states.Interval("d", UNEVEN)
    for width in (0.1, 1.0, 5.0, 30.0):
        flow = axis.widths[:, None] * np.asarray(steps(axis, width))
        np.testing.assert_allclose(flow, flow.T, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("axis", [*LINES[::3], *ANGLES[::2]], ids=str)
def test_known_and_learned_steps_are_one_kernel(axis):
    far = 40.0 if axis.unit == "°" else 1.5
    for width in (far / 10, far, 10 * far):
        known = normal_steps(axis, width)
        learned = normal_steps(axis, jnp.asarray(width))
        np.testing.assert_allclose(known, learned, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("axis", [LINES[0], LINES[-1], ANGLES[0]], ids=str)
def test_steps_have_a_slope_at_every_width(axis):
    one = jax.jit(lambda sd: normal_steps(axis, sd))
    slope = jax.jit(jax.jacfwd(lambda sd: normal_steps(axis, sd)))
    for sd in (0.01, 1.0, 100.0, 1e6):
        found = np.asarray(slope(jnp.asarray(sd)))
        step = 1e-5 * sd
        expected = (np.asarray(one(sd + step)) - np.asarray(one(sd - step))) / (2 * step)
        np.testing.assert_allclose(found * sd, expected * sd, atol=1e-8)


def test_a_start_is_one_of_two_words():
    for make in (shoal.RandomWalk, shoal.passive.WalkMixture):
        with pytest.raises(shoal.InputError, match=r"'anywhere' or 'centre'.*'middle'"):
            make(start="middle")
