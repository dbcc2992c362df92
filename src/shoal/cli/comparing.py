"""``shoal compare``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.answering import Answer, Rows, places
from shoal.cli.options import INFERENCE, Config, TracksArgument, settings_of, with_reading_options


@with_reading_options
def compare(
    tracks: TracksArgument = None,
    out: Annotated[
        Path, typer.Option(help="Where to write the table; figure, page and choices go beside it.")
    ] = Path("compare.csv"),
    config: Config = None,
    read_as: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="decisions (what animals chose), or transitions (states that were observed).",
            show_default="decisions, unless a lag is given",
        ),
    ] = None,
    moves: Annotated[
        str | None,
        typer.Option(
            help="What an animal chooses: turns, steps or steps:ahead (others go straight on).",
            show_default="turns for angles, else steps",
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="time:SHARE, group:SHARE or individual:SHARE to learn from; K-fold, K-fold:group, "
            "K-fold:individual; leave-one-group-out. Groups and animals are drawn by --seed, "
            "stratified by a covariate where one follows: group:0.7:sex.",
            show_default="time:2/3",
            autocompletion=completing.SPLIT,
        ),
    ] = None,
    held_out: Annotated[
        str | None, typer.Option(help="Other tracks to score on, instead of a split.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="laplace, map, advi or nuts.",
            show_default="laplace",
            autocompletion=completing.METHOD,
        ),
    ] = None,
    draws: Annotated[
        int | None, typer.Option(help="Per chain.", show_default="250", rich_help_panel=INFERENCE)
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="The same seed gives the same result.", show_default="1", rich_help_panel=INFERENCE
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Processes that share the fits.", show_default="none", rich_help_panel=INFERENCE
        ),
    ] = None,
    progress: Any = None,
    **reading: Any,
) -> Answer:
    """Put models side by side on decisions that none of them has seen.

    Example:  shoal compare guppies.csv --state local,target --target 0.2,0.8
    """
    given = {name: value for name, value in locals().items() if name != "progress"}
    from shoal.workflows.comparing import CompareRun, CompareSettings  # noqa: PLC0415  (loads JAX)
    from shoal.workflows.records import compared  # noqa: PLC0415

    run = CompareRun(settings_of(CompareSettings, **given), progress)
    written = run.write(out)
    shown: list[Rows | str] = [
        Rows(f"Held out: {run.what_was_held_out()}", run.comparison.rows()),
        *(f"note: {note}" for note in run.notes()),
        run.comparison.sentence(),
        *places(written),
    ]
    return Answer(compared(run, written), shown)
