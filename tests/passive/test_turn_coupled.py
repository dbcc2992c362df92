"""One turn moves every angle: the kernel against plain integration, and what is refused."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import cauchy, norm

import shoal
from registries import CIRCLE, CUBE, FOLDED, MIXED, NUMBERED, TORUS
from shoal.passive import as_family
from shoal.passive.turns import arcs, bin_chances, even_arcs, turn_masses

ANGLES = shoal.StateSpace(
    shoal.LocalMisalignment(bins=12), shoal.TargetMisalignment((0.0, 0.0), bins=12)
)
KNOWN = shoal.TurnCoupled(spread=15.0, noise=(10.0, 6.0), tails=(2.0, 1.0), follow=(0.8, 1.0))


def wrapped_cauchy(x, width):
    rho = np.exp(-np.deg2rad(width))
    return (1 - rho**2) / (1 + rho**2 - 2 * rho * np.cos(np.deg2rad(x))) / 360.0


def drawn_changes(spec, count, seed):
    """Changes in bins of animals that start anywhere in a bin, turn and are shaken."""
    rng = np.random.default_rng(seed)
    turn = cauchy.rvs(scale=spec.spread, size=count, random_state=rng)
    turn = (turn + 180.0) % 360.0 - 180.0
    bins = []
    for noise, tails, follow in zip(spec.noise, spec.tails, spec.follow, strict=True):
        start = rng.uniform(-15.0, 15.0, count)
        shaken = norm.rvs(scale=noise, size=count, random_state=rng)
        shaken = shaken + cauchy.rvs(scale=tails, size=count, random_state=rng)
        bins.append(np.floor((start - follow * turn + shaken + 15.0) / 30.0).astype(int) % 12)
    return bins


def test_the_kernel_is_the_share_of_animals_that_change_so():
    count = 400_000
    first, second = drawn_changes(KNOWN, count, 1)
    seen = np.zeros((12, 12))
    np.add.at(seen, (first, second), 1 / count)
    kernel = np.asarray(KNOWN.on(ANGLES).kernel)
    error = np.sqrt(kernel * (1 - kernel) / count)
    assert np.all(np.abs(seen - kernel) < 5 * error + 1e-5)


def test_a_turn_lowers_both_angles_together():
    narrow = replace(KNOWN, noise=1.0, tails=0.1, follow=1.0, spread=60.0)
    kernel = np.asarray(narrow.on(ANGLES).kernel)
    together = sum(kernel[k % 12, (k + d) % 12] for k in range(12) for d in (-1, 0, 1))
    assert together > 0.97
    assert kernel.sum() == pytest.approx(1.0, abs=1e-12)


def test_left_and_right_are_alike():
    kernel = np.asarray(KNOWN.on(ANGLES).kernel)
    assert np.allclose(kernel, np.roll(kernel[::-1, ::-1], (1, 1), (0, 1)), atol=1e-12)


@pytest.mark.parametrize("kind", ["cauchy", "normals", "von-mises"])
@pytest.mark.parametrize("over", [arcs(10.0), arcs(45.0), even_arcs(360)], ids=str)
def test_chances_of_turns_add_up_to_one(kind, over):
    values = {"spread": jnp.asarray(8.0), "wide": jnp.asarray(60.0), "share": jnp.asarray(0.2)}
    mass = np.asarray(turn_masses(kind, values, over))
    assert mass.size == over.turns.size
    assert mass.sum() == pytest.approx(1.0, abs=2e-3 if kind == "von-mises" else 1e-12)
    assert np.all(mass >= 0)


def test_cauchy_turns_are_wrapped_cauchy():
    mass = np.asarray(turn_masses("cauchy", {"spread": jnp.asarray(8.0)}, even_arcs(720)))
    density = wrapped_cauchy(even_arcs(720).turns, 8.0) * 0.5
    assert np.allclose(mass, density, rtol=2e-3)


def test_half_of_all_turns_are_smaller_than_the_spread():
    over = even_arcs(7200)
    mass = np.asarray(turn_masses("cauchy", {"spread": jnp.asarray(6.0)}, over))
    assert mass[np.abs(over.turns) < 6.0].sum() == pytest.approx(0.5, abs=0.01)


def test_an_angle_that_only_shakes_stays_where_it_is_on_average():
    one = (jnp.asarray(-1.0), jnp.asarray(5.0), jnp.asarray(0.5))
    table = np.asarray(bin_chances(36, *one, np.array([0.0, 30.0])))
    assert table.sum(axis=1) == pytest.approx(1.0)
    assert table[0].argmax() == 0
    assert table[1].argmax() == 33  # three bins down for a turn of three bins
    assert np.allclose(table[0][1:], table[0][1:][::-1])


def test_the_likelihood_of_transitions_goes_through_their_changes():
    operator = KNOWN.on(ANGLES)
    rng = np.random.default_rng(3)
    counts = shoal.count_transitions([rng.integers(0, 144, 200)], ANGLES)
    pairs = counts.pairs
    logs = operator.log_probability(jnp.asarray(pairs.origin), jnp.asarray(pairs.destination))
    assert float(operator.log_weight(operator.digest(counts))) == pytest.approx(
        float(np.asarray(logs) @ pairs.count), rel=1e-12
    )


def test_small_results_are_not_lost_in_rounding():
    operator = replace(KNOWN, spread=3.0).on(ANGLES)
    values = np.full(ANGLES.shape, 1e-290)
    values[3, 4] = 1.0
    dense = np.asarray(operator.dense())
    expected = (dense @ values.ravel()).reshape(ANGLES.shape)
    got = np.asarray(operator.apply_positive(jnp.asarray(values)))
    assert np.allclose(got, expected, rtol=1e-6)


def test_own_headings_in_the_mean_leave_it_unknown_how_far_it_follows():
    unknown = [p.name for p in shoal.TurnCoupled().parameters(ANGLES) if p.unknown]
    assert "follow of local misalignment" in unknown
    assert "follow of target misalignment" not in unknown
    others = shoal.StateSpace(shoal.LocalMisalignment(bins=12, include_self=False))
    assert "follow" not in " ".join(
        p.name for p in shoal.TurnCoupled().parameters(others) if p.unknown
    )


def test_learning_from_passive_animals_finds_their_numbers():
    truth = replace(KNOWN, follow=(0.75, 1.0))
    operator = truth.on(ANGLES)
    starts = jnp.asarray(np.random.default_rng(5).integers(0, 144, 40_000))
    ends = operator.sample(jax.random.key(2), starts)
    counts = shoal.states.Transitions.from_pairs(np.asarray(starts), np.asarray(ends), ANGLES)
    found = shoal.TurnCoupled().estimate(counts)
    assert found.spread == pytest.approx(15.0, rel=0.06)
    assert found.follow[0] == pytest.approx(0.75, abs=0.04)
    assert found.noise[0] == pytest.approx(10.0, rel=0.15)
    assert found.on(ANGLES).shape == ANGLES.shape


def test_the_same_bins_elsewhere_have_the_same_kernel():
    features = np.asarray(replace(KNOWN, follow=1.0).on(ANGLES).kernel)
    plain = shoal.StateSpace(shoal.Circular("a", bins=12), shoal.Circular("b", bins=12))
    said = replace(KNOWN, follow=1.0, effects=(-1, -1)).on(plain)
    assert np.array_equal(features, np.asarray(said.kernel))


def test_unknowns_move_the_operator():
    family = as_family(shoal.TurnCoupled(), ANGLES)
    assert family.count == 6
    u = jnp.asarray(np.random.default_rng(0).normal(size=6))
    values = np.asarray(family.values(u))
    known = family.known(u)
    assert np.allclose(np.asarray(known.on(ANGLES).kernel), np.asarray(family.at(u).kernel))
    assert np.allclose(np.asarray(family.coordinates(values)), np.asarray(u))


@pytest.mark.parametrize(
    ("space", "spec", "words"),
    [
        (FOLDED, shoal.TurnCoupled(), "absolute angle"),
        (CIRCLE, shoal.TurnCoupled(), "unknown effect of turning on 'angle'"),
        (NUMBERED, shoal.TurnCoupled(), "a turn changes nothing about number"),
        (TORUS, shoal.TurnCoupled(effects=(-1,)), "effects are −1 or 0 for each"),
        (MIXED, shoal.TurnCoupled(effects=(-1, -1)), "a turn changes circular axes only"),
        (CUBE, shoal.TurnCoupled(noise=(1.0,), effects=(-1, -1, 0)), "noise: 1 numbers for 2 axes"),
        (ANGLES, shoal.TurnCoupled(spread=None), "has no prior"),
        (ANGLES, shoal.TurnCoupled(spread=-3.0), "a positive number"),
        (ANGLES, shoal.TurnCoupled(follow=1.5), "a share between 0 and 1"),
        (ANGLES, shoal.TurnCoupled(follow=shoal.passive.Unknown(2.0)), "a share below 1"),
        (
            shoal.StateSpace(shoal.states.TurningAngle()),
            shoal.TurnCoupled(),
            "the last turn itself",
        ),
    ],
)
def test_what_cannot_be_is_refused(space, spec, words):
    with pytest.raises(shoal.InputError, match=words):
        spec.parameters(space)


def test_unknowns_cannot_be_bound_to_a_space():
    with pytest.raises(shoal.InputError, match=r"turn spread.*fit a model with it"):
        shoal.TurnCoupled().on(ANGLES)
    with pytest.raises(shoal.InputError, match="a turn is one of"):
        shoal.TurnCoupled("levy")


@pytest.mark.parametrize(
    ("turn", "learned"),
    [
        ("cauchy", ["turn spread", "noise of local misalignment"]),
        ("von-mises", ["turn spread", "tails of local misalignment"]),
    ],
)
def test_a_single_angle_has_no_error_that_could_not_be_told_from_turns(turn, learned):
    space = shoal.StateSpace(shoal.LocalMisalignment(include_self=False))
    parts = shoal.TurnCoupled(turn=turn).parameters(space)
    assert [part.name for part in parts if part.unknown] == learned
    two = shoal.StateSpace(
        shoal.LocalMisalignment(include_self=False), shoal.TargetMisalignment((0.0, 0.0))
    )
    assert sum(part.unknown for part in shoal.TurnCoupled(turn=turn).parameters(two)) == 5
    given = shoal.TurnCoupled(turn=turn, noise=2.0, tails=1.0).parameters(space)
    assert [part.given for part in given if part.field in ("noise", "tails")] == [2.0, 1.0]
