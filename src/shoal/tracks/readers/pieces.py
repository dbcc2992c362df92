"""Row groups of Parquet files: opened, read, and asked for their frames."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int
from pyarrow import parquet

from shoal.errors import InputError
from shoal.system.quarantine import refuse_promises
from shoal.tracks.readers.source import damaged


@dataclass(frozen=True)
class Piece:
    """One row group of one file; ``low`` and ``high`` are its first and last frame, once known."""

    path: Path
    number: int
    rows: int
    label: str = ""
    low: int = 0
    high: int = 0


def opened(path: Path) -> Any:
    """A Parquet file, or an error that says it is damaged."""
    try:
        return parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from error


def pieces_of(path: Path, label: str) -> list[Piece]:
    """Every row group of a file."""
    with opened(path) as file:
        facts = file.metadata
        rows = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
    refuse_promises(path, 32.0 * sum(rows), path.stat().st_size)
    return [Piece(path, i, n, label) for i, n in enumerate(rows)]


def read_columns(file: Any, path: Path, numbers: Sequence[int], columns: Sequence[str]) -> Any:
    """Some columns of some row groups."""
    try:
        return file.read_row_groups(list(numbers), columns=list(columns), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from error


def frame_range(piece: Piece, name: str) -> tuple[int, int]:
    """First and last frame of a row group: from its statistics, or by looking."""
    with opened(piece.path) as file:
        place = file.schema_arrow.names.index(name)
        facts = file.metadata.row_group(piece.number).column(place).statistics
        if facts is not None and facts.has_min_max:
            return int(facts.min), int(facts.max)
        column = read_columns(file, piece.path, [piece.number], [name]).column(0)
    frames = _integers(column, piece.path, name)
    return int(frames.min()), int(frames.max())


def _integers(column: Any, path: Path, name: str) -> Int[np.ndarray, " rows"]:
    values = column.to_numpy(zero_copy_only=False)
    if not np.issubdtype(values.dtype, np.integer):
        wrong = ~(np.isfinite(values.astype(float)) & (np.floor(values.astype(float)) == values))
        if wrong.any():
            late = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"{path}, column {name!r}: frames are whole numbers, got {values[late]}"
            )
    return values.astype(np.int64, copy=False)
