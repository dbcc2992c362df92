import numpy as np

from registries import CIRCLE, MIXED
from shoal.figures import Curve, cost_lines, save_figure
from shoal.figures.lines import Panel


def drawn(axis, truth=True):
    mean = np.linspace(0, 3, axis.size)
    arrivals = np.arange(axis.size)  # the first state was never entered
    curves = [Curve(name, mean, mean - 0.5, mean + 1) for name in ("NUTS", "ADVI")]
    panels = [Panel("one", curves, mean if truth else None), Panel("two", curves)]
    return cost_lines(axis, panels, arrivals, "cost-to-go (nats)")


def test_axes_are_labelled_with_units_and_everything_is_in_the_legend():
    figure = drawn(CIRCLE.axes[0])
    assert figure.axes[0].get_ylabel() == "cost-to-go (nats)"
    assert figure.axes[2].get_xlabel() == "angle (°)"
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["NUTS, 95 % interval", "ADVI, 95 % interval", "truth", "never entered"]


def test_a_circle_is_closed_and_an_interval_is_not():
    x = drawn(CIRCLE.axes[0]).axes[0].lines[0].get_xdata()
    assert (x[0], x[-1], len(x)) == (-180, 180, 13)
    assert len(drawn(MIXED.axes[1], truth=False).axes[0].lines[0].get_xdata()) == 3


def test_files_are_the_same_every_time(tmp_path):
    for suffix in ("png", "pdf", "svg"):
        one = save_figure(drawn(CIRCLE.axes[0]), tmp_path / f"one.{suffix}").read_bytes()
        other = save_figure(drawn(CIRCLE.axes[0]), tmp_path / f"two.{suffix}").read_bytes()
        assert one == other
