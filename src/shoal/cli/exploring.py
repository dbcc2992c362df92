"""``shoal explore``."""

from typing import Annotated, Any

import typer

from shoal.cli.output import look_at
from shoal.workflows.moving_settings import ExploreSettings


def explore(
    settings: ExploreSettings,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
    progress: Any = None,
) -> None:
    """The report, live: other draws, rules, speeds and discounts, two fits side by side.

    It is served on this machine alone, until Ctrl-C.

    Example:  shoal explore fit.nc --tracks guppies.csv --against other.nc
    """
    from shoal.explorer import Explorer  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.reporting import explored  # noqa: PLC0415

    explorer = Explorer(explored(settings, progress), settings.port)
    address = explorer.open()
    _ = explorer.workbench.page, explorer.workbench.contents
    typer.echo(f"The explorer is at {address} (Ctrl-C ends it)")  # also when nothing else is said
    if show:
        look_at(address)
    explorer.serve()
