"""The preference around an animal, in its own frame: ahead is up, its left is left."""

from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Wedge

from shoal.figures.style import GREY, INK, STYLE
from shoal.posterior.around import Around
from shoal.states import Axis, Folded

FADED = 0.35
"""Opacity of cells whose 95 % interval holds 0."""
HATCH = "////"


def around_figure(found: Around) -> Figure:
    """Two dials beside each other: the preference, and its posterior sd.

    Parameters
    ----------
    found
        What ``shoal.posterior.around.around`` returns.
    """
    panels: list[tuple[str, Any, Any, Any]] = [
        ("preference", found.mean, "PuOr_r", _both_ways(found.mean))
    ]
    if found.sd is not None:
        top = float(np.nanmax(found.sd)) or 1.0
        panels.append(("posterior sd", found.sd, "cividis", Normalize(0.0, top)))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6 * len(panels), 5.6), layout="constrained")
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (name, values, colours, norm) in zip(grid, panels, strict=True):
            sure = np.ones(found.mean.shape, dtype=bool)
            if name == "preference" and found.lower is not None and found.upper is not None:
                sure = (found.lower > 0) | (found.upper < 0)
            cells = _cells(axes, found, values, sure, mpl.colormaps[colours], norm)
            more = "both" if name == "preference" else "neither"
            unit = "more than average (nats)" if name == "preference" else "nats"
            figure.colorbar(cells, ax=axes, label=f"{name}, {unit}", shrink=0.8, extend=more)
            _furniture(axes, found)
            axes.set_title(name)
        figure.suptitle(f"What they prefer: {found.about}")
        handles = [Patch(facecolor=GREY, alpha=0.25, hatch=HATCH, label="never decided for")]
        if found.sd is not None:
            pale = "pale: the 95 % interval holds 0"
            handles.append(Patch(facecolor="#e8d8c0", alpha=FADED, label=pale))
        if found.left_out > 0:
            words = f"{found.left_out:.1%} of decisions are farther away"
            handles.append(Patch(facecolor="none", label=words))
        if found.apart:
            handles.append(Patch(facecolor="none", label="rings are not compared with each other"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    return figure


def ring_edges(axis: Axis | None) -> Float[np.ndarray, " edges"]:
    """Distances between rings; directions alone have one ring."""
    if axis is None:
        return np.array([0.55, 1.0])
    low = axis.centres[0] - axis.widths[0] / 2
    return np.asarray(np.concatenate([[low], low + np.cumsum(axis.widths)]))


def ring_radii(axis: Axis | None) -> Float[np.ndarray, " edges"]:
    """How far from the middle they are drawn: rings are equally wide where bins are not."""
    if axis is None or np.ptp(axis.widths) < 1e-6 * axis.widths.max():
        return ring_edges(axis)
    return np.arange(axis.size + 1.0)


def shown_edges(found: Around) -> Float[np.ndarray, " edges"]:
    """Radii of the rings that a map has."""
    return ring_radii(found.distance)[: len(found.mean) + 1]


def sectors(axis: Axis) -> list[tuple[int, float, float]]:
    """Bin, first and last angle of every sector; of a folded axis on either side."""
    half = axis.widths / 2
    found = [(n, float(c - h), float(c + h)) for n, (c, h) in enumerate(_of(axis.centres, half))]
    if isinstance(axis, Folded):
        found = [(n, max(low, 0.0), min(high, 180.0)) for n, low, high in found]
        found += [(n, -high, -low) for n, low, high in found]
    return found


def on_page(angle: float) -> float:
    """A turn from the own heading as an angle of the picture: ahead is up, left is left."""
    return 90.0 + angle


def _of(centres: Any, half: Any) -> Any:
    return zip(centres, half, strict=True)


def _both_ways(values: Float[np.ndarray, "rings angles"]) -> TwoSlopeNorm:
    known = np.abs(values[np.isfinite(values)])
    most = float(np.quantile(known, 0.9)) if known.size else 1.0  # a few cells may be off the scale
    most = most or 1.0
    return TwoSlopeNorm(0.0, -most, most)


def _cells(
    axes: Axes,
    found: Around,
    values: Float[np.ndarray, "rings angles"],
    sure: Any,
    colours: Any,
    norm: Any,
) -> Any:
    edges = shown_edges(found)
    wedges, faces = [], []
    for ring in range(len(edges) - 1):
        for which, low, high in sectors(found.angle):
            wedge = Wedge(
                (0, 0), edges[ring + 1], on_page(low), on_page(high),
                width=edges[ring + 1] - edges[ring],
            )  # fmt: skip
            if not found.arrivals[ring, which]:
                wedge.set(facecolor=GREY, alpha=0.25, hatch=HATCH, edgecolor=INK, linewidth=0)
                axes.add_patch(wedge)
                continue
            red, green, blue, _ = colours(norm(values[ring, which]))
            faces.append((red, green, blue, 1.0 if sure[ring, which] else FADED))
            wedges.append(wedge)
    cells = PatchCollection(wedges, facecolors=faces, edgecolors="none")
    axes.add_collection(cells)
    return mpl.cm.ScalarMappable(norm, colours)


def _furniture(axes: Axes, found: Around) -> None:
    """The animal, rings with their distances, and the four sides."""
    edges = shown_edges(found)
    last = float(edges[-1])
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_xlim(-1.18 * last, 1.18 * last)
    axes.set_ylim(-1.18 * last, 1.18 * last)
    words = ("ahead", "left", "behind", "right")
    if not found.thing:  # a direction that others head in
        words = ("as they head", "they head left", "opposed", "they head right")
    for angle, word in zip((0, 90, 180, -90), words, strict=True):
        turned = np.deg2rad(on_page(angle))
        axes.text(1.1 * last * np.cos(turned), 1.1 * last * np.sin(turned), word,
                  ha="center", va="center", rotation=angle if abs(angle) == 90 else 0)  # fmt: skip
    size = 0.07 * last
    arrow = np.array([[0, 1.5], [0.75, -1], [0, -0.5], [-0.75, -1]]) * size
    axes.fill(*arrow.T, facecolor=INK, edgecolor="white", linewidth=1, zorder=5)
    if found.distance is None:
        return
    unit = f" {found.distance.unit}" if found.distance.unit else ""
    distances = dict(zip(edges, ring_edges(found.distance), strict=False))
    for radius in _rings(edges):
        axes.add_patch(
            mpl.patches.Circle((0, 0), radius, fill=False, color=INK, alpha=0.4, linewidth=0.6)
        )
        whole = len(found.mean) == found.distance.size
        beyond = getattr(found.distance, "beyond", False) and whole and radius == last
        side = np.deg2rad(on_page(-45))
        axes.text(radius * np.cos(side), radius * np.sin(side),
                  f"{distances[radius]:.4g}{unit}{' and more' if beyond else ''}", fontsize=8,
                  ha="center", va="center",
                  bbox={"facecolor": "white", "alpha": 0.8, "pad": 1, "lw": 0})  # fmt: skip


def _rings(edges: Float[np.ndarray, " edges"]) -> list[float]:
    """A few of the radii between rings, apart enough for their labels, the last one always."""
    kept = [float(edges[-1])]
    for radius in edges[-2:0:-1]:
        if kept[-1] - radius >= 0.15 * edges[-1] and radius > 0.15 * edges[-1]:
            kept.append(float(radius))
    return kept
