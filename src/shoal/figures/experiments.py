"""All experiments at a glance: where every animal went, the groups of one sex together."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from shoal.errors import InputError
from shoal.figures.style import GREEN, INK, ORANGE, STYLE
from shoal.figures.video.layout import extent
from shoal.figures.video.moving import draw_surroundings, shown_places, unbroken_steps
from shoal.states import Scene
from shoal.states.targets import checked_target, target_places
from shoal.tracks import Collection, Tracks
from shoal.tracks.readers.guppies import SEXES

COLUMNS = 6
WIDTH, HEIGHT = 6.6, 8.4
"""Of all panels on a page, in inches; a single one is no wider than ``WIDEST``."""
WIDEST = 4.2
NARROWEST = 4.8
"""A figure that has room for its legend."""
INSET = 0.035
"""Where walls begin within a panel: labels stand above them."""
SHADES = 12
"""Into how many shades a path is cut, from light when it begins to dark when it ends."""
MOST_STEPS = 2_000
"""Steps drawn of one animal: enough for the eye."""
PREFIXES = {"female": "fm", "male": "ml"}
HEADINGS = {"female": "females", "male": "males"}


@dataclass(frozen=True)
class Section:
    """Groups that begin on a new row; the heading is empty where nothing sets them apart."""

    heading: str
    groups: tuple[Tracks, ...]

    @property
    def rows(self) -> int:
        """How many rows of panels they take."""
        return -(-len(self.groups) // COLUMNS)


def experiments(
    tracks: Tracks | Collection | Sequence[Tracks], target: Any, *, rows: str | None = None
) -> Figure:
    """A panel for each group, fig. guppytrajs: paths that darken with time, T at the target.

    A panel is labelled with its experiment and the number of frames. Groups of females come first
    and those of males begin on a new row.

    Parameters
    ----------
    tracks
        The groups, or a single one.
    target
        A point (x, y); the name of an animal or landmark, marked where it was last seen; or a
        dictionary with a point for each group.
    rows
        The covariate whose values begin on new rows; by default ``sex``, where it is known.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> steps = np.cumsum(np.ones((5, 3, 2)), axis=0)
    >>> pond = shoal.Tracks.from_arrays(steps, group="pond", length_unit="cm")
    >>> experiments(pond, target=(5, 6)).axes[0].get_title(loc="left")
    'pond – 5'
    """
    sections = _sections(tuple(tracks), rows)
    groups = [part for section in sections for part in section.groups]
    marks = [_mark(part, target) for part in groups]
    box = extent(groups, marks)
    with mpl.rc_context(STYLE):
        figure, panels = _panels(sections, box)
        for axes, part, mark in zip(panels, groups, marks, strict=True):
            _draw(axes, part, mark)
        panels[0].set(xlim=box[:, 0], ylim=box[:, 1])
        unit = groups[0].length_unit
        plain = {"fontsize": STYLE["axes.labelsize"], "parse_math": False}
        figure.supxlabel(f"x ({unit})" if unit else "x", **plain)
        figure.supylabel(f"y ({unit})" if unit else "y", **plain)
        _explain(figure, landmarks=any(part.members != part.individuals for part in groups))
    return figure


def _sections(groups: tuple[Tracks, ...], rows: str | None) -> list[Section]:
    """The groups by a covariate: females, males, then in the order they come, unknown ones last."""
    if not groups:
        raise InputError("there is nothing to draw: got no groups")
    name = "sex" if rows is None else rows
    values = [_value(part, name) for part in groups]
    if not any(values):
        if rows is not None:
            raise InputError(f"no group has the covariate {rows!r}, which was to set rows apart")
        return [Section("", groups)]
    found = [*(value for value in PREFIXES if value in values), *filter(None, values)]
    return [
        Section(
            HEADINGS.get(value, value) or f"{name} not known",
            tuple(part for part, own in zip(groups, values, strict=True) if own == value),
        )
        for value in dict.fromkeys([*found, *values])
    ]


def _value(tracks: Tracks, name: str) -> str:
    """What a covariate says of a group, in words; of its members, every value that occurs."""
    given = tracks.covariates.get(name, "")
    each = [given[member] for member in tracks.members] if isinstance(given, dict) else [given]
    words = [str(value).strip() for value in each]
    if name == "sex":
        words = [SEXES.get(word.lower(), word) for word in words]
    return " and ".join(sorted(set(filter(None, words))))


def _mark(tracks: Tracks, target: Any) -> tuple[float, float] | None:
    """Where the target is marked; a moving one where it was last seen, if ever."""
    places = target_places(checked_target(target), Scene.of(tracks))[:, 0]
    seen = places[np.isfinite(places).all(axis=1)]
    return (float(seen[-1, 0]), float(seen[-1, 1])) if len(seen) else None


def _panels(sections: list[Section], box: Float[np.ndarray, "2 2"]) -> tuple[Figure, list[Axes]]:
    """An empty panel for each group, labelled, on a sheet that fits them."""
    columns = min(COLUMNS, max(len(section.groups) for section in sections))
    rows = sum(section.rows for section in sections)
    width, height = box[1] - box[0]
    side = min(WIDEST, WIDTH / columns, max(WIDTH / COLUMNS, HEIGHT / rows * float(width / height)))
    headings = sum(bool(section.heading) for section in sections)
    tall = rows * (side * float(height / width) + 0.12) + 0.25 * headings + 0.9
    figure = Figure(figsize=(max(side * columns + 0.6, NARROWEST), tall), layout="compressed")
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    panels: list[Axes] = []
    first = 0
    for section in sections:
        cells = list(grid[first : first + section.rows].flat)
        first += section.rows
        _head(cells[0], section.heading)
        for axes, part in zip(cells, section.groups, strict=False):
            _label(axes, part, characters=int(side * 14))
            panels.append(axes)
        for axes in cells[len(section.groups) :]:
            axes.set_visible(False)
    for column in grid.T:  # numbers belong below the lowest panel, wherever it is
        *higher, lowest = [axes for axes in column if axes.get_visible()]
        lowest.tick_params(labelbottom=True)
        for axes in higher:
            axes.tick_params(bottom=False)
    for axes in grid[:, 1:].flat:
        axes.tick_params(left=False)
    return figure, panels


def _head(axes: Axes, heading: str) -> None:
    """Over the first panel of a section, above its label."""
    if heading:
        axes.annotate(
            heading, (INSET, 1), (0, 16), xycoords="axes fraction", textcoords="offset points",
            weight="bold", size=9.5, color=INK,
        )  # fmt: skip


def _label(axes: Axes, tracks: Tracks, characters: int) -> None:
    """Experiment – sample size; a bare number is told apart by its sex, as in the paper."""
    name, frames = tracks.group, len(tracks.positions)
    if name.isdecimal():
        name = PREFIXES.get(_value(tracks, "sex"), "") + name
    most = max(8, characters - len(f" – {frames}"))
    name = name if len(name) <= most else f"…{name[1 - most :]}"
    words = f"{name} – {frames}" if name else f"{frames} frames"
    axes.set_title(words, loc="left", x=INSET, size=8, pad=3, parse_math=False)
    axes.set_aspect("equal", adjustable="box")
    axes.locator_params(nbins=2 if characters < 30 else 5)
    axes.tick_params(labelsize=7, length=2)


def _draw(axes: Axes, tracks: Tracks, mark: tuple[float, float] | None) -> None:
    draw_surroundings(axes, tracks.arena, None)
    if tracks.arena is not None:  # walls are frame enough
        axes.spines[["left", "bottom"]].set_visible(False)
    places = shown_places(tracks)
    member = np.isin(tracks.individuals, tracks.members)
    steps = unbroken_steps(places[:: max(1, len(places) // MOST_STEPS)], tracks.arena)
    _draw_paths(axes, steps[:, ~member], [GREEN])
    _draw_paths(axes, steps[:, member], _shades())
    for path in places[:, member].swapaxes(0, 1):
        seen = np.flatnonzero(np.isfinite(path).all(axis=1))
        axes.plot(*path[seen[:1]].T, "o", color=ORANGE, ms=2.4, mec="white", mew=0.3, zorder=3)
    if mark is not None:
        axes.text(
            *mark, "T", ha="center", va="center", weight="bold", color=INK, size=9, zorder=4,
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )  # fmt: skip


def _draw_paths(
    axes: Axes, steps: Float[np.ndarray, "steps individuals 2 2"], colours: Sequence[Any]
) -> None:
    """Each path as a line for each colour, all of an age together: the latest lie on top."""
    cuts = np.linspace(0, len(steps), len(colours) + 1).round().astype(int)
    lines, shades = [], []
    for colour, (start, end) in zip(colours, pairwise(cuts), strict=True):
        for path in steps[start:end].swapaxes(0, 1):
            apart = np.full((len(path), 1, 2), np.nan)  # a step that is broken joins nothing
            lines.append(np.concatenate([path, apart], axis=1).reshape(-1, 2))
            shades.append(colour)
    axes.add_collection(LineCollection(lines, colors=shades, lw=0.7, capstyle="round", zorder=2))


def _shades() -> list[Any]:
    """Blues, the first still seen on white."""
    return list(mpl.colormaps["Blues"](np.linspace(0.3, 1.0, SHADES)))


def _explain(figure: Figure, landmarks: bool) -> None:
    shades = tuple(Line2D([], [], color=shade, lw=2, solid_capstyle="butt") for shade in _shades())
    handles: list[Any] = [
        Line2D([], [], color=ORANGE, marker="o", ms=3.5, linestyle="none"),
        shades,
        Line2D([], [], color=INK, marker="$\\mathbf{T}$", ms=6, linestyle="none"),
    ]
    labels = ["where a path begins", "path, darker with time", "target"]
    if landmarks:
        handles.append(Line2D([], [], color=GREEN, lw=1))
        labels.append("landmarks")
    figure.legend(
        handles, labels, loc="outside upper center", ncols=3 if figure.get_figwidth() < 6 else 4,
        handlelength=2.4, columnspacing=1.6,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
    )  # fmt: skip
