"""Turns with chances of their own: against a plain loop, and against their distribution."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import shoal
from shoal.passive.steps import heavy_steps
from shoal.passive.turn_coupled import FLOOR
from shoal.passive.turns import bin_chances
from shoal.simulation.behaviour import View
from shoal.simulation.lines import Circles, Lines
from shoal.simulation.policy import Policy
from shoal.simulation.turning import CoupledTurns, FollowTurns
from shoal.states import Scene

TARGET = (0.4, -0.2)
SPACES = {
    "one angle": (shoal.LocalMisalignment(),),
    "unequal bins": (shoal.LocalMisalignment(bins=12), shoal.TargetMisalignment(TARGET, bins=8)),
    "odd bins": (shoal.TargetMisalignment(TARGET, bins=7), shoal.Bearing(bins=5)),
    "with a distance between": (
        shoal.LocalMisalignment(bins=6),
        shoal.Distance((0.0, 0.3, 1.0)),
        shoal.TargetMisalignment(TARGET, bins=12),
    ),
}
every_space = pytest.mark.parametrize("parts", SPACES.values(), ids=SPACES.keys())


def view_of(seed, animals=5):
    rng = np.random.default_rng(seed)
    return View(
        jnp.asarray(rng.normal(size=(animals, 2))),
        jnp.asarray(rng.uniform(-180, 180, animals)),
        jnp.ones(animals),
        jnp.ones(animals),
        jnp.zeros(animals),
        {},
        tuple(map(str, range(animals))),
        None,
        None,
    )


def known(spread=5.0, **numbers):
    given = {"noise": 6.0, "tails": 0.5, "follow": 0.8, "step": 0.2}
    return shoal.TurnCoupled(spread=spread, **given | numbers)


def following(space, v, specification=None, rule="stochastic"):
    turns = CoupledTurns.of(specification or known(), space)
    return FollowTurns.of(space, turns, -np.atleast_2d(v), np.zeros(1, int), rule)


def turns_of(behaviour, view, count, group=0):
    keys = jax.random.split(jax.random.key(5), count)
    decide = jax.vmap(lambda key: behaviour.decide(key, view, jnp.asarray(group)).turn)
    return np.asarray(decide(keys)).ravel()


def wrapped_cauchy(spread):
    """The chance of a turn below x degrees, x between −180 and 180."""
    law = stats.wrapcauchy(np.exp(-np.deg2rad(spread)))
    # the law is on 0 to 360°, and symmetric
    return lambda x: np.where(x < 0, law.cdf(np.deg2rad(x % 360)) - 1, law.cdf(np.deg2rad(x))) + 0.5


def median_turn(spread):
    """Half of all wrapped Cauchy turns are smaller: the spread, but for what goes round."""
    return 2 * np.rad2deg(np.arctan(np.tanh(np.deg2rad(spread) / 2)))


# -- the distribution of turns -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "spread"),
    [("one angle", 5.0), ("unequal bins", 40.0)],
)
def test_without_costs_turns_are_those_of_the_specification(name, spread):
    space = shoal.StateSpace(*SPACES[name])
    behaviour = following(space, np.zeros(space.size), known(spread, noise=25.0))
    turns = turns_of(behaviour, view_of(1), 4000)
    assert np.median(np.abs(turns)) == pytest.approx(median_turn(spread), rel=0.05)
    assert abs(np.mean(turns > 0) - 0.5) < 4.5 * 0.5 / np.sqrt(turns.size)
    fit = stats.kstest((turns + 180) % 360 - 180, wrapped_cauchy(spread))
    assert fit.statistic < 0.02  # 20,000 turns and steps of a degree


def test_the_passive_rule_knows_no_costs():
    space = shoal.StateSpace(*SPACES["unequal bins"])
    wild = 20 * np.random.default_rng(1).normal(size=space.size)
    turns = turns_of(following(space, wild, rule="passive"), view_of(1), 4000)
    assert np.median(np.abs(turns)) == pytest.approx(median_turn(5.0), rel=0.05)


def test_an_animal_without_a_state_turns_passively():
    feature = shoal.LocalMisalignment(bins=8, radius=1e-6, include_self=False)
    space = shoal.StateSpace(feature)
    behaviour = following(space, 30 * np.random.default_rng(1).normal(size=8))
    log_weight, _, _, origin = behaviour.weighed(view_of(1), jnp.zeros(5), jnp.asarray(0))
    assert origin.tolist() == [-1] * 5
    np.testing.assert_allclose(log_weight, np.tile(behaviour.log_turn, (5, 1)))


# -- the weight of a turn ------------------------------------------------------------------------


def noisy_desires(space, specification, v):
    """Σ n(noise) z(state + noise), state by state."""
    kernels = []
    for axis in space.axes:
        if isinstance(axis, shoal.Circular):
            numbers = jnp.asarray(specification.noise), jnp.asarray(specification.tails)
            change = bin_chances(axis.size, jnp.asarray(0.0), *numbers, np.zeros(1))[0]
            kernels.append([np.roll(change, bin_) for bin_ in range(axis.size)])
        else:
            kernels.append(np.asarray(heavy_steps(axis, specification.step)))
    desires = []
    for start in np.ndindex(*space.shape):
        chances = [kernel[bin_] for kernel, bin_ in zip(kernels, start, strict=True)]
        total = 0.0
        for number, end in enumerate(np.ndindex(*space.shape)):
            each = [chance[bin_] for chance, bin_ in zip(chances, end, strict=True)]
            total += math.prod(each) * math.exp(-v[number])
        desires.append(total)
    return desires


@pytest.mark.parametrize("name", ["unequal bins", "with a distance between"])
def test_a_turn_is_weighed_by_its_chance_and_by_where_it_leads_with_noise(name):
    space, specification = shoal.StateSpace(*SPACES[name]), known(20.0, noise=15.0)
    rng = np.random.default_rng(8)
    v = 2 * rng.normal(size=space.size)
    behaviour = following(space, v, specification)
    view, offset = view_of(3), rng.uniform(-0.5, 0.5, 5)
    found = behaviour.weighed(view, jnp.asarray(offset), jnp.asarray(0))
    log_weight, turns, ends, _ = map(np.asarray, found)
    count, animal = turns.shape[1], 2
    step = 360 / count
    assert step <= 1.0
    desires = noisy_desires(space, specification, v)
    scene = Scene(np.asarray(view.positions)[None], np.asarray(view.headings)[None], None)
    now = [float(part.values(scene)[0, animal]) for part in space.parts]
    angles = [axis.unit == "°" for axis in space.axes]
    below = wrapped_cauchy(20.0)
    expected = []
    for k, turn in enumerate(turns[animal]):
        then = [
            value - turn if angle else np.clip(value, 0.0, 1.0)
            for value, angle in zip(now, angles, strict=True)
        ]
        state = int(space.encode(*then))
        assert state == int(ends[animal, k])
        middle = step * (k - count // 2)
        if k == 0:
            chance = 2 * below(-180 + step / 2)
        else:
            chance = below(middle + step / 2) - below(middle - step / 2)
        expected.append(((1 - FLOOR) * chance + FLOOR / count) * desires[state])
    weight, expected = np.exp(log_weight[animal]), np.array(expected)
    np.testing.assert_allclose(weight / weight.sum(), expected / expected.sum(), rtol=1e-9)


def test_the_least_cost_rule_takes_the_turn_of_the_largest_weight():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    behaviour = following(space, 4 * np.cos(np.deg2rad(space.axes[0].centres)), rule="least-cost")
    view = view_of(2)
    log_weight, turns, *_ = behaviour.weighed(view, jnp.zeros(5), jnp.asarray(0))
    best = np.take_along_axis(np.asarray(turns), np.argmax(log_weight, axis=1)[:, None], axis=1)
    np.testing.assert_allclose(turns_of(behaviour, view, 1), best[:, 0])


@every_space
def test_states_along_lines_are_the_same_with_and_without_a_table(parts):
    space = shoal.StateSpace(*parts)
    lines = Lines.of(space)
    plain = Circles(space, lines.turning, lines.count, lines.bins)
    scene = view_of(4).scene()
    values = [jnp.asarray(part.values(scene)[0]) for part in space.parts]
    values = [
        jnp.clip(value, 0.0, 1.0) if isinstance(axis, shoal.states.Interval) else value
        for value, axis in zip(values, space.axes, strict=True)
    ]
    found = lines.located(values, jnp.full(5, 0.2))
    np.testing.assert_array_equal(lines.ends(found), plain.ends(found))


# -- what animals live by ------------------------------------------------------------------------


def test_every_draw_has_its_own_turns():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    turns = CoupledTurns.of(known(), space, 3)
    turns.field("spread")[:] = [9.0, 2.0, 60.0]
    some = turns.only(np.array([1, 2]))
    behaviour = FollowTurns.of(space, some, np.zeros((2, 12)), np.array([1, 0]))
    wide, narrow = (np.abs(turns_of(behaviour, view_of(0), 4000, group)) for group in (0, 1))
    assert np.median(wide) == pytest.approx(median_turn(60.0), rel=0.05)
    assert np.median(narrow) == pytest.approx(median_turn(2.0), rel=0.05)


@pytest.fixture(scope="module")
def school():
    """Animals that turn by 8° and would rather be aligned, and a fit of them."""
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    v = 1.5 - 1.5 * np.cos(np.deg2rad(space.axes[0].centres))
    tracks = shoal.simulate(
        v,
        space=space,
        passive=known(8.0, noise=3.0),
        start=shoal.Release(8, place=(0, 0), spread=1.0),
        steps=150,
        speed=0.1,
        fps=10.0,
        seed=4,
    )
    counts = shoal.count_transitions(tracks, space)
    model = shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth())
    return tracks, model.fit(counts, "laplace", draws=15, seed=1)


@pytest.mark.slow
def test_preferences_align_a_group_that_turns_by_little(school):
    tracks, _ = school
    assert float(shoal.measures.group_measures(tracks)["polarisation"][-50:].mean()) > 0.6


@pytest.mark.slow
def test_draws_of_a_fit_bring_their_own_numbers(school):
    _, fit = school
    names = list(fit.parameters["parameter"].values)
    spreads = fit.parameters.values.reshape(60, -1)[:, names.index("turn spread")]
    each = Policy.of(fit, None, None, 1.0, "each").turns
    np.testing.assert_allclose(each.field("spread"), spreads)
    assert each.field("noise", 0).shape == (60,)
    mean = Policy.of(fit, None, None, 1.0, "mean").turns
    np.testing.assert_allclose(mean.field("spread"), [fit.passive.spread])


@pytest.mark.slow
@pytest.mark.parametrize("draws", ["mean", "each"])
def test_a_fit_moves_the_same_after_it_was_saved(school, tmp_path, draws):
    tracks, fit = school
    again = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    chosen = {"start": tracks, "steps": 30, "seed": 3, "replicates": 3, "draws": draws}
    before, after = shoal.simulate(fit, **chosen), shoal.simulate(again, **chosen)
    for one, other in zip(before, after, strict=True):
        np.testing.assert_allclose(one.positions, other.positions, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_predictive_check_finds_the_order_of_such_animals(school):
    tracks, fit = school
    check = shoal.predictive_check(fit, tracks, replicates=40, seed=1)
    assert check.measures["polarisation"].holds("learned policy")


@pytest.mark.slow
def test_a_predictive_check_of_decisions_finds_the_turns_of_such_animals(school):
    """Read as transitions, neighbours' turns count as the animal's own, and it turns too much."""
    tracks, observed = school
    space = observed.model.space
    decided = shoal.decisions(tracks, space, shoal.Turns())
    fit = shoal.Model(space, shoal.Turns(), shoal.Smooth()).fit(
        decided, "laplace", draws=15, seed=1
    )
    check = shoal.predictive_check(fit, tracks, replicates=40, seed=1)
    for name in ("turning_angle", "polarisation"):
        assert check.measures[name].holds("learned policy")
    assert abs(float(fit.parameters.values[..., -1].mean()) - 8.0) < 1.0


@pytest.mark.filterwarnings("ignore:steps of local misalignment")
def test_known_numbers_serve_all_draws():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    tracks = shoal.simulate(
        shoal.simulation.Vicsek(noise=20), start=shoal.Release(5, (0, 0), spread=1.0), steps=40,
        speed=0.1, seed=1,
    )  # fmt: skip
    counts = shoal.count_transitions(tracks, space)
    fit = shoal.Model(space, known()).fit(counts, "laplace", draws=7, seed=1)
    turns = Policy.of(fit, None, None, 1.0, "each").turns
    np.testing.assert_array_equal(turns.field("spread"), np.full(28, 5.0))


def test_an_operator_alone_is_followed_by_the_states_it_leads_to():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    operator = shoal.TurnCoupled(spread=5.0, noise=6.0, tails=0.5, follow=1.0).on(space)
    policy = Policy.of(np.zeros(12), operator, space, 1.0, "mean")
    assert policy.turns is None
    start = shoal.Release(3, place=(0, 0), spread=1.0)
    chosen = {"space": space, "start": start, "steps": 2, "speed": 0.1}
    assert shoal.simulate(np.zeros(12), passive=operator, **chosen).positions.shape == (3, 3, 2)


def test_unknown_numbers_need_a_fit():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    with pytest.raises(shoal.InputError, match="has unknowns"):
        shoal.simulate(np.zeros(12), space=space, passive=shoal.TurnCoupled())
