"""What transitions can tell and what they cannot: the diagnostics of a fit to them."""

import math
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from shoal.basis import Flat, Identity
from shoal.moves import Turns
from shoal.passive import Uniform
from shoal.passive.narrowness import narrow_axes
from shoal.posterior.diagnostics import RARE_SHARE, Diagnostics, Findings
from shoal.posterior.identified import compared_parts, misfit
from shoal.posterior.importance import FEWEST
from shoal.posterior.method_diagnostics import judge_method
from shoal.posterior.specification import Unreadable

if TYPE_CHECKING:
    from shoal.posterior.fit import Fit

RARE = 1e-6
"""A passive chance that is all but none."""

MISFIT, MISFIT_SHARE = 5.0, 0.2
"""Between arrivals and what is expected of them, in sds and as a share, beyond which it is said."""

UNLEARNED = 0.9
"""The sd of a passive unknown, in sds of its prior, above which tracks have hardly told it."""

INSEPARABLE = 0.8
"""The share of a passive unknown's variance that goes along with the costs."""


def diagnose(fit: "Fit") -> Diagnostics:
    """Judge a fit by the figures of its method and by what its data can tell."""
    found = Findings()
    judge_method(fit, found)
    _note_data(fit, found)
    return found.diagnostics()


def _note_data(fit: "Fit", found: Findings) -> None:
    if fit.model.discount == 0:
        found.failures.append(
            "With a discount of 0 nothing ahead counts, so tracks tell nothing of costs."
        )
    _judge_passive(fit, found)
    _note_reach(fit, found)
    note_learned(fit, found)
    if bool(fit.absorbing.any()):
        found.notes.append(
            f"{int(fit.absorbing.sum())} states are never left passively: what is paid there "
            "cannot be learned from tracks, and their state cost is not given."
        )
    note_entered(fit, found)
    if isinstance(fit.model.passive, Uniform) and isinstance(fit.model.basis, Identity):
        found.notes.append(
            "With uniform passive dynamics and the identity basis the estimate is nothing but "
            "shrunken −log arrivals, relative to the size of each bin."
        )


def note_entered(fit: "Fit", found: Findings) -> None:
    """Where the prior speaks, and where the animal's own heading does."""
    entered = fit.arrivals.values > 0
    found.numbers["states"] = float(entered.size)
    found.numbers["states_never_entered"] = float((~entered).sum())
    if not entered.all():
        found.notes.append(
            f"{int((~entered).sum())} of {entered.size} states were never entered. The data say "
            "little about them: their values come mostly from the prior."
        )
    if any(getattr(part, "include_self", False) for part in fit.model.space.parts):
        found.notes.append(
            "The mean heading of the neighbours has the animal's own in it, as in the paper: that "
            "alone draws misalignment towards 0°, the more the fewer and the less aligned the "
            "animals are. To say that animals align, leave it out (include_self=False, "
            "local:others)."
        )


def _note_reach(fit: "Fit", found: Findings) -> None:
    """Differences that no tracks could tell, and arrivals that the basis cannot explain."""
    if isinstance(fit.model.passive, Unreadable):
        return
    departures = fit.data["observed_data"].to_dataset()["departures"].values
    parts = compared_parts(fit.operator, departures)
    count = found.numbers["parts_not_compared"] = float(np.unique(parts[parts >= 0]).size)
    if count > 1:
        firsts = [int(np.argmax(parts == part)) for part in np.unique(parts[parts >= 0])[:2]]
        one, other = (fit.model.space.describe(state) for state in firsts)
        found.notes.append(
            f"The states fall into {count:.0f} parts that these tracks never compare, such as "
            f"those of {one} and {other}: what is said of costs holds within a part only, and "
            "between parts the prior alone decides."
        )
    if isinstance(fit.model.basis, Flat):
        return
    state, (seen, expected), sds = misfit(fit)
    found.numbers["largest_misfit"] = sds
    if sds > MISFIT and abs(seen - expected) > MISFIT_SHARE * expected:
        found.notes.append(
            f"The basis cannot say all that these tracks show: {fit.model.space.describe(state)} "
            f"was entered {seen:.0f} times where the fit expects {expected:.0f}, {sds:.0f} "
            "standard deviations off. Try a finer basis."
        )


def note_learned(fit: "Fit", found: Findings) -> None:
    """Where learned dynamics hide in bins, where the prior decides, or costs could do the same."""
    if isinstance(fit.model.passive, Unreadable) or not fit.family.count:
        return
    if not isinstance(fit.model.passive, Turns):
        hidden = narrow_axes(fit.passive, fit.model.space)
        found.notes.extend(f"{sentence[0].upper()}{sentence[1:]}." for sentence in hidden)
    draws = np.asarray(fit.passive_unknowns)
    if len(draws) < FEWEST:
        return
    explained = explained_by_costs(fit, draws)
    found.numbers["passive_explained_by_costs"] = float(explained.max())
    for name, sd, share in zip(fit.family.names, draws.std(axis=0), explained, strict=True):
        if sd > UNLEARNED:
            found.notes.append(
                f"The tracks hardly tell the {name}: what is said of it is its prior."
            )
        elif share > INSEPARABLE:
            found.notes.append(
                f"The {name} and the costs cannot be told apart by these tracks: {share:.0%} of "
                "its uncertainty is what costs could do as well. Take it from a second data set, "
                "of single animals for example (estimate)."
            )


def explained_by_costs(fit: "Fit", draws: Any) -> Any:
    """The share of each passive unknown's variance that goes along with the costs-to-go.

    Costs stand in a regression by the directions in which they vary most over states that were
    entered, one for every forty draws at most.
    """
    some = np.unique(np.linspace(0, len(draws) - 1, min(400, len(draws))).astype(int))
    v = fit.sampled.values.reshape(len(draws), -1)[some] * np.sqrt(fit.arrivals.values.ravel())
    v = v[:, fit.arrivals.values.ravel() > 0]
    v = v - v.mean(axis=1, keepdims=True)
    u = draws[some] - draws[some].mean(axis=0)
    left, _, _ = np.linalg.svd(v - v.mean(axis=0), full_matrices=False)
    left = left[:, : max(1, len(some) // 40)]
    total = np.maximum((u**2).sum(axis=0), 1e-300)
    return ((left.T @ u) ** 2).sum(axis=0) / total


def _judge_passive(fit: "Fit", found: Findings) -> None:
    """Where animals often do what is all but impossible passively, costs make up for it."""
    if isinstance(fit.model.passive, Unreadable):
        return
    pairs = fit.data["transitions"].to_dataset()
    logs = fit.operator.log_probability(
        jnp.asarray(pairs["origin"].values), jnp.asarray(pairs["destination"].values)
    )
    rare = np.asarray(logs) < math.log(RARE)
    count = pairs["count"].values
    share = found.numbers["share_passively_rare"] = float(count[rare].sum() / count.sum())
    if share > RARE_SHARE:
        found.failures.append(
            f"{share:.0%} of the transitions have a passive probability below {RARE:g}: the "
            "passive dynamics are too narrow, and costs are inflated to make up for it. Use wider "
            "ones (for RandomWalk a larger sd)."
        )
