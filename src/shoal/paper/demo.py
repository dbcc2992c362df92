"""The demonstration: a flock in motion whose costs are known, and what its tracks tell of them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from shoal.basis import Smooth
from shoal.checks import predictive_check
from shoal.checks.recovery import ENOUGH, Recovery
from shoal.figures.fits import DECIDED, curve_of
from shoal.figures.lines import Panel, cost_lines
from shoal.figures.style import save_figure
from shoal.moves import Decisions, Turns, decisions
from shoal.paper.spp import Flock, simulate_spp, spp_truth
from shoal.passive import TurningMixture
from shoal.posterior import Fit, Model
from shoal.report import Report
from shoal.report.known import in_words
from shoal.report.tables import write_table
from shoal.system.files import make_folder, write_whole
from shoal.system.progress import Report as Progress
from shoal.system.progress import reporting

AGENTS, STEPS, RADIUS, SPEED = 100, 150, 0.1, 0.04
"""Particles in a box of side 1: slow enough for the eye, and most meet new neighbours in time."""

TRUST = ("max_r_hat", "min_ess_bulk", "pareto_k")
"""Figures that say how far to trust a fit, each of some methods only."""

WHO = "the particles of a simulated flock"
KNOWN = (
    f"{AGENTS} particles move in a box whose opposite sides are joined. Each of them sees the mean "
    f"heading of those within {RADIUS}. We chose what it costs to point away from that heading: 0 "
    "for the same direction, 2.5, 4 and 5 for larger angles. Shoal was given their tracks, and how "
    "a particle turns that wants nothing."
)


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demonstration found, in words and as numbers, and what it wrote."""

    words: list[str]
    model: dict[str, Any]
    files: dict[str, Path]


def known_moves(passive: TurningMixture) -> Turns:
    """Turns as the flock's particles make them without preferences: known, by tens of degrees."""
    return Turns(passive.turns, spread=passive.sd, every=10.0)


def read_flock(made: Flock) -> Decisions:
    """What the particles decided, read off their tracks."""
    moves = known_moves(TurningMixture())
    return decisions(made.tracks, made.space, moves, tracker_headings=True)


def run_demo(
    folder: Path,
    draws: int,
    seed: int,
    progress: bool | Progress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Demo:
    """Simulate, read, infer, write: tracks, a fit, a figure, a table and the page."""
    make_folder(folder)
    names = {
        "report": "report.html",
        "table": "summary.csv",
        "tracks": "flock.csv",
        "fit": "fit.nc",
    }
    files = {what: folder / name for what, name in names.items()}
    with reporting(progress) as report:
        report("simulating the flock", 0, None)
        truth = spp_truth()
        made = simulate_spp(
            truth, agents=AGENTS, steps=STEPS, radius=RADIUS, speed=SPEED, seed=seed
        )
        made.tracks.to_csv(files["tracks"])
        read = read_flock(made)
        begun = clock()
        fit = Model(made.space, read.moves, Smooth()).fit(
            read, "nuts", draws=draws, seed=seed, progress=report
        )
        seconds = clock() - begun
        fit.save(files["fit"])
        found = Recovery.of(fit.cost_to_go, truth.cost_to_go, fit.arrivals.values)
        write_table(state_rows(fit, found), files["table"])
        drawn = truth_figure(fit, found)
        for kind in ("png", "pdf"):
            save_figure(drawn, make_folder(folder / "figures") / f"cost-to-go.{kind}")
        check = predictive_check(fit, made.tracks, seed=seed, progress=report)
        report("replay and page", 0, None)
        page = Report(fit, made.tracks, check, WHO, known=found, notes=[KNOWN])
        write_whole(files["report"], page.html().encode())
    words = [KNOWN, fit.headline()[0], in_words(found)]
    return Demo(words, model_row(fit, found, seconds), files | {"folder": folder})


def truth_figure(fit: Fit, found: Recovery) -> Figure:
    """Costs that were learned, on the truth."""
    curve = curve_of(fit.cost_to_go, "learned from the tracks")
    seen = np.where(found.seen(), found.truth, np.nan)
    panel = Panel("What the particles want", [curve], seen)
    return cost_lines(fit.model.space.axes[0], [panel], fit.arrivals.values, DECIDED)


def model_row(fit: Fit, found: Recovery, seconds: float) -> dict[str, Any]:
    """How well the truth was found, how far to trust the fit, and how long it took."""
    numbers = fit.diagnostics().numbers
    return {
        "basis": "smooth",
        "method": fit.method,
        "seconds": seconds,
        "decisions": int(fit.arrivals.sum()),
        "states": int(found.seen(ENOUGH).sum()),
        "rms_cost_to_go": found.error(ENOUGH),
        "rms_state_cost": None,
        "coverage_95": found.coverage(ENOUGH),
        **{name: numbers.get(name) for name in TRUST},
    }


def state_rows(fit: Fit, found: Recovery) -> list[dict[str, str]]:
    """A row for each state: what was learned, and the truth."""
    axis = fit.model.space.axes[0]
    columns = (axis.centres, found.arrivals, found.mean, found.lower, found.upper, found.truth)
    names = (axis.label, "decisions", "q (nats)", "lower", "upper", "truth")
    return [
        dict(zip(names, (f"{value:.6g}" for value in row), strict=True))
        for row in zip(*columns, strict=True)
    ]
