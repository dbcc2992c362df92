"""Tables as CSV files."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from shoal.files import write_whole
from shoal.spreadsheets import harmless


def write_table(rows: Sequence[dict[str, str]], path: Path) -> Path:
    """Rows as CSV, a header first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: harmless(cell) for name, cell in row.items()} for row in rows)
    write_whole(path, text.getvalue().encode())
    return path
