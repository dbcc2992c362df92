"""Estimates against what is known to be true, and one uncertainty against another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from shoal.figures.style import BLUE, GREY, INK, ORANGE, STYLE

RATIOS = (0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4)


@dataclass(frozen=True, eq=False)
class Found:
    """Truth, posterior mean and 95 % interval of a number of states."""

    title: str
    truth: Float[np.ndarray, " states"]
    mean: Float[np.ndarray, " states"]
    lower: Float[np.ndarray, " states"]
    upper: Float[np.ndarray, " states"]


def recovered(panels: Sequence[Found], label: str) -> Figure:
    """The truth to the right, the estimate with its interval upwards, equality as a line.

    Intervals that miss the truth are orange; the title says how many hold it.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.4 * len(panels) + 0.4, 4.6), layout="constrained")
        grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, panel in zip(grid, panels, strict=True):
            inside = (panel.lower <= panel.truth) & (panel.truth <= panel.upper)
            for which, colour in ((inside, BLUE), (~inside, ORANGE)):
                axes.vlines(
                    panel.truth[which], panel.lower[which], panel.upper[which],
                    color=colour, lw=0.8, alpha=0.6,
                )  # fmt: skip
                axes.plot(panel.truth[which], panel.mean[which], "o", color=colour, ms=2.5)
            ends = (float(panel.truth.min()), float(panel.truth.max()))
            axes.plot(ends, ends, color=INK, lw=1, zorder=3)
            axes.set_title(f"{panel.title}\n{inside.mean():.0%} of {inside.size} hold the truth")
            axes.set_xlabel(f"true {label}")
        grid[0].set_ylabel(f"estimated {label}")
        handles = [
            Line2D([], [], color=BLUE, marker="o", ms=3, label="95 % interval holds the truth"),
            Line2D([], [], color=ORANGE, marker="o", ms=3, label="misses it"),
            Line2D([], [], color=INK, lw=1, label="equal"),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def sd_ratios(panels: Sequence[tuple[str, Any, Any]], label: str) -> Figure:
    """How wide one posterior is relative to another, over the number of arrivals.

    Parameters
    ----------
    panels
        A title, the ratio for every state, and its arrivals. States never entered stand apart at
        the left.
    label
        Of the ratio.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.4 * len(panels) + 0.4, 4.0), layout="constrained")
        grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, (title, ratio, arrivals) in zip(grid, panels, strict=True):
            places, values = np.ravel(arrivals).astype(float), np.ravel(ratio)
            axes.plot(np.where(places > 0, places, 0.4), values, ".", color=BLUE, ms=3, alpha=0.5)
            axes.axhline(1.0, color=INK, lw=1)
            axes.axvline(0.63, color=GREY, lw=0.8, linestyle=":")
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.minorticks_off()
            ticks = [1, 10, 100, 1000]
            axes.set_xticks([0.4, *ticks], ["never", *(f"{tick:,}" for tick in ticks)])
            axes.set_yticks(RATIOS, [f"{ratio:g}" for ratio in RATIOS])
            axes.set_xlabel("arrivals in a state")
            axes.set_title(f"{title}: median {np.median(values):.2f}")
        everything = np.concatenate([np.ravel(ratio) for _, ratio, _ in panels])
        grid[0].set_ylim(min(0.65, 0.95 * everything.min()), max(1.5, 1.05 * everything.max()))
        grid[0].set_ylabel(label)
    return figure
