"""Rows of candidates that decisions share, beside every decision on its own."""

import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from shoal.moves import MoveFamily, record, sampling, sharing
from shoal.moves.padding import padded_rows
from shoal.posterior.memory import decisions_that_fit

SPACE = shoal.StateSpace(
    shoal.LocalMisalignment(bins=12, include_self=False),
    shoal.TargetMisalignment((5.0, 0.0), bins=18),
    shoal.Distance(np.linspace(0, 9, 4), beyond=True),
)


def tracks(seed=1, frames=200, animals=4):
    rng = np.random.default_rng(seed)
    angle = np.cumsum(rng.normal(0, 0.3, (frames, animals)), axis=0)
    length = rng.gamma(6.0, 0.02, (frames, animals, 1))
    moved = length * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return shoal.Tracks.from_arrays(np.cumsum(moved, axis=0) + rng.normal(size=(animals, 2)))


@pytest.fixture
def many(monkeypatch):
    """Few decisions, read as many are."""
    monkeypatch.setattr(sharing, "EXACT", 100)
    monkeypatch.setattr(record, "EXACT", 100)
    monkeypatch.setattr(sharing, "PARTS", (4,))


def beside(space, values, parts):
    """The middle of the part of its bin in which every angle lies, by a plain search."""
    middles = values.copy()
    for n, part in enumerate(space.parts):
        if part.turn:
            circle = getattr(space.axes[n], "circle", space.axes[n])
            step = circle.step / parts
            edges = circle.centres[0] - circle.step / 2
            middles[:, n] = edges + (np.floor((values[:, n] - edges) / step) + 0.5) * step
    return middles


@pytest.mark.parametrize("persistence", [0.0, 0.4])
def test_shared_candidates_are_those_of_the_middle_of_a_part_of_a_bin(many, persistence):
    moves = shoal.Turns(candidates=16, persistence=persistence)
    found = shoal.decisions(tracks(), SPACE, moves)
    assert found.row is not None and len(found.candidate_states) < found.total
    expected = found.perceived.copy()
    expected[:, :2] -= persistence * found.turn_before[:, None]
    middles = beside(SPACE, expected, 4)
    for row in range(0, found.total, 7):
        turned = middles[row, :2, None] - found.quadrature.turn[:, 0]
        ends = [axis.locate(turned[n]) for n, axis in enumerate(SPACE.axes[:2])]
        far = np.full(16, SPACE.axes[2].locate(found.perceived[row, 2:])[0])
        known = np.ravel_multi_index([*ends, far], SPACE.shape)
        np.testing.assert_array_equal(found.states[row], known)


def test_shared_rows_apply_as_a_row_for_each_decision_does(many):
    found = shoal.decisions(tracks(), SPACE, shoal.Turns(candidates=16))
    shared = MoveFamily.of(found.moves, SPACE, found.candidates).at(jnp.zeros(1))
    matrix = shared.matrix().toarray()
    weights = np.asarray(shared.weights)[:, 0]
    for row in (0, 5, 77):
        known = np.bincount(found.states[row], weights, SPACE.size)
        np.testing.assert_allclose(matrix[row], known, atol=1e-14)
    rng = np.random.default_rng(0)
    x, y = rng.random(SPACE.shape), rng.normal(size=found.total)
    np.testing.assert_allclose(shared.apply(jnp.asarray(x)), matrix @ x.ravel(), atol=1e-12)
    back = np.asarray(shared.adjoint(jnp.asarray(y))).ravel()
    np.testing.assert_allclose(back, y @ matrix, atol=1e-12)
    fewer, counts = found.rows()
    part = MoveFamily.of(found.moves, SPACE, fewer).at(jnp.zeros(1))
    assert counts.sum() == found.total and len(counts) < found.total
    once = counts @ np.log(np.asarray(part.apply(jnp.asarray(x))))
    np.testing.assert_allclose(once, np.log(matrix @ x.ravel()).sum(), rtol=1e-12)


