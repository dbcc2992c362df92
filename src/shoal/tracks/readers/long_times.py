"""A column of times in seconds, whether it holds numbers, times of day or dates."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Float

from shoal.errors import InputError
from shoal.tracks.readers.long_layout import SCALE, Layout
from shoal.tracks.readers.long_values import numbers_of, plain


def times_of(
    rows: Any, layout: Layout, path: Path, start: int
) -> tuple[Float[np.ndarray, " fixes"] | None, bool]:
    """Seconds, and whether they were dates."""
    if "time" not in layout:
        return None, False
    column = plain(rows, layout["time"])
    if pa.types.is_timestamp(column.type):
        stamps = column.cast(pa.timestamp("ns")).to_numpy(zero_copy_only=False)
        return _epoch(stamps), True
    if pa.types.is_duration(column.type):
        ticks = column.cast(pa.duration("ns")).cast(pa.int64())
        return ticks.to_numpy(zero_copy_only=False).astype(float) / 1e9, False
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return _seconds(rows, layout, path)
    words = column.to_pandas()
    if "date" in layout:
        words = plain(rows, layout["date"]).to_pandas() + " " + words.str.zfill(8)
    elif _are_times_of_day(words):
        return _since_midnight(words), False
    return _dates(words, path, layout["time"], start), True


def _seconds(rows: Any, layout: Layout, path: Path) -> tuple[Float[np.ndarray, " fixes"], bool]:
    """Numeric times in seconds; large ones count from 1970 in a finer unit."""
    values = numbers_of(rows, layout["time"])
    if "date" in layout and len(plain(rows, layout["date"]).unique()) > 1:
        raise InputError(
            f"{path}: column {layout['date']!r} has several dates beside numbers in "
            f"{layout['time']!r}: write one column of date and time, or one of seconds"
        )
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if not layout.time_unit and largest > 1e11:  # 1e11 s are 3,000 years
        scale = next(s for size, s in ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3)) if largest > size)
        return values * scale, True
    return values * SCALE.get(layout.time_unit, 1.0), False


def _are_times_of_day(words: Any) -> bool:
    """Whether all are such as 9:30 or 09:30:15.2."""
    clock = words.dropna().str.fullmatch(r"\s*\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*")
    return len(clock) == len(words) and bool(clock.all())


def _since_midnight(words: Any) -> Float[np.ndarray, " fixes"]:
    import pandas as pd  # noqa: PLC0415

    whole = words.str.strip().str.replace(",", ".")
    whole = whole.where(whole.str.count(":") == 2, whole + ":00")
    return pd.to_timedelta(whole).dt.total_seconds().to_numpy()


def _dates(words: Any, path: Path, name: str, start: int) -> Float[np.ndarray, " fixes"]:
    """Dates and times in seconds since 1970; what cannot be read is named."""
    import pandas as pd  # noqa: PLC0415

    stamps = pd.to_datetime(words, errors="coerce", utc=True, format="ISO8601")
    if bool(stamps.isna().any()):
        first = _day_first(words, path, name)
        if first is not None:
            stamps = pd.to_datetime(
                words, errors="coerce", utc=True, format="mixed", dayfirst=first
            )
    unread = stamps.isna().to_numpy() & ~_impossible(words)
    bad = np.flatnonzero(unread)
    if bad.size:
        raise InputError(
            f"{path}, row {int(bad[0]) + start}, column {name!r}: expected a number or "
            f"a date and time, got {words.iloc[int(bad[0])]!r:.60}"
        )
    return _epoch(stamps.dt.tz_localize(None).to_numpy())


def _day_first(words: Any, path: Path, name: str) -> bool | None:
    """Whether dates such as 11/04/2020 begin with the day; None where there are none such."""
    fields = words.dropna().str.extract(r"^\s*(\d{1,2})[/.\-](\d{1,2})[/.\-]\d{4}").dropna()
    if fields.empty:
        return None
    first, second = (int(fields[place].astype(int).max()) for place in (0, 1))
    if (first > 12) == (second > 12):
        raise InputError(
            f"{path}, column {name!r}: is {words.iloc[0]!r:.60} day first or month first? Write "
            "dates as year-month-day"
        )
    return first > 12


def _impossible(words: Any) -> np.ndarray:
    """Dates and times that are written as such but do not exist, such as 25:00:34."""
    shape = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}[ T]+\d{1,2}:\d{1,2}(:\d{1,2}(\.\d+)?)?Z?"
    return words.fillna("").str.fullmatch(shape).to_numpy(dtype=bool)


def _epoch(stamps: Any) -> Float[np.ndarray, " fixes"]:
    """Seconds since 1970, NaN where the time does not exist."""
    seconds = stamps.astype("datetime64[ns]").astype(np.int64) / 1e9
    return np.where(np.isnat(stamps), np.nan, seconds)


def counts_frames(time: Float[np.ndarray, " fixes"], layout: Layout) -> bool:
    """Whether times without a unit are consecutive whole numbers."""
    if layout.time_unit or not np.all(np.isfinite(time)) or np.any(time != np.floor(time)):
        return False
    moments = np.unique(time)
    return len(moments) > 1 and bool(np.median(np.diff(moments)) == 1.0)
