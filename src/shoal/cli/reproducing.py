"""``shoal demo`` and ``shoal reproduce``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.answering import Answer, Rows
from shoal.paper.settings import DemoSettings, ReproduceSettings

NEXT = """
With tracks of your own:
  shoal fit tracks.csv --state local --out fit.nc            do they align with each other?
  shoal fit tracks.csv --state local,target --target X,Y     and do they want to be somewhere?
  shoal check fit.nc                                         is the fit to be trusted?
  shoal simulate fit.nc --video herd.mp4                     a group that lives by it
  shoal formats                                              what can be read"""
"""What to type next, for those who see it for the first time."""


def demo(
    settings: DemoSettings,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("demo"),
    progress: Any = None,
) -> Answer:
    """Simulate a flock whose costs are known, learn them from its tracks, and write the page.

    Example:  shoal demo --out demo
    """
    from shoal.paper.demo import run_demo  # noqa: PLC0415  (loads JAX only when needed)

    seed, draws = settings.seed, settings.draws
    found = run_demo(out, draws, seed, progress)
    record = {"seed": seed, "draws": draws, "models": [found.model], "files": found.files}
    shown: list[Rows | str] = [
        "\n\n".join(found.words),
        f"Tracks, fit and figures are in {out.resolve()}",
        f"The report is {found.files['report'].resolve()}",
        NEXT,
    ]
    return Answer(record, shown)


def reproduce(
    settings: ReproduceSettings,
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("reproduction"),
    progress: Any = None,
) -> Answer:
    """Repeat the paper, figure by figure, and say of each of its claims what we found.

    Example:  shoal reproduce all --out reproduction

    With real fish:  shoal reproduce guppies --data guppies.csv --target 0.2,0.8
    """
    from shoal.paper.folder import QUICK  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.paper.reproducing import record_of  # noqa: PLC0415
    from shoal.paper.reproducing import reproduce as run  # noqa: PLC0415

    done, index = run(out, settings, progress)
    quick = settings.quick
    shown: list[Rows | str] = [f"Quick: {QUICK}"] if quick else []
    for part in done:
        shown.append(Rows(part.title, [claim.row() for claim in part.claims]))
        shown.append(f"Figures, fits and tables: {part.readme.resolve()}")
    shown.append(f"All of it is in {index.resolve()}")
    return Answer(record_of(done, index) | {"quick": quick, "seed": settings.seed}, shown)
