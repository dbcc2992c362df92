"""What section 4 of the paper says of its guppies, judged one by one."""

import numpy as np
from scipy.stats import spearmanr

from shoal.angles import difference
from shoal.studies.claims import FAILS, HOLDS, UNTESTABLE, Claim, judged
from shoal.studies.estimates import ENOUGH
from shoal.studies.guppies_evidence import LOCAL, NEAR, TARGET, Evidence

PAPER_DISTINCT = 7816
LEAST_COVERAGE, MOST_COVERAGE = 0.90, 0.99


def guppies_claims(evidence: Evidence) -> list[Claim]:
    """Every claim of section 4, in the order in which the paper makes them."""
    claims = [
        _distinct(evidence),
        _size(evidence),
        _bases(evidence),
        _concentrated(evidence),
        _diagonal(evidence),
        _passive(evidence),
        _frequency(evidence),
        _narrow(evidence),
        _local_minimum(evidence),
        _flat(evidence),
        _target_dip(evidence),
        _collective(evidence),
    ]
    if evidence.data.truth is not None:
        claims += [_coverage(evidence), _moving(evidence)]
    return claims


def _distinct(evidence: Evidence) -> Claim:
    found = len(evidence.counts.pairs)
    verdict = UNTESTABLE
    if evidence.data.kind == "published":
        verdict = judged(found == PAPER_DISTINCT)
    return Claim(
        "distinct-transitions",
        f"There are {PAPER_DISTINCT:,} unique state transitions in the 26 experiments",
        "on the published data the number is the same",
        f"{found:,} distinct transitions among {evidence.counts.total:,}, from "
        f"{len(list(evidence.data.tracks))} groups ({evidence.data.kind}).",
        verdict,
        {"distinct": found, "transitions": evidence.counts.total, "paper": PAPER_DISTINCT},
    )


def _size(evidence: Evidence) -> Claim:
    nuts = {n: e.diagnostics for n, e in evidence.estimates.items() if n.startswith("nuts")}
    r_hat = {name: d.numbers["max_r_hat"] for name, d in nuts.items()}
    divergent = sum(d.numbers["divergences"] for d in nuts.values())
    sound = all(d.trusted for d in nuts.values())
    states = evidence.counts.space.size
    return Claim(
        "too-large-for-mcmc",
        f"{states:,} states are too many for MCMC, so that variational inference must do",
        "it does not hold if NUTS passes its own diagnostics on every model (R-hat below 1.01 in "
        "every state, no divergence, 400 effective draws)",
        f"{len(nuts)} NUTS fits of {states:,} states: largest R-hat "
        f"{max(r_hat.values()):.4f}, {divergent:.0f} divergences, smallest effective number of "
        f"draws {min(d.numbers['min_ess_bulk'] for d in nuts.values()):,.0f}.",
        FAILS if sound else UNTESTABLE,  # chains may just be too short
        {"r_hat": r_hat, "divergences": divergent},
    )


def _bases(evidence: Evidence) -> Claim:
    seen = evidence.counts.arrivals >= ENOUGH
    one, two = (evidence.estimates[f"nuts-{b}-uniform"].mean() for b in ("identity", "bisquare"))
    same = float(np.corrcoef(one[seen], two[seen])[0, 1])
    contrast = {"identity": float(np.ptp(one)), "bisquare": float(np.ptp(two))}
    rough = {name: _roughness(mean) for name, mean in (("identity", one), ("bisquare", two))}
    return Claim(
        "bases-agree",
        "Both bases show the same pattern; bisquare functions smooth more and show more contrast",
        f"correlation of the mean costs-to-go of at least 0.9 over states with at least {ENOUGH} "
        "arrivals; differences between neighbouring states smaller, relative to the range, and the "
        "range over all states larger with bisquare functions (uniform passive dynamics)",
        f"correlation {same:.3f}; range {contrast['bisquare']:.1f} nats (bisquare) and "
        f"{contrast['identity']:.1f} (identity); mean difference of neighbours "
        f"{rough['bisquare']:.1%} and {rough['identity']:.1%} of the range.",
        judged(
            same >= 0.9
            and contrast["bisquare"] > contrast["identity"]
            and rough["bisquare"] < rough["identity"]
        ),
        {"correlation": same, "range": contrast, "relative_roughness": rough},
    )


