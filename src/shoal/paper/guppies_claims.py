"""What section 4 of the paper says of its guppies, judged one by one."""

import numpy as np
from scipy.stats import spearmanr

from shoal.angles import difference
from shoal.checks.recovery import ENOUGH
from shoal.paper.claims import FAILS, HOLDS, UNTESTABLE, Claim, judged
from shoal.paper.guppies_evidence import LOCAL, TARGET, Evidence
from shoal.paper.guppies_wants import wants

PAPER_DISTINCT, PAPER_STATES = 7816, 1296
LEAST_COVERAGE, MOST_COVERAGE = 0.90, 0.99
FEWEST = 50


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
        *wants(evidence),
    ]
    if evidence.data.truth is not None:
        claims += [_coverage(evidence), _moving(evidence)]
    return claims


def _distinct(evidence: Evidence) -> Claim:
    found = len(evidence.counts.pairs)
    verdict = UNTESTABLE
    if evidence.data.kind == "published" and evidence.counts.space.size == PAPER_STATES:
        verdict = judged(found == PAPER_DISTINCT)
    return Claim(
        "distinct-transitions",
        f"There are {PAPER_DISTINCT:,} unique state transitions in the 26 experiments",
        "on the published data, with 36 × 36 states, the number is the same",
        f"{found:,} distinct transitions among {evidence.counts.total:,}, from "
        f"{len(list(evidence.data.tracks))} group(s) ({evidence.data.kind}).",
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
        f"{PAPER_STATES:,} states are too many for MCMC, so that variational inference must do",
        "it does not hold if NUTS passes its own diagnostics on every model (R-hat below 1.01 in "
        "every state, no divergence, 400 effective draws)",
        f"{len(nuts)} NUTS fits of {states:,} states: largest R-hat "
        f"{max(r_hat.values()):.4f}, {divergent:.0f} divergences, smallest effective number of "
        f"draws {min(d.numbers['min_ess_bulk'] for d in nuts.values()):,.0f}.",
        # where it is not sound, chains may just be too short
        FAILS if sound and states >= PAPER_STATES else UNTESTABLE,
        {"r_hat": r_hat, "divergences": divergent},
    )


def _bases(evidence: Evidence) -> Claim:
    one, two = (evidence.estimates[f"nuts-{b}-uniform"].mean() for b in ("identity", "bisquare"))
    same = _correlation(one, two, evidence.counts.arrivals)
    contrast = {"identity": float(np.ptp(one)), "bisquare": float(np.ptp(two))}
    advi = {b: float(np.ptp(evidence.estimates[f"advi-{b}-uniform"].mean())) for b in contrast}
    rough = {name: _roughness(mean) for name, mean in (("identity", one), ("bisquare", two))}
    return Claim(
        "bases-agree",
        "Both bases show the same pattern; bisquare functions smooth more and show more contrast",
        "correlation of the mean costs-to-go, weighted by arrivals, of at least 0.9; differences "
        "between neighbouring states smaller, relative to the range, and the range over all states "
        "larger with bisquare functions (uniform passive dynamics)",
        f"correlation {same:.3f}; range {contrast['bisquare']:.1f} nats (bisquare) and "
        f"{contrast['identity']:.1f} (identity), by ADVI {advi['bisquare']:.1f} and "
        f"{advi['identity']:.1f}; mean difference of neighbours "
        f"{rough['bisquare']:.1%} and {rough['identity']:.1%} of the range.",
        judged(
            same >= 0.9
            and contrast["bisquare"] > contrast["identity"]
            and rough["bisquare"] < rough["identity"]
        ),
        {"correlation": same, "range": contrast, "range_advi": advi, "relative_roughness": rough},
    )


def _correlation(one: np.ndarray, two: np.ndarray, weights: np.ndarray) -> float:
    """Of two maps, each state with its weight."""
    covariance = np.cov(one.ravel(), two.ravel(), aweights=weights.ravel().astype(float))
    return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


def _roughness(mean: np.ndarray) -> float:
    """The mean difference of states that are neighbours on the circles, over the range."""
    steps = [np.abs(mean - np.roll(mean, 1, axis=axis)).mean() for axis in (0, 1)]
    return float(np.mean(steps) / np.ptp(mean))


