"""The paper's three animations: one group as observed, and two that live by the learned policy."""

import numpy as np

from shoal.figures.trajectories import trajectories
from shoal.figures.video import animate
from shoal.measures import group_measures
from shoal.paper.folder import Shown, StudyFolder
from shoal.paper.guppies_evidence import Evidence
from shoal.simulation import simulate
from shoal.simulation.release import observed_window
from shoal.system.files import make_folder
from shoal.system.progress import Report
from shoal.tracks import Tracks

RULES = {
    "stochastic": "each fish draws its turn from the learned policy (posterior mean)",
    "least-cost": "each fish takes the turn of least cost-to-go",
}


def show_films(
    folder: StudyFolder, evidence: Evidence, frames: int, seed: int, report: Report
) -> None:
    """Simulate, film, and put the three into the README with their paths in one figure."""
    data = evidence.data
    first = observed_window(data.example).first
    last = min(first + frames + 1, len(data.example.positions))
    observed = Tracks(data.example.data.isel(time=slice(first, last)))
    groups = {"observed": observed}
    for rule in RULES:
        made = simulate(
            evidence.main.fit,
            start=data.example,
            steps=len(observed.positions) - 1,
            rule=rule,
            seed=seed,
            progress=report,
        )
        assert isinstance(made, Tracks)
        groups[rule] = made
    make_folder(folder.path / "animations")
    for name, tracks in groups.items():
        place = folder.path / "animations" / f"{name}.mp4"
        animate(tracks, place, titles=[name], target=data.target, progress=report)
    named = [Tracks(tracks.data.assign_attrs(group=name)) for name, tracks in groups.items()]
    poster = folder.draw("animations", trajectories(named, data.target))
    folder.show(
        Shown(
            "Animations",
            poster,
            "Three animations: one observed experiment, and simulations from the learned policy, "
            "stochastic and of least cost, with a constant step length.",
            f"Paths in the three animations, group {data.example.group}, "
            f"{len(observed.positions)} frames: "
            "animations/observed.mp4; animations/stochastic.mp4 ("
            f"{RULES['stochastic']}); animations/least-cost.mp4 ({RULES['least-cost']}). "
            f"{_motion(groups, data.target)}"
            + ("" if data.truth is None else " ‘Observed’ are the stand-in's own fish."),
            "Speeds are each fish's own as observed, in runs, and fish choose among turns, which "
            "change both angles at once; the paper's have one step length, several times the "
            "observed. A walk of 90° as passive dynamics lets simulated fish turn far more sharply "
            "than real ones do; `shoal predict` measures how far they are from them.",
        )
    )


def _motion(groups: dict[str, Tracks], target: tuple[float, float]) -> str:
    """How aligned groups are, how sharply members turn and how near the shelter they end."""
    parts = []
    for name, tracks in groups.items():
        measures = group_measures(tracks)
        aligned = float(measures["polarisation"].mean())
        turn = float(np.nanmedian(np.abs(measures["turning_angle"].values)))
        last = tracks.positions[-1] - np.asarray(target)
        away = float(np.nanmean(np.hypot(*last.T)))
        parts.append(f"{name} {aligned:.2f}, {turn:.1f}°, {away:.2f}")
    return (
        "Mean polarisation, median turn per frame, and mean distance from the shelter at the end: "
        f"{'; '.join(parts)}."
    )
