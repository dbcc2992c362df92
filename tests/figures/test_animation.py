"""Videos show every animal where it was, in files that players read, or leave nothing behind."""

import re
import subprocess
from types import SimpleNamespace

import imageio_ffmpeg
import numpy as np
import pytest
import xarray as xr
from matplotlib.colors import to_rgb
from PIL import Image

import shoal
from shoal.errors import InputError, OutputError
from shoal.figures.style import BLUE, INK, ORANGE
from shoal.figures.video import pacing
from shoal.figures.video.animation import animate
from shoal.figures.video.moving import kept_headings, unbroken_steps
from shoal.figures.video.stage import Cast, Stage
from shoal.states import track_states

FRAMES, SIZE = 12, (320, 240)
BOX = shoal.tracks.Rectangle(0, 0, 10, 10)


def moving(frames=FRAMES, animals=3, fps=10.0, **more):
    """Animals that go to the right, one above the other."""
    steps = np.zeros((frames, animals, 2))
    steps[..., 0] = 1 + 8 * np.arange(frames)[:, None] / max(1, frames - 1)
    steps[..., 1] = 2 + 6 * np.arange(animals) / max(1, animals - 1)
    return shoal.Tracks.from_arrays(steps, fps=fps, **({"arena": BOX} | more))


def staged(*groups, fit=None, follow=None, tail=0, size=None, target=None):
    timing = pacing.Timing.of(groups, 1.0, 60.0)
    titles = tuple(f"panel {i}" if len(groups) > 1 else "" for i in range(len(groups)))
    count = len(groups)
    return Stage(
        Cast(groups, titles, (target,) * count, tail, 1, (follow,) * count, fit), timing, size
    )


def pixels_of(picture, colour, tolerance=0.1):
    """Rows and columns of a colour, in the figure's own direction (rows downwards)."""
    near = np.abs(picture[..., :3] / 255 - to_rgb(colour)).max(axis=-1) < tolerance
    return np.argwhere(near)


def pixel_at(stage, panel, point):
    """Row and column of a place in the tracks."""
    axes = stage.figure.axes[panel]
    x, y = axes.transData.transform(point)
    return np.array([stage.figure.bbox.height - y, x])


def decoded(path, size):
    """Frames of an MP4, and what the decoder says of it."""
    program = imageio_ffmpeg.get_ffmpeg_exe()
    raw = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-")
    done = subprocess.run([program, "-i", str(path), *raw], capture_output=True, check=True)
    frames = np.frombuffer(done.stdout, np.uint8).reshape(-1, size[1], size[0], 3)
    return frames, done.stderr.decode()


def fit_of(*features):
    """What the inset needs of a fit, without fitting."""
    space = shoal.StateSpace(*features)
    costs = np.arange(float(space.size)).reshape(1, 1, *space.shape)
    values = xr.DataArray(costs, dims=("chain", "draw", *space.names), coords=space.coordinates)
    return SimpleNamespace(model=SimpleNamespace(space=space), cost_to_go=values)


def test_an_mp4_has_a_picture_for_each_frame_in_a_form_that_every_player_reads(tmp_path):
    seen = []
    report = lambda stage, done, total: seen.append((done, total))  # noqa: E731
    path = animate(moving(), tmp_path / "a.mp4", size=(319, 239), progress=report)
    frames, words = decoded(path, SIZE)
    assert len(frames) == FRAMES
    assert "320x240" in words, "odd sizes are made even"
    assert re.search(r"h264.*yuv420p\(tv, bt709", words)
    assert "10 fps" in words
    assert seen[-1] == (FRAMES, FRAMES)
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"]
    first, last = (pixels_of(frames[i], BLUE, 0.2)[:, 1].mean() for i in (0, -1))
    assert last - first > 80, "animals moved to the right"


def test_a_gif_has_a_picture_for_each_frame_and_keeps_the_time(tmp_path):
    path = animate(moving(fps=30.0), tmp_path / "a.GIF", size=SIZE)
    stage = staged(moving(fps=30.0), tail=45, size=SIZE)
    with Image.open(path) as gif:
        assert (gif.n_frames, gif.size, gif.info["loop"]) == (FRAMES, SIZE, 0)
        stays = []
        for index in range(FRAMES):
            gif.seek(index)
            stays.append(gif.info["duration"])
            shown = np.asarray(gif.convert("RGB")).astype(int)
            apart = np.abs(shown - stage.picture(index)[..., :3].astype(int))
            assert apart.mean() < 1.0, "the palette holds the colours"
    assert sum(stays) == 400, "12 frames of 1/30 s"
    assert set(stays) == {30, 40}


