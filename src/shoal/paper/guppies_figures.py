"""Figures 3 to 7 of the paper and two of our own, with captions that hold the numbers."""

import numpy as np
from matplotlib.figure import Figure

from shoal.checks.recovery import ENOUGH
from shoal.figures.experiments import experiments
from shoal.figures.lines import Panel, marginal_lines
from shoal.figures.map_grid import MapPanel, Scale, map_grid
from shoal.figures.misalignment import misalignment_example
from shoal.figures.moments import described, telling_moment
from shoal.figures.recovery import Found, recovered, sd_ratios
from shoal.paper.claims import Claim
from shoal.paper.folder import Shown, StudyFolder
from shoal.paper.guppies_evidence import LOCAL, TARGET, Evidence

COST = Scale("cost-to-go $v$ (nats)")
SPREAD = Scale("posterior sd of $v$ (nats)", "magma")


def show_figures(folder: StudyFolder, evidence: Evidence, claims: dict[str, Claim]) -> None:
    """Draw every figure and put it into the README."""
    folder.show(
        _trajectories(folder, evidence, claims),
        _states(folder, evidence),
        _bases(folder, evidence, claims),
        _walk(folder, evidence, claims),
        _marginals(folder, evidence, claims),
        _uncertainty(folder, evidence, claims),
    )
    if evidence.data.truth is not None:
        folder.show(_recovery(folder, evidence, claims))


def _trajectories(folder: StudyFolder, evidence: Evidence, claims: dict[str, Claim]) -> Shown:
    data = evidence.data
    lengths = [len(part.positions) for part in data.tracks]
    groups = len(lengths)
    return Shown(
        "Figure 3. Trajectories",
        folder.draw("figure3-trajectories", experiments(data.tracks, data.target)),
        "26 panels of ten guppies each, two rows of females and three of males, the target marked "
        "“T”, labels with the number of the experiment and its sample size (20 to 285 frames).",
        f"Paths of {groups} group{'s' if groups > 1 else ''} ({data.kind}), of "
        f"{_span(lengths)} frames; labels give the experiment and its frames.",
        {
            "stand-in": "The fish are simulated: same design, released in the corner across, ended "
            "when one comes near the shelter (0.16 tank widths).",
            "one experiment": "One experiment, where the paper has 26.",
            "published": "",
            "experiments": "Other experiments than the paper's.",
        }[data.kind],
        [claims["distinct-transitions"]],
    )


def _span(lengths: list[int]) -> str:
    low, high = min(lengths), max(lengths)
    return str(low) if low == high else f"{low} to {high}"


def _states(folder: StudyFolder, evidence: Evidence) -> Shown:
    data = evidence.data
    moment = telling_moment(data.example, data.target)
    drawn = misalignment_example(data.example, data.target, moment)
    sentence = described(data.example, moment)
    return Shown(
        "Figure 4. The two misalignments",
        folder.draw("figure4-misalignments", drawn),
        "A sketch of one guppy (star) with its heading, the direction to the target (dashed, angle "
        "1) and the mean direction of the group (dotted, angle 2); the two turns have opposite "
        "signs.",
        f"A frame of group {data.example.group}: {sentence}.",
        "Drawn from a frame of the data, with the angles as they are counted, instead of a sketch.",
    )


def _bases(folder: StudyFolder, evidence: Evidence, claims: dict[str, Claim]) -> Shown:
    rows = [
        [
            MapPanel(
                f"{method.upper()}, {basis}", _mean(evidence, f"{method}-{basis}-uniform"), "v"
            )
            for basis in ("identity", "bisquare")
        ]
        for method in ("nuts", "advi")
    ]
    functions = evidence.main.fit.data["posterior"].sizes["coefficient"]
    return Shown(
        "Figure 5. Two bases under uniform passive dynamics",
        folder.draw("figure5-bases", _maps(evidence, rows, {"v": COST})),
        "Two heat maps of the variational mean cost-to-go, identity beside 819 bisquare "
        "functions, uniform passive dynamics.",
        f"Posterior mean cost-to-go under uniform passive dynamics: a coefficient for every state "
        f"(left) and {functions} planar bisquare functions (right), by NUTS (above) and by "
        "mean-field ADVI, as in the paper (below). One colour scale, which spans the states "
        "entered; ±180° is one place on both axes. With the identity basis and uniform dynamics "
        "the estimate is nothing but shrunken −log arrivals.",
        "The lower row is by the paper's method; NUTS is added above. States never entered are "
        "hatched.",
        [
            claims[key]
            for key in ("bases-agree", "alignment-narrow", "diagonal", "too-large-for-mcmc")
        ],
    )


