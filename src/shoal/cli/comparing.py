"""``shoal compare``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import Config, TracksArgument, settings_of, with_reading_options


@with_reading_options
def compare(
    tracks: TracksArgument = None,
    out: Annotated[
        Path, typer.Option(help="Where to write the table; figure, page and choices go beside it.")
    ] = Path("compare.csv"),
    config: Config = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="time:SHARE, group:SHARE or individual:SHARE to learn from; K-fold, K-fold:group, "
            "K-fold:individual; leave-one-group-out.",
            show_default="time:2/3",
        ),
    ] = None,
    held_out: Annotated[
        str | None, typer.Option(help="Other tracks to score on, instead of a split.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="laplace, map, advi or nuts.", show_default="laplace")
    ] = None,
    draws: Annotated[int | None, typer.Option(help="Per chain.", show_default="250")] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same result.", show_default="1")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Processes that share the fits.", show_default="none")
    ] = None,
    **reading: Any,
) -> None:
    """Put models side by side on transitions that none of them has seen.

    Example:  shoal compare guppies.csv --state local,target --target 0.2,0.8
    """
    given = dict(locals())
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.comparing import CompareRun, CompareSettings  # noqa: PLC0415

    run = CompareRun(settings_of(CompareSettings, **given))
    written = run.write(out)
    print_table(f"Held out: {run.what_was_held_out()}", run.comparison.table())
    for note in run.notes():
        typer.echo(f"note: {note}")
    typer.echo(run.comparison.sentence())
    for what, path in written.items():
        typer.echo(f"The {what} {'are' if what == 'choices' else 'is'} {path.resolve()}")
