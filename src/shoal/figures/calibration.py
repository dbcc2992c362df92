"""Whether intervals are right: ranks within their bands, coverage, estimates beside truths."""

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shoal.figures.style import BLUE, GREY, INK, ORANGE, STYLE

if TYPE_CHECKING:
    from shoal.checks import Calibration

SHOWN = 300
"""Estimates that are drawn with their intervals, at the most."""


def calibration_figure(calibration: "Calibration") -> Figure:
    """Ranks, coverage and estimates; for map the estimates alone."""
    with mpl.rc_context(STYLE):
        if not calibration.curves:
            figure = Figure(figsize=(4.6, 4.2), layout="constrained")
            _estimates(figure.subplots(), calibration)
            return figure
        figure = Figure(figsize=(12.5, 4.2), layout="constrained")
        left, middle, right = figure.subplots(1, 3, width_ratios=(1.3, 0.8, 1.0))
        _ranks(left, calibration)
        _coverage(middle, calibration)
        _estimates(right, calibration)
    return figure


def _ranks(axes: Axes, calibration: "Calibration") -> None:
    """The distribution of ranks less the uniform one, over its simultaneous band."""
    band = calibration.curves[0].band
    axes.fill_between(
        band.points,
        band.lower - band.points,
        band.upper - band.points,
        color=GREY,
        alpha=0.25,
        lw=0,
        label="99 % band, if intervals are right",
    )
    axes.axhline(0, color=INK, lw=0.8)
    inside = [curve for curve in calibration.curves if curve.inside]
    outside = sorted(calibration.outside, key=lambda curve: -curve.excess)
    for number, curve in enumerate(inside):
        label = f"{len(inside)} quantities inside" if number == 0 else None
        axes.plot(band.points, curve.distribution - band.points, color=BLUE, lw=0.9, label=label)
    for number, curve in enumerate(outside):
        label = f"outside: {curve.name}" if number < 3 else None
        style = ("-", "--", ":")[min(number, 2)]
        axes.plot(
            band.points,
            curve.distribution - band.points,
            color=ORANGE,
            lw=1.4,
            ls=style,
            label=label,
        )
    axes.set(xlabel="rank of the truth among draws", ylabel="share of ranks below it − uniform")
    axes.set_title("Ranks")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.35 * (high - low))  # room for the legend
    axes.legend(loc="upper left", fontsize=8)


def _coverage(axes: Axes, calibration: "Calibration") -> None:
    """How often intervals hold the truth, against how often they should."""
    levels = np.array(list(calibration.coverage))
    found = np.array(list(calibration.coverage.values()))
    places = np.arange(levels.size)
    axes.hlines(levels, places - 0.3, places + 0.3, color=INK, lw=1.2, label="should be")
    axes.errorbar(
        places,
        found[:, 0],
        yerr=2 * found[:, 1],
        fmt="o",
        color=BLUE,
        capsize=4,
        label="found, ± 2 standard errors",
    )
    for place, (share, error) in zip(places, found, strict=True):
        axes.annotate(
            f"{share:.1%}", (place, share - 2 * error), (0, -14), textcoords="offset points",
            ha="center", fontsize=8,
        )  # fmt: skip
    axes.set_xticks(places, [f"{level:.0%}" for level in levels])
    axes.set(xlabel="interval", ylabel="share of true costs-to-go inside", ylim=(0.3, 1.03))
    axes.set_title("Coverage")
    axes.legend(loc="lower right", fontsize=8)


def _estimates(axes: Axes, calibration: "Calibration") -> None:
    """Estimates with intervals beside what is true."""
    shown = np.concatenate([one.shown for one in calibration.replicates])
    some = np.unique(np.linspace(0, len(shown) - 1, min(SHOWN, len(shown))).astype(int))
    true, mean, low, high = shown[some].T
    if calibration.curves:
        axes.vlines(true, low, high, color=BLUE, lw=0.6, alpha=0.5)
    axes.plot(true, mean, "o", color=BLUE, ms=2.5)
    reach = [min(true.min(), low.min()), max(true.max(), high.max())]
    axes.plot(reach, reach, color=INK, lw=0.8)
    axes.set(
        xlabel="true cost-to-go, level removed (nats)", ylabel="estimate, 95 % interval (nats)"
    )
    axes.set_title("Estimates")
