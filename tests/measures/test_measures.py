"""Group measures and summaries against plain loops, and the laws they must obey."""

import cmath
import math
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.measures import (
    SUMMARIES,
    Motion,
    autocorrelation,
    centroid,
    cohesion,
    group_measures,
    group_speed,
    median_speed,
    misalignment_spread,
    nearest_distance,
    polarisation,
    pooled_autocorrelation,
    rotation,
    shape,
    speeds,
    straightness,
    summaries,
    target_distance,
    time_to_target,
    turning_angles,
)
from shoal.tracks.arena import Periodic

SEEDS = st.integers(0, 10**6)
MISSING = st.sampled_from([0.0, 0.15, 0.7])
BOX = Periodic(-1.0, 0.5, 2.0, 2.5)
ARENAS = pytest.mark.parametrize("arena", [None, BOX], ids=["open", "periodic"])
TARGET, REACH = (0.3, 0.8), 0.4
nan = math.nan


def group(seed, frames=7, animals=4, missing=0.15):
    """Places over several turns of the box, headings, gaps in both, and half a place."""
    rng = np.random.default_rng(seed)
    places = np.cumsum(rng.normal(scale=0.6, size=(frames, animals, 2)), axis=0)
    angles = rng.uniform(-180, 180, (frames, animals))
    places[rng.random((frames, animals)) < missing] = np.nan
    places[rng.random((frames, animals)) < missing / 3, 0] = np.nan
    angles[rng.random((frames, animals)) < missing] = np.nan
    return places, angles


def alike(found, expected, atol=1e-9):
    found, expected = np.asarray(found), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert np.allclose(found, expected, rtol=1e-9, atol=atol, equal_nan=True), (found, expected)


# plain loops, one animal at a time


def is_seen(place):
    return all(math.isfinite(part) for part in place)


def way(start, end, arena):
    """The step between two places, the shortest of those round the box."""
    step = [e - s for s, e in zip(start, end, strict=True)]
    if arena is None:
        return step
    return [
        min((part + turn * side for turn in range(-40, 41)), key=abs)
        for part, side in zip(step, arena.sides, strict=True)
    ]


def loop_centre(places, arena):
    there = [p for p in places if is_seen(p)]
    if arena is None:
        return [fmean(p[k] for p in there) for k in range(2)]
    centre = []
    for k, low in enumerate((arena.left, arena.bottom)):
        side = arena.sides[k]
        total = sum(cmath.exp(2j * math.pi * (p[k] - low) / side) for p in there)
        middle = low + cmath.phase(total) / (2 * math.pi) * side
        from_there = [way((middle, 0), (p[k], 0), Periodic(0, 0, side, 1))[0] for p in there]
        centre.append(middle + fmean(from_there))
    return centre


def loop_polarisation(angles):
    known = [a for a in angles if math.isfinite(a)]
    if len(known) < 2:
        return nan
    return abs(sum(cmath.exp(1j * math.radians(a)) for a in known)) / len(known)


def loop_spread(angles):
    r = loop_polarisation(angles)
    return math.degrees(math.sqrt(max(0.0, -2 * math.log(r)))) if r > 0 else nan


def loop_rotation(places, angles, arena):
    there = [(p, a) for p, a in zip(places, angles, strict=True) if is_seen(p)]
    if len(there) < 2:
        return nan
    centre, crosses = loop_centre(places, arena), []
    for place, angle in there:
        x, y = way(centre, place, arena)
        if math.isfinite(angle):
            theta = math.radians(angle)
            crosses.append((x * math.sin(theta) - y * math.cos(theta)) / math.hypot(x, y))
    return abs(fmean(crosses)) if len(crosses) > 1 else nan


def loop_cohesion(places, arena):
    there = [p for p in places if is_seen(p)]
    if len(there) < 2:
        return nan
    centre = loop_centre(places, arena)
    return fmean(math.hypot(*way(centre, p, arena)) for p in there)


def loop_nearest(places, arena):
    there = [p for p in places if is_seen(p)]
    if len(there) < 2:
        return nan
    closest = []
    for i, one in enumerate(there):
        others = there[:i] + there[i + 1 :]
        closest.append(min(math.hypot(*way(one, other, arena)) for other in others))
    return fmean(closest)


