"""Long tables, with one fix in each row, as CSV or Parquet: their columns as fixes."""

import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float, Int

from shoal.errors import InputError, warn
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.layout import (
    NUMBERS,
    ROLES,
    Layout,
    covariate_columns,
    flag_columns,
    layout_of,
    split_unit,
    third_dimension,
    wanted_columns,
)
from shoal.tracks.readers.source import ReadOptions, Source, named
from shoal.tracks.readers.table_files import ROW, column, csv_table, parquet_table, plain_column
from shoal.tracks.writing import PER_ANIMAL, PER_GROUP

LARGEST_FRAME = 1e15
SCALE = {"s": 1.0, "ms": 1e-3, "": 1.0}
"""Seconds in a unit of time."""


def read_fixes(source: Source, options: ReadOptions) -> Fixes:
    """All rows of a long table."""
    with named(source.path):
        layout = layout_of(source.header, options.columns)
    numbers, texts = wanted_columns(source, layout)
    if source.kind == "parquet":
        rows = parquet_table(source, [*numbers, *texts])
    else:
        rows = csv_table(source, numbers, texts)
    if rows.num_rows == 0:
        raise InputError(f"{source.path} has no rows")
    fixes = LongTable(rows, layout, source.path).fixes(source.path.stem, options.fps)
    grave, slight = third_dimension(layout)
    for sentence in grave:
        warn(f"{source.path}: {sentence}")
    return replace(fixes, notes=(*fixes.notes, *grave, *slight))


