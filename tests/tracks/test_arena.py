"""Walls and boxes: distances to them, and the shortest way round where there is no edge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.tracks import shortest
from shoal.tracks.arena import arena_of

BOX = shoal.tracks.Periodic(-1.0, 2.0, 3.0, 5.0)
NUMBERS = st.floats(-50, 50)


@given(NUMBERS, NUMBERS)
def test_the_shortest_way_is_the_shortest_of_all_images(x, y):
    step = np.array([x, y])
    images = [step + np.array([4.0 * i, 3.0 * j]) for i in range(-20, 21) for j in range(-20, 21)]
    least = min(np.hypot(*image) for image in images)
    found = BOX.shortest(step)
    assert np.hypot(*found) == pytest.approx(least, abs=1e-9)
    whole = (found - step) / np.array([4.0, 3.0])
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-9)


@given(NUMBERS, NUMBERS)
def test_wrapped_places_are_inside_and_the_same_places(x, y):
    place = np.array([x, y])
    inside = BOX.wrapped(place)
    assert -1.0 <= inside[0] <= 3.0 and 2.0 <= inside[1] <= 5.0
    np.testing.assert_allclose(BOX.shortest(inside - place), 0.0, atol=1e-9)
    assert BOX.holds(place)


@pytest.mark.parametrize(
    "arena", [BOX, shoal.tracks.Rectangle(0, 0, 2, 1), shoal.tracks.Circle(1, 2, 3), None]
)
def test_arenas_survive_words_files_and_changes(arena, tmp_path):
    if arena is not None:
        assert arena_of(repr(arena)) == arena
    places = 2.5 + np.cumsum(np.full((5, 2, 2), 0.1), axis=0)
    tracks = shoal.Tracks.from_arrays(places, fps=5.0, arena=arena, group="a")
    assert shoal.read_tracks(tracks.to_csv(tmp_path / "t.csv")).arena == arena
    assert shoal.read_tracks(tracks.to_parquet(tmp_path / "t.parquet")).arena == arena
    if arena is None:
        return
    doubled, flipped = tracks.rescale(2.0), tracks.flip_y()
    assert doubled.arena == arena.scaled(2.0, (0.0, 0.0))
    assert type(flipped.arena) is type(arena)
    if isinstance(arena, shoal.tracks.Periodic):
        assert flipped.arena == shoal.tracks.Periodic(-1.0, -5.0, 3.0, -2.0)
        assert doubled.arena.sides == (8.0, 6.0)


def test_headings_go_round_the_box():
    path = np.array([[[2.9, 3.0]], [[-0.9, 3.0]], [[-0.9, 4.95]], [[-0.9, 2.05]]])
    tracks = shoal.Tracks.from_arrays(path, arena=BOX)
    np.testing.assert_allclose(tracks.headings()[:, 0], [0.0, -90.0, 90.0, np.nan])
    np.testing.assert_allclose(shoal.tracks.headings(path)[0], [180.0 - 360.0])
    moved = np.diff(path, axis=0)
    np.testing.assert_allclose(shortest(moved, BOX)[:, 0], [[0.2, 0], [0, -1.05], [0, 0.1]])
    assert shortest(moved, shoal.tracks.Rectangle(0, 0, 9, 9)) is moved


def test_a_box_without_edge_has_no_walls():
    tracks = shoal.Tracks.from_arrays(np.random.default_rng(1).random((4, 3, 2)), arena=BOX)
    with pytest.raises(shoal.InputError, match="no walls"):
        shoal.states.WallDistance((0, 1)).values(shoal.states.Scene.of(tracks))
    with pytest.raises(shoal.InputError, match="left < right"):
        shoal.tracks.Periodic(0, 0, 0, 1)


def test_preparing_goes_round_the_box():
    box = shoal.tracks.Periodic(0, 0, 1, 1)
    along = 0.07 * np.arange(20.0)
    path = np.stack([along, np.full(20, 0.5)], axis=-1)[:, None]
    holed = path.copy()
    holed[[5, 6, 14]] = np.nan
    wrapped = shoal.Tracks.from_arrays(box.wrapped(holed), arena=box)
    whole = shoal.Tracks.from_arrays(box.wrapped(path), arena=box)
    for done in (wrapped.fill_gaps(2), whole.smooth(5)):
        np.testing.assert_allclose(box.shortest(done.positions - path), 0.0, atol=1e-9)
    assert whole.drop_jumps(0.2).missing == 0
    assert whole.with_arena(None).drop_jumps(0.06).missing > 0


def test_walls_and_rates_can_be_put_in_later():
    bare = shoal.Tracks.from_arrays(np.zeros((4, 2, 2)))
    timed = bare.with_fps(4.0)
    assert timed.fps == 4.0 and timed.time.tolist() == [0.0, 0.25, 0.5, 0.75]
    assert bare.fps is None and timed.with_arena(BOX).arena == BOX
    assert timed.with_arena(BOX).with_arena(None).arena is None
    with pytest.raises(shoal.InputError, match=r"4 frames a second already.*tracks\.thin"):
        timed.with_fps(5.0)
    with pytest.raises(shoal.InputError, match="give the number of frames a second"):
        bare.with_fps(None)
