"""A command's options, made from the record of its settings."""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import InputError
from shoal.workflows.options import Choice, Option, Panel, Settings

Completion = Callable[[str], list[tuple[str, str]]]


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command take every option of its settings, from the line and from a file.

    Parameters
    ----------
    command
        Where it has a parameter ``settings``, its annotation is their record. The other parameters
        say where results go and how the work is done; they stay as they are.
    """
    own = signature(command).parameters
    if "settings" not in own:
        return command
    kind: type[Settings] = own["settings"].annotation
    choices = sorted(kind.choices(), key=lambda one: list(Panel).index(one.option.panel))

    @wraps(command)
    def run(config: Path | None = None, **said: Any) -> Any:
        how = {name: said.pop(name) for name in own if name in said}
        if kind.is_written and config is not None:
            _spare(config, how["out"])
        return command(kind.merged(config, said), **how)

    about = Annotated[Path | None, typer.Option("--config", help=kind.about_file)]
    rest = [one.replace(kind=one.KEYWORD_ONLY) for name, one in own.items() if name != "settings"]
    shown = [
        *(_parameter(one.name, _annotation(one)) for one in choices if one.option.argument),
        *(one for one in rest if one.name == "out"),
        _parameter("config", about),
        *(_parameter(one.name, _annotation(one)) for one in choices if not one.option.argument),
        *(one for one in rest if one.name != "out"),
    ]
    made: Any = run
    made.__signature__ = signature(command).replace(parameters=shown)
    return run


def _parameter(name: str, annotation: Any) -> Parameter:
    """Without a word from the user nothing is chosen: defaults are those of the settings."""
    return Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _annotation(choice: Choice) -> Any:
    """As Typer understands it."""
    option = choice.option
    common: dict[str, Any] = {
        "help": option.help,
        "autocompletion": _completion(option),
        "min": option.least,
        "max": option.most,
        "show_default": choice.shown or False,
    }
    if option.argument:
        return Annotated[choice.kind | None, typer.Argument(**common)]
    found = typer.Option(choice.flag, **common, rich_help_panel=option.panel.value or None)
    return Annotated[choice.kind | None, found]


def _completion(option: Option) -> Completion | None:
    """What the shell completes, if the words are known."""
    if not option.words:
        return None
    return several_of(option.words) if option.several else one_of(option.words)


def one_of(words: Mapping[str, str]) -> Completion:
    """One of some words, each with what it means."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        return [(word, what) for word, what in words.items() if word.startswith(incomplete)]

    return complete


def several_of(words: Mapping[str, str]) -> Completion:
    """Several of some words, with commas between them, each once."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        before, comma, last = incomplete.rpartition(",")
        used = {part.partition(":")[0] for part in before.split(",")}
        return [
            (f"{before}{comma}{word}", what)
            for word, what in words.items()
            if word.startswith(last) and word not in used
        ]

    return complete


def _spare(config: Path, out: Path) -> None:
    """Raise an error if the settings would be written over the file they come from."""
    if config.resolve() == out.with_suffix(".toml").resolve():
        raise InputError(f"{config} would be written over: choose another name for --out")
