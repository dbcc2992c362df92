"""``shoal report``."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.answering import Answer, places
from shoal.cli.options import with_options
from shoal.cli.output import look_at
from shoal.cli.simulating import CONFIG, ENDS, FIT, STARTS, WORLDS, choices_of


@partial(with_options, more={"draws": STARTS, "show": WORLDS | ENDS})
def report(
    fit: FIT = None,
    out: Annotated[Path, typer.Option(help="Where to write the page.")] = Path("report.html"),
    config: CONFIG = None,
    replicates: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Of the predictive check, 40 or more; 0 leaves it out.",
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
    show: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
    progress: Any = None,
    **shared: Any,
) -> Answer:
    """One HTML page about a fit: costs, policy, groups in motion, checks, settings.

    Example:  shoal report fit.nc --tracks guppies.csv --out report.html
    """
    said = dict(locals())
    from shoal.workflows.moving import MovingSettings  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.moving_choices import ReportChoices  # noqa: PLC0415
    from shoal.workflows.records import reported  # noqa: PLC0415
    from shoal.workflows.reporting import Reporting  # noqa: PLC0415

    choices = choices_of(ReportChoices, said)
    run = Reporting(MovingSettings(**choices.settings()), progress)
    written = {"page": run.write_page(out)}
    notes = [f"note: predictive check: {note}" for note in run.sampled]
    shown = [run.headline, *notes, *places(written)]
    if show and not look_at(written["page"].resolve().as_uri()):
        shown.append("There is no browser to open it with.")
    return Answer(reported(run, written), shown)
