"""The figures by which a fit is judged, each beside its limit."""

import textwrap

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from shoal.figures.style import BLUE, GREY, INK, ORANGE, STYLE
from shoal.posterior.diagnostics import LIMITS, Diagnostics

NAMES = {
    "max_r_hat": "largest R-hat",
    "min_ess_bulk": "fewest effective draws, bulk",
    "min_ess_tail": "fewest effective draws, tails",
    "divergences": "draws that diverged",
    "min_e_bfmi": "smallest E-BFMI",
    "pareto_k": "Pareto k̂",
    "importance_ess": "effective draws after weighting",
    "share_passively_rare": "share of transitions that are passively rare",
    "quadrature_shift": "shift with half the candidates (posterior sds)",
    "turn_correlation": "correlation of successive turns",
}


def diagnostics_figure(diagnostics: Diagnostics) -> Figure:
    """A row for each figure that has a limit: its value, and the side where it should not be."""
    judged = [name for name in LIMITS if name in diagnostics.numbers]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.6, 0.85 * max(len(judged), 1) + 0.8), layout="constrained")
        grid = figure.subplots(max(len(judged), 1), 1, squeeze=False)[:, 0]
        for axes, name in zip(grid, judged, strict=False):
            _row(axes, name, diagnostics.numbers[name])
        if not judged:
            grid[0].set(yticks=[], xlabel="this method has no figures with a limit")
        handles = [
            Line2D([], [], color=BLUE, marker="o", ls="", label="fine"),
            Line2D([], [], color=ORANGE, marker="X", ms=8, ls="", label="beyond its limit"),
            Patch(facecolor=GREY, alpha=0.3, label="not to be trusted"),
        ]
        figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _row(axes: Axes, name: str, value: float) -> None:
    side, limit = LIMITS[name]
    fine = value <= limit if side == "at most" else value >= limit
    base = 1.0 if name == "max_r_hat" else min(0.0, value, limit)
    whole = name == "divergences"
    reach = 1.25 * max(value - base, limit - base, 4.0 if whole else 1e-9)
    room = 0.25 if side == "at least" and limit < 0 else 0.05
    low, high = base - room * reach, base + reach
    axes.axvspan(
        *((limit, high) if side == "at most" else (low, limit)), color=GREY, alpha=0.3, lw=0
    )
    axes.axvline(limit, color=INK, lw=1)
    axes.plot(value, 0, "o" if fine else "X", color=BLUE if fine else ORANGE, ms=7 if fine else 9)
    axes.set(xlim=(low, high), ylim=(-1, 1), yticks=[])
    axes.set_ylabel("\n".join(textwrap.wrap(NAMES[name], 22)), rotation=0, ha="right", va="center")
    axes.spines["left"].set_visible(False)
    axes.tick_params(labelsize=8)
    axes.locator_params(axis="x", nbins=6, integer=whole)
    words = f"{value:.4g} ({side} {limit:g})".replace("-", "−")
    axes.set_xlabel(words, fontsize=8)
