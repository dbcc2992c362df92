"""Costs with scales, lengths and passive dynamics unknown: the density, its marginal, its draws."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from registries import compiled
from shoal.posterior.linear_coordinates import LinearCoordinates
from shoal.posterior.marginal import (
    curvature,
    gaussian_around,
    hyper_spread,
    log_marginal,
    marginal_top,
)
from shoal.posterior.mode import mode_given
from shoal.posterior.prior import OnePrecision

SPACE = shoal.StateSpace(
    shoal.LocalMisalignment(bins=8), shoal.TargetMisalignment((0.0, 0.0), bins=6)
)
TRUTH = shoal.TurnCoupled(spread=25.0, noise=15.0, tails=2.0, follow=(0.9, 1.0))
BASIS = shoal.Smooth(order=2)


def quiet(*_):
    return None


@pytest.fixture(scope="module")
def counts():
    """Animals that like to be aligned, by the truth's turns."""
    local, _ = np.meshgrid(*(axis.centres for axis in SPACE.axes), indexing="ij")
    cost = 1.5 * (1 - np.cos(np.deg2rad(local)))
    chances = shoal.lmdp.policy(cost, TRUTH.on(SPACE))
    rng = np.random.default_rng(7)
    states = [0]
    for _ in range(3000):
        states.append(int(rng.choice(SPACE.size, p=chances[states[-1]])))
    return shoal.count_transitions([states], SPACE)


@pytest.fixture(scope="module")
def model():
    return shoal.Model(SPACE, shoal.TurnCoupled(), BASIS)


@pytest.fixture(scope="module")
def density(model, counts):
    return model.density(counts)


@pytest.fixture(scope="module")
def top(density):
    return marginal_top(density, quiet)


@pytest.fixture(scope="module")
def nuts(model, counts):
    return model.fit(counts, shoal.NUTS(warmup=300), chains=2, draws=600, seed=3)


def some_point(density, seed=0):
    return jnp.asarray(np.random.default_rng(seed).normal(size=density.dimension) * 0.3)


def test_more_than_coefficients_is_unknown(density):
    assert density.dimension == density.coefficients + 5 + 6
    assert density.names[:3] == (
        "scale of local misalignment",
        "scale of target misalignment",
        "scale of local misalignment × target misalignment",
    )


@pytest.mark.filterwarnings("ignore:steps of")
def test_the_likelihood_is_that_of_the_known_model_at_the_same_numbers(density, counts):
    point = some_point(density)
    xi, hyper = density.split(point)
    known = shoal.Model(SPACE, density.family.known(density.parts(hyper)[1]))
    same = known.density(counts)
    given, v = same.given(jnp.asarray(same.start)), density.cost_to_go(point)
    expected = float(given.log_likelihood(v)) + float(
        density.log_hyperprior(hyper) - 0.5 * jnp.vdot(xi, xi) - 0.5 * xi.size * jnp.log(2 * jnp.pi)
    )
    assert float(density.log_posterior(point)) == pytest.approx(expected, rel=1e-10)


def test_the_gradient_is_that_of_finite_differences(density):
    point = some_point(density, 1)
    slope = np.asarray(compiled(jax.grad, density.log_posterior)(point))
    height = jax.jit(lambda at: density.log_posterior(at))  # noqa: PLW0108  (it has no hash)
    for n in range(0, density.dimension, 3):
        step = jnp.zeros(density.dimension).at[n].set(1e-5)
        numeric = (float(height(point + step)) - float(height(point - step))) / 2e-5
        assert slope[n] == pytest.approx(numeric, rel=1e-4, abs=1e-3)


def test_with_the_papers_prior_it_is_the_papers_posterior(counts):
    walk = shoal.RandomWalk(60.0)
    plain = shoal.Model(SPACE, walk).density(counts)
    basis = OnePrecision(plain.basis.map, plain.basis.prior, centred=False)
    same = eqx.tree_at(lambda d: d.basis, plain, basis)
    rng = np.random.default_rng(2)
    for t in (-1.0, 0.5, 2.0):
        beta = jnp.asarray(rng.normal(size=48) * 0.4)
        expected = float(plain.log_posterior(jnp.append(beta, t)))
        xi = beta * jnp.exp(t / 2)
        jacobian = -0.5 * 48 * t  # of β = ξ e^{−t/2}
        got = float(same.log_posterior(jnp.append(xi, t)))
        assert got == pytest.approx(expected + jacobian, rel=1e-10)


def test_curvature_agrees_with_automatic_second_derivatives(density):
    xi, hyper = density.split(some_point(density, 6))
    expected = -compiled(jax.hessian, density.log_joint)(xi, hyper)
    assert np.allclose(curvature(density, xi, hyper), expected, rtol=1e-8, atol=1e-6)


def test_the_slope_of_the_marginal_follows_the_mode(density, top):
    hyper = jnp.asarray(top.hyper) + 0.1
    mode = mode_given(density, hyper, top.xi)
    _, slope = log_marginal(density, hyper, mode.beta)

    def height(at):
        return float(log_marginal(density, at, mode_given(density, at, mode.beta).beta)[0])

    for n in range(hyper.size):
        step = jnp.zeros(hyper.size).at[n].set(1e-3)
        numeric = (height(hyper + step) - height(hyper - step)) / 2e-3
        assert float(slope[n]) == pytest.approx(numeric, rel=1e-3, abs=2e-3)


