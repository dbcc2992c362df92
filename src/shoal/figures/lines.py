"""Costs along one axis: a line with its band for each fit, and the truth where it is known."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
from jaxtyping import Float, Int
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from shoal.figures.style import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, STYLE
from shoal.states import Axis, Circular, Numbered

COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
UNVISITED = "never entered"
DASHES = ("-", (0, (4, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)))


@dataclass(frozen=True)
class Curve:
    """A mean and an interval for every state of one axis."""

    label: str
    mean: Float[np.ndarray, " bins"]
    lower: Float[np.ndarray, " bins"]
    upper: Float[np.ndarray, " bins"]


@dataclass(frozen=True)
class Panel:
    """Curves to compare with each other and with the truth."""

    title: str
    curves: Sequence[Curve]
    truth: Float[np.ndarray, " bins"] | None = None


def cost_lines(
    axis: Axis,
    panels: Sequence[Panel],
    arrivals: Int[np.ndarray, " bins"],
    label: str,
    height: float | None = None,
) -> Figure:
    """Panels side by side on one scale, over the number of arrivals in each state.

    Parameters
    ----------
    axis
        Of the states.
    panels
        What to show.
    arrivals
        How often each state was entered; states never entered are shaded.
    label
        Of the vertical axis.
    height
        Where to end the vertical axis; by default where the intervals of all states that were
        entered and the truth have room. Bands of other states may leave the figure.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.8 * len(panels) + 0.6, 5.0), layout="constrained")
        grid = figure.subplots(
            2, len(panels), sharex=True, sharey="row", height_ratios=(4, 1), squeeze=False
        )
        for column, panel in enumerate(panels):
            _draw_panel(grid[0, column], axis, panel, arrivals)
            draw_arrivals(grid[1, column], axis, arrivals)
        grid[1, 0].set_ylim(0.5, 2.0 * max(1, int(arrivals.max())))
        grid[0, 0].set_ylabel(label)
        top = height or _height(panels, arrivals)
        grid[0, 0].set_ylim(_depth(panels, arrivals, top), top)
        grid[1, 0].set_ylabel("arrivals")
        if isinstance(axis, Circular):
            grid[0, 0].set_xlim(-180 - axis.step / 2, 180 + axis.step / 2)
        _legend(figure, grid[0, 0])
    return figure


def marginal_lines(
    parts: Sequence[tuple[Axis, Panel, Int[np.ndarray, " _"]]], label: str
) -> Figure:
    """A column for each axis, all on one scale, each over its arrivals.

    Parameters
    ----------
    parts
        An axis, what to show along it and how often each of its bins was entered.
    label
        Of the vertical axis.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.8 * len(parts) + 0.6, 5.0), layout="constrained")
        grid = figure.subplots(
            2, len(parts), sharex="col", sharey="row", height_ratios=(4, 1), squeeze=False
        )
        for column, (axis, panel, arrivals) in enumerate(parts):
            _draw_panel(grid[0, column], axis, panel, arrivals)
            draw_arrivals(grid[1, column], axis, arrivals)
            if isinstance(axis, Circular):
                grid[0, column].set_xlim(-180 - axis.step / 2, 180 + axis.step / 2)
        top = max(_height([panel], arrivals) for _, panel, arrivals in parts)
        grid[0, 0].set_ylabel(label)
        grid[0, 0].set_ylim(min(_depth([p], a, top) for _, p, a in parts), top)
        grid[1, 0].set_ylim(0.5, 2.0 * max(int(part[2].max()) for part in parts))
        grid[1, 0].set_ylabel("arrivals")
        empty = next((i for i, part in enumerate(parts) if (part[2] == 0).any()), 0)
        _legend(figure, grid[0, empty])
    return figure


def _draw_panel(axes: Axes, axis: Axis, panel: Panel, arrivals: Int[np.ndarray, " bins"]) -> None:
    _shade_unvisited(axes, axis, arrivals)
    looks = zip(itertools.cycle(COLOURS), itertools.cycle(DASHES), strict=True)
    for curve, (colour, dash) in zip(panel.curves, looks, strict=False):
        x, mean, lower, upper = round_circle(axis, curve.mean, curve.lower, curve.upper)
        axes.fill_between(x, lower, upper, color=colour, alpha=0.25, linewidth=0)
        exact = bool(np.array_equal(curve.lower, curve.upper, equal_nan=True))
        label = curve.label if exact else f"{curve.label}, 95 % interval"
        axes.plot(x, mean, color=colour, linestyle=dash, label=label)
        lone = np.isfinite(mean) & ~np.isfinite(np.roll(mean, 1)) & ~np.isfinite(np.roll(mean, -1))
        axes.plot(x[lone], mean[lone], ".", color=colour)  # no line leads to them
    if panel.truth is not None:
        x, truth = round_circle(axis, panel.truth)
        axes.plot(x, truth, "o", mfc="none", mec=INK, ms=5, label="truth")
    axes.set_title(panel.title)


def draw_arrivals(axes: Axes, axis: Axis, arrivals: Int[np.ndarray, " bins"]) -> None:
    """Bars of how often each bin was entered, on a logarithmic scale."""
    x, counts, widths = round_circle(axis, arrivals.astype(float), axis.widths)
    axes.bar(x, counts, width=0.8 * widths, color=GREY)
    axes.set_yscale("log")
    axes.set_xlabel(axis.label)
    if isinstance(axis, Numbered):
        axes.set_xlabel("state (number)" if axis.name == "number" else axis.label)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if isinstance(axis, Circular):
        axes.set_xticks(range(-180, 181, 60), ["±180", "−120", "−60", "0", "60", "120", "±180"])


def _shade_unvisited(axes: Axes, axis: Axis, arrivals: Int[np.ndarray, " bins"]) -> None:
    """A grey field behind the states that were never entered."""
    x, counts, widths = round_circle(axis, arrivals.astype(float), axis.widths)
    label = UNVISITED
    for place, half in zip(x[counts == 0], widths[counts == 0] / 2, strict=True):
        axes.axvspan(place - half, place + half, color=GREY, alpha=0.18, linewidth=0, label=label)
        label = "_nolegend_"


def round_circle(
    axis: Axis, *values: Float[np.ndarray, " bins"]
) -> tuple[Float[np.ndarray, " n"], ...]:
    """Places and values; on a circle the first state is shown again at the other end."""
    if not isinstance(axis, Circular):
        return axis.centres, *values
    places = np.append(axis.centres, axis.centres[0] + 360.0)
    return places, *(np.append(value, value[0]) for value in values)


def _legend(figure: Figure, axes: Axes) -> None:
    """What was estimated first, the shading last."""
    entries = sorted(
        zip(*axes.get_legend_handles_labels(), strict=True), key=lambda pair: pair[1] == UNVISITED
    )
    handles, names = zip(*entries, strict=True)
    figure.legend(handles, names, loc="outside upper center", ncols=len(names))


def _height(panels: Sequence[Panel], arrivals: Int[np.ndarray, " bins"]) -> float:
    seen = arrivals > 0
    tops = [curve.upper[seen].max() for panel in panels for curve in panel.curves]
    tops += [panel.truth.max() for panel in panels if panel.truth is not None]
    return 1.1 * float(max(tops))


def _depth(panels: Sequence[Panel], arrivals: Int[np.ndarray, " bins"], top: float) -> float:
    """Where the vertical axis begins: below all intervals of states that were entered."""
    seen = arrivals > 0
    lows = [float(curve.lower[seen].min()) for panel in panels for curve in panel.curves]
    return min(-0.03 * top, 1.1 * min(lows))
