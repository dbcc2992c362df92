"""``shoal simulate`` and ``shoal predict``."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.answering import Answer, Rows, places
from shoal.cli.options import chosen, with_options
from shoal.errors import InputError

WORLD = "The world they move in"
START = "Where they start"
FILM = "The video"

FIT = Annotated[
    str | None, typer.Argument(help="A fit written by shoal, such as fit.nc.", show_default=False)
]
CONFIG = Annotated[
    Path | None, typer.Option(help="A TOML file of choices; the TOML file of a fit will do, too.")
]
STARTS: dict[str, Any] = {
    "seed": Annotated[
        int | None,
        typer.Option(min=0, help="The same seed gives the same result.", show_default="1"),
    ],
    "tracks": Annotated[
        str | None,
        typer.Option(
            help="Tracks to start from; else those the fit was made from.", rich_help_panel=START
        ),
    ],
    "fit_config": Annotated[
        Path | None,
        typer.Option(
            help="The TOML file of the fit; else the one beside it.", rich_help_panel=START
        ),
    ],
    "group": Annotated[
        str | None, typer.Option(help="Only this group; else all.", rich_help_panel=START)
    ],
}
"""What a simulation begins with; every command about groups in motion has these."""

WORLDS: dict[str, Any] = {
    "speed": Annotated[
        str | None,
        typer.Option(
            help="A number per second, constant, observed or gamma.",
            show_default="observed",
            autocompletion=completing.SPEED,
            rich_help_panel=WORLD,
        ),
    ],
    "arena": Annotated[
        str | None,
        typer.Option(
            help="left,bottom,right,top; circle:x,y,radius; periodic:left,bottom,right,top; "
            "hull: the rectangle around the tracks; auto: that, unless they travel; none.",
            show_default="that of the tracks; without one, none for simulate, else auto",
            rich_help_panel=WORLD,
        ),
    ],
    "walls": Annotated[
        str | None,
        typer.Option(
            help="reflect or slide.",
            show_default="reflect",
            autocompletion=completing.WALLS,
            rich_help_panel=WORLD,
        ),
    ],
}
ENDS: dict[str, Any] = {
    "stop": Annotated[
        str | None,
        typer.Option(
            help="End when one, or all, are at the target.",
            autocompletion=completing.STOP,
            rich_help_panel=WORLD,
        ),
    ],
    "target": Annotated[
        str | None,
        typer.Option(
            help="Of --stop: X,Y or GROUP=X,Y;…",
            show_default="that of the fit",
            rich_help_panel=WORLD,
        ),
    ],
    "reach": Annotated[
        float | None,
        typer.Option(
            help="How near is there.", show_default="as near as one came", rich_help_panel=WORLD
        ),
    ],
}


@partial(with_options, more={"replicates": STARTS, "fps": WORLDS | ENDS})
def simulate(
    fit: FIT = None,
    out: Annotated[Path, typer.Option(help="Where to write the tracks: .csv or .parquet.")] = Path(
        "herd.csv"
    ),
    config: CONFIG = None,
    steps: Annotated[
        int | None,
        typer.Option(help="Frames after the start.", show_default="as many as the tracks have"),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            help="stochastic, least-cost or passive.",
            show_default="stochastic",
            autocompletion=completing.RULE,
        ),
    ] = None,
    draws: Annotated[
        str | None,
        typer.Option(
            help="mean, or each: a posterior draw for every group.",
            show_default="mean",
            autocompletion=completing.DRAWS,
        ),
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(help="Groups from each start.", show_default="1")
    ] = None,
    release: Annotated[
        str | None,
        typer.Option(
            help="Instead of tracks: ANIMALS:X,Y:SPREAD, such as 10:0.9,0.1:0.05.",
            rich_help_panel=START,
        ),
    ] = None,
    fps: Annotated[float | None, typer.Option(help="Of a release.", rich_help_panel=START)] = None,
    video: Annotated[
        str | None,
        typer.Option(help="Also a video of the first group: .mp4 or .gif.", rich_help_panel=FILM),
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            help="In the video: observed, stochastic, least-cost, passive.",
            autocompletion=completing.PANELS,
            rich_help_panel=FILM,
        ),
    ] = None,
    inset: Annotated[
        bool | None,
        typer.Option(
            "--inset/--no-inset",
            help="In the video: the state of one animal on the costs.",
            rich_help_panel=FILM,
        ),
    ] = None,
    video_speed: Annotated[
        float | None,
        typer.Option(help="Times faster than life.", show_default="1.0", rich_help_panel=FILM),
    ] = None,
    progress: Any = None,
    **shared: Any,
) -> Answer:
    """Let a group live by a fit: tracks, and a video.

    Example:  shoal simulate fit.nc --steps 300 --rule stochastic --out herd.csv --video herd.mp4
    """
    said = dict(locals())
    from shoal.workflows.moving import Moving, MovingSettings, panels_of  # noqa: PLC0415
    from shoal.workflows.moving_choices import SimulateChoices  # noqa: PLC0415
    from shoal.workflows.records import simulated  # noqa: PLC0415

    choices = choices_of(SimulateChoices, said)
    film = Path(choices.video) if choices.video else None
    if film is not None:
        from shoal.figures.video.encoding import checked_suffix  # noqa: PLC0415  (loads the encoder)

        checked_suffix(film)
    panels_of(choices.beside)
    if film is None and (choices.beside or choices.inset):
        raise InputError("--beside and --inset are about the video: name one with --video")
    moving = Moving(MovingSettings(**choices.settings()), progress)
    groups = moving.write(out)
    written = {"tracks": out}
    if film is not None:
        written["video"] = moving.film(
            groups, film, choices.beside, choices.inset, choices.video_speed
        )
    arrived = moving.arrived(groups)
    shown = [f"{groups!r} by the {choices.rule} rule", *([arrived] if arrived else [])]
    return Answer(simulated(groups, choices, written), [*shown, *places(written)])


@partial(with_options, more={"draws": STARTS | WORLDS | ENDS})
def predict(
    fit: FIT = None,
    out: Annotated[Path, typer.Option(help="The page; its figure and table go beside it.")] = Path(
        "predictive.html"
    ),
    config: CONFIG = None,
    replicates: Annotated[
        int | None,
        typer.Option(
            min=40,
            help="Of the whole design.",
            show_default="200, fewer for large groups",
        ),
    ] = None,
    draws: Annotated[
        str | None,
        typer.Option(
            help="each: a posterior draw for every replicate, or mean.",
            show_default="each",
            autocompletion=completing.DRAWS,
        ),
    ] = None,
    progress: Any = None,
    **shared: Any,
) -> Answer:
    """Do groups simulated from a fit move like the observed ones? A page with the answer.

    Example:  shoal predict fit.nc --out predictive.html
    """
    said = dict(locals())
    from shoal.workflows.moving import Moving, MovingSettings  # noqa: PLC0415  (loads JAX)
    from shoal.workflows.moving_choices import PredictChoices  # noqa: PLC0415
    from shoal.workflows.records import predicted  # noqa: PLC0415

    choices = choices_of(PredictChoices, said)
    moving = Moving(MovingSettings(**choices.settings()), progress)
    written = moving.write_check(out)
    rows = [{k: v for k, v in row.items() if k[:2] != "p,"} for row in moving.check.rows()]
    shown: list[Rows | str] = [
        Rows("Observed and simulated groups: mean [95 % interval]", rows),
        moving.check.words(),
        *places(written, "page"),
    ]
    return Answer(predicted(moving.check, written), shown)


def choices_of(kind: Any, said: dict[str, Any]) -> Any:
    """What was said, and what a file chooses: of this command, or of the fit.

    Parameters
    ----------
    kind
        What the command chooses.
    said
        As the command received it, its ``shared`` options included.
    """
    from shoal.workflows.moving_choices import of_a_fit  # noqa: PLC0415

    config = said["config"]
    apart = ("out", "config", "progress", "show", "shared")
    own = {name: value for name, value in said.items() if name not in apart} | said["shared"]
    if own["fit_config"] is not None:
        own["fit_config"] = str(own["fit_config"])
    if config is not None and of_a_fit(config):
        own["fit_config"] = own["fit_config"] or str(config)
        config = None
    return kind(**chosen(kind, config, own))
