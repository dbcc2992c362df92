"""Tracks out of whole arrays (time, individuals, 2), as most trackers write them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.tracks.arena import Arena
from shoal.tracks.gaps import check_grid
from shoal.tracks.readers.clock import clock_of_times, one_per_tick
from shoal.tracks.readers.source import ReadOptions, Source
from shoal.tracks.record import Tracks

IMAGE = (
    "places are pixels of an image whose rows count downwards, so positive angles are turns to the "
    "right; flip_y(), --flip-y, turns them"
)


def tracks_of(  # noqa: PLR0913  (what a file may say)
    source: Source,
    options: ReadOptions,
    positions: Any,
    *,
    fps: Any = None,
    unit: str = "",
    individuals: Sequence[str] | None = None,
    heading: Any = None,
    covariates: Mapping[str, Any] | None = None,
    arena: Arena | None = None,
    notes: Sequence[str] = (),
    group: str | None = None,
) -> Tracks:
    """Checked, with the file's name in every message; inf counts as not seen."""
    array = places_of(source, positions)
    rate = options.fps if options.fps is not None else _rate(fps)
    words = [*notes, IMAGE] if (options.unit or unit) == "px" else list(notes)
    try:
        return Tracks.from_arrays(
            array,
            fps=rate,
            individuals=individuals or [str(i + 1) for i in range(array.shape[1])],
            group=source.path.stem if group is None else group,
            length_unit=options.unit or unit,
            heading=heading,
            covariates=covariates,
            arena=arena,
            source=str(source.path),
            notes=words,
        )
    except InputError as error:
        raise InputError(f"{source.path}: {error}") from error


def places_of(source: Source, positions: Any) -> Float[np.ndarray, "time individuals 2"]:
    """Places of two frames or more; inf counts as not seen."""
    array = np.array(positions, dtype=float)
    if array.ndim != 3 or array.shape[-1] != 2:
        raise InputError(
            f"{source.path}: expected positions (frames, animals, 2), got shape {array.shape}"
        )
    if len(array) < 2:
        raise InputError(f"{source.path}: fewer than two frames")
    array[np.isinf(array)] = np.nan
    return array


def timed_tracks(source: Source, options: ReadOptions, time: Any, **known: Any) -> Tracks:
    """Rows with a time of their own: frames that are missing altogether become gaps."""
    seconds = np.asarray(time, dtype=float)
    backwards = np.flatnonzero(~(np.diff(seconds) > 0))
    if backwards.size:
        late = int(backwards[0]) + 1
        raise InputError(
            f"{source.path}, row {late + 2}: time goes backwards, {seconds[late]:g} s after "
            f"{seconds[late - 1]:g} s"
        )
    everybody = np.zeros(len(seconds), dtype=int)
    clock = clock_of_times(seconds, everybody, None)
    nobody = np.isnan(np.asarray(known["positions"], dtype=float)).all(axis=(1, 2))
    kept, clock = one_per_tick(clock, seconds, everybody, nobody)
    animals = np.shape(known["positions"])[1]
    check_grid(len(clock.time), animals, len(seconds) * animals, str(source.path))
    arrays = {}
    for name in ("positions", "heading"):
        if known.get(name) is not None:
            rows = np.asarray(known[name], dtype=float)[kept]
            grid = np.full((len(clock.time), *rows.shape[1:]), np.nan)
            grid[clock.frame] = rows
            arrays[name] = grid
    notes = [*known.pop("notes", ()), *clock.notes]
    rate = known.pop("fps", None) or clock.fps
    tracks = tracks_of(source, options, fps=rate, notes=notes, **(known | arrays))
    if options.fps is None:
        tracks = Tracks(tracks.data.assign_coords(time=clock.time))
    return tracks


def _rate(fps: Any) -> float | None:
    """A rate where the file gives one that makes sense."""
    try:
        value = float(np.asarray(fps).ravel()[0])
    except (TypeError, ValueError, IndexError):
        return None
    return value if np.isfinite(value) and value > 0 else None
