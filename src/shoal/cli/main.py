"""``shoal``: its commands, and how it ends."""

import sys
import warnings
from typing import Annotated, Any

import typer

from shoal.cli import (
    calibrating,
    comparing,
    exploring,
    fitting,
    listing,
    moving,
    reporting,
    reproducing,
)
from shoal.cli.interrupting import ending_soon_after_stop, stoppable
from shoal.cli.output import printable
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


for command in (
    reproducing.demo,
    fitting.fit,
    comparing.compare,
    calibrating.calibrate,
    reproducing.reproduce,
    reporting.report,
    exploring.explore,
    moving.simulate,
    moving.predict,
    moving.animate,
    listing.formats,
    listing.features,
    fitting.check,
):
    app.command()(stoppable(command))


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    """A warning is one line, too."""
    typer.echo(f"shoal: warning: {printable(' '.join(str(message).split()))}", err=True)


def main() -> None:
    """Run a command; errors are one line, exit status 2 for bad input and 1 for failed work."""
    warnings.showwarning = _show_warning
    try:
        with ending_soon_after_stop():
            app()
    except (InputError, OutputError) as error:
        if "--debug" in sys.argv:
            raise
        typer.echo(f"shoal: {printable(str(error))}", err=True)
        sys.exit(2)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        words = " ".join(f"{type(error).__name__}: {error}".split())
        typer.echo(f"shoal: the work failed ({printable(words)}); --debug shows where", err=True)
        sys.exit(1)
