"""What the two misalignments of an animal are, drawn from a frame of real tracks."""

from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.patheffects import withStroke

from shoal.errors import InputError
from shoal.figures.moments import FREE as LONG
from shoal.figures.moments import Moment, moment_at, one_group, target_steps, telling_moment
from shoal.figures.style import BLUE, GREEN, INK, ORANGE, STYLE
from shoal.figures.video.moving import draw_surroundings
from shoal.states import Scene
from shoal.tracks import Collection, Periodic, Tracks

Point = Float[np.ndarray, " 2"]
Points = Float[np.ndarray, "_ 2"]

SHORT, HEAD = 0.075, 0.014
"""Of the arrows of the other animals, and heads; shares of the picture."""
WIDTH = 4.8
"""Of the figure, in inches, of which ``BESIDE`` are left of the axes and ``BELOW`` under them."""
BESIDE, BELOW = 0.7, 1.1
LABEL = (25.0, 8.0)
"""Half the width and height of an angle's label, in points."""
CORNERS = np.array([[x, y] for x in (-1, 0, 1) for y in (-1, 0, 1)])
MIDDLE = [30, 26, 34, 22, 38, 18, 42]
"""Of the points of an arc, from the middle outwards."""
DASHED, DOTTED = (0, (5, 2.5)), (0, (1, 1.2))


def misalignment_example(
    tracks: Tracks | Collection, target: Any, moment: Moment | None = None
) -> Figure:
    """The two angles of one animal, fig. stateexample.

    Arrows are headings; the chosen animal is a star with a larger one. Angle 1 goes to the dashed
    arrow, towards the target; angle 2 to the dotted one, the mean of all headings and its own.

    Parameters
    ----------
    tracks
        One group.
    target
        A point (x, y); the name of an animal or landmark; or a dictionary with a point for each
        group.
    moment
        Which frame and animal; by default the one that shows the angles best.
    """
    group = one_group(tracks)
    chosen = telling_moment(tracks, target) if moment is None else moment
    counted = moment_at(tracks, target, chosen.frame, chosen.individual)
    if not np.allclose((chosen.local, chosen.target), (counted.local, counted.target)):
        raise InputError(
            f"the angles of {chosen} are not those of the tracks, local {counted.local:.6g} and "
            f"target {counted.target:.6g}: take it from moment_at"
        )
    around = _surroundings(Scene.of(group), target, counted)
    with mpl.rc_context(STYLE):
        figure = Figure(
            figsize=(WIDTH, (WIDTH - BESIDE) * around.tallness + BELOW), layout="constrained"
        )
        axes = figure.subplots()
        draw_surroundings(axes, group.arena, None)
        _draw_others(axes, around)
        _draw_target(axes, around)
        _draw_angles(axes, around, counted)
        (left, bottom), (right, top) = around.corners
        axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
        unit = group.length_unit
        axes.set(xlabel=f"x ({unit})" if unit else "x", ylabel=f"y ({unit})" if unit else "y")
        axes.locator_params(nbins=5)
        _explain(figure)
    return figure


@dataclass(frozen=True)
class Surroundings:
    """What is drawn around the chosen animal; places by the shortest way from it."""

    place: Point
    heading: float
    others: Float[np.ndarray, "points 2"]
    headings: Float[np.ndarray, " points"]
    target: Point
    span: float
    corners: Float[np.ndarray, "2 2"]

    @property
    def tallness(self) -> float:
        """Height over width of the picture."""
        width, height = self.corners[1] - self.corners[0]
        return float(height / width)

    @property
    def label(self) -> Point:
        """Half the width and height of a label, in the unit of the tracks."""
        width = float(self.corners[1, 0] - self.corners[0, 0])
        return np.asarray(LABEL) * width / (72 * (WIDTH - BESIDE))


def _surroundings(scene: Scene, target: Any, moment: Moment) -> Surroundings:
    column = scene.members.index(moment.individual)
    places, headings = scene.positions[moment.frame], scene.headings[moment.frame]
    arena = scene.arena
    place = arena.wrapped(places[column]) if isinstance(arena, Periodic) else places[column]
    goal = place + scene.shortest(target_steps(scene, target)[moment.frame, 0] - places[column])
    shown = np.isfinite(places).all(axis=1) & np.isfinite(headings)
    shown[column] = False
    others = place + scene.shortest(places[shown] - places[column])
    points = np.concatenate([others, place[None], goal[None]])
    span = float(np.ptp(points, axis=0).max())
    own = float(headings[column])
    tips = [_ahead(place, own + turn, LONG * span) for turn in (0.0, moment.local, moment.target)]
    tips += [_ahead(p, h, SHORT * span) for p, h in zip(others, headings[shown], strict=True)]
    corners = _framed(np.concatenate([points, tips]))
    return Surroundings(place, own, others, headings[shown], goal, span, corners)


def _framed(points: Points) -> Float[np.ndarray, "2 2"]:
    """Corners around points, with some room and not too slim."""
    low, high = points.min(axis=0), points.max(axis=0)
    longest = float((high - low).max())
    half = np.maximum(high - low, longest / 1.2) / 2 + 0.09 * longest
    return np.stack([(low + high) / 2 - half, (low + high) / 2 + half])


def _ahead(start: Point, heading: float, length: float) -> Point:
    angle = np.deg2rad(heading)
    return start + length * np.array([np.cos(angle), np.sin(angle)])


