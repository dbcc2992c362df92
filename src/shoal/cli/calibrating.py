"""``shoal calibrate``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.answering import Answer, Rows, places
from shoal.cli.options import INFERENCE, Config, settings_of

DESIGN = "The design"
MODEL = "The model, where no fit is given"
Number = int | None


def calibrate(
    fit: Annotated[
        str | None, typer.Argument(help="A fit whose model is to be tried; else --state and so on.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Where to write the ranks; figure, page and choices go beside it.")
    ] = Path("calibration.csv"),
    config: Config = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="nuts, laplace, advi or map.",
            show_default="nuts",
            autocompletion=completing.METHOD,
        ),
    ] = None,
    replicates: Annotated[Number, typer.Option(help="Data sets.", show_default="100")] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="prior: each data set has its own; fit: the mean costs of the fit.",
            show_default="prior",
            autocompletion=completing.TRUTH,
        ),
    ] = None,
    groups: Annotated[
        Number, typer.Option(help="Of the design.", show_default="1", rich_help_panel=DESIGN)
    ] = None,
    animals: Annotated[
        Number, typer.Option(help="In a group.", show_default="10", rich_help_panel=DESIGN)
    ] = None,
    frames: Annotated[
        Number,
        typer.Option(help="That they are watched.", show_default="100", rich_help_panel=DESIGN),
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            help="As in shoal fit.", autocompletion=completing.STATE, rich_help_panel=MODEL
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(help="As in shoal fit.", show_default="0,0", rich_help_panel=MODEL),
    ] = None,
    passive: Annotated[
        str | None,
        typer.Option(
            help="As in shoal fit.",
            show_default="random-walk",
            autocompletion=completing.PASSIVE,
            rich_help_panel=MODEL,
        ),
    ] = None,
    basis: Annotated[
        str | None,
        typer.Option(
            help="As in shoal fit.",
            show_default="identity",
            autocompletion=completing.BASIS,
            rich_help_panel=MODEL,
        ),
    ] = None,
    discount: Annotated[
        float | None, typer.Option(show_default="1.0", rich_help_panel=MODEL)
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="Shape and rate of the precision's Gamma prior, from which truths come.",
            show_default="5,5",
            rich_help_panel=MODEL,
        ),
    ] = None,
    chains: Annotated[Number, typer.Option(show_default="4", rich_help_panel=INFERENCE)] = None,
    draws: Annotated[
        Number, typer.Option(help="Per chain.", show_default="250", rich_help_panel=INFERENCE)
    ] = None,
    seed: Annotated[
        Number,
        typer.Option(
            help="The same seed gives the same result.", show_default="1", rich_help_panel=INFERENCE
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(help="Worker processes, or a Dask address tcp://…", rich_help_panel=INFERENCE),
    ] = None,
    progress: Any = None,
) -> Answer:
    """Say how well costs would be recovered: fits to simulated animals whose costs are known.

    Example:  shoal calibrate --state local --groups 26 --animals 10 --frames 100 --method laplace
    """
    given = {name: value for name, value in locals().items() if name != "progress"}
    from shoal.workflows.calibrating import CalibrateRun, CalibrateSettings  # noqa: PLC0415
    from shoal.workflows.records import calibrated  # noqa: PLC0415

    run = CalibrateRun(settings_of(CalibrateSettings, reading={}, **given), progress)
    written = run.write(out)
    found = run.calibration
    shown: list[Rows | str] = [
        Rows(f"{found.method}, {len(found.replicates)} data sets", run.rows()),
        *found.sentences(),
        *places(written),
    ]
    return Answer(calibrated(found, written), shown)
