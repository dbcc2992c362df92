"""Results on disk: there whole, or not at all."""

import os
import tempfile
from pathlib import Path

from shoal.errors import OutputError


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write beside and rename, so that the file is there whole or not at all."""
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        raise OutputError(
            f"{path} could not be written ({error.strerror or error}): nothing was left behind; "
            "choose another place or make room"
        ) from error


def make_folder(path: Path) -> Path:
    """A folder that results can be written to, found out before the work is done."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise OutputError(
            f"the folder {path} cannot be written to ({error.strerror or error}): choose another"
        ) from error
    return path
