"""Groups in motion: every part of a simulation against a plain loop or an exact law."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.simulation.behaviour import View
from shoal.simulation.designs import Scenario
from shoal.simulation.groups import simulated
from shoal.simulation.speeds import BLOCK, Gamma, Observed
from shoal.simulation.walls import moved
from shoal.states import track_states
from shoal.system.progress import silent

TARGET = (0.2, 0.8)
SPACE = shoal.StateSpace(
    shoal.LocalMisalignment(bins=12), shoal.TargetMisalignment(TARGET, bins=12)
)
ANGLES = np.deg2rad(SPACE.axes[0].centres)
COSTS = 2 * (1 - np.cos(ANGLES))[:, None] + (1 - np.cos(ANGLES))[None]
TRUTH = shoal.solve(shoal.RandomWalk(40.0).on(SPACE), COSTS)
RELEASE = shoal.Release(5, place=(0.7, 0.3), spread=0.05)


def moving(seed=1, frames=30, animals=4, **options):
    rng = np.random.default_rng(seed)
    steps = rng.normal(0.01, 0.02, (frames, animals, 2))
    return shoal.Tracks.from_arrays(
        0.5 + np.cumsum(steps, axis=0), fps=10.0, group="pond", length_unit="m", **options
    )


def lived(**options):
    given = {"space": SPACE, "start": RELEASE, "steps": 20, "speed": 0.02, "seed": 3} | options
    return shoal.simulate(TRUTH, **given)


def test_vicsek_without_noise_is_the_equation():
    box = shoal.tracks.Periodic(0, 0, 1, 1)
    model = shoal.simulation.Vicsek(radius=0.25, noise=0.0)
    flock = shoal.simulate(model, start=shoal.Release(12), steps=6, speed=0.07, arena=box, seed=4)
    x, theta = flock.positions, flock.data["heading"].values
    for t in range(6):
        for n in range(12):
            near = [
                m
                for m in range(12)
                if math.hypot(*(d - round(d) for d in x[t, m] - x[t, n])) <= 0.25
            ]
            mean = math.degrees(
                math.atan2(
                    sum(math.sin(math.radians(theta[t, m])) for m in near),
                    sum(math.cos(math.radians(theta[t, m])) for m in near),
                )
            )
            assert abs((theta[t + 1, n] - mean + 180) % 360 - 180) < 1e-9
            angle = math.radians(theta[t, n])
            step = 0.07 * np.array([math.cos(angle), math.sin(angle)])
            np.testing.assert_allclose(x[t + 1, n], x[t, n] + step, atol=1e-12)


def test_the_noise_of_vicsek_is_normal_of_its_sd():
    alone = shoal.simulate(
        shoal.simulation.Vicsek(radius=1e-9, noise=12.0),
        start=shoal.Release(100, place=(0, 0), spread=10),
        steps=100,
        speed=1.0,
        seed=1,
    )
    turns = np.diff(alone.data["heading"].values, axis=0)
    turns = (turns + 180) % 360 - 180
    assert abs(turns.std() - 12.0) < 4.5 * 12 / math.sqrt(2 * turns.size)
    assert abs(turns.mean()) < 4.5 * 12 / math.sqrt(turns.size)


def loop_couzin(model, x, theta, i):
    away, along, to = np.zeros(2), np.zeros(2), np.zeros(2)
    crowded = False
    for j in range(len(x)):
        gap = x[j] - x[i]
        distance = math.hypot(*gap)
        bearing = (math.degrees(math.atan2(gap[1], gap[0])) - theta[i] + 180) % 360 - 180
        if i == j or distance == 0:
            continue
        if distance < model.repulsion:
            crowded, away = True, away - gap / distance
        elif abs(bearing) > model.vision / 2:
            continue
        elif distance < model.orientation:
            ahead = [math.cos(math.radians(theta[j])), math.sin(math.radians(theta[j]))]
            along = along + np.array(ahead)
        elif distance <= model.attraction:
            to = to + gap / distance
    return away if crowded else along + to


@given(st.integers(0, 10**6))
@settings(max_examples=25)
def test_couzins_zones_agree_with_a_plain_loop(seed):
    rng = np.random.default_rng(seed)
    model = shoal.simulation.Couzin(repulsion=0.4, orientation=1.0, attraction=2.5, vision=250)
    x, theta = rng.normal(size=(8, 2)), rng.uniform(-180, 180, 8)
    names = tuple(map(str, range(8)))
    nothing = jnp.zeros(8)
    view = View(
        jnp.asarray(x), jnp.asarray(theta), nothing, nothing, nothing, {}, names, None, None
    )
    expected = [loop_couzin(model, x, theta, i) for i in range(8)]
    np.testing.assert_allclose(model.behaviour().wanted(view), expected, atol=1e-9)
    turn = model.behaviour().decide(jax.random.key(seed), view, jnp.asarray(0)).turn
    assert np.abs(turn).max() <= model.most


def test_couzins_animals_stay_together_and_keep_their_distance():
    herd = shoal.simulate(
        shoal.simulation.Couzin(vision=360, attraction=50),
        start=shoal.Release(20, place=(0, 0), spread=3),
        steps=300,
        speed=0.5,
        seed=2,
    )
    gap = herd.positions[-1][:, None] - herd.positions[-1][None]
    distance = np.hypot(gap[..., 0], gap[..., 1]) + 1e9 * np.eye(20)
    assert distance.min(axis=1).max() < 5  # nobody is lost
    assert np.median(distance.min(axis=1)) > 0.5


@pytest.mark.parametrize("rule", ["stochastic", "least-cost", "passive"])
def test_the_states_that_animals_act_on_are_those_that_tracks_show(rule):
    (outcome,) = simulated(
        TRUTH,
        Scenario(steps=25, speed=0.02),
        RELEASE,
        7,
        rule=rule,
        space=SPACE,
        decisions=True,
        report=silent,
    )
    tracks = shoal.Tracks.from_arrays(outcome.positions)
    states, _ = track_states(tracks, SPACE)
    assert np.array_equal(states[:-1], outcome.origin)
    later, _ = track_states(
        shoal.Tracks.from_arrays(outcome.positions, heading=outcome.headings),
        SPACE,
        tracker_headings=True,
    )
    assert (later[1:] != outcome.destination).any()  # the others turned, too


def test_a_simulation_begins_as_the_tracks_and_is_told_apart_from_them():
    tracks = moving(covariates={"sex": "f", "size": [1.0, 2.0, 3.0, 4.0]}, individuals="abcd")
    herd = shoal.simulate(TRUTH, space=SPACE, start=tracks, seed=1)
    assert np.array_equal(herd.positions[0], tracks.positions[0])
    np.testing.assert_allclose(herd.data["heading"].values[0], tracks.headings()[0])
    np.testing.assert_allclose(herd.headings()[0], tracks.headings()[0])
    assert len(herd.positions) == len(tracks.positions)
    assert (herd.fps, herd.length_unit, herd.group) == (10.0, "m", "pond")
    assert herd.individuals == tuple("abcd")
    assert herd.covariates["sex"] == "f" and herd.covariates["size"]["c"] == 3.0
    assert "simulated by shoal" in herd.notes[0] and "seed 1" in herd.notes[0]


def test_a_start_has_most_animals_and_who_is_never_seen_is_left_out_with_a_warning():
    tracks = moving()
    places = tracks.positions.copy()
    places[:4, 1] = np.nan
    places[:, 2] = np.nan
    late = shoal.Tracks.from_arrays(places, fps=10.0)
    with pytest.warns(UserWarning, match="1 of 4 members .* are not simulated"):
        herd = shoal.simulate(TRUTH, space=SPACE, start=late, seed=1, steps=5)
    np.testing.assert_array_equal(herd.positions[0, [0, 1, 3]], places[4, [0, 1, 3]])
    assert np.isnan(herd.positions[:, 2]).all() and np.isfinite(herd.positions[:, 0]).all()


def test_the_same_seed_gives_the_same_group_whoever_is_simulated_beside_it():
    alone = lived(replicates=1)
    many = lived(replicates=4)
    assert np.array_equal(alone.tracks[0].positions, many.tracks[0].positions)
    assert not np.array_equal(many.tracks[0].positions, many.tracks[1].positions)
    assert not np.array_equal(lived(seed=4).positions, lived(seed=5).positions)


def test_batches_are_cut_without_a_trace(monkeypatch):
    whole = lived(replicates=5)
    monkeypatch.setattr("shoal.simulation.batches.MOST", 2 * 5 * 25)
    seen = []
    cut = lived(replicates=5, progress=lambda *report: seen.append(report))
    for one, other in zip(whole, cut, strict=True):
        assert np.array_equal(one.positions, other.positions)
    assert seen == [("simulating", done, 5) for done in (0, 2, 4, 5)]


def test_a_group_is_the_same_in_any_company():
    groups = [
        shoal.Tracks(moving(*size).data.assign_attrs(group=f"g{size[0]}"))
        for size in ((1, 12, 3), (2, 20, 5), (3, 15, 4))
    ]
    for policy, options in ((TRUTH, {"space": SPACE}), (shoal.simulation.Vicsek(noise=20.0), {})):
        together = shoal.simulate(policy, start=groups, seed=6, **options)
        assert [part.positions.shape[:2] for part in together] == [(12, 3), (20, 5), (15, 4)]
        for number, group in enumerate(groups):
            alone = shoal.simulate(policy, start=group, seed=6, **options)
            np.testing.assert_allclose(
                together.tracks[number].positions, alone.positions, atol=1e-12
            )
            assert together.tracks[number].group == group.group
        again = shoal.simulate(policy, start=groups[1:], seed=6, replicates=2, **options)
        alone = shoal.simulate(policy, start=groups[2], seed=6, replicates=2, **options)
        np.testing.assert_allclose(again["g3 2"].positions, alone["g3 2"].positions, atol=1e-12)


# walls


def bounced(position, step, low, high):
    """One coordinate, wall by wall."""
    place = position + step
    flips = 0
    while not low <= place <= high:
        place = 2 * low - place if place < low else 2 * high - place
        flips += 1
    return place, flips


@given(st.integers(0, 10**6))
@settings(max_examples=50)
def test_a_mirror_throws_back_as_often_as_it_is_met(seed):
    rng = np.random.default_rng(seed)
    arena = shoal.tracks.Rectangle(-1.0, 0.0, 2.0, 1.0)
    start = rng.uniform((-1, 0), (2, 1), (6, 2))
    angle = rng.uniform(-np.pi, np.pi, 6)
    ways = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    length = rng.uniform(0, 8, (6, 1))
    place, way = moved(arena, "reflect", *map(jnp.asarray, (start, length[:, 0], ways)))
    for i in range(6):
        for axis, (low, high) in enumerate([(-1.0, 2.0), (0.0, 1.0)]):
            expected, flips = bounced(start[i, axis], length[i, 0] * ways[i, axis], low, high)
            assert abs(float(place[i, axis]) - expected) < 1e-9
            assert float(way[i, axis]) == pytest.approx((-1) ** flips * ways[i, axis])


def test_sliding_goes_along_the_wall_and_back_out_of_a_corner():
    arena = shoal.tracks.Rectangle(0, 0, 1, 1)
    ways = np.array([[0.6, 0.8], [1.0, 0.0], [0.6, 0.8], [0.6, 0.8]])
    length = np.array([0.5, 0.8, 0.5, 0.1])
    start = np.array([[0.9, 0.1], [0.5, 0.5], [0.9, 0.7], [0.5, 0.5]])
    place, way = moved(arena, "slide", *map(jnp.asarray, (start, length, ways)))
    np.testing.assert_allclose(place, [[1, 0.5], [1, 0.5], [1, 1], [0.56, 0.58]])
    np.testing.assert_allclose(way, [[0, 1], [-1, 0], [-0.6, -0.8], [0.6, 0.8]], atol=1e-12)


def test_who_rests_at_a_wall_keeps_its_heading():
    arena = shoal.tracks.Rectangle(0, 0, 1, 1)
    start = jnp.array([[1.0, 0.5], [0.0, 0.5], [0.5, 1.0], [1.0, 1.0]])
    ways = jnp.array([[-1.0, 0.0], [1.0, 0.0], [0.0, -1.0], [0.6, 0.8]])
    place, way = moved(arena, "reflect", start, jnp.zeros(4), ways)
    np.testing.assert_array_equal(place, start)
    np.testing.assert_array_equal(way, ways)


def loop_circle(centre, radius, place, way, left):
    """A ray in a round mirror, in small steps between exact hits."""
    for _ in range(100):
        away = place - centre
        towards = away @ way
        reach = -towards + math.sqrt(max(towards**2 + radius**2 - away @ away, 0.0))
        if left <= reach:
            return place + left * way, way
        place = place + reach * way
        normal = (place - centre) / radius
        way, left = way - 2 * (way @ normal) * normal, left - reach
    raise AssertionError


@given(st.integers(0, 10**6))
@settings(max_examples=50)
def test_a_round_mirror_throws_back_at_the_point_that_is_hit(seed):
    rng = np.random.default_rng(seed)
    arena = shoal.tracks.Circle(1.0, -0.5, 2.0)
    centre = np.array([1.0, -0.5])
    angle, out = rng.uniform(-np.pi, np.pi, (2, 6)), 1.9 * np.sqrt(rng.random(6))
    start = centre + out[:, None] * np.stack([np.cos(angle[0]), np.sin(angle[0])], axis=1)
    ways = np.stack([np.cos(angle[1]), np.sin(angle[1])], axis=1)
    length = rng.uniform(0, 5, 6)
    place, way = moved(arena, "reflect", *map(jnp.asarray, (start, length, ways)))
    for i in range(6):
        expected = loop_circle(centre, 2.0, start[i], ways[i], length[i])
        np.testing.assert_allclose(place[i], expected[0], atol=1e-6)
        np.testing.assert_allclose(way[i], expected[1], atol=1e-6)


def test_along_a_round_wall_one_slides():
    arena = shoal.tracks.Circle(1.0, 0.0, 2.0)
    ways = np.array([[1.0, 0.0], [np.sqrt(0.5), np.sqrt(0.5)], [0.0, 1.0]])
    start = np.array([[2.5, 0.0], [3.0 - np.sqrt(0.5), -np.sqrt(0.5)], [1.0, 0.0]])
    length = np.array([1.0, 1.2, 0.5])
    place, way = moved(arena, "slide", *map(jnp.asarray, (start, length, ways)))
    goal = start[1] + 1.2 * ways[1] - [1.0, 0.0]
    normal = goal / np.hypot(*goal)
    tangent = ways[1] - (ways[1] @ normal) * normal
    np.testing.assert_allclose(place, [[3, 0], 2 * normal + [1, 0], [1, 0.5]], atol=1e-9)
    np.testing.assert_allclose(way, [[-1, 0], tangent / np.hypot(*tangent), [0, 1]], atol=1e-9)


@pytest.mark.parametrize("walls", ["reflect", "slide"])
@pytest.mark.parametrize(
    "arena", [shoal.tracks.Rectangle(0, 0, 1, 1), shoal.tracks.Circle(0.6, 0.4, 0.5)]
)
def test_nobody_leaves_the_arena(arena, walls):
    herd = lived(arena=arena, walls=walls, speed=0.11, steps=150)
    assert (
        arena.holds(herd.positions + 0.0).all() or (arena.distance(herd.positions) > -1e-12).all()
    )
    assert (arena.distance(herd.positions) < 0.02).any()  # the wall was met
    assert herd.arena == arena


def test_in_a_periodic_box_paths_stay_whole_and_neighbours_are_those_across_the_edge():
    box = shoal.tracks.Periodic(0, 0, 1, 1)
    herd = shoal.simulate(
        shoal.simulation.Vicsek(radius=0.2, noise=5.0), start=shoal.Release(30), steps=60,
        speed=0.05, arena=box, seed=2,
    )  # fmt: skip
    steps = np.diff(herd.positions, axis=0)
    np.testing.assert_allclose(np.hypot(steps[..., 0], steps[..., 1]), 0.05)
    assert herd.positions.max() > 1.0
    inside = shoal.Tracks.from_arrays(box.wrapped(herd.positions), arena=box)
    np.testing.assert_allclose(inside.headings(), herd.headings(), atol=1e-6, equal_nan=True)
    for feature in (
        shoal.LocalMisalignment(radius=0.2),
        shoal.Distance((0, 1)),
        shoal.Bearing("centroid"),
        shoal.states.NeighboursWithin(0.2),
        shoal.TargetMisalignment((0.9, 0.9)),
    ):
        one, other = (
            feature.values(shoal.states.Scene.of(tracks))[:-1] for tracks in (herd, inside)
        )
        np.testing.assert_allclose(one, other, atol=1e-6, equal_nan=True)


# the end


@pytest.mark.parametrize("stop", ["one", "all"])
def test_a_group_ends_when_it_is_there_and_not_before(stop):
    ends = lived(
        stop=stop, reach=0.1, steps=400, replicates=6, arena=shoal.tracks.Rectangle(0, 0, 1, 1)
    )
    for herd in ends:
        away = np.hypot(*np.moveaxis(herd.positions - np.asarray(TARGET), -1, 0))
        there = (away <= 0.1).any(axis=1) if stop == "one" else (away <= 0.1).all(axis=1)
        assert not there[:-1].any()
        assert there[-1] or len(herd.positions) == 401
    assert any(len(herd.positions) < 401 for herd in ends)


def test_the_reach_of_a_target_is_as_near_as_an_observed_animal_came():
    tracks = moving()
    gap = tracks.positions - np.asarray(TARGET)
    nearest = np.hypot(gap[..., 0], gap[..., 1]).min()
    (design,) = Scenario(stop="one").designs(tracks, (), TARGET)
    assert design.reach == pytest.approx(nearest) and design.goal == TARGET
    visited = tuple(tracks.positions[5, 2].tolist())
    (design,) = Scenario(stop="one", target=visited).designs(tracks)
    assert design.reach == pytest.approx(np.ptp(tracks.positions, axis=(0, 1)).max() / 20)


# speeds


def test_a_constant_speed_is_per_second():
    herd = lived(speed=0.5, fps=10.0)
    steps = np.diff(herd.positions, axis=0)
    np.testing.assert_allclose(np.hypot(steps[..., 0], steps[..., 1]), 0.05)


def test_observed_speeds_are_each_animals_own_and_come_in_runs():
    rng = np.random.default_rng(5)
    series = tuple(np.arange(200.0) + 1000 * animal for animal in range(3))
    lengths = Observed(series).drawn(rng, 4000, 3)
    for animal in range(3):
        assert set(lengths[:, animal]) <= set(series[animal])
        following = np.isin(np.diff(lengths[:, animal]), (1.0, -199.0)).mean()
        expected = 1 - (1 - 1 / 200) / BLOCK
        assert abs(following - expected) < 4.5 * math.sqrt(expected * (1 - expected) / 4000)
    jumps = np.flatnonzero(~np.isin(np.diff(lengths[:, 0]), (1.0, -199.0)))
    assert len(np.unique(lengths[jumps + 1, 0])) > 30


def test_simulated_animals_move_as_far_as_observed_ones():
    tracks = moving()
    herd = shoal.simulate(TRUTH, space=SPACE, start=tracks, seed=1, arena="unbounded")
    for animal in range(4):
        ours, theirs = (
            np.hypot(*np.diff(part.positions[:, animal], axis=0).T) for part in (herd, tracks)
        )
        assert np.abs(ours[:, None] - theirs[None]).min(axis=1).max() < 1e-9


def test_a_gamma_law_is_found_again_with_its_rests():
    rng = np.random.default_rng(2)
    law = Gamma(3.0, 0.5, 0.2)
    lengths = law.drawn(rng, 20_000, 1).ravel()
    found = Gamma.fitted(lengths)
    assert found.shape == pytest.approx(3.0, rel=0.06)  # 4.5 sd of the estimate
    assert found.scale * found.shape == pytest.approx(1.5, rel=0.03)
    assert found.rest == pytest.approx(0.2, abs=0.013)


def test_the_arena_that_is_chosen_is_that_of_speeds_and_starts_too():
    """Wrapped places in a box that the file does not know of."""
    box = shoal.tracks.Periodic(0, 0, 1, 1)
    flock = shoal.simulate(
        shoal.simulation.Vicsek(noise=5.0),
        start=shoal.Release(5),
        steps=60,
        speed=0.03,
        arena=box,
        seed=1,
    )
    bare = shoal.Tracks.from_arrays(box.wrapped(flock.positions))
    herd = shoal.simulate(shoal.simulation.Vicsek(), start=bare, arena=box, seed=2)
    steps = np.diff(herd.positions, axis=0)
    np.testing.assert_allclose(np.hypot(steps[..., 0], steps[..., 1]), 0.03, atol=1e-9)
    assert herd.arena == box
    free = shoal.simulate(shoal.simulation.Vicsek(), start=flock, arena="unbounded", seed=2)
    assert free.arena is None


def test_a_rate_that_the_tracks_do_not_know_can_be_given():
    bare = shoal.Tracks.from_arrays(moving().positions)
    herd = shoal.simulate(TRUTH, space=SPACE, start=bare, speed=1.0, fps=10.0, steps=5)
    steps = np.diff(herd.positions, axis=0)
    np.testing.assert_allclose(np.hypot(steps[..., 0], steps[..., 1]), 0.1)
    assert herd.fps == 10.0


def test_a_fit_at_a_lag_decides_that_often(tmp_path):
    tracks = moving(frames=41)
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=8))
    counts = shoal.count_transitions(tracks, space, lag=4, heading_frames=4)
    assert counts.lag == 4
    fit = shoal.Model(space, shoal.RandomWalk(60.0)).fit(counts, method="map")
    loaded = shoal.load_fit(fit.save(tmp_path / "lag.nc"))
    assert loaded.lag == 4
    herd = shoal.simulate(loaded, start=tracks, heading_frames=4)
    assert herd.fps == 2.5 and len(herd.positions) == 11
    np.testing.assert_allclose(herd.data["heading"].values[0], tracks.headings(4)[0])
    with pytest.raises(shoal.InputError, match="lags of 4 and 1"):
        counts + shoal.count_transitions(tracks, space)


# what is around


def test_a_dog_goes_its_own_way_and_is_seen():
    tracks = moving(animals=5, individuals=["a", "b", "c", "d", "dog"]).with_landmarks("dog")
    space = shoal.StateSpace(shoal.TargetMisalignment("dog", bins=12))
    v = 40 * (1 - np.cos(np.deg2rad(space.axes[0].centres)))
    herd = shoal.simulate(
        v, space=space, passive=shoal.Uniform(), start=tracks, steps=20, seed=1, rule="least-cost"
    )
    assert herd.members == tuple("abcd")
    np.testing.assert_array_equal(herd.place_of("dog"), tracks.place_of("dog")[:21])
    assert shoal.count_transitions(herd, space).total > 0  # whoever reads tracks reads these
    facing = herd.data["heading"].values[1:, :4]
    gap = tracks.place_of("dog")[:20, None] - herd.positions[:-1, :4]
    towards = np.rad2deg(np.arctan2(gap[..., 1], gap[..., 0]))
    off = np.abs((facing - towards + 180) % 360 - 180)
    assert off.max() <= 15 + 1e-9  # the nearest of turns that are 30° apart


def test_every_group_has_its_own_target():
    points = {"north": (0.0, 1e6), "south": (0.0, -1e6)}
    space = shoal.StateSpace(shoal.TargetMisalignment(points, bins=36))
    v = 40 * (1 - np.cos(np.deg2rad(space.axes[0].centres)))
    groups = [shoal.Tracks(moving(1).data.assign_attrs(group=name)) for name in points]
    north, south = shoal.simulate(
        v, space=space, passive=shoal.Uniform(), start=groups, steps=40, speed=0.1, seed=1
    )
    assert (north.positions[-1, :, 1] > north.positions[0, :, 1]).all()
    assert (south.positions[-1, :, 1] < south.positions[0, :, 1]).all()


def test_one_of_the_group_may_be_the_target():
    space = shoal.StateSpace(shoal.TargetMisalignment("1", bins=36))
    v = 40 * (1 - np.cos(np.deg2rad(space.axes[0].centres)))
    with pytest.warns(UserWarning, match="had no state"):  # the leader, who follows nobody
        herd = shoal.simulate(
            v, space=space, passive=shoal.Uniform(), start=moving(), steps=30, speed=0.1, seed=1
        )
    away = np.hypot(*np.moveaxis(herd.positions - herd.positions[:, [1]], -1, 0))
    assert away[-1, [0, 2, 3]].max() < 0.1


def test_a_function_of_the_users_own_can_be_simulated_from_once_its_turn_is_known(tmp_path):
    def east(scene):
        return (0.0 - scene.headings + 180) % 360 - 180

    axis = shoal.Circular("east", bins=36)
    space = shoal.StateSpace(shoal.states.Custom(axis, east, turn=-1))
    v = 40 * (1 - np.cos(np.deg2rad(axis.centres)))
    options = {"passive": shoal.Uniform(), "start": RELEASE, "steps": 5, "speed": 1.0, "seed": 1}
    herd = shoal.simulate(v, space=space, **options)
    assert np.abs(herd.headings()[2:-1]).max() < 40
    unknown = shoal.StateSpace(shoal.states.Custom(axis, east))
    with pytest.raises(shoal.InputError, match=r"simulated from 'east'.* turn=-1"):
        shoal.simulate(v, space=unknown, **options)
    fit = shoal.Model(space, shoal.Uniform()).fit(
        shoal.count_transitions(moving(), space), method="map"
    )
    loaded = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    with pytest.raises(shoal.InputError, match=r"'east' has no feature .* pass space="):
        shoal.simulate(loaded, start=RELEASE, steps=3, speed=1.0, seed=1)
    again = shoal.simulate(loaded, space=space, start=RELEASE, steps=3, speed=1.0, seed=1)
    assert len(again.positions) == 4


def test_a_users_function_knows_the_group_and_its_slips_are_told(tmp_path):
    seen = set()

    def where(scene):
        seen.add((scene.group, scene.members))
        return scene.headings

    axis = shoal.Circular("east", bins=8)
    space = shoal.StateSpace(shoal.states.Custom(axis, where, turn=-1))
    groups = [shoal.Tracks(moving(n, 6, 2 + n).data.assign_attrs(group=f"g{n}")) for n in (1, 2)]
    shoal.simulate(np.zeros(8), space=space, passive=shoal.Uniform(), start=groups, steps=2)
    assert seen == {("g1", ("0", "1", "2")), ("g2", ("0", "1", "2", "3"))}
    broken = shoal.StateSpace(shoal.states.Custom(axis, lambda scene: {}[scene.group], turn=-1))
    with pytest.raises(shoal.InputError, match="'east' failed on one frame of group 'g1'"):
        shoal.simulate(np.zeros(8), space=broken, passive=shoal.Uniform(), start=groups, steps=2)


@pytest.mark.slow
def test_groups_that_live_by_draws_differ_as_the_posterior_does():
    tracks = moving(frames=40)
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=8))
    fit = shoal.Model(space, shoal.RandomWalk(60.0)).fit(
        shoal.count_transitions(tracks, space), method="laplace", draws=50, seed=1
    )
    for draws in ("mean", "each"):
        herds = shoal.simulate(
            fit, start=tracks, steps=4, draws=draws, replicates=3, seed=1, rule="least-cost"
        )
        assert len(herds.tracks) == 3
    costs = fit.cost_to_go.values.reshape(-1, 8)
    outcomes = simulated(
        fit, Scenario(steps=1), tracks, 1, draws="each", replicates=300, report=silent,
        decisions=True,
    )  # fmt: skip
    chosen = np.concatenate([outcome.destination[0] for outcome in outcomes])
    origin = outcomes[0].origin[0]
    passive = shoal.RandomWalk(60.0).on(space)
    rows = np.mean([shoal.lmdp.policy(v, passive)[origin] for v in costs], axis=0)
    for animal in range(4):
        counts = np.bincount(chosen[animal::4], minlength=8) / 300
        assert np.abs(counts - rows[animal]).max() < 4.5 * 0.5 / math.sqrt(300)


# what is refused, and what is warned about


BAD = {
    "no start": (lambda: lived(start=None), "starts from tracks"),
    "zero animals": (lambda: shoal.Release(0), "1 animal or more"),
    "no steps": (lambda: lived(steps=0), "1 or more; got 0"),
    "negative speed": (lambda: lived(speed=-0.1), "0 or more; got -0.1"),
    "speed that is no number": (lambda: lived(speed=float("nan")), "0 or more; got nan"),
    "no speed": (lambda: lived(speed=None), "a speed is needed"),
    "observed speed of nobody": (lambda: lived(speed="observed"), "start from tracks"),
    "unknown rule": (lambda: lived(rule="greedy"), "rule is one of"),
    "unknown draws": (lambda: lived(draws="all"), "'mean' or 'each'"),
    "unknown walls": (lambda: lived(walls="bounce"), "walls are one of"),
    "unknown stop": (lambda: lived(stop="some"), "stop is None"),
    "no reach": (lambda: lived(stop="one"), "give reach"),
    "bad reach": (lambda: lived(stop="one", reach=0.0), "reach of a target is positive"),
    "start outside": (
        lambda: lived(start=moving(), arena=shoal.tracks.Rectangle(0, 0, 0.1, 0.1)),
        "starts at .*, outside Rectangle.*: give a larger arena",
    ),
    "release outside": (
        lambda: lived(arena=shoal.tracks.Rectangle(0, 0, 0.1, 0.1)),
        "lies outside the arena",
    ),
    "spread over a plane": (lambda: lived(start=shoal.Release(3)), "unbounded plane"),
    "no features": (
        lambda: lived(space=shoal.StateSpace(*SPACE.axes)),
        "has no feature that says",
    ),
    "no space": (lambda: lived(space=None), "pass space="),
    "another space": (
        lambda: lived(space=shoal.StateSpace(shoal.LocalMisalignment(bins=12))),
        "144 states does not fit",
    ),
    "nothing turns": (
        lambda: shoal.simulate(
            np.zeros(2), passive=shoal.Uniform(), start=RELEASE, steps=2, speed=1, seed=1,
            space=shoal.StateSpace(shoal.Distance((0, 1, 2))),
        ),
        "does not say where to turn",
    ),
    "no walls": (
        lambda: shoal.simulate(
            np.zeros(8), passive=shoal.Uniform(), start=RELEASE, steps=2, speed=1, seed=1,
            space=shoal.StateSpace(
                shoal.LocalMisalignment(bins=4), shoal.states.WallDistance((0, 1, 2))
            ),
        ),
        "pass arena=",
    ),
    "a dog that nobody knows": (
        lambda: shoal.simulate(
            np.zeros(4), passive=shoal.Uniform(), start=moving(), seed=1,
            space=shoal.StateSpace(shoal.TargetMisalignment("dog", bins=4)),
        ),
        "no animal is called 'dog'",
    ),
    "a dog that was not followed so long": (
        lambda: shoal.simulate(
            np.zeros(4), passive=shoal.Uniform(), start=moving().with_landmarks("3"), seed=1,
            steps=200, space=shoal.StateSpace(shoal.TargetMisalignment("3", bins=4)),
        ),
        "ask for 30 at most",
    ),
    "no fixed target": (
        lambda: shoal.simulate(
            np.zeros(4), passive=shoal.Uniform(), start=moving(), seed=1, stop="one",
            space=shoal.StateSpace(shoal.LocalMisalignment(bins=4)),
        ),
        "fixed target is needed",
    ),
    "a lonely animal": (lambda: lived(start=shoal.Release(1, place=(0, 0))), "needs neighbours"),
    "a finite horizon": (
        lambda: shoal.simulate(
            shoal.solve(shoal.RandomWalk(40.0).on(SPACE), COSTS, horizon="finite", steps=3),
            space=SPACE, start=RELEASE, steps=3, speed=1.0, seed=1,
        ),
        "simulate_decisions",
    ),
    "a bare cost": (
        lambda: shoal.simulate(np.zeros(144), space=SPACE, start=RELEASE, steps=3, speed=1, seed=1),
        "needs passive=",
    ),
    "bins that do not go together": (
        lambda: shoal.simulate(
            np.zeros(35 * 99), passive=shoal.Uniform(), start=RELEASE, steps=2, speed=1, seed=1,
            space=shoal.StateSpace(
                shoal.LocalMisalignment(bins=35), shoal.TargetMisalignment((0, 0), bins=99)
            ),
        ),
        "3465 turns in common",
    ),
    "vicsek's noise": (lambda: shoal.simulation.Vicsek(noise=-1), "noise of headings"),
    "couzin's zones": (lambda: shoal.simulation.Couzin(repulsion=5), "one around the other"),
    "couzin's eyes": (lambda: shoal.simulation.Couzin(vision=400), "field of view"),
    "speed over several frames": (
        lambda: shoal.simulate(
            np.zeros(8), passive=shoal.Uniform(), start=RELEASE, steps=2, speed=1,
            space=shoal.StateSpace(
                shoal.LocalMisalignment(bins=4), shoal.states.Speed((0, 1, 2), frames=3)
            ),
        ),
        "Speed\\(edges, frames=1\\)",
    ),
    "another rate": (lambda: lived(start=moving(), fps=25.0), "has 10 frames a second"),
    "the same label twice": (lambda: lived(start=[moving(1), moving(2)]), "different labels"),
    "a large seed": (lambda: lived(seed=2**64), r"less than 2\^63"),
    "a turn of a half": (
        lambda: shoal.states.Custom(shoal.Circular("a"), len, turn=0.5),
        "a turn adds",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "words"), BAD.values(), ids=BAD.keys())
def test_slips_get_a_sentence(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()


def test_a_radius_beyond_half_the_box_is_warned_about():
    box = shoal.tracks.Periodic(0, 0, 1, 1)
    with pytest.warns(UserWarning, match="more than half of the periodic box"):
        shoal.simulate(
            shoal.simulation.Vicsek(radius=0.6),
            start=shoal.Release(5),
            steps=2,
            speed=0.1,
            arena=box,
            seed=1,
        )
    with pytest.warns(UserWarning, match="cross half of the periodic box"):
        shoal.simulate(
            shoal.simulation.Vicsek(radius=0.1),
            start=shoal.Release(5),
            steps=2,
            speed=0.9,
            arena=box,
            seed=1,
        )


# the paper's flock


def test_the_papers_algorithm_moves_turns_and_counts():
    axis = shoal.Circular("local_misalignment", 36)
    costs = np.select([axis.centres == 0, abs(axis.centres) <= 15], [0.0, 2.5], 5.0)
    solution = shoal.solve(shoal.TurningMixture().on(shoal.StateSpace(axis)), costs)
    flock = shoal.paper.simulate_spp(solution, agents=50, steps=40, seed=2)
    assert flock.tracks.positions.shape == (41, 50, 2)
    assert flock.decided.total == 50 * 40 == flock.observed.total
    turns = np.diff(flock.tracks.data["heading"].values, axis=0)
    assert np.abs(turns / 10 - np.round(turns / 10)).max() < 1e-9  # differences between states
    steps = np.diff(flock.tracks.positions, axis=0)
    np.testing.assert_allclose(np.hypot(steps[..., 0], steps[..., 1]), 1.0)
    assert not np.array_equal(flock.decided.arrivals, flock.observed.arrivals)
    np.testing.assert_array_equal(flock.decided.departures, flock.observed.departures)
