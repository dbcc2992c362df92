"""``shoal simulate``, ``shoal predict`` and ``shoal animate``."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.errors import InputError

FIT = Annotated[Path, typer.Argument(help="A fit written by shoal, such as fit.nc.")]
TRACKS = Annotated[
    str | None, typer.Option(help="Tracks to start from; else those the fit was made from.")
]
CONFIG = Annotated[
    Path | None, typer.Option(help="The TOML file of the fit; else the one beside it.")
]
GROUP = Annotated[str | None, typer.Option(help="Only this group; else all.")]
SEED = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]
SPEED = Annotated[
    str | None,
    typer.Option(help="A number per second, constant, observed or gamma.", show_default="observed"),
]
ARENA = Annotated[
    str | None,
    typer.Option(
        help="left,bottom,right,top; circle:x,y,radius; periodic:left,bottom,right,top; unbounded.",
        show_default="that of the tracks",
    ),
]
WALLS = Annotated[str, typer.Option(help="reflect or slide.")]
STOP = Annotated[str | None, typer.Option(help="End when one, or all, are at the target.")]
TARGET = Annotated[
    str | None,
    typer.Option(help="Of --stop: X,Y or GROUP=X,Y;…", show_default="that of the fit"),
]
REACH = Annotated[
    float | None,
    typer.Option(help="How near is there.", show_default="as near as one came"),
]


def simulate(
    fit: FIT,
    out: Annotated[Path, typer.Option(help="Where to write the tracks: .csv or .parquet.")] = Path(
        "herd.csv"
    ),
    steps: Annotated[
        int | None,
        typer.Option(help="Frames after the start.", show_default="as many as the tracks have"),
    ] = None,
    rule: Annotated[str, typer.Option(help="stochastic, least-cost or passive.")] = "stochastic",
    draws: Annotated[
        str, typer.Option(help="mean, or each: a posterior draw for every group.")
    ] = "mean",
    replicates: Annotated[
        int | None, typer.Option(help="Groups from each start.", show_default="1")
    ] = None,
    tracks: TRACKS = None,
    config: CONFIG = None,
    group: GROUP = None,
    release: Annotated[
        str | None,
        typer.Option(help="Instead of tracks: ANIMALS:X,Y:SPREAD, such as 10:0.9,0.1:0.05."),
    ] = None,
    speed: SPEED = None,
    fps: Annotated[float | None, typer.Option(help="Of a release.")] = None,
    arena: ARENA = None,
    walls: WALLS = "reflect",
    stop: STOP = None,
    target: TARGET = None,
    reach: REACH = None,
    seed: SEED = 1,
    video: Annotated[
        Path | None, typer.Option(help="Also a video of the first group: .mp4 or .gif.")
    ] = None,
    beside: Annotated[
        str, typer.Option(help="In the video: observed, stochastic, least-cost, passive.")
    ] = "",
    inset: Annotated[
        bool, typer.Option("--inset", help="In the video: the state of one animal on the costs.")
    ] = False,
    video_speed: Annotated[float, typer.Option(help="Times faster than life.")] = 1.0,
) -> None:
    """Let a group live by a fit: tracks, and a video.

    Example:  shoal simulate fit.nc --steps 300 --rule stochastic --out herd.csv --video herd.mp4
    """
    given = {name: value for name, value in locals().items() if value is not None}
    for name in ("out", "video", "beside", "inset", "video_speed"):
        given.pop(name, None)
    from shoal.studies.moving import Moving, MovingSettings, panels_of  # noqa: PLC0415

    if video is not None:
        from shoal.figures.video.encoding import checked_suffix  # noqa: PLC0415  (loads the encoder)

        checked_suffix(video)
    panels_of(beside)
    if video is None and (beside or inset):
        raise InputError("--beside and --inset are about the video: name one with --video")
    moving = Moving(MovingSettings(**given))
    groups = moving.write(out)
    typer.echo(f"{groups!r} by the {rule} rule")
    if moving.arrived(groups):
        typer.echo(moving.arrived(groups))
    typer.echo(f"The tracks are {out.resolve()}")
    if video is not None:
        typer.echo(
            f"The video is {moving.film(groups, video, beside, inset, video_speed).resolve()}"
        )


def predict(
    fit: FIT,
    out: Annotated[Path, typer.Option(help="The page; its figure and table go beside it.")] = Path(
        "predictive.html"
    ),
    replicates: Annotated[int, typer.Option(min=40, help="Of the whole design.")] = 200,
    draws: Annotated[
        str, typer.Option(help="each: a posterior draw for every replicate, or mean.")
    ] = "each",
    tracks: TRACKS = None,
    config: CONFIG = None,
    group: GROUP = None,
    speed: SPEED = None,
    arena: ARENA = None,
    walls: WALLS = "reflect",
    stop: STOP = None,
    target: TARGET = None,
    reach: REACH = None,
    seed: SEED = 1,
) -> None:
    """Do groups simulated from a fit move like the observed ones? A page with the answer.

    Example:  shoal predict fit.nc --out predictive.html
    """
    given = {name: value for name, value in locals().items() if value is not None}
    given.pop("out")
    from shoal.cli.output import print_table  # noqa: PLC0415  (loads JAX only when needed)
    from shoal.studies.moving import Moving, MovingSettings  # noqa: PLC0415

    moving = Moving(MovingSettings(**given))
    written = moving.write_check(out)
    rows = [{k: v for k, v in row.items() if k[:2] != "p,"} for row in moving.check.table()]
    print_table("Observed and simulated groups: mean [95 % interval]", rows)
    typer.echo(moving.check.words())
    typer.echo(f"The page is {written['page'].resolve()}")


def animate(
    tracks: Annotated[str, typer.Argument(help="A file, a folder, or a pattern in quotes.")],
    out: Annotated[Path, typer.Option(help="Where to write the video: .mp4 or .gif.")] = Path(
        "tracks.mp4"
    ),
    group: Annotated[
        str | None, typer.Option(help="Which group.", show_default="the first")
    ] = None,
    target: Annotated[str | None, typer.Option(help="A point X,Y to mark.")] = None,
    landmarks: Annotated[str | None, typer.Option(help="No members of the group.")] = None,
    tail: Annotated[int | None, typer.Option(help="Frames that tails go back.")] = None,
    speed: Annotated[float, typer.Option(help="Times faster than life.")] = 1.0,
    every: Annotated[int, typer.Option(min=1, help="Show every n-th frame.")] = 1,
    format: Annotated[str | None, typer.Option(help="A name that `shoal formats` lists.")] = None,
    fps: Annotated[float | None, typer.Option(help="Frames per second.")] = None,
    unit: Annotated[str | None, typer.Option(help="Of lengths.")] = None,
) -> None:
    """Make a video of tracks.

    Example:  shoal animate guppies.csv --target 0.2,0.8 --out guppies.mp4
    """
    from shoal.figures.video.animation import animate as draw  # noqa: PLC0415  (loads Matplotlib)
    from shoal.studies.words import target_of  # noqa: PLC0415
    from shoal.tracks.readers import read_tracks  # noqa: PLC0415

    found: Any = read_tracks(tracks, format, fps=fps, unit=unit)
    groups = list(found)
    chosen = [part for part in groups if group is None or part.group == group]
    if not chosen:
        known = ", ".join(part.group for part in groups)
        raise InputError(f"there is no group {group!r}; there are {known:.200}")
    if group is None and len(groups) > 1:
        typer.echo(f"note: the first of {len(groups)} groups, {groups[0].group}; others by --group")
    one = chosen[0] if every == 1 else chosen[0].thin(every)
    if landmarks:
        one = one.with_landmarks(*(name.strip() for name in landmarks.split(",")))
    point = target_of(target or "")
    if isinstance(point, str):
        one, point = one.with_landmarks(point), None  # drawn with its name, wherever it goes
    path = draw(one, out, target=point, tail=tail, speed=speed)
    typer.echo(f"The video is {path.resolve()}")