def _draw_others(axes: Axes, around: Surroundings) -> None:
    for place, heading in zip(around.others, around.headings, strict=True):
        tip = _ahead(place, float(heading), SHORT * around.span)
        _arrow(axes, around, np.stack([place, tip]), BLUE, "-", 1.3)
    axes.plot(*around.others.T, "o", color=BLUE, ms=3, zorder=3)


def _draw_target(axes: Axes, around: Surroundings) -> None:
    step = around.target - around.place
    short = max(0.5, 1 - 2 * HEAD * around.span / float(np.hypot(*step)))  # of the mark
    line = around.place + np.outer([0.0, short], step)
    _arrow(axes, around, line, GREEN, DASHED, 1.6)
    axes.plot(*around.target, "P", color=GREEN, ms=9, mec="white", mew=0.6, zorder=5)
    beyond = np.array([0.0, np.copysign(1.9 * around.label[1], step[1])])
    _write(axes, "Target", around.target + beyond, GREEN)


def _draw_angles(axes: Axes, around: Surroundings, moment: Moment) -> None:
    """The chosen animal, the group's mean heading, and the arcs from its own heading."""
    place, reach = around.place, LONG * around.span
    ahead, mean = (_ahead(place, around.heading + turn, reach) for turn in (0.0, moment.local))
    _arrow(axes, around, np.stack([place, mean]), ORANGE, DOTTED, 2.0)
    _arrow(axes, around, np.stack([place, ahead]), INK, "-", 2.4)
    axes.plot(*place, "*", color=INK, ms=15, mec="white", mew=0.8, zorder=6)
    wider = abs(moment.target) >= abs(moment.local)  # runs outside, to cross no arrow of the other
    radii = (0.66, 0.48) if wider else (0.48, 0.66)
    turns = (("1", moment.target, GREEN), ("2", moment.local, ORANGE))
    for (number, turn, colour), radius in zip(turns, radii, strict=True):
        path = _arc(around, (0.0, turn), radius * reach)
        axes.plot(*path.T, color=colour, lw=1.4, zorder=3, gid=f"angle {number}")
        _head(axes, path[-4], path[-1], colour, 9)
    for number, turn, colour in turns:
        other = moment.local if number == "1" else moment.target
        shared = other if turn * other > 0 and abs(other) < abs(turn) else 0.0
        words = f"{number}: {turn:+.0f}°".replace("-", "−")
        _write(axes, words, _spot(axes, around, (shared, turn)), colour)


def _arc(around: Surroundings, turns: tuple[float, float], radius: float) -> Points:
    """Around the chosen animal, from one turn off its heading to another."""
    angles = np.deg2rad(around.heading + np.linspace(*turns, 61))
    return around.place + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _write(axes: Axes, words: str, place: Point, colour: str) -> None:
    axes.text(
        float(place[0]), float(place[1]), words, color=colour, weight="bold", ha="center",
        va="center", zorder=7, path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip


def _spot(axes: Axes, around: Surroundings, turns: tuple[float, float]) -> Point:
    """Where a label covers least: in the sector between two turns, nearest to its middle."""
    room = around.label
    drawn = [_covered(line) for line in axes.lines]
    words = [np.asarray(text.get_position()) + room * CORNERS for text in axes.texts]
    covered = np.concatenate(drawn + words)
    reaches = np.array([0.85, 1.0, 1.15, 1.3]) * LONG * around.span
    spots = np.concatenate([_arc(around, turns, reach)[MIDDLE] for reach in reaches])
    gaps = np.abs(spots[:, None] - covered) / room
    clear = np.minimum(gaps.max(axis=2).min(axis=1), 1.1)
    inside = np.all((spots - room > around.corners[0]) & (spots + room < around.corners[1]), axis=1)
    return spots[np.argmax(np.where(inside, clear, clear - 10))]


def _covered(line: Line2D) -> Points:
    """Points that lie close together along a line, or marks that no line joins."""
    path = np.asarray(line.get_xydata())
    if line.get_linestyle() == "None":
        return path
    along = np.linspace(0, len(path) - 1, max(101, len(path)))
    return np.stack([np.interp(along, np.arange(len(path)), axis) for axis in path.T], axis=1)


def _arrow(
    axes: Axes, around: Surroundings, line: Points, colour: str, style: Any, width: float
) -> None:
    """A line in its style with a whole head, which dashes would cut up."""
    start, end = line
    neck = end - HEAD * around.span * (end - start) / np.hypot(*(end - start))
    axes.plot(*np.stack([start, neck]).T, linestyle=style, color=colour, lw=width, zorder=3,
              solid_capstyle="butt", dash_capstyle="butt")  # fmt: skip
    _head(axes, neck, end, colour, 5 + 4 * width)


def _head(axes: Axes, start: Point, end: Point, colour: str, size: float) -> None:
    axes.add_patch(
        FancyArrowPatch(
            tuple(start), tuple(end), arrowstyle="-|>", mutation_scale=size, color=colour, lw=0.5,
            shrinkA=0, shrinkB=0, zorder=4,
        )
    )  # fmt: skip


def _explain(figure: Figure) -> None:
    figure.legend(
        handles=[
            Line2D([], [], color=INK, lw=2.4, marker="*", ms=10, mec="white", label="own heading"),
            Line2D([], [], color=BLUE, lw=1.3, label="headings of the others"),
            Line2D([], [], color=GREEN, lw=1.6, ls=DASHED, label="towards the target"),
            Line2D([], [], color=ORANGE, lw=2, ls=DOTTED, label="mean heading of all"),
        ],
        loc="outside lower center",
        ncols=2,
    )
