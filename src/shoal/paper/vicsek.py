"""Section 3 of the paper: a flock whose costs are known, and found again."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from shoal.basis import Gaussian, Identity
from shoal.figures.lines import Curve, Panel, cost_lines
from shoal.lmdp import Solution
from shoal.paper.claims import Claim
from shoal.paper.estimates import Estimate, Fitting, diagnosed
from shoal.paper.folder import Shown, StudyFolder
from shoal.paper.spp import Flock, simulate_spp, spp_truth
from shoal.paper.vicsek_claims import Evidence, vicsek_claims
from shoal.passive import TurningMixture
from shoal.posterior import ADVI, NUTS, Laplace, Model
from shoal.posterior.model import Method
from shoal.states import Transitions
from shoal.system.progress import Report, reporting


@dataclass(frozen=True)
class Settings:
    """The paper's values; chains of 6,000 iterations of which 2,000 are discarded."""

    agents: int = 200
    steps: int = 100
    bins: int = 36
    radius: float = 0.1
    speed: float = 1.0
    chains: int = 4
    warmup: int = 2000
    draws: int = 4000
    tolerance: float = 0.01
    seed: int = 1
    shortened: bool = False

    @classmethod
    def quick(cls, seed: int = 1) -> "Settings":
        """The same flock with shorter chains."""
        return cls(seed=seed, warmup=300, draws=500, shortened=True)


# -- 3.2 agents that live by it ------------------------------------------------------------------


def flock(settings: Settings) -> tuple[Solution, Flock]:
    """The truth, and particles that follow it by the paper's algorithm, steps 1 to 2c."""
    solution = spp_truth(settings.bins)
    made = simulate_spp(
        solution,
        agents=settings.agents,
        steps=settings.steps,
        seed=settings.seed,
        radius=settings.radius,
        speed=settings.speed,
    )
    return solution, made


# -- 3.3 what their decisions tell ---------------------------------------------------------------


def paper_models(settings: Settings) -> dict[str, tuple[str, Any, Method]]:
    """The four models of figures 1 and 2: a name, a label, a basis and a method each."""
    nuts, advi = NUTS(warmup=settings.warmup), ADVI(tolerance=settings.tolerance)
    planar = Gaussian(every=2, circular=False)
    return {
        "nuts-identity": ("NUTS, identity", Identity(), nuts),
        "advi-identity": ("ADVI, identity", Identity(), advi),
        "nuts-gaussian": ("NUTS, 18 Gaussians", planar, nuts),
        "advi-gaussian": ("ADVI, 18 Gaussians", planar, advi),
    }


def further_models(settings: Settings) -> dict[str, tuple[str, Any, Method]]:
    """What the paper could not show: functions on a circle, and better approximations."""
    nuts, stan = NUTS(warmup=settings.warmup), ADVI(tolerance=settings.tolerance, stochastic=True)
    careful = NUTS(warmup=settings.warmup, target_acceptance=0.95)  # 0.8 diverges here
    wide = 2 * 360 / settings.bins  # as wide as they are apart: the paper does not say
    return {
        "nuts-gaussian-circular": ("NUTS, 18 circular Gaussians", Gaussian(every=2), nuts),
        "nuts-gaussian-wide": (
            "NUTS, 18 wide Gaussians",
            Gaussian(every=2, width=wide, circular=False),
            careful,
        ),
        "nuts-gaussian-wide-circular": (
            "NUTS, 18 wide circular Gaussians",
            Gaussian(every=2, width=wide),
            careful,
        ),
        "laplace-identity": ("Laplace, identity", Identity(), Laplace()),
        "advi-full-rank-identity": (
            "full-rank ADVI, identity",
            Identity(),
            ADVI(family="full-rank"),
        ),
        "advi-stochastic-identity": ("ADVI with Stan's stopping rule, identity", Identity(), stan),
    }


def fit_flock(
    models: dict[str, tuple[str, Any, Method]],
    decided: Transitions,
    fitting: Fitting,
    draws: int,
) -> dict[str, Estimate]:
    """Every model, fitted to the same decisions."""
    return {
        name: fitting(
            name, label, Model(decided.space, TurningMixture(), basis), decided, method, draws
        )
        for name, (label, basis, method) in models.items()
    }


# -- figures 1 and 2, and two of our own ---------------------------------------------------------

LABELS = {"cost_to_go": "cost-to-go $v$ (nats)", "state_cost": "state cost $r$ (nats per step)"}
BASES = {
    "identity": "Identity: a coefficient for every state",
    "gaussian": "18 Gaussian functions on a line",
}


def paper_figure(estimates: dict[str, Estimate], truth: Solution, what: str) -> Figure:
    """Figure 1 (cost_to_go) or figure 2 (state_cost): a panel for each basis."""
    known = truth.cost_to_go if what == "cost_to_go" else truth.cost
    panels = []
    for basis, title in BASES.items():
        mine = [estimates[f"{method}-{basis}"] for method in ("nuts", "advi")]
        curves = [e.curve(what, e.name.partition("-")[0].upper()) for e in mine]
        panels.append(Panel(title, curves, mine[0].beside(known, what).truth))
    return _lines(mine[0], panels, LABELS[what])


