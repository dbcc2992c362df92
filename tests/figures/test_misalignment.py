"""The example of the two angles shows the numbers that are counted."""

import math
from itertools import combinations

import numpy as np
import pytest

import shoal
from shoal.figures import save_figure
from shoal.figures.misalignment import misalignment_example
from shoal.figures.moments import (
    LEGIBLE,
    Moment,
    described,
    moment_at,
    telling_moment,
)

TARGET = (0.2, 0.8)


def straight(headings, places, frames=5, step=0.01, **more):
    """Animals that keep their headings."""
    angle = np.deg2rad(headings)
    steps = step * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    positions = np.asarray(places, dtype=float) + np.arange(frames)[:, None, None] * steps
    return shoal.Tracks.from_arrays(positions, fps=10, **more)


def walkers(seed=1, frames=40, animals=6):
    rng = np.random.default_rng(seed)
    turning = rng.uniform(-180, 180, animals) + rng.normal(0, 20, (frames, animals)).cumsum(axis=0)
    angle = np.deg2rad(turning)
    steps = 0.01 * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    places = rng.uniform(0.3, 0.7, (animals, 2)) + steps.cumsum(axis=0)
    return shoal.Tracks.from_arrays(places, fps=10, length_unit="cm")


def looped(tracks, target, frame, individual):
    """Local and target misalignment, one animal after the other."""
    now, then = tracks.positions[frame], tracks.positions[frame + 1]
    x = y = 0.0
    for (x0, y0), (x1, y1) in zip(now, then, strict=True):
        heading = math.atan2(y1 - y0, x1 - x0)
        x, y = x + math.cos(heading), y + math.sin(heading)
    place, after = now[individual], then[individual]
    own = math.atan2(after[1] - place[1], after[0] - place[0])
    there = math.atan2(target[1] - place[1], target[0] - place[0])
    turns = (math.atan2(y, x) - own, there - own)
    return [math.degrees(math.remainder(turn, 2 * math.pi)) for turn in turns]


def arcs(figure):
    return {line.get_gid(): line.get_xydata() for line in figure.axes[0].lines if line.get_gid()}


def swept(path, centre):
    """The turn from the beginning of an arc to its end, summed along it."""
    angle = np.arctan2(*(path - centre).T[::-1])
    return float(np.rad2deg(np.unwrap(angle)[-1] - np.unwrap(angle)[0]))


def words(figure):
    return {text.get_text() for text in figure.axes[0].texts}


@pytest.mark.parametrize("individual", range(6))
@pytest.mark.parametrize("frame", [0, 17, 38])
def test_the_angles_of_a_moment_are_those_of_a_plain_loop(frame, individual):
    tracks = walkers()
    moment = moment_at(tracks, TARGET, frame, str(individual))
    assert np.allclose((moment.local, moment.target), looped(tracks, TARGET, frame, individual))


@pytest.mark.parametrize("seed", range(4))
def test_arcs_go_from_the_heading_by_the_angles_that_are_written(seed):
    tracks = walkers(seed)
    moment = telling_moment(tracks, TARGET)
    figure = misalignment_example(tracks, TARGET)
    column = int(moment.individual)
    place = tracks.positions[moment.frame, column]
    heading = tracks.headings()[moment.frame, column]
    for number, turn in (("1", moment.target), ("2", moment.local)):
        path = arcs(figure)[f"angle {number}"]
        assert np.isclose(swept(path, place), turn)
        begins = np.rad2deg(np.arctan2(*(path[0] - place)[::-1]))
        assert np.isclose(np.cos(np.deg2rad(begins - heading)), 1)
        assert f"{number}: {turn:+.0f}°".replace("-", "−") in words(figure)
    assert "Target" in words(figure)


def test_the_figure_holds_everybody_the_target_and_a_star(tmp_path):
    tracks = walkers()
    figure = misalignment_example(tracks, TARGET)
    axes, moment = figure.axes[0], telling_moment(tracks, TARGET)
    lines = {line.get_marker(): line.get_xydata() for line in axes.lines}
    where = tracks.positions[moment.frame]
    assert np.array_equal(lines["*"][0], where[int(moment.individual)])
    assert np.allclose(lines["P"][0], TARGET)
    assert np.allclose(lines["o"], np.delete(where, int(moment.individual), axis=0))
    low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
    assert np.all((low < [*where, TARGET]) & (high > [*where, TARGET]))
    assert axes.get_xlabel() == "x (cm)"
    assert save_figure(figure, tmp_path / "moment.png", dpi=60).stat().st_size > 5_000


@pytest.mark.parametrize("frame", [3, 12, 18, 21, 30])
@pytest.mark.parametrize("individual", ["1", "3"])
def test_labels_lie_apart_even_where_turns_are_small_or_go_the_same_way(frame, individual):
    tracks = walkers(0)
    figure = misalignment_example(tracks, TARGET, moment_at(tracks, TARGET, frame, individual))
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].texts]
    assert len(boxes) == 3
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_the_telling_moment_has_the_target_to_the_right_and_the_group_to_the_left():
    # all but one go west; it goes north with the target in the north-east
    headings = [180, 180, 180, 180, 90]
    places = [(0.5, 0.1), (0.6, 0.2), (0.4, 0.0), (0.7, 0.1), (0.3, 0.3)]
    tracks = straight(headings, places)
    moment = telling_moment(tracks, (0.8, 0.8))
    assert moment.individual == "4"
    assert LEGIBLE[0] <= moment.local <= LEGIBLE[1]
    assert -LEGIBLE[1] <= moment.target <= -LEGIBLE[0]


