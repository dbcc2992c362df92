"""What preparation does to tracks, and that it says so."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.tracks.readers.pose import quiet_movement
from shoal.tracks.record import same_tracks


def wander(seed=1, frames=40, animals=4, missing=0.1, **known):
    rng = np.random.default_rng(seed)
    positions = np.cumsum(rng.normal(size=(frames, animals, 2)), axis=0)
    positions[rng.random((frames, animals)) < missing] = np.nan
    return shoal.Tracks.from_arrays(positions, **({"fps": 10.0, "length_unit": "cm"} | known))


def test_thinning_keeps_every_nth_frame_and_its_time():
    tracks = wander()
    thinned = tracks.thin(3)
    assert np.array_equal(thinned.positions, tracks.positions[::3], equal_nan=True)
    assert np.array_equal(thinned.time, tracks.time[::3])
    assert thinned.fps == pytest.approx(10 / 3)
    assert "every 3 frames" in thinned.notes[-1]


def test_cropping_hides_places_and_times_outside():
    tracks = wander(heading=np.zeros((40, 4)))
    cropped = tracks.crop(x=(-2, 3), time=(0.5, 2.0))
    inside = (tracks.positions[5:21, :, 0] >= -2) & (tracks.positions[5:21, :, 0] <= 3)
    assert np.array_equal(np.isfinite(cropped.positions[..., 0]), inside)
    assert np.array_equal(
        np.isfinite(cropped.data["heading"].values), inside | np.isnan(tracks.positions[5:21, :, 0])
    )
    assert cropped.notes[-1].startswith("cropped: 24 frames left out")
    with pytest.raises(shoal.InputError, match="no frame is left"):
        tracks.crop(time=(99, 100))


def test_the_unit_square_holds_all_places_and_keeps_angles():
    tracks = wander(arena=shoal.tracks.Rectangle(-50, -50, 50, 50))
    square = tracks.rescale()
    places = square.positions.reshape(-1, 2)
    assert np.nanmin(places) == pytest.approx(0)
    assert np.nanmax(places) == pytest.approx(1)
    assert np.allclose(square.headings(), tracks.headings(), equal_nan=True)
    assert square.length_unit == "unit squares"
    low, high = np.nanmin(tracks.positions, axis=(0, 1)), np.nanmax(tracks.positions, axis=(0, 1))
    extent = (high - low).max()
    assert square.arena.left == pytest.approx((-50 - low[0]) / extent)
    both = shoal.Collection([tracks, wander(2, group="b")]).rescale()
    highest = [np.nanmax(part.positions) for part in both]
    assert max(highest) == pytest.approx(1), "one scale for all groups"


def test_a_scale_of_ones_own_names_the_new_unit():
    scaled = wander().rescale(10.0, "mm", (1.0, 2.0))
    assert np.allclose(
        scaled.positions, wander().positions * 10 + np.array([1.0, 2.0]), equal_nan=True
    )
    assert scaled.length_unit == "mm"


@given(st.integers(0, 10**6), st.sampled_from([3, 5, 9]), st.integers(0, 2))
def test_smoothing_is_a_local_polynomial_fit_and_never_crosses_gaps(seed, window, order):
    """The middle of every unbroken window against NumPy's least squares."""
    tracks = wander(seed, missing=0.05)
    found = tracks.smooth(window, order).positions
    raw = tracks.positions
    assert np.array_equal(np.isnan(found), np.isnan(raw))
    half = window // 2
    for frame in range(half, 40 - half):
        span = raw[frame - half : frame + half + 1, 0, 0]
        if np.isfinite(span).all():
            fit = np.polynomial.Polynomial.fit(np.arange(-half, half + 1), span, order)
            assert found[frame, 0, 0] == pytest.approx(fit(0), abs=1e-8)


def test_runs_too_short_to_smooth_stay_as_they_are():
    positions = np.random.default_rng(1).normal(size=(10, 1, 2))
    positions[4] = np.nan
    smoothed = shoal.Tracks.from_arrays(positions).smooth(5)
    assert np.array_equal(smoothed.positions[:4], positions[:4])
    assert not np.allclose(smoothed.positions[5:], positions[5:])
    assert "4 fixes in runs shorter" in smoothed.notes[-1]


