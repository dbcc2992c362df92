"""``shoal simulate``, ``shoal predict`` and ``shoal animate``: groups in motion."""

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.answering import Answer, Rows, places
from shoal.errors import InputError
from shoal.workflows.moving_settings import AnimateSettings, PredictSettings, SimulateSettings


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


def animate(
    settings: AnimateSettings,
    out: Annotated[Path, typer.Option(help="Where to write the video: .mp4 or .gif.")] = Path(
        "tracks.mp4"
    ),
    progress: Any = None,
) -> Answer:
    """Make a video of tracks.

    Example:  shoal animate guppies.csv --target 0.2,0.8 --out guppies.mp4
    """
    from shoal.figures.video.animation import animate as draw  # noqa: PLC0415  (loads Matplotlib)
    from shoal.tracks.readers import read_tracks  # noqa: PLC0415
    from shoal.workflows.words import target_note, target_of  # noqa: PLC0415

    s = settings
    found: Any = read_tracks(s.tracks, s.format or None, fps=s.fps, unit=s.unit or None)
    groups = list(found)
    wanted = [part for part in groups if s.group in ("", part.group)]
    if not wanted:
        known = ", ".join(part.group for part in groups)
        raise InputError(f"there is no group {s.group!r}; there are {known:.200}")
    notes = []
    if not s.group and len(groups) > 1:
        first = f"the first of {len(groups)} groups, {groups[0].group}"
        notes.append(f"note: {first}; others by --group")
    one = wanted[0] if s.every == 1 else wanted[0].thin(s.every)
    if s.landmarks:
        one = one.with_landmarks(*(name.strip() for name in s.landmarks.split(",")))
    point = target_of(s.target, [one])
    notes += [f"note: {note}" for note in target_note(s.target, [one])]
    if isinstance(point, str):
        one, point = one.with_landmarks(point), None  # drawn with its name, wherever it goes
    written = {"video": draw(one, out, target=point, tail=s.tail, speed=s.speed, progress=progress)}
    record = {
        "group": one.group,
        "groups": [part.group for part in groups],
        "frames": len(one.positions),
        "animals": list(one.members),
        "files": written,
    }
    return Answer(record, [*notes, *places(written)])
