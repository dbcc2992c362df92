"""What section 3 of the paper says of its flock, judged one by one."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.stats import binom, spearmanr

from shoal.angles import wrap
from shoal.checks.recovery import ENOUGH
from shoal.lmdp import Solution
from shoal.paper.claims import Claim, judged
from shoal.paper.estimates import Estimate
from shoal.states import Transitions

FOUR = ("nuts-identity", "advi-identity", "nuts-gaussian", "advi-gaussian")


@dataclass(frozen=True, eq=False)
class Evidence:
    """The truth, the decisions taken by it, and what each model found."""

    truth: Solution
    decided: Transitions
    estimates: dict[str, Estimate]

    @property
    def angles(self) -> Float[np.ndarray, " bins"]:
        """The centres of the states."""
        return self.decided.space.axes[0].centres


def vicsek_claims(evidence: Evidence) -> list[Claim]:
    """Every claim of section 3, in the order in which the paper makes them."""
    return [
        _recovery(evidence),
        _coverage(evidence),
        _more_uncertainty(evidence),
        _more_uncertainty_without_level(evidence),
        _growth(evidence),
        _empty(evidence),
        _state_costs(evidence),
        _sign(evidence),
        _seam(evidence),
    ]


def _recovery(evidence: Evidence) -> Claim:
    found = {n: evidence.estimates[n].beside(evidence.truth.cost_to_go) for n in FOUR}
    correlation = {name: r.correlation() for name, r in found.items()}
    slope = {name: r.slope() for name, r in found.items()}
    return Claim(
        "recovery",
        "Every model recovers the relative true cost-to-go",
        "correlation with the truth of at least 0.95 and a slope between 0.8 and 1.2, over the "
        "states entered, for all four models",
        f"correlations {_span(correlation)}, slopes {_span(slope)} over the four models; root mean "
        f"square errors {_span({name: r.error() for name, r in found.items()})} nats on a range of "
        f"{np.ptp(evidence.truth.cost_to_go):.1f}.",
        judged(
            min(correlation.values()) >= 0.95
            and min(slope.values()) >= 0.8
            and max(slope.values()) <= 1.2
        ),
        {"correlation": correlation, "slope": slope},
    )


def _coverage(evidence: Evidence) -> Claim:
    found = {n: evidence.estimates[n].beside(evidence.truth.cost_to_go) for n in FOUR}
    inside = {name: r.coverage(ENOUGH) for name, r in found.items()}
    states = int(found["nuts-identity"].seen(ENOUGH).sum())
    fewest = float(binom.ppf(0.01, states, 0.95)) / states
    misfit = _misfit(evidence)
    return Claim(
        "coverage",
        "(Ours) The 95 % intervals of MCMC with independent states hold the truth",
        f"NUTS with the identity basis: of {states} states with at least {ENOUGH} arrivals no "
        f"fewer than {fewest:.0%} inside, which exact intervals miss once in a hundred times",
        f"inside: NUTS identity {inside['nuts-identity']:.0%}, NUTS Gaussian "
        f"{inside['nuts-gaussian']:.0%}, ADVI identity {inside['advi-identity']:.0%}, ADVI "
        f"Gaussian {inside['advi-gaussian']:.0%}. 18 functions cannot follow 36 states: the best "
        f"they can do is {misfit:.2f} nats (root mean square) from the truth over these states, "
        f"where the posterior sd of NUTS is {_typical_sd(evidence):.2f}.",
        judged(inside["nuts-identity"] >= fewest),
        {"inside": inside, "states": states, "fewest": fewest, "misfit_of_the_basis": misfit},
    )


def _misfit(evidence: Evidence) -> float:
    """The distance of the truth from all that the Gaussian functions can express."""
    model = evidence.estimates["nuts-gaussian"].fit.model
    basis = model.basis.on_axis(model.space.axes[0])
    weights = np.sqrt(evidence.decided.arrivals + 1e-6)  # of a constant more: the level is free
    design = np.column_stack([basis, np.ones(len(basis))])
    truth = evidence.truth.cost_to_go
    best, *_ = np.linalg.lstsq(design * weights[:, None], truth * weights, rcond=None)
    enough = evidence.decided.arrivals >= ENOUGH
    return float(np.sqrt(np.mean((design @ best - truth)[enough] ** 2)))


def _typical_sd(evidence: Evidence) -> float:
    enough = evidence.decided.arrivals >= ENOUGH
    return float(np.median(evidence.estimates["nuts-gaussian"].sd()[enough]))


def _more_uncertainty(evidence: Evidence) -> Claim:
    ratios = {basis: _ratio(evidence, basis, level=True) for basis in ("identity", "gaussian")}
    nuts = evidence.estimates["nuts-identity"]
    with_level, without = nuts.sd(level=True), nuts.sd()
    aligned = int(np.argmin(np.abs(evidence.angles)))
    share = 1 - float(np.median(without**2 / with_level**2))
    return Claim(
        "more-uncertainty",
        "MCMC shows more uncertainty than variational inference (as drawn, with the level in)",
        "the median over states of sd(NUTS)/sd(mean-field ADVI) exceeds 1 with both bases, level "
        "included",
        f"NUTS has {ratios['identity']:.1f} times the sd with the identity basis and "
        f"{ratios['gaussian']:.1f} times with the Gaussian one. Much of it is the level, which "
        f"no track can tell: sd of v(0°) {with_level[aligned]:.2f} with it and "
        f"{without[aligned]:.4f} without; in the median state {share:.0%} of the variance.",
        judged(min(ratios.values()) > 1),
        {
            "ratio": ratios,
            "sd_at_0_with_level": float(with_level[aligned]),
            "sd_at_0_without_level": float(without[aligned]),
            "share_of_variance_that_is_level": share,
        },
    )


def _more_uncertainty_without_level(evidence: Evidence) -> Claim:
    known = evidence.decided.arrivals >= ENOUGH
    bases = ("identity", "gaussian")
    ratios = {basis: _ratio(evidence, basis, level=False, states=known) for basis in bases}
    empty = {
        basis: _ratio(evidence, basis, level=False, states=evidence.decided.arrivals == 0)
        for basis in bases
    }
    nuts = evidence.estimates["nuts-identity"].sd()
    others = {
        name: float(np.median((nuts / evidence.estimates[name].sd())[known]))
        for name in ("laplace-identity", "advi-full-rank-identity")
    }
    return Claim(
        "more-uncertainty-without-level",
        "(Ours) The same without the level, about states that tracks tell of",
        f"the same ratio with the level removed from every draw, over states with at least "
        f"{ENOUGH} arrivals, exceeds 1.05 with both bases",
        f"ratio {ratios['identity']:.2f} with the identity basis and {ratios['gaussian']:.2f} with "
        f"the Gaussian one (NUTS/Laplace {others['laplace-identity']:.2f}, NUTS/full-rank "
        f"{others['advi-full-rank-identity']:.2f}): what MCMC shows more of is the level, and "
        f"states never entered, where the ratio is {empty['identity']:.2f} and "
        f"{empty['gaussian']:.2f}.",
        judged(min(ratios.values()) > 1.05),
        {"ratio": ratios, "never_entered": empty, "other_approximations": others},
    )


def _ratio(
    evidence: Evidence, basis: str, *, level: bool, states: Bool[np.ndarray, " bins"] | None = None
) -> float:
    """Sd of NUTS over sd of ADVI in the median of some states; of all by default."""
    nuts, advi = (evidence.estimates[f"{method}-{basis}"] for method in ("nuts", "advi"))
    ratio = nuts.sd(level=level) / advi.sd(level=level)
    chosen = ratio if states is None else ratio[states]
    return float(np.median(chosen)) if chosen.size else float("nan")


def _growth(evidence: Evidence) -> Claim:
    away = np.abs(evidence.angles)
    ranks = {n: float(spearmanr(away, evidence.estimates[n].sd())[0]) for n in FOUR}
    steeper = {
        name: float(sd[away > 90].mean() / sd[away <= 30].mean())
        for name in ("nuts-identity", "advi-identity")
        for sd in [evidence.estimates[name].sd(level=True)]
    }
    return Claim(
        "growth",
        "Uncertainty grows with |misalignment|, more visibly under variational inference",
        "the rank correlation of |angle| and posterior sd (level removed) is at least 0.5 for all "
        "four models; with the level in, sd beyond 90° over sd within 30° is larger for ADVI than "
        "for NUTS",
        f"rank correlations {_span(ranks)}; with the level in, sd beyond 90° is "
        f"{steeper['advi-identity']:.1f} times that within 30° for ADVI and "
        f"{steeper['nuts-identity']:.1f} times for NUTS: the level hides the growth.",
        judged(min(ranks.values()) >= 0.5 and steeper["advi-identity"] > steeper["nuts-identity"]),
        {"rank_correlation": ranks, "beyond_90_over_within_30": steeper},
    )


def _empty(evidence: Evidence) -> Claim:
    empty = evidence.angles[evidence.decided.arrivals == 0]
    opposite = np.abs(wrap(evidence.angles + 180.0)) <= 45
    total = evidence.decided.arrivals.sum()
    near = int(evidence.decided.arrivals[opposite].sum())
    return Claim(
        "empty",
        "States near ±180° receive no transitions (−170°, −150°, 170° and ±180° in the paper)",
        "at least one state was never entered, and every such state lies within 45° of ±180°",
        f"never entered: {', '.join(f'{angle:g}°' for angle in empty) or 'none'}; the states "
        f"within 45° of ±180° received {near} of {total:,} arrivals. Which of them stay empty is "
        "chance.",
        judged(empty.size > 0 and np.isin(empty, evidence.angles[opposite]).all()),
        {"never_entered": [float(angle) for angle in empty], "arrivals_near_180": near},
    )


def _state_costs(evidence: Evidence) -> Claim:
    found = {n: evidence.estimates[n].beside(evidence.truth.cost, "state_cost") for n in FOUR}
    inside = found["nuts-identity"].coverage(ENOUGH)
    states = int(found["nuts-identity"].seen(ENOUGH).sum())
    fewest = float(binom.ppf(0.01, states, 0.95)) / states
    errors = {name: r.error(ENOUGH) for name, r in found.items()}
    return Claim(
        "state-costs",
        "State costs generally match those the particles were given (0, 2.5, 4 and 5)",
        f"over states with at least {ENOUGH} arrivals: root mean square error of NUTS with the "
        "identity basis at most 0.5 (costs are 0, 2.5, 4, 5), and the truth inside its 95 % "
        f"intervals in at least {fewest:.0%} of them",
        f"root mean square errors {errors['nuts-identity']:.2f} (NUTS identity), "
        f"{errors['advi-identity']:.2f} (ADVI identity), {errors['nuts-gaussian']:.2f} (NUTS "
        f"Gaussian), {errors['advi-gaussian']:.2f} (ADVI Gaussian); inside "
        f"{inside:.0%} of {states} states (NUTS identity).",
        judged(errors["nuts-identity"] <= 0.5 and inside >= fewest),
        {"error": errors, "inside": inside, "states": states},
    )


def _sign(evidence: Evidence) -> Claim:
    truth = evidence.truth
    log_lambda = float(np.log(truth.eigenvalue))
    passive = truth.passive.dense()
    bare = truth.cost_to_go + np.log(passive @ np.exp(-truth.cost_to_go))
    plus = float(np.abs(bare + log_lambda - truth.cost).max())
    minus = float(np.abs(bare - log_lambda - truth.cost).max())
    return Claim(
        "sign",
        "State costs are v + log(P̄ e^−v) + log λ (the equation before figure 2)",
        "the formula gives the true costs back from the true cost-to-go, to 1e-6",
        f"with + log λ every cost is off by {plus:.4f} = 2 |log λ|; with − log λ, which the "
        f"paper's own eigenvalue equation implies, by {minus:.0e}. Figures that show "
        "costs up to a constant are not touched.",
        judged(plus < 1e-6),
        {"error_with_plus": plus, "error_with_minus_below_1e-6": minus < 1e-6},
    )


def _seam(evidence: Evidence) -> Claim:
    known = _bends(evidence.truth.cost_to_go[None])[0]
    names = ("nuts-gaussian", "nuts-gaussian-circular", "nuts-gaussian-wide")
    bends = {name: _mean_and_sd(evidence, name) for name in (*names, "nuts-gaussian-wide-circular")}
    error = {name: float(np.abs(mean - known).max()) for name, (mean, _) in bends.items()}
    line, circle, wide, wide_circle = error.values()
    (rise, rise_sd), (round_rise, round_sd) = (
        (bends[name][0][1], bends[name][1][1])
        for name in ("nuts-gaussian-wide", "nuts-gaussian-wide-circular")
    )
    return Claim(
        "seam",
        "Gaussian functions on a line misbehave at ±180°, where functions on a circle do better",
        "how far v at 170°, ±180° and −170° lies from the mean of its two neighbours on the "
        "circle, less the same of the truth: the largest of the three is more than twice as large "
        "with narrow functions on a line as with the same ones on a circle, and larger with wide "
        "ones",
        f"largest error of the three: {line:.1f} nats on a line, {circle:.1f} on a circle. With "
        f"functions as wide as they are apart {wide:.1f} and {wide_circle:.1f}; there v(±180°) "
        f"stands out by {rise:+.1f} ± {rise_sd:.1f} (mean ± sd) on a line, {round_rise:+.1f} ± "
        f"{round_sd:.1f} on a circle, truth {known[1]:+.1f}: a circle does not make wide functions "
        "right.",
        judged(line > 2 * circle and wide > wide_circle),
        {"largest_error": error, "rise_at_180": [rise, rise_sd], "truth": list(known)},
    )


def _mean_and_sd(
    evidence: Evidence, name: str
) -> tuple[Float[np.ndarray, " 3"], Float[np.ndarray, " 3"]]:
    draws = evidence.estimates[name].fit.cost_to_go.values
    bends = _bends(draws.reshape(-1, draws.shape[-1]))
    return bends.mean(axis=0), bends.std(axis=0, ddof=1)


def _bends(draws: Float[np.ndarray, "draw bins"]) -> Float[np.ndarray, "draw 3"]:
    """V at 170°, ±180° and −170° minus the mean of its two neighbours on the circle."""
    places = np.array([-1, 0, 1])
    return draws[:, places] - (draws[:, places - 1] + draws[:, places + 1]) / 2


def _span(values: dict[str, float]) -> str:
    ordered = sorted(values.values())
    return f"{ordered[0]:.3g} to {ordered[-1]:.3g}"
