"""What section 4 says that guppies want: claims about the marginal costs-to-go of figure 7."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from shoal.angles import difference
from shoal.paper.claims import FAILS, HOLDS, UNTESTABLE, Claim
from shoal.paper.guppies_evidence import LOCAL, NEAR, TARGET, Evidence
from shoal.posterior.along import marginal

CREDIBLE = 0.975
UNDECIDED = "undecided (cannot be tested here) otherwise"


def wants(evidence: Evidence) -> list[Claim]:
    """The claims about local and target misalignment, in the paper's order."""
    made = (_local_minimum, _flat, _target_dip, _collective)
    claims = [claim(evidence) for claim in made]
    if evidence.data.truth is None:
        return claims
    return [
        replace(claim, paper=f"{claim.paper} (on the stand-in: is that what the method finds?)")
        for claim in claims
    ]


def _local_minimum(evidence: Evidence) -> Claim:
    numbers = _minimum_numbers(evidence, LOCAL)
    claimed = np.abs(evidence.centres(LOCAL)) <= 15
    near = _probability(evidence, LOCAL, claimed)
    numbers |= {"probability_within_15": near}
    known = f"; the truth {numbers['truth']:+.0f}°" if "truth" in numbers else ""
    return Claim(
        "local-minimum",
        "The marginal cost-to-go of local misalignment is lowest at 0°",
        "holds where the lowest bin of the posterior mean marginal (all states alike, as in the "
        "paper) lies within 15° of 0°, and that of half the draws; does not where all bins within "
        f"15° are credibly dearer than the lowest; {UNDECIDED}",
        f"lowest at {numbers['minimum']:+.0f}° (weighted by arrivals "
        f"{numbers['minimum_weighted_by_arrivals']:+.0f}°{known}); posterior probability that the "
        f"lowest bin lies within 15° of 0°: {near:.2f}.",
        _located(evidence, LOCAL, claimed),
        numbers,
    )


def _target_dip(evidence: Evidence) -> Claim:
    numbers = _minimum_numbers(evidence, TARGET)
    centres = evidence.centres(TARGET)
    claimed = (centres >= -55) & (centres <= -35)
    words = (
        f"lowest at {numbers['minimum']:+.0f}° with all states alike, at "
        f"{numbers['minimum_weighted_by_arrivals']:+.0f}° weighted by arrivals; with all states "
        f"alike under the other models {_others(numbers['minimum_by_model'])}."
    )
    if "truth" in numbers:
        claimed = np.abs(difference(centres, numbers["truth"])) <= NEAR
        words += (
            f" The truth is {numbers['truth']:+.0f}° (on bins of "
            f"{evidence.counts.space.axes[1].widths[0]:g}°). Of the states that the paper's "
            f"marginal averages, no fish entered {np.mean(evidence.counts.arrivals == 0):.0%}: "
            "there the prior speaks."
        )
    inside = _probability(evidence, TARGET, claimed)
    numbers |= {"probability": inside}
    place = "within 20° of the truth" if "truth" in numbers else "in the paper's two bins"
    words += f" Posterior probability that the lowest bin lies {place}: {inside:.2f}."
    if evidence.power is not None:
        words += (
            f" In simulated experiments of this size the minimum came out within {NEAR:g}° of the "
            f"truth in {evidence.power.target} of {evidence.power.experiments}, weighted by "
            "arrivals."
        )
    return Claim(
        "target-dip",
        "The marginal cost-to-go of target misalignment dips at −55° to −35°",
        "holds where the lowest bin of the posterior mean marginal (all states alike) lies there "
        f"(on the stand-in: within {NEAR:g}° of the truth), and that of half the draws; does not "
        f"where all those bins are credibly dearer than the lowest; {UNDECIDED}",
        words,
        _located(evidence, TARGET, claimed),
        numbers,
    )


def _minimum_numbers(evidence: Evidence, axis: str) -> dict[str, Any]:
    by_model = {}
    for name in evidence.paper_names:
        if name.startswith("nuts"):
            draws = evidence.estimates[name].fit.cost_to_go
            mean = marginal(draws, axis).values.mean(axis=(0, 1))
            by_model[name.removeprefix("nuts-")] = float(evidence.centres(axis)[mean.argmin()])
    numbers: dict[str, Any] = {
        "minimum": evidence.minimum(axis),
        "minimum_weighted_by_arrivals": evidence.minimum(axis, weighted=True),
        "minimum_by_model": by_model,
    }
    aim = evidence.truly(axis)
    return numbers if aim is None else numbers | {"truth": aim}


def _others(minima: dict[str, float]) -> str:
    return ", ".join(
        f"{place:+.0f}° ({name.replace('-', ', ')})"
        for name, place in minima.items()
        if name != "bisquare-walk"
    )


def _probability(evidence: Evidence, axis: str, bins: Bool[np.ndarray, " bins"]) -> float:
    """That the lowest bin of the paper's marginal is one of these."""
    return float(bins[evidence.flat(axis).argmin(axis=1)].mean())