@dataclass(frozen=True, eq=False)
class LongTable:
    """Rows of a long table and the meaning of its columns.

    Attributes
    ----------
    path
        The file that messages name.
    """

    rows: pa.Table
    layout: Layout
    path: Path

    def fixes(self, name: str, fps: float | None = None) -> Fixes:
        """The fixes, without rows that are marked as bad or have no valid date.

        Parameters
        ----------
        name
            Of the group and the individual, if no column names them.
        fps
            Frames per second, if the user gave them.
        """
        layout = self.layout
        self._check_numbers()
        x_role, y_role = ("longitude", "latitude") if layout.geographic else ("x", "y")
        animal, animals = self._codes("individual", name)
        group, groups = self._codes("group", name)
        time, stamped = self._times()
        fixes = Fixes(
            group=group,
            groups=groups,
            animal=animal,
            animals=animals,
            x=column(self.rows, layout[x_role]),
            y=column(self.rows, layout[y_role]),
            frame=self.frames(),
            time=time,
            heading=column(self.rows, layout["heading"]) if "heading" in layout else None,
            geographic=layout.geographic,
            timestamps=stamped,
            length_unit=self._length_unit() or layout.length_unit,
            fps=column(self.rows, layout["fps"]) if "fps" in layout else None,
            arena=self._words(layout["arena_words"]) if "arena_words" in layout else None,
            row=self.numbers,
            covariates=self._covariates(),
            file=str(self.path),
            first_row=self._start,
        )
        bad, notes = self._bad_rows(time if stamped else None)
        unstamped = time if not stamped and "frame" not in layout else None
        if unstamped is not None and counts_frames(unstamped, layout):
            fixes = replace(fixes, frame=unstamped.astype(int), time=None)
            unknown = ", rate unknown" if fps is None and fixes.fps is None else ""
            notes.append(
                f"column {layout['time']!r} counts 1, 2, 3 …: taken as frame numbers{unknown}"
            )
        fixes = fixes.take(~bad) if bad.any() else fixes
        return replace(fixes, notes=(*fixes.notes, *self._rivals(), *notes))

    @cached_property
    def numbers(self) -> Int[np.ndarray, " fixes"]:
        """The number of each row in its file, from 0."""
        if ROW in self.rows.schema.names:
            return self.rows.column(ROW).to_numpy()
        return np.arange(self.rows.num_rows)

    @property
    def _start(self) -> int:
        """The number of the first row in messages: a CSV has a header above it."""
        return 1 if self.path.suffix == ".parquet" else 2

    def _place(self, rows: Bool[np.ndarray, " fixes"], name: str) -> str:
        """The first of these rows and a column, for a message."""
        number = int(self.numbers[np.flatnonzero(rows)[0]]) + self._start
        return f"{self.path}, row {number}, column {name!r}"

    def _check_numbers(self) -> None:
        """Raise an error that names a column of text where numbers are needed."""
        for role in NUMBERS:
            if role in self.layout:
                name = self.layout[role]
                kind = self.rows.schema.field(name).type
                if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
                    raise InputError(f"{self.path}, column {name!r}: expected numbers, got {kind}")

    def _codes(self, role: str, name: str) -> tuple[Int[np.ndarray, " fixes"], tuple[str, ...]]:
        """A number for each name, in the order in which names appear, and the names."""
        if role not in self.layout:
            return np.zeros(self.rows.num_rows, dtype=int), (name,)
        given = self.rows.column(self.layout[role])
        if isinstance(given, pa.ChunkedArray):
            given = given.combine_chunks()
        if role == "group" and given.null_count and pa.types.is_string(given.type):
            given = given.fill_null("")
        encoded = given if pa.types.is_dictionary(given.type) else given.dictionary_encode()
        if encoded.null_count:
            empty = encoded.is_null().to_numpy(zero_copy_only=False)
            raise InputError(f"{self._place(empty, self.layout[role])}: it is empty")
        spelled = [tidy(value) for value in encoded.dictionary.to_pylist()]
        names = tuple(dict.fromkeys(spelled))
        codes = encoded.indices.to_numpy(zero_copy_only=False).astype(int)
        if len(names) < len(spelled):
            places = {name: number for number, name in enumerate(names)}
            codes = np.array([places[name] for name in spelled])[codes]
        return codes, names

    def frames(self) -> Int[np.ndarray, " fixes"] | None:
        """Frame numbers, if a column has them."""
        if "frame" not in self.layout:
            return None
        name = self.layout["frame"]
        values = self.rows.column(name).to_numpy(zero_copy_only=False)
        wrong = ~are_frames(values)
        if wrong.any():
            raise InputError(f"{self._place(wrong, name)}: {NOT_A_FRAME} {values[wrong][0]}")
        return values.astype(int, copy=False)

    def _length_unit(self) -> str:
        """The unit in the column of units; empty if there is none."""
        if "length_unit" not in self.layout:
            return ""
        name = self.layout["length_unit"]
        values = self.rows.column(name).unique().to_pylist()
        if len(values) > 1:
            raise InputError(
                f"{self.path}, column {name!r}: mixed units {values[:3]}; write one file for each"
            )
        return str(values[0] or "") if values else ""

    def _words(self, name: str) -> np.ndarray:
        """A column as text, empty where nothing is given."""
        words = plain_column(self.rows, name).to_pylist()
        return np.array(["" if word is None else str(word) for word in words], object)

    def _covariates(self) -> dict[str, np.ndarray]:
        """The values of each covariate."""
        found: dict[str, np.ndarray] = {}
        for name in covariate_columns(self.layout):
            marked = name.startswith((PER_ANIMAL, PER_GROUP))
            values = [_typed(value) for value in plain_column(self.rows, name).to_pylist()]
            found[name if marked else PER_ANIMAL + split_unit(name)[0]] = np.array(values, object)
        return found

    def _rivals(self) -> list[str]:
        """A sentence if another column might name the individuals."""
        chosen = self.layout.columns.get("individual", "")
        rivals = [n for n in self.layout.others if split_unit(n)[0] in ROLES["individual"]]
        if split_unit(chosen)[0] not in ROLES["individual"] or not rivals:
            return []
        others = ", ".join(map(repr, rivals))
        return [f"individuals are told apart by column {chosen!r}, not by {others}"]

    def _bad_rows(
        self, stamps: Float[np.ndarray, " fixes"] | None
    ) -> tuple[Bool[np.ndarray, " fixes"], list[str]]:
        """Rows that are marked as bad or whose date does not exist, and sentences on them."""
        bad, notes = np.zeros(self.rows.num_rows, dtype=bool), []
        for name, marks, words in flag_columns(self.layout):
            values = plain_column(self.rows, name).to_pylist()
            flags = np.array([str(value).strip().lower() in marks for value in values], dtype=bool)
            if flags.any():
                notes.append(f"{int(flags.sum())} fixes {words} were dropped")
            bad |= flags
        if stamps is not None and np.isnan(stamps).any():
            late = np.flatnonzero(np.isnan(stamps))
            notes.append(
                f"{len(late)} fixes with a time that does not exist were dropped, the first in row "
                f"{int(self.numbers[late[0]]) + self._start} of {self.path.name}"
            )
            bad |= ~np.isfinite(stamps)
        return bad, notes

    def _times(self) -> tuple[Float[np.ndarray, " fixes"] | None, bool]:
        """Times in seconds, and whether they are dates."""
        if "time" not in self.layout:
            return None, False
        given = plain_column(self.rows, self.layout["time"])
        if pa.types.is_timestamp(given.type):
            return _epoch(given.cast(pa.timestamp("ns")).to_numpy(zero_copy_only=False)), True
        if pa.types.is_duration(given.type):
            ticks = given.cast(pa.duration("ns")).cast(pa.int64())
            return ticks.to_numpy(zero_copy_only=False).astype(float) / 1e9, False
        if not (pa.types.is_string(given.type) or pa.types.is_large_string(given.type)):
            return self._seconds()
        words = given.to_pandas()
        if "date" in self.layout:
            words = (
                plain_column(self.rows, self.layout["date"]).to_pandas() + " " + words.str.zfill(8)
            )
        elif _are_times_of_day(words):
            return _since_midnight(words), False
        return self._dates(words), True

    def _seconds(self) -> tuple[Float[np.ndarray, " fixes"], bool]:
        """Numbers of time in seconds, and whether they count from 1970: very large ones do."""
        layout = self.layout
        values = column(self.rows, layout["time"])
        if "date" in layout and len(plain_column(self.rows, layout["date"]).unique()) > 1:
            raise InputError(
                f"{self.path}: column {layout['date']!r} has several dates beside numbers in "
                f"{layout['time']!r}: write one column of date and time, or one of seconds"
            )
        largest = float(np.nanmax(np.abs(values), initial=0.0))
        if not layout.time_unit and largest > 1e11:  # 1e11 s are 3,000 years
            units = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))
            return values * next(scale for size, scale in units if largest > size), True
        return values * SCALE.get(layout.time_unit, 1.0), False

    def _dates(self, words: Any) -> Float[np.ndarray, " fixes"]:
        """Seconds since 1970 of dates and times; an error names the first that is neither."""
        import pandas as pd  # noqa: PLC0415

        name = self.layout["time"]
        stamps = pd.to_datetime(words, errors="coerce", utc=True, format="ISO8601")
        if bool(stamps.isna().any()):
            first = _day_first(words, f"{self.path}, column {name!r}")
            if first is not None:
                stamps = pd.to_datetime(
                    words, errors="coerce", utc=True, format="mixed", dayfirst=first
                )
        unread = stamps.isna().to_numpy() & ~_impossible(words)
        if unread.any():
            raise InputError(
                f"{self._place(unread, name)}: expected a number or a date and time, got "
                f"{words[unread].iloc[0]!r:.60}"
            )
        return _epoch(stamps.dt.tz_localize(None).to_numpy())