def seam_figure(estimates: dict[str, Estimate], truth: Solution) -> Figure:
    """Gaussian functions on a line beside the same on a circle, of two widths."""
    widths = {"nuts-gaussian": "narrow functions", "nuts-gaussian-wide": "wide functions"}
    panels = []
    for end, title in (("", "on a line, as in the paper"), ("-circular", "on a circle")):
        curves = [estimates[n + end].curve("cost_to_go", label) for n, label in widths.items()]
        known = estimates[f"nuts-gaussian{end}"].beside(truth.cost_to_go).truth
        panels.append(Panel(title, curves, known))
    top = 1.1 * max(float(curve.mean.max()) for panel in panels for curve in panel.curves)
    return _lines(estimates["nuts-gaussian"], panels, LABELS["cost_to_go"], top)


def uncertainty_figure(estimates: dict[str, Estimate]) -> Figure:
    """The posterior sd of each method, with the level in it and without."""
    names = {
        "nuts-identity": "NUTS",
        "advi-identity": "ADVI (mean-field)",
        "laplace-identity": "Laplace",
        "advi-full-rank-identity": "full-rank ADVI",
    }
    panels = []
    for level, title in ((True, "as sampled, with the level"), (False, "the level removed")):
        curves = []
        for name, label in names.items():
            sd = estimates[name].sd(level=level)
            curves.append(Curve(label, sd, sd, sd))
        panels.append(Panel(title, curves))
    return _lines(estimates["nuts-identity"], panels, "posterior sd of $v$ (nats)")


def _lines(
    estimate: Estimate, panels: Sequence[Panel], label: str, height: float | None = None
) -> Figure:
    arrivals = estimate.fit.arrivals.values
    return cost_lines(estimate.fit.model.space.axes[0], panels, arrivals, label, height)


# -- the whole section ---------------------------------------------------------------------------


def reproduce_vicsek(
    path: Path, settings: Settings, progress: bool | Report | None = None
) -> tuple[list[Claim], Path]:
    """Simulate, infer, judge, write; gives the claims and the README."""
    folder = StudyFolder(path, "Section 3: a flock whose costs are known")
    with reporting(progress) as report:
        truth, made = flock(settings)
        fitting = Fitting(folder.fits, settings.chains, settings.seed, report)
        models = paper_models(settings) | further_models(settings)
        estimates = fit_flock(models, made.decided, fitting, settings.draws)
    claims = vicsek_claims(Evidence(truth, made.decided, estimates))
    _show(folder, estimates, truth, claims)
    _tabulate(folder, estimates, truth)
    readme = folder.finish(_lead(settings, made), settings, claims, fitting.made, _data(made))
    return claims, readme


def _data(made: Flock) -> dict[str, Any]:
    decided = made.decided
    return {
        "transitions": decided.total,
        "distinct": len(decided.pairs),
        "states_entered": int((decided.arrivals > 0).sum()),
    }


def _lead(settings: Settings, made: Flock) -> str:
    return (
        f"{settings.agents} particles took {settings.steps} decisions each by the optimal policy "
        "of the self-propelled-particle model (the paper's algorithm of section 3): "
        f"{made.decided.total:,} decided transitions, {len(made.decided.pairs):,} of them "
        f"distinct, between {settings.bins} states of local misalignment. The box is periodic with "
        "side 1, which the paper does not mention. All models know the passive dynamics; each was "
        "fitted to the same transitions. The level of the cost-to-go cannot be learned from "
        "tracks: unless said otherwise it is removed from every draw (mean weighted by arrivals), "
        "and one constant sets the lowest posterior mean to 0. The truth has the same weighted "
        "mean in every comparison."
    )