def _roughness(mean: np.ndarray) -> float:
    """The mean difference of states that are neighbours on the circles, over the range."""
    steps = [np.abs(mean - np.roll(mean, 1, axis=axis)).mean() for axis in (0, 1)]
    return float(np.mean(steps) / np.ptp(mean))


def _concentrated(evidence: Evidence) -> Claim:
    spread = {}
    for name in ("nuts-identity-uniform", "nuts-bisquare-uniform"):
        mean = evidence.estimates[name].mean()
        low = mean <= np.quantile(mean, 0.1)
        spread[name] = [_circular_sd(evidence.centres(a)[i]) for a, i in _where(low)]
    local, target = np.mean(list(spread.values()), axis=0)
    return Claim(
        "alignment-narrow",
        "Low costs-to-go lie close around 0° of local misalignment and spread along the target's",
        "of the tenth of all states with the lowest cost-to-go, the circular sd of local "
        "misalignment is smaller than that of target misalignment (both bases, uniform)",
        f"circular sd {local:.0f}° along local and {target:.0f}° along target misalignment.",
        judged(all(along < across for along, across in spread.values())),
        {"circular_sd": spread},
    )


def _where(low: np.ndarray) -> list[tuple[str, np.ndarray]]:
    first, second = np.nonzero(low)
    return [(LOCAL, first), (TARGET, second)]


def _circular_sd(degrees: np.ndarray) -> float:
    length = np.abs(np.exp(1j * np.deg2rad(degrees)).mean())
    return float(np.rad2deg(np.sqrt(-2 * np.log(max(length, 1e-12)))))


def _diagonal(evidence: Evidence) -> Claim:
    """Both angles hold the own heading with the same sign, so they rise and fall together."""
    local, target = (evidence.centres(axis) for axis in (LOCAL, TARGET))
    arrivals = evidence.counts.arrivals.astype(float)
    away = np.abs(local) > 90  # where the corners would have to make the pattern
    apart = np.deg2rad(np.asarray(difference(target[None, :], local[:, None])))
    centre = np.angle((arrivals * np.exp(1j * apart)).sum())
    along = float(_mean_cosine(arrivals[away], apart[away] - centre))
    shuffled = (
        arrivals[away].sum(axis=1, keepdims=True)
        * arrivals[away].sum(axis=0)
        / max(1.0, arrivals[away].sum())
    )
    chance = float(_mean_cosine(shuffled, apart[away] - centre))
    return Claim(
        "diagonal",
        "The diagonal pattern of the maps comes from corners that are neighbours on the circle",
        "among arrivals more than 90° from the group's heading, target minus local misalignment "
        "is spread no less than if the two were independent; if it is more concentrated the "
        "diagonal is in the tracks themselves",
        f"mean cosine of (target − local) around its centre {along:.2f} among these arrivals, "
        f"{chance:.2f} if the angles were independent. A fish that turns changes both angles by "
        "the same amount, which is a diagonal by itself.",
        judged(along <= chance + 0.05),
        {"mean_cosine": along, "if_independent": chance},
    )


def _mean_cosine(weights: np.ndarray, angle: np.ndarray) -> float:
    return float((weights * np.cos(angle)).sum() / max(1.0, weights.sum()))


