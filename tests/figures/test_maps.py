"""Maps and trajectories are drawn with labels and units, whatever the axes."""

import numpy as np
import pytest
from matplotlib.image import imread

import shoal
from shoal.figures import save_figure
from shoal.figures.lines import Curve, Panel, marginal_lines
from shoal.figures.maps import CostMap, cost_map
from shoal.figures.trajectories import trajectories

AXES = {
    "circle": shoal.Circular("local_misalignment", 8),
    "half circle": shoal.states.Folded("target_misalignment", 8),
    "interval": shoal.states.Interval("distance", (0, 1, 2, 5), "cm"),
}


@pytest.mark.parametrize("second", AXES)
@pytest.mark.parametrize("first", AXES)
def test_maps_show_mean_sd_and_arrivals_with_units(first, second, tmp_path):
    one, other = AXES[first], AXES[second]
    rng = np.random.default_rng(1)
    arrivals = rng.poisson(1.0, (one.size, other.size))
    costs = CostMap(rng.random(arrivals.shape), rng.random(arrivals.shape), arrivals)
    figure = cost_map(one, other, costs, "cost-to-go (nats)")
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:3] == ["posterior mean", "posterior sd", "arrivals"]
    assert figure.axes[0].get_xlabel() == other.label
    assert figure.axes[0].get_ylabel() == one.label
    assert imread(save_figure(figure, tmp_path / "map.png", dpi=60)).std() > 0.05


def test_the_bin_at_the_seam_is_shown_at_both_ends():
    axis = AXES["circle"]
    values = np.arange(64.0).reshape(8, 8)
    figure = cost_map(axis, axis, CostMap(values, None, np.ones((8, 8), dtype=int)), "v")
    shown = figure.axes[0].collections[0].get_array()
    assert shown.shape == (9, 9)
    assert np.array_equal(shown[0], shown[-1])
    assert np.array_equal(shown[:-1, :-1], values)
    assert len([axes for axes in figure.axes if axes.get_title()]) == 2, "no sd, no panel for it"


def test_marginals_have_a_column_for_each_axis():
    parts = []
    for axis in AXES.values():
        mean = np.linspace(0, 1, axis.size)
        panel = Panel("", [Curve("nuts", mean, mean - 0.1, mean + 0.1)])
        parts.append((axis, panel, np.full(axis.size, 3)))
    figure = marginal_lines(parts, "v (nats)")
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert [axis.label for axis in AXES.values()] == labels[3:]


def test_trajectories_have_a_panel_for_each_group_and_say_when_some_are_left_out():
    rng = np.random.default_rng(1)
    groups = [
        shoal.Tracks.from_arrays(
            rng.normal(size=(20, 3, 2)).cumsum(axis=0),
            group=f"g{i}",
            length_unit="cm",
            arena=shoal.tracks.Circle(0, 0, 20) if i else shoal.tracks.Rectangle(-20, -20, 20, 20),
        ).with_landmarks("2")
        for i in range(31)
    ]
    figure = trajectories(groups, (1.0, 2.0))
    assert figure.get_supxlabel() == "x (cm)"
    assert len([axes for axes in figure.axes if axes.get_visible()]) == 30
    assert "the first 30 of 31 groups" in figure.get_suptitle()
    assert "target" in [text.get_text() for text in figure.legends[0].get_texts()]
