"""Columns out of text tables, strictly: a broken row is named, never skipped or padded."""

import csv
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from shoal.errors import InputError
from shoal.system.formulas import FORMULA
from shoal.system.quarantine import refuse_promises
from shoal.tracks.readers.source import PACKED, Source, damaged

MISSING = ["", "NA", "NaN", "nan", "NAN", "null", "NULL", "None", "n/a", "#N/A"]
INFINITE = {"inf", "+inf", "-inf", "infinity", "-infinity"}
BLOCK = 1 << 24
"""Bytes of text in memory at a time."""


def batches(
    source: Source, numbers: Sequence[str], texts: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The wanted columns, block by block: ``numbers`` as float64, ``texts`` as strings."""
    wanted = list(dict.fromkeys([*numbers, *texts]))
    convert = arrow_csv.ConvertOptions(
        column_types={name: pa.float64() for name in numbers}
        | {name: pa.string() for name in texts},
        include_columns=wanted,
        null_values=MISSING,
        strings_can_be_null=True,
        decimal_point=source.decimal,
    )
    parse = arrow_csv.ParseOptions(delimiter=source.delimiter)
    read = arrow_csv.ReadOptions(
        block_size=BLOCK,
        column_names=unique_names(source.header),
        skip_rows=1,
        encoding="utf-8" if source.encoding.startswith("utf-8") else source.encoding,
    )
    try:
        with source.open_bytes() as file:
            size, unpacked = source.path.stat().st_size, 0
            for batch in arrow_csv.open_csv(file, read, parse, convert):
                unpacked += batch.nbytes
                refuse_promises(source.path, unpacked, size)
                yield _as_written(batch, texts)
    except InputError:
        raise
    except pa.ArrowKeyError as error:
        gone = next((n for n in wanted if n not in unique_names(source.header)), "")
        raise InputError(
            f"{source.path}: there is no column {gone!r:.60}; export it too"
        ) from error
    except UnicodeError as error:
        raise InputError(
            f"{source.path} has letters in no known encoding: save it as UTF-8 ({error!s:.80})"
        ) from error
    except pa.ArrowInvalid as error:
        raise broken_row(source, numbers, error) from error
    except PACKED as error:
        raise damaged(source.path, error) from error


def _as_written(batch: pa.RecordBatch, texts: Sequence[str]) -> pa.RecordBatch:
    """Without the apostrophe that keeps a spreadsheet from running a name as a formula."""
    for name in texts:
        words = batch.column(name)
        if pc.any(pc.starts_with(words, "'")).as_py():
            plain = pc.replace_substring_regex(words, f"^'({FORMULA})", r"\1")
            batch = batch.set_column(batch.schema.get_field_index(name), name, plain)
    return batch


def table(source: Source, numbers: Sequence[str], texts: Sequence[str] = ()) -> pa.Table:
    """All rows of the wanted columns."""
    found = list(batches(source, numbers, texts))
    if not found or not sum(batch.num_rows for batch in found):
        raise InputError(f"{source.path} has a header but no rows")
    return pa.Table.from_batches(found)


def column(rows: Any, name: str) -> np.ndarray:
    """A number column as an array, NaN where it is empty."""
    return rows.column(name).to_numpy(zero_copy_only=False).astype(float, copy=False)


def unique_names(header: Sequence[str]) -> list[str]:
    """The header with a number after names that come again, and after empty ones."""
    seen: dict[str, int] = {}
    names = []
    for name in header:
        seen[name] = seen.get(name, 0) + 1
        names.append(name if name and seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def broken_row(source: Source, numbers: Sequence[str], error: Exception) -> InputError:
    """The first row with another number of columns, or with text where a number should be."""
    names = unique_names(source.header)
    places = [(names.index(name), name) for name in numbers]
    with source.open() as text:
        rows = csv.reader(text, delimiter=source.delimiter)
        next(rows, None)
        for row in rows:
            if not row:
                continue
            if len(row) != len(names):
                return InputError(
                    f"{source.path}, row {rows.line_num}: expected {len(names)} columns, got "
                    f"{len(row)}: {source.delimiter.join(row)!r:.60}"
                )
            for place, name in places:
                if not _is_number(row[place].replace(source.decimal, ".")):
                    return InputError(
                        f"{source.path}, row {rows.line_num}, column {name!r}: expected a number, "
                        f"got {row[place]!r:.40}"
                    )
    if "UTF8" in str(error):
        return InputError(f"{source.path} is not in UTF-8 throughout: save it as UTF-8")
    return damaged(source.path, error)


def _is_number(word: str) -> bool:
    if word in MISSING:
        return True
    try:
        float(word)
    except ValueError:
        return False
    return True
