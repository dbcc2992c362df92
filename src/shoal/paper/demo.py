"""The demonstration: the four models of figure 1 on the flock, with a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.figures.style import save_figure
from shoal.lmdp import Solution
from shoal.paper.estimates import Estimate, Fitting, shown
from shoal.paper.vicsek import Settings, fit_flock, flock, paper_figure, paper_models
from shoal.report.page import Note, Page, Picture, write_page
from shoal.report.tables import write_table
from shoal.system.files import make_folder
from shoal.system.progress import Report, reporting

TRUST = ("max_r_hat", "min_ess_bulk", "pareto_k")
"""Figures that say how far to trust a fit, each of some methods only."""


@dataclass(frozen=True, eq=False)
class Demo:
    """What the demonstration found: a row for each model, the same as numbers, and the page."""

    rows: list[dict[str, str]]
    figures: list[dict[str, Any]]
    page: Path


def run_demo(folder: Path, settings: Settings, progress: bool | Report | None = None) -> Demo:
    """Simulate, infer, compare, write."""
    make_folder(folder)
    with reporting(progress) as report:
        truth, made = flock(settings)
        fitting = Fitting(folder / "fits", settings.chains, settings.seed, report)
        estimates = fit_flock(paper_models(settings), made.decided, fitting, settings.draws)
    found = figures_of(list(estimates.values()), truth)
    rows = table(found)
    write_table(rows, folder / "summary.csv")
    pictures = []
    for number, what in enumerate(("cost_to_go", "state_cost"), 1):
        drawn = paper_figure(estimates, truth, what)
        stem = make_folder(folder / "figures") / f"figure{number}-{what.replace('_', '-')}"
        pictures.append(save_figure(drawn, stem.with_suffix(".png")))
        save_figure(drawn, stem.with_suffix(".pdf"))
    page = _page(rows, list(estimates.values()), settings, pictures)
    return Demo(rows, found, write_page(folder / "report.html", page))


def figures_of(estimates: Sequence[Estimate], truth: Solution) -> list[dict[str, Any]]:
    """For each model: how well it found the truth, and how far to trust it."""
    rows: list[dict[str, Any]] = []
    for estimate in estimates:
        numbers = estimate.diagnostics.numbers
        costs = estimate.beside(truth.cost_to_go)
        method, _, basis = estimate.name.partition("-")
        rows.append(
            {
                "basis": basis,
                "method": method,
                "seconds": estimate.seconds,
                "rms_cost_to_go": costs.error(),
                "rms_state_cost": estimate.beside(truth.cost, "state_cost").error(),
                "coverage_95": costs.coverage(),
                **{name: numbers.get(name) for name in TRUST},
            }
        )
    return rows


def table(found: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """The same for people."""
    rows = []
    for row in found:
        numbers = {name: row[name] for name in TRUST if row[name] is not None}
        rows.append(
            {
                "basis": row["basis"].capitalize(),
                "method": row["method"].upper(),
                "s": f"{row['seconds']:.1f}",
                "rms v": f"{row['rms_cost_to_go']:.3f}",
                "rms r": f"{row['rms_state_cost']:.3f}",
                "in 95 %": f"{row['coverage_95']:.0%}",
                "R-hat": shown(numbers, "max_r_hat", ".4f"),
                "ESS": shown(numbers, "min_ess_bulk", ".0f"),
                "k̂": shown(numbers, "pareto_k", ".2f"),
            }
        )
    return rows


def _page(
    rows: Sequence[dict[str, str]],
    estimates: Sequence[Estimate],
    settings: Settings,
    pictures: Sequence[Path],
) -> Page:
    captions = (
        "Cost-to-go of local misalignment. Lines are posterior means, bands 95 % intervals, "
        "circles the truth. The level of v cannot be learned from tracks: it is removed from every "
        "draw (mean weighted by arrivals), and one constant sets the lowest mean to 0.",
        "State costs that follow from the cost-to-go, draw by draw; they are known up to a "
        "constant. Circles: the costs the particles were given.",
    )
    count = int(estimates[0].fit.arrivals.sum())
    return Page(
        title="A flock whose costs are known, and found again",
        lead=f"{settings.agents} particles took {settings.steps} decisions each by the optimal "
        f"policy of the self-propelled-particle model: {count:,} transitions between "
        f"{settings.bins} states of local misalignment. Four models learned the costs from these "
        "transitions alone. In the table, rms is the error of the posterior mean of the cost-to-go "
        "v and of the state cost r over the states entered, ‘in 95 %’ the share of those states "
        "whose interval holds the truth. Gaussian functions on every second state, on a line as in "
        "the paper, cannot follow every state, and do not know that ±180° is one place.",
        rows=rows,
        pictures=tuple(
            Picture(path, alt, caption)
            for path, alt, caption in zip(
                pictures, ("Cost-to-go with truth", "State costs with truth"), captions, strict=True
            )
        ),
        notes=tuple(Note(e.label, str(e.diagnostics)) for e in estimates),
    )
