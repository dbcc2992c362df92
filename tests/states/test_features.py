"""Misalignments against plain loops, and the symmetries they must have."""

import cmath
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.angles import difference
from shoal.states import Scene, track_states

LOCAL = {
    "all": shoal.LocalMisalignment(),
    "near": shoal.LocalMisalignment(radius=1.2),
    "others": shoal.LocalMisalignment(include_self=False),
    "near others": shoal.LocalMisalignment(radius=1.2, include_self=False),
    "nearest two": shoal.LocalMisalignment(nearest=2),
    "nearest two others": shoal.LocalMisalignment(nearest=2, include_self=False),
}
TARGET = shoal.TargetMisalignment(target=(0.3, -0.7))
BEARINGS = {"neighbour": shoal.Bearing(), "centroid": shoal.Bearing("centroid")}
FEATURES = {**LOCAL, **BEARINGS, "target": TARGET}
every_feature = pytest.mark.parametrize("feature", FEATURES.values(), ids=FEATURES.keys())
SEEDS = st.integers(0, 10**6)


def scene(seed, frames=6, animals=5, missing=0.15):
    rng = np.random.default_rng(seed)
    positions = rng.normal(size=(frames, animals, 2))
    angles = rng.uniform(-180, 180, (frames, animals))
    positions[rng.random((frames, animals)) < missing] = np.nan
    angles[np.isnan(positions).any(axis=-1) | (rng.random((frames, animals)) < missing)] = np.nan
    return positions, angles


def same(one, other, atol=1e-7):
    assert np.array_equal(np.isnan(one), np.isnan(other))
    gap = difference(np.nan_to_num(one), np.nan_to_num(other))
    assert np.abs(gap).max() < atol


@pytest.mark.parametrize("feature", LOCAL.values(), ids=LOCAL.keys())
@given(SEEDS)
def test_local_misalignment_agrees_with_a_plain_loop(feature, seed):
    positions, angles = scene(seed)
    expected = np.full(angles.shape, np.nan)
    for t, i in np.ndindex(angles.shape):
        total, known = 0j, False
        others = [j for j in range(angles.shape[1]) if j != i and not np.isnan(angles[t, j])]
        if not others:
            continue  # nobody to be aligned with
        away = {j: math.hypot(*(positions[t, i] - positions[t, j])) for j in others}
        if feature.radius is not None:
            others = [j for j in others if away[j] <= feature.radius]
        if feature.nearest is not None:
            seen = [j for j in others if not math.isnan(away[j])]
            others = sorted(seen, key=away.__getitem__)[: feature.nearest]
        if feature.include_self and not np.isnan(angles[t, i]):
            others.append(i)
        for j in others:
            total, known = total + cmath.exp(1j * math.radians(angles[t, j])), True
        if known and not np.isnan(angles[t, i]):
            turn = math.degrees(cmath.phase(total)) - angles[t, i]
            expected[t, i] = (turn + 180) % 360 - 180
    same(feature.values(Scene(positions, angles)), expected)


@given(SEEDS)
def test_target_misalignment_agrees_with_a_plain_loop(seed):
    positions, angles = scene(seed)
    expected = np.full(angles.shape, np.nan)
    for t, i in np.ndindex(angles.shape):
        dx, dy = np.array(TARGET.target) - positions[t, i]
        turn = math.degrees(math.atan2(dy, dx)) - angles[t, i]
        expected[t, i] = (turn + 180) % 360 - 180
    same(TARGET.values(Scene(positions, angles)), expected)


ALONE = {
    name: FEATURES[name]
    for name in ("others", "near others", "nearest two others", "target", *BEARINGS)
}


@pytest.mark.parametrize("feature", ALONE.values(), ids=ALONE.keys())
@given(SEEDS, st.floats(-170, 170))
def test_a_turn_lowers_a_misalignment_by_itself(feature, seed, turn):
    """Exactly so where an animal's own heading is no part of the mean it is compared with."""
    positions, angles = scene(seed)
    turned = angles.copy()
    turned[:, 0] = angles[:, 0] + turn
    before = feature.values(Scene(positions, angles))
    after = feature.values(Scene(positions, turned))
    same(after[:, :1], difference(before[:, :1], np.full((len(before), 1), turn)))


