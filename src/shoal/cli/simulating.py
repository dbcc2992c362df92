"""``shoal simulate`` and ``shoal predict``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.answering import Answer, Rows, places
from shoal.workflows.moving_settings import PredictSettings, SimulateSettings


def simulate(
    settings: SimulateSettings,
    out: Annotated[Path, typer.Option(help="Where to write the tracks: .csv or .parquet.")] = Path(
        "herd.csv"
    ),
    progress: Any = None,
) -> Answer:
    """Let a group live by a fit: tracks, and a video.

    Example:  shoal simulate fit.nc --steps 300 --rule stochastic --out herd.csv --video herd.mp4
    """
    from shoal.workflows.moving import Simulating  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.records import simulated  # noqa: PLC0415

    run = Simulating(settings, progress)
    written = run.write(out)
    arrived = run.arrived()
    shown = [f"{run.groups!r} by the {settings.rule} rule", *([arrived] if arrived else [])]
    return Answer(simulated(run, written), [*shown, *places(written)])


def predict(
    settings: PredictSettings,
    out: Annotated[Path, typer.Option(help="The page; its figure and table go beside it.")] = Path(
        "predictive.html"
    ),
    progress: Any = None,
) -> Answer:
    """Do groups simulated from a fit move like the observed ones? A page with the answer.

    Example:  shoal predict fit.nc --out predictive.html
    """
    from shoal.workflows.moving import Predicting  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.workflows.records import predicted  # noqa: PLC0415

    run = Predicting(settings, progress)
    written = run.write(out)
    rows = [{k: v for k, v in row.items() if k[:2] != "p,"} for row in run.check.rows()]
    shown: list[Rows | str] = [
        Rows("Observed and simulated groups: mean [95 % interval]", rows),
        run.check.words(),
        *places(written, "page"),
    ]
    return Answer(predicted(run.check, written), shown)