def test_the_top_is_where_the_marginal_is_level(density, top):
    assert top.converged
    _, slope = log_marginal(density, jnp.asarray(top.hyper), top.xi)
    assert np.abs(np.asarray(slope)).max() < 0.1


def test_coordinates_and_positions_are_inverses(density, top):
    around = gaussian_around(density, top, hyper_spread(density, top, quiet))
    coordinates = LinearCoordinates.of(density, around)
    assert np.allclose(coordinates.position(jnp.zeros(density.dimension)), around.centre)
    z = some_point(density, 4)
    assert np.allclose(coordinates.inverse(coordinates.position(z)), z, atol=1e-8)
    jacobian = compiled(jax.jacfwd, coordinates.position)
    here, there = (np.linalg.slogdet(np.asarray(jacobian(x)))[1] for x in (0 * z, z))
    volumes = [float(coordinates.log_volume(x)) for x in (0 * z, z)]
    assert there - here == pytest.approx(volumes[1] - volumes[0], abs=1e-8)


@pytest.mark.slow
def test_the_sampler_agrees_with_itself(nuts):
    numbers = nuts.diagnostics().numbers
    assert numbers["max_r_hat"] < 1.03
    assert numbers["divergences"] <= 2


@pytest.mark.slow
@pytest.mark.parametrize("method", ["laplace", "advi"])
def test_methods_agree_on_what_tracks_determine(model, counts, nuts, method):
    fit = model.fit(counts, method, chains=2, draws=600, seed=1)
    exact, rough = (
        np.log(f.parameters.sel(parameter="turn spread").values).ravel() for f in (nuts, fit)
    )
    assert rough.mean() == pytest.approx(exact.mean(), abs=0.5 * exact.std())
    seen = nuts.arrivals.values > 30
    means = [f.cost_to_go.values.mean(axis=(0, 1))[seen] for f in (nuts, fit)]
    spread = nuts.cost_to_go.values.std(axis=(0, 1))[seen]
    gap = means[0] - means[1]
    assert np.all(np.abs(gap - np.median(gap)) < 2 * spread)


@pytest.mark.slow
def test_the_truth_is_found(nuts):
    spread = nuts.parameters.sel(parameter="turn spread").values.ravel()
    assert np.quantile(spread, 0.005) < 25.0 < np.quantile(spread, 0.995)
    local = nuts.effects()["local_misalignment"]
    assert SPACE.axes[0].centres[local.draws.mean(axis=0).argmin()] == 0.0
    assert nuts.effects().probability("local_misalignment", "target_misalignment") > 0.95


@pytest.mark.slow
def test_it_is_stored_and_read_again(nuts, tmp_path):
    again = shoal.load_fit(nuts.save(tmp_path / "fit.nc"))
    assert again.model.passive.effects == (-1, -1)
    assert np.array_equal(again.parameters.values, nuts.parameters.values)
    assert np.array_equal(again.state_cost.values, nuts.state_cost.values)
    assert np.allclose(again.passive.spread, nuts.passive.spread)


@pytest.mark.slow
def test_state_costs_take_each_draws_own_dynamics(nuts):
    v = nuts.sampled.values.reshape(-1, *SPACE.shape)[5]
    passive = nuts.model.family.at(nuts.passive_unknowns[5])
    expected = shoal.state_cost(v, passive)
    got = nuts.state_cost.values.reshape(-1, *SPACE.shape)[5]
    assert np.allclose(got - got.mean(), expected - expected.mean(), atol=1e-8)


def test_a_warm_start_ends_where_a_cold_one_does(model, counts):
    cold = model.fit(counts, "map")
    warm = model.fit(counts, "map", start=cold)
    assert warm.facts["iterations"] < cold.facts["iterations"]
    assert np.allclose(warm.parameters.values, cold.parameters.values, rtol=0.02)


@pytest.mark.slow
def test_passive_dynamics_alone_are_learned_without_costs(counts):
    fit = shoal.Model(SPACE, shoal.TurnCoupled(), shoal.basis.Flat()).fit(
        counts, "laplace", draws=200
    )
    assert np.allclose(fit.cost_to_go.values, 0, atol=1e-12)
    estimated = shoal.TurnCoupled().estimate(counts)
    assert fit.passive.spread == pytest.approx(estimated.spread, rel=0.05)


def test_the_same_seed_gives_the_same_draws(model, counts):
    one, two = (model.fit(counts, "laplace", chains=1, draws=50, seed=5) for _ in range(2))
    assert np.array_equal(one.sampled.values, two.sampled.values)


@pytest.mark.slow
def test_a_papers_basis_with_learned_dynamics(counts):
    walk = shoal.RandomWalk(shoal.passive.Unknown(40.0))
    fit = shoal.Model(SPACE, walk, shoal.Gaussian(2)).fit(counts, "laplace", draws=100, seed=1)
    assert list(fit.parameters.parameter.values) == [
        "precision",
        "step sd of local misalignment",
        "step sd of target misalignment",
    ]
    assert fit.facts["converged"]
