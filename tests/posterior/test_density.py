"""The density against plain loops, and the laws it must keep."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import gamma, norm

import shoal
from posterior_problems import SPP, random_transitions, spp_transitions
from registries import BASES, CIRCLE, PASSIVES, PRIORS, TORUS, compiled, matrix_of
from shoal.posterior.curvature import (
    curvature_diagonal,
    curvature_product,
    expected_curvature,
    likelihood_curvature,
)
from shoal.posterior.one_precision import expected_bend, mode_at

every_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS.keys())
on_torus = [name for name, (_, space) in PASSIVES.recipes.items() if space == TORUS]
every_passive = pytest.mark.parametrize("passive", on_torus, indirect=True)


def known(density):
    """What tracks say of coefficients, all else at its start."""
    return density.given(jnp.asarray(density.start))


def loop_likelihood(v, dense, counts, discount):
    """The published program's way: one row of P̄ for every distinct transition."""
    total = 0.0
    for i, j in zip(*np.nonzero(counts), strict=True):
        weights = dense[i] * np.exp(-discount * v)
        total += counts[i, j] * np.log(weights[j] / weights.sum())
    return total


@every_passive
@pytest.mark.parametrize("discount", [1.0, 0.9, 0.0])
def test_the_likelihood_agrees_with_a_loop_over_transitions(passive, discount):
    transitions = random_transitions(passive, TORUS)
    density = known(shoal.Model(TORUS, passive, discount=discount).density(transitions))
    v = np.random.default_rng(3).normal(size=TORUS.shape)
    expected = loop_likelihood(v.ravel(), matrix_of(passive), transitions.matrix(), discount)
    assert np.isclose(eqx.filter_jit(density.log_likelihood)(jnp.asarray(v)), expected, rtol=1e-12)


@every_passive
def test_a_constant_added_to_the_cost_to_go_changes_no_likelihood(passive):
    density = known(shoal.Model(TORUS, passive).density(random_transitions(passive, TORUS)))
    v = jnp.asarray(np.random.default_rng(4).normal(size=TORUS.shape))
    sloped = compiled(jax.value_and_grad, density.log_likelihood)
    (here, slope), (there, _) = sloped(v), sloped(v + 500.0)
    assert np.isclose(here, there, rtol=1e-12)
    assert abs(slope.sum()) < 1e-9


def test_states_that_were_never_left_do_not_break_the_density_where_nothing_leads():
    chain = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    space = shoal.StateSpace.discrete(3)
    counts = shoal.count_transitions([[0, 1, 0, 0]], space)
    density = known(shoal.Model(space, chain).density(counts))
    v = jnp.array([0.0, 1.0, 2000.0])  # e^−2000 is zero in doubles, and so is its row
    assert np.isfinite(density.log_likelihood(v))
    assert np.all(np.isfinite(jax.grad(density.log_likelihood)(v)))


def test_costs_too_far_apart_for_doubles_are_refused_and_not_misjudged():
    blocks = np.kron(np.eye(2), np.full((2, 2), 0.5))
    space = shoal.StateSpace.discrete(4)
    counts = shoal.count_transitions([[0, 1, 0], [2, 3, 2]], space)
    density = known(shoal.Model(space, blocks).density(counts))
    v = jnp.array([0.0, 0.5, -800.0, 0.0])
    assert density.log_likelihood(v) == -np.inf


@every_prior
def test_the_prior_is_what_its_form_says(prior):
    density = shoal.Model(CIRCLE, shoal.Uniform(), prior=prior).density(
        random_transitions(shoal.Uniform().on(CIRCLE), CIRCLE)
    )
    rng = np.random.default_rng(0)
    beta = rng.normal(size=12)
    t = float(prior.start) if prior.form == "fixed" else 0.7
    sd = np.exp(-0.5 * t) if prior.form != "inverse-sd" else np.exp(-t)
    expected = norm.logpdf(beta, 0, sd).sum()
    if prior.unknowns:
        expected += gamma.logpdf(np.exp(t), prior.shape, scale=1 / prior.rate) + t
    hyper = jnp.full(prior.unknowns, t)
    position = jnp.append(beta, hyper)
    assert position.size == density.dimension == 12 + prior.unknowns
    given = density.given(hyper)
    log_prior = [
        density.log_posterior(jnp.append(b, hyper)) - given.log_likelihood(given.basis.apply(b))
        for b in (jnp.asarray(beta), jnp.zeros(12))
    ]
    assert np.isclose(log_prior[0], expected, rtol=1e-12)
    assert np.isclose(prior.log_constant(t, 12), log_prior[1], rtol=1e-12)


