"""Misalignments against plain loops, and the symmetries they must have."""

import cmath
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.angles import difference
from shoal.states import track_states

LOCAL = {
    "all": shoal.LocalMisalignment(),
    "near": shoal.LocalMisalignment(radius=1.2),
    "others": shoal.LocalMisalignment(include_self=False),
    "near others": shoal.LocalMisalignment(radius=1.2, include_self=False),
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
        for j in range(angles.shape[1]):
            if np.isnan(angles[t, j]) or (i == j and not feature.include_self):
                continue
            gap = positions[t, i] - positions[t, j]
            if feature.radius is not None and i != j and not math.hypot(*gap) <= feature.radius:
                continue
            total, known = total + cmath.exp(1j * math.radians(angles[t, j])), True
        if known and not np.isnan(angles[t, i]):
            turn = math.degrees(cmath.phase(total)) - angles[t, i]
            expected[t, i] = (turn + 180) % 360 - 180
    same(feature.values(positions, angles), expected)


@given(SEEDS)
def test_target_misalignment_agrees_with_a_plain_loop(seed):
    positions, angles = scene(seed)
    expected = np.full(angles.shape, np.nan)
    for t, i in np.ndindex(angles.shape):
        dx, dy = np.array(TARGET.target) - positions[t, i]
        turn = math.degrees(math.atan2(dy, dx)) - angles[t, i]
        expected[t, i] = (turn + 180) % 360 - 180
    same(TARGET.values(positions, angles), expected)


ALONE = {name: FEATURES[name] for name in ("others", "near others", "target", *BEARINGS)}


@pytest.mark.parametrize("feature", ALONE.values(), ids=ALONE.keys())
@given(SEEDS, st.floats(-170, 170))
def test_a_turn_lowers_a_misalignment_by_itself(feature, seed, turn):
    """Exactly so where an animal's own heading is no part of the mean it is compared with."""
    positions, angles = scene(seed)
    turned = angles.copy()
    turned[:, 0] = angles[:, 0] + turn
    before, after = feature.values(positions, angles), feature.values(positions, turned)
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
        other = shoal.LocalMisalignment(radius=radius, include_self=feature.include_self)
    same(
        other.values(moved(positions), angles + angle),
        feature.values(positions, angles),
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
    distance = shoal.Distance((0, 1, 5), towards).values(positions, angles)
    assert np.allclose(distance, np.hypot(step[..., 0], step[..., 1]), equal_nan=True)
    direction = np.rad2deg(np.arctan2(step[..., 1], step[..., 0]))
    same(shoal.Bearing(towards).values(positions, angles), difference(direction, angles))


@given(SEEDS)
def test_the_distance_to_a_target_is_that_of_a_ruler(seed):
    positions, angles = scene(seed)
    found = shoal.TargetDistance((0.5, -1.0), (0, 1, 9)).values(positions, angles)
    expected = np.sqrt((positions[..., 0] - 0.5) ** 2 + (positions[..., 1] + 1.0) ** 2)
    assert np.allclose(found, expected, equal_nan=True)


def test_a_single_animal_has_no_neighbour():
    positions, angles = scene(1, animals=1, missing=0.0)
    for feature in (shoal.Distance((0, 1)), shoal.Bearing(), shoal.Bearing("centroid")):
        assert np.isnan(feature.values(positions, angles)).all()


def test_the_signs_are_those_of_the_papers_figure_4():
    """Heading up; the target to the right needs a right turn, a group to the left a left turn."""
    positions = np.array([[[0.0, 0.0], [1.0, 1.0], [-1.0, 1.0]]])
    angles = np.array([[90.0, 160.0, 150.0]])
    target = shoal.TargetMisalignment((1.0, 1.0)).values(positions, angles)[0, 0]
    local = shoal.LocalMisalignment().values(positions, angles)[0, 0]
    assert target == pytest.approx(-45)
    assert 0 < local < 60


def test_headings_that_cancel_have_no_mean():
    positions = np.zeros((1, 2, 2))
    angles = np.array([[0.0, -180.0]])
    assert np.isnan(shoal.LocalMisalignment().values(positions, angles)).all()


def test_an_animal_at_its_target_has_no_direction_to_it():
    values = shoal.TargetMisalignment((1.0, 2.0)).values(
        np.array([[[1.0, 2.0], [0.0, 2.0]]]), np.array([[10.0, 10.0]])
    )
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
        for frame in range(40 - lag):
            before, after = states[frame, animal], states[frame + lag, animal]
            if before >= 0 and after >= 0:
                expected[before, after] += 1
    counts = shoal.count_transitions(tracks, SPACE, lag=lag)
    assert np.array_equal(counts.matrix(), expected)
    assert counts.total > 80
    assert counts.dropped == lost
    assert lost["local_misalignment"] == np.isnan(tracks.headings()).sum()


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
    space = shoal.StateSpace(
        shoal.Bearing("centroid", bins=4),
        shoal.Distance((0, 2, 50), unit="cm"),
        shoal.TargetDistance((0, 5), (0, 9, 99)),
    )
    fit = shoal.Model(space, shoal.Uniform()).fit(shoal.count_transitions(walk(1), space), "map")
    assert shoal.load_fit(fit.save(tmp_path / "fit.nc")).model.space == space


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.LocalMisalignment(radius=0.0), "must be positive, got 0"),
        (lambda: shoal.TargetMisalignment((1, 2, 3)), r"a point \(x, y\)"),
        (lambda: shoal.Distance((0, 1), "moon"), "neighbour, centroid; got 'moon'"),
        (lambda: shoal.Bearing("moon"), "got 'moon'"),
        (lambda: shoal.Distance((1, 0)), "increasing edges"),
        (lambda: shoal.TargetDistance("here", (0, 1)), r"a point \(x, y\), got 'here'"),
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
