"""A folder of compiled programs: read only where it is whole, and never in anybody's way."""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

ENDING = ".program"
MOST = 512 * 2**20
"""Bytes that all programs may take together; beyond it those go that were used longest ago."""

KEPT = 0.75
"""The share of ``MOST`` that is left when programs go, so that they do not go at every start."""


class Programs:
    """What JAX asks for programs, and gives new ones to.

    JAX's own folder writes in place, does not notice a changed byte under every compression, and
    stops taking programs where one of its files is missing. Here a file begins with a digest of its
    key and content and takes its name when it is whole. A file that is not what it was is removed,
    and the program compiled anew. No failure of the disk reaches the run.

    Parameters
    ----------
    folder
        Of programs that can run here.
    most
        Bytes that all folders beside it, and it, may hold.
    """

    def __init__(self, folder: Path, most: int = MOST) -> None:
        self._path = folder
        self._most = most
        self._writes = True
        self._trim()

    def get(self, key: str) -> bytes | None:
        """The program of a key, where there is one that can be trusted."""
        path = self._place(key)
        try:
            content = path.read_bytes()
        except OSError:
            return None
        size = hashlib.blake2b().digest_size
        seal, program = content[:size], content[size:]
        if seal != _seal(key, program):
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)  # it was of use just now
        return program

    def put(self, key: str, value: bytes) -> None:
        """Keep a program; after a failure no other is kept in this run."""
        if not self._writes:
            return
        temporary = None
        try:
            handle, name = tempfile.mkstemp(suffix=".new", dir=self._path)
            temporary = Path(name)
            with os.fdopen(handle, "wb") as file:
                file.write(_seal(key, value))
                file.write(value)
            temporary.replace(self._place(key))
        except OSError:
            self._writes = False
            if temporary is not None:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)

    def _place(self, key: str) -> Path:
        return self._path / f"{hashlib.blake2b(key.encode(), digest_size=16).hexdigest()}{ENDING}"

    def _trim(self) -> None:
        """Remove what was used longest ago, also by other releases of JAX, where it is too much."""
        found = sorted(programs_below(self._path.parent))
        size = sum(one[1] for one in found)
        if size <= self._most:
            return
        for _, own, path in found:
            with suppress(OSError):
                path.unlink()
            size -= own
            if size <= KEPT * self._most:
                break


def programs_below(root: Path) -> list[tuple[float, int, Path]]:
    """When each program was last used, its size and its place; also those never finished."""
    found = []
    for ending in (ENDING, ".new"):
        for path in root.glob(f"*/*{ending}"):
            with suppress(OSError):
                known = path.stat()
                found.append((known.st_mtime, known.st_size, path))
    return found


def _seal(key: str, program: bytes) -> bytes:
    digest = hashlib.blake2b(key.encode())
    digest.update(b"\0")
    digest.update(program)
    return digest.digest()
