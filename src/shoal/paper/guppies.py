"""Section 4 of the paper: what guppies want, of each other and of a shelter."""

from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from shoal.basis import Bisquare, Identity
from shoal.paper.claims import Claim
from shoal.paper.estimates import Estimate, Fitting, diagnosed
from shoal.paper.folder import StudyFolder
from shoal.paper.guppies_claims import guppies_claims
from shoal.paper.guppies_data import Experiments, decided, from_files, stand_in
from shoal.paper.guppies_evidence import Evidence, Power, one_experiment_at_a_time
from shoal.paper.guppies_figures import show_figures
from shoal.paper.guppies_films import show_films
from shoal.passive import RandomWalk, Uniform
from shoal.posterior import ADVI, NUTS, Model
from shoal.posterior.along import marginal
from shoal.posterior.model import Method
from shoal.states import Transitions, count_transitions
from shoal.system.progress import Report, reporting


@dataclass(frozen=True)
class GuppySettings:
    """The paper's values: 36 × 36 states, 819 bisquare functions, a walk of 90°.

    The paper gives no chains for this section, since it has no MCMC there.
    """

    females: int = 12
    males: int = 14
    bins: int = 36
    resolutions: int = 3
    walk: float = 90.0
    chains: int = 4
    warmup: int = 500
    draws: int = 1500
    approximate_draws: int = 500
    tolerance: float = 0.01
    film_frames: int = 285
    power_experiments: int = 20
    seed: int = 1
    shortened: bool = False

    @classmethod
    def quick(cls, seed: int = 1) -> "GuppySettings":
        """Fewer experiments, 18 × 18 states, fewer functions and shorter chains."""
        return cls(
            females=2, males=2, bins=18, resolutions=2, warmup=200, draws=300,
            approximate_draws=300, film_frames=20, power_experiments=2, seed=seed,
            shortened=True,
        )  # fmt: skip

    @property
    def bases(self) -> dict[str, Any]:
        """One coefficient a state, and bisquare functions that know no circle."""
        return {"identity": Identity(), "bisquare": Bisquare(self.resolutions, circular=False)}

    @property
    def passives(self) -> dict[str, Any]:
        """Discrete uniform, and a normal walk from bin centres in both angles."""
        return {"uniform": Uniform(), "walk": RandomWalk(self.walk, start="centre")}


# -- 4.1 the models: two bases, two passive dynamics ---------------------------------------------


def fit_models(
    settings: GuppySettings, counts: Transitions, fitting: Fitting
) -> dict[str, Estimate]:
    """The paper's variational fits, and the full posterior that it could not have."""
    methods: dict[str, tuple[Method, int]] = {
        "nuts": (NUTS(warmup=settings.warmup), settings.draws),
        "advi": (ADVI(tolerance=settings.tolerance), settings.approximate_draws),
    }
    estimates = {}
    for (basis, functions), (passive, dynamics) in product(
        settings.bases.items(), settings.passives.items()
    ):
        model = Model(counts.space, dynamics, functions)
        for method, (how, draws) in methods.items():
            name = f"{method}-{basis}-{passive}"
            label = f"{method.upper()}, {basis}, {passive}"
            estimates[name] = fitting(name, label, model, counts, how, draws)
    return estimates


# -- 4.2 where the truth is known: does the posterior hold it? -----------------------------------


def fit_truth(
    settings: GuppySettings, data: Experiments, counts: Transitions, fitting: Fitting
) -> dict[str, Estimate]:
    """Fits under the true passive dynamics: to decisions by p*, and to the moving fish."""
    if data.truth is None:
        return {}
    nuts = NUTS(warmup=settings.warmup)
    methods: dict[str, tuple[Method, int]] = {
        "nuts": (nuts, settings.draws),
        "advi": (ADVI(tolerance=settings.tolerance), settings.approximate_draws),
    }
    chosen = decided(data, counts.space, settings.seed)
    estimates = {}
    for basis, functions in settings.bases.items():
        model = Model(counts.space, data.truth.passive, functions)
        for method, (how, draws) in methods.items():
            name = f"{method}-{basis}-decided"
            label = f"{method.upper()}, {basis}, true passive dynamics, decisions by p*"
            estimates[name] = fitting(name, label, model, chosen, how, draws)
    model = Model(counts.space, data.truth.passive, Identity())
    name, label = "nuts-identity-moving", "NUTS, identity, true passive dynamics, moving fish"
    estimates[name] = fitting(name, label, model, counts, nuts, settings.draws)
    return estimates


