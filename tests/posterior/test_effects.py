"""Effects: what each axis does by itself, and what axes do together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import shoal
from handmade import fit_of
from registries import CIRCLE, CUBE, TORUS

SHAPES = {"one axis": CIRCLE, "two axes": TORUS, "three axes": CUBE}
every_space = pytest.mark.parametrize("space", SHAPES.values(), ids=SHAPES.keys())
COSTS = st.floats(-20, 20).map(lambda value: round(value, 6))


def effects_of(v, space):
    return fit_of(shoal.Model(space, shoal.Uniform()), v).effects()


def spread_out(effect, space):
    """An effect on the whole grid."""
    own = [space.names.index(name) for name in effect.axes]
    shape = [size if n in own else 1 for n, size in enumerate(space.shape)]
    return effect.draws.reshape(len(effect.draws), *shape)


@every_space
@given(data=st.data())
def test_effects_add_up_and_shares_sum_to_one(space, data):
    v = data.draw(arrays(float, (3, *space.shape), elements=COSTS))
    found = effects_of(v, space)
    axes = tuple(range(1, v.ndim))
    whole = sum(spread_out(effect, space) for effect in found.effects)
    assert np.allclose(whole, v - v.mean(axis=axes, keepdims=True), atol=1e-9)
    shares = sum(effect.share for effect in found.effects)
    assert np.all(np.isclose(shares, 1.0, atol=1e-6) | (shares == 0)), "noise has no shares"
    one = effects_of(v[:1], space)
    if v[0].var() > 1e-6:
        assert np.isclose(sum(effect.share for effect in one.effects), 1.0, atol=1e-6)
    for effect in found.effects:
        for axis in range(1, effect.draws.ndim):
            assert np.allclose(effect.draws.mean(axis=axis), 0, atol=1e-9)


@every_space
def test_effects_are_orthogonal_and_their_shares_those_of_the_variance(space):
    v = np.random.default_rng(1).normal(size=(1, *space.shape))
    found = effects_of(v, space)
    grids = [np.broadcast_to(spread_out(e, space), v.shape).reshape(1, -1) for e in found.effects]
    for n, one in enumerate(grids):
        assert np.allclose(found.effects[n].share, one.var(axis=1) / v.reshape(1, -1).var(axis=1))
        assert np.allclose(found.effects[n].sd, one.std(axis=1))
        assert np.allclose(found.effects[n].range, np.ptp(one, axis=1))
        for other in grids[:n]:
            assert np.allclose((one * other).mean(axis=1), 0, atol=1e-12)


def test_main_effects_are_means_over_the_other_axes():
    v = np.random.default_rng(2).normal(size=(2, *CUBE.shape))
    found = effects_of(v, CUBE)
    assert np.allclose(found["b"].draws, v.mean(axis=(1, 3)) - v.mean(axis=(1, 2, 3))[:, None])
    pair = v.mean(axis=2)
    pair = pair - pair.mean(axis=1, keepdims=True) - pair.mean(axis=2, keepdims=True)
    pair = pair + v.mean(axis=(1, 2, 3))[:, None, None]
    assert np.allclose(found["a × c"].draws, pair)


def test_costs_that_add_up_have_no_interaction_and_know_their_shares():
    local, target = np.linspace(0, 1, 8), 3 * np.linspace(0, 1, 6) ** 2
    found = effects_of((local[:, None] + target)[None], TORUS)
    assert np.allclose(found["local × target"].draws, 0, atol=1e-12)
    total = local.var() + target.var()
    assert np.isclose(found["local"].share[0], local.var() / total)
    assert np.isclose(found["target"].share[0], target.var() / total)
    assert np.isclose(found["target"].range[0], 3.0)
    both = np.outer(local - local.mean(), target - target.mean())
    alone = effects_of(both[None], TORUS)
    assert np.isclose(alone["local × target"].share[0], 1.0)


def test_names_are_words_with_main_effects_first():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=4), shoal.TargetMisalignment((0, 0), 4))
    found = effects_of(np.random.default_rng(1).normal(size=(2, 4, 4)), space)
    words = (
        "local misalignment",
        "target misalignment",
        "local misalignment × target misalignment",
    )
    assert found.names == words
    assert found["local_misalignment"] is found["local misalignment"]
    assert found["local_misalignment_target_misalignment"] is found[words[2]]
    assert effects_of(np.zeros((1, *CUBE.shape)), CUBE).names == (
        *("a", "b", "c", "a × b", "a × c", "b × c"),
        "a × b × c",
    )
    with pytest.raises(shoal.InputError, match="no effect 'mood'; there are local misalignment, t"):
        found["mood"]
    with pytest.raises(shoal.InputError, match="no effect 'local"):
        found.probability("target_misalignment", "local")


def test_a_probability_is_the_share_of_draws_and_ties_are_halves():
    v = np.zeros((4, *TORUS.shape))
    ramp, slope = np.linspace(-1, 1, 8)[:, None], np.linspace(-1, 1, 6)[None, :]
    for n, (local, target) in enumerate(((2, 1), (2, 1), (1, 2), (0, 0))):
        v[n] = local * ramp + target * slope
    found = effects_of(v, TORUS)
    assert found.probability("local", "target") == (2 + 0.5) / 4
    assert found.probability("target", "local") == (1 + 0.5) / 4
    assert found.probability("local", "local") == 0.5


def test_the_sentence_names_the_larger_effect_and_how_sure_that_is():
    ramp, slope = np.linspace(-1, 1, 8)[:, None], np.linspace(-1, 1, 6)[None, :]
    v = np.stack([ramp + 3 * slope, ramp + 2 * slope, 3 * ramp + slope, ramp + 3 * slope])
    words = effects_of(v, TORUS).sentence()
    assert words.startswith("Target matters more than local with probability 0.75: it explains ")
    assert words.endswith("what axes do together cannot be told from nothing.")
    assert effects_of(v[:1], TORUS).sentence().endswith("0% is what axes do together.")
    assert effects_of(v[:, :, 0].repeat(2, 1)[:, :12], CIRCLE).sentence() == (
        "angle is the only axis."
    )


def test_a_table_has_a_row_for_each_effect_with_intervals_of_the_draws():
    v = np.random.default_rng(1).normal(size=(200, *TORUS.shape))
    found = effects_of(v, TORUS)
    rows = found.rows(0.5)
    assert [row["effect"] for row in rows] == list(found.names)
    share = found["local"].share
    low, high = np.quantile(share, [0.25, 0.75])
    assert rows[0]["share of variance"] == f"{share.mean():.0%} [{low:.0%}, {high:.0%}]"
    single = effects_of(v[:1], TORUS).rows()
    assert single[0]["range (nats)"] == f"{np.ptp(found['local'].draws[0]):.2f}"


def noisy(truth, noise, seed, draws=600):
    """A posterior whose mean is off by as much as its draws scatter, a number for each state."""
    rng = np.random.default_rng(seed)
    mean = truth + noise * rng.normal(size=TORUS.shape)
    return mean + noise * rng.normal(size=(draws, *TORUS.shape))


RAMP, SLOPE = np.linspace(-1, 1, 8)[:, None], np.linspace(-1, 1, 6)[None, :]
BOTH = RAMP * SLOPE
TRUTHS = {
    "one axis": 1.5 * RAMP + 0 * SLOPE,
    "two axes": RAMP + SLOPE,
    "together": RAMP + 2 * BOTH,
    "nothing": 0 * BOTH,
}


@pytest.mark.parametrize("name", TRUTHS)
def test_noise_of_the_posterior_is_no_effect(name):
    truth = TRUTHS[name]
    exact = {e.name: float(e.share[0]) for e in effects_of(truth[None], TORUS).effects}
    for seed in range(6):
        found = effects_of(noisy(truth, 0.6, seed), TORUS)
        for effect in found.effects:
            low, high = np.quantile(effect.share, (0.005, 0.995))
            assert low <= exact[effect.name] + 1e-9, (seed, effect.name)
            assert exact[effect.name] <= high + 1e-9, (seed, effect.name)
            assert effect.clear == (exact[effect.name] > 0.1), (seed, effect.name)
        if name == "one axis":
            assert found["local × target"].share.mean() < 0.12
            draws = found["local × target"].draws
            assert (draws**2).mean() > 0.3 * (truth**2).mean(), "noise as large as this"


def test_a_range_is_that_of_two_states_and_not_of_noise():
    found = effects_of(noisy(TRUTHS["one axis"], 0.1, 1), TORUS)
    assert found["local"].range.mean() == pytest.approx(3.0, abs=0.3)
    nothing = effects_of(np.random.default_rng(1).normal(size=(4000, *TORUS.shape)), TORUS)
    assert abs(nothing["local × target"].range.mean()) < 0.2


def test_the_level_of_a_draw_does_not_matter():
    v = np.random.default_rng(1).normal(size=(5, *TORUS.shape))
    shifted = v + np.arange(5)[:, None, None] * 100.0
    pairs = zip(effects_of(v, TORUS).effects, effects_of(shifted, TORUS).effects, strict=True)
    for one, other in pairs:
        assert np.allclose(one.draws, other.draws, atol=1e-10)
        assert np.allclose(one.share, other.share, atol=1e-10)


def test_without_costs_no_effect_explains_anything():
    level = np.random.default_rng(1).normal(size=(50, 1, 1)) + np.zeros(TORUS.shape)
    found = effects_of(level, TORUS)
    for effect in found.effects:
        assert np.all((effect.share >= 0) & (effect.share <= 1))
    assert "-" not in found.sentence()
