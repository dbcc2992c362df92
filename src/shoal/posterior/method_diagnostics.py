"""Whether the method found the posterior: chains, searches, approximations."""

import json
from typing import TYPE_CHECKING

import numpy as np

from shoal.posterior.diagnostics import E_BFMI, ESS, R_HAT, Findings
from shoal.posterior.importance import FEWEST, PARETO_K
from shoal.posterior.specification import Unreadable

if TYPE_CHECKING:
    from shoal.posterior.fit import Fit

ENTANGLED = 0.9
"""The correlation of two learned unknowns beyond which tracks cannot tell them apart."""

RARELY = 20
"""Arrivals below which a state's cost is skewed."""


def judge_method(fit: "Fit", found: Findings) -> None:
    """By the figures of the method itself."""
    if fit.method == "nuts":
        _judge_chains(fit, found)
    else:
        _judge_optimiser(fit, found)
    if "pareto_k" in fit.facts:
        _judge_approximation(fit, found)
    if fit.method == "map":
        found.notes.append(
            "map gives the most probable costs only: use another method for uncertainty."
        )


def _judge_chains(fit: "Fit", found: Findings) -> None:
    """By how chains agree and what they say of themselves."""
    from arviz_stats.base.array import array_stats  # noqa: PLC0415  (slow to load, and only needed here)

    numbers = found.numbers
    figures = fit.data["convergence"].to_dataset()
    stats = fit.data["sample_stats"].to_dataset()
    r_hats = [figures[name] for name in figures if str(name).endswith("r_hat")]
    bulk = [figures[name] for name in figures if str(name).endswith("ess_bulk")]
    tail = [figures[name] for name in figures if str(name).endswith("ess_tail")]
    numbers["max_r_hat"] = max(float(value.max()) for value in r_hats)
    numbers["min_ess_bulk"] = min(float(value.min()) for value in bulk)
    numbers["min_ess_tail"] = min(float(value.min()) for value in tail)
    numbers["divergences"] = float(stats["diverging"].sum())
    numbers["max_tree_depth_reached"] = float(stats["reached_max_tree_depth"].sum())
    energies = np.asarray(stats["energy"].values)
    if energies.shape[1] >= 4:
        bfmi = array_stats.bfmi(energies, chain_axis=0, draw_axis=1)
        numbers["min_e_bfmi"] = float(np.min(bfmi))
    if energies.shape[0] < 2:
        found.notes.append(
            "One chain cannot disagree with itself: run 4 to see whether they agree."
        )
    elif not numbers["max_r_hat"] < R_HAT:
        found.failures.append(
            f"The chains do not agree: largest R-hat {numbers['max_r_hat']:.4f} (should be below "
            f"{R_HAT}). Use more draws."
        )
    fewest = min(numbers["min_ess_bulk"], numbers["min_ess_tail"])
    if not fewest >= ESS:
        found.failures.append(
            f"Too few effective draws: {fewest:.0f} for the worst quantity (should be {ESS} or "
            "more). Use more draws."
        )
    if numbers["divergences"]:
        found.failures.append(
            f"{numbers['divergences']:.0f} draws diverged: parts of the posterior were not "
            f"reached. {_against_divergences(fit)}"
        )
    if numbers["max_tree_depth_reached"]:
        found.notes.append(
            f"{numbers['max_tree_depth_reached']:.0f} draws stopped at the largest tree depth: "
            "right but slow. Raise max_tree_depth."
        )
    if numbers.get("min_e_bfmi", 1.0) < E_BFMI:
        found.failures.append(
            f"The energy moves too slowly (E-BFMI {numbers['min_e_bfmi']:.2f}, should be above "
            f"{E_BFMI}): the tails may be missed. Use a stronger prior or more draws."
        )


def _judge_optimiser(fit: "Fit", found: Findings) -> None:
    facts = fit.facts
    for name in ("iterations", "elbo"):
        if name in facts:
            found.numbers[name] = float(facts[name])
    if not facts["converged"] and fit.model.hierarchical:
        found.failures.append(
            "The search for scales, lengths and passive dynamics did not converge: too few data "
            "for so many unknowns. Give some of them numbers or narrower priors."
        )
    elif not facts["converged"] and fit.method == "laplace":
        found.failures.append(
            "The posterior of the prior's precision could not be covered: too few data for so "
            "vague a prior. Use a more informative prior or nuts."
        )
    elif not facts["converged"]:
        found.failures.append(
            f"The search for the {'mode' if fit.method != 'advi' else 'best approximation'} did "
            "not converge. Raise max_iterations or use nuts."
        )


