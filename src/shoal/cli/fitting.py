"""``shoal fit`` and ``shoal check``."""

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.answering import Answer, Rows, places
from shoal.cli.interrupting import on_stop
from shoal.cli.options import (
    DECISIONS,
    INFERENCE,
    Config,
    TracksArgument,
    settings_of,
    with_reading_options,
)
from shoal.errors import InputError


@with_reading_options
def fit(
    tracks: TracksArgument = None,
    out: Annotated[
        Path, typer.Option(help="Where to write the fit; figures, page and choices go beside it.")
    ] = Path("fit.nc"),
    config: Config = None,
    as_: Annotated[
        str | None,
        typer.Option(
            "--as",
            help="decisions (what each animal chose) or transitions (how observed states changed, "
            "as in the paper); auto: decisions, unless --passive, --lag, --discount, --method advi "
            "or --stream is given.",
            show_default="auto",
            autocompletion=completing.READ_AS,
        ),
    ] = None,
    moves: Annotated[
        str | None,
        typer.Option(
            help="Of decisions: turns (headings), steps (headings and lengths), with shapes of "
            "what animals do without preferences, turns:normals, steps:log-normal; auto: steps "
            "where there are distances, walls or speeds.",
            show_default="auto",
            autocompletion=completing.MOVES,
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    others: Annotated[
        str | None,
        typer.Option(
            help="Of steps: others are seen still, or ahead where going straight on leads them; "
            "auto: what scores better on held-out decisions.",
            show_default="auto",
            autocompletion=completing.OTHERS,
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        typer.Option(
            help="Moves that stand for all an animal could have made; 0: 64, and more where costs "
            "need them.",
            show_default="0",
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    persistence: Annotated[
        str | None,
        typer.Option(
            help="How much of a turn is repeated in the next: none, a number, learned, or auto, "
            "from a quick fit where it shows that turns go on as they were.",
            show_default="auto",
            autocompletion=completing.PERSISTENCE,
            rich_help_panel=DECISIONS,
        ),
    ] = None,
    passive: Annotated[
        str | None,
        typer.Option(
            help="Of transitions: auto (scored on held-out tracks), turn-coupled, walk-mixture, "
            "uniform, uniform:area (for distances to a point), random-walk:SD (one, or one for "
            "each axis; without a number the paper's 90° and a quarter of the span of distances), "
            "random-walk:90:centre (from the centres of bins, as in the paper), "
            "turning-mixture:SD.",
            show_default="auto",
            autocompletion=completing.PASSIVE,
        ),
    ] = None,
    basis: Annotated[
        str | None,
        typer.Option(
            help="smooth[:order], flat (no costs), identity, bisquare[:resolutions], "
            "gaussian[:every], fourier[:order], von-mises; bisquare-planar and gaussian-planar as "
            "in the paper.",
            show_default="smooth",
            autocompletion=completing.BASIS,
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="laplace, nuts, map, or advi (transitions only).",
            show_default="laplace for decisions, nuts for transitions",
            autocompletion=completing.FIT_METHOD,
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with a run of nuts that was interrupted, by the same command.",
            rich_help_panel=INFERENCE,
        ),
    ] = False,
    restart: Annotated[
        bool,
        typer.Option(
            "--restart",
            help="Forget an interrupted run, and start anew.",
            rich_help_panel=INFERENCE,
        ),
    ] = False,
    discount: Annotated[
        float | None, typer.Option(show_default="1.0", rich_help_panel=INFERENCE)
    ] = None,
    chains: Annotated[int | None, typer.Option(show_default="4", rich_help_panel=INFERENCE)] = None,
    draws: Annotated[
        int | None, typer.Option(help="Per chain.", show_default="1000", rich_help_panel=INFERENCE)
    ] = None,
    warmup: Annotated[
        int | None, typer.Option(help="Of NUTS.", show_default="500", rich_help_panel=INFERENCE)
    ] = None,
    target_acceptance: Annotated[
        float | None,
        typer.Option(
            help="Of NUTS; nearer to 1 where draws diverge.",
            show_default="0.95, or 0.8 where only costs are unknown",
            rich_help_panel=INFERENCE,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            help="The same seed gives the same result.", show_default="1", rich_help_panel=INFERENCE
        ),
    ] = None,
    progress: Any = None,
    **reading: Any,
) -> Answer:
    """Learn the costs behind tracks: what animals chose, posterior, figures, a page.

    Example:  shoal fit guppies.csv --state local:others,target --target 0.2,0.8 --out fit.nc
    """
    given = {k: v for k, v in locals().items() if k not in ("resume", "restart", "progress")}
    from shoal.system.files import make_folder  # noqa: PLC0415
    from shoal.system.lock import clear, locked  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.fitting import FitRun, FitSettings  # noqa: PLC0415
    from shoal.workflows.records import fitted  # noqa: PLC0415

    settings = settings_of(FitSettings, **given)
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

    Example:  shoal check demo/fits/nuts-identity.nc
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
