"""S: what passive moves lead to, beside plain sums and fine integrals."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import shoal
from shoal.moves import MoveFamily
from shoal.moves.padding import sorted_rows
from shoal.moves.record import moved_of
from shoal.passive.estimating import most_probable

SPACE = shoal.StateSpace(shoal.TargetMisalignment((5.0, 0.0), bins=24))
STEPS_SPACE = shoal.StateSpace(
    shoal.TargetMisalignment((5.0, 0.0), bins=12),
    shoal.states.TargetDistance((5.0, 0.0), np.linspace(0, 9, 10), beyond=True),
)


def tracks(seed=1, frames=40, animals=3):
    rng = np.random.default_rng(seed)
    angle = np.cumsum(rng.normal(0, 0.3, (frames, animals)), axis=0)
    length = rng.gamma(6.0, 0.05, (frames, animals))
    moved = length[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return shoal.Tracks.from_arrays(np.cumsum(moved, axis=0))


KINDS = {
    "turns": (SPACE, shoal.Turns(spread=6.0)),
    "two normals": (SPACE, shoal.Turns("normals", spread=6.0, wide=50.0, share=0.2)),
    "persistent turns": (SPACE, shoal.Turns(persistence=True, candidates=32)),
    "multiples": (SPACE, shoal.Turns((-15.0, 0.0, 15.0), spread=10.0, every=15.0)),
    "steps": (STEPS_SPACE, shoal.Steps()),
    "log-normal steps": (STEPS_SPACE, shoal.Steps(step="log-normal", turn="von-mises")),
}


def bound(name):
    space, moves = KINDS[name]
    if moves.every is None:
        found = shoal.decisions(tracks(), space, moves)
    else:
        rng = np.random.default_rng(3)
        turned = 15.0 * rng.integers(-2, 3, (30, 2))
        angle = np.mod(np.cumsum(turned, axis=0) + 180, 360) - 180
        way = np.stack([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))], axis=-1)
        places = np.cumsum(way, axis=0)
        found = shoal.decisions(
            shoal.Tracks.from_arrays(places, heading=angle), space, moves, tracker_headings=True
        )
    family = MoveFamily.of(found.moves, found.places, found.candidates)
    return found, family.at(jnp.asarray(0.3 * np.ones(family.count)))


@pytest.mark.parametrize("name", KINDS)
def test_applying_it_and_its_transpose_are_the_matrix(name):
    found, passive = bound(name)
    matrix = passive.matrix().toarray()
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=found.places.shape), rng.normal(size=found.total)
    np.testing.assert_allclose(passive.apply(jnp.asarray(x)), matrix @ x.ravel(), atol=1e-12)
    back = np.asarray(passive.adjoint(jnp.asarray(y)))
    np.testing.assert_allclose(back.ravel(), y @ matrix, atol=1e-12)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("spread", [2.0, 10.0, 60.0])
def test_turns_lead_into_each_bin_as_often_as_their_distribution_says(spread):
    moves = shoal.Turns(spread=spread, candidates=256)
    found = shoal.decisions(tracks(), SPACE, moves)
    matrix = MoveFamily.of(moves, SPACE, found.candidates).at(jnp.zeros(0)).matrix().toarray()
    fine = np.linspace(-180, 180, 72_001)[:-1] + 0.0025
    known = stats.wrapcauchy(np.exp(-np.deg2rad(spread))).pdf(np.mod(np.deg2rad(fine), 2 * np.pi))
    known = known / known.sum()
    off = []
    for row in range(0, found.total, 10):
        ends = SPACE.axes[0].locate(np.mod(found.perceived[row, 0] - fine + 180, 360) - 180)
        chances = np.bincount(ends, known, SPACE.size)
        off.append(np.abs(matrix[row] - chances).max())
    assert max(off) < 0.02 and np.mean(off) < 0.01


def test_candidates_of_steps_have_the_moments_of_passive_steps():
    found, _ = bound("steps")
    family = MoveFamily.of(found.moves, found.places, found.candidates)
    passive = family.at(jnp.asarray(most_probable(family, found.moved)))
    weights = np.asarray(passive.weights).T
    values = {name: float(value) for name, value in passive.values.items()}
    before = np.log(found.step_before / found.pace)
    typical = np.exp(float(passive.log_typical))
    expected = (1 - values["follow"]) * typical + values["follow"] * np.exp(before)
    steps = found.quadrature.step_lengths(before, found.which)
    mean = (steps * weights).sum(axis=1)
    np.testing.assert_allclose(mean, expected, rtol=0.05)
    np.testing.assert_allclose((mean / expected).mean(), 1.0, rtol=0.01)
    away = np.log(found.step_before) - np.mean(np.log(found.pace))
    away = 0.5 * np.clip(np.round(away / 0.5), -5, 5)
    even = values["variation"] * np.exp(-values["evenness"] / 2 * away)
    spread = np.sqrt((steps**2 * weights).sum(axis=1) - mean**2) / mean
    np.testing.assert_allclose(spread, even, rtol=0.2)
    np.testing.assert_allclose((spread / even).mean(), 1.0, rtol=0.03)
    share = (np.abs(found.quadrature.turn.T[found.which]) * (weights > 0)).max(axis=1)
    assert share.min() > 90.0  # some candidates go anywhere


def test_rows_in_the_order_of_their_sets_say_the_same_as_a_loop_over_decisions():
    found, _ = bound("steps")
    family = MoveFamily.of(found.moves, found.places, found.candidates)
    spread = most_probable(family, found.moved)
    typical = np.array([name == "typical step" for name in family.names])
    u = jnp.asarray(spread + np.where(typical, 0.0, 0.3))
    assert len(np.unique(found.which)) > 20
    ordered, counts = sorted_rows(*found.rows())
    assert ordered.which is None and counts.sum() == found.total
    there = np.exp(np.random.default_rng(1).normal(size=found.places.size))
    passive = MoveFamily.of(found.moves, found.places, ordered).at(u)
    logs = np.log(np.asarray(passive.apply(jnp.asarray(there).reshape(found.places.shape))))
    total = 0.0
    for row in range(found.total):
        one = slice(row, row + 1)
        turns = found.quadrature.turns(found.turn_before[one], found.which[one])[0]
        pace, before = found.pace[row], found.step_before[one]
        steps = found.quadrature.step_lengths(np.log(before / pace), found.which[one])[0] * pace
        own = (found.turn_before, found.step_before, found.pace)
        same = [np.full(len(turns), part[row]) for part in own]
        moved = moved_of(found.moves, turns, steps, *same)
        base = found.quadrature.log_base[:, found.which[row]]
        weights = np.exp(np.asarray(passive.log_density(moved)) + base)
        if found.possible is not None:
            weights = np.where(found.possible[row], weights / weights.sum(), 0.0)
        else:
            weights = weights / weights.sum()
        total += np.log(weights @ there[found.states[row]])
    np.testing.assert_allclose(counts @ logs, total, rtol=1e-6)  # spread by nearly these
    np.testing.assert_allclose(
        np.asarray(passive.matrix().sum(axis=1))[counts > 0].min(), 1.0, atol=1e-9
    )


def test_decisions_with_the_same_candidates_are_one_row():
    found = shoal.decisions(tracks(frames=300), SPACE, shoal.Turns(candidates=8))
    fewer, counts = found.rows()
    assert counts.sum() == found.total and len(counts) < found.total / 2
    v = np.random.default_rng(0).normal(size=SPACE.shape)
    whole = MoveFamily.of(found.moves, SPACE, found.candidates).at(jnp.zeros(1))
    part = MoveFamily.of(found.moves, SPACE, fewer).at(jnp.zeros(1))
    together = np.log(np.asarray(whole.apply(jnp.exp(jnp.asarray(v))))).sum()
    once = counts @ np.log(np.asarray(part.apply(jnp.exp(jnp.asarray(v)))))
    np.testing.assert_allclose(once, together, rtol=1e-12)
