"""``shoal calibrate``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.answering import Answer, Rows, places
from shoal.workflows.settings import CalibrateSettings


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
