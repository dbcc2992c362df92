"""Which frames a video shows when: one clock for all groups, and a rate that players can keep."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from shoal.errors import InputError
from shoal.tracks import Tracks

SLOWEST = 5.0
"""Pictures per second: with fewer, players stutter when a viewer jumps."""
USUAL = 10.0
"""Frames a second where a recording tells no rate, or has less than one a second."""
TAIL = 1.5
"""Seconds of the video that tails go back."""
HOUR = 3600.0


@dataclass(frozen=True)
class Timing:
    """Which frames are shown when.

    Attributes
    ----------
    clock
        The time that each picture shows, in words.
    frames
        The frame of each group in each picture.
    over
        Whether a group's tracks have ended by then.
    rate, repeats
        Pictures per second, and how many times each picture is shown.
    tail
        Frames of the first group in 1.5 seconds of the video.
    speed
        How many times faster than life; None where the rate is not known.
    """

    clock: tuple[str, ...]
    frames: Int[np.ndarray, "pictures groups"]
    over: Bool[np.ndarray, "pictures groups"]
    rate: float
    repeats: int
    tail: int
    speed: float | None

    @classmethod
    def of(cls, groups: Sequence[Tracks], speed: Any, fastest: float) -> "Timing":
        """One clock for all groups, which ticks with the one that has most frames a second."""
        factor = _positive(speed)
        known = [group.fps is not None for group in groups]
        if len(groups) > 1 and any(known) and not all(known):
            raise InputError(
                "side by side on one clock, either all tracks have a frame rate or none has: give "
                f"the tracks of {groups[known.index(False)].group!r} their fps"
            )
        elapsed = [group.time - group.time[0] for group in groups]
        intervals = [_interval(group) for group in groups]
        leader = int(np.argmin(intervals))
        interval, end = intervals[leader], max(times[-1] for times in elapsed)
        later = np.arange(elapsed[leader][-1] + interval, end + interval / 2, interval)
        ticks = np.concatenate([elapsed[leader], later])
        per_second = 1 / interval if all(known) and interval <= 1 else USUAL
        rate = per_second * factor
        skip, repeats = _at_least(rate / fastest), _at_least(SLOWEST / rate)
        shown = ticks[::skip]
        frames = np.stack([_nearest(times, shown) for times in elapsed], axis=1)
        over = [
            shown > times[-1] + step / 2 for times, step in zip(elapsed, intervals, strict=True)
        ]
        starts = {float(group.time[0]) for group in groups}
        start = starts.pop() if len(starts) == 1 else 0.0
        return cls(
            _in_words(start + shown, interval, all(known)),
            frames,
            np.stack(over, axis=1),
            rate * repeats / skip,
            repeats,
            max(1, round(TAIL * rate)),
            rate * interval if all(known) else None,
        )


def _at_least(ratio: float) -> int:
    """The next whole number, 1 or more; rounding errors apart."""
    return max(1, int(np.ceil(ratio - 1e-9)))


def _positive(speed: Any) -> float:
    try:
        factor = float(speed)
    except (TypeError, ValueError):
        factor = np.nan
    if not (np.isfinite(factor) and factor > 0):
        raise InputError(
            f"speed is how many times faster than life, a positive number; got {speed!r}"
        )
    return factor


def _interval(tracks: Tracks) -> float:
    """Between two frames."""
    if tracks.fps is not None:
        return 1 / tracks.fps
    return float(np.median(np.diff(tracks.time))) if len(tracks.time) > 1 else 1.0


def _nearest(
    times: Float[np.ndarray, " frames"], clock: Float[np.ndarray, " pictures"]
) -> Int[np.ndarray, " pictures"]:
    """The frame nearest to each tick of the clock, the last one after the end."""
    return np.searchsorted((times[1:] + times[:-1]) / 2, clock)


def _in_words(
    times: Float[np.ndarray, " pictures"], interval: float, seconds: bool
) -> tuple[str, ...]:
    """Seconds with as many digits as frames need; hours in long recordings; or frame numbers."""
    if not seconds:
        return tuple(f"frame {time:.0f}" for time in times)
    if times[-1] - times[0] >= HOUR:
        whole = np.round(times).astype(int)
        return tuple(f"{t // 3600} h {t // 60 % 60:02d} min {t % 60:02d} s" for t in whole)
    digits = 0 if interval >= 1 else 1 if interval >= 0.1 - 1e-9 else 2
    return tuple(f"{time:.{digits}f} s" for time in times)
