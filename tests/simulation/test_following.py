"""A decision, against a plain loop over turns; and what many decisions add up to."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import shoal
from registries import Lazy, random_matrix
from shoal.passive import PerAxisDynamics, as_operator
from shoal.passive.uniform import UniformDynamics
from shoal.simulation.behaviour import View
from shoal.simulation.following import FollowPolicy
from shoal.states import Scene

TARGET = (0.4, -0.2)
SPACES = {
    "one angle": (shoal.LocalMisalignment(bins=12),),
    "two angles": (shoal.LocalMisalignment(bins=8), shoal.TargetMisalignment(TARGET, bins=8)),
    "unequal bins": (shoal.LocalMisalignment(bins=12), shoal.TargetMisalignment(TARGET, bins=8)),
    "odd bins": (shoal.TargetMisalignment(TARGET, bins=7), shoal.Bearing(bins=5)),
    "folded": (
        shoal.LocalMisalignment(bins=9, absolute=True),
        shoal.TargetMisalignment(TARGET, bins=6),
    ),
    "with a distance between": (
        shoal.LocalMisalignment(bins=6),
        shoal.Distance((0.0, 0.3, 1.0)),
        shoal.TargetMisalignment(TARGET, bins=12),
    ),
    "three angles": (
        shoal.LocalMisalignment(bins=4, radius=1.5),
        shoal.Bearing("centroid", bins=6),
        shoal.TargetMisalignment(TARGET, bins=6),
    ),
    "the turn itself": (shoal.states.TurningAngle(bins=8), shoal.LocalMisalignment(bins=8)),
    "the turn itself, last": (shoal.Bearing(bins=6), shoal.states.TurningAngle(bins=12)),
    "speed": (shoal.states.Speed((0.0, 1.0, 2.0, 5.0)), shoal.LocalMisalignment(bins=8)),
}
PASSIVES = {
    "uniform": lambda space: shoal.Uniform().on(space),
    "walk": lambda space: shoal.RandomWalk(
        tuple(50.0 if axis.unit == "°" else 0.8 for axis in space.axes)
    ).on(space),
    "matrix": lambda space: as_operator(random_matrix(space.size, 3), space),
    "a user's": lambda space: Lazy(shape=space.shape),
}
every_space = pytest.mark.parametrize("parts", SPACES.values(), ids=SPACES.keys())
PAIRS = [
    pytest.param(
        parts,
        make,
        id=f"{place}-{kind}",
        marks=() if kind == "walk" or place in ("two angles", "folded") else pytest.mark.slow,
    )
    for place, parts in SPACES.items()
    for kind, make in PASSIVES.items()
]
FPS = 4.0


def view_of(seed, animals=5):
    rng = np.random.default_rng(seed)
    return View(
        jnp.asarray(rng.normal(size=(animals, 2))),
        jnp.asarray(rng.uniform(-180, 180, animals)),
        jnp.asarray(rng.uniform(0.0, 1.2, animals)),
        jnp.ones(animals),
        jnp.asarray(rng.uniform(-180, 180, animals)),
        {},
        tuple(map(str, range(animals))),
        FPS,
        None,
    )


def unfolded(space):
    """The whole circles behind absolute angles."""
    axes = (axis.circle if isinstance(axis, shoal.states.Folded) else axis for axis in space.axes)
    return shoal.StateSpace(*axes)


def loop_weights(space, dense, v, discount, view, turn, animal):
    """The state of one animal, the one that a turn leads to, and p* of it, not normalised.

    A turn knows left from right, so p̄ is that of the whole circles.
    """
    scene = Scene(np.asarray(view.positions)[None], np.asarray(view.headings)[None], FPS)
    now, then = [], []
    for part in space.parts:
        if isinstance(part, shoal.states.Speed):
            value = after = float(view.lengths[animal]) * FPS
        elif isinstance(part, shoal.states.TurningAngle):
            value, after = float(view.turned[animal]), turn
        else:
            value = float(part.values(scene)[0, animal])
            after = value - turn if part.axis.unit == "°" else value
        if isinstance(part.axis, shoal.states.Interval):
            value = after = min(max(value, part.axis.edges[0]), part.axis.edges[-1])
        now.append(value)
        then.append(after)
    i, j = int(space.encode(*now)), int(space.encode(*then))
    passive = dense[unfolded(space).encode(*now), unfolded(space).encode(*then)]
    return i, j, passive * np.exp(-discount * v[j])


@pytest.mark.parametrize(("parts", "make"), PAIRS)
def test_turns_are_weighted_by_the_policy_of_the_joint_state_they_lead_to(parts, make):
    space = shoal.StateSpace(*parts)
    passive, rng = make(unfolded(space)), np.random.default_rng(8)
    folded = unfolded(space).shape != space.shape
    if folded and not isinstance(passive, PerAxisDynamics | UniformDynamics):
        with pytest.raises(shoal.InputError, match="left or right"):
            FollowPolicy.of(space, passive, np.zeros((1, space.size)), np.zeros(1, int))
        return
    v, discount = rng.normal(size=space.size), 0.9
    dense = np.asarray(eqx.filter_jit(passive.dense)())
    following = FollowPolicy.of(space, passive, -discount * v[None], np.zeros(1, int))
    weighed = eqx.filter_jit(following.weighed)
    for seed in range(3):
        view = view_of(seed)
        offset = jnp.asarray(rng.uniform(-0.5, 0.5, 5))
        log_weight, turns, ends, origin = map(np.asarray, weighed(view, offset, jnp.asarray(0)))
        for animal in range(5):
            expected = [
                loop_weights(space, dense, v, discount, view, float(turn), animal)
                for turn in turns[animal]
            ]
            assert [j for _, j, _ in expected] == ends[animal].tolist()
            assert {i for i, _, _ in expected} == {int(origin[animal])}
            ours, theirs = np.exp(log_weight[animal]), np.array([w for *_, w in expected])
            np.testing.assert_allclose(ours / ours.sum(), theirs / theirs.sum(), atol=1e-12)


@every_space
def test_turns_go_all_the_way_round_once(parts):
    space = shoal.StateSpace(*parts)
    following = FollowPolicy.of(
        space, shoal.Uniform().on(space), np.zeros((1, space.size)), np.zeros(1, int)
    )
    _, turns, *_ = eqx.filter_jit(following.weighed)(view_of(1), jnp.full(5, 0.3), jnp.asarray(0))
    spacing = np.diff(np.sort(np.mod(np.asarray(turns[0]), 360.0)))
    np.testing.assert_allclose(spacing, 360.0 / turns.shape[1])


def decisions(following, view, count, group=0):
    keys = jax.random.split(jax.random.key(5), count)
    one = jax.vmap(lambda key: following.decide(key, view, jnp.asarray(group)))
    return jax.tree.map(np.asarray, jax.jit(one)(keys))


def test_decided_transitions_follow_the_policy():
    """On one axis the decision is a draw of the next state from p*, whatever the offset."""
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    rng, count = np.random.default_rng(3), 20_000
    passive = shoal.RandomWalk(60.0).on(space)
    v = rng.normal(size=12)
    following = FollowPolicy.of(space, passive, -v[None], np.zeros(1, int))
    chosen = decisions(following, view_of(2), count)
    expected = shoal.lmdp.policy(v, passive)
    for animal in range(5):
        origin = int(chosen.origin[0, animal])
        counts = np.bincount(np.asarray(chosen.destination[:, animal]), minlength=12)
        fit = stats.chisquare(counts, count * expected[origin])
        assert fit.pvalue > 1e-4  # 5 animals: a false alarm in 2,000 such tests


def test_the_turn_that_is_made_leads_to_the_state_that_was_chosen():
    space = shoal.StateSpace(*SPACES["two angles"])
    following = FollowPolicy.of(
        space, shoal.Uniform().on(space), np.zeros((1, space.size)), np.zeros(1, int)
    )
    view = view_of(4)
    chosen = decisions(following, view, 300)
    for turn, state in zip(chosen.turn, chosen.destination, strict=True):
        for animal in range(5):
            expected = loop_weights(
                space, np.ones((64, 64)), np.zeros(64), 1, view, float(turn[animal]), animal
            )
            assert expected[1] == int(state[animal])


def test_the_least_cost_rule_takes_the_best_turn_and_breaks_ties_evenly():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=8))
    v = np.array([5.0, 1.0, 5.0, 5.0, 5.0, 5.0, 5.0, 1.0])
    following = FollowPolicy.of(
        space, shoal.Uniform().on(space), -v[None], np.zeros(1, int), "least-cost"
    )
    chosen = np.asarray(decisions(following, view_of(6), 4000).destination)
    assert set(chosen.ravel().tolist()) == {1, 7}
    share = (chosen == 1).mean(axis=0)
    assert np.abs(share - 0.5).max() < 4.5 * 0.5 / np.sqrt(4000)


def test_the_passive_rule_knows_no_costs():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=8))
    wild = 50 * np.random.default_rng(1).normal(size=(1, 8))
    walk = shoal.RandomWalk(40.0).on(space)
    offset, group = jnp.zeros(5), jnp.asarray(0)
    mine, plain = (
        FollowPolicy.of(space, walk, -v, np.zeros(1, int), rule).weighed(view_of(1), offset, group)
        for v, rule in ((wild, "passive"), (np.zeros((1, 8)), "stochastic"))
    )
    np.testing.assert_array_equal(mine[0], plain[0])


def test_an_animal_that_sees_nobody_turns_passively():
    feature = shoal.LocalMisalignment(bins=8, radius=1e-6, include_self=False)
    space = shoal.StateSpace(feature)
    walk = shoal.RandomWalk(40.0).on(space)
    v = 30 * np.random.default_rng(1).normal(size=(1, 8))
    following = FollowPolicy.of(space, walk, -v, np.zeros(1, int))
    log_weight, turns, _, origin = following.weighed(view_of(1), jnp.zeros(5), jnp.asarray(0))
    assert origin.tolist() == [-1] * 5
    # from a misalignment of 0 the state that a turn leads to is minus the turn
    expected = np.log(walk.dense())[4, np.mod(4 - np.round(turns[0] / 45).astype(int), 8)]
    np.testing.assert_allclose(log_weight[0], expected, atol=1e-12)


def test_groups_live_by_their_own_draws():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=4))
    costs = np.full((2, 4), 50.0)
    costs[0, 1], costs[1, 3] = 0.0, 0.0
    following = FollowPolicy.of(space, shoal.Uniform().on(space), -costs, np.array([1, 0, 1]))
    found = [int(decisions(following, view_of(0), 1, g).destination[0, 0]) for g in range(3)]
    assert found == [3, 1, 3]


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_features_say_the_same_inside_a_program(seed):
    rng = np.random.default_rng(seed)
    box = shoal.tracks.Periodic(-1.0, -1.5, 1.0, 1.5)
    walls = shoal.tracks.Rectangle(-9, -9, 9, 9)
    features = [
        shoal.LocalMisalignment(),
        shoal.LocalMisalignment(radius=0.8, include_self=False),
        shoal.LocalMisalignment(nearest=2),
        shoal.TargetMisalignment(TARGET),
        shoal.TargetMisalignment("dog"),
        shoal.Bearing(),
        shoal.Bearing("centroid"),
        shoal.Distance((0, 1)),
        shoal.Distance((0, 1), "centroid"),
        shoal.states.TargetDistance("dog", (0, 1)),
        shoal.states.TargetDistance("1", (0, 1)),
        shoal.states.NeighboursWithin(0.7),
    ]
    for arena in (None, box, walls):
        mine = [*features, shoal.states.WallDistance((0, 1))] if arena is walls else features
        places = rng.normal(size=(4, 5, 2))
        places[rng.random((4, 5)) < 0.2] = np.nan
        angles = np.where(np.isnan(places[..., 0]), np.nan, rng.uniform(-180, 180, (4, 5)))
        names = tuple("01234")
        others = {name: places[:, i] for i, name in enumerate(names)}
        scene = Scene(places, angles, FPS, "", others | {"dog": places[:, 0] + 1}, arena, names)
        inside = replace(
            scene,
            positions=jnp.asarray(places),
            headings=jnp.asarray(angles),
            places={name: jnp.asarray(path) for name, path in scene.places.items()},
        )
        for feature in mine:
            np.testing.assert_allclose(
                np.asarray(feature.values(inside)), feature.values(scene), atol=1e-9
            )
            outside, within = feature.values(scene), jnp.asarray(feature.values(scene))
            np.testing.assert_array_equal(
                np.asarray(feature.axis.locate(within)), feature.axis.locate(outside)
            )


def test_absolute_angles_do_not_make_animals_flip_over():
    """A passive walk of 10° is one, whether left and right are told apart or not."""
    release = shoal.Release(20, place=(0, 0), spread=1.0)
    turns = {}
    for absolute in (False, True):
        space = shoal.StateSpace(shoal.TargetMisalignment((9, 9), bins=36, absolute=absolute))
        herd = shoal.simulate(
            np.zeros(space.size), space=space, passive=shoal.RandomWalk(10.0), start=release,
            steps=40, speed=0.01, rule="passive", seed=1,
        )  # fmt: skip
        turn = np.diff(herd.data["heading"].values, axis=0)
        turns[absolute] = np.abs((turn + 180) % 360 - 180)
    assert turns[True].max() < 60
    assert np.median(turns[True]) == pytest.approx(np.median(turns[False]), rel=0.2)
    space = shoal.StateSpace(shoal.TargetMisalignment((9, 9), bins=36, absolute=True))
    solution = shoal.solve(shoal.RandomWalk(10.0).on(space), np.zeros(space.size))
    with pytest.raises(shoal.InputError, match="left or right"):
        shoal.simulate(solution, space=space, start=release, steps=3, speed=1.0)


def test_where_the_passive_dynamics_leave_no_turn_an_animal_goes_straight_on():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=4), shoal.Distance((0.0, 0.1, 9.0)))
    swap = np.kron(np.full((4, 4), 0.25), np.array([[0.0, 1.0], [1.0, 0.0]]))  # never the same bin
    with pytest.warns(UserWarning, match="had no state"):
        herd = shoal.simulate(
            np.zeros(8), space=space, passive=swap, steps=6, speed=0.01, seed=1,
            start=shoal.Release(4, place=(0, 0), spread=1.0),
        )  # fmt: skip
    angles = herd.data["heading"].values
    np.testing.assert_allclose((angles - angles[0] + 180) % 360, 180.0)