def test_the_same_tracks_give_the_same_file(tmp_path):
    for suffix in (".mp4", ".gif"):
        one, two = (animate(moving(), tmp_path / f"{i}{suffix}", size=SIZE) for i in range(2))
        assert one.read_bytes() == two.read_bytes()


def test_a_mark_is_where_the_animal_is():
    tracks = moving(animals=1)
    stage = staged(tracks)
    for index in (0, 5, 11):
        middle = pixels_of(stage.picture(index), BLUE).mean(axis=0)
        assert np.abs(middle - pixel_at(stage, 0, tracks.positions[index, 0])).max() < 4


def test_a_mark_points_where_the_animal_goes():
    up = moving(animals=1).positions[..., ::-1]
    for places, along in ((up, 0), (up[..., ::-1], 1)):
        stage = staged(shoal.Tracks.from_arrays(places, fps=10.0, arena=BOX))
        extent = np.ptp(pixels_of(stage.picture(5), BLUE, 0.15), axis=0)
        assert extent[along] > 1.2 * extent[1 - along]


def test_headings_are_kept_while_an_animal_is_in_sight_and_no_longer():
    angles = np.array([[np.nan], [10.0], [np.nan], [np.nan], [np.nan], [20.0], [np.nan]])
    places = np.ones((7, 1, 2))
    places[3] = np.nan
    kept = kept_headings(angles, places)[:, 0]
    assert np.array_equal(kept, [np.nan, 10, 10, np.nan, np.nan, 20, 20], equal_nan=True)


def test_an_animal_without_a_heading_is_a_dot():
    still = shoal.Tracks.from_arrays(np.full((3, 1, 2), 5.0), fps=10.0, arena=BOX)
    extent = np.ptp(pixels_of(staged(still).picture(0), BLUE, 0.15), axis=0)
    assert abs(extent[0] - extent[1]) <= 1


def test_animals_that_are_not_seen_are_not_drawn():
    places = moving().positions.copy()
    places[4:8, 1] = np.nan
    places[9] = np.nan
    stage = staged(shoal.Tracks.from_arrays(places, fps=10.0, arena=BOX), tail=3)
    counts = [len(pixels_of(stage.picture(i), BLUE)) for i in range(FRAMES)]
    assert counts[5] == pytest.approx(counts[3] * 2 / 3, rel=0.15)
    assert counts[9] == 0
    assert counts[10] > 0


def test_tails_fade_and_go_back_as_far_as_asked():
    tracks = moving(animals=1)
    stages = {tail: staged(tracks, tail=tail) for tail in (0, 3)}
    row, column = pixel_at(stages[3], 0, tracks.positions[8, 0]).astype(int)
    lines = {tail: stage.picture(8)[row] for tail, stage in stages.items()}
    step = pixel_at(stages[3], 0, tracks.positions[9, 0])[1] - column
    inked = {tail: 255 - line[:, 0].astype(int) for tail, line in lines.items()}
    back = [int(column - share * step) for share in (0.6, 1.5, 2.5, 3.5)]
    assert all(inked[0][place] == 0 for place in back)
    near, middle, far, beyond = (inked[3][place] for place in back)
    assert near > middle > far > 0 == beyond


def test_landmarks_are_orange_with_their_names():
    tracks = moving(individuals=["a", "b", "dog"]).with_landmarks("dog")
    stage = staged(tracks)
    picture = stage.picture(5)
    rows = pixels_of(picture, ORANGE)[:, 0]
    assert abs(np.median(rows) - pixel_at(stage, 0, tracks.positions[5, 2])[0]) < 15
    assert [label.get_text() for label in stage.groups[0].labels.values()] == ["dog"]
    assert len(pixels_of(staged(moving()).picture(5), ORANGE)) == 0


