"""``shoal report``."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli import completing
from shoal.cli.answering import Answer, places
from shoal.cli.output import look_at
from shoal.cli.simulating import (
    ARENA,
    CONFIG,
    FIT,
    FIT_CONFIG,
    GROUP,
    REACH,
    SEED,
    SPEED,
    STOP,
    TARGET,
    TRACKS,
    WALLS,
    choices_of,
)


def report(
    fit: FIT = None,
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("report.html"),
    config: CONFIG = None,
    replicates: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Of the predictive check, 40 or more; 0 leaves it out.",
            show_default="200",
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
    seed: SEED = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    tracks: TRACKS = None,
    fit_config: FIT_CONFIG = None,
    group: GROUP = None,
    speed: SPEED = None,
    arena: ARENA = None,
    walls: WALLS = None,
    stop: STOP = None,
    target: TARGET = None,
    reach: REACH = None,
    progress: bool | None = None,
) -> Answer:
    """One HTML page about a fit: costs, policy, groups in motion, checks, settings.

    Example:  shoal report fit.nc --tracks guppies.csv --out report.html
    """
    said = {name: value for name, value in locals().items() if name != "show"}
    from shoal.studies.moving import MovingSettings  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.moving_choices import ReportChoices  # noqa: PLC0415
    from shoal.studies.records import reported  # noqa: PLC0415
    from shoal.studies.reporting import Reporting  # noqa: PLC0415

    choices = choices_of(ReportChoices, said)
    run = Reporting(MovingSettings(**choices.settings()), progress)
    written = {"page": run.write_page(out)}
    shown = [run.headline, *places(written)]
    if show and not look_at(written["page"].resolve().as_uri()):
        shown.append("There is no browser to open it with.")
    return Answer(reported(run, written), shown)
