"""``shoal``: commands, their words, and what they print."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from shoal.errors import InputError, OutputError
from shoal.version import __version__

app = typer.Typer(
    help="Learn what moving animals want.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


@app.callback()
def shoal(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback on errors.")] = False,
) -> None:
    """Learn what moving animals want."""


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 1,
    draws: Annotated[
        int, typer.Option(min=100, help="Draws per chain; the paper has 4000.")
    ] = 4000,
) -> None:
    """Simulate a flock with known costs, infer them, write fits, figures and a page.

    Example:  shoal demo --out demo
    """
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.vicsek import Settings, run_demo, table  # noqa: PLC0415

    settings = Settings(seed=seed, draws=draws, warmup=max(50, draws // 2))
    results, page = run_demo(out, settings)
    print_table("What 200 agents × 100 decisions tell of the costs behind them", table(results))
    typer.echo(f"Figures and fits are in {out.resolve()}")
    typer.echo(f"The report is {page.resolve()}")


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


def main() -> None:
    """Run a command; errors are one line, exit status 2 for bad input and 1 for failed work."""
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