@every_feature
@given(SEEDS, st.floats(-180, 180), st.floats(0.1, 50), st.floats(-20, 20))
def test_rotating_shifting_and_scaling_everything_changes_no_misalignment(
    feature, seed, angle, scale, shift
):
    positions, angles = scene(seed)
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    spin = np.array([[c, -s], [s, c]])

    def moved(points):
        return scale * (points @ spin.T) + shift

    if isinstance(feature, shoal.TargetMisalignment):
        target = tuple(moved(np.array(feature.target)).tolist())
        other = shoal.TargetMisalignment(target)
    elif isinstance(feature, shoal.Bearing):
        other = feature
    else:
        radius = None if feature.radius is None else feature.radius * scale
        other = replace(feature, radius=radius)
    same(
        other.values(Scene(moved(positions), angles + angle)),
        feature.values(Scene(positions, angles)),
        atol=1e-6,
    )


def loop_step(positions, towards):
    """One animal and one frame at a time: the step to the nearest other, or to their centroid."""
    result = np.full(positions.shape, np.nan)
    for t, i in np.ndindex(positions.shape[:2]):
        others = [p for j, p in enumerate(positions[t]) if j != i and np.isfinite(p).all()]
        if not others or np.isnan(positions[t, i]).any():
            continue
        if towards == "centroid":
            place = np.mean(others, axis=0)
        else:
            place = min(others, key=lambda p: math.hypot(*(p - positions[t, i])))
        result[t, i] = place - positions[t, i]
    return result


@pytest.mark.parametrize("towards", ["neighbour", "centroid"])
@given(SEEDS, st.sampled_from([0.15, 0.8]))
def test_distances_and_bearings_agree_with_a_plain_loop(towards, seed, missing):
    positions, angles = scene(seed, missing=missing)
    step = loop_step(positions, towards)
    distance = shoal.Distance((0, 1, 5), towards).values(Scene(positions, angles))
    assert np.allclose(distance, np.hypot(step[..., 0], step[..., 1]), equal_nan=True)
    direction = np.rad2deg(np.arctan2(step[..., 1], step[..., 0]))
    same(shoal.Bearing(towards).values(Scene(positions, angles)), difference(direction, angles))


@given(SEEDS)
def test_the_distance_to_a_target_is_that_of_a_ruler(seed):
    positions, angles = scene(seed)
    found = shoal.states.TargetDistance((0.5, -1.0), (0, 1, 9)).values(Scene(positions, angles))
    expected = np.sqrt((positions[..., 0] - 0.5) ** 2 + (positions[..., 1] + 1.0) ** 2)
    assert np.allclose(found, expected, equal_nan=True)


def test_a_single_animal_has_no_neighbour():
    positions, angles = scene(1, animals=1, missing=0.0)
    for feature in (shoal.Distance((0, 1)), shoal.Bearing(), shoal.Bearing("centroid")):
        assert np.isnan(feature.values(Scene(positions, angles))).all()


def test_the_signs_are_those_of_the_papers_figure_4():
    """Heading up; the target to the right needs a right turn, a group to the left a left turn."""
    positions = np.array([[[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]]])
    angles = np.array([[90.0, 160.0, 150.0]])
    target = shoal.TargetMisalignment((1.0, 1.0)).values(Scene(positions, angles))[0, 0]
    local = shoal.LocalMisalignment().values(Scene(positions, angles))[0, 0]
    assert target == pytest.approx(-45)
    assert 0 < local < 60


def test_headings_that_cancel_have_no_mean():
    positions = np.zeros((1, 2, 2))
    angles = np.array([[0.0, -180.0]])
    assert np.isnan(shoal.LocalMisalignment().values(Scene(positions, angles))).all()


def test_an_animal_at_its_target_has_no_direction_to_it():
    here = Scene(np.array([[[1.0, 2.0], [0.0, 2.0]]]), np.array([[10.0, 10.0]]))
    values = shoal.TargetMisalignment((1.0, 2.0)).values(here)
    assert np.isnan(values[0, 0])
    assert values[0, 1] == pytest.approx(-10)


