"""``shoal report`` and ``shoal explore``: pages about a fit."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.answering import Answer, places
from shoal.cli.output import look_at
from shoal.workflows.moving_settings import ExploreSettings, ReportSettings


def report(
    settings: ReportSettings,
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("report.html"),
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    progress: Any = None,
) -> Answer:
    """One HTML page about a fit: costs, policy, groups in motion, checks, settings.

    Example:  shoal report fit.nc --tracks guppies.csv --out report.html
    """
    from shoal.workflows.records import reported  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.reporting import Reporting  # noqa: PLC0415

    run = Reporting(settings, progress)
    written = {"page": run.write_page(out)}
    notes = [f"note: predictive check: {note}" for note in run.sampled]
    shown = [run.headline, *notes, *places(written)]
    if show and not look_at(written["page"].resolve().as_uri()):
        shown.append("There is no browser to open it with.")
    return Answer(reported(run, written), shown)


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