def _passive(evidence: Evidence) -> Claim:
    seen = evidence.counts.arrivals > 0
    same = {}
    for basis in ("identity", "bisquare"):
        one, two = (evidence.estimates[f"nuts-{basis}-{p}"].mean() for p in ("uniform", "walk"))
        same[basis] = float(np.corrcoef(one[seen], two[seen])[0, 1])
    walk = np.asarray(evidence.main.fit.model.operator().row(0)).ravel()
    apart = float(0.5 * np.abs(walk - 1 / walk.size).sum())
    words = (
        f"correlations {same['identity']:.3f} (identity) and {same['bisquare']:.3f} (bisquare) "
        f"over the states entered. The two hardly differ, though: a walk of 90° moves only "
        f"{apart:.0%} of its probability away from the uniform."
    )
    numbers = {"correlation": same, "total_variation_from_uniform": apart}
    if "nuts-identity-moving" in evidence.estimates:
        moving = evidence.estimates["nuts-identity-moving"].mean()
        near = evidence.estimates["nuts-identity-walk"].mean()
        numbers["with_the_true_passive"] = float(np.corrcoef(moving[seen], near[seen])[0, 1])
        numbers["range_with_the_true_passive"] = float(np.ptp(moving[seen]))
        numbers["range_with_the_walk"] = float(np.ptp(near[seen]))
        words += (
            " Under the true passive dynamics the map has a correlation of "
            f"{numbers['with_the_true_passive']:.2f} with that of the walk and a range of "
            f"{numbers['range_with_the_true_passive']:.1f} instead of "
            f"{numbers['range_with_the_walk']:.1f} nats: the heights of costs depend on them."
        )
    return Claim(
        "passive-little",
        "The choice of passive dynamics changes little",
        "correlation of at least 0.9 between the mean costs-to-go under uniform dynamics and under "
        "the walk, over states entered, both bases",
        words,
        judged(min(same.values()) >= 0.9),
        numbers,
    )


def _frequency(evidence: Evidence) -> Claim:
    ranks = {
        method: float(
            spearmanr(
                evidence.counts.arrivals.ravel(),
                evidence.estimates[f"{method}-bisquare-walk"].sd().ravel(),
            )[0]
        )
        for method in ("advi", "nuts")
    }
    return Claim(
        "sd-follows-frequency",
        "Posterior sds reflect how often states were observed: the more often, the smaller",
        "rank correlation of arrivals and posterior sd of −0.5 or below (walk, bisquare), for ADVI "
        "as in the paper and for NUTS",
        f"rank correlation {ranks['advi']:.2f} (ADVI), {ranks['nuts']:.2f} (NUTS).",
        judged(max(ranks.values()) <= -0.5),
        {"rank_correlation": ranks},
    )


