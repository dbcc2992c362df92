"""Tables as CSV files, and the folders they go to."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from shoal.errors import OutputError
from shoal.posterior.storage import write_whole


def make_folder(path: Path) -> Path:
    """A folder that results can be written to."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"the folder {path} could not be made ({error.strerror}): choose another with --out"
        ) from error
    return path


def write_table(rows: Sequence[dict[str, str]], path: Path) -> Path:
    """Rows as CSV, a header first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path, text.getvalue().encode())
    return path