def _walk(folder: StudyFolder, evidence: Evidence, claims: dict[str, Claim]) -> Shown:
    rows = []
    for method in ("nuts", "advi"):
        estimate = evidence.estimates[f"{method}-bisquare-walk"]
        rows.append(
            [
                MapPanel(f"{method.upper()}, posterior mean", estimate.mean(), "v"),
                MapPanel(f"{method.upper()}, posterior sd", estimate.sd(), "sd"),
            ]
        )
    drawn = _maps(evidence, rows, {"v": COST, "sd": SPREAD})
    sd = {m: evidence.estimates[f"{m}-bisquare-walk"].sd() for m in ("nuts", "advi")}
    empty = evidence.counts.arrivals == 0
    never = (
        f"; in states never entered {np.median(sd['nuts'][empty]):.2f} and "
        f"{np.median(sd['advi'][empty]):.2f}"
        if empty.any()
        else ""
    )
    return Shown(
        "Figure 6. Mean and uncertainty with a random walk",
        folder.draw("figure6-walk", drawn),
        "Two heat maps, variational mean and sd of the cost-to-go with a normal walk of 90° and "
        "bisquare functions.",
        f"Posterior mean (left) and sd (right) with a normal walk of 90° and bisquare functions, "
        f"by NUTS (above) and mean-field ADVI (below), each column on one scale. Median sd over "
        f"the states entered: NUTS {np.median(sd['nuts'][~empty]):.2f}, ADVI "
        f"{np.median(sd['advi'][~empty]):.2f} nats{never}.",
        "The lower row is by the paper's method; NUTS is added above. sds are without the level.",
        [claims[key] for key in ("passive-little", "sd-follows-frequency", "advi-uncertainty")],
    )


def _marginals(folder: StudyFolder, evidence: Evidence, claims: dict[str, Claim]) -> Shown:
    parts = []
    for index, axis in enumerate(evidence.counts.space.axes):
        curves = [
            evidence.curve(evidence.marginal(axis.name, weighted=weighted), label)
            for label, weighted in (
                ("all states alike (the paper)", False),
                ("weighted by arrivals", True),
            )
        ]
        parts.append(
            (
                axis,
                Panel(axis.name.replace("_", " "), curves, evidence.true_marginal(axis.name)),
                evidence.counts.arrivals.sum(axis=1 - index),
            )
        )
    known = (
        " Circles: the true cost-to-go, averaged over all states alike, under the fish's own "
        "passive dynamics; its heights are not those of a walk of 90°, its minima are what "
        "the fish want."
        if evidence.data.truth is not None
        else ""
    )
    return Shown(
        "Figure 7. Marginal costs-to-go",
        folder.draw("figure7-marginals", marginal_lines(parts, "marginal cost-to-go (nats)")),
        "Two curves: the mean cost-to-go of figure 6 along local and along target misalignment, "
        "averaged over all values of the other, with minimum 0 and without intervals.",
        "Marginal cost-to-go of the NUTS fit of figure 6 with 95 % intervals: averaged over all "
        f"states alike as in the paper, and weighted by arrivals.{known} Lowest at "
        f"{evidence.minimum(LOCAL):+.0f}° (local) and {evidence.minimum(TARGET):+.0f}° (target) "
        f"with all states alike, at {evidence.minimum(LOCAL, weighted=True):+.0f}° and "
        f"{evidence.minimum(TARGET, weighted=True):+.0f}° weighted.",
        "Ours have intervals and a second curve: averaged over all states alike, states that no "
        "fish entered count as much as the others, and there the prior speaks. Weighted by "
        "arrivals the curve mixes in the other angle, with which it goes: its minimum means more "
        "than its height.",
        [
            claims[key]
            for key in ("local-minimum", "flat-optimum", "target-dip", "collective-over-target")
        ],
    )


def _uncertainty(folder: StudyFolder, evidence: Evidence, claims: dict[str, Claim]) -> Shown:
    panels = []
    for basis in ("identity", "bisquare"):
        nuts, advi = (evidence.estimates[f"{m}-{basis}-walk"].sd() for m in ("nuts", "advi"))
        panels.append((f"{basis}, walk", nuts / advi, evidence.counts.arrivals))
    drawn = sd_ratios(panels, "sd of NUTS / sd of mean-field ADVI")
    return Shown(
        "Variational against full uncertainty",
        folder.draw("extra-advi", drawn),
        "The paper has no MCMC to compare with here.",
        "For every state, how many times wider the full posterior is than the mean-field one, over "
        "the number of arrivals; level removed from both.",
        "",
        [claims["advi-uncertainty"]],
    )


def _recovery(folder: StudyFolder, evidence: Evidence, claims: dict[str, Claim]) -> Shown:
    assert evidence.data.truth is not None
    truth = evidence.data.truth.solution.cost_to_go
    titles = {
        "nuts-identity-decided": "decisions by p*, identity",
        "nuts-bisquare-decided": "decisions by p*, bisquare",
        "nuts-identity-moving": "moving fish, identity",
    }
    panels = []
    for name, title in titles.items():
        found = evidence.estimates[name].beside(truth)
        seen = found.seen(ENOUGH)
        shift = found.truth.min()  # the same for truth and estimate
        parts = (found.truth, found.mean, found.lower, found.upper)
        panels.append(Found(title, *(part[seen] - shift for part in parts)))
    return Shown(
        "The truth, found again",
        folder.draw("extra-recovery", recovered(panels, "cost-to-go (nats)")),
        "The paper has no truth for this section.",
        f"States with at least {ENOUGH} arrivals under the true passive dynamics: decisions drawn "
        "from p* on the joint grid, and states recomputed from fish that move.",
        "",
        [claims[key] for key in ("coverage-decided", "coverage-moving")],
    )


def _maps(evidence: Evidence, rows: list[list[MapPanel]], scales: dict[str, Scale]) -> Figure:
    first, second = evidence.counts.space.axes
    return map_grid(first, second, rows, scales, evidence.counts.arrivals > 0)


def _mean(evidence: Evidence, name: str) -> np.ndarray:
    return evidence.estimates[name].mean()