# -- the whole section ---------------------------------------------------------------------------


def reproduce_guppies(
    path: Path, settings: GuppySettings, progress: bool | Report | None = None
) -> tuple[list[Claim], Path]:
    """Section 4 on the stand-in, where truth decides; gives the claims and the README."""
    with reporting(progress) as report:
        data = stand_in(settings.females, settings.males, settings.bins, settings.seed, report)
        return _reproduce(path, settings, data, report)


def reproduce_guppy_files(
    path: Path,
    settings: GuppySettings,
    files: Path,
    target: tuple[float, float] | None,
    progress: bool | Report | None = None,
    *,
    flip_y: bool = False,
) -> tuple[list[Claim], Path]:
    """Section 4 on tracks of real fish; gives the claims and the README."""
    data = from_files(files, target, flip_y=flip_y)
    with reporting(progress) as report:
        return _reproduce(path, settings, data, report)


def _reproduce(
    path: Path, settings: GuppySettings, data: Experiments, report: Report
) -> tuple[list[Claim], Path]:
    folder = StudyFolder(path, TITLES[data.kind])
    counts = count_transitions(data.tracks, data.space(settings.bins))
    fitting = Fitting(folder.fits, settings.chains, settings.seed, report)
    estimates = fit_models(settings, counts, fitting)
    estimates |= fit_truth(settings, data, counts, fitting)
    power = None
    if data.kind == "one experiment":
        frames = len(data.example.positions)
        power = one_experiment_at_a_time(
            settings.power_experiments, settings.bins, settings.resolutions, settings.walk,
            (frames, len(data.example.members)), settings.seed, report,
        )  # fmt: skip
    evidence = Evidence(data, counts, estimates, power)
    claims = guppies_claims(evidence)
    show_figures(folder, evidence, {claim.key: claim for claim in claims})
    show_films(folder, evidence, settings.film_frames, settings.seed, report)
    tabulate(folder, evidence)
    readme = folder.finish(_lead(evidence, power), settings, claims, fitting.made, _facts(evidence))
    return claims, readme


TITLES = {
    "stand-in": "Section 4: guppies in a tank, on a stand-in with known costs",
    "one experiment": "Section 4: guppies in a tank, one real experiment",
    "published": "Section 4: guppies in a tank, the published experiments",
    "experiments": "Section 4: guppies in a tank, other experiments than the paper's",
}


def _lead(evidence: Evidence, power: Power | None) -> str:
    counts, data = evidence.counts, evidence.data
    words = (
        f"Data: {data.words}. {counts.total:,} transitions, {len(counts.pairs):,} of them "
        f"distinct (the paper: 7,816 from 26 experiments), into "
        f"{int((counts.arrivals > 0).sum()):,} of {counts.space.size:,} states of local and target "
        "misalignment. Each model was fitted by NUTS and by mean-field ADVI, the paper's method. "
        "(ADVI is the converged approximation; Stan's stopping rule, which the paper had, ends "
        "earlier.) Costs are without the level, which tracks cannot tell."
    )
    if data.truth is not None:
        words += (
            " The fish are simulated: they choose among turns by costs that were given to them, "
            f"{data.truth.words()}, with passive dynamics of their own. A verdict here says "
            "whether the paper's way of looking finds what is true of these fish; what real "
            "guppies want, a simulation cannot say. Costs were chosen so that groups resemble the "
            "one experiment that can be seen, and so that the target's minimum can be found at all "
            "(decision 10 in the documentation)."
        )
    else:
        low, high = evidence.extent
        words += (
            f" Fish were at x {low[0]:.3g} to {high[0]:.3g} and y {low[1]:.3g} to {high[1]:.3g}; "
            f"the shelter is taken to be at {data.target}, the walls to be {data.example.arena}."
        )
    if power is not None:
        words += f" {power.words()}"
    return words


