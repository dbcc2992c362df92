"""Long tables, one fix a row, as CSV or Parquet, under any of the names people give columns."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float

from shoal.errors import InputError
from shoal.tracks.readers.delimited import table
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.long_columns import (
    flag_columns,
    is_numeric,
    third_dimension,
    wanted_columns,
)
from shoal.tracks.readers.long_layout import ROLES, Layout, layout_of, split_unit
from shoal.tracks.readers.long_parquet import read_parquet
from shoal.tracks.readers.long_times import counts_frames, times_of
from shoal.tracks.readers.long_values import (
    codes_of,
    constant_of,
    covariate_values,
    frames_of,
    numbers_of,
    plain,
    words_of,
)
from shoal.tracks.readers.source import ReadOptions, Source, named
from shoal.tracks.record import warn


def read_fixes(source: Source, options: ReadOptions, name: str | None = None) -> Fixes:
    """All rows of a long table."""
    with named(source.path):
        layout = layout_of(source.header, options.columns)
    numeric = "time" in layout and is_numeric(source, layout["time"])
    rows = read_rows(source, *wanted_columns(layout, numeric))
    if rows.num_rows == 0:
        raise InputError(f"{source.path} has no rows")
    fixes = fixes_of(rows, layout, source.path, name or source.path.stem, options.fps)
    grave, slight = third_dimension(layout)
    for sentence in grave:
        warn(f"{source.path}: {sentence}")
    return replace(fixes, notes=(*fixes.notes, *grave, *slight))


def read_rows(source: Source, numbers: Sequence[str], texts: Sequence[str]) -> pa.Table:
    """The wanted columns of a CSV or Parquet file."""
    if source.kind != "parquet":
        return table(source, numbers, texts)
    rows = read_parquet(source, [*numbers, *texts])
    return as_wanted(rows, numbers, texts, source.path)


def as_wanted(rows: Any, numbers: Sequence[str], texts: Sequence[str], path: Path) -> Any:
    """Number columns as float64; an error names those that hold text."""
    for name in numbers:
        kind = rows.schema.field(name).type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
            raise InputError(f"{path}, column {name!r}: expected numbers, got {kind}")
    return rows


def fixes_of(rows: Any, layout: Layout, path: Path, name: str, fps: float | None = None) -> Fixes:
    """Fixes out of the rows of a long table; ``fps`` is what the user says, if anything."""
    start = 1 if path.suffix == ".parquet" else 2
    x_role, y_role = ("longitude", "latitude") if layout.geographic else ("x", "y")
    animal, animals = codes_of(rows, layout, "individual", name, path, start)
    group, groups = codes_of(rows, layout, "group", name, path, start)
    time, stamped = times_of(rows, layout, path, start)
    fixes = Fixes(
        group=group,
        groups=groups,
        animal=animal,
        animals=animals,
        x=numbers_of(rows, layout[x_role]),
        y=numbers_of(rows, layout[y_role]),
        frame=frames_of(rows, layout, path, start),
        time=time,
        heading=numbers_of(rows, layout["heading"]) if "heading" in layout else None,
        geographic=layout.geographic,
        timestamps=stamped,
        length_unit=constant_of(rows, layout, "length_unit", path) or layout.length_unit,
        fps=numbers_of(rows, layout["fps"]) if "fps" in layout else None,
        arena=words_of(rows, layout["arena_words"]) if "arena_words" in layout else None,
        row=np.arange(rows.num_rows),
        covariates=covariate_values(rows, layout),
        file=str(path),
        first_row=start,
    )
    lost, dropped = _left_out(rows, layout, time if stamped else None, path, start)
    notes = [*_rivals(rows, layout), *dropped]
    if time is not None and not stamped and "frame" not in layout and counts_frames(time, layout):
        fixes = replace(fixes, frame=time.astype(int), time=None)
        unknown = ", rate unknown" if fps is None and fixes.fps is None else ""
        notes.append(f"column {layout['time']!r} counts 1, 2, 3 …: taken as frame numbers{unknown}")
    fixes = fixes.take(~lost) if lost.any() else fixes
    return replace(fixes, notes=(*fixes.notes, *notes))


def _rivals(rows: Any, layout: Layout) -> list[str]:
    """A sentence where another column might have told individuals apart."""
    known = [n for n in rows.schema.names if split_unit(n)[0] in ROLES["individual"]]
    rivals = [n for n in layout.others if split_unit(n)[0] in ROLES["individual"]]
    if not ("individual" in layout and known and rivals):
        return []
    return [
        f"individuals are told apart by column {layout['individual']!r}, not by "
        f"{', '.join(map(repr, rivals))}"
    ]


def _left_out(
    rows: Any, layout: Layout, stamps: Float[np.ndarray, " fixes"] | None, path: Path, start: int
) -> tuple[Bool[np.ndarray, " fixes"], list[str]]:
    """Rows that are marked as bad or whose date does not exist, and sentences that say so."""
    lost, notes = np.zeros(rows.num_rows, dtype=bool), []
    for flag, bad, words in flag_columns(layout):
        flags = np.array([str(v).strip().lower() in bad for v in plain(rows, flag).to_pylist()])
        if flags.any():
            notes.append(f"{int(flags.sum())} fixes {words} were dropped")
        lost |= flags
    if stamps is not None and np.isnan(stamps).any():
        late = np.flatnonzero(np.isnan(stamps))
        notes.append(
            f"{len(late)} fixes with a time that does not exist were dropped, the first in row "
            f"{int(late[0]) + start} of {path.name}"
        )
        lost |= ~np.isfinite(stamps)
    return lost, notes
