"""Numbers that are not known: priors, coordinates, and kernels that JAX can trace."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from registries import BEYOND, CIRCLE, FOLDED, MIXED, NUMBERED, SEEN, TORUS
from shoal.passive import as_family
from shoal.passive.unknown import SHARE, parameter

positive = st.floats(0.01, 1e4)


@given(positive, st.floats(1.1, 10.0), st.floats(-6, 6))
def test_values_and_coordinates_are_inverses(median, factor, u):
    part = parameter("width", "width", shoal.passive.Unknown(median, factor))
    assert float(part.coordinate(float(part.value(jnp.asarray(u))))) == pytest.approx(u, abs=1e-6)


@given(st.floats(0.01, 0.99), st.floats(1.1, 10.0), st.floats(-4, 4))
def test_shares_and_coordinates_are_inverses(median, factor, u):
    part = parameter("share", "share", shoal.passive.Unknown(median, factor), SHARE)
    value = float(part.value(jnp.asarray(u)))
    assert 0 < value < 1
    assert float(part.coordinate(value)) == pytest.approx(u, abs=1e-6)


def test_two_in_three_lie_within_the_factor():
    part = parameter("width", "width", shoal.passive.Unknown(10.0, 3.0))
    assert float(part.value(jnp.asarray(1.0))) == pytest.approx(30.0)
    assert float(part.value(jnp.asarray(0.0))) == pytest.approx(10.0)


@pytest.mark.parametrize("space", [CIRCLE, TORUS, MIXED, FOLDED, BEYOND], ids=str)
def test_a_learned_walk_is_the_walk_of_its_sds(space):
    sds = tuple(35.0 if axis.unit == "°" else 1.2 for axis in space.axes)
    unknown = shoal.RandomWalk(tuple(shoal.passive.Unknown(sd) for sd in sds))
    family = as_family(unknown, space)
    learned = jax.jit(lambda u: family.at(u).dense())(jnp.zeros(len(sds)))
    known = eqx.filter_jit(shoal.RandomWalk(sds).on(space).dense)()
    assert np.allclose(learned, known, atol=1e-9)


@pytest.mark.parametrize("spec", [shoal.TurnCoupled(), shoal.passive.WalkMixture()])
def test_every_width_has_a_slope_also_where_the_last_bin_has_no_end(spec):
    axis = shoal.Distance((0.0, 1.0, 2.0, 4.0), beyond=True)
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=6), axis)
    states = np.random.default_rng(1).integers(0, space.size, 200)
    counts = shoal.count_transitions([states], space)
    family = as_family(spec, space)
    digest = family.at(jnp.zeros(family.count)).digest(counts)

    @jax.jit
    def height(u):
        return family.at(u).log_weight(digest)

    at = jnp.full(family.count, 0.3)
    slope = jax.jit(jax.grad(height))(at)
    step = 1e-5 * np.eye(family.count)
    expected = [(height(at + h) - height(at - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(slope, expected, rtol=1e-4, atol=1e-4)


def test_a_mixture_lies_between_its_walks():
    mixed = shoal.passive.WalkMixture(20.0, 80.0, 0.25).on(CIRCLE).dense()
    narrow, wide = (shoal.RandomWalk(sd).on(CIRCLE).dense() for sd in (20.0, 80.0))
    assert np.allclose(mixed, 0.75 * np.asarray(narrow) + 0.25 * np.asarray(wide), atol=1e-9)


def test_a_walk_is_learned_from_animals_that_prefer_nothing():
    truth = shoal.RandomWalk((30.0, 0.8))
    starts = jnp.asarray(np.random.default_rng(1).integers(0, MIXED.size, 20_000))
    ends = np.asarray(truth.on(MIXED).sample(jax.random.key(1), starts))
    counts = shoal.states.Transitions.from_pairs(np.asarray(starts), ends, MIXED)
    found = shoal.RandomWalk((shoal.passive.Unknown(60.0), shoal.passive.Unknown(2.0))).estimate(
        counts
    )
    assert found.sd[0] == pytest.approx(30.0, rel=0.03)
    assert found.sd[1] == pytest.approx(0.8, rel=0.05)
    assert truth.estimate(counts) is truth


def test_counts_elsewhere_become_a_kernel_with_a_floor():
    counts = shoal.count_transitions([[0, 1, 2, 1, 0, 1]], NUMBERED)
    dense = np.asarray(shoal.passive.Empirical(counts, 3.0).on(NUMBERED).dense())
    arrivals = counts.arrivals + 0.5
    expected = counts.matrix() + 3.0 * arrivals / arrivals.sum()
    assert np.allclose(dense, expected / expected.sum(axis=1, keepdims=True))


def test_the_strength_of_smoothing_is_the_most_probable():
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.full(15, 2.0), size=15)
    states = [0]
    for _ in range(4000):
        states.append(int(rng.choice(15, p=rows[states[-1]])))
    found = shoal.passive.Empirical(shoal.count_transitions([states], NUMBERED)).strength
    assert 15 < found < 60  # rows were drawn with 30


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.passive.Unknown(0.0), "the median of an Unknown"),
        (lambda: shoal.passive.Unknown(1.0, 1.0), "the factor of an Unknown"),
        (lambda: shoal.passive.Unknown("ten"), "the median of an Unknown"),
        (lambda: shoal.RandomWalk(None), "has no prior"),
        (lambda: shoal.RandomWalk((10.0, None)), "has no prior"),
        (lambda: shoal.RandomWalk(shoal.passive.Unknown(10.0)).on(CIRCLE), "has unknowns"),
        (lambda: shoal.passive.WalkMixture().on(CIRCLE), "has unknowns"),
        (
            lambda: shoal.passive.WalkMixture(1.0, 2.0, 0.1).on(NUMBERED),
            "a distance between states",
        ),
        (lambda: shoal.passive.Empirical([[0, 1]]), "made from counted transitions"),
        (lambda: shoal.passive.Empirical(SEEN).on(CIRCLE), "were counted on other states"),
        (lambda: shoal.TurnCoupled().estimate([1, 2]), "estimated from counted transitions"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()
