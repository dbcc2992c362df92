"""The clock of tracks: from times of fixes to frames that all animals share."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from shoal.errors import InputError, warn
from shoal.tracks.record import Tracks

MOST_FRAMES = 50_000_000


@dataclass(frozen=True)
class Clock:
    """The frame of each fix, the time of each frame, and notes.

    Attributes
    ----------
    tick
        Seconds between frames, if fixes were moved to the nearest tick of a common clock.
    """

    frame: Int[np.ndarray, " fixes"]
    time: Float[np.ndarray, " frames"]
    fps: float | None
    notes: tuple[str, ...] = ()
    tick: float | None = None


def clock_of_frames(
    frame: Int[np.ndarray, " fixes"], time: Float[np.ndarray, " fixes"] | None, fps: float | None
) -> Clock:
    """A clock from frame numbers; frames numbered in steps, as 0, 5, 10, follow each other."""
    numbers = np.unique(frame)
    step = int(np.gcd.reduce(np.diff(numbers))) if len(numbers) > 1 else 1
    count = int(numbers[-1] - numbers[0]) // step + 1
    _check_count(count, len(frame))
    index = (frame - numbers[0]) // step
    notes = () if step == 1 else (f"frames are numbered in steps of {step}",)
    if time is None:
        rate = None if fps is None else fps / step
        clock = numbers[0] + step * np.arange(count, dtype=float)
        return Clock(index, clock if fps is None else clock / fps, rate, notes)
    seen, first = np.unique(index, return_index=True)
    moments = time[first]
    if np.any(np.diff(moments) <= 0):
        late = int(np.flatnonzero(np.diff(moments) <= 0)[0]) + 1
        raise InputError(
            f"time goes backwards: frame {numbers[late]} is at {moments[late]:g} s, the one before "
            f"at {moments[late - 1]:g} s"
        )
    if len(seen) < 2:
        return Clock(index, np.asarray(moments), fps, notes)
    spacing = _even_spacing(moments, seen)
    clock = np.interp(np.arange(count), seen, moments)
    rate = round_rate(1 / spacing) if fps is None else fps / step
    return Clock(index, clock, rate, notes)


def clock_of_times(
    time: Float[np.ndarray, " fixes"],
    animal: Int[np.ndarray, " fixes"],
    spacing: float | None,
) -> Clock:
    """One clock for all animals: the times of the fixes or, if animals differ, regular ticks.

    Parameters
    ----------
    time
        The time of each fix, in seconds.
    animal
        The number of the animal of each fix.
    spacing
        Seconds between ticks; by default the usual interval between an animal's fixes.
    """
    moments = np.unique(time)
    given = spacing is not None
    step = round_interval(usual_interval(time, animal)) if spacing is None else spacing
    if len(moments) < 2 or not step > 0:
        return Clock(np.zeros(len(time), dtype=int), moments, None)
    together = len(moments) <= 1.2 * int(np.bincount(animal).max())
    if not given and together and np.diff(moments).min() >= 0.5 * step:
        return _as_they_come(time, moments, step)
    return _nearest_tick(time, step)


def one_per_tick(
    clock: Clock,
    time: Float[np.ndarray, " fixes"],
    animal: Int[np.ndarray, " fixes"],
    unseen: Bool[np.ndarray, " fixes"],
) -> tuple[Int[np.ndarray, " kept"], Clock]:
    """The fixes to keep, one for each animal and tick, and their clock.

    Of several fixes of an animal at one tick the nearest is kept.

    Parameters
    ----------
    unseen
        Fixes without a position, which are kept only if no other is there.
    """
    off = np.abs(time - clock.time[clock.frame])
    order = np.lexsort((off, unseen, animal, clock.frame))
    cell = clock.frame[order] * (int(animal.max()) + 1) + animal[order]
    kept = np.sort(order[np.concatenate([[True], np.diff(cell) != 0])])
    notes = list(clock.notes)
    if clock.tick is not None:
        placed = kept[~unseen[kept]]
        notes.append(_distance_note(off[placed if placed.size else kept], clock.tick))
    if len(kept) < len(time):
        notes.append(
            f"{len(time) - len(kept)} fixes left out: another of the same animal is as near to the "
            "tick, or nearer"
        )
    return kept, replace(clock, frame=clock.frame[kept], notes=tuple(notes))


def _distance_note(off: Float[np.ndarray, " kept"], tick: float) -> str:
    """How far fixes lie from their ticks; a warning if that is far."""
    note = (
        f"times moved to a common clock with a tick every {tick:g} s; fixes lie "
        f"{np.median(off):.3g} s (median), at most {off.max():.3g} s, from their tick"
    )
    if np.median(off) > 0.1 * tick:
        warn(f"{note}: speeds and distances between animals are that uncertain; choose a clock")
    return note


def usual_interval(time: Float[np.ndarray, " fixes"], animal: Int[np.ndarray, " fixes"]) -> float:
    """The median time between the fixes of an animal; of these, the median over animals."""
    order = np.lexsort((time, animal))
    steps, same = np.diff(time[order]), np.diff(animal[order]) == 0
    owner = animal[order][1:]
    usable = same & (steps > 0)
    medians = [np.median(steps[usable & (owner == one)]) for one in np.unique(owner[usable])]
    return float(np.median(medians)) if medians else 0.0


INTERVALS = np.array(
    [*(1, 2, 5, 10, 15, 20, 30), *(60, 90, 120, 180, 300, 600, 900, 1200, 1800)]
    + [3600 * hours for hours in (1, 1.5, 2, 3, 4, 6, 8, 12, 24)]
)
"""Usual settings of loggers: seconds between fixes."""


def round_interval(seconds: float) -> float:
    """The usual setting of a logger within 2 % of an interval, or the interval itself."""
    near = float(INTERVALS[np.argmin(np.abs(np.log(INTERVALS / max(seconds, 1e-9))))])
    return near if seconds >= 0.95 and abs(near / seconds - 1) < 0.02 else seconds


def round_rate(rate: float) -> float:
    """A frame rate without the errors of rounded times."""
    for digits in (0, 1, 2, 3):
        near = round(rate, digits)
        if near > 0 and abs(near - rate) < 1e-3 * rate:
            return near
    return float(f"{rate:.6g}")


def at_rate(tracks: Tracks, fps: float) -> Tracks:
    """Tracks with another frame rate.

    If frames are numbered in steps of n, the rate of the tracks is ``fps`` divided by n.
    """
    numbered = tracks.data.attrs["time_unit"] == "frames"
    frames = tracks.time if numbered else np.arange(len(tracks.time), dtype=float)
    step = float(np.median(np.diff(frames)))
    data = tracks.data.assign_coords(time=frames / fps)
    return Tracks(data.assign_attrs(fps=fps / step, time_unit="s"))


def _even_spacing(
    moments: Float[np.ndarray, " moments"], numbers: Int[np.ndarray, " moments"]
) -> float:
    """Seconds between frames: the mean or, if breaks change it much, the median."""
    usual = float(np.median(np.diff(moments) / np.diff(numbers)))
    overall = float((moments[-1] - moments[0]) / (numbers[-1] - numbers[0]))
    return overall if abs(overall / usual - 1) < 0.1 else usual


def _as_they_come(
    time: Float[np.ndarray, " fixes"], moments: Float[np.ndarray, " moments"], step: float
) -> Clock:
    """A clock with the times of the fixes; long steps become gaps."""
    jumps = np.maximum(1, np.round(np.diff(moments) / step)).astype(int)
    numbers = np.concatenate([[0], np.cumsum(jumps)])
    _check_count(int(numbers[-1]) + 1, len(time))
    notes = []
    uneven = np.abs(np.diff(moments) / (jumps * step) - 1) > 0.1
    if np.any(uneven):
        notes.append(
            f"{int(uneven.sum())} of {len(uneven)} steps between frames differ by over 10 % from "
            f"{step:.4g} s; frames are treated as evenly spaced"
        )
    if np.any(jumps > 1):
        notes.append(f"{int((jumps - 1).sum())} frames are missing altogether and count as gaps")
    clock = np.interp(np.arange(numbers[-1] + 1), numbers, moments)
    frame = numbers[np.searchsorted(moments, time)]
    return Clock(frame, clock, round_rate(1 / _even_spacing(moments, numbers)), tuple(notes))


def _nearest_tick(time: Float[np.ndarray, " fixes"], step: float) -> Clock:
    """A clock with regular ticks, placed where most fixes are."""
    turn = 2j * np.pi / step  # ticks where most fixes are: the mean of times on the clock's circle
    phase = float(np.angle(np.exp(turn * (time - time.min())).mean())) * step / (2 * np.pi)
    start = time.min() + phase
    frame = np.floor((time - start) / step + 0.5).astype(int)
    start += float(frame.min()) * step
    frame -= frame.min()
    _check_count(int(frame.max()) + 1, len(time))
    clock = start + step * np.arange(frame.max() + 1)
    return Clock(frame, clock, round_rate(1 / step), tick=step)


def _check_count(count: int, fixes: int) -> None:
    """Raise an error if a few fixes would make very many frames."""
    if count > MOST_FRAMES or (count > 1_000_000 and count > 1000 * fixes):
        raise InputError(
            f"{fixes} fixes are spread over {count} frames: pass a larger clock or check the times"
        )