def _facts(evidence: Evidence) -> dict[str, Any]:
    counts = evidence.counts
    return {
        "kind": evidence.data.kind,
        "groups": len(list(evidence.data.tracks)),
        "target": list(evidence.data.target),
        "transitions": counts.total,
        "distinct": len(counts.pairs),
        "distinct_in_the_paper": 7816,
        "states_entered": int((counts.arrivals > 0).sum()),
        "notes": evidence.data.notes,
        "costs_given": None
        if evidence.data.truth is None
        else asdict(evidence.data.truth.settings),
        "dropped": {reason: number for reason, number in counts.dropped.items() if number},
    }


def tabulate(folder: StudyFolder, evidence: Evidence) -> None:
    """Fits, experiments, every state, marginals."""
    folder.tabulate("fits", "how far to trust each fit", diagnosed([*evidence.estimates.values()]))
    rows = [
        {
            "experiment": part.group,
            "sex": part.covariates.get("sex", ""),
            "fish": len(part.members),
            "frames": len(part.positions),
        }
        for part in evidence.data.tracks
    ]
    folder.tabulate("experiments", "the groups of figure 3", rows)
    folder.tabulate("costs", "mean and sd of the cost-to-go, every state", _states(evidence))
    folder.tabulate("marginals", "the curves of figure 7", _marginals(evidence))
    if evidence.data.truth is not None:
        words = "how often 95 % intervals hold the truth, by how often states were entered"
        folder.tabulate("coverage", words, _coverage(evidence))


def _coverage(evidence: Evidence) -> list[dict[str, Any]]:
    assert evidence.data.truth is not None
    rows = []
    for name, estimate in evidence.estimates.items():
        if not name.endswith(("-decided", "-moving")):
            continue
        found = estimate.beside(evidence.data.truth.solution.cost_to_go)
        for least in (1, 5, 20, 50):
            states = int(found.seen(least).sum())
            share = f"{found.coverage(least):.4f}" if states else ""
            rows.append(
                {"fit": name, "arrivals at least": least, "states": states, "truth inside": share}
            )
    return rows


def _states(evidence: Evidence) -> list[dict[str, Any]]:
    shown = {name: evidence.estimates[name] for name in evidence.paper_names}
    maps = {name: (e.mean(), e.sd()) for name, e in shown.items()}
    local, target = (axis.centres for axis in evidence.counts.space.axes)
    rows = []
    for i, j in np.ndindex(*evidence.counts.space.shape):
        row = {
            "local misalignment (°)": f"{local[i]:g}",
            "target misalignment (°)": f"{target[j]:g}",
            "arrivals": int(evidence.counts.arrivals[i, j]),
        }
        for name, (mean, sd) in maps.items():
            row |= {f"{name} mean": f"{mean[i, j]:.5f}", f"{name} sd": f"{sd[i, j]:.5f}"}
        rows.append(row)
    return rows


def _marginals(evidence: Evidence) -> list[dict[str, Any]]:
    fit = evidence.main.fit
    rows = []
    for axis in evidence.counts.space.axes:
        for kind, weights in (("all states alike", None), ("arrivals", fit.arrivals)):
            curve = evidence.curve(marginal(fit.cost_to_go, axis.name, weights), kind)
            for centre, mean, low, high in zip(
                axis.centres, curve.mean, curve.lower, curve.upper, strict=True
            ):
                rows.append(
                    {
                        "axis": axis.name,
                        "weights": kind,
                        "angle (°)": f"{centre:g}",
                        "mean": f"{mean:.5f}",
                        "lower": f"{low:.5f}",
                        "upper": f"{high:.5f}",
                    }
                )
    return rows
