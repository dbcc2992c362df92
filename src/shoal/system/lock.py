"""One process at a time writes a result: the folder of unfinished work, and its lock."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from shoal.errors import InputError, OutputError

LOCK = "lock"


def unfinished(out: Path) -> Path:
    """The folder beside a result that holds its work while it is not done."""
    return out.with_name(f"{out.name}.partial")


@contextmanager
def locked(out: Path) -> Iterator[Path]:
    """The folder of a result's unfinished work, for this process alone.

    The lock ends with the process, however that ends. A folder left empty is removed.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415  (only where results are written)

    folder = unfinished(out)
    try:
        folder.mkdir(exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=0)
    except Timeout as error:
        raise InputError(
            f"another process is writing {out}: wait for it, stop it, or write elsewhere with --out"
        ) from error
    except OSError as error:
        raise OutputError(
            f"the folder {folder} cannot be written to ({error.strerror or error}): choose another"
        ) from error
    try:
        yield folder
    finally:
        lock.release()
        with suppress(OSError):  # it holds work that can be resumed, or another process has come
            if all(left.name == LOCK for left in folder.iterdir()):
                (folder / LOCK).unlink(missing_ok=True)
                folder.rmdir()


def clear(folder: Path) -> None:
    """Remove unfinished work; the lock stays."""
    for left in folder.iterdir():
        if left.name != LOCK:
            left.unlink()
