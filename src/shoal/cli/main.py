"""``shoal``: its commands, and how it ends."""

import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer

from shoal.cli import doctoring, fitting, listing, reporting, reproducing, simulating
from shoal.cli.answering import Debug, Json, Quiet, answering
from shoal.cli.compiling import with_programs_kept
from shoal.cli.interrupting import ending_soon_after_stop, stoppable
from shoal.cli.options import with_options
from shoal.cli.output import printable, speak_their_encoding
from shoal.errors import InputError, OutputError
from shoal.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool | None) -> None:
    if wanted:
        typer.echo(f"shoal {__version__}")
        raise typer.Exit


def shoal(
    context: Any,
    version: Annotated[
        bool | None,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn what moving animals want.

    Example:  shoal demo, and then  shoal fit tracks.csv --state local --out fit.nc
    """
    context.obj = {"json": json, "quiet": quiet}


shoal.__annotations__["context"] = typer.Context  # how Typer knows it; what it gives is its parent
app.callback()(shoal)


COMMANDS: dict[str, tuple[Callable[..., Any], ...]] = {
    "First steps": (reproducing.demo, doctoring.doctor, listing.formats, listing.features),
    "From tracks to costs": (fitting.fit, fitting.check, fitting.compare),
    "A page to look at": (reporting.report, reporting.explore),
    "From costs to groups": (simulating.simulate, simulating.predict, simulating.animate),
    "How far to trust it": (fitting.calibrate, reproducing.reproduce),
}
"""What shoal can do, in the order in which it is listed."""

COMPUTES_NOTHING = (listing.formats, listing.features, simulating.animate, doctoring.doctor)

for panel, commands in COMMANDS.items():
    for command in commands:
        kept = command if command in COMPUTES_NOTHING else with_programs_kept(command)
        app.command(rich_help_panel=panel)(stoppable(answering(with_options(kept))))


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    """A warning is one line, too."""
    typer.echo(f"shoal: warning: {printable(' '.join(str(message).split()))}", err=True)


def main() -> None:
    """Run a command; errors are one line, exit status 2 for bad input and 1 for failed work."""
    warnings.showwarning = _show_warning
    speak_their_encoding()
    try:
        with ending_soon_after_stop():
            status = app(prog_name="shoal", standalone_mode=False)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        line, status = _told(error)
        if line:
            typer.echo(printable(line), err=True)
    sys.exit(status or 0)


def _told(error: Exception) -> tuple[str, int]:
    """What went wrong, in a line, and the exit status."""
    if isinstance(error, InputError | OutputError):
        return f"shoal: {error}", 2
    if hasattr(error, "format_message"):  # of Typer: the words on the line are wrong
        context = getattr(error, "ctx", None)
        if not sys.argv[1:] and context is not None:  # there were none
            return str(context.get_help()), 2  # which Rich has printed already
        words = " ".join(error.format_message().rstrip(".").split())
        return f"shoal: {words}; see {context.command_path if context else 'shoal'} --help", 2
    words = " ".join(f"{type(error).__name__}: {error}".split())
    return f"shoal: the work failed ({words}); --debug shows where", 1
