"""Choices as a TOML file: written beside what was made from them, and read again."""

import json
import tomllib
from dataclasses import Field, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, get_args, get_type_hints

from shoal.errors import InputError
from shoal.version import __version__

LAST = {"last": True}
"""Metadata of a field that files name after those of derived classes."""


@dataclass(frozen=True)
class Choices:
    """Words and numbers that a TOML file can hold, each with a default."""

    command: ClassVar[str]
    """Of ``shoal``, which repeats a run with ``--config``."""

    def toml(self) -> str:
        """As a file that repeats the run."""
        lines = [
            f"# shoal {__version__}: repeat with  shoal {self.command} --config THIS_FILE",
            f"command = {json.dumps(self.command)}",
        ]
        lines += [
            f"{key_of(field)} = {json.dumps(getattr(self, field.name), ensure_ascii=False)}"
            for field in _ordered(type(self))
        ]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, path: Path) -> dict[str, Any]:
        """The choices in a file, checked; those it leaves out are left out."""
        content = toml_of(path)
        command = content.pop("command", cls.command)
        if command != cls.command:
            raise InputError(
                f"{path}: command is {command!r:.60}, so that these are no choices of shoal "
                f"{cls.command}"
            )
        known = {key_of(field).replace("-", "_"): field for field in _ordered(cls)}
        hints = get_type_hints(cls)
        found: dict[str, Any] = {}
        for key, value in content.items():
            name = key.replace("-", "_")
            if name not in known:
                words = ", ".join(key_of(field) for field in known.values())
                raise InputError(f"{path}: there is no choice {key!r:.60}; there are {words}")
            hint = hints[known[name].name]
            kinds = [kind for kind in get_args(hint) if kind is not type(None)] or [hint]
            whole = type(value) is int and float in kinds and int not in kinds
            if type(value) not in kinds and not whole:
                words = " or ".join(kind.__name__ for kind in kinds)
                default = known[name].default
                such = "" if default in (None, "") else f", such as {default!r}"
                raise InputError(f"{path}: {key} is {words}{such}; got {value!r:.80}")
            found[known[name].name] = float(value) if whole else value
        return found


def toml_of(path: Path) -> dict[str, Any]:
    """What a TOML file holds."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        words = " ".join(str(error).split())
        raise InputError(f"{path} is no TOML file ({words:.100})") from error


def _ordered(kind: type[Choices]) -> list[Field[Any]]:
    return sorted(fields(kind), key=lambda field: bool(field.metadata.get("last")))


def key_of(field: Field[Any]) -> str:
    """As files and the command line write it; ``as_`` is ``as``, which Python keeps to itself."""
    return field.name.rstrip("_").replace("_", "-")
