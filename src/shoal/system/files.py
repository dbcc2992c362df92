"""Results on disk: there whole, or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shoal.errors import OutputError


@contextmanager
def appearing_whole(path: Path) -> Iterator[Path]:
    """A file beside the one wanted, which takes its name at the end, and goes with any error."""
    temporary = None
    try:
        handle, name = tempfile.mkstemp(
            prefix=f".{path.name}.", suffix=path.suffix.lower(), dir=path.parent
        )
        os.close(handle)
        temporary = Path(name)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
        _sync_folder(path.parent)
    except BaseException as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        if not isinstance(error, OSError) or isinstance(error, OutputError):
            raise
        raise OutputError(
            f"{path} could not be written ({error.strerror or error}): nothing was left behind; "
            "choose another place or make room"
        ) from error


def _sync_folder(folder: Path) -> None:
    """A new name outlives a loss of power, too, where folders can be synchronised."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write beside and rename, so that the file is there whole or not at all."""
    with appearing_whole(path) as temporary:
        temporary.write_bytes(content)


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
