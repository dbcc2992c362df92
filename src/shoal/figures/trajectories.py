"""Where the animals went: a panel for each group."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from shoal.figures.style import BLUE, GREEN, GREY, INK, ORANGE, STYLE
from shoal.results import counted
from shoal.tracks import Circle, Periodic, Rectangle, Tracks

MOST_PANELS = 30
MOST_POINTS = 4_000
"""Points drawn of one animal: enough for the eye."""


def trajectories(tracks: Sequence[Tracks], target: Any = None) -> Figure:
    """Members in blue, landmarks in orange, starts as dots, the target as a cross.

    Parameters
    ----------
    tracks
        Groups; of more than 30 the first 30 are drawn, and the title says so.
    target
        A point, or a dictionary with one for each group.
    """
    shown = list(tracks)[:MOST_PANELS]
    columns = min(len(shown), 6 if len(shown) > 8 else 4)
    rows = -(-len(shown) // columns)
    size = 5.0 if len(shown) == 1 else 2.5
    height = size * _tallness(shown)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(size * columns + 0.4, (height + 0.2) * rows + 0.9))
        figure.set_layout_engine("constrained")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        for axes in grid[len(shown) :]:
            axes.set_visible(False)
        for axes, part in zip(grid, shown, strict=False):
            _draw(axes, part, target)
            count = len(part.members)
            title = f"{_short(part.group)} ({count})" if part.group else counted(count, "animal")
            axes.set_title(title, fontsize=8, parse_math=False)
        unit = shown[0].length_unit
        figure.supxlabel(f"x ({unit})" if unit else "x", parse_math=False)
        figure.supylabel(f"y ({unit})" if unit else "y", parse_math=False)
        handles = [
            Line2D([], [], color=BLUE, label="animals"),
            Line2D([], [], color=INK, marker="o", ms=3, linestyle="none", label="where they begin"),
        ]
        if any(len(part.members) < len(part.individuals) for part in shown):
            handles.append(Line2D([], [], color=ORANGE, label="landmarks"))
        if target is not None and not isinstance(target, str):
            place = Line2D([], [], color=GREEN, marker="P", ms=8, linestyle="none", label="target")
            handles.append(place)
        figure.legend(handles=handles, loc="outside upper center", ncols=4)
        if len(shown) < len(tracks):
            figure.suptitle(f"the first {len(shown)} of {len(tracks)} groups", fontsize=9)
    return figure


def _draw(axes: Any, tracks: Tracks, target: Any) -> None:
    every = max(1, len(tracks.positions) // MOST_POINTS)
    arena = tracks.arena
    for index, name in enumerate(tracks.individuals):
        path = _shown(tracks.positions[::every, index], tracks.arena)
        member = name in tracks.members
        axes.plot(*path.T, color=BLUE if member else ORANGE, lw=0.7, alpha=0.7 if member else 0.9)
        seen = np.flatnonzero(np.isfinite(tracks.positions[:, index, 0]))
        if member and seen.size:
            axes.plot(*_shown(tracks.positions[seen[:1], index], arena)[0], "o", color=INK, ms=2)
    if isinstance(arena, Rectangle | Periodic):
        x = [arena.left, arena.right, arena.right, arena.left, arena.left]
        y = [arena.bottom, arena.bottom, arena.top, arena.top, arena.bottom]
        axes.plot(x, y, color=GREY, lw=1)
    elif isinstance(arena, Circle):
        angle = np.linspace(0, 2 * np.pi, 181)
        axes.plot(
            arena.x + arena.radius * np.cos(angle),
            arena.y + arena.radius * np.sin(angle),
            color=GREY,
            lw=1,
        )
    point = target.get(tracks.group) if isinstance(target, dict) else target
    if point is not None and not isinstance(point, str):
        axes.plot(*point, "P", color=GREEN, ms=8, mec="white", mew=0.5)
    axes.set_aspect("equal", adjustable="box")


def _shown(path: Float[np.ndarray, "time 2"], arena: Any) -> Float[np.ndarray, "_ 2"]:
    """A path; in a periodic box within it, and broken where it leaves on one side."""
    if not isinstance(arena, Periodic):
        return path
    inside = arena.wrapped(path)
    jumps = np.any(np.abs(np.diff(inside, axis=0)) > np.asarray(arena.sides) / 2, axis=1)
    return np.insert(inside, np.flatnonzero(jumps) + 1, np.nan, axis=0)


def _tallness(tracks: Sequence[Tracks]) -> float:
    """Height over width of all places, within reason."""
    places = np.concatenate([part.positions.reshape(-1, 2) for part in tracks])
    if not np.isfinite(places).any():
        return 1.0
    width, height = np.nanmax(places, axis=0) - np.nanmin(places, axis=0)
    return float(np.clip(height / width, 0.4, 2.0)) if width > 0 else 1.0


def _short(label: str) -> str:
    return label if len(label) <= 26 else f"…{label[-25:]}"