def walk(seed, frames=40, animals=5):
    rng = np.random.default_rng(seed)
    positions = np.cumsum(rng.normal(size=(frames, animals, 2)), axis=0)
    positions[rng.random((frames, animals)) < 0.05] = np.nan
    return shoal.Tracks.from_arrays(positions)


SPACE = shoal.StateSpace(shoal.LocalMisalignment(bins=12), shoal.TargetMisalignment((0, 5), bins=8))


@pytest.mark.parametrize("lag", [1, 3])
def test_transitions_of_tracks_agree_with_a_plain_loop(lag):
    tracks = walk(1)
    states, lost = track_states(tracks, SPACE)
    expected = np.zeros((96, 96), dtype=int)
    for animal in range(5):
        for frame in range(0, 40 - lag, lag):  # one begins where the last one ended
            before, after = states[frame, animal], states[frame + lag, animal]
            if before >= 0 and after >= 0:
                expected[before, after] += 1
    counts = shoal.count_transitions(tracks, SPACE, lag=lag)
    assert np.array_equal(counts.matrix(), expected)
    assert counts.total > (80 if lag == 1 else 40)
    assert counts.dropped == lost
    unseen = np.isnan(tracks.positions[..., 0])
    assert lost["not seen"] == unseen.sum()
    assert lost["no heading"] == (np.isnan(tracks.headings()) & ~unseen).sum()
    assert counts.fixes == states.size
    assert sum(lost.values()) == (states < 0).sum()


def test_several_tracks_are_counted_apart_and_added():
    one, other = walk(1), walk(2)
    both = shoal.count_transitions([one, other], SPACE)
    added = shoal.count_transitions(one, SPACE) + shoal.count_transitions(other, SPACE)
    assert np.array_equal(both.matrix(), added.matrix())
    assert both.dropped == added.dropped


def test_a_fit_on_tracks_keeps_its_features(tmp_path):
    counts = shoal.count_transitions([walk(seed) for seed in range(4)], SPACE)
    fit = shoal.Model(SPACE, shoal.RandomWalk(90.0)).fit(counts, "laplace", draws=50, seed=1)
    again = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    assert again.model.space.parts == SPACE.parts


def test_every_feature_survives_the_disk(tmp_path):
    several = (
        shoal.Bearing("centroid", bins=4),
        shoal.Distance((0, 2, 50), unit="cm"),
        shoal.states.TargetDistance((0, 5), (0, 9, 99)),
        shoal.LocalMisalignment(4, nearest=2, absolute=True),
        shoal.TargetMisalignment("3", 4),
        shoal.TargetMisalignment({"": (0, 5), "other": (1, 2)}, 4, name="home"),
        shoal.states.Speed((0, 2, 9), unit="cm/s"),
        shoal.states.RelativeSpeed((0, 0.5, 1, 2), beyond=True),
        shoal.states.TurningAngle(4),
        shoal.states.WallDistance((0, 50, 900), shoal.tracks.Rectangle(-99, -99, 99, 99)),
        shoal.states.WallDistance((0, 50, 900), shoal.tracks.Circle(0, 0, 99)),
        shoal.states.NeighboursWithin(3.0, most=2),
    )
    for feature in several:
        space = shoal.StateSpace(feature)
        counts = shoal.count_transitions(walk(1), space)
        fit = shoal.Model(space, shoal.Uniform()).fit(counts, "map")
        assert shoal.load_fit(fit.save(tmp_path / "fit.nc")).model.space == space, feature


def test_a_function_of_the_users_own_is_a_feature(tmp_path):
    east = shoal.states.Custom(
        shoal.states.Interval("east", (-99, 0, 99), "cm"), lambda s: s.positions[..., 0]
    )
    counts = shoal.count_transitions(walk(1), shoal.StateSpace(east))
    x = walk(1).positions[..., 0]
    both = np.isfinite(x[:-1]) & np.isfinite(x[1:])
    assert counts.matrix()[0, 1] == ((x[:-1] < 0) & (x[1:] >= 0) & both).sum()
    fit = shoal.Model(shoal.StateSpace(east), shoal.Uniform()).fit(counts, "map")
    again = shoal.load_fit(fit.save(tmp_path / "fit.nc"))
    assert again.model.space.axes == (east.axis,)
    with pytest.raises(shoal.InputError, match="every animal in every frame"):
        shoal.count_transitions(
            walk(1), shoal.StateSpace(shoal.states.Custom(east.axis, lambda s: np.zeros(3)))
        )


