"""Fits to decisions, beside plain sums, beside NUTS and beside the truth."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import shoal
from shoal.posterior.decision_fit import lines_of, without_levels

SPACE = shoal.StateSpace(shoal.TargetMisalignment((0.0, 0.0), bins=18))
COSTS = 1 - np.cos(np.deg2rad(SPACE.axes[0].centres - 40.0))
PASSIVE = shoal.Turns(spread=8.0)


@pytest.fixture(scope="module")
def herd():
    """Animals that approach a target with it on one side, far from it."""
    return shoal.simulate(
        COSTS, space=SPACE, passive=PASSIVE, start=shoal.Release(12, (50.0, 0.0), 10.0),
        steps=150, speed=0.2, seed=3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def decided(herd):
    return shoal.decisions(herd, SPACE, shoal.Turns())


@pytest.fixture(scope="module")
def fit(decided):
    return shoal.Model(SPACE, shoal.Turns(), shoal.Smooth()).fit(
        decided, "laplace", draws=500, seed=1
    )


def test_the_log_posterior_is_the_plain_sum_over_decisions(decided):
    model = shoal.Model(SPACE, shoal.Turns(), shoal.Smooth())
    density = model.density(decided)
    rng = np.random.default_rng(1)
    position = rng.normal(0, 0.5, density.dimension)
    _, hyper = density.split(jnp.asarray(position))
    q = np.asarray(density.cost_to_go(jnp.asarray(position)))
    spread = float(density.values(hyper)[-1])
    law = stats.wrapcauchy(np.exp(-np.deg2rad(spread)))
    heights = law.pdf(np.mod(np.deg2rad(decided.quadrature.turn[:, 0]), 2 * np.pi))
    weights = heights * np.exp(decided.quadrature.log_base[:, 0])
    weights = weights / weights.sum()
    total = 0.0
    for row in range(decided.total):
        passive = np.log(law.pdf(np.mod(np.deg2rad(decided.turn[row]), 2 * np.pi)) * np.pi / 180)
        norm = np.log(np.sum(weights * np.exp(-q[decided.states[row]])))
        total += passive - q[decided.records.destination[row]] - norm
    prior = stats.norm.logpdf(position).sum()
    found = float(density.log_posterior(jnp.asarray(position)))
    np.testing.assert_allclose(found, total + prior, rtol=1e-5)


def test_the_truth_lies_within_its_intervals(fit, decided):
    truth = without_levels(COSTS[None, None], fit.lines, decided.arrivals)[0, 0]
    draws = without_levels(fit.sampled.values, fit.lines, decided.arrivals)
    low, high = np.quantile(draws, [0.005, 0.995], axis=(0, 1))
    known = decided.arrivals >= 20
    assert known.sum() > 8
    assert np.mean(((low <= truth) & (truth <= high))[known]) >= 0.9
    spread = float(fit.parameters.values[..., -1].mean())
    assert abs(spread - 8.0) < 4 * fit.parameters.values[..., -1].std() + 0.1
    assert fit.diagnostics().trusted, str(fit.diagnostics())


@pytest.mark.slow
def test_laplace_and_nuts_agree(fit, decided):
    model = shoal.Model(SPACE, shoal.Turns(), shoal.Smooth())
    exact = model.fit(decided, "nuts", chains=2, draws=500, seed=2)
    known = decided.arrivals >= 20
    quick, slow = (f.cost_to_go.values.reshape(-1, SPACE.size)[:, known] for f in (fit, exact))
    sd = slow.std(axis=0)
    assert np.max(np.abs(quick.mean(axis=0) - slow.mean(axis=0)) / sd) < 0.25
    np.testing.assert_allclose(quick.std(axis=0), sd, rtol=0.2)


def test_a_score_is_the_mean_log_density_of_the_moves(fit, decided):
    found = fit.score(decided, draws=1)
    q = fit.sampled.values.reshape(-1, SPACE.size)[0]
    spread = float(fit.parameters.values.reshape(-1, fit.parameters.shape[-1])[0, -1])
    fine = np.linspace(-180, 180, 7201)[:-1] + 0.025
    law = stats.wrapcauchy(np.exp(-np.deg2rad(spread)))
    chance = law.pdf(np.mod(np.deg2rad(fine), 2 * np.pi))
    chance = chance / chance.sum()
    logs = []
    for row in range(decided.total):
        ends = SPACE.axes[0].locate(np.mod(decided.perceived[row, 0] - fine + 180, 360) - 180)
        norm = np.log(np.sum(chance * np.exp(-q[ends])))
        passive = np.log(law.pdf(np.mod(np.deg2rad(decided.turn[row]), 2 * np.pi)) * np.pi / 180)
        logs.append(passive - q[decided.records.destination[row]] - norm)
    assert found.bits == pytest.approx(np.mean(logs) / np.log(2), abs=2e-3)
    gain, error = fit.score(decided).gain
    assert gain > 2 * error > 0


def test_maps_find_the_same_costs(fit, decided):
    model = shoal.Model(SPACE, shoal.Turns(), shoal.Smooth())
    top = model.fit(decided, "map")
    known = decided.arrivals >= 20
    away = (top.cost_to_go - fit.cost_to_go.mean(("chain", "draw"))).values.ravel()[known]
    sd = fit.cost_to_go.values.std(axis=(0, 1))[known]
    assert np.max(np.abs(away - away.mean()) / sd) < 1.0


def test_a_fit_of_decisions_is_stored_whole(fit, decided, tmp_path):
    back = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    assert type(back) is type(fit)
    assert back.model.passive == fit.model.passive
    np.testing.assert_array_equal(back.cost_to_go.values, fit.cost_to_go.values)
    assert back.score(decided).bits == fit.score(decided).bits
    assert str(back.diagnostics()) == str(fit.diagnostics())


@pytest.mark.slow
def test_animals_that_follow_a_fit_of_steps_keep_their_distance():
    space = shoal.StateSpace(shoal.Distance(np.linspace(0, 3, 13), beyond=True))
    costs = 4.0 * (space.axes[0].centres - 1.0) ** 2
    passive = shoal.Steps(spread=20.0, typical=0.2, variation=0.4, follow=0.3)
    together = shoal.simulate(
        costs, space=space, passive=passive, start=shoal.Release(4, (0.0, 0.0), 1.0), steps=300,
        speed=0.2, seed=1,
    )  # fmt: skip
    found = shoal.decisions(together, space, shoal.Steps())
    fitted = shoal.Model(space, shoal.Steps(), shoal.Smooth()).fit(found, "laplace", draws=250)
    again = shoal.simulate(fitted, start=together, steps=200, seed=2)
    near = [
        np.nanmedian(space.parts[0].values(shoal.states.Scene.of(tracks))[50:])
        for tracks in (together, again)
    ]
    assert abs(near[0] - 1.0) < 0.3 and abs(near[1] - near[0]) < 0.25
    best = space.axes[0].centres[np.argmin(fitted.cost_to_go.values.mean(axis=(0, 1)))]
    assert abs(best - 1.0) < 0.4


def test_one_turn_moves_two_angles_along_a_line():
    space = shoal.StateSpace(
        shoal.LocalMisalignment(bins=12), shoal.TargetMisalignment((0, 0), bins=12)
    )
    lines = lines_of(space, steps=False)
    i, j = np.indices((12, 12))
    for line in range(12):
        assert len(set(((i - j) % 12)[lines == line])) == 1
    assert np.all(lines_of(space, steps=True) == 0)
    mixed = shoal.StateSpace(shoal.LocalMisalignment(bins=12), shoal.Distance((0, 1, 2, 3)))
    assert np.array_equal(lines_of(mixed, steps=False)[0], [0, 1, 2])


def test_levels_are_taken_off_line_by_line():
    lines = np.array([[0, 0, 1], [1, 1, 0]])
    arrivals = np.array([[1, 3, 0], [0, 0, 4]])
    draws = np.random.default_rng(0).normal(size=(2, 3, 2, 3))
    found = without_levels(draws, lines, arrivals)
    first = found[..., lines == 0]
    np.testing.assert_allclose((first * [1, 3, 4]).sum(axis=-1), 0, atol=1e-12)
    np.testing.assert_allclose(found[..., lines == 1].mean(axis=-1), 0, atol=1e-12)
    shifted = draws + 5.0 * lines
    np.testing.assert_allclose(without_levels(shifted, lines, arrivals), found, atol=1e-12)


def test_decisions_and_transitions_are_not_mixed_up(herd, decided, fit):
    counts = shoal.count_transitions(herd, SPACE)
    with pytest.raises(shoal.InputError, match=r"shoal.decisions"):
        shoal.Model(SPACE, shoal.Turns()).fit(counts, "map")
    with pytest.raises(shoal.InputError, match="a model with moves"):
        shoal.Model(SPACE, shoal.RandomWalk(20.0)).fit(decided, "map")
    with pytest.raises(shoal.InputError, match="this fit is of decisions"):
        fit.score(counts)
    with pytest.raises(shoal.InputError, match="advi"):
        shoal.Model(SPACE, shoal.Turns()).fit(decided, "advi")
    with pytest.raises(shoal.InputError, match="state_costs=True"):
        _ = fit.state_cost


@pytest.mark.slow
def test_walls_do_not_bias_passive_moves():
    space = shoal.StateSpace(
        shoal.states.TargetDistance((5.0, 5.0), np.linspace(0, 8, 9), beyond=True)
    )
    arena = shoal.tracks.Rectangle(0.0, 0.0, 10.0, 10.0)
    passive = shoal.Steps(spread=20.0, typical=1.0, variation=0.5, follow=0.0)
    boxed = shoal.simulate(
        np.zeros(8), space=space, passive=passive, start=shoal.Release(10, (5.0, 5.0), 3.0),
        steps=250, speed=1.0, arena=arena, seed=2,
    )  # fmt: skip
    found = shoal.decisions(boxed, space, shoal.Steps(follow=0.0, candidates=128))
    assert found.possible is not None and 0.02 < np.mean(~found.possible) < 0.4
    fitted = shoal.Model(space, found.moves, shoal.Smooth()).fit(found, "laplace", draws=250)
    draws = fitted.parameters.values.reshape(-1, fitted.parameters.shape[-1])[:, -5:]
    away = (draws.mean(axis=0) - [20.0, 1.0, 0.5, 0.0, 0.0]) / draws.std(axis=0)
    assert np.max(np.abs(away)) < 4, away
    assert abs(fitted.score(found).gain[0]) < 0.01


def test_a_score_does_not_depend_on_where_candidates_come_from(decided, herd):
    model = shoal.Model(SPACE, shoal.Turns(persistence=0.2), shoal.Smooth())
    own = shoal.decisions(herd, SPACE, shoal.Turns(persistence=0.2))
    fitted = model.fit(own, "map")
    assert fitted.score(decided).bits == pytest.approx(fitted.score(own).bits, abs=2e-3)


def test_other_moves_than_the_models_are_refused(decided):
    with pytest.raises(shoal.InputError, match="read with spread"):
        shoal.Model(SPACE, shoal.Turns(spread=80.0)).fit(decided, "map")
    with pytest.raises(shoal.InputError, match="leave out one of them"):
        shoal.Turns(every=10.0, persistence=0.3)
    with pytest.raises(shoal.InputError, match="a turn changes nothing"):
        shoal.simulate(
            np.zeros(2), space=shoal.StateSpace(shoal.Distance((0, 1, 2))), passive=PASSIVE,
            start=shoal.Release(3), steps=5, speed=0.1,
        )  # fmt: skip


def test_a_turn_leads_between_all_absolute_angles():
    space = shoal.StateSpace(
        shoal.LocalMisalignment(bins=12, absolute=True), shoal.TargetMisalignment((0, 0), bins=12)
    )
    assert np.all(lines_of(space, steps=False) == 0)


@pytest.mark.slow
def test_bins_that_end_among_the_animals_are_not_trusted():
    herd = shoal.simulate(
        shoal.simulation.Vicsek(noise=30),
        start=shoal.Release(4, (0.0, 0.0), 1.0),
        steps=60,
        speed=0.2,
        seed=1,
    )
    rng = np.random.default_rng(1)  # steps of unequal length, so that they can be chosen
    herd = shoal.Tracks.from_arrays(herd.positions + rng.normal(0, 0.02, herd.positions.shape))

    def judged(edges):
        space = shoal.StateSpace(shoal.Distance(edges, beyond=True))
        found = shoal.decisions(herd, space, shoal.Steps())
        fit = shoal.Model(space, shoal.Steps(), shoal.Smooth()).fit(found, "map")
        beyond = np.mean(found.decided[:, 0] > edges[-1])
        return fit.diagnostics(), beyond, np.quantile(found.decided[:, 0], 0.99)

    said, share, far = judged((0.0, 0.2, 0.4))
    assert share > 0.2 and said.numbers["beyond_neighbour_distance"] == share
    (words,) = [line for line in said.failures if "beyond the last bin" in line]
    assert f"{share:.0%}" in words and "(above 0.4)" in words and f":max={far:.2g}" in words
    said, share, _ = judged((0.0, 0.2, 0.4, float(far) + 0.1))
    assert share < 0.01 and not any("beyond" in line for line in (*said.failures, *said.notes))


@pytest.mark.filterwarnings("ignore:the target")  # far away, so that everybody sees it alike
@pytest.mark.parametrize("shared", [0.0, 8.0])
def test_turns_that_animals_make_together_are_noticed(shared):
    rng = np.random.default_rng(3)
    turns = rng.normal(0, 8, (500, 4)) + shared * rng.normal(size=(500, 1))
    angle = np.deg2rad(rng.uniform(-180, 180, 4) + np.cumsum(turns, axis=0))
    places = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], axis=-1), axis=0)
    space = shoal.StateSpace(shoal.TargetMisalignment((1e6, 0.0), bins=12))
    found = shoal.decisions(shoal.Tracks.from_arrays(places), space, shoal.Turns("von-mises"))
    fit = shoal.Model(space, found.moves, shoal.Smooth()).fit(found, "map")
    together, pairs = (fit.facts[f"frame_{name}"] for name in ("correlation", "pairs"))
    assert pairs == 6 * found.total / 4
    said = [line for line in fit.diagnostics().notes if "in the same frame" in line]
    if shared:  # half of the variance is shared: 6/π asin(1/4) for the quantiles of normal turns
        assert together == pytest.approx(6 / np.pi * np.arcsin(0.25), abs=0.1)
        assert len(said) == 1 and f"(correlation {together:.2f})" in said[0]
    else:
        assert abs(together) < 4 / np.sqrt(pairs) and not said
