"""Costs over two axes: the mean, its uncertainty, and how often each state was entered."""

from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Bool, Float, Int
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from shoal.figures.style import INK, STYLE
from shoal.states import Axis, Circular, Folded

HATCH = "////"
TICKS = (-180, -90, 0, 90, 180)


@dataclass(frozen=True)
class CostMap:
    """Mean and sd for every state of two axes; ``sd`` is None where there is one answer only."""

    mean: Float[np.ndarray, "first second"]
    sd: Float[np.ndarray, "first second"] | None
    arrivals: Int[np.ndarray, "first second"]


def cost_map(first: Axis, second: Axis, costs: CostMap, label: str, title: str = "") -> Figure:
    """Panels side by side: mean, posterior sd, arrivals; states never entered are hatched.

    Parameters
    ----------
    first, second
        The axes; the first goes upwards, the second to the right.
    costs
        What to show.
    label
        Of the colours, with the unit.
    title
        Over all panels.
    """
    panels: list[tuple[str, Any, str, Any]] = [
        ("most probable" if costs.sd is None else "posterior mean", costs.mean, "viridis", None)
    ]
    seen = costs.arrivals > 0
    if costs.sd is not None:
        panels.append(("posterior sd", costs.sd, "magma", None))
    counts = np.where(seen, costs.arrivals, np.nan).astype(float)
    top = max(2.0, float(np.nanmax(counts, initial=1.0)))
    panels.append(("arrivals", counts, "cividis", LogNorm(1, top)))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(4.5 * len(panels) + 0.4, 4.4), layout="constrained")
        grid = figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axes, (name, values, colours, norm) in zip(grid, panels, strict=True):
            limits = {} if norm is not None else limits_of(values, seen)
            mesh = axes.pcolormesh(
                edges(second), edges(first), turned_round(first, second, values), cmap=colours,
                norm=norm, rasterized=True, **limits,
            )  # fmt: skip
            words = "transitions into a state" if norm is not None else label
            shown = "neither" if norm is not None else extended(values, limits)
            figure.colorbar(mesh, ax=axes, label=words, extend=shown, shrink=0.9)
            axes.set_title(name)
            axes.set_xlabel(second.label)
            if name != "arrivals":
                hatch(axes, first, second, seen)
            circle_ticks(axes, first, second)
        grid[0].set_ylabel(first.label)
        if not seen.all():
            figure.legend(
                handles=[
                    Patch(facecolor="none", edgecolor=INK, hatch=HATCH, label="never entered")
                ],
                loc="outside lower center",
            )
        if title:
            figure.suptitle(title)
    return figure


def limits_of(
    values: Float[np.ndarray, "*n a b"], seen: Bool[np.ndarray, "*n a b"]
) -> dict[str, float]:
    """Colours span the states that were entered."""
    inside = values[seen & np.isfinite(values)]
    if not inside.size:
        return {}
    low, high = float(inside.min()), float(inside.max())
    return {"vmin": low, "vmax": high if high > low else low + 1.0}


def extended(values: Float[np.ndarray, "*n a b"], limits: dict[str, float]) -> str:
    """At which ends of the colours there is more."""
    if not limits:
        return "neither"
    above = bool(np.nanmax(values) > limits["vmax"])
    below = bool(np.nanmin(values) < limits["vmin"])
    return {(False, False): "neither", (True, False): "max", (False, True): "min"}.get(
        (above, below), "both"
    )


def edges(axis: Axis) -> Float[np.ndarray, " edges"]:
    """Where bins begin and end; a circle is shown from −180° to 180°, its seam bin cut in two."""
    if isinstance(axis, Circular):
        inner = axis.centres + axis.step / 2
        return np.concatenate([[-180.0], inner, [180.0]])
    low = 0.0 if isinstance(axis, Folded) else axis.centres[0] - axis.widths[0] / 2
    return np.concatenate([[low], low + np.cumsum(axis.widths)])


def turned_round(
    first: Axis, second: Axis, values: Float[np.ndarray, "a b"]
) -> Float[np.ndarray, "c d"]:
    """The bin at ±180° shown at both ends."""
    for number, axis in enumerate((first, second)):
        if isinstance(axis, Circular):
            values = np.concatenate([values, np.take(values, [0], axis=number)], axis=number)
    return values


def hatch(axes: Axes, first: Axis, second: Axis, seen: Bool[np.ndarray, "a b"]) -> None:
    """Fine lines over every state that was never entered."""
    low, left = edges(first), edges(second)
    empty = np.argwhere(turned_round(first, second, seen.astype(float)) == 0)
    corners = [
        [(left[j], low[i]), (left[j + 1], low[i]), (left[j + 1], low[i + 1]), (left[j], low[i + 1])]
        for i, j in empty
    ]
    cells = PolyCollection(corners, facecolors="none", edgecolors=INK, linewidths=0, hatch=HATCH)
    cells.set_alpha(0.6)
    axes.add_collection(cells, autolim=False)


def circle_ticks(axes: Axes, first: Axis, second: Axis) -> None:
    """Quarter turns, with ±180° as one place."""
    labels = [f"{tick}".replace("-", "−") if abs(tick) < 180 else "±180" for tick in TICKS]
    if isinstance(second, Circular):
        axes.set_xticks(TICKS, labels)
    if isinstance(first, Circular):
        axes.set_yticks(TICKS, labels)
