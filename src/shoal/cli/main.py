"""``shoal``: commands, their words, and what they print."""

import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import moving, reproducing
from shoal.errors import InputError, OutputError
from shoal.version import __version__

app = typer.Typer(
    help="Learn what moving animals want.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool | None) -> None:
    if wanted:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def shoal(
    version: Annotated[
        bool | None,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback on errors.")] = False,
) -> None:
    """Learn what moving animals want."""


app.command()(reproducing.demo)


@app.command()
def fit(
    tracks: Annotated[
        str | None, typer.Argument(help="A file, a folder, or a pattern in quotes.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Where to write the fit; figures, page and choices go beside it.")
    ] = Path("fit.nc"),
    config: Annotated[
        Path | None, typer.Option(help="A TOML file of choices, such as an earlier run wrote.")
    ] = None,
    state: Annotated[
        str | None,
        typer.Option(
            help="Features with commas between; see `shoal features`.", show_default="local"
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="X,Y; the name of an animal or landmark; or GROUP=X,Y;…")
    ] = None,
    arena: Annotated[
        str | None, typer.Option(help="left,bottom,right,top or circle:x,y,radius.")
    ] = None,
    passive: Annotated[
        str | None,
        typer.Option(
            help="uniform, random-walk:SD (one, or one for each axis; by default 90° and a quarter "
            "of the span of distances), turning-mixture:SD.",
            show_default="random-walk",
        ),
    ] = None,
    basis: Annotated[
        str | None,
        typer.Option(
            help="identity, bisquare[:resolutions], gaussian[:every], fourier[:order], von-mises; "
            "bisquare-planar and gaussian-planar as in the paper.",
            show_default="bisquare",
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
    lag: Annotated[
        int | None, typer.Option(help="Frames between states.", show_default="1")
    ] = None,
    heading_frames: Annotated[
        int | None,
        typer.Option(help="Frames over which a heading is taken.", show_default="1"),
    ] = None,
    minimum_step: Annotated[
        float | None,
        typer.Option(help="Shorter steps are rest, and keep the heading.", show_default="0"),
    ] = None,
    tracker_headings: Annotated[
        bool | None,
        typer.Option("--tracker-headings/--displacements", help="Headings as the file has them."),
    ] = None,
    every: Annotated[int | None, typer.Option(help="Keep every n-th frame.")] = None,
    max_step: Annotated[
        float | None, typer.Option(help="Fixes farther than this from their neighbours go.")
    ] = None,
    fill_gaps: Annotated[
        int | None, typer.Option(help="Straight lines across gaps of at most n frames.")
    ] = None,
    smooth: Annotated[
        int | None, typer.Option(help="Savitzky–Golay over n frames, an odd number.")
    ] = None,
    rescale: Annotated[
        str | None, typer.Option(help="unit-square, or a factor and a unit, '0.05 cm'.")
    ] = None,
    drop: Annotated[str | None, typer.Option(help="Animals to leave out, with commas.")] = None,
    landmarks: Annotated[
        str | None, typer.Option(help="No members of the group, but possible targets.")
    ] = None,
    flip_y: Annotated[
        bool | None, typer.Option("--flip-y/--no-flip-y", help="y counts downwards in the file.")
    ] = None,
    format: Annotated[str | None, typer.Option(help="A name that `shoal formats` lists.")] = None,
    columns: Annotated[
        str | None, typer.Option(help="Of long tables: individual=who,x=east,y=north,frame=n.")
    ] = None,
    fps: Annotated[float | None, typer.Option(help="Frames per second.")] = None,
    unit: Annotated[str | None, typer.Option(help="Of lengths.")] = None,
    keypoint: Annotated[str | None, typer.Option(help="Of poses; else the centroid.")] = None,
    confidence: Annotated[float | None, typer.Option(help="Of poses: less is not seen.")] = None,
    clock: Annotated[
        float | None, typer.Option(help="Seconds between ticks, for animals out of step.")
    ] = None,
    sort: Annotated[
        bool | None, typer.Option("--sort/--no-sort", help="Rows in any order.")
    ] = None,
    stream: Annotated[
        bool | None, typer.Option("--stream/--whole", help="Count without reading it all at once.")
    ] = None,
    parts: Annotated[
        str | None, typer.Option(help="With --stream: files are cut by time, or are groups.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="With --stream: workers, or a Dask address tcp://…")
    ] = None,
) -> None:
    """Learn the costs behind tracks: counts, posterior, figures, a page.

    Example:  shoal fit guppies.csv --state local,target --target 0.2,0.8 --out fit.nc
    """
    given = {name: value for name, value in locals().items() if value is not None}
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.fitting import FitRun, FitSettings  # noqa: PLC0415

    chosen = FitSettings.from_toml(given.pop("config")) if config else {}
    chosen |= {name: value for name, value in given.items() if name != "out"}
    if config and config.resolve() == out.with_suffix(".toml").resolve():
        raise InputError(f"{config} would be written over: choose another name for --out")
    if out.suffix != ".nc":
        raise InputError(f"a fit is written as netCDF, to a name that ends in .nc; got {out}")
    run = FitRun(FitSettings(**chosen))
    written = run.write(out)
    print_table(f"What {run.settings.tracks} tells", run.summary())
    for note in run.notes():
        typer.echo(f"note: {note}")
    typer.echo(str(run.fit.diagnostics()))
    for what, path in written.items():
        if what in ("fit", "choices", "page"):
            typer.echo(f"The {what} {'are' if what == 'choices' else 'is'} {path.resolve()}")


app.command()(reproducing.reproduce)
app.command()(moving.simulate)
app.command()(moving.predict)
app.command()(moving.animate)


@app.command()
def formats() -> None:
    """List what can be read, with an example of each.

    Example:  shoal formats
    """
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads readers only when needed)
    from shoal.tracks.readers import FORMATS  # noqa: PLC0415

    rows = [{"format": f.name, "what": f.what, "looks like": f.example} for f in FORMATS]
    print_table("Formats, in the order in which they are tried", rows)


@app.command()
def features() -> None:
    """List what an animal may perceive: the words of --state.

    Example:  shoal features
    """
    from shoal.cli.output import print_table  # noqa: PLC0415
    from shoal.studies.words import FEATURES  # noqa: PLC0415

    rows = [{"feature": name, "what": words} for name, words in FEATURES.items()]
    print_table("Features, for example --state local:bins=18:radius=0.1,target", rows)


@app.command()
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


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    """A warning is one line, too."""
    typer.echo(f"shoal: warning: {' '.join(str(message).split())}", err=True)


def main() -> None:
    """Run a command; errors are one line, exit status 2 for bad input and 1 for failed work."""
    warnings.showwarning = _show_warning
    try:
        app()
    except (InputError, OutputError) as error:
        if "--debug" in sys.argv:
            raise
        typer.echo(f"shoal: {error}", err=True)
        sys.exit(2)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        words = " ".join(f"{type(error).__name__}: {error}".split())
        typer.echo(f"shoal: the work failed ({words}); --debug shows where", err=True)
        sys.exit(1)
