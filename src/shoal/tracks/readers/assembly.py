"""From what a file holds to tracks: fixes, or arrays of frames and animals, put on one grid."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from shoal.errors import InputError, warn
from shoal.tracks.arena import Arena
from shoal.tracks.dataset import check_grid
from shoal.tracks.geography import centre_of, projection_notes, to_metres
from shoal.tracks.readers.clock import Clock, clock_of_frames, clock_of_times, one_per_tick
from shoal.tracks.readers.fixes import (
    Codes,
    Fixes,
    arena_of_rows,
    by_group,
    check_finite,
    check_order,
    covariates_of_rows,
    disorder,
    rate_of,
)
from shoal.tracks.readers.source import ReadOptions, Source
from shoal.tracks.record import Tracks

IMAGE = (
    "positions are pixels of an image whose rows count downwards, so positive angles are turns to "
    "the right; flip_y(), --flip-y, turns them"
)


def assembled(fixes: Fixes, options: ReadOptions) -> list[Tracks]:
    """The tracks of each group."""
    if not len(fixes.x):
        raise InputError(f"{fixes.file} has no fixes")
    check_finite(fixes)
    if fixes.geographic:
        fixes = projected(fixes, options.centre)
    return [one_group(part, fixes.groups[label], options) for label, part in by_group(fixes)]


def projected(fixes: Fixes, centre: tuple[float, float] | None = None) -> Fixes:
    """Fixes in metres around a centre, by default that of all fixes, not in degrees."""
    centre = centre or centre_of(fixes.x, fixes.y)
    east, north = to_metres(fixes.x, fixes.y, centre)
    notes = (*fixes.notes, *projection_notes(east, north, centre))
    return replace(
        fixes, x=east, y=north, geographic=False, logged=True, centre=centre, length_unit="m",
        notes=notes,
    )  # fmt: skip


def one_group(fixes: Fixes, label: str, options: ReadOptions) -> Tracks:
    """The tracks of one group, from its fixes."""
    animal, codes = _by_appearance(fixes.animal, len(fixes.animals))
    names = [fixes.animals[code] for code in codes]
    fixes = _in_order(fixes, animal, names, options)
    fps = options.fps or rate_of(fixes)
    fixes, animal, clock = _clocked(fixes, animal, fps, options)
    if len(clock.time) < 2:
        raise InputError(f"{fixes.file}: group {label!r:.60} has fewer than two frames")
    check_grid(len(clock.time), len(names), len(fixes.x), fixes.file)
    cell, shape = clock.frame * len(names) + animal, (len(clock.time), len(names))
    positions = on_grid(np.column_stack([fixes.x, fixes.y]), cell, shape)
    heading: Any = None
    if fixes.heading is not None and np.isfinite(fixes.heading).any():
        heading = on_grid(fixes.heading, cell, shape)
    time, notes = clock.time, [*fixes.notes, *clock.notes]
    if fixes.timestamps and options.fps is None:
        notes.append(f"time 0 is {np.datetime64(round(time[0] * 1e3), 'ms')} UTC")
        time = time - time[0]
    timed = fixes.time is not None or fps is not None
    covariates, odd = covariates_of_rows(fixes, animal, names)
    lonely = _seldom_together(positions) if fixes.logged and len(names) > 1 else []
    for sentence in lonely:
        warn(f"{label}: {sentence}")
    return Tracks.from_arrays(
        positions,
        fps=clock.fps if timed else None,
        time=time,
        individuals=names,
        group=label,
        length_unit=options.unit or fixes.length_unit,
        heading=heading,
        arena=arena_of_rows(fixes),
        covariates=covariates,
        source=fixes.file,
        notes=[*notes, *odd, *lonely],
        centre=fixes.centre,
        time_unit="s" if timed else "frames",
    )


def _by_appearance(codes: Codes, count: int) -> tuple[Codes, Int[np.ndarray, " present"]]:
    """Codes renumbered in the order in which they appear, and the old code of each new one."""
    first = np.full(count, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    rank = np.full(count, -1)
    rank[order] = np.arange(len(order))
    return rank[codes], order


def _in_order(fixes: Fixes, animal: Codes, names: Sequence[str], options: ReadOptions) -> Fixes:
    """Check the order of fixes; if loggers wrote them, note how many are out of order."""
    if fixes.timestamps and fixes.logged:
        return replace(fixes, notes=(*fixes.notes, *disorder(fixes, animal)))
    check_order(fixes, animal, names, options.sort)
    return fixes


def _clocked(
    fixes: Fixes, animal: Codes, fps: float | None, options: ReadOptions
) -> tuple[Fixes, Int[np.ndarray, " kept"], Clock]:
    """Give each fix a frame, and keep one fix of each animal in each frame: the nearest."""
    if fixes.frame is not None and options.clock is None:
        told = fixes.time if options.fps is None else None  # the user's rate makes the clock
        return fixes, animal, clock_of_frames(fixes.frame, told, fps)
    if fixes.time is None:
        raise InputError(f"{fixes.file}: clock needs times, and this file has only frames")
    clock = clock_of_times(fixes.time, animal, options.clock)
    kept, clock = one_per_tick(clock, fixes.time, animal, np.isnan(fixes.x))
    if options.fps is not None:
        times = np.arange(len(clock.time)) / options.fps
        clock = replace(clock, time=times, fps=options.fps)
    return fixes.take(kept), animal[kept], clock


def on_grid(
    values: Float[np.ndarray, "fixes ..."], cell: Codes, shape: tuple[int, int]
) -> Float[np.ndarray, "time individuals ..."]:
    """The values of fixes in their cells of a grid, NaN in the other cells."""
    rest = values.shape[1:]
    grid = np.full((shape[0] * shape[1], *rest), np.nan)
    grid[cell] = values
    return grid.reshape(*shape, *rest)


def _seldom_together(positions: Float[np.ndarray, "time individuals 2"]) -> list[str]:
    """A sentence if animals are hardly ever seen at the same time."""
    seen = np.isfinite(positions[..., 0]).sum(axis=1)
    alone = float((seen == 1).sum() / max(1, (seen > 0).sum()))
    if alone <= 0.9:
        return []
    return [
        f"{alone:.0%} of the frames with any animal have only one: the animals are hardly ever "
        "seen at the same time, so they have almost no neighbours"
    ]


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
    """Tracks from an array of positions; errors name the file, and inf counts as not seen."""
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
    """Check an array of positions; inf counts as not seen."""
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
    """Tracks from an array and the time of each row; frames that are missing become gaps."""
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
    """Frames per second, if the file gives a positive number."""
    try:
        value = float(np.asarray(fps).ravel()[0])
    except (TypeError, ValueError, IndexError):
        return None
    return value if np.isfinite(value) and value > 0 else None
