"""``shoal demo`` and ``shoal reproduce``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli import completing
from shoal.cli.answering import Answer, Rows

NEXT = """
With tracks of your own:
  shoal fit tracks.csv --state local --out fit.nc            do they align with each other?
  shoal fit tracks.csv --state local,target --target X,Y     and do they want to be somewhere?
  shoal check fit.nc                                         is the fit to be trusted?
  shoal simulate fit.nc --video herd.mp4                     a group that lives by it
  shoal formats                                              what can be read"""
"""What to type next, for those who see it for the first time."""


def demo(
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("demo"),
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 1,
    draws: Annotated[
        int, typer.Option(min=100, help="Draws of the posterior, in each of four chains.")
    ] = 1000,
    progress: Any = None,
) -> Answer:
    """Simulate a flock whose costs are known, learn them from its tracks, and write the page.

    Example:  shoal demo --out demo
    """
    from shoal.paper.demo import run_demo  # noqa: PLC0415  (loads JAX only when needed)

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
    study: Annotated[
        str, typer.Argument(help="vicsek, guppies or all.", autocompletion=completing.STUDY)
    ] = "all",
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Short chains and few groups: some minutes.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(help="Real guppies: a folder or table of all experiments, or one of them."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="X,Y: the shelter, in the coordinates of --data.")
    ] = None,
    flip_y: Annotated[bool, typer.Option("--flip-y", help="y counts downwards in --data.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")] = 1,
    progress: Any = None,
) -> Answer:
    """Repeat the paper, figure by figure, and say of each of its claims what we found.

    Example:  shoal reproduce all --out reproduction

    With real fish:  shoal reproduce guppies --data guppies.csv --target 0.2,0.8
    """
    from shoal.paper.folder import QUICK  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.paper.reproducing import ReproduceSettings, record_of  # noqa: PLC0415
    from shoal.paper.reproducing import reproduce as run  # noqa: PLC0415
    from shoal.workflows.words import point_of  # noqa: PLC0415

    place = None if target is None else point_of(target)
    done, index = run(out, ReproduceSettings(study, quick, data, place, seed, flip_y), progress)
    shown: list[Rows | str] = [f"Quick: {QUICK}"] if quick else []
    for part in done:
        shown.append(Rows(part.title, [claim.row() for claim in part.claims]))
        shown.append(f"Figures, fits and tables: {part.readme.resolve()}")
    shown.append(f"All of it is in {index.resolve()}")
    return Answer(record_of(done, index) | {"quick": quick, "seed": seed}, shown)