def test_the_followed_animal_has_its_own_colour():
    tracks = moving()
    stage = staged(tracks, follow="1")
    top, left = (pixel_at(stage, 0, tracks.positions[5, 1]) - 6).astype(int)
    around = stage.picture(5)[top : top + 12, left : left + 12]
    assert len(pixels_of(around, INK)) > 10
    assert len(pixels_of(around, BLUE)) == 0


@pytest.mark.parametrize("kind", ["one", "several", "map", "line"])
def test_pictures_drawn_over_a_background_equal_pictures_drawn_in_full(kind):
    groups = [moving(individuals=["a", "b", "dog"]).with_landmarks("dog")]
    fit = None
    if kind == "several":
        groups.append(moving(frames=7, individuals=["a", "b", "c"]))
    if kind == "map":
        fit = fit_of(shoal.LocalMisalignment(bins=8), shoal.TargetMisalignment((5, 9), bins=6))
    if kind == "line":
        fit = fit_of(shoal.TargetMisalignment((5, 9), bins=6))
    stage = staged(*groups, fit=fit, follow="a", tail=4, target=(5.0, 9.0))
    quick = {index: stage.picture(index).copy() for index in (0, 6, 11, 3)}
    for artist in stage.artists:
        artist.set_animated(False)
    for index, picture in quick.items():
        stage.show(index)
        stage.canvas.draw()
        assert np.array_equal(np.asarray(stage.canvas.buffer_rgba()), picture), index


def test_groups_side_by_side_share_scale_and_clock_and_the_shorter_one_says_it_ended():
    long, short = moving(animals=1), moving(frames=5, animals=1)
    stage = staged(long, short)
    left, right = stage.figure.axes
    assert (left.get_xlim(), left.get_ylim()) == (right.get_xlim(), right.get_ylim())
    assert left.bbox.width == pytest.approx(right.bbox.width)
    picture = stage.picture(8)
    halfway = int((left.bbox.x1 + right.bbox.x0) / 2)
    for panel, part, place in (
        (0, picture[:, :halfway], long.positions[8, 0]),
        (1, picture[:, halfway:], short.positions[-1, 0]),
    ):
        middle = pixels_of(part, BLUE).mean(axis=0) + np.array([0, panel * halfway])
        assert np.abs(middle - pixel_at(stage, panel, place)).max() < 4
    assert [group.ended.get_visible() for group in stage.groups] == [False, True]
    stage.show(4)
    assert [group.ended.get_visible() for group in stage.groups] == [False, False]


def test_groups_with_different_rates_are_shown_at_the_same_time():
    fast, slow = moving(frames=21, fps=20.0), moving(frames=11, fps=10.0)
    timing = pacing.Timing.of([slow, fast], 1.0, 60.0)
    assert timing.rate == 20
    assert len(timing.frames) == 21
    late = fast.time[timing.frames[:, 1]] - slow.time[timing.frames[:, 0]]
    assert np.abs(late).max() <= 0.05 + 1e-9


@pytest.mark.parametrize(
    ("fps", "speed", "rate", "repeats", "every", "shown"),
    [
        (25.0, 1.0, 25.0, 1, 1, None),
        (100.0, 1.0, 50.0, 1, 2, None),
        (30.0, 10.0, 60.0, 1, 5, 10.0),
        (2.0, 1.0, 6.0, 3, 1, None),
        (None, 1.0, 10.0, 1, 1, None),
        (1 / 600, 1.0, 10.0, 1, 1, 6000.0),
    ],
)
def test_frames_are_skipped_or_repeated_so_that_speed_is_kept(
    fps, speed, rate, repeats, every, shown
):
    timing = pacing.Timing.of([moving(frames=60, fps=fps)], speed, 60.0)
    assert (timing.rate, timing.repeats) == (pytest.approx(rate), repeats)
    assert np.array_equal(timing.frames[:, 0], np.arange(0, 60, every))
    assert timing.clock[1].startswith("frame 1") == (fps is None)
    if fps is not None:
        assert timing.speed == pytest.approx(shown or speed)


def test_repeated_frames_are_in_the_file(tmp_path):
    path = animate(moving(frames=4, fps=2.0), tmp_path / "slow.mp4", size=SIZE)
    frames, _ = decoded(path, SIZE)
    assert len(frames) == 12


