"""All experiments in one figure: a labelled panel each, females above males, T at the target."""

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgb
from matplotlib.image import imread

import shoal
from shoal.figures import save_figure
from shoal.figures.experiments import SHADES, experiments
from shoal.figures.style import ORANGE

TARGET = (0.2, 0.8)
SEXES = {"female": 12, "male": 14}
PREFIX = {"female": "fm", "male": "ml"}


def walk(seed, frames=20, animals=3):
    steps = np.random.default_rng(seed).normal(0, 0.02, (frames, animals, 2))
    return 0.5 + steps.cumsum(axis=0)


def group(label, frames=20, seed=1, **covariates):
    return shoal.Tracks.from_arrays(
        walk(seed, frames), group=label, covariates=covariates, length_unit="cm",
        arena=shoal.tracks.Rectangle(0, 0, 1, 1),
    )  # fmt: skip


def everything():
    """The groups of the paper, males first: their order is the figure's to make."""
    return shoal.Collection(
        group(f"{PREFIX[sex]}{number}", 20 + number, number, sex=sex)
        for sex, count in reversed(SEXES.items())
        for number in range(1, count + 1)
    )


def visible(figure):
    return [axes for axes in figure.axes if axes.get_visible()]


def titles(figure):
    return [axes.get_title(loc="left") for axes in visible(figure)]


def row(axes):
    return axes.get_subplotspec().rowspan.start


def headings(figure):
    return {
        text.get_text(): row(axes)
        for axes in figure.axes
        for text in axes.texts
        if text.get_text() != "T"
    }


def drawn_paths(axes):
    return [part for part in axes.collections if isinstance(part, LineCollection)][-1]


def test_every_group_has_a_panel_labelled_with_its_name_and_size():
    figure = experiments(everything(), TARGET)
    wanted = [
        f"{PREFIX[sex]}{n} – {20 + n}" for sex, count in SEXES.items() for n in range(1, count + 1)
    ]
    assert titles(figure) == wanted
    assert len(figure.axes) == 30


def test_females_take_two_rows_and_males_the_next_three():
    figure = experiments(everything(), TARGET)
    rows = {prefix: set() for prefix in PREFIX.values()}
    for axes in visible(figure):
        rows[axes.get_title(loc="left")[:2]].add(row(axes))
    assert rows == {"fm": {0, 1}, "ml": {2, 3, 4}}
    assert headings(figure) == {"females": 0, "males": 2}


def test_a_file_shows_something(tmp_path):
    figure = experiments([group("one", sex="male"), group("other", sex="female")], TARGET)
    assert imread(save_figure(figure, tmp_path / "experiments.png", dpi=60)).std() > 0.05


def test_a_t_is_at_the_target_of_each_group():
    places = {"north": (0.1, 0.9), "south": (0.7, 0.2)}
    figure = experiments([group(name) for name in places], places)
    marks = [text for axes in visible(figure) for text in axes.texts if text.get_text() == "T"]
    assert [text.get_position() for text in marks] == list(places.values())


def test_a_moving_target_is_marked_where_it_was_last_seen():
    positions = walk(1)
    positions[-4:, 2] = np.nan
    tracks = shoal.Tracks.from_arrays(positions, individuals=["a", "b", "dog"])
    figure = experiments(tracks.with_landmarks("dog"), "dog")
    mark = next(text for text in figure.axes[0].texts if text.get_text() == "T")
    assert mark.get_position() == tuple(positions[-5, 2])
    assert "landmarks" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_paths_darken_with_time_and_begin_with_a_dot():
    tracks = group("pond", frames=49)
    axes = experiments(tracks, TARGET).axes[0]
    paths = drawn_paths(axes)
    assert len(paths.get_segments()) == 3 * SHADES
    brightness = paths.get_color()[:, :3].sum(axis=1).reshape(SHADES, 3)
    assert np.all(np.diff(brightness, axis=0) < 0)
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert {to_rgb(line.get_color()) for line in dots} == {to_rgb(ORANGE)}
    assert np.array_equal([line.get_xydata()[0] for line in dots], tracks.positions[0])