@given(SEEDS, st.integers(1, 3))
def test_speeds_and_turns_agree_with_a_plain_loop(seed, frames):
    positions, angles = scene(seed, frames=8)
    speed = shoal.states.Speed((0, 1), frames).values(Scene(positions, angles, fps=5.0))
    turn = shoal.states.TurningAngle().values(Scene(positions, angles))
    for t, i in np.ndindex(angles.shape):
        span = positions[t : t + frames + 1, i]
        if len(span) == frames + 1 and np.isfinite(span).all():
            assert speed[t, i] == pytest.approx(math.dist(span[0], span[-1]) * 5.0 / frames)
        else:
            assert np.isnan(speed[t, i])
        if t and np.isfinite(angles[t, i] + angles[t - 1, i]):
            gap = turn[t, i] - (angles[t, i] - angles[t - 1, i])
            assert abs((gap + 180) % 360 - 180) < 1e-9
            assert -180 <= turn[t, i] < 180
        else:
            assert np.isnan(turn[t, i])


@given(SEEDS)
def test_relative_speeds_agree_with_a_plain_loop(seed):
    tracks = shoal.Tracks.from_arrays(scene(seed)[0])
    found = shoal.states.RelativeSpeed((0, 1)).values(Scene.of(tracks))
    for t, i in np.ndindex(found.shape):
        steps = {
            j: math.dist(tracks.positions[t - 1, j], tracks.positions[t, j])
            for j in range(found.shape[1])
            if t and np.isfinite(tracks.positions[t - 1 : t + 1, j]).all()
        }
        others = [step for j, step in steps.items() if j != i]
        if i in steps and others:
            assert found[t, i] == pytest.approx(steps[i] * len(others) / sum(others))
        else:
            assert np.isnan(found[t, i])


def test_a_relative_speed_is_large_beside_others_that_rest_and_0_for_one_that_rests():
    places = np.zeros((2, 3, 2))
    places[1, 0] = (3.0, 4.0)
    found = shoal.states.RelativeSpeed((0, 1)).values(Scene.of(shoal.Tracks.from_arrays(places)))
    assert found[1, 0] == pytest.approx(1e6) and found[1, 1:].tolist() == [0.0, 0.0]


@given(SEEDS, st.floats(0.2, 3))
def test_neighbours_within_a_radius_agree_with_a_plain_loop(seed, radius):
    positions, angles = scene(seed)
    found = shoal.states.NeighboursWithin(radius, most=2).values(Scene(positions, angles))
    for t, i in np.ndindex(angles.shape):
        if np.isnan(positions[t, i]).any():
            assert np.isnan(found[t, i])
            continue
        near = [
            j for j in range(5) if j != i and math.dist(positions[t, i], positions[t, j]) <= radius
        ]
        assert found[t, i] == min(len(near), 2)


@given(SEEDS)
def test_the_distance_to_a_wall_is_that_of_the_nearest_of_many_points_on_it(seed):
    positions, angles = scene(seed, frames=3)
    box, ring = shoal.tracks.Rectangle(-1, -1.5, 2, 1), shoal.tracks.Circle(0.2, 0.1, 1.4)
    side = np.linspace(0, 1, 20_001)
    corners = np.array([(-1, -1.5), (2, -1.5), (2, 1), (-1, 1), (-1, -1.5)])
    frame = np.concatenate([a + side[:, None] * (b - a) for a, b in pairwise(corners)])
    round_ = np.array([0.2, 0.1]) + 1.4 * np.stack(
        [np.cos(2 * np.pi * side), np.sin(2 * np.pi * side)], axis=1
    )
    for arena, wall in ((box, frame), (ring, round_)):
        found = shoal.states.WallDistance((0, 9), arena).values(Scene(positions, angles))
        for t, i in np.ndindex(angles.shape):
            place = positions[t, i]
            if np.isfinite(place).all() and arena.holds(place):
                nearest = np.hypot(*(wall - place).T).min()
                assert found[t, i] == pytest.approx(nearest, abs=2e-4)
            else:
                assert np.isnan(found[t, i])


