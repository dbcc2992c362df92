"""Options that several commands share: how tracks are read and prepared, and what states are."""

from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from shoal.cli import completing
from shoal.errors import InputError
from shoal.workflows.settings import Choices

C = TypeVar("C", bound=Choices)
F = TypeVar("F", bound=Callable[..., Any])

TracksArgument = Annotated[
    str | None, typer.Argument(help="A file, a folder, or a pattern in quotes.")
]
Config = Annotated[
    Path | None, typer.Option(help="A TOML file of choices, such as an earlier run wrote.")
]
STATES: dict[str, Any] = {
    "state": Annotated[
        str | None,
        typer.Option(
            help="Features with commas between; see `shoal features`.",
            show_default="local",
            autocompletion=completing.STATE,
        ),
    ],
    "target": Annotated[
        str | None,
        typer.Option(
            help="X,Y (longitude,latitude where tracks have them); the name of an animal or "
            "landmark; or GROUP=X,Y;…"
        ),
    ],
    "arena": Annotated[
        str | None, typer.Option(help="left,bottom,right,top or circle:x,y,radius.")
    ],
}
"""What decides most, listed right after ``--config``."""

MOVES = "Headings and transitions"
PREPARING = "Preparing the tracks"
FILES = "Reading the files"
STREAMS = "Tables larger than memory"
INFERENCE = "Inference"
DECISIONS = "Decisions"
READING: dict[str, Any] = {
    "lag": Annotated[
        str | None,
        typer.Option(
            help="Frames between states, or auto.", show_default="1", rich_help_panel=MOVES
        ),
    ],
    "heading_frames": Annotated[
        int | None,
        typer.Option(
            help="Frames over which a heading is taken.", show_default="1", rich_help_panel=MOVES
        ),
    ],
    "minimum_step": Annotated[
        float | None,
        typer.Option(
            help="Shorter steps are rest, and keep the heading.",
            show_default="0",
            rich_help_panel=MOVES,
        ),
    ],
    "tracker_headings": Annotated[
        bool | None,
        typer.Option(
            "--tracker-headings/--displacements",
            help="Headings as the file has them.",
            rich_help_panel=MOVES,
        ),
    ],
    "every": Annotated[
        int | None,
        typer.Option(
            help="Keep every n-th frame; 0 chooses: of decisions all, unless errors of measurement "
            "show; of transitions so that angles move from bin to bin.",
            show_default="0",
            rich_help_panel=PREPARING,
        ),
    ],
    "max_step": Annotated[
        float | None,
        typer.Option(
            help="Fixes farther than this from their neighbours go.", rich_help_panel=PREPARING
        ),
    ],
    "fill_gaps": Annotated[
        int | None,
        typer.Option(
            help="Straight lines across gaps of at most n frames.", rich_help_panel=PREPARING
        ),
    ],
    "smooth": Annotated[
        int | None,
        typer.Option(
            help="Savitzky–Golay over n frames, an odd number.", rich_help_panel=PREPARING
        ),
    ],
    "rescale": Annotated[
        str | None,
        typer.Option(
            help="unit-square, or a factor and a unit, '0.05 cm'.", rich_help_panel=PREPARING
        ),
    ],
    "drop": Annotated[
        str | None,
        typer.Option(help="Animals to leave out, with commas.", rich_help_panel=PREPARING),
    ],
    "landmarks": Annotated[
        str | None,
        typer.Option(
            help="No members of the group, but possible targets.", rich_help_panel=PREPARING
        ),
    ],
    "flip_y": Annotated[
        bool | None,
        typer.Option(
            "--flip-y/--no-flip-y",
            help="y counts downwards in the file.",
            rich_help_panel=PREPARING,
        ),
    ],
    "format": Annotated[
        str | None,
        typer.Option(
            help="A name that `shoal formats` lists.",
            autocompletion=completing.FORMAT,
            rich_help_panel=FILES,
        ),
    ],
    "columns": Annotated[
        str | None,
        typer.Option(
            help="Of long tables: individual=who,x=east,y=north,frame=n.", rich_help_panel=FILES
        ),
    ],
    "fps": Annotated[float | None, typer.Option(help="Frames per second.", rich_help_panel=FILES)],
    "unit": Annotated[str | None, typer.Option(help="Of lengths.", rich_help_panel=FILES)],
    "keypoint": Annotated[
        str | None, typer.Option(help="Of poses; else the centroid.", rich_help_panel=FILES)
    ],
    "confidence": Annotated[
        float | None,
        typer.Option(
            help="Places with a lower score count as not seen: poses, idTracker, TRex.",
            rich_help_panel=FILES,
        ),
    ],
    "drop_estimated": Annotated[
        bool | None,
        typer.Option(
            "--drop-estimated/--keep-estimated",
            help="Places that the tracker estimated count as not seen.",
            rich_help_panel=FILES,
        ),
    ],
    "clock": Annotated[
        float | None,
        typer.Option(help="Seconds between ticks, for animals out of step.", rich_help_panel=FILES),
    ],
    "sort": Annotated[
        bool | None,
        typer.Option("--sort/--no-sort", help="Rows in any order.", rich_help_panel=FILES),
    ],
    "stream": Annotated[
        bool | None,
        typer.Option(
            "--stream/--whole",
            help="Count without reading it all at once.",
            rich_help_panel=STREAMS,
        ),
    ],
    "parts": Annotated[
        str | None,
        typer.Option(
            help="With --stream: files are cut by time, or are groups.", rich_help_panel=STREAMS
        ),
    ],
    "cluster": Annotated[
        str | None,
        typer.Option(
            help="With --stream: workers, or a Dask address tcp://…", rich_help_panel=STREAMS
        ),
    ],
}
"""The rest, listed after the command's own options."""