def test_in_a_mirror_the_two_turns_change_sides():
    headings = [0, 0, 0, 0, 90]
    places = [(-0.5, 0.1), (-0.6, 0.2), (-0.4, 0.0), (-0.7, 0.1), (-0.3, 0.3)]
    moment = telling_moment(straight(headings, places), (-0.8, 0.8))
    assert moment.individual == "4"
    assert moment.local < 0 < moment.target


def test_the_paper_s_sides_are_preferred_to_a_clearer_picture():
    # both of those that are not with the group show it, the one to the right stands freer
    places = [(0.1, 0.3), (0.2, 0.35), (0.3, 0.3), (0.4, 0.35), (0.2, 0.2), (0.3, 0.2)]
    tracks = straight([90] * 6 + [50, 130], [*places, (0.0, 0.4), (1.0, 0.4)])
    moment = telling_moment(tracks, (0.5, 0.4))
    assert moment.individual == "6"
    assert moment.target < 0 < moment.local
    without = shoal.Tracks.from_arrays(np.delete(tracks.positions, 6, axis=1))
    assert telling_moment(without, (0.5, 0.4)).local < 0


def test_an_animal_that_stands_free_is_preferred_to_a_hidden_one():
    # two go side by side and show larger angles than another, which is free
    places = [(0.5, 0), (0.6, 0.1), (0.4, 0.1), (0.7, 0), (0.8, 0.1), (0.9, 0), (0.2, 0.1)]
    headings = [180] * 6 + [110, 110, 134]
    hidden = straight(headings, [*places, (0.24, 0.1), (0.62, 0.22)])
    assert telling_moment(hidden, (0.4, 0.9)).individual == "8"
    apart = straight(headings, [*places, (0.1, 0.2), (0.62, 0.22)])
    assert telling_moment(apart, (0.4, 0.9)).individual in {"6", "7"}


def test_an_animal_at_the_wall_is_passed_over():
    headings = [180, 180, 180, 180, 180, 90, 90]
    places = [(0.5, 0.2), (0.6, 0.3), (0.4, 0.2), (0.7, 0.2), (0.8, 0.3), (0.02, 0.4), (0.3, 0.4)]
    free = straight(headings, places)
    assert telling_moment(free, (0.9, 0.9)).individual == "5"
    walled = free.with_arena(shoal.tracks.Rectangle(0, 0, 1, 1))
    assert telling_moment(walled, (0.9, 0.9)).individual == "6"


def test_without_legible_turns_the_larger_ones_are_taken():
    # nearly aligned, so that no local misalignment is legible: opposite signs still come first
    headings, places = [0, 0, 10, -6], [(0, 0), (0, 0.2), (0, 0.4), (0, 0.6)]
    tracks = straight(headings, places)
    moment = telling_moment(tracks, (1.0, 0.3))
    every = [moment_at(tracks, (1.0, 0.3), f, n) for f in range(4) for n in tracks.individuals]
    opposite = [m for m in every if m.local * m.target < 0]
    assert moment == max(opposite, key=lambda m: min(abs(m.local), abs(m.target)))


def test_gaps_periodic_boxes_and_moving_targets_are_drawn():
    positions = walkers().positions.copy()
    positions[5:9, 2] = np.nan
    positions[20] = np.nan
    box = shoal.tracks.Periodic(0.35, 0.35, 0.65, 0.65)
    holes = shoal.Tracks.from_arrays(positions, fps=10)
    for tracks in (holes, holes.with_arena(box), holes.with_landmarks("3")):
        target = "3" if len(tracks.members) == 5 else (0.4, 0.6)
        moment = telling_moment(tracks, target)
        path = arcs(misalignment_example(tracks, target))["angle 2"]
        place = positions[moment.frame, int(moment.individual)]
        place = box.wrapped(place) if tracks.arena else place
        assert np.isclose(swept(path, place), moment.local)


def test_a_caption_names_the_sides_and_the_numbers():
    tracks = walkers()
    sentence = described(tracks, Moment(34, "7", 31.4, -41.6))
    assert sentence == (
        "at 3.4 s fish 7 would turn 42° right to face the target (1) and 31° left to swim with "
        "the group (2)"
    )
    timeless = shoal.Tracks.from_arrays(tracks.positions)
    assert described(timeless, Moment(3, "7", 0.2, 9), "bird").startswith(
        "in frame 3 bird 7 would turn 9° left to face the target (1) and 0° to swim"
    )


@pytest.mark.parametrize(
    ("moment", "sentence"),
    [
        (Moment(40, "1", 0.0, 0.0), "there is no frame 40: they are counted from 0 to 39"),
        (Moment(-1, "1", 0.0, 0.0), "there is no frame -1"),
        (Moment(3, "nobody", 0.0, 0.0), "no animal of the group is called 'nobody'"),
        (Moment(39, "1", 0.0, 0.0), "'1' has not both angles in frame 39"),
        (Moment(3, "1", 0.0, math.nan), "are not those of the tracks"),
    ],
)
def test_a_moment_that_does_not_exist_is_told(moment, sentence):
    with pytest.raises(shoal.InputError, match=sentence):
        misalignment_example(walkers(), TARGET, moment)


def test_tracks_without_any_moment_are_told():
    alone = walkers(animals=1)
    with pytest.raises(shoal.InputError, match="two animals with headings are needed"):
        telling_moment(alone, TARGET)
    pair = shoal.Collection(
        shoal.Tracks.from_arrays(walkers().positions, group=name) for name in ("one", "other")
    )
    with pytest.raises(shoal.InputError, match="an example is of one group, got 2"):
        misalignment_example(pair, TARGET)
    assert telling_moment(shoal.Collection([walkers()]), TARGET) == telling_moment(
        walkers(), TARGET
    )