def _narrow(evidence: Evidence) -> Claim:
    """Where mean-field uncertainty was wrong."""
    ratio, level, k = {}, {}, {}
    often, never = evidence.counts.arrivals >= ENOUGH, evidence.counts.arrivals == 0
    known, unknown = {}, {}
    for name in evidence.paper_names:
        if not name.startswith("advi"):
            continue
        rest = name.removeprefix("advi-")
        nuts, advi = evidence.estimates[f"nuts-{rest}"], evidence.estimates[name]
        wider = nuts.sd() / advi.sd()
        ratio[rest] = float(np.median(wider))
        known[rest], unknown[rest] = _median(wider[often]), _median(wider[never])
        level[rest] = float(np.median(nuts.sd(level=True) / advi.sd(level=True)))
        k[rest] = float(advi.fit.facts["pareto_k"])
    found = (
        f"Ratio sd(NUTS)/sd(ADVI) in the median state, level removed: {_listed(ratio)}; level in: "
        f"{_listed(level)}. Below 1 mean-field is too wide, above 1 too narrow: with bisquare "
        f"functions and the walk the ratio is {known['bisquare-walk']:.2f} in states with at least "
        f"{ENOUGH} arrivals and {unknown['bisquare-walk']:.2f} in states never entered. Pareto k̂ "
        f"of ADVI {min(k.values()):.1f} to {max(k.values()):.1f} (should be 0.7 or less)."
    )
    numbers = {"ratio_level_removed": ratio, "ratio_level_included": level, "pareto_k": k}
    numbers |= {"ratio_often_entered": known, "ratio_never_entered": unknown}
    if evidence.data.truth is not None:
        inside = {
            name: evidence.estimates[name]
            .beside(evidence.data.truth.solution.cost_to_go)
            .coverage(ENOUGH)
            for name in (
                f"{m}-{b}-decided" for b in ("identity", "bisquare") for m in ("nuts", "advi")
            )
        }
        numbers["inside"] = inside
        found += (
            " Where the truth is known, its 95 % intervals hold it in "
            f"{inside['advi-identity-decided']:.0%} (identity) and "
            f"{inside['advi-bisquare-decided']:.0%} (bisquare) of the states with at least "
            f"{ENOUGH} arrivals; those of NUTS in {inside['nuts-identity-decided']:.0%} and "
            f"{inside['nuts-bisquare-decided']:.0%}."
        )
    return Claim(
        "advi-uncertainty",
        "The variational posterior sd (figure 6) is the uncertainty of the cost-to-go",
        "the sd of NUTS is within 10 % of that of mean-field ADVI in the median state, level "
        "removed, for both bases and passive dynamics, and k̂ is 0.7 or less",
        found,
        judged(all(abs(r - 1) <= 0.1 for r in ratio.values()) and max(k.values()) <= 0.7),
        numbers,
    )


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if values.size else float("nan")


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{value:.2f} ({name.replace('-', ', ')})" for name, value in values.items())


def _minimum_numbers(evidence: Evidence, axis: str) -> dict[str, float]:
    plain, weighted = evidence.minimum(axis), evidence.minimum(axis, weighted=True)
    numbers = {"minimum": plain, "minimum_weighted_by_arrivals": weighted}
    aim = evidence.truly(axis)
    if aim is not None:
        numbers["truth"] = aim
    return numbers


def _local_minimum(evidence: Evidence) -> Claim:
    numbers = _minimum_numbers(evidence, LOCAL)
    draws = evidence.centres(LOCAL)[evidence.flat(LOCAL).argmin(axis=1)]
    near = numbers["probability_within_15"] = float((np.abs(draws) <= 15).mean())
    known = f"; the truth {numbers['truth']:+.0f}°" if "truth" in numbers else ""
    return Claim(
        "local-minimum",
        "The marginal cost-to-go of local misalignment is lowest at 0°",
        "the lowest bin of the posterior mean marginal (all states alike, as in the paper) is "
        "within one bin of 0°",
        f"lowest at {numbers['minimum']:+.0f}° (weighted by arrivals "
        f"{numbers['minimum_weighted_by_arrivals']:+.0f}°{known}); posterior probability that the "
        f"lowest bin lies within 15° of 0°: {near:.2f}.",
        judged(abs(numbers["minimum"]) <= evidence.counts.space.axes[0].widths[0]),
        numbers,
    )


def _flat(evidence: Evidence) -> Claim:
    draws, centres = evidence.flat(LOCAL), evidence.centres(LOCAL)
    best = int(draws.mean(axis=0).argmin())
    above = (draws > draws[:, [best]]).mean(axis=0)
    width = float(evidence.counts.space.axes[0].widths[0])
    run = _run(above < 0.975, best)
    low, high = centres[run[0]] - width / 2, centres[run[-1]] + width / 2
    rise = {f"{a:g}": _rise(evidence, a) for a in (-20.0, 50.0)}
    numbers = {"from": float(low), "to": float(high), "mean_rise_at": rise}
    found = (
        f"from {low:+.0f}° to {high:+.0f}° no bin is credibly dearer than the lowest (posterior "
        f"probability below 0.975); the mean marginal rises by {rise['-20']:.2f} nats at −20° and "
        f"{rise['50']:.2f} at 50°."
    )
    truth = evidence.true_marginal(LOCAL)
    if truth is not None:
        found += (
            " The stand-in's fish have no such range: their true costs rise on both sides of 0°, "
            "and a method that found one would be wrong."
        )
    covers = low <= -15 and high >= 45
    asymmetric = high > -low
    return Claim(
        "flat-optimum",
        "Local misalignments from −15° to 45° are equally optimal",
        "the run of bins around the lowest that are not credibly dearer (paper's marginal) covers "
        "−15° to 45° and is longer to the left of the heading (positive angles)",
        found,
        judged(covers and asymmetric),
        numbers,
    )


