"""An option is written once, as a field of a record.

Command line, TOML file and keywords are made from the record: ``shoal fit --heading-frames 3``,
``heading-frames = 3`` and ``FitSettings(heading_frames=3)`` say the same. Nothing here takes time
to load.
"""

import json
import shlex
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, TypeVar, get_args

from shoal.errors import InputError
from shoal.version import __version__

S = TypeVar("S", bound="Settings")


class Panel(StrEnum):
    """Headings under which help lists options, in this order."""

    ESSENTIAL = ""
    DESIGN = "The design"
    MODEL = "The model, where no fit is given"
    DECISIONS = "Decisions"
    INFERENCE = "Inference"
    HEADINGS = "Headings and transitions"
    PREPARING = "Preparing the tracks"
    FILES = "Reading the files"
    STREAMS = "Tables larger than memory"
    START = "Where they start"
    WORLD = "The world they move in"
    FILM = "The video"


@dataclass(frozen=True)
class Option:
    """What help says about a field of a record, and which values it takes.

    Attributes
    ----------
    help
        A sentence.
    panel
        The heading under which help lists it.
    shown
        What help shows as the default; None: the default, unless it is empty or zero.
    words
        Words that the shell completes, with what each means.
    several
        Whether several of these words can be given, with commas between them.
    least, most
        Of a number.
    switched_off
        Of True or False: the flag for False, where it is not ``--no-…``.
    older
        The key in files of earlier releases.
    argument
        Whether the command line takes it by its place, without a flag.
    path
        Whether it names a file or a folder.
    last
        Whether help and files list it last.
    """

    help: str
    panel: Panel = Panel.ESSENTIAL
    shown: str | None = None
    words: Mapping[str, str] | None = None
    several: bool = False
    least: int | None = None
    most: int | None = None
    switched_off: str = ""
    older: str = ""
    argument: bool = False
    path: bool = False
    last: bool = False


def option(default: Any, *words: Any, **more: Any) -> Any:
    """A field of a record of settings: its default, and what ``Option`` takes."""
    return field(default=default, metadata={"option": Option(*words, **more)})


@dataclass(frozen=True)
class Choice:
    """A field of a record: its name, the types and the default of its values, and its option."""

    name: str
    kinds: tuple[type, ...]
    default: Any
    option: Option

    @property
    def key(self) -> str:
        """As files write it, and the command line; ``as_`` is ``as``, which Python reserves."""
        return self.name.rstrip("_").replace("_", "-")

    @property
    def kind(self) -> type:
        """Of the word on the command line."""
        return str if str in self.kinds else self.kinds[0]

    @property
    def flag(self) -> str:
        """On the command line."""
        off = self.option.switched_off or f"--no-{self.key}"
        return f"--{self.key}/{off}" if self.kind is bool else f"--{self.key}"

    @property
    def shown(self) -> str:
        """The default, as help shows it."""
        if self.option.shown is not None:
            return self.option.shown
        return str(self.default) if self.default and self.kind is not bool else ""

    def read(self, value: Any, path: Path, key: str) -> Any:
        """A value of a file, if it is of the right type."""
        whole = type(value) is int and float in self.kinds and int not in self.kinds
        if type(value) not in self.kinds and not whole:
            words = " or ".join(kind.__name__ for kind in self.kinds)
            such = "" if self.default in (None, "") else f", such as {self.default!r}"
            raise InputError(f"{path}: {key} is {words}{such}; got {value!r:.80}")
        return float(value) if whole else value

    def check(self, value: Any) -> None:
        """Raise an error if a number is too small or too large."""
        least, most = self.option.least, self.option.most
        if least is not None and value is not None and value < least:
            raise InputError(f"--{self.key} is {least} or more; got {value}")
        if most is not None and value is not None and value > most:
            raise InputError(f"--{self.key} is {most} or less; got {value}")


@dataclass(frozen=True)
class Settings:
    """All options of a command, as words and numbers that a TOML file can hold."""

    command: ClassVar[str]
    """Of ``shoal``, which repeats a run with ``--config``."""

    about_file: ClassVar[str] = "A TOML file of choices, such as an earlier run wrote."
    """What help says about ``--config``."""

    is_written: ClassVar[bool] = False
    """Whether the command writes its settings beside its result."""

    def __post_init__(self) -> None:
        """Check the numbers."""
        for choice in self.choices():
            choice.check(getattr(self, choice.name))

    @classmethod
    def choices(cls) -> list[Choice]:
        """The fields, in the order in which files list them."""
        found = []
        for own in fields(cls):
            hint: Any = own.type
            kinds = tuple(one for one in get_args(hint) or (hint,) if one is not NoneType)
            found.append(Choice(own.name, kinds, own.default, own.metadata["option"]))
        return sorted(found, key=lambda choice: choice.option.last)

    @classmethod
    def merged(cls: type[S], config: Path | None, said: Mapping[str, Any]) -> S:
        """Merge the config file and the command line; the command line wins.

        Parameters
        ----------
        config
            A TOML file.
        said
            Values by name; None for those that were not given.
        """
        found = cls.from_toml(config) if config else {}
        return cls(**found | {name: value for name, value in said.items() if value is not None})

    @classmethod
    def from_toml(cls, path: Path) -> dict[str, Any]:
        """The values in a file, checked; those it leaves out are left out."""
        content = toml_of(path)
        command = content.pop("command", cls.command)
        if command != cls.command:
            raise InputError(
                f"{path}: command is {command!r:.60}, so that these are no choices of shoal "
                f"{cls.command}"
            )
        choices = cls.choices()
        known = {name: one for one in choices for name in (one.key, one.option.older) if name}
        found = {}
        for key, value in content.items():
            choice = known.get(key.replace("_", "-"))
            if choice is None:
                words = ", ".join(one.key for one in choices)
                raise InputError(f"{path}: there is no choice {key!r:.60}; there are {words}")
            found[choice.name] = choice.read(value, path, key)
        return found

    def from_anywhere(self: S) -> S:
        """The same with absolute paths, so that a run can be repeated in any folder."""
        given = {one.name: getattr(self, one.name) for one in self.choices() if one.option.path}
        return replace(
            self,
            **{name: str(Path(p).expanduser().absolute()) for name, p in given.items() if p},
        )

    def toml(self) -> str:
        """As a file that repeats the run; what is None is left out."""
        lines = [
            f"# shoal {__version__}: repeat with  shoal {self.command} --config THIS_FILE",
            f"command = {json.dumps(self.command)}",
        ]
        for choice in self.choices():
            value = getattr(self, choice.name)
            if value is not None:
                lines.append(f"{choice.key} = {json.dumps(value, ensure_ascii=False)}")
        return "\n".join(lines) + "\n"

    def command_line(self, out: Path) -> str:
        """What to type to repeat the run; options at their defaults are left out."""
        words = ["shoal", self.command]
        for choice in self.choices():
            value = getattr(self, choice.name)
            if choice.option.argument:
                words += [str(value)] if value else []
            elif isinstance(value, bool):
                on, off = choice.flag.split("/")
                words += [] if value == choice.default else [on if value else off]
            elif value != choice.default:
                words += [f"--{choice.key}", str(value)]
        return shlex.join([*words, "--out", out.name])


def toml_of(path: Path) -> dict[str, Any]:
    """What a TOML file holds."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        words = " ".join(str(error).split())
        raise InputError(f"{path} is no TOML file ({words:.100})") from error
