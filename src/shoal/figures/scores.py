"""Models side by side: held-out scores and how far each is from the best."""

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from shoal.figures.style import BLUE, GREY, INK, ORANGE, STYLE

if TYPE_CHECKING:
    from shoal.selection import Comparison


def score_figure(comparison: "Comparison") -> Figure:
    """Bits per held-out decision or transition of each model, and differences to the best."""
    entries = comparison.entries
    rows = list(range(len(entries)))[::-1]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11.0, 0.38 * len(entries) + 1.6), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(3, 2))
        gaps = [entry.score.minus(comparison.best.score) for entry in entries]
        reach = _reach(gaps)
        if comparison.unit == "decision":  # what preferences gain is what readers look for
            reach = max(reach, 1.2 * (gaps[0][1] - gaps[0][0]) if np.isfinite(gaps[0][1]) else 0.0)
        for row, entry, (gap, error) in zip(rows, entries, gaps, strict=True):
            colour = BLUE if entry.costs else ORANGE
            look: Any = {"fmt": "o", "color": colour, "capsize": 3}
            look["mfc"] = colour if entry.costs else "white"
            left.errorbar(entry.score.bits, row, xerr=entry.score.standard_error, **look)
            if gap >= -reach:
                right.errorbar(gap, row, xerr=error, **look)
            else:
                words = f"◂ {gap:.3f} ± {error:.3f}".replace("-", "−")
                right.text(-reach, row, words, va="center", ha="left", color=colour, fontsize=9)
        names = [
            entry.name + (f"\n({', '.join(entry.doubts)}: not safe)" if entry.doubts else "")
            for entry in entries
        ]
        left.set_yticks(rows, names)
        left.set_xlabel(f"bits per held-out {comparison.unit} (higher is better)")
        right.set_xlabel("difference to the best (bits)")
        right.set_xlim(-1.05 * reach, 0.35 * reach)
        right.axvline(0, color=INK, lw=0.8)
        for axes in (left, right):
            axes.grid(axis="x", color=GREY, alpha=0.3)
            axes.locator_params(axis="x", nbins=5)
        _legend(left, figure)
    return figure


def _reach(gaps: list[tuple[float, float]]) -> float:
    """How far behind the best a model may be to be shown on the scale of differences."""
    behind = sorted(-gap for gap, _ in gaps if np.isfinite(gap))
    second = behind[1] if len(behind) > 1 else 0.0
    errors = [error for _, error in gaps if np.isfinite(error) and error > 0]
    return max(1.5 * second, 4 * min(errors, default=0.0), 0.02)


def _legend(axes: Axes, figure: Figure) -> None:
    look: Any = {"marker": "o", "ls": "", "ms": 6}
    axes.plot([], [], color=BLUE, label="with costs", **look)
    axes.plot([], [], color=ORANGE, mfc="white", label="without costs", **look)
    figure.legend(loc="outside upper right", ncols=2, fontsize=9)
