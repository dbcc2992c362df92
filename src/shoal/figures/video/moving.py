"""One group in motion: heading marks, tails that fade, landmarks with their names."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba_array
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from scipy.spatial import KDTree

from shoal.figures.style import BLUE, GREEN, GREY, INK, ORANGE
from shoal.tracks import Arena, Circle, Periodic, Tracks

Places = Float[np.ndarray, "time individuals 2"]
Angles = Float[np.ndarray, "time individuals"]

_AROUND = np.deg2rad(np.arange(0, 360, 30))
DOT = 0.42 * np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=1)
ARROW = np.repeat([[1.0, 0.0], [-0.75, 0.6], [-0.4, 0.0], [-0.75, -0.6]], 3, axis=0)
"""As many corners as the dot; it points along x, and the animal is at (0, 0)."""
MOVING = 10
"""Drawn over all that stands still."""
SHADES, DARKEST = 16, 0.7
"""Of a tail."""
CORNERS = ((8, 5, "left"), (8, -13, "left"), (-8, 5, "right"), (-8, -13, "right"))
"""Where a landmark has its name: each elsewhere, for those that go together."""


class MovingGroup:
    """What moves in one panel, and where it is in each frame."""

    def __init__(
        self,
        axes: Axes,
        tracks: Tracks,
        mark: float,
        tail: int,
        heading_frames: int,
        followed: str | None,
    ) -> None:
        order = _order(tracks, followed)
        names = [tracks.individuals[index] for index in order]
        landmarks = [name not in tracks.members for name in names]
        self.arena, self.tail = tracks.arena, tail
        self.places = shown_places(tracks)[:, order]
        angles = kept_headings(tracks.headings(heading_frames), tracks.positions)
        self.angles = np.deg2rad(angles[:, order])
        self.colours = to_rgba_array(
            [
                INK if name == followed else ORANGE if landmark else BLUE
                for name, landmark in zip(names, landmarks, strict=True)
            ]
        )
        large = np.array(landmarks) | np.array([name == followed for name in names])
        self.sizes = mark * np.where(large, 1.4, 1.0)
        rgb = self.colours[:, :3]
        self.kinds = [
            (tuple(colour), np.flatnonzero((rgb == colour).all(axis=1)))
            for colour in np.unique(rgb, axis=0)
        ]
        self.tails = LineCollection([], linewidths=1.5, zorder=MOVING)
        self.marks = PolyCollection([], edgecolors="white", linewidths=0.6, zorder=MOVING + 1)
        axes.add_collection(self.tails, autolim=False)
        axes.add_collection(self.marks, autolim=False)
        named = [index for index, landmark in enumerate(landmarks) if landmark]
        self.labels = {
            index: _label(axes, names[index], number) for number, index in enumerate(named)
        }
        self.ended = axes.text(
            0.985, 0.985, "ended", transform=axes.transAxes, ha="right", va="top", color=GREY,
            zorder=MOVING + 2,
        )  # fmt: skip

    @property
    def artists(self) -> list[Artist]:
        """Everything that changes, from the lowest to the uppermost."""
        return [self.tails, self.marks, *self.labels.values(), self.ended]

    def show(self, frame: int, ended: bool) -> None:
        """Bring everything to where it is in a frame."""
        seen = np.isfinite(self.places[frame, :, 0])
        self.marks.set_verts(list(self._outlines(frame)[seen]))
        self.marks.set_facecolor(self.colours[seen])
        self._draw_out_tails(frame)
        for index, label in self.labels.items():
            label.set_visible(bool(seen[index]))
            label.xy = tuple(self.places[frame, index])
        self.ended.set_visible(ended)

    def _outlines(self, frame: int) -> Float[np.ndarray, "individuals corners 2"]:
        angle = self.angles[frame]
        cosine, sine = np.cos(angle), np.sin(angle)
        turn = np.stack([np.stack([cosine, -sine], -1), np.stack([sine, cosine], -1)], -2)
        arrows = np.einsum("nij,cj->nci", turn, ARROW)
        outlines = np.where(np.isfinite(angle)[:, None, None], arrows, DOT)
        return self.places[frame][:, None] + self.sizes[:, None, None] * outlines

    def _draw_out_tails(self, frame: int) -> None:
        first = max(0, frame - self.tail)
        steps = unbroken_steps(self.places[first : frame + 1], self.arena)
        lines, colours = [], []
        for ages, alpha in zip(*self._shades(len(steps)), strict=True):
            for colour, who in self.kinds:
                lines.append(_one_line(steps[ages][:, who]))
                colours.append((*colour, alpha))
        self.tails.set_segments(lines)
        self.tails.set_color(colours)

    def _shades(self, count: int) -> tuple[list[slice], list[float]]:
        """The last steps of a tail, in a few shades from the oldest, which is hardly seen."""
        ends = np.unique(np.linspace(0, self.tail, SHADES + 1).round().astype(int))
        parts = [
            (slice(max(0, start - self.tail + count), end - self.tail + count), end / self.tail)
            for start, end in pairwise(ends.tolist())
            if end - self.tail + count > 0
        ]
        return [part for part, _ in parts], [DARKEST * share for _, share in parts]


def _one_line(steps: Float[np.ndarray, "steps individuals 2 2"]) -> Float[np.ndarray, "_ 2"]:
    """Steps as one line with breaks in it, which is drawn much faster than many."""
    points = np.full((*steps.shape[:2], 3, 2), np.nan)
    points[:, :, :2] = np.where(np.isfinite(steps).all(axis=(2, 3), keepdims=True), steps, np.nan)
    return points.reshape(-1, 2)


def mark_size(groups: Sequence[Tracks], pixel: float) -> float:
    """Half a mark's length: 10 pixels, down to 6 where neighbours would cover each other.

    Parameters
    ----------
    groups
        Whose marks have one size.
    pixel
        The width of a pixel, in the unit of the tracks.
    """
    apart = [_spacing(group) for group in groups]
    return pixel * float(np.clip(min(apart) / pixel, 6.0, 10.0))


def _spacing(tracks: Tracks) -> float:
    """Between an animal and the next, as it usually is; of a few frames."""
    places = shown_places(tracks)
    near = []
    for some in places[:: max(1, len(places) // 20)]:
        seen = some[np.isfinite(some[:, 0])]
        if len(seen) > 1:
            near.append(np.median(np.asarray(KDTree(seen).query(seen, 2)[0])[:, 1]))
    return float(np.median(near)) if near else np.inf


def shown_places(tracks: Tracks) -> Places:
    """Where everybody is drawn: in a periodic box within it."""
    arena = tracks.arena
    return arena.wrapped(tracks.positions) if isinstance(arena, Periodic) else tracks.positions


def kept_headings(angles: Angles, positions: Places) -> Angles:
    """Headings, kept while an animal stays in sight: the last frames of a track have none."""
    frames = np.arange(len(angles))[:, None]
    anew = np.isfinite(angles) | np.isnan(positions[..., 0])
    return np.take_along_axis(
        angles, np.maximum.accumulate(np.where(anew, frames, 0), axis=0), axis=0
    )


def unbroken_steps(
    places: Places, arena: Arena | None
) -> Float[np.ndarray, "steps individuals 2 2"]:
    """From each frame to the next; NaN where an animal leaves a periodic box on one side."""
    steps = np.stack([places[:-1], places[1:]], axis=2)
    if not isinstance(arena, Periodic):
        return steps
    leaves = np.any(np.abs(np.diff(places, axis=0)) > np.asarray(arena.sides) / 2, axis=-1)
    return np.where(leaves[..., None, None], np.nan, steps)


def draw_surroundings(axes: Axes, arena: Arena | None, target: tuple[float, ...] | None) -> None:
    """Walls in grey, the edges of a periodic box dashed, the target in green."""
    if isinstance(arena, Circle):
        angle = np.linspace(0, 2 * np.pi, 361)
        x = arena.x + arena.radius * np.cos(angle)
        axes.plot(x, arena.y + arena.radius * np.sin(angle), color=GREY, lw=1.2)
    elif arena is not None:
        across = [arena.left, arena.right, arena.right, arena.left, arena.left]
        up = [arena.bottom, arena.bottom, arena.top, arena.top, arena.bottom]
        axes.plot(across, up, "--" if isinstance(arena, Periodic) else "-", color=GREY, lw=1.2)
    if target is not None:
        x, y = target
        axes.plot(x, y, "P", color=GREEN, ms=11, mec="white", mew=0.8, clip_on=False)
        axes.annotate("target", (x, y), (9, 6), textcoords="offset points", color=GREEN, size=9)


def _order(tracks: Tracks, followed: str | None) -> list[int]:
    """Members, then landmarks, then the followed one: drawn over the others."""
    names, members = tracks.individuals, set(tracks.members)
    return sorted(
        range(len(names)), key=lambda i: 2 if names[i] == followed else names[i] not in members
    )


def _label(axes: Axes, name: str, number: int) -> Annotation:
    x, y, side = CORNERS[number % len(CORNERS)]
    return axes.annotate(
        name, (0, 0), (x, y), textcoords="offset points", ha=side, color=ORANGE, size=9,
        zorder=MOVING + 2, path_effects=[withStroke(linewidth=2, foreground="white")],
    )  # fmt: skip
