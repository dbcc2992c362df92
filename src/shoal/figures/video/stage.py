"""The pictures of a video: what stands still is drawn once, what moves is drawn over it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from shoal.figures.style import GREY, INK
from shoal.figures.video.encoding import Picture
from shoal.figures.video.layout import Layout, arranged, extent
from shoal.figures.video.moving import MovingGroup, draw_surroundings, mark_size
from shoal.figures.video.pacing import Timing
from shoal.figures.video.state_map import StateMap
from shoal.tracks import Tracks


@dataclass(frozen=True)
class Cast:
    """Who is shown, and how; a title, a target and a followed animal for each group."""

    groups: tuple[Tracks, ...]
    titles: tuple[str, ...]
    targets: tuple[tuple[float, ...] | None, ...]
    tail: int
    heading_frames: int
    followed: tuple[str | None, ...]
    fit: Any = None


class Stage:
    """Every picture of the video: what stands still is drawn once, what moves over it."""

    def __init__(self, cast: Cast, timing: Timing, size: tuple[int, int] | None = None) -> None:
        self.timing = timing
        low, high = extent(cast.groups, cast.targets)
        titled = any(cast.titles)
        count, mapped = len(cast.groups), cast.fit is not None
        layout = arranged(count, high - low, titled, mapped).fitted(size)
        self.figure = layout.figure()
        mark = mark_size(cast.groups, (high[0] - low[0]) / layout.panels[0][2])
        self.canvas = _canvas(self.figure)
        self.groups: list[MovingGroup] = []
        self.maps: list[StateMap] = []
        for index, group in enumerate(cast.groups):
            axes = self.figure.add_axes(layout.part(layout.panels[index]))
            axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
            self._describe(axes, layout, index, cast)
            draw_surroundings(axes, group.arena, cast.targets[index])
            moving = MovingGroup(
                axes, group, mark, cast.tail, cast.heading_frames, cast.followed[index]
            )
            self.groups.append(moving)
            followed = cast.followed[index]
            if cast.fit is not None and followed is not None:
                small = self.figure.add_axes(layout.part(layout.maps[index]))
                self.maps.append(StateMap(small, cast.fit, group, followed, cast.heading_frames))
        self.clock = self._place_clock(layout)
        for artist in self.artists:
            artist.set_animated(True)
        self.canvas.draw()
        self.background = self.canvas.copy_from_bbox(self.figure.bbox)

    @property
    def artists(self) -> list[Any]:
        """Everything that changes from picture to picture."""
        parts: list[Any] = [*self.groups, *self.maps]
        return [artist for part in parts for artist in part.artists] + [self.clock]

    def __len__(self) -> int:
        return len(self.timing.frames)

    def show(self, index: int) -> None:
        """Bring everything to where it is in a picture."""
        frames, over = self.timing.frames[index], self.timing.over[index]
        for group, frame, ended in zip(self.groups, frames, over, strict=True):
            group.show(int(frame), bool(ended))
        for small, frame in zip(self.maps, frames[: len(self.maps)], strict=True):
            small.show(int(frame))
        self.clock.set_text(self.timing.clock[index])

    def picture(self, index: int) -> Picture:
        """One picture; the next is drawn over it."""
        self.show(index)
        self.canvas.restore_region(self.background)
        renderer = self.canvas.get_renderer()
        for artist in self.artists:
            artist.draw(renderer)
        return np.asarray(self.canvas.buffer_rgba())

    def _describe(self, axes: Axes, layout: Layout, index: int, cast: Cast) -> None:
        """The title, and on the outer panels the axes' names and units."""
        unit = cast.groups[0].length_unit
        columns = len({box[0] for box in layout.panels})
        axes.set_xlabel(f"x ({unit})" if unit else "x")
        if index % columns == 0 or layout.maps:
            axes.set_ylabel(f"y ({unit})" if unit else "y")
        else:
            axes.tick_params(labelleft=False)
        most = int(layout.panels[index][2] / 7)  # characters
        title = cast.titles[index]
        short = title if len(title) <= most else f"{title[: most - 1]}…"
        axes.set_title(short, parse_math=False)

    def _place_clock(self, layout: Layout) -> Any:
        """The time in the upper left corner; in the right one the speed, where it is not life's."""
        x, y, width = layout.clock
        at: dict[str, Any] = {"va": "center", "transform": self.figure.transFigure}
        speed = self.timing.speed
        if speed is not None and abs(speed - 1) > 0.005:
            words = f"{speed:.3g}× speed" if speed < 1000 else f"{speed:,.0f}× speed"
            right = (x + width) / layout.width
            self.figure.text(right, y / layout.height, words, ha="right", color=GREY, **at)
        return self.figure.text(
            x / layout.width, y / layout.height, "", fontsize=13, color=INK, zorder=10, **at
        )


def _canvas(figure: Figure) -> Any:
    """Pixels in memory; Matplotlib gives their methods no types."""
    return FigureCanvasAgg(figure)