def _run(alike: np.ndarray, best: int) -> list[int]:
    """The unbroken run of bins around the best, not over the seam."""
    first = last = best
    while first > 0 and alike[first - 1]:
        first -= 1
    while last < len(alike) - 1 and alike[last + 1]:
        last += 1
    return list(range(first, last + 1))


def _rise(evidence: Evidence, angle: float) -> float:
    mean, centres = evidence.flat(LOCAL).mean(axis=0), evidence.centres(LOCAL)
    return float(mean[np.argmin(np.abs(centres - angle))] - mean.min())


def _target_dip(evidence: Evidence) -> Claim:
    numbers = _minimum_numbers(evidence, TARGET)
    draws = evidence.centres(TARGET)[evidence.flat(TARGET).argmin(axis=1)]
    inside = numbers["probability_in_the_papers_bins"] = float(
        ((draws >= -55) & (draws <= -35)).mean()
    )
    words = (
        f"lowest at {numbers['minimum']:+.0f}° with all states alike, at "
        f"{numbers['minimum_weighted_by_arrivals']:+.0f}° weighted by arrivals; posterior "
        f"probability of the paper's two bins {inside:.2f}."
    )
    if "truth" in numbers:
        off = {
            name: abs(float(difference(numbers[name], numbers["truth"])))
            for name in ("minimum", "minimum_weighted_by_arrivals")
        }
        numbers |= {f"{name}_off_by": value for name, value in off.items()}
        words += (
            f" The truth is {numbers['truth']:+.0f}°: the paper's marginal is off by "
            f"{off['minimum']:.0f}°, the weighted one by "
            f"{off['minimum_weighted_by_arrivals']:.0f}°. Averaged over all states alike, most of "
            "the curve is the prior in states that no fish entered."
        )
        verdict = judged(off["minimum"] <= NEAR)
    else:
        verdict = judged(-55 <= numbers["minimum"] <= -35)
        words += _caveat(evidence)
    return Claim(
        "target-dip",
        "The marginal cost-to-go of target misalignment dips at −55° to −35°",
        "the lowest bin of the posterior mean marginal (all states alike) lies there; on the "
        f"stand-in, within {NEAR:g}° of the truth",
        words,
        verdict,
        numbers,
    )


def _caveat(evidence: Evidence) -> str:
    if evidence.power is None:
        return ""
    power = evidence.power
    return (
        f" Ten fish in one experiment find such a minimum in {power.target} of "
        f"{power.experiments} simulated cases, so this is weak evidence either way."
    )


