"""Draws of an unfinished run on disk: written durably, found again, never trusted unchecked."""

import io
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from shoal.errors import InputError
from shoal.system.files import write_whole

MARK = b"shoal-checkpoint-1"
PLAN = "plan"

Arrays = dict[str, np.ndarray]


class Checkpoint:
    """A folder of parts, each with a checksum, that belong to one plan.

    Parameters
    ----------
    folder
        It exists, and no other process writes there.
    plan
        What decides the draws: data, model, settings, seed, versions. A folder with another plan
        is refused.
    """

    def __init__(self, folder: Path, plan: dict[str, Any]) -> None:
        self.folder, self._seal = folder, b""
        begun = self._content(PLAN)
        content = json.dumps(plan, sort_keys=True).encode()
        if begun is None:
            write_whole(self._path(PLAN), self._sealed(content))
        self._seal = content  # parts of another plan do not pass for parts of this one
        before = plan if begun is None else json.loads(begun)
        other = [name for name in {**before, **plan} if before.get(name) != plan.get(name)]
        if other:
            words = "; ".join(
                f"{name} {_words(before, name)} → {_words(plan, name)}" for name in other
            )
            raise InputError(
                f"{folder} holds an unfinished run of another kind ({words}): repeat the command "
                "that began it, or start anew with --restart"
            )

    def write(self, name: str, arrays: Arrays) -> None:
        """Keep arrays under a name; when this returns they are on the disk."""
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)  # type: ignore[arg-type]  # (a name for each)
        write_whole(self._path(name), self._sealed(buffer.getvalue()))

    def read(self, name: str) -> Arrays | None:
        """What was kept under a name, or None."""
        content = self._content(name)
        if content is None:
            return None
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
                return {key: arrays[key] for key in arrays.files}
        except (ValueError, OSError, BadZipFile) as error:
            raise InputError(f"{self._path(name)} holds no draws of shoal's ({error})") from error

    def parts(self, prefix: str) -> Iterator[Arrays]:
        """Parts that follow each other, each named after the draws before it."""
        done = 0
        while (arrays := self.read(part_name(prefix, done))) is not None:
            yield arrays
            done += int(arrays["count"])

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.part"

    def _content(self, name: str) -> bytes | None:
        path = self._path(name)
        try:
            sealed = path.read_bytes()
        except FileNotFoundError:
            return None
        mark, _, rest = sealed.partition(b"\n")
        digest, _, content = rest.partition(b"\n")
        if mark != MARK or digest != self._digest(content):
            raise InputError(
                f"{path} is damaged, its checksum does not match: remove this file to draw its "
                "part again, or start anew with --restart"
            )
        return content

    def _digest(self, content: bytes) -> bytes:
        return sha256(self._seal + content).hexdigest().encode()

    def _sealed(self, content: bytes) -> bytes:
        return b"\n".join((MARK, self._digest(content), content))


def part_name(prefix: str, done: int) -> str:
    """The name of the part that begins after ``done`` draws."""
    return f"{prefix}-{done:09d}"


def has_draws(folder: Path) -> bool:
    """Whether a folder holds an unfinished run."""
    return (folder / f"{PLAN}.part").exists()


def _words(plan: dict[str, Any], name: str) -> str:
    return str(plan.get(name, "unknown"))[:60]