def test_walls_come_from_the_tracks_where_nobody_gives_them():
    here = shoal.Tracks.from_arrays(
        walk(1).positions, arena=shoal.tracks.Rectangle(-50, -50, 50, 50)
    )
    space = shoal.StateSpace(shoal.states.WallDistance((0, 20, 50)))
    assert shoal.count_transitions(here, space).total > 100
    with pytest.raises(shoal.InputError, match="walls around group '' are not known"):
        shoal.count_transitions(walk(1), space)


def test_a_target_may_be_another_animal_a_landmark_or_one_for_each_group():
    tracks = walk(3)
    angles = tracks.headings()
    lead = shoal.TargetMisalignment("2").values(Scene.of(tracks))
    assert np.isnan(lead[:, 2]).all(), "nobody has a direction to itself"
    expected = shoal.TargetMisalignment(tuple(tracks.positions[4, 2])).values(
        Scene(tracks.positions[4:5], angles[4:5])
    )
    same(lead[4, [0, 1, 3, 4]], expected[0, [0, 1, 3, 4]])
    marked = tracks.with_landmarks("2")
    assert marked.members == ("0", "1", "3", "4")
    inside = Scene.of(marked)
    assert inside.positions.shape[1] == 4
    same(shoal.TargetMisalignment("2").values(inside), lead[:, [0, 1, 3, 4]])
    alone = shoal.LocalMisalignment().values(inside)
    same(alone, shoal.LocalMisalignment().values(Scene(inside.positions, inside.headings)))
    each = shoal.TargetMisalignment({"north": (1, 2), "south": (3, 4)})
    north = Scene(tracks.positions, angles, group="north")
    same(each.values(north), shoal.TargetMisalignment((1, 2)).values(north))
    with pytest.raises(shoal.InputError, match="no target for group 'west', only for north, south"):
        each.values(Scene(tracks.positions, angles, group="west"))
    with pytest.raises(shoal.InputError, match="'dog' is no animal or landmark"):
        shoal.TargetMisalignment("dog").values(Scene.of(tracks))


@pytest.mark.parametrize("bins", [36, 8, 7, 3])
def test_counts_of_absolute_angles_are_the_counts_of_angles_folded(bins):
    tracks = walk(5)
    whole = shoal.StateSpace(shoal.LocalMisalignment(bins))
    half = shoal.StateSpace(shoal.LocalMisalignment(bins, absolute=True))
    axis = half.axes[0]
    centres = np.abs(whole.axes[0].centres)
    assert np.allclose(np.unique(np.round(centres, 9)), axis.centres)
    assert axis.widths.sum() == pytest.approx(180)
    fold = np.array([int(np.argmin(np.abs(axis.centres - c))) for c in centres])
    expected = np.zeros((half.size, half.size), dtype=int)
    matrix = shoal.count_transitions(tracks, whole).matrix()
    for i, j in np.ndindex(matrix.shape):
        expected[fold[i], fold[j]] += matrix[i, j]
    assert np.array_equal(shoal.count_transitions(tracks, half).matrix(), expected)


@pytest.mark.parametrize("by", ["group", "individual"])
def test_counts_apart_add_up_to_the_whole(by):
    groups = [
        shoal.Tracks.from_arrays(walk(seed).positions, group=f"g{seed}", individuals=list("abcde"))
        for seed in (1, 2)
    ]
    whole = shoal.count_transitions(groups, SPACE)
    apart = shoal.count_transitions(groups, SPACE, by=by)
    expected = {"g1", "g2"} if by == "group" else {(g, a) for g in ("g1", "g2") for a in "abcde"}
    assert set(apart) == expected
    assert np.array_equal(sum(part.matrix() for part in apart.values()), whole.matrix())
    assert sum(part.fixes for part in apart.values()) == whole.fixes == 400
    for reason, count in whole.dropped.items():
        assert sum(part.dropped[reason] for part in apart.values()) == count
    one = apart["g1"] if by == "group" else apart["g1", "b"]
    states = track_states(groups[0], SPACE)[0]
    states = states if by == "group" else states[:, [1]]
    assert one.total == ((states[:-1] >= 0) & (states[1:] >= 0)).sum()