def with_reading_options(command: F) -> F:
    """Let a command take the options of ``STATES`` and ``READING`` as its ``**reading``.

    Parameters
    ----------
    command
        Has ``tracks``, ``out`` and ``config``, options of its own, and ``**reading``.
    """
    return with_options(command, {"config": STATES, "reading": READING})


def with_options(command: F, more: dict[str, dict[str, Any]]) -> F:
    """Let a command take further options, all of which it finds in its last, ``**`` parameter.

    Parameters
    ----------
    command
        Has options of its own, and the ``**`` parameter.
    more
        Options by name, and after which of the command's own they are listed; after the ``**``
        parameter is at the end.
    """
    shown = []
    for own in signature(command).parameters.values():
        shown += [own] if own.kind is not own.VAR_KEYWORD else []
        shown += _parameters(more.get(own.name, {}))
    made: Any = command
    made.__signature__ = signature(command).replace(parameters=shown)
    made.__annotations__ = {p.name: p.annotation for p in shown} | {"return": None}
    return command


def _parameters(options: dict[str, Any]) -> list[Parameter]:
    """Without a word from the user nothing is chosen: defaults are those of the settings."""
    return [
        Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=kind)
        for name, kind in options.items()
    ]


def settings_of(
    kind: type[C], *, out: Path, config: Path | None, reading: dict[str, Any], **own: Any
) -> C:
    """The choices of a command: words on the line go before those in the file.

    Parameters
    ----------
    kind
        What the command chooses.
    out, config
        What is written, and the TOML file that is read; choices are written beside ``out``.
    reading, own
        As the command received them; what is None was not given.
    """
    if config and config.resolve() == out.with_suffix(".toml").resolve():
        raise InputError(f"{config} would be written over: choose another name for --out")
    return kind(**chosen(kind, config, own | reading))


def chosen(kind: type[Choices], config: Path | None, said: dict[str, Any]) -> dict[str, Any]:
    """Merge the config file and the command line; the command line wins."""
    found = kind.from_toml(config) if config else {}
    return found | {name: value for name, value in said.items() if value is not None}
