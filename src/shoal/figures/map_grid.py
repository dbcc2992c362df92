"""Maps to be compared: panels of one kind share their colours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Bool, Float
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from shoal.figures.maps import HATCH, circle_ticks, edges, extended, hatch, limits_of, turned_round
from shoal.figures.style import INK, STYLE
from shoal.states import Axis


@dataclass(frozen=True)
class Scale:
    """A kind of values: the words at its colour bar, and its colours."""

    label: str
    colours: str = "viridis"


@dataclass(frozen=True, eq=False)
class MapPanel:
    """A value for every state of two axes, of one of the scales."""

    title: str
    values: Float[np.ndarray, "first second"]
    scale: str


def map_grid(
    first: Axis,
    second: Axis,
    rows: Sequence[Sequence[MapPanel]],
    scales: Mapping[str, Scale],
    seen: Bool[np.ndarray, "first second"],
) -> Figure:
    """Rows of maps; those of one scale share colours, which span the states that were entered.

    Parameters
    ----------
    first, second
        The axes; the first goes upwards, the second to the right.
    rows
        Panels, as many in every row. The panels of a column or of the whole grid have one scale.
    scales
        By name.
    seen
        States that were entered; the others are hatched.
    """
    columns = len(rows[0])
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.3 * columns + 0.6, 4.0 * len(rows) + 0.4), layout="constrained")
        grid = figure.subplots(len(rows), columns, sharex=True, sharey=True, squeeze=False)
        for name, scale in scales.items():
            mine = [
                (grid[r, c], panel)
                for r, row in enumerate(rows)
                for c, panel in enumerate(row)
                if panel.scale == name
            ]
            everything = np.stack([panel.values for _, panel in mine])
            limits = limits_of(everything, np.broadcast_to(seen, everything.shape))
            for axes, panel in mine:
                mesh = axes.pcolormesh(
                    edges(second), edges(first), turned_round(first, second, panel.values),
                    cmap=scale.colours, rasterized=True, **limits,
                )  # fmt: skip
                axes.set_title(panel.title)
                hatch(axes, first, second, seen)
                circle_ticks(axes, first, second)
            figure.colorbar(
                mesh, ax=[axes for axes, _ in mine], label=scale.label, shrink=0.85,
                extend=extended(everything, limits),
            )  # fmt: skip
        _label(grid, first, second)
        if not seen.all():
            never = Patch(facecolor="none", edgecolor=INK, hatch=HATCH, label="never entered")
            figure.legend(handles=[never], loc="outside lower center")
    return figure


def _label(grid: Any, first: Axis, second: Axis) -> None:
    for axes in grid[-1]:
        axes.set_xlabel(second.label)
    for axes in grid[:, 0]:
        axes.set_ylabel(first.label)