@every_prior
def test_the_most_probable_precision_for_known_coefficients_is_where_the_slope_is_zero(prior):
    t = prior.mode_given(3.7, 12)

    def log_density(at):
        normal = 0.5 * (12 * prior.power * at - 3.7 * prior.precision(at))
        return normal + prior.log_hyperprior(at)

    slope = jax.grad(log_density)(jnp.asarray(float(t)))
    if prior.form == "fixed":
        assert np.isclose(np.exp(t), prior.value)
    else:
        assert abs(float(slope)) < 1e-9


def test_dense_sparse_and_structured_passive_dynamics_give_the_same_density():
    transitions, _ = spp_transitions()
    structured = shoal.TurningMixture().on(SPP)
    dense = np.asarray(structured.dense())
    rng = np.random.default_rng(1)
    densities = [
        shoal.Model(SPP, passive).density(transitions)
        for passive in (structured, dense, sp.csr_array(dense), sp.coo_array(dense))
    ]
    sloped = [compiled(jax.value_and_grad, density.log_posterior) for density in densities]
    for _ in range(5):
        position = jnp.asarray(rng.normal(scale=2, size=37))
        heights, slopes = zip(*(one(position) for one in sloped), strict=True)
        assert np.ptp(heights) < 1e-10
        assert np.allclose(slopes[0], slopes[1:], atol=1e-9)


small_bases = {
    name: (basis, space)
    for name, (basis, space) in BASES.items()
    if space in (TORUS, CIRCLE) and not hasattr(basis, "scaled")  # these have tests of their own
}


@pytest.mark.parametrize(("basis", "space"), small_bases.values(), ids=small_bases.keys())
@pytest.mark.parametrize("discount", [1.0, 0.7])
def test_curvature_agrees_with_automatic_second_derivatives(basis, space, discount):
    passive = shoal.RandomWalk(70.0).on(space)
    density = shoal.Model(space, passive, basis, discount).density(
        random_transitions(passive, space)
    )
    given = known(density)
    beta = jnp.asarray(np.random.default_rng(2).normal(size=density.coefficients) * 0.3)

    def fall(b):
        return -given.log_likelihood(given.basis.apply(b))

    expected = np.asarray(jax.jit(jax.hessian(fall))(beta))
    found = likelihood_curvature(density, density.start, beta)
    scale = np.abs(expected).max()
    assert np.allclose(found, expected, atol=1e-10 * scale)
    direction = jnp.asarray(np.random.default_rng(3).normal(size=density.coefficients))
    product = curvature_product(given, beta, direction)
    assert np.allclose(product, expected @ np.asarray(direction), atol=1e-9 * scale)
    assert np.all(np.asarray(curvature_diagonal(given, beta)) >= np.diag(expected) - 1e-9)


@pytest.mark.parametrize("name", ["text", "stan"])
def test_the_whole_curvature_agrees_with_automatic_second_derivatives(name):
    passive = shoal.RandomWalk(70.0).on(CIRCLE)
    density = shoal.Model(CIRCLE, passive, prior=PRIORS[name]).density(
        random_transitions(passive, CIRCLE)
    )
    position = jnp.asarray(np.random.default_rng(2).normal(size=13))
    hessian = -np.asarray(compiled(jax.hessian, density.log_posterior)(position))
    assert np.allclose(expected_curvature(density, np.asarray(position)[None]), hessian)
    beta, t = position[:-1], float(position[-1])
    prior = PRIORS[name]
    more = 0.5 * prior.power**2 * (12 - float(prior.precision(t) * jnp.vdot(beta, beta)))
    assert np.isclose(expected_bend(density, t), hessian[-1, -1] + more)


@pytest.mark.parametrize("t", [-3.0, 0.0, 4.0])
def test_at_the_mode_the_slope_is_zero(t):
    transitions, _ = spp_transitions()
    density = shoal.Model(SPP, shoal.TurningMixture()).density(transitions)
    mode = mode_at(density, t, np.zeros(36))
    assert mode.converged
    slope = jax.grad(density.log_posterior)(jnp.append(mode.beta, t))[:-1]
    assert np.abs(slope).max() < 1e-4
    height = density.log_posterior(jnp.append(mode.beta, t))
    assert np.isclose(mode.height + density.basis.prior.log_constant(t, 36), height, rtol=1e-12)
