"""``shoal explore``."""

from functools import partial
from typing import Annotated, Any

import typer

from shoal.cli.options import with_options
from shoal.cli.output import look_at
from shoal.cli.simulating import CONFIG, FIT, STARTS, WORLDS, choices_of


@partial(with_options, more={"show": STARTS | WORLDS})
def explore(
    fit: FIT = None,
    config: CONFIG = None,
    against: Annotated[str | None, typer.Option(help="Another fit, to compare with.")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="On 127.0.0.1.", show_default="any free one"),
    ] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
    progress: Any = None,
    **shared: Any,
) -> None:
    """The report, live: other draws, rules, speeds and discounts, two fits side by side.

    It is served on this machine alone, until Ctrl-C.

    Example:  shoal explore fit.nc --tracks guppies.csv --against other.nc
    """
    said = dict(locals())
    from shoal.explorer import Explorer  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.moving_choices import ExploreChoices  # noqa: PLC0415
    from shoal.workflows.reporting import explored  # noqa: PLC0415

    choices = choices_of(ExploreChoices, said)
    explorer = Explorer(explored(choices, progress), choices.port)
    address = explorer.open()
    _ = explorer.workbench.page, explorer.workbench.contents
    typer.echo(f"The explorer is at {address} (Ctrl-C ends it)")  # also when nothing else is said
    if show:
        look_at(address)
    explorer.serve()
