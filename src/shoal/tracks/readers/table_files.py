"""Columns of CSV and Parquet files: whole, or a part at a time where files exceed memory.

A broken row raises an error that names it; no row is skipped or padded.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv
from pyarrow import dataset, parquet

from shoal.errors import InputError
from shoal.system.formulas import FORMULA
from shoal.system.quarantine import refuse_promises
from shoal.tracks.readers.source import PACKED, Source, damaged

MISSING = ["", "NA", "NaN", "nan", "NAN", "null", "NULL", "None", "n/a", "#N/A"]
INFINITE = {"inf", "+inf", "-inf", "infinity", "-infinity"}
BLOCK = 1 << 24
"""Bytes of text in memory at a time."""
BATCH = 1 << 20
"""Rows that Arrow decodes at a time; its default, of fewer rows, takes longer."""
ROW = "number of the row in its file"
"""A column that ``row_groups`` adds."""


def csv_table(source: Source, numbers: Sequence[str], texts: Sequence[str] = ()) -> pa.Table:
    """All rows of some columns of a CSV file."""
    found = list(csv_batches(source, numbers, texts))
    if not sum(batch.num_rows for batch in found):
        raise InputError(f"{source.path} has a header but no rows")
    return pa.Table.from_batches(found)


def csv_batches(
    source: Source, numbers: Sequence[str], texts: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Some columns of a CSV file, block by block: ``numbers`` as float64, ``texts`` as strings."""
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
                yield _without_apostrophes(batch, texts)
    except InputError:
        raise
    except pa.ArrowKeyError as error:
        gone = next((n for n in wanted if n not in unique_names(source.header)), "")
        raise InputError(
            f"{source.path}: there is no column {gone!r:.60}; export it as well"
        ) from error
    except UnicodeError as error:
        raise InputError(
            f"{source.path} has an unknown text encoding: save it as UTF-8 ({error!s:.80})"
        ) from error
    except pa.ArrowInvalid as error:
        raise _broken_row(source, numbers, error) from error
    except PACKED as error:
        raise damaged(source.path, error) from error


def _without_apostrophes(batch: pa.RecordBatch, texts: Sequence[str]) -> pa.RecordBatch:
    """Remove the apostrophes that stop spreadsheets from running names as formulas."""
    for name in texts:
        words = batch.column(name)
        if pc.any(pc.starts_with(words, "'")).as_py():
            plain = pc.replace_substring_regex(words, f"^'({FORMULA})", r"\1")
            batch = batch.set_column(batch.schema.get_field_index(name), name, plain)
    return batch


def column(rows: Any, name: str) -> np.ndarray:
    """A column of numbers as float64, NaN where it is empty."""
    return rows.column(name).to_numpy(zero_copy_only=False).astype(float, copy=False)


def plain_column(rows: Any, name: str) -> Any:
    """A column in one piece, without the categories of pandas."""
    values = rows.column(name)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def unique_names(header: Sequence[str]) -> list[str]:
    """The header, with a number added to repeated and to empty names."""
    seen: dict[str, int] = {}
    names = []
    for name in header:
        seen[name] = seen.get(name, 0) + 1
        names.append(name if name and seen[name] == 1 else f"{name}#{seen[name]}")
    return names


def _broken_row(source: Source, numbers: Sequence[str], error: Exception) -> InputError:
    """The error that names the first row with too few or too many columns, or without a number."""
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
        return InputError(f"{source.path} is only partly UTF-8: save it as UTF-8")
    return damaged(source.path, error)


def _is_number(word: str) -> bool:
    if word in MISSING:
        return True
    try:
        float(word)
    except ValueError:
        return False
    return True


def copy_to_parquet(
    source: Source, numbers: Sequence[str], texts: Sequence[str], path: Path, rows: int
) -> Path:
    """Copy columns of a CSV file to Parquet in row groups of so many rows, block by block."""
    writer = None
    try:
        for batch in csv_batches(source, numbers, texts):
            writer = writer or parquet.ParquetWriter(path, batch.schema)
            writer.write_batch(batch, row_group_size=rows)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise InputError(f"{source.path} has a header but no rows")
    return path


def parquet_table(source: Source, columns: Sequence[str]) -> pa.Table:
    """All rows of some columns; refuse files whose rows or texts would fill the memory."""
    path, size, schema = source.path, source.path.stat().st_size, source.parquet_schema
    texts = [name for name in columns if pa.types.is_string(schema.field(name).type)]
    try:
        count = parquet.read_metadata(path).num_rows
        refuse_promises(path, 8.0 * count * len(columns), size)
        rows = parquet.read_table(path, columns=list(columns), read_dictionary=texts)
        refuse_promises(path, sum(_letters(rows.column(name)) for name in texts), size)
        for name in texts:
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, name, rows.column(name).cast(pa.string()))
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from error
    return rows


def _letters(column: Any) -> float:
    """The letters in a column of text, if every row had its own copy of its word."""
    total = 0
    for part in column.chunks:
        lengths = pc.binary_length(part.dictionary)
        total += pc.sum(pc.take(lengths, part.indices)).as_py() or 0
    return float(total)


def fragment_of(path: Path) -> Any:
    """A Parquet file as a fragment of a dataset; refuse one that is damaged or too large."""
    try:
        (fragment,) = dataset.dataset(path, format="parquet").get_fragments()
        rows = fragment.metadata.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, error) from error
    refuse_promises(path, 32.0 * rows, path.stat().st_size)
    return fragment


def row_group_sizes(fragment: Any) -> list[int]:
    """The number of rows in each row group of a Parquet file."""
    return [fragment.metadata.row_group(i).num_rows for i in range(fragment.num_row_groups)]


def row_groups(
    path: Path, columns: Sequence[str], numbers: Sequence[int] | None = None, where: Any = None
) -> Iterator[pa.Table]:
    """Rows of a Parquet file, one row group at a time, with their numbers in the column ROW.

    Parameters
    ----------
    numbers
        The row groups to read; by default all.
    where
        A condition on rows. Row groups whose statistics exclude it are not read.
    """
    fragment = fragment_of(path)
    sizes = row_group_sizes(fragment)
    chosen = range(len(sizes)) if numbers is None else numbers
    try:
        for part in fragment.subset(row_group_ids=list(chosen)).split_by_row_group(where):
            rows = part.to_table(columns=list(columns), batch_size=BATCH, use_threads=False)
            first = sum(sizes[: part.row_groups[0].id])
            rows = rows.append_column(ROW, pa.array(np.arange(first, first + rows.num_rows)))
            yield rows if where is None else rows.filter(where)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from error
