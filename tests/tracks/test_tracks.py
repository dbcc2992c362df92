"""Tracks keep what they are given, and headings are what a plain loop says they are."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal


def wander(seed, frames=12, animals=4, missing=0.1):
    rng = np.random.default_rng(seed)
    positions = np.cumsum(rng.normal(size=(frames, animals, 2)), axis=0)
    positions[rng.random((frames, animals)) < missing] = np.nan
    still = rng.random((frames, animals)) < 0.15
    for frame in range(1, frames):
        positions[frame][still[frame]] = positions[frame - 1][still[frame]]
    return positions


def loop_headings(positions, frames, minimum_step):
    """One animal and one frame at a time."""
    count, animals, _ = positions.shape
    result = np.full((count, animals), np.nan)
    for animal in range(animals):
        for frame in range(count - frames):
            span = positions[frame : frame + frames + 1, animal]
            if np.isnan(span).any():
                continue
            dx, dy = span[-1] - span[0]
            if math.hypot(dx, dy) > minimum_step:
                angle = math.degrees(math.atan2(dy, dx))
                result[frame, animal] = -180.0 if angle == 180.0 else angle
            elif frame > 0:
                result[frame, animal] = result[frame - 1, animal]
    return result


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.0, 0.5]))
def test_headings_agree_with_a_plain_loop(seed, frames, minimum_step):
    positions = wander(seed)
    found = shoal.tracks.headings(positions, frames, minimum_step)
    expected = loop_headings(positions, frames, minimum_step)
    assert np.allclose(found, expected, equal_nan=True)


def test_headings_point_where_the_animal_goes_next_and_the_last_frame_has_none():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], dtype=float)[:, None]
    assert shoal.tracks.headings(square)[:, 0].tolist()[:4] == [0, 90, -180, -90]
    assert np.isnan(shoal.tracks.headings(square)[4, 0])


def test_tracks_keep_what_they_are_given():
    positions = wander(1)
    tracks = shoal.Tracks.from_arrays(
        positions, fps=25.0, individuals=list("abcd"), group="pond", length_unit="cm"
    )
    assert np.array_equal(tracks.positions, positions, equal_nan=True)
    assert tracks.individuals == ("a", "b", "c", "d")
    assert tracks.data["time"].values[-1] == 11 / 25
    assert tracks.data.attrs["length_unit"] == "cm"
    lost = int(np.isnan(positions).any(axis=-1).sum())
    words = f"Tracks('pond', 4 animals, 12 frames at 25 per second, {lost} of 48 fixes missing)"
    assert repr(tracks) == words


def test_half_a_place_is_none():
    positions = wander(2, missing=0.0)
    positions[3, 1, 0] = np.nan
    assert np.isnan(shoal.Tracks.from_arrays(positions).positions[3, 1]).all()


def test_the_trackers_own_headings_are_used_only_on_request():
    positions = wander(3, missing=0.0)
    own = np.full((12, 4), 33.0)
    tracks = shoal.Tracks.from_arrays(positions, heading=own)
    assert np.array_equal(tracks.headings(tracker=True), own)
    assert not np.array_equal(tracks.headings(), own)
    with pytest.raises(shoal.InputError, match="gave no headings"):
        shoal.Tracks.from_arrays(positions).headings(tracker=True)


GOOD = wander(4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.Tracks.from_arrays(np.zeros((3, 2))), r"\(time, individuals, 2\)"),
        (lambda: shoal.Tracks.from_arrays([["a"]]), "array of numbers"),
        (lambda: shoal.Tracks.from_arrays(np.full((2, 3, 2), np.inf)), "animal 0 in frame 0"),
        (lambda: shoal.Tracks.from_arrays(GOOD, fps=0.0), "must be positive, got 0"),
        (lambda: shoal.Tracks.from_arrays(GOOD, time=np.zeros(12)), "must increase"),
        (lambda: shoal.Tracks.from_arrays(GOOD, individuals=list("aabc")), "different names"),
        (lambda: shoal.Tracks.from_arrays(GOOD, heading=np.zeros(3)), "do not fit"),
        (lambda: shoal.tracks.headings(GOOD, frames=0), "1 frame or more, got 0"),
        (lambda: shoal.tracks.headings(GOOD, minimum_step=-1.0), "0 or more, got -1"),
    ],
)
def test_tracks_that_cannot_be_are_refused_with_the_value(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()
