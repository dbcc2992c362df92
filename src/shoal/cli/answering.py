"""How a command answers: a table and sentences, one JSON document, or nothing."""

import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.output import print_table, printable
from shoal.system.progress import EVERY, Report, lines_on
from shoal.version import __version__

PANEL = "How it answers"
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document instead of words.", rich_help_panel=PANEL)
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Warnings and errors only.", rich_help_panel=PANEL)
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show a traceback on errors.", rich_help_panel=PANEL)
]
MANNER: dict[str, Any] = {"json": Json, "quiet": Quiet, "debug": Debug}
"""Options that every command has, after its name as well as before it."""


@dataclass(frozen=True)
class Rows:
    """A table."""

    title: str
    rows: Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class Answer:
    """What a command found.

    Attributes
    ----------
    record
        For programs: names and numbers, unrounded.
    shown
        For people: tables and sentences.
    status
        The exit status.
    """

    record: Mapping[str, Any]
    shown: Sequence[Rows | str] = ()
    status: int = 0


def answering(command: Callable[..., Answer | None]) -> Callable[..., None]:
    """A command that takes ``--json``, ``--quiet`` and ``--debug``, and answers accordingly.

    Parameters
    ----------
    command
        Gives its answer. Where it has a parameter ``progress`` it is told whether to show any.
    """
    known = list(signature(command).parameters.values())
    own = [one for one in known if one.name != "progress"]
    # a server without an answer has no end to report on
    lines = len(own) < len(known) and signature(command).return_annotation is not None
    kind = Parameter.KEYWORD_ONLY
    context = Parameter("context", kind, annotation=typer.Context)
    ours = [Parameter(name, kind, default=False, annotation=MANNER[name]) for name in MANNER]

    @wraps(command)
    def run(context: Any, **words: Any) -> None:
        before: Mapping[str, bool] = context.obj or {}
        said = {name: words.pop(name) or before.get(name, False) for name in MANNER}
        with _warnings_noted() as warned, _progress(said["quiet"], lines) as progress:
            if len(own) < len(known):
                words["progress"] = progress
            answer = command(**words)
        if answer is None:
            return
        if said["json"]:
            head = {"command": command.__name__, "shoal": __version__}
            print_json(head | dict(answer.record) | {"warnings": warned})
        elif not said["quiet"]:
            for part in answer.shown:
                show(part)
        if answer.status:
            raise typer.Exit(answer.status)

    made: Any = run
    shown = [context, *own, *ours]
    made.__signature__ = signature(command).replace(
        parameters=[one.replace(kind=kind) for one in shown], return_annotation=None
    )
    made.__annotations__ = {one.name: one.annotation for one in shown} | {"return": None}
    return run


def show(part: Rows | str) -> None:
    """A table that fits the terminal, or a sentence."""
    if isinstance(part, Rows):
        print_table(part.title, part.rows)
    else:
        typer.echo(printable(part))


def places(written: Mapping[str, Path], *names: str) -> list[str]:
    """Where results are, a sentence each."""
    plural = ("choices", "tracks")
    return [
        f"The {name} {'are' if name in plural else 'is'} {written[name].resolve()}"
        for name in names or written
    ]


def print_json(record: Any) -> None:
    """One document, in ASCII where the output has no more, without a number that JSON lacks."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    typer.echo(json.dumps(plain(record), indent=2, ensure_ascii=ascii_only, allow_nan=False))


def plain(value: Any) -> Any:
    """As JSON can hold it: absolute paths, lists for arrays, null where there is no number.

    >>> plain({"a": (1, float("nan")), "b": True})
    {'a': [1, None], 'b': True}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Path):
        return str(value.resolve())
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return plain(value.tolist())  # NumPy


@contextmanager
def _progress(quiet: bool, lines: bool) -> Iterator[bool | Report | None]:
    """Bars on a terminal; a plain line every few seconds where there is none."""
    if quiet or not lines or sys.stderr.isatty():
        yield False if quiet else None
    else:
        with lines_on(sys.stderr, EVERY) as report:
            yield report


@contextmanager
def _warnings_noted() -> Iterator[list[str]]:
    """Warnings are shown as ever, and kept."""
    kept: list[str] = []
    before = warnings.showwarning

    def note(message: Any, *rest: Any, **more: Any) -> None:
        kept.append(" ".join(str(message).split()))
        before(message, *rest, **more)

    warnings.showwarning = note
    try:
        yield kept
    finally:
        warnings.showwarning = before
