"""CSV copied into temporary Parquet files, which can be read piece by piece."""

import shutil
import tempfile
import weakref
from pathlib import Path

from pyarrow import parquet

from shoal.errors import InputError
from shoal.tracks.readers.delimited import batches
from shoal.tracks.readers.long_columns import is_numeric, wanted_columns
from shoal.tracks.readers.long_layout import Layout
from shoal.tracks.readers.source import Source


class Spool:
    """A temporary folder that goes when nobody needs it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="shoal-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def spooled(source: Source, layout: Layout, path: Path, rows: int) -> Path:
    """A CSV as a temporary Parquet file, a block of it in memory at a time."""
    numeric = "time" in layout and is_numeric(source, layout["time"])
    writer = None
    try:
        for batch in batches(source, *wanted_columns(layout, numeric)):
            if writer is None:
                writer = parquet.ParquetWriter(path, batch.schema)
            writer.write_batch(batch, row_group_size=rows)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise InputError(f"{source.path} has a header but no rows")
    return path