def test_a_target_far_from_the_animals_is_warned_about_once():
    with pytest.warns(UserWarning, match="far from the places where animals") as caught:
        shoal.count_transitions(
            [walk(1), walk(2)], shoal.StateSpace(shoal.TargetMisalignment((500, 5)))
        )
    assert len(caught) == 1
    walled = shoal.Tracks.from_arrays(walk(1).positions, arena=shoal.tracks.Circle(0, 0, 60))
    with pytest.warns(UserWarning, match="outside the arena Circle"):
        shoal.count_transitions(walled, shoal.StateSpace(shoal.TargetMisalignment((61, 0))))


LOCAL_SPACE = shoal.StateSpace(shoal.LocalMisalignment())


def still(frames=5, animals=3):
    return shoal.Tracks.from_arrays(np.ones((frames, animals, 2)))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.LocalMisalignment(radius=0.0), "must be positive, got 0"),
        (lambda: shoal.TargetMisalignment((1, 2, 3)), r"a point \(x, y\)"),
        (lambda: shoal.LocalMisalignment(nearest=0), "whole number of neighbours, got 0"),
        (lambda: shoal.LocalMisalignment(radius=1, nearest=1), "not both"),
        (lambda: shoal.states.Speed((0, 1), 0), "1 frame or more, got 0"),
        (lambda: shoal.states.NeighboursWithin(0.0), "must be positive, got 0"),
        (lambda: shoal.states.NeighboursWithin(1.0, 0), "1 or more; got 0"),
        (lambda: shoal.TargetMisalignment(""), "got an empty one"),
        (lambda: shoal.states.Custom("axis", None), "an axis and a function"),
        (lambda: shoal.tracks.Rectangle(1, 0, 0, 1), "left < right"),
        (lambda: shoal.tracks.Circle(0, 0, -1), "positive radius"),
        (lambda: shoal.tracks.Circle(0, "a", 1), "finite numbers x, y, radius"),
        (lambda: shoal.count_transitions(walk(1), SPACE, by="sex"), "got 'sex'"),
        (lambda: shoal.count_transitions([[0, 1]], SPACE, by="group"), "no groups to count by"),
        (lambda: shoal.count_transitions("fish.csv", SPACE), "read a file with shoal.read_tracks"),
        (lambda: shoal.count_transitions(still(), LOCAL_SPACE), "all headings are undefined"),
        (lambda: shoal.count_transitions(still(frames=1), SPACE), "1 frame, and a transition"),
        (lambda: shoal.count_transitions(walk(1, animals=1), SPACE), "a single animal, and local"),
        (lambda: shoal.count_transitions(walk(1), SPACE, lag=99), "no transition at a lag of 99"),
        (
            lambda: shoal.count_transitions(still().with_landmarks("0", "1", "2"), SPACE),
            "landmarks but no members",
        ),
        (lambda: shoal.Distance((0, 1), "moon"), "neighbour, centroid; got 'moon'"),
        (lambda: shoal.Bearing("moon"), "got 'moon'"),
        (lambda: shoal.Distance((1, 0)), "increasing edges"),
        (
            lambda: shoal.states.TargetDistance((1, "here"), (0, 1)),
            r"a point \(x, y\), got \(1, 'here'",
        ),
        (lambda: shoal.count_transitions(walk(1), SPACE, lag=0), "1 or more; got 0"),
        (lambda: shoal.count_transitions([walk(1), [0, 1]], SPACE), "cannot be counted together"),
        (
            lambda: shoal.count_transitions(walk(1), shoal.StateSpace(shoal.Circular("a"))),
            "is a bare axis",
        ),
    ],
)
def test_slips_get_a_sentence(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()
