"""``shoal compare``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.answering import Answer, Rows, places
from shoal.workflows.settings import CompareSettings


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
