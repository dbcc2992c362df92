"""Section 3 of the paper: a flock whose costs are known, and found again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Float
from matplotlib.figure import Figure

from shoal.basis import Basis, Gaussian, Identity
from shoal.figures.lines import Curve, Panel, cost_lines
from shoal.figures.style import save_figure
from shoal.files import make_folder
from shoal.lmdp import Solution, solve
from shoal.passive import TurningMixture
from shoal.posterior import ADVI, NUTS, Fit, Model
from shoal.posterior.fit import SAMPLING
from shoal.posterior.model import Method
from shoal.progress import Report
from shoal.report.page import Note, Page, Picture, write_page
from shoal.report.tables import write_table
from shoal.simulation import simulate_decisions
from shoal.states import Circular, StateSpace, Transitions, count_transitions


@dataclass(frozen=True)
class Settings:
    """The paper's values; chains of 6,000 iterations of which 2,000 are discarded."""

    agents: int = 200
    steps: int = 100
    bins: int = 36
    chains: int = 4
    warmup: int = 2000
    draws: int = 4000
    tolerance: float = 0.01
    seed: int = 1


@dataclass(frozen=True)
class Result:
    """One of the four models of figure 1, against the truth."""

    basis: str
    method: str
    fit: Fit
    seconds: float
    truth: dict[str, Float[np.ndarray, " bins"]]

    @property
    def name(self) -> str:
        """For files and tables."""
        return f"{self.method}-{self.basis}".lower()

    def curve(self, what: str) -> Curve:
        """Mean and 95 % interval of the cost-to-go or the state costs."""
        draws = self.draws(what)
        low, high = draws.quantile([0.025, 0.975], SAMPLING).values
        return Curve(self.method, draws.mean(SAMPLING).values, low, high)

    def draws(self, what: str) -> xr.DataArray:
        """Draws of the cost-to-go or the state costs."""
        return self.fit.cost_to_go if what == "cost_to_go" else self.fit.state_cost

    def aligned_truth(self, what: str) -> Float[np.ndarray, " bins"]:
        """The truth at this fit's level: both have the same mean weighted by arrivals."""
        truth = self.truth[what]
        gap = self.draws(what).mean(SAMPLING).values - truth
        return truth + np.average(gap, weights=self.fit.arrivals.values)

    def coverage(self, what: str) -> float:
        """The share of the states entered whose 95 % interval holds the truth."""
        curve, truth = self.curve(what), self.aligned_truth(what)
        inside = (curve.lower <= truth) & (truth <= curve.upper)
        return float(inside[self.fit.arrivals.values > 0].mean())

    def error(self, what: str) -> float:
        """The root mean square error over the states entered."""
        gap = self.curve(what).mean - self.aligned_truth(what)
        return float(np.sqrt(np.mean(gap[self.fit.arrivals.values > 0] ** 2)))


def spp_costs(axis: Circular) -> Float[np.ndarray, " bins"]:
    """The state costs of eq. SPPcosts: 0, 2.5, 4, 5 as misalignment grows."""
    angle = np.abs(axis.centres)
    return np.select([angle == 0, angle <= 15, angle <= 25], [0.0, 2.5, 4.0], 5.0)


def flock(settings: Settings) -> tuple[StateSpace, Solution, Transitions]:
    """The states, the true solution, and the decisions that agents took."""
    axis = Circular("local_misalignment", settings.bins)
    space = StateSpace(axis)
    solution = solve(TurningMixture().on(space), spp_costs(axis))
    states = simulate_decisions(
        solution, agents=settings.agents, steps=settings.steps, seed=settings.seed
    )
    return space, solution, count_transitions(list(states), space)


def fit_flock(
    settings: Settings,
    space: StateSpace,
    solution: Solution,
    transitions: Transitions,
    progress: bool | Report | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Result]:
    """The four models of figure 1: NUTS and ADVI, each with both bases."""
    bases: dict[str, Basis] = {
        "Identity": Identity(),
        "Gaussian": Gaussian(every=2, circular=False),
    }
    methods: dict[str, Method] = {
        "NUTS": NUTS(warmup=settings.warmup),
        "ADVI": ADVI(tolerance=settings.tolerance),
    }
    truth = {"cost_to_go": solution.cost_to_go, "state_cost": solution.cost}
    results = []
    for basis_name, basis in bases.items():
        model = Model(space, passive=TurningMixture(), basis=basis)
        for method_name, method in methods.items():
            start = clock()
            fit = model.fit(
                transitions,
                method,
                chains=settings.chains,
                draws=settings.draws,
                seed=settings.seed,
                progress=progress,
            )
            results.append(Result(basis_name, method_name, fit, clock() - start, truth))
    return results


