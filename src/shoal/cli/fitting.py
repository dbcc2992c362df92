"""``shoal fit`` and ``shoal check``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.options import Config, TracksArgument, settings_of, with_reading_options
from shoal.errors import InputError


@with_reading_options
def fit(
    tracks: TracksArgument = None,
    out: Annotated[
        Path, typer.Option(help="Where to write the fit; figures, page and choices go beside it.")
    ] = Path("fit.nc"),
    config: Config = None,
    passive: Annotated[
        str | None,
        typer.Option(
            help="auto (scored on held-out tracks), turn-coupled, walk-mixture, uniform, "
            "random-walk:SD (one, or one for each axis; without a number the paper's 90° and a "
            "quarter of the span of distances), turning-mixture:SD.",
            show_default="auto",
        ),
    ] = None,
    basis: Annotated[
        str | None,
        typer.Option(
            help="smooth[:order], flat (no costs), identity, bisquare[:resolutions], "
            "gaussian[:every], fourier[:order], von-mises; bisquare-planar and gaussian-planar as "
            "in the paper.",
            show_default="smooth",
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="nuts, laplace, advi or map.", show_default="nuts")
    ] = None,
    discount: Annotated[float | None, typer.Option(show_default="1.0")] = None,
    chains: Annotated[int | None, typer.Option(show_default="4")] = None,
    draws: Annotated[int | None, typer.Option(help="Per chain.", show_default="1000")] = None,
    warmup: Annotated[int | None, typer.Option(help="Of NUTS.", show_default="500")] = None,
    seed: Annotated[
        int | None, typer.Option(help="The same seed gives the same result.", show_default="1")
    ] = None,
    **reading: Any,
) -> None:
    """Learn the costs behind tracks: counts, posterior, figures, a page.

    Example:  shoal fit guppies.csv --state local,target --target 0.2,0.8 --out fit.nc
    """
    given = dict(locals())
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.fitting import FitRun, FitSettings  # noqa: PLC0415

    settings = settings_of(FitSettings, **given)
    if out.suffix != ".nc":
        raise InputError(f"a fit is written as netCDF, to a name that ends in .nc; got {out}")
    run = FitRun(settings)
    written = run.write(out)
    print_table(f"What {run.settings.tracks} tells", run.summary())
    for note in run.notes():
        typer.echo(f"note: {note}")
    typer.echo(str(run.fit.diagnostics()))
    for what, path in written.items():
        if what in ("fit", "choices", "page"):
            typer.echo(f"The {what} {'are' if what == 'choices' else 'is'} {path.resolve()}")


def check(
    fit: Annotated[Path, typer.Argument(help="A fit written by shoal, such as fit.nc.")],
) -> None:
    """Say in words what to worry about; exit status 1 where the fit should not be trusted.

    Example:  shoal check demo/fits/nuts-identity.nc
    """
    from shoal.posterior import load_fit  # noqa: PLC0415  (loads JAX only when needed)

    loaded = load_fit(fit)
    diagnostics = loaded.diagnostics()
    typer.echo(repr(loaded))
    typer.echo(str(diagnostics))
    if not diagnostics.trusted:
        raise typer.Exit(1)
