"""Passive moves as they were seen, and animals that circle."""

import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from shoal.moves import MoveFamily
from shoal.moves.densities import log_step, log_turn
from shoal.posterior.specification import described, restored

SPACE = shoal.StateSpace(shoal.TargetMisalignment((5.0, 0.0), bins=12))


def tracks(seed=1, frames=2000, mean=0.0, sd=12.0, group="", longest=np.inf):
    rng = np.random.default_rng(seed)
    angle = np.deg2rad(np.cumsum(rng.normal(mean, sd, (frames, 2)), axis=0))
    length = np.minimum(rng.lognormal(np.log(0.1), 0.3, (frames, 2)), longest)
    moved = length[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return shoal.Tracks.from_arrays(np.cumsum(moved, axis=0), group=group)


def normal(x, sd):
    return np.exp(-0.5 * (x / sd) ** 2) / (sd * np.sqrt(2 * np.pi))


def test_observed_turns_have_the_density_of_the_turns():
    found = shoal.moves.observed_turns(tracks(frames=20_000), bins=30)
    degrees = np.linspace(-25, 25, 41)
    seen = np.exp(np.asarray(log_turn(found, {}, jnp.asarray(degrees))))
    np.testing.assert_allclose(seen, normal(degrees, 12.0), rtol=0.12)
    np.testing.assert_allclose(seen, seen[::-1], rtol=1e-9)
    everywhere = np.linspace(-180, 180, 36_001)
    total = np.exp(np.asarray(log_turn(found, {}, jnp.asarray(everywhere)))).mean() * 360
    assert total == pytest.approx(1.0, abs=1e-3)


def test_observed_turns_lean_only_where_asked():
    circling = tracks(mean=8.0, frames=4000)
    grid = np.linspace(-180, 180, 7201)
    means = []
    for symmetric in (True, False):
        found = shoal.moves.observed_turns(circling, symmetric=symmetric)
        density = np.exp(np.asarray(log_turn(found, {}, jnp.asarray(grid))))
        means.append((grid * density).sum() / density.sum())
    assert abs(means[0]) < 0.05 and means[1] == pytest.approx(8.0, abs=1.0)


def test_observed_steps_have_the_density_of_the_steps():
    found = shoal.moves.observed_steps(tracks(frames=20_000), bins=30)
    away = np.linspace(-0.5, 0.5, 21)
    seen = np.exp(np.asarray(log_step(found, {}, jnp.asarray(away), plain=False)))
    np.testing.assert_allclose(seen, normal(away, 0.3), rtol=0.12)
    assert found.typical == pytest.approx(0.1, rel=0.02) and found.follow < 0.03
    assert np.isneginf(log_step(found, {}, jnp.asarray([9.0]), plain=False)[0])


def test_observed_moves_are_candidates_weights_and_files():
    seen = tracks(frames=400)
    moves = shoal.Steps(shoal.moves.observed_turns(seen), step=shoal.moves.observed_steps(seen))
    found = shoal.decisions(seen, SPACE, moves)
    family = MoveFamily.of(found.moves, SPACE, found.candidates)
    assert family.count == 0
    passive = family.at(jnp.zeros(0))
    weights = np.asarray(passive.weights)[:, 0]
    assert weights.sum() == pytest.approx(1.0) and (weights > 0).sum() > 40
    spread = np.sqrt(weights @ found.quadrature.turn[:, found.which[0]] ** 2)
    assert spread == pytest.approx(np.std(found.turn), rel=0.15)
    assert np.isfinite(np.asarray(passive.log_density(found.moved))).all()
    assert restored(described(found.moves)) == found.moves


def test_a_step_that_passive_moves_exclude_is_named():
    control = shoal.moves.observed_steps(tracks(longest=0.12))
    with pytest.raises(shoal.InputError, match=r"group 'g', animal '.', frame \d+: passive moves"):
        shoal.decisions(tracks(2, group="g"), SPACE, shoal.Steps(step=control))


def test_too_few_moves_for_a_histogram_are_said_in_one_line():
    with pytest.raises(shoal.InputError, match="needs 100 moves, and these tracks have"):
        shoal.moves.observed_turns(tracks(frames=20))


def test_a_mean_turn_is_learned_where_asked():
    found = shoal.decisions(tracks(mean=8.0, frames=600), SPACE, shoal.Turns("normals", bias=True))
    fit = shoal.Model(SPACE, found.moves, shoal.Smooth()).fit(found, "map", progress=False)
    numbers = fit.family.numbers(jnp.asarray(fit.passive_unknowns[0]))
    assert float(numbers["bias", None]) == pytest.approx(8.0, abs=1.0)
    assert np.average(found.quadrature.turn) == pytest.approx(8.0, abs=4.0)
    assert restored(described(fit.model.passive)) == fit.model.passive


def test_turns_that_repeat_make_no_spike_and_stay_symmetric():
    rng = np.random.default_rng(3)
    turns = np.where(rng.random(8000) < 0.04, 0.0, np.round(rng.normal(0, 9, 8000), 3))
    angle = np.deg2rad(np.cumsum(turns))
    places = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], axis=-1), axis=0)
    found = shoal.moves.observed_turns(shoal.Tracks.from_arrays(places[:, None]))
    grid = np.linspace(-40, 40, 801)
    seen = np.exp(np.asarray(log_turn(found, {}, jnp.asarray(grid))))
    np.testing.assert_allclose(seen, seen[::-1], rtol=1e-9)
    assert seen.max() < 3 * normal(0.0, 9.0)
    bits = np.mean(np.asarray(log_turn(found, {}, jnp.asarray(turns)))) / np.log(2)
    plain = np.mean(np.log2(normal(turns, 9.0)))
    assert abs(bits - plain) < 0.2


def test_many_turns_of_one_size_are_warned_of():
    rng = np.random.default_rng(4)
    angle = np.deg2rad(np.cumsum(np.where(rng.random(3000) < 0.3, 0.0, rng.normal(0, 9, 3000))))
    places = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], axis=-1), axis=0)
    with pytest.warns(UserWarning, match="exactly 0°"):
        shoal.moves.observed_turns(shoal.Tracks.from_arrays(places[:, None]))
