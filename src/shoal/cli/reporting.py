"""``shoal report``."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.moving import (
    ARENA,
    CONFIG,
    FIT,
    GROUP,
    REACH,
    SEED,
    SPEED,
    STOP,
    TARGET,
    TRACKS,
    WALLS,
)


def report(
    fit: FIT,
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("report.html"),
    tracks: TRACKS = None,
    replicates: Annotated[
        int, typer.Option(min=0, help="Of the predictive check, 40 or more; 0 leaves it out.")
    ] = 200,
    draws: Annotated[
        str, typer.Option(help="each: a posterior draw for every replicate, or mean.")
    ] = "each",
    config: CONFIG = None,
    group: GROUP = None,
    speed: SPEED = None,
    arena: ARENA = None,
    walls: WALLS = "reflect",
    stop: STOP = None,
    target: TARGET = None,
    reach: REACH = None,
    seed: SEED = 1,
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """One HTML page about a fit: costs, policy, groups in motion, checks, settings.

    Example:  shoal report fit.nc --tracks guppies.csv --out report.html
    """
    given = {name: value for name, value in locals().items() if value is not None}
    for name in ("out", "show"):
        given.pop(name)
    from shoal.studies.moving import MovingSettings  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.reporting import Reporting  # noqa: PLC0415

    page = Reporting(MovingSettings(**given)).write_page(out).resolve()
    typer.echo(f"The page is {page}")
    if show:
        typer.launch(page.as_uri())