def test_only_short_gaps_inside_a_track_are_filled_and_their_share_is_told():
    positions = np.arange(20.0)[:, None, None] * np.ones((1, 2, 2))
    positions[0, 0] = positions[5:7, 0] = positions[10:14, 0] = positions[19, 1] = np.nan
    filled = shoal.Tracks.from_arrays(positions).fill_gaps(2)
    assert filled.positions[5:7, 0, 0].tolist() == [5.0, 6.0]
    assert np.isnan(filled.positions[10:14, 0]).all()
    assert np.isnan(filled.positions[0, 0]).all()
    assert np.isnan(filled.positions[19, 1]).all()
    assert filled.data.attrs["filled"] == 2 / 40
    assert "2 fixes (5.00%)" in filled.notes[-1]


def test_no_transition_crosses_a_gap_or_a_dropped_frame():
    tracks = wander(missing=0.0)
    space = shoal.StateSpace(shoal.LocalMisalignment(8))
    whole = shoal.count_transitions(tracks, space).total
    cut = shoal.count_transitions(tracks.drop(frames=[10]), space).total
    assert whole - cut == 3 * 4, "9 → 10, 10 → 11, and the heading from 9 to 10"
    assert tracks.drop(["2"]).individuals == ("0", "1", "3")


def test_mirroring_turns_left_into_right():
    tracks = wander(heading=np.full((40, 4), -180.0), arena=shoal.tracks.Rectangle(0, 1, 2, 3))
    flipped = tracks.flip_y()
    gap = flipped.headings() + tracks.headings()
    assert np.nanmax(np.abs((gap + 180) % 360 - 180)) < 1e-9
    assert flipped.data["heading"].values.max() == -180
    assert flipped.arena == shoal.tracks.Rectangle(0, -3, 2, -1)
    assert np.array_equal(flipped.flip_y().positions, tracks.positions, equal_nan=True)


def test_landmarks_are_no_members_but_stay():
    tracks = wander(individuals=["a", "b", "dog", "man"]).with_landmarks("dog")
    assert tracks.members == ("a", "b", "man")
    assert tracks.with_landmarks("man").members == ("a", "b")
    assert repr(tracks).startswith("Tracks(3 animals and dog, 40 frames")
    assert tracks.thin(2).members == ("a", "b", "man")


def test_covariates_are_kept_for_groups_and_animals():
    tracks = wander(covariates={"sex": list("mfmf"), "treatment": "dark", "age": {"1": 3.0}})
    assert tracks.covariates["sex"] == {"0": "m", "1": "f", "2": "m", "3": "f"}
    assert tracks.covariates["treatment"] == "dark"
    assert tracks.drop(["0"]).covariates["sex"] == {"1": "f", "2": "m", "3": "f"}


def rich(group="north", seed=1):
    return wander(
        seed,
        group=group,
        individuals=["one", "two", "3", "dog"],
        heading=np.random.default_rng(seed).uniform(-180, 179, (40, 4)),
        covariates={"sex": list("mfmf"), "treatment": "dark"},
        arena=shoal.tracks.Circle(0, 1, 99),
    ).with_landmarks("dog")


TRACKS = {
    "rich": rich(),
    "plain": shoal.Tracks.from_arrays(wander(3).positions),
    "untimed": wander(2, fps=None),
    "uneven": wander(4, fps=None, time=np.cumsum(np.random.default_rng(1).uniform(1, 1.2, 40))),
    "thinned, untimed": wander(2, fps=None).thin(4),
    "nobody at the ends": wander(5).crop(x=(-3, 1)),
}


@pytest.mark.parametrize("way", ["csv", "parquet"])
@pytest.mark.parametrize("name", TRACKS)
def test_tables_are_read_back_with_nothing_lost(name, way, tmp_path):
    tracks = TRACKS[name]
    path = tmp_path / f"{tracks.group or 'tracks'}.{way}"
    written = tracks.to_csv(path) if way == "csv" else tracks.to_parquet(path)
    again = shoal.read_tracks(written)
    if not tracks.group:
        again = shoal.Tracks(again.data.assign_attrs(group=""))
    assert same_tracks(tracks, again), (tracks.data, again.data)


@pytest.mark.parametrize("way", ["csv", "parquet"])
def test_collections_are_read_back_with_nothing_lost(way, tmp_path):
    both = shoal.Collection([rich("north"), rich("south", seed=2)])
    path = tmp_path / f"ponds.{way}"
    again = shoal.read_tracks(both.to_csv(path) if way == "csv" else both.to_parquet(path))
    assert again.groups == ("north", "south")
    for one, other in zip(both, again, strict=True):
        assert same_tracks(one, other)


