"""How a group moves, in a few numbers: the same for tracks and for simulated groups."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import xarray as xr

from shoal.errors import InputError
from shoal.measures.arrival import target_distance, time_to_target
from shoal.measures.motion import Motion
from shoal.measures.shape import (
    cohesion,
    group_speed,
    mean_known,
    median_known,
    median_speed,
    nearest_distance,
    quantile_known,
    rotation,
    speeds,
    spread,
    straightness,
)
from shoal.measures.turning import autocorrelation, pooled_autocorrelation
from shoal.tracks import Tracks

Kind = Literal["ratio", "length", "speed", "angle", "time"]


@dataclass(frozen=True)
class Summary:
    """One number for every group.

    Attributes
    ----------
    name, label
        For results and for figures.
    kind
        What it is measured in.
    function
        From a Motion to an array of its leading dimensions.
    needs_target
        Whether it is defined only where there is a target.
    """

    name: str
    label: str
    kind: Kind
    function: Callable[[Motion], np.ndarray]
    needs_target: bool = False

    def unit(self, length_unit: str = "", fps: float | None = None) -> str:
        """In tracks of this length unit and frame rate."""
        return unit_of(self.kind, length_unit, fps)


def unit_of(kind: Kind, length_unit: str = "", fps: float | None = None) -> str:
    """What a kind of number is measured in; empty for ratios and unknown lengths."""
    second = "frame" if fps is None else "s"
    units = {
        "length": length_unit,
        "speed": f"{length_unit}/{second}" if length_unit else f"per {second}",
        "angle": "°",
        "time": "frames" if fps is None else "s",
    }
    return units.get(kind, "")


def _pooled(values: np.ndarray) -> np.ndarray:
    """All animals in all frames, on one axis."""
    return values.reshape(*values.shape[:-2], -1)


def _reached(m: Motion) -> np.ndarray:
    """1 where the target is reached, 0 where it is not, NaN where nobody is seen."""
    there = np.isfinite(time_to_target(m.positions, m.target, m.reach, m.fps, m.arena))
    anybody = np.isfinite(m.positions).any(axis=(-3, -2, -1))
    return np.where(anybody, there.astype(float), np.nan)


_ALL = (
    Summary("polarisation", "mean polarisation", "ratio", lambda m: mean_known(m.polarisation, -1)),
    Summary(
        "rotation",
        "mean rotation",
        "ratio",
        lambda m: mean_known(rotation(m.positions, m.headings, m.arena), -1),
    ),
    Summary(
        "cohesion",
        "mean distance from the centroid",
        "length",
        lambda m: mean_known(cohesion(m.positions, m.arena), -1),
    ),
    Summary(
        "nearest_distance",
        "mean distance to the nearest neighbour",
        "length",
        lambda m: mean_known(nearest_distance(m.positions, m.arena), -1),
    ),
    Summary(
        "group_speed",
        "mean speed of the group",
        "speed",
        lambda m: mean_known(group_speed(m.positions, m.fps, m.arena), -1),
    ),
    Summary(
        "speed",
        "median speed of an animal",
        "speed",
        lambda m: median_known(_pooled(speeds(m.positions, m.fps, m.arena))),
    ),
    Summary(
        "misalignment_spread",
        "mean spread of headings",
        "angle",
        lambda m: mean_known(spread(m.polarisation), -1),
    ),
    Summary(
        "turning_angle",
        "median absolute turning angle",
        "angle",
        lambda m: median_known(_pooled(np.abs(m.turns))),
    ),
    Summary(
        "large_turn",
        "absolute turning angle that one turn in ten exceeds",
        "angle",
        lambda m: quantile_known(_pooled(np.abs(m.turns)), 0.9),
    ),
    Summary(
        "turning_autocorrelation",
        "autocorrelation of turning angles, one frame later",
        "ratio",
        lambda m: pooled_autocorrelation(m.turns, 1),
    ),
    Summary(
        "polarisation_autocorrelation",
        "autocorrelation of polarisation, one frame later",
        "ratio",
        lambda m: autocorrelation(m.polarisation, 1),
    ),
    Summary(
        "straightness",
        "net displacement over path length",
        "ratio",
        lambda m: straightness(m.positions, m.arena),
    ),
    Summary(
        "target_reached",
        "share of groups that reach the target",
        "ratio",
        _reached,
        needs_target=True,
    ),
    Summary(
        "time_to_target",
        "time until the first animal reaches the target, of groups that do",
        "time",
        lambda m: time_to_target(m.positions, m.target, m.reach, m.fps, m.arena),
        needs_target=True,
    ),
)
SUMMARIES = {summary.name: summary for summary in _ALL}
"""Every summary by name, in the order of reports."""


def summaries(
    tracks_or_motion: Any,
    *,
    target: Any = None,
    reach: Any = None,
    heading_frames: Any = None,
    minimum_step: Any = None,
) -> dict[str, np.ndarray | float]:
    """Every summary of one group, or of each group of a stack.

    Parameters
    ----------
    tracks_or_motion
        The tracks of a group give a number for each name; a ``Motion`` gives an array of its
        leading dimensions, or a number where it has none.
    target, reach
        Of tracks: where the time to a target is wanted, a point, a landmark's name or a dictionary
        with a point for each group; and the distance within which it is reached.
    heading_frames, minimum_step
        Of tracks: how headings are taken, by default over 1 frame and from any step. Take those of
        simulated groups in the same way.
    """
    given = {
        "target": target,
        "reach": reach,
        "heading_frames": heading_frames,
        "minimum_step": minimum_step,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(tracks_or_motion, Motion):
        if given:
            raise InputError(f"a Motion has its own headings and target: leave out {list(given)}")
        motion = tracks_or_motion
    else:
        motion = Motion.of(tracks_or_motion, **given)
    wanted = (s for s in _ALL if motion.target is not None or not s.needs_target)
    found = {summary.name: np.asarray(summary.function(motion)) for summary in wanted}
    return {name: float(value) if value.ndim == 0 else value for name, value in found.items()}


def group_measures(
    tracks: Tracks | Any,
    *,
    target: Any = None,
    reach: Any = None,
    heading_frames: Any = 1,
    minimum_step: Any = 0.0,
) -> xr.Dataset:
    """How the members of a group move, frame by frame, with units as attributes.

    Speeds are those to the next frame, turning angles those since the frame before. With a target
    also the distance of the nearest member to it, and the time until it is reached.

    Parameters
    ----------
    tracks
        Of one group. Landmarks are left out.
    target, reach
        A point, a landmark's name or a dictionary with a point for each group; and the distance
        within which it is reached.
    heading_frames, minimum_step
        How headings are taken.
    """
    m = Motion.of(
        tracks,
        target=target,
        reach=reach,
        heading_frames=heading_frames,
        minimum_step=minimum_step,
    )
    per_frame: dict[str, tuple[Kind, np.ndarray]] = {
        "polarisation": ("ratio", m.polarisation),
        "rotation": ("ratio", rotation(m.positions, m.headings, m.arena)),
        "cohesion": ("length", cohesion(m.positions, m.arena)),
        "nearest_distance": ("length", nearest_distance(m.positions, m.arena)),
        "group_speed": ("speed", group_speed(m.positions, m.fps, m.arena)),
        "speed": ("speed", median_speed(m.positions, m.fps, m.arena)),
        "misalignment_spread": ("angle", spread(m.polarisation)),
    }
    if m.target is not None:
        per_frame["target_distance"] = ("length", target_distance(m.positions, m.target, m.arena))

    def variable(dimensions: tuple[str, ...], kind: Kind, values: np.ndarray) -> tuple[Any, ...]:
        return dimensions, values, {"units": unit_of(kind, tracks.length_unit, m.fps)}

    variables = {name: variable(("time",), *found) for name, found in per_frame.items()}
    variables["turning_angle"] = variable(("time", "individuals"), "angle", m.turns)
    if m.target is not None:
        reached = time_to_target(m.positions, m.target, m.reach, m.fps, m.arena)
        variables["time_to_target"] = variable((), "time", reached)
    clock = xr.Variable(("time",), tracks.time, {"units": "frames" if m.fps is None else "s"})
    coordinates = {"time": clock, "individuals": list(tracks.members)}
    return xr.Dataset(variables, coordinates, {"group": tracks.group})