def _show(
    folder: StudyFolder, estimates: dict[str, Estimate], truth: Solution, claims: list[Claim]
) -> None:
    by = {claim.key: claim for claim in claims}
    one = folder.draw("figure1-cost-to-go", paper_figure(estimates, truth, "cost_to_go"))
    two = folder.draw("figure2-state-cost", paper_figure(estimates, truth, "state_cost"))
    seam = folder.draw("extra-seam", seam_figure(estimates, truth))
    spread = folder.draw("extra-uncertainty", uncertainty_figure(estimates))
    recovery = {n: e.beside(truth.cost_to_go) for n, e in estimates.items()}
    costs = {n: e.beside(truth.cost, "state_cost") for n, e in estimates.items()}
    k = {n: e.fit.facts.get("pareto_k", np.nan) for n, e in estimates.items()}
    folder.show(
        Shown(
            "Figure 1. Cost-to-go",
            one,
            "One panel with four curves, MCMC and variational inference with Gaussian functions "
            "(dashed) and independent states (solid), shaded 95 % intervals, the truth as open "
            "circles.",
            "Posterior mean and 95 % interval of the cost-to-go of local misalignment under NUTS "
            "(blue) and mean-field ADVI (orange, dashed); circles: the truth. Root mean square "
            f"error over the states entered {recovery['nuts-identity'].error():.2f} nats (NUTS, "
            f"identity), {recovery['nuts-gaussian'].error():.2f} (NUTS, Gaussian). Below: arrivals "
            "in each state; grey: states never entered, where the prior speaks and bands leave the "
            "figure.",
            "Two panels, so that the four bands do not cover each other. Our bands are without the "
            "unidentified level, so those of NUTS are far narrower near 0° than in the paper, "
            "where they contain it. The width of the Gaussian functions is not in the paper; "
            "neighbours cross at half their height here.",
            [by[key] for key in ("recovery", "coverage", "more-uncertainty", "growth", "empty")],
        ),
        Shown(
            "Figure 2. State costs",
            two,
            "State costs computed from the mean cost-to-go of each model, with the true costs as "
            "open circles and no intervals.",
            "State costs that follow from the cost-to-go, draw by draw, with 95 % intervals; "
            "circles: the costs the particles were given. Root mean square error over the states "
            f"with at least 20 arrivals {costs['nuts-identity'].error(20):.2f} nats a step (NUTS, "
            f"identity), {costs['nuts-gaussian'].error(20):.2f} (NUTS, Gaussian).",
            "Ours have intervals. The paper's equation for them has + log λ where its own "
            "eigenvalue equation gives − log λ; as costs are shown up to a constant, the figure is "
            "the same with either sign.",
            [by[key] for key in ("state-costs", "sign")],
        ),
        Shown(
            "The seam at ±180°",
            seam,
            "The text speaks of a spike at ±180° with MCMC and basis functions, and suspects that "
            "functions on a line are its cause.",
            "NUTS with the same number of Gaussian functions on a line (left) and on a circle "
            "(right). Narrow: neighbouring functions cross at half their height; wide: as wide as "
            "they are apart.",
            "The paper's width is not known. With wide functions the mean rises at ±180° as the "
            "paper describes; with narrow ones it is 170°, between the last function and the one "
            "at ±180°, that is out of place.",
            [by["seam"]],
        ),
        Shown(
            "How wide the posterior is",
            spread,
            "The paper compares the bands of MCMC and variational inference by eye.",
            "Posterior sd of the cost-to-go with the identity basis, by method, with the level as "
            "sampled (left) and removed from every draw (right). Pareto k̂ of the approximations, "
            "which should be 0.7 or less: mean-field ADVI "
            f"{k['advi-identity']:.2f}, with Stan's stopping rule "
            f"{k['advi-stochastic-identity']:.2f}, full-rank {k['advi-full-rank-identity']:.2f}, "
            f"Laplace {k['laplace-identity']:.2f}.",
            "",
            [by[key] for key in ("more-uncertainty", "more-uncertainty-without-level")],
        ),
    )


def _tabulate(folder: StudyFolder, estimates: dict[str, Estimate], truth: Solution) -> None:
    folder.tabulate("fits", "how far to trust each fit", diagnosed(list(estimates.values())))
    rows = []
    for name, estimate in estimates.items():
        costs = estimate.beside(truth.cost_to_go)
        state = estimate.beside(truth.cost, "state_cost")
        rows.append(
            {
                "fit": name,
                "rms error of v": f"{costs.error():.4f}",
                "rms error of r": f"{state.error():.4f}",
                "correlation with the truth": f"{costs.correlation():.4f}",
                "truth inside, states entered": f"{costs.coverage():.4f}",
                "truth inside, at least 20 arrivals": f"{costs.coverage(20):.4f}",
            }
        )
    folder.tabulate("recovery", "each model against the truth", rows)
    folder.tabulate("costs", "every state under every model", _states(estimates, truth))


def _states(estimates: dict[str, Estimate], truth: Solution) -> list[dict[str, Any]]:
    """A row for each state and model: means, sds and intervals, with the truth at its level."""
    rows = []
    for name, estimate in estimates.items():
        costs = estimate.beside(truth.cost_to_go)
        state = estimate.beside(truth.cost, "state_cost")
        sd, sampled = estimate.sd(), estimate.sd(level=True)
        for i, centre in enumerate(estimate.fit.model.space.axes[0].centres):
            rows.append(
                {
                    "fit": name,
                    "local misalignment (°)": f"{centre:g}",
                    "arrivals": int(costs.arrivals[i]),
                    **_numbers("v", costs, i),
                    "sd of v": f"{sd[i]:.5f}",
                    "sd of v with level": f"{sampled[i]:.5f}",
                    **_numbers("r", state, i),
                }
            )
    return rows


def _numbers(symbol: str, found: Any, i: int) -> dict[str, str]:
    return {
        symbol: f"{found.mean[i]:.5f}",
        f"{symbol} lower": f"{found.lower[i]:.5f}",
        f"{symbol} upper": f"{found.upper[i]:.5f}",
        f"{symbol} truth": f"{found.truth[i]:.5f}",
    }