def _concentrated(evidence: Evidence) -> Claim:
    spread, centre = {}, {}
    for name in ("nuts-identity-uniform", "nuts-bisquare-uniform"):
        mean = evidence.estimates[name].mean()
        low = mean <= np.quantile(mean, 0.1)
        spread[name] = [_circular_sd(evidence.centres(a)[i]) for a, i in _where(low)]
        angles = np.deg2rad(evidence.centres(LOCAL)[np.nonzero(low)[0]])
        centre[name] = float(np.rad2deg(np.angle(np.exp(1j * angles).mean())))
    local, target = np.mean(list(spread.values()), axis=0)
    return Claim(
        "alignment-narrow",
        "Low costs-to-go lie close around 0° of local misalignment and spread along the target's",
        "of the tenth of all states with the lowest cost-to-go, the circular sd of local "
        "misalignment is smaller than that of target misalignment, and its circular mean within "
        "15° of 0° (both bases, uniform)",
        f"circular sd {local:.0f}° along local and {target:.0f}° along target misalignment; "
        f"centre of local misalignment {np.mean(list(centre.values())):+.0f}°.",
        judged(
            all(along < across for along, across in spread.values())
            and max(map(abs, centre.values())) <= 15
        ),
        {"circular_sd": spread, "centre": centre},
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
    seen = int(arrivals[away].sum())
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
        f"{chance:.2f} if the angles were independent ({seen:,} arrivals, of which at least "
        f"{FEWEST} are needed). A turn changes both angles by the same amount.",
        judged(along <= chance + 0.05) if seen >= FEWEST else UNTESTABLE,
        {"mean_cosine": along, "if_independent": chance, "arrivals": seen},
    )


def _mean_cosine(weights: np.ndarray, angle: np.ndarray) -> float:
    return float((weights * np.cos(angle)).sum() / max(1.0, weights.sum()))


def _passive(evidence: Evidence) -> Claim:
    seen = evidence.counts.arrivals > 0
    same = {}
    for basis in ("identity", "bisquare"):
        one, two = (evidence.estimates[f"nuts-{basis}-{p}"].mean() for p in ("uniform", "walk"))
        same[basis] = _correlation(one, two, evidence.counts.arrivals)
    walk = np.asarray(evidence.main.fit.model.operator().row(0)).ravel()
    apart = float(0.5 * np.abs(walk - 1 / walk.size).sum())
    words = (
        f"correlations {same['identity']:.3f} (identity) and {same['bisquare']:.3f} (bisquare), "
        f"weighted by arrivals. The two hardly differ, though: a walk of 90° moves only "
        f"{apart:.0%} of its probability away from the uniform."
    )
    numbers = {"correlation": same, "total_variation_from_uniform": apart}
    if "nuts-identity-moving" in evidence.estimates:
        moving = evidence.estimates["nuts-identity-moving"].mean()
        near = evidence.estimates["nuts-identity-walk"].mean()
        numbers["with_the_true_passive"] = _correlation(moving, near, evidence.counts.arrivals)
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
        "Uniform dynamics and a walk of 90° give similar maps: passive dynamics change little",
        "correlation, weighted by arrivals, of at least 0.9 between the mean costs-to-go under "
        "uniform dynamics and under the walk, both bases",
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
    states = int(often.sum())
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
        f"functions and the walk the ratio is {_number(known['bisquare-walk'])} in {states} states "
        f"with at least {ENOUGH} arrivals and {_number(unknown['bisquare-walk'])} in "
        f"{int(never.sum())} never entered. Pareto k̂ "
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
        "(Ours) The variational posterior sd of figure 6 is that of the full posterior",
        "the sd of NUTS is within 10 % of that of mean-field ADVI in the median state, level "
        "removed, for both bases and passive dynamics, and k̂ is 0.7 or less",
        found,
        judged(all(abs(r - 1) <= 0.1 for r in ratio.values()) and max(k.values()) <= 0.7),
        numbers,
    )


def _median(values: np.ndarray) -> float:
    return float(np.median(values)) if values.size else float("nan")


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.2f}"


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{value:.2f} ({name.replace('-', ', ')})" for name, value in values.items())


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
        "(Ours) Where fish decide by p* on the joint grid, 95 % intervals hold the truth",
        f"as many decisions as the experiments have, by p*; of the states with at least {ENOUGH} "
        f"arrivals {LEAST_COVERAGE:.0%} to {MOST_COVERAGE:.0%} inside, both bases",
        f"inside {inside['identity']:.1%} (identity) and {inside['bisquare']:.1%} (bisquare) of "
        f"{states} states; root mean square error {found['identity'].error(ENOUGH):.2f} and "
        f"{found['bisquare'].error(ENOUGH):.2f} nats. Over all states entered, however rarely: "
        f"{found['identity'].coverage():.0%} and {found['bisquare'].coverage():.0%}; "
        "`tables/coverage.csv` has more.",
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
        "(Ours) Transitions between recomputed misalignments follow the policy of the LMDP",
        f"the same share for the states recomputed from the moving fish: {LEAST_COVERAGE:.0%} to "
        f"{MOST_COVERAGE:.0%}",
        f"inside {inside:.1%} of {int(found.seen(ENOUGH).sum())} states; root mean square error "
        f"{found.error(ENOUGH):.2f} nats instead of {decided.error(ENOUGH):.2f}, largest "
        f"{found.largest_error(ENOUGH):.1f}, correlation with the truth "
        f"{found.correlation(ENOUGH):.2f}. One turn changes both angles at once, fish choose among "
        "turns, and the others turn, too; this is what it costs.",
        judged(LEAST_COVERAGE <= inside <= MOST_COVERAGE),
        {"inside": inside, "error": found.error(ENOUGH), "error_decided": decided.error(ENOUGH)},
    )
