"""Long tables, one fix a row, as CSV or Parquet, under any of the names people give columns."""

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int

from shoal.errors import InputError
from shoal.tracks.readers.delimited import table
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.long_layout import ROLES, SCALE, Layout, layout_of, split_unit
from shoal.tracks.readers.source import ReadOptions, Source, damaged
from shoal.tracks.writing import PER_ANIMAL, PER_GROUP

COVARIATES = frozenset(
    {"sex", "treatment", "species", "condition", "role", "age", "population", "category"}
    | {"individual_taxon_canonical_name", "tag_local_identifier"}
)
"""Columns that are kept because of their name; others where they begin with animal: or group:."""
PLACES = ("x", "y", "longitude", "latitude")
NUMBERS = (*PLACES, "frame", "heading", "fps")
TEXTS = ("individual", "group", "length_unit", "arena_words", "date")
FALSE, TRUE = {"false", "f", "0", "no"}, {"true", "t", "1", "yes"}


def read_fixes(source: Source, options: ReadOptions, name: str | None = None) -> Fixes:
    """All rows of a long table."""
    try:
        layout = layout_of(source.header, options.columns)
    except InputError as error:
        raise InputError(f"{source.path}: {error}") from error
    numeric = "time" in layout and is_numeric(source, layout["time"])
    rows = read_rows(source, *wanted_columns(layout, numeric))
    if rows.num_rows == 0:
        raise InputError(f"{source.path} has no rows")
    return fixes_of(rows, layout, source.path, name or source.path.stem)


def covariate_columns(layout: Layout) -> list[str]:
    """Columns that say something of an animal or a group."""
    return [
        name
        for name in layout.others
        if name.startswith((PER_ANIMAL, PER_GROUP)) or split_unit(name)[0] in COVARIATES
    ]


def flag_columns(layout: Layout) -> list[tuple[str, set[str], str]]:
    """Columns that take rows out, what they say then, and how to tell it."""
    found = []
    if "visible" in layout:
        found.append((layout["visible"], FALSE, "marked visible=false"))
    if "ignore" in layout:
        found.append((layout["ignore"], TRUE, "marked to be ignored"))
    outliers = [layout["outlier"]] if "outlier" in layout else []
    outliers += [name for name in layout.others if split_unit(name)[0] in ROLES["outlier"]]
    return found + [(name, TRUE, f"marked as outliers ({name})") for name in outliers]


def wanted_columns(layout: Layout, numeric_time: bool) -> tuple[list[str], list[str]]:
    """The number columns and the text columns that tracks are made of."""
    numbers = [layout[role] for role in NUMBERS if role in layout]
    texts = [layout[role] for role in TEXTS if role in layout]
    if "time" in layout:
        (numbers if numeric_time else texts).append(layout["time"])
    texts += [name for name, _, _ in flag_columns(layout)]
    return numbers, list(dict.fromkeys([*texts, *covariate_columns(layout)]))


def read_rows(source: Source, numbers: Sequence[str], texts: Sequence[str]) -> pa.Table:
    """The wanted columns of a CSV or Parquet file."""
    if source.kind != "parquet":
        return table(source, numbers, texts)
    from pyarrow import parquet  # noqa: PLC0415

    try:
        rows = parquet.read_table(source.path, columns=[*numbers, *texts])
    except (pa.ArrowException, OSError) as error:
        raise damaged(source.path, error) from error
    return as_wanted(rows, numbers, texts, source.path)