def loop_steps(places, arena):
    """Every animal's steps, by frame and animal."""
    found = {}
    for t, i in np.ndindex(len(places) - 1, places.shape[1]):
        if is_seen(places[t, i]) and is_seen(places[t + 1, i]):
            found[t, i] = way(places[t, i], places[t + 1, i], arena)
    return found


def loop_turns(angles):
    found = {}
    for t, i in np.ndindex(*angles.shape):
        if t and math.isfinite(angles[t, i] + angles[t - 1, i]):
            found[t, i] = (angles[t, i] - angles[t - 1, i] + 180) % 360 - 180
    return found


def loop_autocorrelation(series, lag):
    """Of a list of series, with gaps as NaN."""
    products, squares = [], []
    for one in series:
        known = [x for x in one if math.isfinite(x)]
        if not known:
            continue
        d = [x - fmean(known) for x in one]
        squares += [x * x for x in d if math.isfinite(x)]
        runs = [d[t : t + lag + 1] for t in range(len(d) - lag)]
        products += [run[0] * run[-1] for run in runs if all(math.isfinite(x) for x in run)]
    if not products or fmean(squares) < 1e-20:
        return nan
    return fmean(products) / fmean(squares)


def ninth_decile(values):
    """By a straight line between the two values around nine tenths of the way."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    place = 0.9 * (len(ordered) - 1)
    low, high = ordered[math.floor(place)], ordered[math.ceil(place)]
    return low + (place - math.floor(place)) * (high - low)


def middle(values):
    return median(values) if values else nan


def known_mean(values):
    known = [v for v in values if math.isfinite(v)]
    return fmean(known) if known else nan


def loop_straightness(places, arena):
    found = []
    for i in range(places.shape[1]):
        mine = [step for (_, j), step in loop_steps(places, arena).items() if j == i]
        path = sum(math.hypot(*step) for step in mine)
        if path > 0:
            found.append(math.hypot(sum(s[0] for s in mine), sum(s[1] for s in mine)) / path)
    return known_mean(found)


def loop_arrival(places, target, reach, fps, arena):
    started = None
    for t, frame in enumerate(places):
        there = [p for p in frame if is_seen(p)]
        if there and started is None:
            started = t
        if any(math.hypot(*way(target, p, arena)) <= reach for p in there):
            return (t - started) / fps
    return nan


def loop_group_speed(places, fps, arena):
    steps = loop_steps(places, arena)
    speed = []
    for t in range(len(places)):
        now = [step for (frame, _), step in steps.items() if frame == t]
        mean = [fmean(step[k] for step in now) for k in range(2)] if now else [nan, nan]
        speed.append(math.hypot(*mean) * fps)
    return speed


def loop_reached(places, fps, arena):
    if not any(math.isfinite(x) for x in np.ravel(places)):
        return nan
    return 0.0 if math.isnan(loop_arrival(places, TARGET, REACH, fps, arena)) else 1.0


def loop_summaries(places, angles, fps, arena):
    """All summaries of one group."""
    steps, turns = loop_steps(places, arena), loop_turns(angles)
    own = [[turns.get((t, i), nan) for t in range(len(angles))] for i in range(angles.shape[1])]
    order = [loop_polarisation(a) for a in angles]
    pairs = list(zip(places, angles, strict=True))
    return {
        "polarisation": known_mean(order),
        "rotation": known_mean([loop_rotation(p, a, arena) for p, a in pairs]),
        "cohesion": known_mean([loop_cohesion(p, arena) for p in places]),
        "nearest_distance": known_mean([loop_nearest(p, arena) for p in places]),
        "group_speed": known_mean(loop_group_speed(places, fps, arena)),
        "speed": middle([math.hypot(*step) * fps for step in steps.values()]),
        "misalignment_spread": known_mean([loop_spread(a) for a in angles]),
        "turning_angle": middle([abs(turn) for turn in turns.values()]),
        "large_turn": ninth_decile([abs(turn) for turn in turns.values()]),
        "turning_autocorrelation": loop_autocorrelation(own, 1),
        "polarisation_autocorrelation": loop_autocorrelation([order], 1),
        "straightness": loop_straightness(places, arena),
        "target_reached": loop_reached(places, fps, arena),
        "time_to_target": loop_arrival(places, TARGET, REACH, fps, arena),
    }


# every measure agrees with its loop


@given(SEEDS, MISSING)
def test_polarisation_and_spread_agree_with_plain_loops(seed, missing):
    _, angles = group(seed, missing=missing)
    alike(polarisation(angles), [loop_polarisation(a) for a in angles])
    alike(misalignment_spread(angles), [loop_spread(a) for a in angles], atol=1e-5)


@ARENAS
@given(SEEDS, MISSING)
def test_rotation_and_distances_agree_with_plain_loops(arena, seed, missing):
    places, angles = group(seed, missing=missing)
    pairs = zip(places, angles, strict=True)
    alike(rotation(places, angles, arena), [loop_rotation(p, a, arena) for p, a in pairs])
    alike(cohesion(places, arena), [loop_cohesion(p, arena) for p in places])
    alike(nearest_distance(places, arena), [loop_nearest(p, arena) for p in places])


@ARENAS
@given(SEEDS, MISSING)
def test_speeds_and_straightness_agree_with_plain_loops(arena, seed, missing):
    places, _ = group(seed, missing=missing)
    steps, fps = loop_steps(places, arena), 5.0
    expected = np.full(places.shape[:2], nan)
    for at, step in steps.items():
        expected[at] = math.hypot(*step) * fps
    alike(speeds(places, fps, arena), expected)
    alike(speeds(places, None, arena), expected / fps)
    medians = [middle([v for v in row if math.isfinite(v)]) for row in expected]
    alike(median_speed(places, fps, arena), medians)
    alike(group_speed(places, fps, arena), loop_group_speed(places, fps, arena))
    alike(group_speed(places, None, arena), loop_group_speed(places, 1.0, arena))
    alike(straightness(places, arena), loop_straightness(places, arena))


@ARENAS
@given(SEEDS, MISSING, st.sampled_from([0.05, 0.5]), st.sampled_from([None, 4.0]))
def test_the_time_to_a_target_agrees_with_a_plain_loop(arena, seed, missing, reach, fps):
    places, _ = group(seed, missing=missing)
    expected = loop_arrival(places, TARGET, reach, fps or 1.0, arena)
    alike(time_to_target(places, TARGET, reach, fps, arena), expected)
    for t, frame in enumerate(places):
        away = [math.hypot(*way(TARGET, p, arena)) for p in frame if is_seen(p)]
        alike(target_distance(places, TARGET, arena)[t], min(away, default=nan))


@given(SEEDS, MISSING)
def test_turning_angles_agree_with_a_plain_loop(seed, missing):
    _, angles = group(seed, missing=missing)
    expected = np.full(angles.shape, nan)
    for at, turn in loop_turns(angles).items():
        expected[at] = turn
    alike(turning_angles(angles), expected)


@given(SEEDS, MISSING)
def test_autocorrelations_agree_with_plain_loops(seed, missing):
    rng = np.random.default_rng(seed)
    series = np.cumsum(rng.normal(size=(20, 3)), axis=0)
    series[rng.random(series.shape) < missing] = nan
    lags = [0, 1, 3, 19, 25]
    expected = [loop_autocorrelation(list(series.T), lag) for lag in lags]
    alike(pooled_autocorrelation(series, lags), expected)
    alike(pooled_autocorrelation(series, 3), expected[2])
    alone = [[loop_autocorrelation([one], lag) for lag in lags] for one in series.T]
    alike(autocorrelation(np.ascontiguousarray(series.T), lags), alone)


@ARENAS
@given(SEEDS, MISSING)
def test_all_summaries_agree_with_plain_loops(arena, seed, missing):
    places, angles = group(seed, frames=12, missing=missing)
    found = summaries(Motion(places, angles, 5.0, arena, TARGET, REACH))
    expected = loop_summaries(places, angles, 5.0, arena)
    assert list(found) == list(expected) == list(SUMMARIES)
    for name, value in expected.items():
        alike(found[name], value, atol=1e-5 if name == "misalignment_spread" else 1e-9)


# laws


def test_aligned_animals_have_polarisation_one_and_opposite_pairs_zero():
    alike(polarisation(np.full((3, 5), 77.7)), np.ones(3))
    assert np.all(misalignment_spread(np.full((3, 5), 77.7)) < 1e-5)
    opposite = np.array([[30.0, -150.0, 90.0, -90.0]])
    alike(polarisation(opposite), [0.0])
    assert np.isnan(misalignment_spread(opposite)).all(), "there is no mean to be spread around"


def test_the_spread_of_a_wrapped_normal_is_its_standard_deviation():
    angles = np.random.default_rng(1).normal(170.0, 25.0, (1, 200_000))
    assert misalignment_spread(angles)[0] == pytest.approx(25.0, abs=0.2)


@pytest.mark.parametrize("turn", [90.0, -90.0])
def test_a_mill_has_rotation_one_and_a_star_none(turn):
    around = np.array([0.0, 72.0, 144.0, -144.0, -72.0])
    theta = np.deg2rad(around)
    ring = 3.0 + np.stack([np.cos(theta), np.sin(theta)], axis=-1)[None]
    alike(rotation(ring, around[None] + turn), [1.0])
    alike(rotation(ring, around[None]), [0.0])
    alike(polarisation(around[None] + turn), [0.0])
    alike(cohesion(ring), [1.0])
    alike(nearest_distance(ring), [2 * math.sin(math.radians(36))])


def test_an_animal_at_the_centroid_has_no_part_in_the_rotation():
    line = np.array([[[0.1, 0.1], [0.4, 0.4], [0.7, 0.7]]])
    alike(rotation(line, np.array([[-45.0, 10.0, 135.0]])), [1.0])
    together = np.full((1, 3, 2), 0.1)
    assert np.isnan(rotation(together, np.array([[0.0, 90.0, 10.0]]))).all()
    alike(cohesion(together), [0.0])


def test_who_comes_into_sight_does_not_move_the_group():
    places = np.full((3, 3, 2), nan)
    places[:, 0] = [[0, 0], [1, 0], [2, 0]]
    places[0, 1], places[1:, 2] = [50, 50], [[-70, 0], [-69, 0]]
    alike(group_speed(places, 2.0), [2.0, 2.0, nan])


def test_the_time_to_a_target_counts_from_when_somebody_is_seen():
    places = np.full((5, 1, 2), nan)
    places[2:, 0, 0], places[2:, 0, 1] = [0, 1, 2], 0
    alike(time_to_target(places, (2, 0), 0.5, 10.0), 0.2)
    alike(time_to_target(places, (2, 0), 1.0), 1.0)
    alike(time_to_target(places, (9, 9), 1.0), nan)
    moving = np.stack([np.arange(5.0) - 2.5, np.zeros(5)], axis=-1)
    alike(time_to_target(places, moving, 0.6), 0.0)


def test_a_straight_path_has_straightness_one_and_there_and_back_none():
    out = np.arange(5.0)
    places = np.stack([out, 2 * out], axis=-1)[:, None]
    alike(straightness(places), 1.0)
    alike(straightness(np.concatenate([places, places[::-1]])), 0.0)
    assert np.isnan(straightness(np.ones((4, 2, 2))))


def test_an_alternating_series_is_its_own_opposite_one_frame_later():
    series = np.tile([1.0, -1.0], 10)
    alike(autocorrelation(series, [0, 1, 2]), [1.0, -1.0, 1.0])
    assert np.isnan(autocorrelation(np.full((3, 11), [[0.1], [0.7], [170.3]]), 1)).all()


def test_no_pair_is_taken_across_a_gap():
    series = np.array([1.0, 5.0, nan, 2.0, 7.0])
    assert np.isnan(autocorrelation(series, [2, 3])).all()
    assert np.isfinite(autocorrelation(series, 1))


def test_animals_that_differ_do_not_make_an_autocorrelation():
    noise = np.random.default_rng(3).normal(size=(4000, 2))
    assert abs(pooled_autocorrelation(noise + np.array([0.0, 100.0]), 1)) < 0.05


def all_of(places, angles, arena=None, target=TARGET, reach=REACH, fps=5.0):
    return summaries(Motion(places, angles, fps, arena, target, reach))


def the_same(one, other, atol=1e-7):
    assert one.keys() == other.keys()
    for name, value in one.items():
        alike(value, other[name], atol=1e-4 if name == "misalignment_spread" else atol)


@given(SEEDS, st.floats(-180, 180), st.floats(-20, 20))
def test_rotating_and_shifting_everything_changes_no_summary(seed, angle, shift):
    places, angles = group(seed, frames=12)
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    spin = np.array([[c, -s], [s, c]])
    target = tuple((spin @ TARGET + shift).tolist())
    turned = all_of(places @ spin.T + shift, angles + angle, target=target)
    the_same(turned, all_of(places, angles))


@given(SEEDS, st.floats(0.1, 50))
def test_lengths_and_speeds_grow_with_the_scale_and_nothing_else_does(seed, scale):
    places, angles = group(seed, frames=12)
    before = all_of(places, angles)
    target = tuple(scale * part for part in TARGET)
    after = all_of(scale * places, angles, target=target, reach=scale * REACH)
    for name, value in before.items():
        factor = scale if SUMMARIES[name].kind in ("length", "speed") else 1.0
        alike(after[name], factor * value, atol=1e-4 if name == "misalignment_spread" else 1e-7)


@given(SEEDS)
def test_a_faster_camera_changes_only_speeds_and_times(seed):
    places, angles = group(seed, frames=12)
    slow, fast = all_of(places, angles, fps=5.0), all_of(places, angles, fps=10.0)
    for name, value in slow.items():
        factor = {"speed": 2.0, "time": 0.5}.get(SUMMARIES[name].kind, 1.0)
        alike(fast[name], factor * value)


@ARENAS
@given(SEEDS)
def test_the_order_of_the_animals_changes_nothing(arena, seed):
    places, angles = group(seed, frames=12)
    order = np.random.default_rng(seed).permutation(places.shape[1])
    the_same(all_of(places[:, order], angles[:, order], arena), all_of(places, angles, arena))


@ARENAS
@given(SEEDS)
def test_a_stack_gives_what_its_groups_give_and_ends_do_not_count(arena, seed):
    lengths = [12, 5, 1, 9, 12, 3]
    groups = [group(seed + k, frames=n) for k, n in enumerate(lengths)]
    places, angles = np.full((6, 12, 4, 2), nan), np.full((6, 12, 4), nan)
    for k, (one, turned) in enumerate(groups):
        places[k, : len(one)], angles[k, : len(one)] = one, turned
    stack = all_of(places.reshape(2, 3, 12, 4, 2), angles.reshape(2, 3, 12, 4), arena)
    for k, (one, turned) in enumerate(groups):
        apart = all_of(one, turned, arena)
        the_same({name: values[divmod(k, 3)] for name, values in stack.items()}, apart)


@given(SEEDS, st.floats(-9, 9), st.floats(-9, 9))
def test_in_a_periodic_box_it_does_not_matter_where_and_how_places_are_written(seed, x, y):
    places, angles = group(seed, frames=12)
    turns = np.random.default_rng(seed).integers(-3, 4, places.shape) * np.asarray(BOX.sides)
    expected = all_of(places, angles, BOX)
    the_same(all_of(BOX.wrapped(places), angles, BOX), expected)
    the_same(all_of(places + turns, angles, BOX), expected)
    target = (TARGET[0] + x, TARGET[1] + y)
    the_same(all_of(BOX.wrapped(places + np.array([x, y])), angles, BOX, target), expected)


@given(SEEDS, st.floats(-9, 9))
def test_a_group_smaller_than_half_the_box_is_measured_as_in_the_open(seed, shift):
    rng = np.random.default_rng(seed)
    start, drift = rng.uniform(-0.2, 0.2, (4, 2)), rng.normal(scale=0.02, size=(12, 1, 2))
    places = start + np.cumsum(drift, axis=0) + rng.normal(scale=0.03, size=(12, 4, 2))
    angles = rng.uniform(-180, 180, (12, 4))
    far = (40.0, 0.0)
    opened = all_of(places + shift, angles, None, far, 1e-3)
    closed = all_of(BOX.wrapped(places + shift), angles, BOX, far, 1e-3)
    the_same(closed, {**opened, "time_to_target": closed["time_to_target"]})
    gap = BOX.shortest(centroid(BOX.wrapped(places + shift), BOX) - centroid(places + shift))
    assert np.abs(gap).max() < 1e-9


def test_animals_evenly_round_the_box_have_no_centroid():
    places = np.array([[[-1.0, 1.0], [0.5, 1.0]]])
    alike(centroid(places, BOX), [[nan, 1.0]])
    assert np.isnan(cohesion(places, BOX)).all()
    alike(nearest_distance(places, BOX), [1.5])


def test_runs_of_frames_change_nothing(monkeypatch):
    places = np.stack([group(seed)[0] for seed in range(5)])
    whole = nearest_distance(places)
    monkeypatch.setattr(shape, "BLOCK", 50)
    alike(nearest_distance(places), whole, atol=0)


def test_a_single_animal_has_no_company():
    places, angles = group(1, frames=12, animals=1, missing=0.0)
    found = all_of(places, angles, target=(90.0, 90.0))
    lonely = {"polarisation", "rotation", "cohesion", "nearest_distance", "misalignment_spread"}
    lonely |= {"polarisation_autocorrelation", "time_to_target"}
    assert {name for name, value in found.items() if math.isnan(value)} == lonely


def test_where_nobody_is_seen_nothing_is_known():
    nobody = all_of(np.full((3, 6, 4, 2), nan), np.full((3, 6, 4), nan))
    for values in nobody.values():
        assert values.shape == (3,)
        assert np.isnan(values).all()


# tracks


def walk(seed=1, **words):
    return shoal.Tracks.from_arrays(group(seed, frames=30)[0], individuals=list("abcd"), **words)


@pytest.mark.parametrize("fps", [None, 8.0])
def test_measures_of_tracks_are_those_of_their_members(fps):
    tracks = walk(fps=fps, length_unit="cm", group="g").with_landmarks("b")
    found = group_measures(tracks, target="b", reach=0.3, heading_frames=2, minimum_step=0.9)
    places, angles = tracks.positions[:, [0, 2, 3]], tracks.headings(2, 0.9)[:, [0, 2, 3]]
    mark = tracks.place_of("b")
    expected = {
        "polarisation": (polarisation(angles), ""),
        "rotation": (rotation(places, angles), ""),
        "cohesion": (cohesion(places), "cm"),
        "nearest_distance": (nearest_distance(places), "cm"),
        "group_speed": (group_speed(places, fps), "cm/s" if fps else "cm/frame"),
        "speed": (median_speed(places, fps), "cm/s" if fps else "cm/frame"),
        "misalignment_spread": (misalignment_spread(angles), "°"),
        "turning_angle": (turning_angles(angles), "°"),
        "target_distance": (target_distance(places, mark), "cm"),
        "time_to_target": (time_to_target(places, mark, 0.3, fps), "s" if fps else "frames"),
    }
    assert set(found.data_vars) == set(expected)
    for name, (values, unit) in expected.items():
        alike(found[name].values, values)
        assert found[name].attrs["units"] == unit
    assert found["turning_angle"].dims == ("time", "individuals")
    assert found["polarisation"].dims == ("time",)
    assert found["individuals"].values.tolist() == ["a", "c", "d"]
    assert np.array_equal(found["time"].values, tracks.time)
    numbers = summaries(tracks, target="b", reach=0.3, heading_frames=2, minimum_step=0.9)
    alike(numbers["polarisation"], float(found["polarisation"].mean()))
    alike(numbers["cohesion"], float(found["cohesion"].mean()))
    alike(numbers["turning_angle"], float(np.abs(found["turning_angle"]).median()))


def test_tracks_and_a_motion_of_their_arrays_have_the_same_summaries():
    tracks = walk(fps=4.0)
    angles = tracks.headings()
    assert "time_to_target" not in summaries(tracks)
    assert set(group_measures(tracks).data_vars).isdisjoint({"target_distance", "time_to_target"})
    the_same(summaries(tracks), summaries(Motion(tracks.positions, angles, 4.0)))
    stack = Motion(tracks.positions[None], angles[None], 4.0, None, TARGET, REACH)
    found = {name: values[0] for name, values in summaries(stack).items()}
    the_same(summaries(tracks, target=TARGET, reach=REACH), found)


def test_a_target_for_each_group_is_that_of_the_group():
    tracks = walk(group="north")
    places = {"north": TARGET, "south": (99, 99)}
    each = summaries(tracks, target=places, reach=REACH)
    the_same(each, summaries(tracks, target=TARGET, reach=REACH))
    assert math.isfinite(each["time_to_target"])
    assert math.isnan(summaries(walk(group="south"), target=places, reach=REACH)["time_to_target"])


def test_tracks_in_a_periodic_box_are_measured_by_the_shortest_ways():
    places = 0.3 * walk().positions
    inside = shoal.Tracks.from_arrays(BOX.wrapped(places), arena=BOX)
    assert np.nanmax(np.abs(inside.positions - places)) > 1.5, "somebody goes round"
    along = shoal.Tracks.from_arrays(places, arena=BOX)
    the_same(summaries(inside), summaries(along))
    one, other = group_measures(inside), group_measures(along)
    for name in one.data_vars:
        alike(one[name].values, other[name].values, atol=1e-5)


def test_units_follow_the_kind():
    unit = {name: summary.unit("mm", 25.0) for name, summary in SUMMARIES.items()}
    assert unit["polarisation"] == unit["straightness"] == ""
    assert (unit["cohesion"], unit["speed"], unit["time_to_target"]) == ("mm", "mm/s", "s")
    assert SUMMARIES["speed"].unit() == "per frame"
    assert SUMMARIES["time_to_target"].unit() == "frames"
    assert SUMMARIES["turning_angle"].unit() == "°"


PLACES, ANGLES = group(1)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Motion(PLACES[0], ANGLES[0]), r"got shape \(4, 2\)"),
        (lambda: Motion(PLACES[..., :1], ANGLES), r"got shape \(7, 4, 1\)"),
        (lambda: Motion(PLACES[:0], ANGLES[:0]), r"got shape \(0, 4, 2\)"),
        (lambda: Motion([["a"]], ANGLES), "positions are an array of numbers"),
        (lambda: Motion(PLACES + math.inf, ANGLES), "positions are finite"),
        (lambda: Motion(PLACES, ANGLES[1:]), "one angle for each animal in each frame"),
        (lambda: Motion(PLACES, ANGLES, fps=0), "must be positive, got 0"),
        (lambda: Motion(PLACES, ANGLES, arena="box"), "got 'box'"),
        (lambda: Motion(PLACES, ANGLES, target=(1, 2)), "given together"),
        (lambda: Motion(PLACES, ANGLES, reach=1.0), "given together"),
        (lambda: Motion(PLACES, ANGLES, target=(1, 2, 3), reach=1.0), r"a point \(x, y\)"),
        (lambda: Motion(PLACES, ANGLES, target=(1, nan), reach=1.0), r"a point \(x, y\)"),
        (lambda: Motion(PLACES, ANGLES, target=(1, 2), reach=0), "positive distance, got 0"),
        (lambda: Motion(PLACES, ANGLES, target=(1, 2), reach="near"), "got 'near'"),
        (lambda: speeds(PLACES, "fast"), "must be positive, got 'fast'"),
        (lambda: time_to_target(PLACES, "home", 1.0), r"a point \(x, y\).* got 'home'"),
        (lambda: autocorrelation(ANGLES, -1), "0 or more; got -1"),
        (lambda: autocorrelation(ANGLES, 1.5), "whole numbers of frames.* got 1.5"),
        (lambda: autocorrelation(ANGLES, []), r"got \[\]"),
        (lambda: group_measures([walk()]), "Tracks of one group, got list"),
        (lambda: summaries("fish.csv"), "Tracks of one group, got str"),
        (lambda: summaries(walk(), heading_frames=0), "1 or more; got 0"),
        (lambda: summaries(walk(), heading_frames="two"), "1 or more; got 'two'"),
        (lambda: summaries(walk(), minimum_step=-1), "0 or more; got -1"),
        (lambda: summaries(walk(), minimum_step=nan), "0 or more; got nan"),
        (lambda: summaries(walk(), target="a", reach=1.0), "member of the group"),
        (lambda: summaries(walk(), target="dog", reach=1.0), "'dog' is no animal or landmark"),
        (lambda: summaries(walk(), target=(1, 2)), "given together"),
        (lambda: summaries(Motion(PLACES, ANGLES), reach=1.0), r"leave out \['reach'\]"),
        (lambda: group_measures(walk().with_landmarks(*"abcd")), "but no members"),
    ],
)
def test_slips_get_a_sentence(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()