def figure(results: Sequence[Result], space: StateSpace, what: str) -> Figure:
    """Figure 1 (cost_to_go) or figure 2 (state_cost): a panel for each basis."""
    panels = []
    for basis in dict.fromkeys(result.basis for result in results):
        mine = [result for result in results if result.basis == basis]
        curves = [result.curve(what) for result in mine]
        title = "a coefficient for every state" if basis == "Identity" else "18 Gaussian functions"
        panels.append(Panel(f"{basis}: {title}", curves, mine[0].aligned_truth(what)))
    words = {"cost_to_go": "cost-to-go $v$ (nats)", "state_cost": "state cost $r$ (nats per step)"}
    return cost_lines(space.axes[0], panels, results[0].fit.arrivals.values, words[what])


def table(results: Sequence[Result]) -> list[dict[str, str]]:
    """A row for each model: how well it found the truth, and how far to trust it."""
    rows = []
    for result in results:
        numbers = result.fit.diagnostics().numbers
        rows.append(
            {
                "basis": result.basis,
                "method": result.method,
                "s": f"{result.seconds:.1f}",
                "rms v": f"{result.error('cost_to_go'):.3f}",
                "rms r": f"{result.error('state_cost'):.3f}",
                "in 95 %": f"{result.coverage('cost_to_go'):.0%}",
                "R-hat": _shown(numbers, "max_r_hat", ".4f"),
                "ESS": _shown(numbers, "min_ess_bulk", ".0f"),
                "k̂": _shown(numbers, "pareto_k", ".2f"),
            }
        )
    return rows


def _shown(numbers: dict[str, float], name: str, form: str) -> str:
    return format(numbers[name], form) if name in numbers else "–"


def write(results: Sequence[Result], space: StateSpace, settings: Settings, folder: Path) -> Path:
    """Fits, figures, the table and the page that shows them; returns the page."""
    for name in ("fits", "figures"):
        make_folder(folder / name)
    for result in results:
        result.fit.save(folder / "fits" / f"{result.name}.nc")
    pictures = []
    for number, what in enumerate(("cost_to_go", "state_cost"), 1):
        drawn = figure(results, space, what)
        for suffix in ("png", "pdf"):
            place = folder / "figures" / f"figure{number}-{what.replace('_', '-')}.{suffix}"
            save_figure(drawn, place)
            if suffix == "png":
                pictures.append(place)
    write_table(table(results), folder / "summary.csv")
    return write_page(folder / "report.html", _page(results, settings, pictures))


def _page(results: Sequence[Result], settings: Settings, pictures: Sequence[Path]) -> Page:
    captions = (
        "Cost-to-go of local misalignment. Lines are posterior means, bands 95 % intervals, "
        "circles the truth. The level of v cannot be learned from tracks: it is removed from every "
        "draw (mean weighted by arrivals), and one constant sets the lowest mean to 0.",
        "State costs that follow from the cost-to-go, draw by draw; they are known up to a "
        "constant. Circles: the costs the agents were given.",
    )
    truth = results[0].fit
    return Page(
        title="A flock whose costs are known, and found again",
        lead=f"{settings.agents} agents took {settings.steps} decisions each by the optimal policy "
        f"of the self-propelled-particle model: {int(truth.arrivals.sum()):,} transitions between "
        f"{settings.bins} states of local misalignment. Four models learned the costs from these "
        "transitions alone. In the table, rms is the error of the posterior mean of the cost-to-go "
        "v and of the state cost r over the states entered, ‘in 95 %’ the share of those states "
        "whose interval holds the truth. Gaussian functions on every second state, on a line as in "
        "the paper, cannot follow every state, and do not know that ±180° is one place.",
        rows=table(results),
        pictures=tuple(
            Picture(path, alt, caption)
            for path, alt, caption in zip(
                pictures, ("Cost-to-go with truth", "State costs with truth"), captions, strict=True
            )
        ),
        notes=tuple(
            Note(f"{result.method}, {result.basis} basis", str(result.fit.diagnostics()))
            for result in results
        ),
    )


def run_demo(
    folder: Path, settings: Settings, progress: bool | Report | None = None
) -> tuple[list[Result], Path]:
    """The whole of section 3: simulate, infer, compare, write; returns the results and the page."""
    make_folder(folder)
    space, solution, transitions = flock(settings)
    results = fit_flock(settings, space, solution, transitions, progress)
    return results, write(results, space, settings, folder)