def as_wanted(rows: Any, numbers: Sequence[str], texts: Sequence[str], path: Path) -> Any:
    """Number columns as float64; an error names those that hold text."""
    for name in numbers:
        kind = rows.schema.field(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise InputError(f"{path}, column {name!r}: expected numbers, got {kind}")
    return rows


def fixes_of(
    rows: Any, layout: Layout, path: Path, name: str, first_row: int | None = None
) -> Fixes:
    """Fixes out of the rows of a long table."""
    start = first_row if first_row is not None else (1 if path.suffix == ".parquet" else 2)
    notes: list[str] = []
    x_role, y_role = ("longitude", "latitude") if layout.geographic else ("x", "y")
    animal, animals = _codes(rows, layout, "individual", name, path, start)
    group, groups = _codes(rows, layout, "group", name, path, start)
    time, stamped = _times(rows, layout, path, start)
    fixes = Fixes(
        group=group,
        groups=groups,
        animal=animal,
        animals=animals,
        x=numbers_of(rows, layout[x_role]),
        y=numbers_of(rows, layout[y_role]),
        frame=_frames(rows, layout, path, start),
        time=time,
        heading=numbers_of(rows, layout["heading"]) if "heading" in layout else None,
        geographic=layout.geographic,
        timestamps=stamped,
        length_unit=_constant(rows, layout, "length_unit", path) or layout.length_unit,
        fps=numbers_of(rows, layout["fps"]) if "fps" in layout else None,
        arena=_words(rows, layout["arena_words"]) if "arena_words" in layout else None,
        row=np.arange(rows.num_rows),
        covariates=_covariates(rows, layout),
        file=str(path),
        first_row=start,
    )
    known = [n for n in rows.schema.names if split_unit(n)[0] in ROLES["individual"]]
    rivals = [n for n in layout.others if split_unit(n)[0] in ROLES["individual"]]
    if "individual" in layout and known and rivals:
        notes.append(
            f"individuals are told apart by column {layout['individual']!r}, not by "
            f"{', '.join(map(repr, rivals))}"
        )
    kept = np.ones(rows.num_rows, dtype=bool)
    for flag, bad, words in flag_columns(layout):
        flags = np.array([str(v).strip().lower() in bad for v in _plain(rows, flag).to_pylist()])
        if flags.any():
            notes.append(f"{int(flags.sum())} fixes {words} were dropped")
        kept &= ~flags
    if time is not None and stamped and np.isnan(time).any():
        late = int(np.flatnonzero(np.isnan(time))[0])
        notes.append(
            f"{int(np.isnan(time).sum())} fixes with a time that does not exist were dropped, the "
            f"first in row {late + start} of {path.name}"
        )
        kept &= np.isfinite(time)
    if time is not None and not stamped and "frame" not in layout and _counts_frames(time, layout):
        fixes = replace(fixes, frame=time.astype(int), time=None)
        notes.append(
            f"column {layout['time']!r} counts 1, 2, 3 …: taken as frame numbers, rate unknown"
        )
    fixes = fixes if kept.all() else fixes.take(kept)
    return replace(fixes, notes=(*fixes.notes, *notes))


def numbers_of(rows: Any, name: str) -> Float[np.ndarray, " fixes"]:
    """A column as float64, NaN where it is empty."""
    return rows.column(name).to_numpy(zero_copy_only=False).astype(float, copy=False)


def is_numeric(source: Source, name: str) -> bool:
    """Whether a column of times holds numbers."""
    if source.kind == "parquet":
        kind = source.parquet_schema.field(name).type
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    place = source.header.index(name)
    rows = csv.reader(source.lines[1:], delimiter=source.delimiter)
    words = [row[place] for row in rows if len(row) > place and row[place]]
    number = r"[-+]?\d*[.,]?\d*([eE][-+]?\d+)?"
    return bool(words) and re.fullmatch(number, words[0].strip()) is not None


def _codes(
    rows: Any, layout: Layout, role: str, name: str, path: Path, start: int
) -> tuple[Int[np.ndarray, " fixes"], tuple[str, ...]]:
    """Numbers for names, in the order of their first appearance."""
    if role not in layout:
        return np.zeros(rows.num_rows, dtype=int), (name,)
    column = rows.column(layout[role])
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if role == "group" and column.null_count and pa.types.is_string(column.type):
        column = column.fill_null("")
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if encoded.null_count:
        late = int(np.flatnonzero(encoded.is_null().to_numpy(zero_copy_only=False))[0])
        raise InputError(f"{path}, row {late + start}, column {layout[role]!r}: it is empty")
    spelled = [tidy(value) for value in encoded.dictionary.to_pylist()]
    names = tuple(dict.fromkeys(spelled))
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(int)
    if len(names) < len(spelled):
        codes = np.array([names.index(name) for name in spelled])[codes]
    return codes, names


def tidy(value: Any) -> str:
    """Names of numbers without a needless decimal point, names without spaces around them."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value).strip()


def _frames(rows: Any, layout: Layout, path: Path, start: int) -> Int[np.ndarray, " fixes"] | None:
    if "frame" not in layout:
        return None
    values = rows.column(layout["frame"]).to_numpy(zero_copy_only=False)
    if np.issubdtype(values.dtype, np.integer):
        return values.astype(int, copy=False)
    wrong = ~(np.isfinite(values) & (np.floor(values) == values))
    if wrong.any():
        late = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"{path}, row {late + start}, column {layout['frame']!r}: frames are whole numbers, "
            f"got {values[late]}"
        )
    return values.astype(int)


def _times(
    rows: Any, layout: Layout, path: Path, start: int
) -> tuple[Float[np.ndarray, " fixes"] | None, bool]:
    """Seconds, and whether they were dates."""
    if "time" not in layout:
        return None, False
    column = _plain(rows, layout["time"])
    if pa.types.is_timestamp(column.type):
        stamps = column.cast(pa.timestamp("ns")).to_numpy(zero_copy_only=False)
        return _epoch(stamps), True
    if pa.types.is_duration(column.type):
        ticks = column.cast(pa.duration("ns")).cast(pa.int64())
        return ticks.to_numpy(zero_copy_only=False).astype(float) / 1e9, False
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return _seconds(rows, layout, path)
    import pandas as pd  # noqa: PLC0415

    words = column.to_pandas()
    clock = words.dropna().str.fullmatch(r"\s*\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*")
    if "date" not in layout and len(clock) == len(words) and bool(clock.all()):
        whole = words.str.strip().str.replace(",", ".")
        whole = whole.where(whole.str.count(":") == 2, whole + ":00")
        return pd.to_timedelta(whole).dt.total_seconds().to_numpy(), False
    if "date" in layout:
        words = _plain(rows, layout["date"]).to_pandas() + " " + words.str.zfill(8)
    stamps = pd.to_datetime(words, errors="coerce", utc=True, format="ISO8601")
    if bool(stamps.isna().any()):
        first = _day_first(words, path, layout["time"])
        if first is not None:
            stamps = pd.to_datetime(
                words, errors="coerce", utc=True, format="mixed", dayfirst=first
            )
    unread = stamps.isna().to_numpy() & ~_impossible(words)
    bad = np.flatnonzero(unread)
    if bad.size:
        raise InputError(
            f"{path}, row {int(bad[0]) + start}, column {layout['time']!r}: expected a number or "
            f"a date and time, got {words.iloc[int(bad[0])]!r}"
        )
    return _epoch(stamps.dt.tz_localize(None).to_numpy()), True


def _seconds(rows: Any, layout: Layout, path: Path) -> tuple[Float[np.ndarray, " fixes"], bool]:
    """Numeric times in seconds; large ones count from 1970 in a finer unit."""
    values = numbers_of(rows, layout["time"])
    if "date" in layout and len(_plain(rows, layout["date"]).unique()) > 1:
        raise InputError(
            f"{path}: column {layout['date']!r} has several dates beside numbers in "
            f"{layout['time']!r}: write one column of date and time, or one of seconds"
        )
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if not layout.time_unit and largest > 1e11:  # 1e11 s are 3,000 years
        scale = next(s for size, s in ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3)) if largest > size)
        return values * scale, True
    return values * SCALE.get(layout.time_unit, 1.0), False


def _day_first(words: Any, path: Path, name: str) -> bool | None:
    """Whether dates such as 11/04/2020 begin with the day; None where there are none such."""
    fields = words.dropna().str.extract(r"^\s*(\d{1,2})[/.\-](\d{1,2})[/.\-]\d{4}").dropna()
    if fields.empty:
        return None
    first, second = (int(fields[place].astype(int).max()) for place in (0, 1))
    if (first > 12) == (second > 12):
        raise InputError(
            f"{path}, column {name!r}: is {words.iloc[0]!r} day first or month first? Write dates "
            "as year-month-day"
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


def _counts_frames(time: Float[np.ndarray, " fixes"], layout: Layout) -> bool:
    """Whether times without a unit are consecutive whole numbers."""
    if layout.time_unit or not np.all(np.isfinite(time)) or np.any(time != np.floor(time)):
        return False
    moments = np.unique(time)
    return len(moments) > 1 and bool(np.median(np.diff(moments)) == 1.0)


def _constant(rows: Any, layout: Layout, role: str, path: Path) -> str:
    if role not in layout:
        return ""
    values = rows.column(layout[role]).unique().to_pylist()
    if len(values) > 1:
        raise InputError(
            f"{path}, column {layout[role]!r}: mixed units {values[:3]}; write one file for each"
        )
    return str(values[0] or "")


def _words(rows: Any, name: str) -> np.ndarray:
    return np.array(["" if w is None else str(w) for w in _plain(rows, name).to_pylist()], object)


def _plain(rows: Any, name: str) -> Any:
    """A column without the categories that pandas makes."""
    column = rows.column(name)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _typed(value: Any) -> Any:
    """Text as the number or truth value that it is."""
    if not isinstance(value, str):
        return "" if value is None else value
    if value in ("True", "False"):
        return value == "True"
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})", value):
        return int(value)
    if re.fullmatch(r"-?\d+\.\d+(e[-+]?\d+)?", value):
        return float(value)
    return value


def _covariates(rows: Any, layout: Layout) -> dict[str, np.ndarray]:
    found: dict[str, np.ndarray] = {}
    for name in covariate_columns(layout):
        key = name if name.startswith((PER_ANIMAL, PER_GROUP)) else PER_ANIMAL + split_unit(name)[0]
        values = _plain(rows, name).to_pylist()
        found[key] = np.array([_typed(value) for value in values], dtype=object)
    return found