def _located(evidence: Evidence, axis: str, bins: Bool[np.ndarray, " bins"]) -> str:
    """Whether the paper's marginal is lowest in these bins, is not, or cannot be told."""
    draws = evidence.flat(axis)
    best = int(draws.mean(axis=0).argmin())
    if bins[best] and _probability(evidence, axis, bins) >= 0.5:
        return HOLDS
    if bins[best] or not bins.any():
        return UNTESTABLE
    dearer = float((draws[:, bins].min(axis=1) > draws[:, best]).mean())
    return FAILS if dearer >= CREDIBLE else UNTESTABLE


def _flat(evidence: Evidence) -> Claim:
    draws, centres = evidence.flat(LOCAL), evidence.centres(LOCAL)
    mean = draws.mean(axis=0)
    best = int(mean.argmin())
    above = (draws > draws[:, [best]]).mean(axis=0)
    width = float(evidence.counts.space.axes[0].widths[0])
    run = _run(above < CREDIBLE, best)
    low, high = centres[run[0]] - width / 2, centres[run[-1]] + width / 2
    within = (centres >= -15) & (centres <= 45)
    rise = float((mean[within].max() - mean.min()) / np.ptp(mean))
    numbers = {"from": float(low), "to": float(high), "rise_share_of_range": rise}
    found = (
        f"from {low:+.0f}° to {high:+.0f}° no bin is credibly dearer than the lowest (posterior "
        f"probability below {CREDIBLE}); between −15° and 45° the mean marginal rises by "
        f"{rise:.0%} of its whole range."
    )
    if evidence.data.truth is not None:
        found += (
            " The stand-in's fish have no such range: their true costs rise on both sides of 0°."
        )
    covers, level = low <= -15 and high >= 45, rise <= 0.1
    few = evidence.data.kind == "one experiment"
    if few:
        found += " With so few transitions bins are alike for want of evidence as well."
    verdict = FAILS if not covers else HOLDS if level and not few else UNTESTABLE
    return Claim(
        "flat-optimum",
        "Local misalignments from −15° to 45° are equally optimal",
        "does not hold where a bin of that range is credibly dearer than the lowest (paper's "
        "marginal); holds where none is and the mean marginal rises by no more than a tenth of its "
        "range there; undecided otherwise, and on one experiment",
        found,
        verdict,
        numbers,
    )


def _run(alike: Bool[np.ndarray, " bins"], best: int) -> list[int]:
    """The unbroken run of bins around the best, not over the seam."""
    first = last = best
    while first > 0 and alike[first - 1]:
        first -= 1
    while last < len(alike) - 1 and alike[last + 1]:
        last += 1
    return list(range(first, last + 1))


def _collective(evidence: Evidence) -> Claim:
    numbers = {}
    for kind, weighted in (("all states alike", False), ("weighted by arrivals", True)):
        local, target = (_ranges(evidence, axis, weighted) for axis in (LOCAL, TARGET))
        numbers[kind] = {
            "range_local": float(local.mean()),
            "range_target": float(target.mean()),
            "probability": float((local > target).mean()),
        }
    plain, by_arrivals = numbers.values()
    words = (
        f"posterior mean range of the marginals, all states alike: local "
        f"{plain['range_local']:.2f} and target {plain['range_target']:.2f} nats, probability that "
        f"the first is larger {plain['probability']:.3f}; weighted by arrivals "
        f"{by_arrivals['range_local']:.2f} and {by_arrivals['range_target']:.2f}, probability "
        f"{by_arrivals['probability']:.3f}."
    )
    truth = [evidence.true_marginal(axis) for axis in (LOCAL, TARGET)]
    if truth[0] is not None and truth[1] is not None:
        numbers["truth"] = {
            "range_local": float(np.ptp(truth[0])),
            "range_target": float(np.ptp(truth[1])),
        }
        words += (
            f" True ranges: local {np.ptp(truth[0]):.2f}, target {np.ptp(truth[1]):.2f}, under the "
            "fish's own passive dynamics: a walk of 90° does not give their heights back."
        )
    sure = plain["probability"]
    return Claim(
        "collective-over-target",
        "Collective alignment matters more than the target",
        "posterior probability that the range of the marginal cost-to-go of local misalignment "
        "exceeds that of target misalignment (all states alike): holds above 0.95, does not below "
        "0.05, undecided (cannot be tested here) between",
        words,
        HOLDS if sure > 0.95 else FAILS if sure < 0.05 else UNTESTABLE,
        numbers,
    )


def _ranges(evidence: Evidence, axis: str, weighted: bool) -> np.ndarray:
    """The range of the marginal in every draw; weighted, over bins that were entered."""
    draws = evidence.flat(axis, weighted=weighted)
    known = np.isfinite(draws).all(axis=0)
    return np.asarray(np.ptp(draws[:, known], axis=1))
