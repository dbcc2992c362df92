"""The state of one animal as it moves, on a small map of the posterior-mean cost-to-go."""

from typing import Any

import numpy as np
from jaxtyping import Float
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from shoal.errors import InputError
from shoal.figures.lines import round_circle
from shoal.figures.maps import TICKS, circle_ticks, edges, extended, limits_of, turned_round
from shoal.figures.style import BLUE, GREY, INK
from shoal.states import Circular, StateSpace, track_states
from shoal.tracks import Tracks

TRAIL = 8
"""Frames: states jump from bin to bin, and a longer trail is a tangle."""
LABEL = "cost-to-go (nats)"


def checked_inset(inset: Any) -> Any:
    """A fit whose states have one axis or two."""
    space = getattr(getattr(inset, "model", None), "space", None)
    if not isinstance(space, StateSpace) or not hasattr(inset, "cost_to_go"):
        raise InputError(f"inset is a fit, with a model and a cost_to_go; got {inset!r:.60}")
    if len(space.axes) > 2:
        raise InputError(
            f"a map of states has one axis or two, and this fit has {len(space.axes)} "
            f"({', '.join(space.names)}): leave the inset out, or fit fewer"
        )
    return inset


class StateMap:
    """A map of costs, and on it the state of one animal in each frame."""

    def __init__(
        self, axes: Axes, fit: Any, tracks: Tracks, followed: str, heading_frames: int
    ) -> None:
        space = fit.model.space
        costs = _mean_cost(fit, space)
        states, _ = track_states(tracks, space, heading_frames)
        own, place = states[:, tracks.members.index(followed)].copy(), tracks.place_of(followed)
        for frame in range(max(1, len(own) - heading_frames), len(own)):
            if own[frame] < 0 and np.isfinite(place[frame, 0]):
                own[frame] = own[frame - 1]  # the last frames of a track have no heading
        self.points = state_points(space, own, costs)
        draw = _draw_line if len(space.axes) == 1 else _draw_map
        draw(axes, space, costs, fit)
        who = f"animal {followed}" if followed.isdigit() else followed
        axes.set_title(f"state of {who}", fontsize=10, parse_math=False)
        steps = np.stack([self.points[:-1], self.points[1:]], axis=1)
        plain = len(space.axes) == 2  # along a curve there is none
        across = _round_the_circle(space, steps)[:, None, None]
        self.steps = np.where(across, np.nan, steps) if plain else np.full_like(steps, np.nan)
        self.halo = LineCollection([], linewidths=3.0, zorder=10)
        self.trail = LineCollection([], linewidths=1.2, zorder=11)
        for lines in (self.halo, self.trail):
            axes.add_collection(lines, autolim=False)
        (self.dot,) = axes.plot(
            [], [], "o", ms=9, mfc=INK, mec="white", mew=1.5, zorder=12, clip_on=False
        )
        self.words = axes.text(
            0.5, 0.5, "no state", transform=axes.transAxes, ha="center", va="center", color=INK,
            fontsize=9, zorder=12, visible=False, bbox={"fc": "white", "ec": "none", "alpha": 0.8},
        )  # fmt: skip

    @property
    def artists(self) -> list[Artist]:
        """Everything that changes, from the lowest to the uppermost."""
        return [self.halo, self.trail, self.dot, self.words]

    def show(self, frame: int) -> None:
        """Bring the dot and its trail to the state in a frame."""
        x, y = self.points[frame]
        known = bool(np.isfinite(x))
        self.dot.set_data([x] if known else [], [y] if known else [])
        self.words.set_visible(not known)
        steps = self.steps[max(0, frame - TRAIL) : frame] if known else self.steps[:0]
        fading = np.linspace(0, 1, TRAIL + 1)[TRAIL + 1 - len(steps) :]
        drawn = np.isfinite(steps).all(axis=(1, 2))
        for lines, colour in ((self.halo, (1.0, 1.0, 1.0)), (self.trail, (0.13, 0.13, 0.13))):
            lines.set_segments(list(steps[drawn]))
            lines.set_color([(*colour, alpha) for alpha in fading[drawn]])


def state_points(
    space: StateSpace, states: Any, costs: Float[np.ndarray, "*grid"]
) -> Float[np.ndarray, "time 2"]:
    """Where each state lies on the map; NaN where there is none."""
    known = states >= 0
    safe = np.where(known, states, 0)
    centres = space.decode(safe)
    if len(centres) == 1:
        points = np.stack([centres[0], costs.ravel()[safe]], axis=1)
    else:
        points = np.stack([centres[1], centres[0]], axis=1)
    return np.where(known[:, None], points, np.nan)


def _mean_cost(fit: Any, space: StateSpace) -> Float[np.ndarray, "*grid"]:
    costs = fit.cost_to_go
    over = [name for name in costs.dims if name not in space.names]
    return np.asarray(costs.mean(over).transpose(*space.names).values, dtype=float)


def _round_the_circle(space: StateSpace, steps: Float[np.ndarray, "steps 2 2"]) -> Any:
    """Which steps pass ±180°, and would be drawn right across the map."""
    across = np.zeros(len(steps), dtype=bool)
    axes = space.axes if len(space.axes) == 1 else space.axes[::-1]
    for number, axis in enumerate(axes):
        if isinstance(axis, Circular):
            with np.errstate(invalid="ignore"):
                across |= np.abs(np.diff(steps[..., number], axis=1)[:, 0]) > 180
    return across


def _draw_line(axes: Axes, space: StateSpace, costs: Float[np.ndarray, " bins"], _: Any) -> None:
    (axis,) = space.axes
    axes.plot(*round_circle(axis, costs), color=BLUE, lw=1.5)
    axes.set_xlabel(axis.label)
    axes.set_ylabel(LABEL)
    axes.grid(color=GREY, alpha=0.2, lw=0.6)
    if isinstance(axis, Circular):
        axes.set_xticks(TICKS, ["±180", "−90", "0", "90", "±180"])


def _draw_map(axes: Axes, space: StateSpace, costs: Float[np.ndarray, "a b"], fit: Any) -> None:
    first, second = space.axes
    arrivals = getattr(fit, "arrivals", None)
    seen = np.ones(costs.shape, dtype=bool) if arrivals is None else np.asarray(arrivals) > 0
    limits: dict[str, Any] = {**limits_of(costs, seen)}
    mesh = axes.pcolormesh(
        edges(second), edges(first), turned_round(first, second, costs), cmap="viridis", **limits
    )
    bar = axes.inset_axes((1.05, 0.0, 0.05, 1.0))
    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.colorbar(mesh, cax=bar, label=LABEL, extend=extended(costs, limits))
    axes.set_xlabel(second.label)
    axes.set_ylabel(first.label)
    circle_ticks(axes, first, second)