def _collective(evidence: Evidence) -> Claim:
    numbers = {}
    for kind, weighted in (("all states alike", False), ("weighted by arrivals", True)):
        ranges = {axis: _ranges(evidence, axis, weighted) for axis in (LOCAL, TARGET)}
        numbers[kind] = {
            "range_local": float(ranges[LOCAL].mean()),
            "range_target": float(ranges[TARGET].mean()),
            "probability": float((ranges[LOCAL] > ranges[TARGET]).mean()),
        }
    plain, by_arrivals = numbers.values()
    words = (
        f"range of the marginals, all states alike: local {plain['range_local']:.2f} and target "
        f"{plain['range_target']:.2f} nats, posterior probability that the first is larger "
        f"{plain['probability']:.3f}; weighted by arrivals {by_arrivals['range_local']:.2f} "
        f"and {by_arrivals['range_target']:.2f}, probability {by_arrivals['probability']:.3f}."
    )
    truth = [evidence.true_marginal(axis) for axis in (LOCAL, TARGET)]
    if truth[0] is not None and truth[1] is not None:
        numbers["truth"] = {
            "range_local": float(np.ptp(truth[0])),
            "range_target": float(np.ptp(truth[1])),
        }
        words += (
            f" True ranges: local {np.ptp(truth[0]):.2f}, target {np.ptp(truth[1]):.2f}, under the "
            "fish's own passive dynamics."
        )
    return Claim(
        "collective-over-target",
        "Collective alignment matters more than the target",
        "the range of the marginal cost-to-go of local misalignment exceeds that of target "
        "misalignment with a posterior probability above 0.95 (all states alike)",
        words,
        judged(plain["probability"] > 0.95),
        numbers,
    )


def _ranges(evidence: Evidence, axis: str, weighted: bool) -> np.ndarray:
    """The range of the marginal in every draw, over bins that were entered."""
    draws = evidence.flat(axis, weighted=weighted)
    known = np.isfinite(draws).all(axis=0)
    return np.asarray(np.ptp(draws[:, known], axis=1))


def _coverage(evidence: Evidence) -> Claim:
    assert evidence.data.truth is not None
    truth = evidence.data.truth.solution.cost_to_go
    found = {
        b: evidence.estimates[f"nuts-{b}-decided"].beside(truth) for b in ("identity", "bisquare")
    }
    inside = {basis: r.coverage(ENOUGH) for basis, r in found.items()}
    states = int(found["identity"].seen(ENOUGH).sum())
    fine = all(LEAST_COVERAGE <= share <= MOST_COVERAGE for share in inside.values())
    return Claim(
        "coverage-decided",
        "(Ours) Where fish decide by p* on the joint grid, the 95 % intervals hold the truth",
        f"as many decisions as the experiments have, by p*; of the states with at least {ENOUGH} "
        f"arrivals {LEAST_COVERAGE:.0%} to {MOST_COVERAGE:.0%} inside, both bases",
        f"inside {inside['identity']:.1%} (identity) and {inside['bisquare']:.1%} (bisquare) of "
        f"{states} states; root mean square error {found['identity'].error(ENOUGH):.2f} and "
        f"{found['bisquare'].error(ENOUGH):.2f} nats.",
        HOLDS if fine else FAILS,
        {"inside": inside, "states": states},
    )


def _moving(evidence: Evidence) -> Claim:
    assert evidence.data.truth is not None
    truth = evidence.data.truth.solution.cost_to_go
    found = evidence.estimates["nuts-identity-moving"].beside(truth)
    decided = evidence.estimates["nuts-identity-decided"].beside(truth)
    inside = found.coverage(ENOUGH)
    return Claim(
        "coverage-moving",
        "Transitions between recomputed misalignments follow the policy of the LMDP",
        f"the same share for the states recomputed from the moving fish: {LEAST_COVERAGE:.0%} to "
        f"{MOST_COVERAGE:.0%}",
        f"inside {inside:.1%} of {int(found.seen(ENOUGH).sum())} states; root mean square error "
        f"{found.error(ENOUGH):.2f} nats instead of {decided.error(ENOUGH):.2f}, largest "
        f"{found.largest_error(ENOUGH):.1f}, correlation with the truth "
        f"{found.correlation(ENOUGH):.2f}. One turn changes both angles at once and the others "
        "turn, too: this is what treating the two angles as independent costs.",
        judged(LEAST_COVERAGE <= inside <= MOST_COVERAGE),
        {"inside": inside, "error": found.error(ENOUGH), "error_decided": decided.error(ENOUGH)},
    )
