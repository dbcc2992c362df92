"""``shoal.write_report``: a fit, and the groups it was made from, as one HTML file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from shoal.checks import PredictiveCheck, predictive_check
from shoal.errors import InputError
from shoal.inputs import GIVEN, SEED, Filename, Number, Whole, Word
from shoal.posterior import Fit
from shoal.report.report import Report
from shoal.simulation.designs import Scenario
from shoal.system.files import make_folder, write_whole
from shoal.system.progress import Report as Progress
from shoal.tracks import Arena, Groups


def write_report(  # noqa: PLR0913  (every choice a user has)
    fit: Annotated[Fit, GIVEN],
    path: Filename,
    *,
    tracks: Groups | None = None,
    replicates: Whole | None = None,
    check: Annotated[PredictiveCheck | None, GIVEN] = None,
    who: str = "these animals",
    speed: Number | Word | None = None,
    arena: Arena | Word | None = None,
    walls: Word = "reflect",
    heading_frames: Whole | None = None,
    minimum_step: Number | None = None,
    tracker_headings: Annotated[bool | None, GIVEN] = None,
    notes: Sequence[str] = (),
    seed: Whole = SEED,
    progress: bool | Progress | None = None,
) -> Path:
    """Write one HTML file that shows a fit: costs, policy, groups in motion, checks, settings.

    The page holds all it needs: it opens from disk, without a network or a server.

    Parameters
    ----------
    fit, path
        A fit, and where to write the page, ``.html``.
    tracks
        The groups that it was made from, for the replay and the predictive check.
    replicates
        Of the predictive check; 0 leaves it out. By default as in ``shoal.predictive_check``.
    check
        A predictive check made before.
    who
        The animals, for the title.
    speed, arena, walls, heading_frames, minimum_step, tracker_headings
        How simulated groups move and how headings are taken, as in ``shoal.predictive_check``.
    notes
        Sentences about the data, after those that the tracks carry.
    seed
        Of the simulations.

    Returns
    -------
    Path
        Of the page.

    Examples
    --------
    >>> import tempfile, pathlib, shoal
    >>> space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    >>> tracks = shoal.simulate(
    ...     shoal.simulation.Vicsek(noise=20), start=shoal.Release(6, (0, 0), spread=1.0), steps=80,
    ...     speed=0.1, fps=10.0, seed=1,
    ... )
    >>> counts = shoal.count_transitions(tracks, space)
    >>> fit = shoal.Model(space, shoal.RandomWalk(60.0)).fit(counts, method="laplace", seed=1)
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> shoal.write_report(fit, folder / "report.html", tracks=tracks, replicates=40).name
    'report.html'
    """
    if not isinstance(fit, Fit):
        raise InputError(f"a report is about a Fit, got {type(fit).__name__}")
    out = Path(path)
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a report is a page whose name ends in .html; got {out}")
    said = [*getattr(tracks, "notes", ()), *notes]
    if check is None and tracks is not None and checked_replicates(replicates):
        try:
            check = predictive_check(
                fit, tracks, replicates=replicates, progress=progress, seed=seed, arena=arena,
                walls=walls, speed="observed" if speed is None else speed,
                heading_frames=heading_frames, minimum_step=minimum_step,
                tracker_headings=tracker_headings,
            )  # fmt: skip
        except InputError as error:
            said.append(f"no predictive check was made: {error}")
    given = (heading_frames, minimum_step, tracker_headings)
    headings = None if tracks is None else fit.headings_with(*given)
    scenario = Scenario(None, speed, arena, walls, headings=headings)
    report = Report(fit, tracks, check, who, scenario, seed, (), said)
    make_folder(out.parent)
    write_whole(out, report.html().encode())
    return out


def checked_replicates(replicates: Any) -> bool:
    """Whether a report has a predictive check: not with 0 replicates."""
    if replicates is None:
        return True
    if not hasattr(replicates, "__index__") or 0 < replicates < 40 or replicates < 0:
        raise InputError(f"replicates are a whole number, 40 or more, or 0; got {replicates!r}")
    return int(replicates) > 0