def test_the_clock_shows_seconds_hours_or_frames():
    clocks = [pacing.Timing.of([moving(fps=fps)], 1.0, 60.0).clock[-1] for fps in (10, 50, 0.002)]
    assert clocks == ["1.1 s", "0.22 s", "1 h 31 min 40 s"]
    cropped = moving().crop(time=(0.5, 0.9))
    assert pacing.Timing.of([cropped], 1.0, 60.0).clock[0] == "0.5 s"


@pytest.mark.parametrize("axes", [1, 2])
def test_the_dot_of_the_inset_is_at_the_state_of_the_followed_animal(axes):
    features = (shoal.LocalMisalignment(bins=8), shoal.TargetMisalignment((5.0, 9.0), bins=12))
    fit = fit_of(*features[2 - axes :])
    rng = np.random.default_rng(3)
    tracks = shoal.Tracks.from_arrays(rng.uniform(1, 9, (8, 3, 2)), fps=10.0, arena=BOX)
    stage = staged(tracks, fit=fit, follow="2")
    space = fit.model.space
    states, _ = track_states(tracks, space)
    places = set()
    for frame in range(7):
        stage.show(frame)
        x, y = (float(part[0]) for part in stage.maps[0].dot.get_data())
        expected = [float(part) for part in space.decode(states[frame, 2])]
        if axes == 1:
            assert (x, y) == (expected[0], float(states[frame, 2])), "on the curve"
        else:
            assert (y, x) == tuple(expected)
        places.add((x, y))
    assert len(places) > 3
    black = pixels_of(stage.picture(6), INK)
    dot = stage.maps[0].dot
    column, up = dot.axes.transData.transform((x, y))
    row = stage.figure.bbox.height - up
    assert (np.hypot(*(black - (row, column)).T) < 4).sum() > 20
    stage.show(7)
    assert dot.get_data()[0] == [x], "the last frame has no heading, and keeps the state"


def test_an_animal_without_a_state_has_no_dot():
    places = moving().positions.copy()
    places[5, 2] = np.nan
    tracks = shoal.Tracks.from_arrays(places, fps=10.0, arena=BOX)
    stage = staged(tracks, fit=fit_of(shoal.TargetMisalignment((5.0, 9.0))), follow="2")
    stage.show(5)
    assert stage.maps[0].words.get_visible()
    assert len(stage.maps[0].dot.get_data()[0]) == 0


def test_in_a_periodic_box_animals_stay_inside_and_tails_break_where_they_leave():
    box = shoal.tracks.Periodic(0, 0, 10, 10)
    places = np.stack([np.arange(7.0, 13.0), np.full(6, 5.0)], axis=-1)[:, None]
    tracks = shoal.Tracks.from_arrays(places, fps=10.0, arena=box)
    steps = unbroken_steps(box.wrapped(places), box)
    assert np.isnan(steps[2]).all()
    assert np.isfinite(np.delete(steps, 2, axis=0)).all()
    stage = staged(tracks, tail=5)
    picture = stage.picture(5)
    middle = pixels_of(picture, BLUE).mean(axis=0)
    assert np.abs(middle - pixel_at(stage, 0, (2.0, 5.0))).max() < 4
    row, column = pixel_at(stage, 0, (5.0, 5.0)).astype(int)
    assert (picture[row, column] == 255).all(), "no line across the box"
    row, column = pixel_at(stage, 0, (8.5, 5.0)).astype(int)
    assert picture[row, column, 0] < 255, "the part before it left"


def test_the_picture_scales_as_a_whole():
    small, large = (staged(moving(), size=size) for size in ((480, 360), (960, 720)))
    counts = [len(pixels_of(stage.picture(5), BLUE)) for stage in (small, large)]
    assert [stage.picture(0).shape for stage in (small, large)] == [(360, 480, 4), (720, 960, 4)]
    assert counts[1] / counts[0] == pytest.approx(4, rel=0.35)


def test_a_dictionary_gives_titles_and_targets_are_marked_for_each_group(tmp_path):
    groups = {"observed": moving(group="a"), "least-cost": moving(group="b")}
    path = animate(groups, tmp_path / "two.gif", target={"a": (5.0, 9.0)}, size=SIZE, tail=0)
    with Image.open(path) as gif:
        assert gif.n_frames == FRAMES


