"""What every method must do, and how near each comes to the posterior."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import gamma, norm

import shoal
from posterior_problems import SPP, random_transitions, spp_transitions
from registries import METHODS, PRIORS, TORUS
from shoal.posterior import one_precision
from shoal.posterior.importance import weigh
from shoal.posterior.one_precision import laplace_node, node_proposals
from shoal.posterior.proposals import log_posteriors

every_method = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


WALK = shoal.RandomWalk((60.0, 90.0))


@cache
def small_transitions():
    return random_transitions(WALK.on(TORUS), TORUS, seed=1)


def small_fit(method, seed=3, prior=None, draws=300):
    model = shoal.Model(TORUS, WALK, prior=prior or shoal.Prior())
    return model.fit(small_transitions(), method, chains=2, draws=draws, seed=seed)


shared_fit = cache(small_fit)
"""The same fit, made once, for tests that only look at it."""


@every_method
def test_the_same_seed_gives_the_same_draws_and_another_seed_others(method):
    one, same, other = shared_fit(method), small_fit(method), small_fit(method, seed=4)
    assert np.array_equal(one.sampled, same.sampled)
    assert isinstance(method, shoal.posterior.MAP) or not np.array_equal(one.sampled, other.sampled)


@every_method
def test_the_result_has_the_shape_and_groups_of_a_fit(method):
    fit = shared_fit(method)
    shape = (1, 1) if isinstance(method, shoal.posterior.MAP) else (2, 300)
    assert fit.cost_to_go.dims == ("chain", "draw", "local", "target")
    assert fit.cost_to_go.shape == (*shape, *TORUS.shape)
    assert fit.state_cost.shape == fit.cost_to_go.shape
    assert fit.data["posterior"]["precision"].shape == shape
    assert {"posterior", "sample_stats", "observed_data", "transitions"} <= set(fit.data.children)
    assert fit.data["sample_stats"]["log_posterior"].shape == shape
    assert np.all(np.isfinite(fit.sampled))


@every_method
def test_the_level_is_removed_from_draws_and_the_lowest_mean_is_zero(method):
    fit = shared_fit(method)
    for costs in (fit.cost_to_go, fit.state_cost):
        assert abs(float(costs.mean(("chain", "draw")).min())) < 1e-12
    level = fit.cost_to_go.weighted(fit.arrivals).mean(("local", "target"))
    assert float(level.std()) < 1e-10
    gap = fit.cost_to_go - fit.sampled
    spread = gap.max(("local", "target")) - gap.min(("local", "target"))
    assert float(spread.max()) < 1e-10  # a constant for each draw, and nothing else


@every_method
def test_state_costs_are_the_inverse_of_every_draw(method):
    fit = shared_fit(method)
    passive = fit.model.operator()
    for chain, draw in ((0, 0), (-1, -1)):
        r = shoal.state_cost(fit.sampled.values[chain, draw], passive)
        gap = fit.state_cost.values[chain, draw] - r
        assert np.ptp(gap) < 1e-9


PAIRS = [
    pytest.param(
        method,
        prior,
        id=f"{form}-{name}",
        marks=() if name in ("map", "laplace") or form == "text" else pytest.mark.slow,
    )
    for form, prior in PRIORS.items()
    for name, method in METHODS.items()
]


@pytest.mark.parametrize(("method", "prior"), PAIRS)
def test_every_prior_works_with_every_method(method, prior):
    fit = small_fit(method, prior=prior)
    assert np.all(np.isfinite(fit.cost_to_go))
    assert ("precision" in fit.data["posterior"]) == bool(prior.unknowns)


@every_method
def test_stored_log_posteriors_are_those_of_the_draws(method):
    fit = shared_fit(method)
    density = fit.model.density(small_transitions())
    posterior = fit.data["posterior"]
    betas = fit.sampled.values.reshape(-1, TORUS.size)
    t = np.log(posterior["precision"].values).ravel()
    found = log_posteriors(density, jnp.asarray(np.column_stack([betas, t])))
    stored = fit.data["sample_stats"]["log_posterior"].values.ravel()
    assert np.allclose(found, stored, atol=1e-8)


@pytest.fixture(scope="module")
def flock():
    """The SPP flock, a long NUTS run on it, and the states with data."""
    transitions, solution = spp_transitions()
    model = shoal.Model(SPP, shoal.TurningMixture())
    fit = model.fit(transitions, "nuts", chains=4, draws=2000, seed=1)
    return model, transitions, solution, fit


def contrasts(fit):
    v = fit.cost_to_go.values.reshape(-1, fit.model.space.size)
    return v - np.average(v, axis=1, weights=fit.arrivals.values.ravel())[:, None]


@pytest.mark.slow
def test_nuts_finds_the_truth_and_says_it_may_be_trusted(flock):
    _, transitions, solution, fit = flock
    assert fit.diagnostics().trusted, fit.diagnostics()
    draws, seen = contrasts(fit), transitions.arrivals >= 20
    truth = solution.cost_to_go - np.average(solution.cost_to_go, weights=transitions.arrivals)
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    inside = (low <= truth) & (truth <= high)
    # 15 or so states at 95 %: four misses have a chance below 1 %
    assert (~inside[seen]).sum() <= 3
    score = (draws.mean(axis=0) - truth) / draws.std(axis=0)
    assert np.abs(score[seen]).max() < 4.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["laplace", "advi, full-rank"])
def test_approximations_agree_with_nuts_where_there_is_data(flock, name):
    model, transitions, _, nuts = flock
    fit = model.fit(transitions, METHODS[name], draws=2000, seed=2)
    seen = transitions.arrivals >= 20
    ours, theirs = contrasts(fit), contrasts(nuts)
    shift = np.abs(ours.mean(axis=0) - theirs.mean(axis=0)) / theirs.std(axis=0)
    ratio = ours.std(axis=0) / theirs.std(axis=0)
    if fit.facts["reweighted"]:  # Monte Carlo error alone, of either side
        error = np.sqrt(1 / fit.facts["importance_ess"] + 1 / 4000)
        assert shift[seen].max() < 4 * error
        assert np.abs(np.log(ratio[seen])).max() < 4 * error
    else:  # not certified: the mode sits 1/(2√n) sd from the mean, and more where n is 20
        assert not fit.diagnostics().trusted
        assert shift[seen].max() < 0.25
        assert np.abs(np.log(ratio[seen])).max() < 0.08


@pytest.mark.slow
def test_reweighted_draws_are_nearer_to_nuts_than_those_proposed(flock):
    model, transitions, _, nuts = flock
    density = model.density(transitions)
    rng, theirs = np.random.default_rng(5), contrasts(nuts)
    proposed, *_ = node_proposals(density, shoal.posterior.Laplace(), 16_000, rng, lambda *_: None)
    weights = weigh(proposed.log_posterior, proposed.log_approximation).weights
    v = proposed.positions[:, : density.coefficients]
    v = v - v @ transitions.arrivals[:, None] / transitions.total
    seen = transitions.arrivals >= 20
    plain, weighted = (
        np.abs(mean - theirs.mean(axis=0))[seen] / theirs.std(axis=0)[seen]
        for mean in (v.mean(axis=0), weights @ v)
    )
    assert weighted.max() < 0.6 * plain.max()


@pytest.mark.slow
def test_the_mode_lies_inside_what_nuts_allows(flock):
    model, transitions, _, nuts = flock
    fit = model.fit(transitions, "map")
    theirs = contrasts(nuts)
    seen = transitions.arrivals >= 20
    shift = np.abs(contrasts(fit)[0] - theirs.mean(axis=0)) / theirs.std(axis=0)
    assert shift[seen].max() < 0.25


@pytest.mark.slow
def test_mean_field_loses_the_level_and_full_rank_keeps_it(flock):
    model, transitions, _, nuts = flock
    sd = {
        name: float(model.fit(transitions, METHODS[name], seed=1).sampled.sel(local=0.0).std())
        for name in ("advi", "advi, full-rank")
    }
    truth = float(nuts.sampled.sel(local=0.0).std())
    assert sd["advi"] < 0.2 * truth
    assert 0.5 * truth < sd["advi, full-rank"] < 1.5 * truth


@pytest.mark.slow
def test_the_deterministic_bound_is_no_worse_than_the_stochastic_one(flock):
    model, transitions, _, _ = flock
    bounds = {
        name: model.fit(transitions, METHODS[name], seed=1).facts["elbo"]
        for name in ("advi", "advi, as in the paper", "advi, full-rank")
    }
    assert bounds["advi"] > bounds["advi, as in the paper"] - 0.2
    assert bounds["advi, full-rank"] > bounds["advi"]


@pytest.mark.slow
def test_full_rank_ends_where_its_bound_is_stationary(flock):
    """Means and covariance fulfil E[∇ log p] = 0 and covariance⁻¹ = −E[∇² log p]."""
    model, transitions, _, _ = flock
    density = model.density(transitions)
    fit = model.fit(transitions, METHODS["advi, full-rank"], draws=5000, seed=1)
    trace = fit.data["optimisation"]["elbo"].values
    assert trace[-1] > trace[0] + 0.5  # better than the Laplace approximation it starts from
    v = fit.sampled.values.reshape(-1, 36)
    t = np.log(fit.data["posterior"]["precision"].values).reshape(-1, 1)
    points = np.hstack([v, t])
    covariance = np.cov(points.T)
    slopes = np.asarray(jax.vmap(jax.grad(density.log_posterior))(jnp.asarray(points)))
    scale = np.sqrt(np.diag(covariance))
    # 64 base draws leave an error of about 1/√64 sd in the mean, and as much in the sds
    assert np.abs(slopes.mean(axis=0) * scale).max() < 0.5
    hessians = jax.lax.map(jax.hessian(density.log_posterior), jnp.asarray(points[::20]))
    wanted = np.sqrt(np.diag(np.linalg.inv(-np.asarray(hessians).mean(axis=0))))
    assert np.abs(np.log(wanted / scale)).max() < 0.3


def exact_moments(dense, counts, prior):
    """Mean and sd of (v₀ − v₁, t) by brute force over a grid of all three unknowns."""
    betas, ts = np.linspace(-9, 9, 91), np.linspace(-9, 6, 91)
    first, second, t = np.meshgrid(betas, betas, ts, indexing="ij")
    logs = norm.logpdf(first, scale=np.exp(-prior.power * t / 2))
    logs += norm.logpdf(second, scale=np.exp(-prior.power * t / 2))
    logs += gamma.logpdf(np.exp(t), prior.shape, scale=1 / prior.rate) + t
    for i in range(2):
        total = np.log(dense[i, 0] * np.exp(-first) + dense[i, 1] * np.exp(-second))
        logs += counts[i, 0] * (-first - total) + counts[i, 1] * (-second - total)
    weight = np.exp(logs - logsumexp(logs))
    values = np.stack([(first - second).ravel(), t.ravel()])
    mean = values @ weight.ravel()
    return mean, np.sqrt((values**2) @ weight.ravel() - mean**2)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["precision", "inverse-sd"])
def test_nuts_agrees_with_brute_force_integration(form):
    space = shoal.StateSpace.discrete(2)
    prior = shoal.Prior(form, shape=3.0, rate=2.0)
    dense = np.array([[0.6, 0.4], [0.3, 0.7]])
    transitions = shoal.count_transitions([[0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1]], space)
    mean, sd = exact_moments(dense, transitions.matrix(), prior)
    model = shoal.Model(space, dense, prior=prior)
    fit = model.fit(transitions, shoal.NUTS(warmup=1000), chains=4, draws=8000, seed=8)
    v = fit.sampled.values
    t = np.log(fit.data["posterior"]["precision"].values) / prior.power
    for values, m, s in ((v[..., 0] - v[..., 1], mean[0], sd[0]), (t, mean[1], sd[1])):
        # some 10,000 effective draws at the least: 4 standard errors of the mean, and of the sd
        # for tails up to twice as heavy as a normal's
        assert abs(values.mean() - m) < 4 * s / np.sqrt(10_000)
        assert abs(values.std() / s - 1) < 4 * np.sqrt(2) / np.sqrt(2 * 10_000)


@pytest.mark.parametrize("form", ["precision", "inverse-sd"])
def test_laplace_is_nested_its_precision_is_that_of_brute_force(form):
    """Few data, so that the precision is wide and skewed, and β depends on it."""
    space = shoal.StateSpace.discrete(2)
    prior = shoal.Prior(form, shape=3.0, rate=2.0)
    dense = np.array([[0.6, 0.4], [0.3, 0.7]])
    transitions = shoal.count_transitions([[0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1]], space)
    mean, sd = exact_moments(dense, transitions.matrix(), prior)
    fit = shoal.Model(space, dense, prior=prior).fit(transitions, "laplace", draws=5000, seed=8)
    assert fit.facts["converged"]
    assert fit.facts["pareto_k"] < 0.5
    v = fit.sampled.values
    t = np.log(fit.data["posterior"]["precision"].values) / prior.power
    for values, m, s in ((v[..., 0] - v[..., 1], mean[0], sd[0]), (t, mean[1], sd[1])):
        # reweighted draws, 10,000 effective ones at the least: 4 standard errors, tails as above
        assert fit.facts["importance_ess"] > 10_000
        assert abs(values.mean() - m) < 4 * s / np.sqrt(10_000)
        assert abs(values.std() / s - 1) < 4 * np.sqrt(2) / np.sqrt(2 * 10_000)
    low, high = np.quantile(t, [0.25, 0.75])
    contrast = v[..., 0] - v[..., 1]
    assert contrast[t < low].std() > 1.15 * contrast[t > high].std()


@pytest.mark.parametrize(("size", "path"), [(20, [0, 1]), (36, [0, 5, 3]), (2, [0, 1, 1])])
def test_laplace_draws_the_precision_from_its_marginal_however_skewed(size, path):
    space = shoal.StateSpace.discrete(size)
    model = shoal.Model(space, shoal.Uniform(), prior=shoal.Prior(shape=1.0, rate=1.0))
    transitions = shoal.count_transitions([path], space)
    density = model.density(transitions)
    places = np.linspace(-15, 6, 400)
    heights = [laplace_node(density, t, np.zeros(size)).log_weight for t in places]
    weight = np.exp(np.array(heights) - logsumexp(heights))
    mean = weight @ places
    sd = np.sqrt(weight @ places**2 - mean**2)
    rng = np.random.default_rng(1)
    proposed, *_ = node_proposals(density, shoal.posterior.Laplace(), 20_000, rng, lambda *_: None)
    t = proposed.positions[:, -1]
    assert abs(t.mean() - mean) < 0.05 * sd
    assert abs(t.std() / sd - 1) < 0.05


@pytest.mark.slow
def test_the_mode_is_where_the_marginal_of_the_precision_is_highest(flock):
    model, transitions, _, _ = flock
    density = model.density(transitions)
    fit = model.fit(transitions, "map")
    t = float(np.log(fit.data["posterior"]["precision"].values[0, 0]))
    beta = fit.sampled.values[0, 0]
    heights = [laplace_node(density, t + step, beta).log_weight for step in (-0.05, 0.0, 0.05)]
    assert heights[1] > max(heights[0], heights[2])


@pytest.mark.parametrize("method", ["map", "laplace"])
def test_a_precision_that_is_not_found_is_admitted(method, monkeypatch):
    monkeypatch.setattr(one_precision, "MAX_CLIMBS", 0)
    fit = small_fit(method)
    assert fit.facts["converged"] is False
    assert not fit.diagnostics().trusted


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.posterior.Laplace(spacing=0.0), "spacing lies between 0 and 2, got 0"),
        (lambda: shoal.posterior.Laplace(depth=-1.0), "depth"),
        (lambda: shoal.NUTS(workers=-1), "workers=-1"),
        (lambda: shoal.Prior(shape="a"), "shape of a prior must be positive"),
        (lambda: small_fit("map", seed=-1), "0 or more; got -1"),
        (lambda: small_fit("map", seed=None), "got None"),
        (lambda: small_fit("map", draws=5.5), r"whole numbers.*got 2 and 5.5"),
        (lambda: shoal.NUTS(warmup=10), "50 draws or more, got 10"),
        (lambda: shoal.NUTS(target_acceptance=1.2), "between 0 and 1, got 1.2"),
        (lambda: shoal.NUTS(max_tree_depth=0), "between 1 and 20"),
        (
            lambda: shoal.posterior.ADVI(family="half-rank"),
            "mean-field, full-rank; got 'half-rank'",
        ),
        (
            lambda: shoal.posterior.ADVI(family="full-rank", stochastic=True),
            "for the mean-field family",
        ),
        (lambda: shoal.posterior.ADVI(tolerance=0.0), "positive"),
        (lambda: shoal.Prior("gamma"), "precision, inverse-sd, fixed; got 'gamma'"),
        (lambda: shoal.Prior(shape=-1.0), "shape of a prior must be positive"),
        (lambda: shoal.Prior("fixed"), "value= is the precision"),
        (lambda: small_fit("mcmc"), "map, laplace, advi, nuts; got 'mcmc'"),
        (lambda: small_fit(shoal.NUTS(), draws=0), "at least 1 chain and 1 draw"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_the_value(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()


def test_a_prior_too_weak_for_laplace_is_refused_in_words(monkeypatch):
    def singular(*matrix, **options):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(one_precision, "cholesky", singular)
    with pytest.raises(shoal.InputError, match="the prior is too weak"):
        small_fit("laplace")


def test_progress_is_reported_and_reaches_its_end():
    reports = []
    passive = shoal.RandomWalk(60.0)
    model = shoal.Model(TORUS, passive)
    transitions = random_transitions(passive.on(TORUS), TORUS)
    model.fit(
        transitions,
        shoal.NUTS(warmup=60),
        chains=2,
        draws=40,
        progress=lambda stage, done, total: reports.append((stage, done, total)),
    )
    sampled = [report for report in reports if report[0] == "NUTS"]
    assert sampled[-1][1:] == (200, 200)
    assert [done for _, done, _ in sampled] == sorted(done for _, done, _ in sampled)


def test_an_interrupted_run_stops_within_a_chunk():
    passive = shoal.RandomWalk(60.0)
    transitions = random_transitions(passive.on(TORUS), TORUS)
    reports = []

    def interrupt(stage, done, total):
        reports.append(done)
        if stage == "NUTS" and done >= 200:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        shoal.Model(TORUS, passive).fit(
            transitions, shoal.NUTS(warmup=100), chains=2, draws=100_000, progress=interrupt
        )
    assert max(reports) < 1000


def test_mean_field_sds_are_those_of_the_exact_optimum_where_functions_overlap():
    """There sd⁻² is the expected curvature, which a normal likelihood has everywhere alike."""
    space = shoal.StateSpace(shoal.Circular("angle", bins=12))
    walk, basis = shoal.RandomWalk(60.0), shoal.Gaussian(every=1, width=90.0)
    dense = np.asarray(walk.on(space).dense())
    rng = np.random.default_rng(1)
    left = np.full(12, 2000)
    pairs = np.stack([rng.multinomial(n, row) for n, row in zip(left, dense, strict=True)])
    counts = shoal.states.Transitions.from_matrix(pairs, space)
    model = shoal.Model(space, walk, basis, prior=shoal.Prior("fixed", value=1.0))
    fit = model.fit(counts, "advi", draws=2500, seed=1)
    found = fit.data["posterior"].to_dataset()["coefficients"].values.reshape(10_000, -1)
    x = np.asarray(basis.on(space).dense())
    v = fit.sampled.values.mean(axis=(0, 1))
    policy = dense * np.exp(-v)
    policy /= policy.sum(axis=1, keepdims=True)
    curvature = (left @ policy) @ x**2 - left @ (policy @ x) ** 2 + 1.0
    ratio = found.std(axis=0) * np.sqrt(curvature)
    # the error that it states, and that of an sd of 10,000 draws, four times over
    error = fit.facts["sd_error"] + 1 / np.sqrt(20_000)
    assert error < 0.05
    assert np.abs(ratio - 1).max() < 4 * error
