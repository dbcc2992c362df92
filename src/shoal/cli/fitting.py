"""``shoal fit``, ``shoal check``, ``shoal compare`` and ``shoal calibrate``."""

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.answering import Answer, Rows, places
from shoal.cli.interrupting import on_stop
from shoal.errors import InputError
from shoal.workflows.options import Panel
from shoal.workflows.settings import CalibrateSettings, CompareSettings, FitSettings


def fit(
    settings: FitSettings,
    out: Annotated[
        Path, typer.Option(help="Where to write the fit; figures, page and choices go beside it.")
    ] = Path("fit.nc"),
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue an interrupted run of nuts, with the same command.",
            rich_help_panel=Panel.INFERENCE.value,
        ),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Discard an interrupted run and start again.",
            rich_help_panel=Panel.INFERENCE.value,
        ),
    ] = False,
    progress: Any = None,
) -> Answer:
    """Learn the costs behind tracks: what animals chose, posterior, figures, a page.

    Example:  shoal fit guppies.csv --state local:others,target --target 0.2,0.8 --out fit.nc
    """
    from shoal.system.files import make_folder  # noqa: PLC0415
    from shoal.system.lock import clear, locked  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.fitting import FitRun  # noqa: PLC0415
    from shoal.workflows.records import fitted  # noqa: PLC0415

    if out.suffix != ".nc":
        raise InputError(f"a fit is written as netCDF, to a name that ends in .nc; got {out}")
    make_folder(out.parent)
    with locked(out) as place:
        _look_for_draws(place, out, resume=resume, restart=restart)
        on_stop(lambda: _what_is_left(place, out))
        run = FitRun(settings, progress, checkpoint=place)
        written = run.write(out)
        clear(place)
    shown: list[Rows | str] = [
        Rows(f"What {run.settings.tracks} tells", run.summary()),
        *(f"note: {note}" for note in run.notes()),
        str(run.fit.diagnostics()),
        *places(written, "fit", "choices", "page"),
    ]
    return Answer(fitted(run, written), shown)


def _look_for_draws(place: Path, out: Path, *, resume: bool, restart: bool) -> None:
    """Whether an interrupted run goes on, is forgotten, or stands in the way."""
    from shoal.posterior.checkpoint import has_draws  # noqa: PLC0415
    from shoal.system.lock import clear  # noqa: PLC0415  (loads JAX only when needed)

    if resume and restart:
        raise InputError("--resume goes on with a run, --restart forgets it: give one of them")
    if restart:
        clear(place)
    elif resume and not has_draws(place):
        words = f"there is no interrupted run of {out} to resume: starting anew"
        warnings.warn(words, UserWarning, stacklevel=2)
    elif has_draws(place) and not resume:
        raise InputError(
            f"{place} holds draws of an interrupted run: add --resume to go on with it, or "
            "--restart to forget it"
        )


def _what_is_left(place: Path, out: Path) -> str:
    """What a user who stops a fit should know."""
    from shoal.posterior.checkpoint import has_draws  # noqa: PLC0415  (loads JAX only when needed)

    if has_draws(place):
        return f"the draws so far are in {place}; the same command with --resume goes on"
    return f"nothing was drawn yet, and {out} was not touched"


def check(
    fit: Annotated[Path, typer.Argument(help="A fit written by shoal, such as fit.nc.")],
) -> Answer:
    """Say in words what to worry about; exit status 1 where the fit should not be trusted.

    Example:  shoal check demo/fit.nc
    """
    from shoal.posterior import load_fit  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.records import checked  # noqa: PLC0415

    loaded = load_fit(fit)
    diagnostics = loaded.diagnostics()
    return Answer(
        checked(loaded, fit),
        [repr(loaded), str(diagnostics)],
        status=0 if diagnostics.trusted else 1,
    )


def compare(
    settings: CompareSettings,
    out: Annotated[
        Path, typer.Option(help="Where to write the table; figure, page and choices go beside it.")
    ] = Path("compare.csv"),
    progress: Any = None,
) -> Answer:
    """Put models side by side on decisions that none of them has seen.

    Example:  shoal compare guppies.csv --state local,target --target 0.2,0.8
    """
    from shoal.workflows.comparing import CompareRun  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.records import compared  # noqa: PLC0415

    run = CompareRun(settings, progress)
    written = run.write(out)
    shown: list[Rows | str] = [
        Rows(f"Held out: {run.what_was_held_out()}", run.comparison.rows()),
        *(f"note: {note}" for note in run.notes()),
        run.comparison.sentence(),
        *places(written),
    ]
    return Answer(compared(run, written), shown)


def calibrate(
    settings: CalibrateSettings,
    out: Annotated[
        Path, typer.Option(help="Where to write the ranks; figure, page and choices go beside it.")
    ] = Path("calibration.csv"),
    progress: Any = None,
) -> Answer:
    """Say how well costs would be recovered: fits to simulated animals whose costs are known.

    Example:  shoal calibrate --state local --groups 26 --animals 10 --frames 100 --method laplace
    """
    from shoal.workflows.calibrating import CalibrateRun  # noqa: PLC0415  (loads JAX)
    from shoal.workflows.records import calibrated  # noqa: PLC0415

    run = CalibrateRun(settings, progress)
    written = run.write(out)
    found = run.calibration
    shown: list[Rows | str] = [
        Rows(f"{found.method}, {len(found.replicates)} data sets", run.rows()),
        *found.sentences(),
        *places(written),
    ]
    return Answer(calibrated(found, written), shown)
