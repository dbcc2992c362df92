"""Observed groups among simulated ones: a panel for each measure."""

import textwrap
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from shoal.checks.comparison import Measure, PredictiveCheck
from shoal.figures.style import BLUE, GREY, INK, ORANGE, STYLE

COLOURS = (BLUE, GREY, ORANGE)
BINS = 24


def predictive_panels(check: PredictiveCheck) -> Figure:
    """Histograms of the replicates under each model, with the observed value as a line.

    The learned policy is filled and its 95 % interval is a bar below; baselines are outlines.
    """
    shown = [m for m in check.measures.values() if np.isfinite(m.observed)]
    columns = min(4, len(shown))
    rows = -(-len(shown) // columns)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(3.1 * columns, 2.5 * rows + 0.7), layout="constrained")
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        for axes, measure in zip(grid, shown, strict=False):
            _draw(axes, measure, check.models)
        for first in grid[::columns]:
            first.set_ylabel("share of replicates", fontsize=8)
        handles: list[Any] = [Line2D([], [], color=INK, lw=2, label="observed")]
        handles += [
            Patch(facecolor=colour, alpha=0.55, label=model)
            if number == 0
            else Line2D([], [], color=colour, lw=1.6, label=model)
            for number, (model, colour) in enumerate(zip(check.models, COLOURS, strict=False))
        ]
        handles.insert(2, Line2D([], [], color=BLUE, lw=4, label="its 95 % interval"))
        figure.legend(handles=handles, loc="outside upper center", ncols=5)
    return figure


def _draw(axes: Any, measure: Measure, models: tuple[str, ...]) -> None:
    drawn = [measure.replicated[model] for model in models]
    drawn = [values[np.isfinite(values)] for values in drawn]
    everything = np.concatenate([*drawn, [measure.observed]])
    low, high = float(everything.min()), float(everything.max())
    margin = 0.03 * (high - low) or max(1e-6, 0.05 * abs(high))
    edges = np.linspace(low - margin, high + margin, BINS + 1)
    for number, (values, colour) in enumerate(zip(drawn, COLOURS, strict=False)):
        if not values.size:
            continue
        share = np.histogram(values, edges)[0] / values.size
        if number == 0:
            axes.stairs(share, edges, fill=True, color=colour, alpha=0.55)
        else:
            axes.stairs(share, edges, color=colour, lw=1.6)
    axes.axvline(measure.observed, color=INK, lw=2)
    start, end = measure.interval(models[0])
    below = axes.get_xaxis_transform()  # x as in the data, y as a share of the panel
    axes.plot([start, end], [-0.01, -0.01], color=BLUE, lw=4, solid_capstyle="butt",
              clip_on=False, transform=below)  # fmt: skip
    axes.set_ylim(bottom=0)
    unit = f" ({measure.unit})" if measure.unit else ""
    axes.set_xlabel("\n".join(textwrap.wrap(f"{measure.summary.label}{unit}", 34)), fontsize=8)
    chance = measure.p_words(models[0])
    axes.set_title(f"p {chance}" if chance[0] in "≤–" else f"p = {chance}", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.locator_params(nbins=5)