def _against_divergences(fit: "Fit") -> str:
    """What to try next; something else where it was tried already."""
    tried = json.loads(fit.data.attrs["settings"]).get("target_acceptance")
    wanted = 0.99 if fit.model.hierarchical else 0.95
    if tried is None or tried < wanted:
        return (
            f"Use NUTS(target_acceptance={wanted}); on the command line "
            f"--target-acceptance {wanted}."
        )
    pair = entangled(fit)
    if pair is not None:
        return f"{pair} Give one of them a number, or choose simpler passive dynamics."
    if fit.model.hierarchical:
        return (
            "A higher target acceptance did not help: choose simpler passive dynamics "
            "(RandomWalk; --passive random-walk) or fewer axes."
        )
    return "A higher target acceptance did not help: use a stronger prior or a coarser basis."


def entangled(fit: "Fit") -> str | None:
    """A sentence on the two passive unknowns that the tracks can least tell apart, if any."""
    if isinstance(fit.model.passive, Unreadable):
        return None
    names, draws = fit.family.names, np.asarray(fit.passive_unknowns)
    moving = np.flatnonzero(draws.std(axis=0) > 1e-9)
    if len(moving) < 2 or len(draws) < FEWEST:
        return None
    together = np.corrcoef(draws[:, moving].T) - np.eye(len(moving))
    i, j = np.unravel_index(np.argmax(np.abs(together)), together.shape)
    if abs(together[i, j]) < ENTANGLED:
        return None
    one, other = names[moving[i]], names[moving[j]]
    return (
        f"These tracks cannot tell the {one} from the {other} (their correlation is "
        f"{together[i, j]:.2f})."
    )


def _judge_approximation(fit: "Fit", found: Findings) -> None:
    """Weighted draws are as good as k̂ and their effective number say; others are not judged."""
    k = found.numbers["pareto_k"] = float(fit.facts["pareto_k"])
    effective = found.numbers["importance_ess"] = float(fit.facts.get("importance_ess", "nan"))
    settings = json.loads(fit.data.attrs["settings"])
    if fit.sampled.sizes["chain"] * fit.sampled.sizes["draw"] < FEWEST:
        found.failures.append(
            f"Fewer than {FEWEST} draws cannot show how near the posterior they are."
        )
    elif settings.get("family") == "mean-field":
        found.failures.append(
            f"Mean-field draws are those of an approximation (Pareto k̂ {k:.2f}) and are not "
            "corrected. It leaves out how unknowns hang together, so that its intervals can be "
            "too narrow or too wide; those of the precision and of the range of costs are wrong "
            f"on average.{_sd_error(fit)} Publish nuts or laplace."
        )
    elif not k <= PARETO_K:
        found.failures.append(
            f"The approximation is not the posterior: Pareto k̂ is {k:.2f} (should be "
            f"{PARETO_K} or less), so its draws could not be corrected. {_why_far(fit)} Use nuts "
            '(method="nuts"; on the command line --method nuts).'
        )
    elif effective < ESS:
        found.failures.append(
            f"Too few effective draws: the weighted draws are worth {effective:.0f} independent "
            f"ones (should be {ESS} or more). Use nuts "
            '(method="nuts"; on the command line --method nuts).'
        )


def well_drawn(fit: "Fit") -> bool:
    """Whether draws of an approximation could be corrected, and enough of them count."""
    facts = fit.facts
    k, effective = facts.get("pareto_k", 0.0), facts.get("importance_ess", float("inf"))
    return bool(float(k) <= PARETO_K and float(effective) >= ESS)


def _sd_error(fit: "Fit") -> str:
    error = fit.facts.get("sd_error")
    return "" if error is None else f" Its own sds are known to within {error:.0%}."


def _why_far(fit: "Fit") -> str:
    """The likeliest reason why a Gaussian does not describe the posterior."""
    pair = entangled(fit)
    if pair is not None:
        return pair
    entered = fit.arrivals.values[fit.arrivals.values > 0]
    if entered.size and entered.min() < RARELY:
        return (
            f"A Gaussian misses the skew of rarely visited states (the rarest has "
            f"{int(entered.min())} arrivals)."
        )
    return "The posterior is too skewed, or has too many unknowns, for a Gaussian."
