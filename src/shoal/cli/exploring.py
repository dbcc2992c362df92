"""``shoal explore``."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.moving import ARENA, CONFIG, FIT, GROUP, SEED, SPEED, TRACKS, WALLS


def explore(
    fit: FIT,
    tracks: TRACKS = None,
    against: Annotated[Path | None, typer.Option(help="Another fit, to compare with.")] = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="On 127.0.0.1.", show_default="any free one")
    ] = 0,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
    config: CONFIG = None,
    group: GROUP = None,
    speed: SPEED = None,
    arena: ARENA = None,
    walls: WALLS = "reflect",
    seed: SEED = 1,
) -> None:
    """The report, live: other draws, rules, speeds and discounts, two fits side by side.

    It is served on this machine alone, until Ctrl-C.

    Example:  shoal explore fit.nc --tracks guppies.csv --against other.nc
    """
    given = {name: value for name, value in locals().items() if value is not None}
    for name in ("against", "port", "show"):
        given.pop(name, None)
    from dataclasses import replace  # noqa: PLC0415  (loads JAX only when needed)

    from shoal.explorer import Explorer  # noqa: PLC0415
    from shoal.explorer.workbench import Workbench  # noqa: PLC0415
    from shoal.studies.moving import MovingSettings  # noqa: PLC0415
    from shoal.studies.reporting import Reporting  # noqa: PLC0415

    settings = MovingSettings(**given, replicates=0)
    reports, names = [Reporting(settings).report], [fit.name]
    if against is not None:
        other = replace(settings, fit=against, config=None)
        reports.append(Reporting(other).report)
        names.append(against.name if against.name != fit.name else str(against))
    explorer = Explorer(Workbench(reports, names), port)
    address = explorer.open()
    typer.echo("Preparing the page…", err=True)
    _ = explorer.workbench.page, explorer.workbench.contents
    typer.echo(f"The explorer is at {address} (Ctrl-C ends it)")
    if show:
        typer.launch(address)
    explorer.serve()
