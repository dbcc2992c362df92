"""Tables as CSV files."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from shoal.system.files import write_whole
from shoal.system.formulas import escape_formula


def write_table(rows: Sequence[dict[str, str]], path: Path) -> Path:
    """Rows as CSV, a header first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: escape_formula(cell) for name, cell in row.items()} for row in rows)
    write_whole(path, text.getvalue().encode())
    return path
