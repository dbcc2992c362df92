"""Bad data gets its sentence; good data its words and numbers."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import shoal
from posterior_problems import random_transitions
from registries import NUMBERED, TORUS, random_graph
from shoal.posterior.data_diagnostics import diagnose
from shoal.posterior.method_diagnostics import well_drawn


def test_a_transition_that_cannot_happen_passively_is_named_with_its_count():
    ring = np.roll(np.eye(4), 1, axis=1)
    space = shoal.StateSpace.discrete(4)
    transitions = shoal.count_transitions([[0, 1, 2, 0, 1, 2, 0]], space)
    with pytest.raises(
        shoal.InputError, match=r"from state 2 to state 0 was seen 2 times.*probability 0 \(1 such"
    ):
        shoal.Model(space, ring).fit(transitions)


def test_on_a_grid_states_are_named_by_their_values():
    passive = np.eye(48)
    transitions = shoal.count_transitions([[0, 7]], TORUS)
    with pytest.raises(shoal.InputError, match=r"state 7 \(local -135°, target -120°\)"):
        shoal.Model(TORUS, passive).fit(transitions)


def test_nothing_can_be_learned_from_no_transitions():
    with pytest.raises(shoal.InputError, match="no transitions to learn from"):
        shoal.Model(NUMBERED, shoal.Uniform()).fit(shoal.count_transitions([[3], []], NUMBERED))


def test_transitions_of_another_space_are_refused():
    transitions = shoal.count_transitions([[0, 1]], NUMBERED)
    with pytest.raises(shoal.InputError, match="do not fit a model on"):
        shoal.Model(TORUS, shoal.Uniform()).fit(transitions)


def test_transitions_of_the_same_shape_but_other_axes_are_refused():
    distance, speed = (shoal.states.Interval(name, (0, 1, 2, 3)) for name in ("distance", "speed"))
    transitions = shoal.count_transitions([[0, 1, 2]], shoal.StateSpace(distance))
    with pytest.raises(shoal.InputError, match=r"do not fit a model on .*speed"):
        shoal.Model(shoal.StateSpace(speed), shoal.Uniform()).fit(transitions)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.Model(NUMBERED, shoal.Uniform()).fit([[0, 1]]), "count_transitions"),
        (lambda: shoal.Model("local", shoal.Uniform()), "needs a StateSpace, got str"),
        (lambda: shoal.Model(NUMBERED, shoal.Uniform(), prior="precision"), "a prior is Prior"),
        (lambda: shoal.Model(NUMBERED, shoal.Uniform(), discount=None), "got None"),
        (lambda: shoal.Model(NUMBERED, shoal.Uniform(), basis=shoal.Gaussian), "a basis is"),
        (
            lambda: shoal.Model(NUMBERED, shoal.Identity()).fit(
                shoal.count_transitions([[0, 1]], NUMBERED)
            ),
            "no passive dynamics",
        ),
        (
            lambda: shoal.Model(NUMBERED, shoal.Uniform(), shoal.Uniform()).fit(
                shoal.count_transitions([[0, 1]], NUMBERED)
            ),
            "no basis",
        ),
    ],
)
def test_slips_get_a_sentence(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()


@pytest.mark.parametrize("discount", [-0.1, 1.1, float("nan")])
def test_a_discount_outside_zero_to_one_is_refused(discount):
    with pytest.raises(shoal.InputError, match=f"got {discount}"):
        shoal.Model(NUMBERED, shoal.Uniform(), discount=discount)


def test_a_basis_that_does_not_reach_an_observed_state_is_refused_with_the_state():
    space = shoal.StateSpace(shoal.Circular("angle", bins=36))
    narrow = shoal.Gaussian(every=18, width=1.0)  # exp(−½·90²) is zero in doubles
    transitions = shoal.count_transitions([[0, 9, 9]], space)
    with pytest.raises(shoal.InputError, match=r"reaches state 9 \(angle -90°\).*entered 2 times"):
        shoal.Model(space, shoal.Uniform(), narrow).fit(transitions)


def test_a_basis_that_is_none_is_refused():
    with pytest.raises(shoal.InputError, match="a basis is Identity"):
        shoal.Model(NUMBERED, shoal.Uniform(), basis="bisquare")


def fitted(method, draws=200, passive=None):
    passive = passive or shoal.RandomWalk(90.0)
    transitions = random_transitions(passive.on(TORUS), TORUS)
    return shoal.Model(TORUS, passive).fit(transitions, method, draws=draws, seed=1)


def spoiled(fit, group, **changes):
    data = fit.data.copy()
    data[group] = data[group].to_dataset().assign(**changes)
    return shoal.Fit(fit.model, data)


def test_a_sound_run_is_trusted_and_each_fault_is_named():
    fit = fitted("nuts", draws=1000)
    assert diagnose(fit).trusted, str(diagnose(fit))
    stats, figures = fit.data["sample_stats"], fit.data["convergence"]
    faults = {
        "do not agree": ("convergence", {"r_hat": figures["r_hat"] + 0.1}),
        "Too few effective draws": ("convergence", {"ess_tail": figures["ess_tail"] / 100}),
        "diverged": ("sample_stats", {"diverging": ~stats["diverging"]}),
        "energy moves too slowly": ("sample_stats", {"energy": stats["energy"].cumsum("draw")}),
    }
    for words, (group, changes) in faults.items():
        diagnostics = diagnose(spoiled(fit, group, **changes))
        assert not diagnostics.trusted
        assert len(diagnostics.failures) == 1
        assert words in diagnostics.failures[0]
    diverged = spoiled(fit, "sample_stats", diverging=~stats["diverging"])
    assert "--target-acceptance 0.95" in str(diagnose(diverged))
    settings = json.loads(diverged.data.attrs["settings"]) | {"target_acceptance": 0.95}
    diverged.data.attrs["settings"] = json.dumps(settings)
    assert "--target-acceptance" not in str(diagnose(diverged)), "it was followed"
    assert "A higher target acceptance did not help" in str(diagnose(diverged))


def test_only_weighted_draws_are_certified():
    fit = fitted("laplace", draws=100)
    assert fit.facts["reweighted"]
    assert fit.diagnostics().trusted, str(fit.diagnostics())
    numbers = fit.diagnostics().numbers
    assert numbers["importance_ess"] > 400
    assert fit.summary()["ess_bulk"].max() <= numbers["importance_ess"]
    facts = fit.facts
    for change, words in (
        ({"pareto_k": 0.9}, "so its draws could not be corrected"),
        ({"importance_ess": 100.0}, "worth 100 independent ones"),
    ):
        fit.data.attrs["facts"] = json.dumps(facts | change)
        assert words in str(fit.diagnostics())
        assert "--method nuts" in str(fit.diagnostics())
    least = int(fit.arrivals.values[fit.arrivals.values > 0].min())
    fit.data.attrs["facts"] = json.dumps(facts | {"pareto_k": 0.9})
    blamed = "rarely visited states" in str(fit.diagnostics())
    assert blamed == (least < 20)


def test_too_few_draws_are_noticed_without_help():
    diagnostics = fitted(shoal.NUTS(warmup=50), draws=20).diagnostics()
    assert not diagnostics.trusted
    assert "Too few effective draws" in str(diagnostics)


def test_a_search_cut_short_says_so():
    assert "did not converge" in str(fitted(shoal.posterior.ADVI(max_iterations=1)).diagnostics())


def test_notes_say_what_the_data_cannot_tell():
    words = str(fitted("map", passive=shoal.Uniform()).diagnostics())
    assert "shrunken −log arrivals" in words
    assert "most probable costs only" in words
    few = shoal.count_transitions([[0, 1, 0]], TORUS)
    words = str(shoal.Model(TORUS, shoal.Uniform()).fit(few, "laplace").diagnostics())
    assert "46 of 48 states were never entered" in words


def test_one_chain_is_not_said_to_disagree_with_itself():
    passive = shoal.RandomWalk(90.0)
    transitions = random_transitions(passive.on(TORUS), TORUS)
    fit = shoal.Model(TORUS, passive).fit(transitions, "nuts", chains=1, draws=600, seed=1)
    words = str(fit.diagnostics())
    assert "cannot disagree with itself" in words
    assert "do not agree" not in words


@pytest.mark.filterwarnings("ignore:steps of")
def test_passive_dynamics_too_narrow_for_the_animals_are_named():
    transitions = random_transitions(shoal.RandomWalk(90.0).on(TORUS), TORUS)
    narrow = shoal.Model(TORUS, shoal.RandomWalk(12.0)).fit(transitions, "map").diagnostics()
    assert "the passive dynamics are too narrow" in str(narrow)
    assert not narrow.trusted
    wide = shoal.Model(TORUS, shoal.RandomWalk(90.0)).fit(transitions, "map").diagnostics()
    assert wide.numbers["share_passively_rare"] == 0
    assert wide.trusted


def test_plots_find_words_and_units():
    fit = fitted("map")
    assert fit.cost_to_go.attrs == {"long_name": "cost-to-go", "units": "nats"}
    assert fit.state_cost.coords["local"].attrs == {"long_name": "local", "units": "°"}


def test_without_a_future_nothing_can_be_learned_and_that_is_said():
    few = shoal.count_transitions([[0, 1, 0]], TORUS)
    fit = shoal.Model(TORUS, shoal.Uniform(), discount=0.0).fit(few, "map")
    assert not fit.diagnostics().trusted
    assert "discount of 0" in str(fit.diagnostics())


def test_what_an_absorbing_state_costs_is_not_made_up():
    matrix = np.array([[1.0, 0, 0, 0], [0.3, 0.4, 0.3, 0], [0, 0.3, 0.4, 0.3], [0, 0, 0.5, 0.5]])
    space = shoal.StateSpace.discrete(4)
    r = np.array([3.0, 1.0, 0.5, 2.0])
    solution = shoal.solve(matrix, r, "first-exit")
    states = shoal.simulation.simulate_decisions(solution, agents=3000, steps=40, seed=1)
    fit = shoal.Model(space, matrix).fit(shoal.count_transitions(states, space), "laplace", seed=1)
    found = fit.state_cost.mean(("chain", "draw")).values
    assert np.isnan(found[0])
    assert np.nanmin(found) == pytest.approx(0, abs=1e-12)
    assert np.allclose(found[1:], r[1:] - 0.5, atol=0.15)
    assert int(fit.level_weights[0]) < 3001 < int(fit.arrivals[0])
    assert "never left passively" in str(fit.diagnostics())


def test_a_handful_of_draws_is_called_that():
    assert "Fewer than 25 draws" in str(fitted("laplace", draws=2).diagnostics())


def test_a_complete_basis_keeps_its_coefficients():
    space = shoal.StateSpace(shoal.Circular("angle", bins=5))
    transitions = shoal.count_transitions([[0, 1, 2, 3, 4, 0]], space)
    fit = shoal.Model(space, shoal.Uniform(), shoal.basis.Fourier(2)).fit(transitions, "map")
    beta = fit.data["posterior"]["coefficients"].values[0, 0]
    assert np.allclose(
        shoal.basis.Fourier(2).on_axis(space.axes[0]) @ beta, fit.sampled.values[0, 0]
    )


def test_the_summary_agrees_with_the_draws_it_sums_up():
    fit = fitted("laplace")
    for what, draws in (("cost_to_go", fit.cost_to_go), ("state_cost", fit.state_cost)):
        table = fit.summary(what, interval=0.8)
        flat = draws.values.reshape(-1, 48)
        assert table.index.names == ["local", "target"]
        assert np.allclose(table["mean"], flat.mean(axis=0))
        assert np.allclose(table["sd"], flat.std(axis=0, ddof=1))
        assert np.allclose(table["lower"], np.quantile(flat, 0.1, axis=0))
        assert np.allclose(table["upper"], np.quantile(flat, 0.9, axis=0))
        assert np.all(table["r_hat"] < 1.05)
        assert np.array_equal(table["arrivals"], fit.arrivals.values.ravel())


def test_a_mode_has_no_interval_and_a_summary_of_something_else_is_refused():
    fit = fitted("map")
    table = fit.summary()
    assert table[["sd", "lower", "upper", "r_hat"]].isna().all(axis=None)
    assert not table["mean"].isna().any()
    with pytest.raises(shoal.InputError, match="got 'value'"):
        fit.summary("value")
    with pytest.raises(shoal.InputError, match=r"got 1\.5"):
        fit.summary(interval=1.5)


def test_with_uniform_dynamics_and_enough_data_costs_are_minus_log_arrivals():
    rng = np.random.default_rng(0)
    end = rng.choice(4, p=[0.4, 0.3, 0.2, 0.1], size=20_000)
    space = shoal.StateSpace.discrete(4)
    transitions = shoal.states.Transitions.from_pairs(np.zeros(20_000, int), end, space)
    fit = shoal.Model(space, shoal.Uniform()).fit(transitions, "map")
    expected = -np.log(transitions.arrivals / transitions.arrivals.max())
    assert np.allclose(fit.cost_to_go.values.ravel(), expected, atol=2e-3)


def test_discounted_fits_recover_costs_up_to_the_unknown_level():
    space = shoal.StateSpace.discrete(20)
    passive = random_graph(20, 5)
    r = np.random.default_rng(5).uniform(0, 3, 20)
    solution = shoal.solve(passive, r, "discounted", discount=0.8)
    states = shoal.simulation.simulate_decisions(solution, agents=400, steps=250, seed=1)
    transitions = shoal.count_transitions(list(states), space)
    fit = shoal.Model(space, passive, discount=0.8).fit(transitions, "laplace", seed=1)
    gap = fit.state_cost - (r - np.average(r, weights=transitions.arrivals))
    gap = gap - gap.weighted(fit.arrivals).mean("number")
    score = gap.mean(("chain", "draw")) / gap.std(("chain", "draw"))
    assert float(np.abs(score).max()) < 4.5


@pytest.mark.parametrize(
    ("facts", "well"),
    [
        ({"pareto_k": 0.5, "importance_ess": 900.0}, True),
        ({"pareto_k": 0.71, "importance_ess": 900.0}, False),
        ({"pareto_k": 0.5, "importance_ess": 399.0}, False),
        ({"pareto_k": float("inf"), "importance_ess": 0.0}, False),
        ({}, True),
    ],
)
def test_draws_are_good_where_weights_could_correct_them_and_enough_count(facts, well):
    assert well_drawn(SimpleNamespace(facts=facts)) is well
