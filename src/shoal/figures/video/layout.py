"""Where the panels of a video lie: all on one scale, their state maps beside or below them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from shoal.errors import InputError
from shoal.tracks import Circle, Periodic, Tracks

DPI = 100
LEFT, RIGHT, BOTTOM, GAP, CLOCK, TITLE = 66, 24, 54, 26, 38, 26
"""Room around a panel and between two, for the clock over all, and for a panel's title."""
MAP, MAP_LEFT, MAP_RIGHT, MAP_TOP, MAP_BOTTOM = 220, 78, 84, 30, 54
"""The side of a state map, and room around it."""
LARGEST = {1: (700, 580), 2: (520, 500), 3: (400, 460), 4: (320, 400)}
"""Width and height of a panel, by the number of columns."""
SLIMMEST, MARGIN = 0.35, 0.04
"""The shorter side of a panel and the room around the places, as parts of the longer side."""

Box = tuple[float, float, float, float]
"""Left, bottom, width, height; pixels from the lower left corner."""


@dataclass(frozen=True)
class Layout:
    """The whole picture, and in it the panels and their maps, in pixels at a scale of 1."""

    width: float
    height: float
    panels: tuple[Box, ...]
    maps: tuple[Box, ...]
    clock: tuple[float, float, float]
    """The left end of the row over all panels, its height, and how wide it is."""
    scale: float = 1.0

    def fitted(self, size: tuple[int, int] | None) -> "Layout":
        """Larger or smaller as a whole, in the middle of a picture of this size."""
        if size is None:
            return self
        scale = min(size[0] / self.width, size[1] / self.height)
        width, height = size[0] / scale, size[1] / scale
        x, y = (width - self.width) / 2, (height - self.height) / 2
        panels, maps = (
            tuple((left + x, bottom + y, wide, high) for left, bottom, wide, high in boxes)
            for boxes in (self.panels, self.maps)
        )
        clock = (self.clock[0] + x, self.clock[1] + y, self.clock[2])
        return Layout(width, height, panels, maps, clock, scale)

    def figure(self) -> Figure:
        """An empty figure of whole, even numbers of pixels."""
        dpi = DPI * self.scale
        sides = [2 * round(self.scale * side / 2) for side in (self.width, self.height)]
        return Figure(figsize=(sides[0] / dpi, sides[1] / dpi), dpi=dpi)

    def part(self, box: Box) -> Box:
        """A box as a part of the whole, as Matplotlib has it."""
        left, bottom, width, height = box
        return left / self.width, bottom / self.height, width / self.width, height / self.height


def arranged(count: int, span: Float[np.ndarray, " 2"], titled: bool, mapped: bool) -> Layout:
    """Panels of one shape in rows of up to four.

    Parameters
    ----------
    count
        Of panels.
    span
        Width and height of what each shows, in its unit.
    titled, mapped
        Whether panels have titles, and maps: beside a single panel, below each of several.
    """
    columns = min(count, max(LARGEST))
    rows = -(-count // columns)
    below, beside = mapped and count > 1, mapped and count == 1
    wide, high = span * (np.array(LARGEST[columns]) / span).min()
    cell = max(wide, MAP + 2 * (MAP_RIGHT - RIGHT)) if below else wide
    before = [LEFT if below or column == 0 else GAP for column in range(columns)]
    above, under = (TITLE if titled else 0), BOTTOM + below * (MAP_TOP + MAP + MAP_BOTTOM)
    row = above + max(high, beside * (MAP_TOP + MAP)) + under
    width = sum(before) + columns * (cell + RIGHT) + beside * (MAP_LEFT + MAP + MAP_RIGHT)
    height = CLOCK + rows * row
    panels, maps = [], []
    for index in range(count):
        left = sum(before[: index % columns + 1]) + (index % columns) * (cell + RIGHT)
        bottom = height - CLOCK - (index // columns) * row - above - high
        panels.append((left + (cell - wide) / 2, bottom, wide, high))
        if below:
            maps.append((left + (cell - MAP) / 2, bottom - BOTTOM - MAP_TOP - MAP, MAP, MAP))
        elif beside:
            maps.append((left + wide + RIGHT + MAP_LEFT, bottom + high - MAP_TOP - MAP, MAP, MAP))
    first, last = panels[0][0], panels[columns - 1][0]
    clock = (first, height - CLOCK / 2, last + wide - first)
    return Layout(width, height, tuple(panels), tuple(maps), clock)


def extent(
    tracks: Sequence[Tracks], targets: Sequence[tuple[float, ...] | None]
) -> Float[np.ndarray, "2 2"]:
    """Low and high corner of all places, walls and targets, with some room around them."""
    corners = [_corners(part) for part in tracks]
    corners += [np.asarray([point]) for point in targets if point is not None]
    points = np.concatenate(corners)
    low, high = np.nanmin(points, axis=0), np.nanmax(points, axis=0)
    longest = float((high - low).max()) or 1.0
    half = np.maximum(high - low, SLIMMEST * longest) / 2 + MARGIN * longest
    return np.stack([(low + high) / 2 - half, (low + high) / 2 + half])


def _corners(tracks: Tracks) -> Float[np.ndarray, "_ 2"]:
    arena, places = tracks.arena, tracks.positions.reshape(-1, 2)
    if arena is None:
        return places
    if isinstance(arena, Circle):
        reach = arena.radius * np.array([[-1.0, -1.0], [1.0, 1.0]])
        return np.concatenate([places, np.array([arena.x, arena.y]) + reach])
    walls = np.array([[arena.left, arena.bottom], [arena.right, arena.top]])
    return walls if isinstance(arena, Periodic) else np.concatenate([places, walls])


def checked_size(size: Any) -> tuple[int, int] | None:
    """Width and height in pixels, made even as H.264 wants them."""
    if size is None:
        return None
    try:
        width, height = (int(side.__index__()) for side in size)
    except (AttributeError, TypeError, ValueError):
        width = height = 0
    if not (64 <= width <= 8192 and 64 <= height <= 8192):
        raise InputError(
            f"size is (width, height) in pixels, whole numbers from 64 to 8192; got {size!r}"
        )
    return width + width % 2, height + height % 2
