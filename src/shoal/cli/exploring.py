"""``shoal explore``."""

from typing import Annotated

import typer

from shoal.cli.output import look_at
from shoal.cli.simulating import (
    ARENA,
    CONFIG,
    FIT,
    FIT_CONFIG,
    GROUP,
    SEED,
    SPEED,
    TRACKS,
    WALLS,
    choices_of,
)


def explore(
    fit: FIT = None,
    config: CONFIG = None,
    against: Annotated[str | None, typer.Option(help="Another fit, to compare with.")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="On 127.0.0.1.", show_default="any free one"),
    ] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
    seed: SEED = None,
    tracks: TRACKS = None,
    fit_config: FIT_CONFIG = None,
    group: GROUP = None,
    speed: SPEED = None,
    arena: ARENA = None,
    walls: WALLS = None,
    progress: bool | None = None,
) -> None:
    """The report, live: other draws, rules, speeds and discounts, two fits side by side.

    It is served on this machine alone, until Ctrl-C.

    Example:  shoal explore fit.nc --tracks guppies.csv --against other.nc
    """
    said = {name: value for name, value in locals().items() if name != "show"}
    from shoal.explorer import Explorer  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.moving_choices import ExploreChoices  # noqa: PLC0415
    from shoal.studies.reporting import explored  # noqa: PLC0415

    choices = choices_of(ExploreChoices, said)
    explorer = Explorer(explored(choices, progress), choices.port)
    address = explorer.open()
    _ = explorer.workbench.page, explorer.workbench.contents
    typer.echo(f"The explorer is at {address} (Ctrl-C ends it)")  # also when nothing else is said
    if show:
        look_at(address)
    explorer.serve()
