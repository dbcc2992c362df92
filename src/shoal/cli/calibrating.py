"""``shoal calibrate``."""

from pathlib import Path
from typing import Annotated

import typer

from shoal.cli.options import Config

Number = int | None


def calibrate(
    fit: Annotated[
        str | None, typer.Argument(help="A fit whose model is to be tried; else --state and so on.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Where to write the ranks; figure, page and choices go beside it.")
    ] = Path("calibration.csv"),
    config: Config = None,
    groups: Annotated[Number, typer.Option(help="Of the design.", show_default="1")] = None,
    animals: Annotated[Number, typer.Option(help="In a group.", show_default="10")] = None,
    frames: Annotated[
        Number, typer.Option(help="That they are watched.", show_default="100")
    ] = None,
    truth: Annotated[
        str | None,
        typer.Option(
            help="prior: each data set has its own; fit: the mean costs of the fit.",
            show_default="prior",
        ),
    ] = None,
    state: Annotated[
        str | None, typer.Option(help="As in shoal fit, where no fit is given.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="As in shoal fit.", show_default="0,0")] = None,
    passive: Annotated[
        str | None, typer.Option(help="As in shoal fit.", show_default="random-walk")
    ] = None,
    basis: Annotated[
        str | None, typer.Option(help="As in shoal fit.", show_default="identity")
    ] = None,
    discount: Annotated[float | None, typer.Option(show_default="1.0")] = None,
    prior: Annotated[
        str | None,
        typer.Option(
            help="Shape and rate of the precision's Gamma prior, from which truths come.",
            show_default="5,5",
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="nuts, laplace, advi or map.", show_default="nuts")
    ] = None,
    replicates: Annotated[Number, typer.Option(help="Data sets.", show_default="100")] = None,
    chains: Annotated[Number, typer.Option(show_default="4")] = None,
    draws: Annotated[Number, typer.Option(help="Per chain.", show_default="250")] = None,
    seed: Annotated[
        Number, typer.Option(help="The same seed gives the same result.", show_default="1")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Worker processes, or a Dask address tcp://…")
    ] = None,
) -> None:
    """Say how well costs would be recovered: fits to simulated animals whose costs are known.

    Example:  shoal calibrate --state local --groups 26 --animals 10 --frames 100 --method laplace
    """
    given = {name: value for name, value in locals().items() if name not in ("out", "config")}
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.calibrating import CalibrateRun, CalibrateSettings  # noqa: PLC0415

    chosen = CalibrateSettings.from_toml(config) if config else {}
    chosen |= {name: value for name, value in given.items() if value is not None}
    run = CalibrateRun(CalibrateSettings(**chosen))
    written = run.write(out)
    print_table(
        f"{run.calibration.method}, {len(run.calibration.replicates)} data sets", run.rows()
    )
    for sentence in run.calibration.sentences():
        typer.echo(sentence)
    for what, path in written.items():
        typer.echo(f"The {what} {'are' if what == 'choices' else 'is'} {path.resolve()}")
