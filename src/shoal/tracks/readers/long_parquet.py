"""Columns out of a Parquet file that may promise more rows or text than memory holds."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from shoal.system.quarantine import refuse_promises
from shoal.tracks.readers.source import Source, damaged


def read_parquet(source: Source, columns: Sequence[str]) -> Any:
    """The wanted columns, with text written out once it is known to be short enough."""
    size = source.path.stat().st_size
    kinds = {name: source.parquet_schema.field(name).type for name in columns}
    texts = [name for name, kind in kinds.items() if pa.types.is_string(kind)]
    try:
        count = parquet.read_metadata(source.path).num_rows
        refuse_promises(source.path, 8.0 * count * len(columns), size)
        rows = parquet.read_table(source.path, columns=list(columns), read_dictionary=texts)
        refuse_promises(source.path, sum(_letters(rows.column(name)) for name in texts), size)
        for name in texts:
            place = rows.schema.get_field_index(name)
            rows = rows.set_column(place, name, rows.column(name).cast(pa.string()))
    except (pa.ArrowException, OSError) as error:
        raise damaged(source.path, error) from error
    return rows


def _letters(column: Any) -> float:
    """Of a column of text, when every row has its own copy."""
    total = 0
    for part in column.chunks:
        lengths = pc.binary_length(part.dictionary)
        total += pc.sum(pc.take(lengths, part.indices)).as_py() or 0
    return float(total)