@pytest.mark.parametrize("name", TRACKS)
def test_movement_datasets_lead_there_and_back_with_nothing_lost(name, tmp_path):
    tracks = TRACKS[name]
    dataset = tracks.to_movement()
    assert dataset["position"].dims == ("time", "space", "keypoints", "individuals")
    assert same_tracks(tracks, shoal.Tracks.from_movement(dataset))
    assert shoal.Tracks.from_movement(dataset).notes == tracks.notes
    dataset.to_netcdf(tmp_path / "tracks.nc", engine="h5netcdf")
    again = shoal.read_tracks(tmp_path / "tracks.nc")
    if not tracks.group:
        again = shoal.Tracks(again.data.assign_attrs(group=""))
    assert same_tracks(tracks, again)


def test_the_movement_package_accepts_what_it_is_given():
    with quiet_movement(Path("poses")):
        from movement.validators.datasets import ValidPosesInputs  # noqa: PLC0415  (sets options)

    dataset = rich().to_movement()
    ValidPosesInputs(
        position_array=dataset["position"].values,
        confidence_array=dataset["confidence"].values,
        individual_names=dataset["individuals"].values.tolist(),
        keypoint_names=dataset["keypoints"].values.tolist(),
        fps=dataset.attrs["fps"],
    )


def test_one_point_is_taken_of_a_pose():
    rng = np.random.default_rng(1)
    position = rng.normal(size=(5, 2, 3, 2))
    position[2, :, 1, 0] = np.nan
    sure = rng.uniform(0.5, 1, (5, 3, 2))
    sure[4, 0, 1] = 0.1
    dataset = xr.Dataset(
        {
            "position": (("time", "space", "keypoints", "individuals"), position),
            "confidence": (("time", "keypoints", "individuals"), sure),
        },
        {"time": np.arange(5.0), "space": ["x", "y"], "keypoints": list("abc"),
         "individuals": ["m", "f"]},
        {"ds_type": "poses", "fps": 1.0, "time_unit": "seconds"},
    )  # fmt: skip
    centroid = shoal.Tracks.from_movement(dataset)
    expected = np.nanmean(position, axis=2).transpose(0, 2, 1)
    assert np.allclose(centroid.positions, expected)
    below = int(((sure < 0.6) & np.isfinite(position).all(axis=1)).sum())
    assert centroid.notes[0].startswith(f"{below} points (")
    assert "below 0.6 and count as seen" in centroid.notes[0]
    assert "centroid of its 3 keypoints" in centroid.notes[1]
    b = shoal.Tracks.from_movement(dataset, keypoint="b")
    assert np.array_equal(b.positions, position[:, :, 1].transpose(0, 2, 1), equal_nan=True)
    strict = shoal.Tracks.from_movement(dataset, keypoint="a", confidence=0.3)
    assert np.isnan(strict.positions[4, 1]).all()
    assert strict.missing == 1
    assert strict.notes[0] == "1 points with a confidence below 0.3 left out"
    with pytest.raises(shoal.InputError, match="no keypoint 'nose'; there are a, b, c"):
        shoal.Tracks.from_movement(dataset, keypoint="nose")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: wander().thin(0), "1 or more; got 0"),
        (lambda: wander().crop(x=(3, 1)), "must increase"),
        (lambda: wander().crop(x=3), r"limits of x are \(low, high\)"),
        (lambda: wander().rescale(-1.0), "positive number, got -1"),
        (lambda: wander().smooth(4), "odd number of frames"),
        (lambda: wander().smooth(5, 7), "between 0 and 4, got 7"),
        (lambda: wander().drop(["cat"]), "no animal is called 'cat'; there are 0, 1, 2, 3"),
        (lambda: wander().drop(list("0123")), "no animal would be left"),
        (lambda: wander().drop(frames=[40]), "between 0 and 39"),
        (lambda: wander().fill_gaps(0), "1 frame or more, got 0"),
        (lambda: wander().with_covariates(time=1), "a plain name other than"),
        (lambda: wander().with_covariates(sex=["m"]), "sex has 1 values for 4 animals"),
        (lambda: wander().with_covariates(sex={"cat": "m"}), "no animal is called 'cat'"),
        (lambda: shoal.Collection([]), "at least one group"),
        (lambda: shoal.Collection([wander(), wander()]), "got '' twice"),
        (lambda: shoal.Collection([wander(), wander(group="b", length_unit="m")]), "mixed units"),
        (lambda: shoal.Collection([wander()])["b"], "no group is called 'b'"),
        (lambda: shoal.Collection([wander()]).drop(["cat"]), "no animal of any group"),
        (
            lambda: shoal.Tracks.from_arrays(np.ones((3, 2, 2))).rescale(),
            "never leave one point",
        ),
    ],
)
def test_slips_get_a_sentence(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()
