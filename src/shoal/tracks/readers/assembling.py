"""From fixes, one a row, to tracks on the grid of frames and animals."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from shoal.errors import InputError
from shoal.tracks.gaps import check_grid
from shoal.tracks.readers.checking import check_finite, check_order, disorder
from shoal.tracks.readers.clock import Clock, clock_of_frames, clock_of_times, one_per_tick
from shoal.tracks.readers.fixes import Codes, Fixes, by_group
from shoal.tracks.readers.geography import centre_of, projection_notes, to_metres
from shoal.tracks.readers.group_facts import arena_of_rows, covariates_of_rows, rate_of
from shoal.tracks.readers.source import ReadOptions
from shoal.tracks.record import Tracks, warn


def assembled(fixes: Fixes, options: ReadOptions) -> list[Tracks]:
    """One record for each group."""
    if not len(fixes.x):
        raise InputError(f"{fixes.file} holds no fixes")
    check_finite(fixes)
    if fixes.geographic:
        fixes = projected(fixes, options.centre)
    return [one_group(part, fixes.groups[label], options) for label, part in by_group(fixes)]


def projected(fixes: Fixes, centre: tuple[float, float] | None = None) -> Fixes:
    """Longitude and latitude in metres around the centre of all fixes."""
    centre = centre or centre_of(fixes.x, fixes.y)
    east, north = to_metres(fixes.x, fixes.y, centre)
    notes = (*fixes.notes, *projection_notes(east, north, centre))
    return replace(
        fixes, x=east, y=north, geographic=False, logged=True, centre=centre, length_unit="m",
        notes=notes,
    )  # fmt: skip


def one_group(fixes: Fixes, label: str, options: ReadOptions) -> Tracks:
    """Rows of one group on the grid of its frames and animals."""
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
    lonely = _lonely(positions) if fixes.logged and len(names) > 1 else []
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
    """Numbers in the order of their first appearance, and which code each stands for."""
    first = np.full(count, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    rank = np.full(count, -1)
    rank[order] = np.arange(len(order))
    return rank[codes], order


def _in_order(fixes: Fixes, animal: Codes, names: Sequence[str], options: ReadOptions) -> Fixes:
    """Fixes whose order was checked, or, where loggers wrote them, noted."""
    if fixes.timestamps and fixes.logged:
        return replace(fixes, notes=(*fixes.notes, *disorder(fixes, animal)))
    check_order(fixes, animal, names, options.sort)
    return fixes


def _clocked(
    fixes: Fixes, animal: Codes, fps: float | None, options: ReadOptions
) -> tuple[Fixes, Int[np.ndarray, " kept"], Clock]:
    """The frame of every fix, without those that share one with a nearer fix."""
    if fixes.frame is not None and options.clock is None:
        told = fixes.time if options.fps is None else None  # the user's rate makes the clock
        return fixes, animal, clock_of_frames(fixes.frame, told, fps)
    if fixes.time is None:
        raise InputError(f"{fixes.file}: a clock needs times, and there are only frames")
    clock = clock_of_times(fixes.time, animal, options.clock)
    kept, clock = one_per_tick(clock, fixes.time, animal, np.isnan(fixes.x))
    if options.fps is not None:
        times = np.arange(len(clock.time)) / options.fps
        clock = replace(clock, time=times, fps=options.fps)
    return fixes.take(kept), animal[kept], clock


def on_grid(
    values: Float[np.ndarray, "fixes ..."], cell: Codes, shape: tuple[int, int]
) -> Float[np.ndarray, "time individuals ..."]:
    """Values of fixes where they belong among all frames and animals, NaN elsewhere."""
    rest = values.shape[1:]
    grid = np.full((shape[0] * shape[1], *rest), np.nan)
    grid[cell] = values
    return grid.reshape(*shape, *rest)


def _lonely(positions: Float[np.ndarray, "time individuals 2"]) -> list[str]:
    """A sentence where animals are hardly ever seen at the same time."""
    seen = np.isfinite(positions[..., 0]).sum(axis=1)
    alone = float((seen == 1).sum() / max(1, (seen > 0).sum()))
    if alone <= 0.9:
        return []
    return [
        f"in {alone:.0%} of the frames with any animal only one is seen: they are hardly "
        "ever seen at the same time, so there are no neighbours to speak of"
    ]