LINES = {
    "one angle": ([shoal.TargetMisalignment((5.0, 0.0), bins=12)], shoal.Turns()),
    "two angles": (
        [
            shoal.LocalMisalignment(bins=12, include_self=False),
            shoal.TargetMisalignment((5.0, 0.0), bins=12),
        ],
        shoal.Turns("normals", wide=60.0, bias=True),
    ),
    "an angle without its sign, and a distance between": (
        [
            shoal.LocalMisalignment(bins=12, include_self=False, absolute=True),
            shoal.Distance(np.linspace(0, 9, 4), beyond=True),
            shoal.Bearing(bins=12),
        ],
        shoal.Turns("von-mises", spread=20.0, persistence=0.3),
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_give_the_mean_over_all_turns(many, monkeypatch, name):
    monkeypatch.setattr(sharing, "WORTH", 1000)
    monkeypatch.setattr(sharing, "PARTS", (8,))
    parts, moves = LINES[name]
    space = shoal.StateSpace(*parts)
    found = shoal.decisions(tracks(), space, moves)
    fewer, counts = found.rows()
    assert fewer.lines is not None and counts.sum() == found.total
    family = MoveFamily.of(found.moves, space, fewer)
    passive = family.at(jnp.full(family.count, 0.2))
    rng = np.random.default_rng(0)
    x, y = rng.random(space.shape), rng.normal(size=len(counts))
    applied = np.asarray(passive.apply(jnp.asarray(x)))
    fine = np.arange(-180, 180, 0.01) + 0.005  # turns, and how likely they are
    height = np.exp(np.asarray(passive.log_turn(jnp.asarray(fine), passive.values))) * 0.01
    assert abs(height.sum() - 1.0) < 1e-4
    expected = found.perceived.copy()
    turning = [n for n, part in enumerate(space.parts) if part.turn]
    expected[:, turning] -= moves.persistence * found.turn_before[:, None]
    middles = beside(space, expected, 8)
    _, first = np.unique(found.row, return_index=True)
    for row in range(0, len(counts), 9):
        ends = [
            axis.locate(np.mod(middles[first[row], n] - fine + 180.0, 360.0) - 180.0)
            if n in turning
            else np.full(fine.size, axis.locate(found.perceived[first[row], n : n + 1])[0])
            for n, axis in enumerate(space.axes)
        ]
        known = height @ x[tuple(ends)]
        np.testing.assert_allclose(applied[row], known, rtol=2e-3)
    back = np.asarray(passive.adjoint(jnp.asarray(y)))
    np.testing.assert_allclose(np.vdot(back, x), y @ applied, rtol=1e-10)
    padded, more = padded_rows(fewer, counts)
    longer = MoveFamily.of(found.moves, space, padded).at(jnp.full(family.count, 0.2))
    again = np.asarray(longer.apply(jnp.asarray(x)))
    np.testing.assert_allclose(again[: len(counts)], applied, rtol=1e-12)
    assert again.size == more.size > len(counts)


def test_parts_of_shared_decisions_keep_their_own_candidates(many):
    found = shoal.decisions(tracks(), SPACE, shoal.Turns(candidates=16))
    some = np.arange(found.total) % 3 == 1
    part = found.take(some)
    np.testing.assert_array_equal(part.states, found.states[some])
    candidates = part.candidates
    states = np.asarray(candidates.states).T[np.asarray(candidates.row)]
    np.testing.assert_array_equal(states, part.states)


def test_turns_that_are_nearly_equal_are_one_without_a_change_of_their_likelihood(many):
    found = shoal.decisions(tracks(frames=2000), SPACE, shoal.Turns())
    digest = found.digest
    assert digest.turn.size < found.total / 4 and float(digest.count.sum()) == found.total
    family = MoveFamily.of(found.moves, SPACE)
    for u in (-1.0, 0.0, 1.0):
        passive = family.at(jnp.asarray([u]))
        exact = float(passive.log_weight(found.moved))
        assert abs(float(passive.log_weight(digest)) - exact) < 1e-6 * abs(exact)
    steps = shoal.decisions(tracks(), SPACE, shoal.Turns(persistence=True))
    assert steps.digest.turn.size == steps.total


def test_a_fit_to_shared_candidates_is_the_fit_to_their_own(many, monkeypatch):
    space = shoal.StateSpace(shoal.TargetMisalignment((5.0, 0.0), bins=12))
    model = shoal.Model(space, shoal.Turns(), shoal.Smooth())
    shared = model.fit(shoal.decisions(tracks(frames=400), space), "map", progress=False)
    monkeypatch.setattr(sharing, "EXACT", 10**6)
    monkeypatch.setattr(record, "EXACT", 10**6)
    own = model.fit(shoal.decisions(tracks(frames=400), space), "map", progress=False)
    off = np.abs(shared.cost_to_go.values - own.cost_to_go.values)
    assert 0 < off.max() < 0.05


def test_too_many_decisions_for_the_memory_are_told_how_many_fit():
    turns, steps = shoal.Turns(), shoal.Steps(typical=1.0, follow=0.5)
    with pytest.raises(shoal.InputError) as raised:
        sampling.refuse_too_many(10_000_000, steps, SPACE, free=2 * 10**9)
    words = str(raised.value)
    assert "would need about" in words and "2.0 GB are free" in words and "\n" not in words
    fits = int(words.split("about ")[2].split(" ", maxsplit=1)[0].replace(",", ""))
    sampling.refuse_too_many(fits, steps, SPACE, free=2 * 10**9)
    with pytest.raises(shoal.InputError):
        sampling.refuse_too_many(int(1.01 * fits), steps, SPACE, free=2 * 10**9)
    sampling.refuse_too_many(5_000_000, turns, SPACE, free=2 * 10**9)  # turns share candidates


def test_reading_measures_what_it_will_need_before_it_takes_it(monkeypatch):
    monkeypatch.setattr(sampling, "free_memory", lambda: 10**6)
    monkeypatch.setattr(sampling, "bytes_each", lambda moves, space: 10**6)
    with pytest.raises(shoal.InputError, match="about 1 decisions fit; keep one frame in"):
        shoal.decisions(tracks(), SPACE, shoal.Steps())


def test_a_fit_says_how_many_decisions_fit():
    assert decisions_that_fit(64, 10**9) == pytest.approx(10**9 / (64 * 60), rel=0.01)
