"""The dataset inside a record of tracks: built from checked arrays, and read by name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

from shoal.errors import InputError
from shoal.system.memory import refuse_beyond_memory
from shoal.tracks.arena import Arena, arena_of

DIMENSIONS = ("time", "individuals", "space")
SPACE = ("x", "y")
LEFT_OUT = (
    "{} was left out: only x and y are used, so that distances and angles are those on a plane"
)
ROOMY = 12_000_000
"""Cells that any grid may have: about half a gigabyte while tracks are made of it."""
MOST_EMPTY = 300
"""Cells for each fix in a larger grid, as with many animals tagged for a while in many years."""
BYTES = 48
"""For a cell: two numbers, and the copies that checks need."""


def dataset(  # noqa: PLR0913  (a record has as many fields as it has)
    positions: Any,
    *,
    fps: float | None = None,
    time: Any = None,
    individuals: Sequence[Any] | None = None,
    group: str = "",
    length_unit: str = "",
    heading: Any = None,
    arena: Arena | None = None,
    source: str = "",
    notes: Sequence[str] = (),
    time_unit: str | None = None,
    centre: tuple[float, float] | None = None,
) -> xr.Dataset:
    """The dataset of tracks; see ``Tracks.from_arrays``."""
    array = _checked_positions(positions)
    if time is not None:
        array, time, heading, missing = _with_missing_frames(array, time, heading)
        notes = [*notes, *missing]
    rate = checked_rate(fps)
    names = _checked_names(individuals, array.shape[1])
    clock = _checked_times(time, len(array), rate)
    if time_unit is None:
        time_unit = "frames" if rate is None and time is None else "s"
    if rate is None and time_unit == "s" and len(clock) > 1:
        rate = float(f"{1 / np.median(np.diff(clock)):.9g}")
    variables: dict[str, Any] = {"position": (DIMENSIONS, array)}
    if heading is not None:
        variables["heading"] = (DIMENSIONS[:2], _checked_heading(heading, array.shape[:2]))
    data = xr.Dataset(variables, {"time": clock, "individuals": names, "space": list(SPACE)})
    data.attrs = {
        "time_unit": time_unit,
        "length_unit": length_unit,
        "group": group,
        "source": source,
        "notes": list(notes),
    }
    if rate is not None:
        data.attrs["fps"] = rate
    if arena is not None:
        data.attrs["arena"] = repr(arena)
    if centre is not None:
        data.attrs["centre"] = [float(part) for part in centre]
    return data


def positions_of(data: xr.Dataset) -> Float[np.ndarray, "time individuals 2"]:
    """The positions of all animals, NaN where an animal was not seen."""
    return data["position"].values


def individuals_of(data: xr.Dataset) -> tuple[str, ...]:
    """The names of the animals."""
    return tuple(str(name) for name in data["individuals"].values)


def arena_around(data: xr.Dataset) -> Arena | None:
    """The walls or the periodic box, if known."""
    words = data.attrs.get("arena")
    return None if words is None else arena_of(words)


def place_of(data: xr.Dataset, name: str) -> int:
    """The index of an animal; raise an error if no animal has this name."""
    names = individuals_of(data)
    if str(name) not in names:
        known = ", ".join(names[:12]) + (" …" if len(names) > 12 else "")
        raise InputError(f"no animal is called {name!r}; there are {known}")
    return names.index(str(name))


def noted(data: xr.Dataset, *sentences: str) -> xr.Dataset:
    """The dataset with more notes."""
    return data.assign_attrs(notes=[*data.attrs["notes"], *sentences])


def checked_rate(fps: Any) -> float | None:
    """Frames per second as a float; raise an error unless they are positive or None."""
    if fps is None:
        return None
    if not (np.isreal(fps) and np.isfinite(fps) and fps > 0):
        raise InputError(f"frames per second must be positive, got {fps}")
    return float(fps)


def check_grid(frames: int, animals: int, fixes: int, where: str = "") -> None:
    """Raise an error if a grid of frames and animals is nearly empty or exceeds memory.

    Parameters
    ----------
    fixes
        Rows or points from which the grid is made.
    where
        The file, for the beginning of the message.
    """
    cells = int(frames) * int(animals)
    start = f"{where}: " if where else ""
    if cells > max(ROOMY, MOST_EMPTY * int(fixes)):
        raise InputError(
            f"{start}{fixes} fixes of {animals} animals are spread over {frames} frames, nearly "
            "all of them gaps: check the times and frame numbers, pass a larger clock, or read the "
            "file in parts"
        )
    refuse_beyond_memory(
        BYTES * cells, f"{start}{animals} animals in {frames} frames", "read the tracks in parts"
    )


def _checked_positions(positions: Any) -> Float[np.ndarray, "time individuals 2"]:
    """Positions as an array of floats, each with both coordinates or none."""
    try:
        array = np.array(positions, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"positions must be an array of numbers ({error})") from error
    if array.ndim != 3 or array.shape[-1] != 2 or 0 in array.shape:
        raise InputError(
            f"positions must be an array (time, individuals, 2), got shape {array.shape}"
        )
    if np.any(np.isinf(array)):
        frame, animal, _ = (int(i) for i in np.argwhere(np.isinf(array))[0])
        raise InputError(
            f"positions must be finite, or NaN where an animal was not seen; animal {animal} in "
            f"frame {frame} is at {array[frame, animal].tolist()}"
        )
    array[np.isnan(array).any(axis=-1)] = np.nan
    return array


def _with_missing_frames(
    array: Float[np.ndarray, "time individuals 2"], time: Any, heading: Any
) -> tuple[Any, Any, Any, list[str]]:
    """Positions, times and headings with empty frames where frames are missing, and a note."""
    clock = np.asarray(time, dtype=float)
    steps = np.diff(clock) if clock.shape == (len(array),) else np.ones(0)
    if len(steps) < 2 or not np.all(steps > 0) or steps.max() <= 1.5 * np.median(steps):
        return array, time, heading, []
    jumps = np.maximum(1, np.round(steps / np.median(steps))).astype(int)
    number = np.concatenate([[0], np.cumsum(jumps)])
    if number[-1] > 100 * len(array) + 1_000_000:
        raise InputError(
            f"{len(array)} frames are spread over {number[-1] + 1} at their usual interval: cut "
            "the tracks at their long breaks"
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


def _checked_names(individuals: Sequence[Any] | None, animals: int) -> list[str]:
    """A name for each animal, by default its number."""
    names = [str(n) for n in (range(animals) if individuals is None else individuals)]
    if len(names) != animals or len(set(names)) < animals:
        raise InputError(f"{animals} animals need as many different names, got {names!s:.200}")
    return names


def _checked_times(time: Any, frames: int, rate: float | None) -> Float[np.ndarray, " time"]:
    """The time of every frame, by default its number divided by the rate."""
    clock = np.arange(frames) / (rate or 1.0) if time is None else np.asarray(time, dtype=float)
    if clock.shape != (frames,) or not np.all(np.diff(clock) > 0):
        words = " ".join(f"{clock}".split())
        raise InputError(f"the times of {frames} frames must increase, got {words:.80}")
    return clock


def _checked_heading(heading: Any, shape: tuple[int, ...]) -> Float[np.ndarray, "time individuals"]:
    """Headings as an array of floats; raise an error if they do not fit the positions."""
    angles = np.asarray(heading, dtype=float)
    if angles.shape != shape:
        raise InputError(f"headings of shape {angles.shape} do not fit positions of shape {shape}")
    return angles