NOBODY = shoal.Tracks.from_arrays(np.full((3, 2, 2), np.nan), fps=10.0)
THREE = (shoal.LocalMisalignment(), shoal.TargetMisalignment((1, 1)), shoal.Distance((0, 1, 2)))
WRONG = {
    "suffix": ({"out": "a.avi"}, r"ends in \.mp4 or \.gif, got 'a.avi'"),
    "no path": ({"out": 3}, "needs the path of a file"),
    "nobody": ({"tracks": NOBODY}, "no animal with a place"),
    "no tracks": ({"tracks": "herd.csv"}, "expected Tracks"),
    "empty": ({"tracks": []}, "expected Tracks"),
    "collection": (
        {"tracks": shoal.Collection([moving(group="a"), moving(group="b")])},
        r"this collection has 2: pick one, such as tracks\['a'\]",
    ),
    "units": ({"tracks": [moving(), moving(length_unit="cm")]}, "one unit of length"),
    "rates": ({"tracks": [moving(), moving(fps=None)]}, "either all tracks have a frame rate"),
    "titles": ({"titles": ["a", "b"]}, "need as many titles"),
    "follow": ({"follow": "Flipper"}, "no 'Flipper'; there are 0, 1, 2"),
    "tail": ({"tail": -1}, "tail is a number of frames, 0 or more; got -1"),
    "half a tail": ({"tail": 1.5}, "tail is a number of frames"),
    "headings": ({"heading_frames": 0}, "heading_frames is a number of frames, 1 or more"),
    "speed": ({"speed": 0}, "a positive number; got 0"),
    "fast": ({"speed": "fast"}, "a positive number; got 'fast'"),
    "target": ({"target": (1, 2, 3)}, "a target is a point"),
    "named target": ({"target": "dog"}, "a target is a point"),
    "size": ({"size": (10, 10)}, "size is .width, height. in pixels"),
    "one size": ({"size": 640}, "size is .width, height. in pixels"),
    "inset": ({"inset": 3}, "inset is a fit"),
    "three axes": ({"inset": fit_of(*THREE)}, "one axis or two, and this fit has 3"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_shown_is_said_in_one_line_before_any_work(case, tmp_path):
    given, words = WRONG[case]
    given = {"tracks": moving(), "out": "a.mp4"} | given
    if isinstance(given["out"], str):
        given["out"] = given["out"] if case == "suffix" else tmp_path / given["out"]
    with pytest.raises(InputError, match=words) as caught:
        animate(given.pop("tracks"), given.pop("out"), **given)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_nothing_is_left_behind_when_drawing_stops_midway(error, suffix, tmp_path, monkeypatch):
    drawn = Stage.picture
    (tmp_path / f"a{suffix}").write_bytes(b"before")

    def stopped(stage, index):
        if index == 7:  # not one of those that a GIF takes its colours from
            assert len(list(tmp_path.iterdir())) == 2, "it was being written"
            raise error
        return drawn(stage, index)

    monkeypatch.setattr(Stage, "picture", stopped)
    with pytest.raises(error):
        animate(moving(), tmp_path / f"a{suffix}", size=SIZE)
    assert [path.name for path in tmp_path.iterdir()] == [f"a{suffix}"]
    assert (tmp_path / f"a{suffix}").read_bytes() == b"before"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("#!/bin/sh\nexit 3\n", r"failed \(it said nothing\)"),
        ("#!/bin/sh\ncat >/dev/null\necho no room >&2\nexit 3\n", r"failed \(no room\)"),
        (None, "cannot run"),
    ],
)
def test_an_encoder_that_fails_is_an_error_that_leaves_nothing(
    program, words, tmp_path, monkeypatch
):
    path = tmp_path / "encoder"
    if program:
        path.write_text(program)
        path.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(path))
    out = tmp_path / "videos"
    out.mkdir()
    with pytest.raises(OutputError, match=words) as caught:
        animate(moving(), out / "a.mp4", size=SIZE)
    assert "\n" not in str(caught.value)
    assert not list(out.iterdir())


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(OutputError, match="could not be written"):
        animate(moving(), tmp_path / "nowhere" / "a.mp4")
