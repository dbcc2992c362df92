"""Arrays, checked and laid out as the dataset that a record of tracks holds."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from shoal.errors import InputError
from shoal.system.memory import refuse_beyond_memory

DIMENSIONS = ("time", "individuals", "space")
SPACE = ("x", "y")
ROOMY = 12_000_000
"""Cells that any grid may have: about half a gigabyte while tracks are made of it."""
MOST_EMPTY = 300
"""Cells for each fix in a larger one, as of many animals tagged for a while in many years."""
BYTES = 48
"""For a cell: two numbers, and the copies that checks need."""


def dataset(
    positions: Float[np.ndarray, "time individuals 2"],
    heading: Any,
    clock: Float[np.ndarray, " time"],
    names: Sequence[str],
) -> xr.Dataset:
    """Positions, and headings where there are any, along named dimensions."""
    variables: dict[str, Any] = {"position": (DIMENSIONS, positions)}
    if heading is not None:
        variables["heading"] = (DIMENSIONS[:2], checked_heading(heading, positions.shape[:2]))
    return xr.Dataset(variables, {"time": clock, "individuals": list(names), "space": list(SPACE)})


def checked_positions(positions: Any) -> Float[np.ndarray, "time individuals 2"]:
    """Places as an array of floats, whole or missing."""
    try:
        array = np.array(positions, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"positions are an array of numbers ({error})") from error
    if array.ndim != 3 or array.shape[-1] != 2 or 0 in array.shape:
        raise InputError(f"positions are an array (time, individuals, 2), got shape {array.shape}")
    if np.any(np.isinf(array)):
        frame, animal, _ = (int(i) for i in np.argwhere(np.isinf(array))[0])
        raise InputError(
            f"positions are finite, or NaN where an animal was not seen; animal {animal} in frame "
            f"{frame} is at {array[frame, animal].tolist()}"
        )
    array[np.isnan(array).any(axis=-1)] = np.nan  # half a place is none
    return array


def with_missing_frames(
    array: Float[np.ndarray, "time individuals 2"], time: Any, heading: Any
) -> tuple[Any, Any, Any, list[str]]:
    """Frames that are missing altogether, put in with nobody seen."""
    clock = np.asarray(time, dtype=float)
    steps = np.diff(clock) if clock.shape == (len(array),) else np.ones(0)
    if len(steps) < 2 or not np.all(steps > 0) or steps.max() <= 1.5 * np.median(steps):
        return array, time, heading, []
    jumps = np.maximum(1, np.round(steps / np.median(steps))).astype(int)
    number = np.concatenate([[0], np.cumsum(jumps)])
    if number[-1] > 100 * len(array) + 1_000_000:
        raise InputError(
            f"{len(array)} frames are spread over {number[-1] + 1} at their usual interval: cut "
            "the tracks where they break off"
        )
    check_grid(int(number[-1]) + 1, array.shape[1], array.shape[0] * array.shape[1])
    grid = np.full((number[-1] + 1, *array.shape[1:]), np.nan)
    grid[number] = array
    if heading is not None and np.shape(heading) == array.shape[:2]:
        angles = np.full(grid.shape[:2], np.nan)
        angles[number] = heading
        heading = angles
    lost = int(number[-1] + 1 - len(array))
    times = np.interp(np.arange(number[-1] + 1), number, clock)
    return grid, times, heading, [f"{lost} frames are missing altogether and count as gaps"]


def checked_rate(fps: Any) -> float | None:
    """Frames per second, positive where they are given."""
    if fps is None:
        return None
    if not (np.isreal(fps) and np.isfinite(fps) and fps > 0):
        raise InputError(f"frames per second must be positive, got {fps}")
    return float(fps)


def checked_names(individuals: Sequence[Any] | None, animals: int) -> list[str]:
    """A name for each animal, by default its number."""
    names = [str(n) for n in (range(animals) if individuals is None else individuals)]
    if len(names) != animals or len(set(names)) < animals:
        raise InputError(f"{animals} animals need as many different names, got {names!s:.200}")
    return names


def checked_times(time: Any, frames: int, rate: float | None) -> Float[np.ndarray, " time"]:
    """The time of every frame, by default its number over the rate."""
    clock = np.arange(frames) / (rate or 1.0) if time is None else np.asarray(time, dtype=float)
    if clock.shape != (frames,) or not np.all(np.diff(clock) > 0):
        words = " ".join(f"{clock}".split())
        raise InputError(f"the times of {frames} frames must increase, got {words:.80}")
    return clock


def rate_of_times(clock: Float[np.ndarray, " time"]) -> float | None:
    """Frames per second by the usual step of a clock in seconds; of one frame there is none."""
    return float(f"{1 / np.median(np.diff(clock)):.9g}") if len(clock) > 1 else None


def checked_heading(heading: Any, shape: tuple[int, ...]) -> Float[np.ndarray, "time individuals"]:
    """Headings as an array of floats that fits the positions."""
    angles = np.asarray(heading, dtype=float)
    if angles.shape != shape:
        raise InputError(f"headings of shape {angles.shape} do not fit {shape}")
    return angles


def check_grid(frames: int, animals: int, fixes: int, where: str = "") -> None:
    """Raise where a few fixes are spread over more frames and animals than memory holds.

    Parameters
    ----------
    fixes
        Rows or points that the grid is made from.
    where
        The file, at the beginning of a message.
    """
    cells = int(frames) * int(animals)
    start = f"{where}: " if where else ""
    if cells > max(ROOMY, MOST_EMPTY * int(fixes)):
        raise InputError(
            f"{start}{fixes} fixes of {animals} animals are spread over {frames} frames, nearly "
            "all of them gaps: check the times and frame numbers, give a coarser clock, or read "
            "parts"
        )
    refuse_beyond_memory(
        BYTES * cells, f"{start}{animals} animals in {frames} frames", "read the tracks in parts"
    )