def test_every_step_is_drawn_once_and_a_missing_one_never():
    positions = walk(1, frames=30)
    positions[7, 1] = np.nan
    axes = experiments(shoal.Tracks.from_arrays(positions), TARGET).axes[0]
    vertices = np.concatenate([path.vertices for path in drawn_paths(axes).get_paths()])
    steps = vertices.reshape(-1, 3, 2)[:, :2]
    known = steps[np.isfinite(steps).all(axis=(1, 2))]
    wanted = np.stack([positions[:-1], positions[1:]], axis=2).reshape(-1, 2, 2)
    wanted = wanted[np.isfinite(wanted).all(axis=(1, 2))]
    assert len(known) == 29 * 3 - 2
    assert np.array_equal(np.unique(known, axis=0), np.unique(wanted, axis=0))


def test_one_experiment_is_one_larger_panel_with_units():
    figure = experiments(group("pond"), TARGET)
    assert titles(figure) == ["pond – 20"]
    figure.canvas.draw()
    many = experiments(everything(), TARGET)
    many.canvas.draw()
    width = [f.axes[0].get_position().width * f.get_figwidth() for f in (figure, many)]
    assert width[0] > 2 * width[1]
    assert (figure.get_supxlabel(), figure.get_supylabel()) == ("x (cm)", "y (cm)")


def test_groups_without_a_sex_follow_each_other_without_headings():
    figure = experiments([group(f"pond {n}") for n in range(8)], TARGET)
    assert [row(axes) for axes in visible(figure)] == [0] * 6 + [1] * 2
    assert headings(figure) == {}


def test_groups_whose_sex_is_not_told_come_last():
    parts = [group("1"), group("2", sex="M"), group("3", sex=["f", "F", "female"])]
    figure = experiments(parts, TARGET)
    assert headings(figure) == {"females": 0, "males": 1, "sex not known": 2}
    assert titles(figure) == ["fm3 – 20", "ml2 – 20", "1 – 20"]


def test_another_covariate_can_set_rows_apart():
    parts = [group(name, treatment=name[0]) for name in ("b1", "a1", "b2")]
    figure = experiments(parts, TARGET, rows="treatment")
    assert headings(figure) == {"b": 0, "a": 1}
    with pytest.raises(shoal.InputError, match="no group has the covariate 'age'"):
        experiments(parts, TARGET, rows="age")


def test_numbers_stand_below_the_lowest_panel_of_each_column():
    figure = experiments(everything(), TARGET)
    figure.canvas.draw()
    shown = {
        (row(axes), axes.get_subplotspec().colspan.start)
        for axes in visible(figure)
        if any(tick.label1.get_visible() for tick in axes.xaxis.get_major_ticks())
    }
    assert shown == {(4, 0), (4, 1), (3, 2), (3, 3), (3, 4), (3, 5)}


def test_all_panels_have_one_scale_and_long_names_are_cut():
    parts = [group(f"a name that is far too long for a panel {n}") for n in range(7)]
    figure = experiments(parts, (5.0, 0.5))
    assert len({(*axes.get_xlim(), *axes.get_ylim()) for axes in visible(figure)}) == 1
    assert all(axes.get_aspect() == 1 for axes in visible(figure))
    assert figure.axes[0].get_xlim()[1] > 5
    assert all(title.startswith("…") and title.endswith(f"{n} – 20")
               for n, title in enumerate(titles(figure)))  # fmt: skip


def test_nothing_to_draw_and_a_target_that_is_none_are_told():
    with pytest.raises(shoal.InputError, match="no groups"):
        experiments([], TARGET)
    with pytest.raises(shoal.InputError, match="a target is a point"):
        experiments(group("pond"), (1.0, 2.0, 3.0))