NOT_A_FRAME = "frames are whole numbers below 10¹⁵, got"


def are_frames(values: np.ndarray) -> Bool[np.ndarray, " rows"]:
    """Which values are whole numbers that are small enough to count with."""
    if np.issubdtype(values.dtype, np.integer):
        return (values <= LARGEST_FRAME) & (values >= -LARGEST_FRAME)
    return (np.floor(values) == values) & (np.abs(values) < LARGEST_FRAME)


def tidy(value: Any) -> str:
    """A name without spaces around it; a whole number without a decimal point."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value).strip()


def counts_frames(time: Float[np.ndarray, " fixes"], layout: Layout) -> bool:
    """Whether times without a unit are consecutive whole numbers."""
    if layout.time_unit or not np.all(np.isfinite(time)) or np.any(time != np.floor(time)):
        return False
    moments = np.unique(time)
    return len(moments) > 1 and bool(np.median(np.diff(moments)) == 1.0)


def _typed(value: Any) -> Any:
    """A number or truth value that is written as text."""
    if not isinstance(value, str):
        return "" if value is None else value
    if value in ("True", "False"):
        return value == "True"
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})", value):
        return int(value)
    if re.fullmatch(r"-?\d+\.\d+(e[-+]?\d+)?", value):
        return float(value)
    return value


def _are_times_of_day(words: Any) -> bool:
    """Whether all are such as 9:30 or 09:30:15.2."""
    clock = words.dropna().str.fullmatch(r"\s*\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?\s*")
    return len(clock) == len(words) and bool(clock.all())


def _since_midnight(words: Any) -> Float[np.ndarray, " fixes"]:
    import pandas as pd  # noqa: PLC0415

    whole = words.str.strip().str.replace(",", ".")
    whole = whole.where(whole.str.count(":") == 2, whole + ":00")
    return pd.to_timedelta(whole).dt.total_seconds().to_numpy()


def _day_first(words: Any, where: str) -> bool | None:
    """Whether dates such as 11/04/2020 begin with the day; None if no date is written so."""
    fields = words.dropna().str.extract(r"^\s*(\d{1,2})[/.\-](\d{1,2})[/.\-]\d{4}").dropna()
    if fields.empty:
        return None
    first, second = (int(fields[place].astype(int).max()) for place in (0, 1))
    if (first > 12) == (second > 12):
        raise InputError(
            f"{where}: is {words.iloc[0]!r:.60} day first or month first? Write dates as "
            "year-month-day"
        )
    return first > 12


def _impossible(words: Any) -> np.ndarray:
    """Dates and times that are well written but do not exist, such as 25:00:34."""
    shape = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}[ T]+\d{1,2}:\d{1,2}(:\d{1,2}(\.\d+)?)?Z?"
    return words.fillna("").str.fullmatch(shape).to_numpy(dtype=bool)


def _epoch(stamps: Any) -> Float[np.ndarray, " fixes"]:
    """Seconds since 1970, NaN where the time does not exist."""
    seconds = stamps.astype("datetime64[ns]").astype(np.int64) / 1e9
    return np.where(np.isnat(stamps), np.nan, seconds)
