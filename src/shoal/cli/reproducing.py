"""``shoal demo`` and ``shoal reproduce``."""

from pathlib import Path
from typing import Annotated

import typer


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
    from shoal.studies.demo import run_demo  # noqa: PLC0415
    from shoal.studies.vicsek import Settings  # noqa: PLC0415

    settings = Settings(seed=seed, draws=draws, warmup=max(50, draws // 2))
    rows, page = run_demo(out, settings)
    print_table("What 200 particles × 100 decisions tell of the costs behind them", rows)
    typer.echo(f"Figures and fits are in {out.resolve()}")
    typer.echo(f"The report is {page.resolve()}")


def reproduce(
    study: Annotated[str, typer.Argument(help="vicsek, guppies or all.")] = "all",
    out: Annotated[Path, typer.Option(help="The folder to write to.")] = Path("reproduction"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Short chains and few groups: a minute or so.")
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
) -> None:
    """Repeat the paper, figure by figure, and say of each of its claims what we found.

    Example:  shoal reproduce all --out reproduction

    With real fish:  shoal reproduce guppies --data guppies.csv --target 0.2,0.8
    """
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.folder import QUICK  # noqa: PLC0415
    from shoal.studies.reproducing import ReproduceSettings  # noqa: PLC0415
    from shoal.studies.reproducing import reproduce as run  # noqa: PLC0415
    from shoal.studies.words import point_of  # noqa: PLC0415

    place = None if target is None else point_of(target)
    done, index = run(out, ReproduceSettings(study, quick, data, place, seed, flip_y))
    if quick:
        typer.echo(f"Quick: {QUICK}")
    for part in done:
        print_table(part.title, [claim.row() for claim in part.claims])
        typer.echo(f"Figures, fits and tables: {part.readme.resolve()}")
    typer.echo(f"All of it is in {index.resolve()}")
