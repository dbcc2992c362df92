"""What to worry about, in plain words."""

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from shoal.basis import Flat, Identity
from shoal.moves import Turns
from shoal.passive import Uniform
from shoal.passive.narrowness import narrow_axes
from shoal.posterior.identified import compared_parts, misfit
from shoal.posterior.importance import FEWEST, PARETO_K
from shoal.posterior.specification import Unreadable
from shoal.results import Result, counted, data_frame

if TYPE_CHECKING:
    import pandas as pd

    from shoal.posterior.fit import Fit

R_HAT = 1.01
ESS = 400
E_BFMI = 0.3
RARE, RARE_SHARE = 1e-6, 0.01
MISFIT, MISFIT_SHARE = 5.0, 0.2
"""Between arrivals and what is expected of them, in sds and as a share, beyond which it is said."""

ENTANGLED = 0.9
"""The correlation of two learned unknowns beyond which tracks cannot tell them apart."""

RARELY = 20
"""Arrivals below which a state's cost is skewed."""

ROUGH = 0.2
"""Posterior sds that half as many candidates may move a cost by, before it is said."""

CORRELATED = 0.1
"""The correlation of successive turns beyond which it is said."""

SPOILT = 0.15
"""The same where it is negative, beyond which costs are not to be trusted."""

FLAT, FAR_TOO_FLAT = 0.05, 0.2
"""The shares that wide bins take off costs of distances at which it is said, and not trusted."""

BEYOND, FAR_BEYOND = 0.05, 0.2
"""The shares of decisions beyond the last bin at which it is said, and costs are not trusted."""

UNLEARNED = 0.9
"""The sd of a passive unknown, in sds of its prior, above which tracks have hardly told it."""

INSEPARABLE = 0.8
"""The share of a passive unknown's variance that goes along with the costs."""

LIMITS = {
    "max_r_hat": ("at most", R_HAT),
    "min_ess_bulk": ("at least", ESS),
    "min_ess_tail": ("at least", ESS),
    "divergences": ("at most", 0),
    "min_e_bfmi": ("at least", E_BFMI),
    "pareto_k": ("at most", PARETO_K),
    "importance_ess": ("at least", ESS),
    "share_passively_rare": ("at most", RARE_SHARE),
    "quadrature_shift": ("at most", 1.0),
    "turn_correlation": ("at least", -SPOILT),
}
"""The figures by which a fit is judged, with the limit of each."""


@dataclass(frozen=True, repr=False)
class Diagnostics(Result):
    """Sentences about a fit, and the numbers behind them.

    Attributes
    ----------
    failures
        Reasons not to use this result.
    notes
        Things to know when reading it.
    numbers
        The figures, by name.
    """

    failures: tuple[str, ...]
    notes: tuple[str, ...]
    numbers: dict[str, float]

    @property
    def trusted(self) -> bool:
        """Whether nothing speaks against using the result."""
        return not self.failures

    def table(self) -> "pd.DataFrame":
        """A row for each figure: its value, its limit where it has one, whether it keeps it."""
        sides, limits, fine = [], [], []
        for name, value in self.numbers.items():
            side, limit = LIMITS.get(name, ("", math.nan))
            sides.append(side)
            limits.append(float(limit))
            fine.append(not side or (value <= limit if side == "at most" else value >= limit))
        return data_frame(
            {
                "quantity": list(self.numbers),
                "value": list(self.numbers.values()),
                "should_be": sides,
                "limit": limits,
                "fine": fine,
            }
        )

    def __str__(self) -> str:
        sound = (
            "The computation is sound. Whether the model describes these animals is another "
            "question: shoal predict compares simulated groups with them."
        )
        head = sound if self.trusted else "Do not trust this fit yet:"
        lines = [head, *(f"  ✗ {line}" for line in self.failures)]
        lines += [f"  • {line}" for line in self.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        trusted = "trusted" if self.trusted else "not trusted"
        found = f"{counted(len(self.failures), 'failure')}, {counted(len(self.notes), 'note')}"
        return f"Diagnostics({trusted}, {found})"


def diagnose(fit: "Fit") -> Diagnostics:
    """Judge a fit by the figures of its method and by what its data can tell."""
    failures: list[str] = []
    notes: list[str] = []
    numbers: dict[str, float] = {}
    _judge_method(fit, failures, notes, numbers)
    _note_data(fit, failures, notes, numbers)
    return Diagnostics(tuple(failures), tuple(notes), numbers)


def _judge_method(
    fit: "Fit", failures: list[str], notes: list[str], numbers: dict[str, float]
) -> None:
    """By the figures of the method itself."""
    if fit.method == "nuts":
        _judge_chains(fit, failures, notes, numbers)
    else:
        _judge_optimiser(fit, failures, numbers)
    if "pareto_k" in fit.facts:
        _judge_approximation(fit, failures, numbers)
    if fit.method == "map":
        notes.append("map gives the most probable costs only: use another method for uncertainty.")


def diagnose_decisions(fit: "Fit") -> Diagnostics:
    """Judge a fit to decisions."""
    failures: list[str] = []
    notes: list[str] = []
    numbers: dict[str, float] = {}
    _judge_method(fit, failures, notes, numbers)
    shift = numbers["quadrature_shift"] = float(fit.facts["quadrature_shift"])
    count = fit.model.passive.candidates
    if shift > 1:
        failures.append(
            f"Too few candidate moves for costs this sharp: with half of the {count} a cost would "
            f"move by {shift:.1f} of its standard deviation. Use more, "
            f"{type(fit.model.passive).__name__}(candidates={4 * count}); on the command line "
            f"--candidates {4 * count}."
        )
    elif shift > ROUGH:
        notes.append(
            f"With half of the {count} candidate moves a cost would move by {shift:.2f} of its "
            f"standard deviation; candidates={2 * count} is more exact."
        )
    _note_turns(fit, failures, notes, numbers)
    _note_together(fit, notes, numbers)
    _note_beyond(fit, failures, notes, numbers)
    _note_flat(fit, failures, notes, numbers)
    _note_entered(fit, notes, numbers)
    _note_learned(fit, notes, numbers)
    return Diagnostics(tuple(failures), tuple(notes), numbers)


def thinning_against_noise(together: float) -> int:
    """Of how many frames to keep one, so that errors make up a twentieth of the variance of turns.

    Errors of places alone give successive turns a correlation of −2/3: each heading has its error
    with one sign in the turn towards it and with the other in the turn away from it, and shares a
    place with the next. Over k frames an error is k times smaller and turns vary k times more.

    >>> [thinning_against_noise(rho) for rho in (-0.1, -0.3, -0.6)]
    [2, 3, 6]
    """
    share = min(1.5 * abs(together), 0.98)
    return math.ceil((19 * share / (1 - share)) ** (1 / 3))


def _note_turns(
    fit: "Fit", failures: list[str], notes: list[str], numbers: dict[str, float]
) -> None:
    """Turns that depend on the turn before, while the passive moves say that they do not."""
    together = numbers["turn_correlation"] = float(fit.facts["turn_correlation"])
    if fit.model.passive.persistence != 0 or not abs(together) > CORRELATED:
        return
    if together > 0:
        notes.append(
            f"Successive turns go the same way, more than costs explain (correlation "
            f"{together:.2f}): animals that are turning go on turning, which these passive moves "
            f"do not know. Try {type(fit.model.passive).__name__}(persistence=True); on the "
            "command line --persistence learned."
        )
    else:
        every = numbers["thin_by"] = float(thinning_against_noise(together))
        words = (
            f"Successive turns go opposite ways, more than costs explain (correlation "
            f"{together:.2f}), as errors of measurement make them: noise in headings looks like a "
            f"wish to align. Keep one frame in {every:.0f} or fewer: tracks.thin({every:.0f}); on "
            f"the command line --every {every:.0f}."
        )
        (failures if together < -SPOILT else notes).append(words)


def _note_together(fit: "Fit", notes: list[str], numbers: dict[str, float]) -> None:
    """Turns that animals make together; fits of older files do not know."""
    together = float(fit.facts.get("frame_correlation", math.nan))
    if not together > max(CORRELATED, 3 / math.sqrt(fit.facts.get("frame_pairs", 1.0))):
        return
    numbers["frame_correlation"] = together
    notes.append(
        f"Animals of a group turn the same way in the same frame, more than costs explain "
        f"(correlation {together:.2f}): they react to each other within one move, or to something "
        "that is no feature. Intervals are then too short, and simulated groups too loose. Shorter "
        "moves help (a smaller number in tracks.thin; on the command line --every), and features "
        "of what they react to."
    )


def _note_flat(
    fit: "Fit", failures: list[str], notes: list[str], numbers: dict[str, float]
) -> None:
    """Costs of distances that bins make too flat; fits of older files do not know."""
    for axis, share in fit.facts.get("too_flat", {}).items():
        if share > FLAT:
            numbers[f"too_flat_{axis}"] = share
            (failures if share > FAR_TOO_FLAT else notes).append(
                f"Steps are short beside the bins of the {axis.replace('_', ' ')}, and there is no "
                f"room for narrower ones: its costs come out about {share:.0%} too flat. Take "
                "fewer features or fewer bins of angles, a shorter range of distances, or longer "
                "moves (a larger number in tracks.thin; on the command line --every)."
            )


def _note_beyond(
    fit: "Fit", failures: list[str], notes: list[str], numbers: dict[str, float]
) -> None:
    """Decisions beyond the last bin of a distance or speed; fits of older files do not know."""
    axes: Any = fit.model.space.axes
    for axis in axes:
        share, far = fit.facts.get("beyond_bins", {}).get(axis.name, (0.0, 0.0))
        if not share > BEYOND:
            continue
        numbers[f"beyond_{axis.name}"] = share
        name, last = axis.name.replace("_", " "), axis.edges[-1]
        words = (
            f"{share:.0%} of the decisions are beyond the last bin of the {name} (above {last:g}). "
            "Costs do not change there, so that those of the last bins come out too much alike. "
            f"Use bins up to {far:.2g} or more: edges= in Python; on the command line "
            f":max={far:.2g} after the feature, such as neighbour-distance:max=10."
        )
        (failures if share > FAR_BEYOND else notes).append(words)


def _judge_chains(
    fit: "Fit", failures: list[str], notes: list[str], numbers: dict[str, float]
) -> None:
    from arviz_stats.base.array import array_stats  # noqa: PLC0415  (slow to load, and only needed here)

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
        notes.append("One chain cannot disagree with itself: run 4 to see whether they agree.")
    elif not numbers["max_r_hat"] < R_HAT:
        failures.append(
            f"The chains do not agree: largest R-hat {numbers['max_r_hat']:.4f} (should be below "
            f"{R_HAT}). Use more draws."
        )
    fewest = min(numbers["min_ess_bulk"], numbers["min_ess_tail"])
    if not fewest >= ESS:
        failures.append(
            f"Too few effective draws: {fewest:.0f} for the worst quantity (should be {ESS} or "
            "more). Use more draws."
        )
    if numbers["divergences"]:
        failures.append(
            f"{numbers['divergences']:.0f} draws diverged: parts of the posterior were not "
            f"reached. {_against_divergences(fit)}"
        )
    if numbers["max_tree_depth_reached"]:
        notes.append(
            f"{numbers['max_tree_depth_reached']:.0f} draws stopped at the largest tree depth: "
            "right but slow. Raise max_tree_depth."
        )
    if numbers.get("min_e_bfmi", 1.0) < E_BFMI:
        failures.append(
            f"The energy moves too slowly (E-BFMI {numbers['min_e_bfmi']:.2f}, should be above "
            f"{E_BFMI}): the tails may be missed. Use a stronger prior or more draws."
        )


def _judge_optimiser(fit: "Fit", failures: list[str], numbers: dict[str, float]) -> None:
    facts = fit.facts
    for name in ("iterations", "elbo"):
        if name in facts:
            numbers[name] = float(facts[name])
    if not facts["converged"] and fit.model.hierarchical:
        failures.append(
            "The search for scales, lengths and passive dynamics did not converge: too few data "
            "for so many unknowns. Give some of them numbers or narrower priors."
        )
    elif not facts["converged"] and fit.method == "laplace":
        failures.append(
            "The posterior of the prior's precision could not be covered: too few data for so "
            "vague a prior. Use a more informative prior or nuts."
        )
    elif not facts["converged"]:
        failures.append(
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


def _judge_approximation(fit: "Fit", failures: list[str], numbers: dict[str, float]) -> None:
    """Weighted draws are as good as k̂ and their effective number say; others are not judged."""
    k = numbers["pareto_k"] = float(fit.facts["pareto_k"])
    effective = numbers["importance_ess"] = float(fit.facts.get("importance_ess", "nan"))
    settings = json.loads(fit.data.attrs["settings"])
    if fit.sampled.sizes["chain"] * fit.sampled.sizes["draw"] < FEWEST:
        failures.append(f"Fewer than {FEWEST} draws cannot show how near the posterior they are.")
    elif settings.get("family") == "mean-field":
        failures.append(
            f"Mean-field draws are those of an approximation (Pareto k̂ {k:.2f}) and are not "
            "corrected. It leaves out how unknowns hang together, so that its intervals can be "
            "too narrow or too wide; those of the precision and of the range of costs are wrong "
            f"on average.{_sd_error(fit)} Publish nuts or laplace."
        )
    elif not k <= PARETO_K:
        failures.append(
            f"The approximation is not the posterior: Pareto k̂ is {k:.2f} (should be "
            f"{PARETO_K} or less), so its draws could not be corrected. {_why_far(fit)} Use nuts "
            '(method="nuts"; on the command line --method nuts).'
        )
    elif effective < ESS:
        failures.append(
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


def _note_data(
    fit: "Fit", failures: list[str], notes: list[str], numbers: dict[str, float]
) -> None:
    if fit.model.discount == 0:
        failures.append(
            "With a discount of 0 nothing ahead counts, so tracks tell nothing of costs."
        )
    _judge_passive(fit, failures, numbers)
    _note_reach(fit, notes, numbers)
    _note_learned(fit, notes, numbers)
    if bool(fit.absorbing.any()):
        notes.append(
            f"{int(fit.absorbing.sum())} states are never left passively: what is paid there "
            "cannot be learned from tracks, and their state cost is not given."
        )
    _note_entered(fit, notes, numbers)
    if isinstance(fit.model.passive, Uniform) and isinstance(fit.model.basis, Identity):
        notes.append(
            "With uniform passive dynamics and the identity basis the estimate is nothing but "
            "shrunken −log arrivals, relative to the size of each bin."
        )


def _note_entered(fit: "Fit", notes: list[str], numbers: dict[str, float]) -> None:
    """Where the prior speaks, and where the animal's own heading does."""
    entered = fit.arrivals.values > 0
    numbers["states"] = float(entered.size)
    numbers["states_never_entered"] = float((~entered).sum())
    if not entered.all():
        notes.append(
            f"{int((~entered).sum())} of {entered.size} states were never entered. The data say "
            "little about them: their values come mostly from the prior."
        )
    if any(getattr(part, "include_self", False) for part in fit.model.space.parts):
        notes.append(
            "The mean heading of the neighbours has the animal's own in it, as in the paper: that "
            "alone draws misalignment towards 0°, the more the fewer and the less aligned the "
            "animals are. To say that animals align, leave it out (include_self=False, "
            "local:others)."
        )


def _note_reach(fit: "Fit", notes: list[str], numbers: dict[str, float]) -> None:
    """Differences that no tracks could tell, and arrivals that the basis cannot explain."""
    if isinstance(fit.model.passive, Unreadable):
        return
    departures = fit.data["observed_data"].to_dataset()["departures"].values
    parts = compared_parts(fit.operator, departures)
    count = numbers["parts_not_compared"] = float(np.unique(parts[parts >= 0]).size)
    if count > 1:
        firsts = [int(np.argmax(parts == part)) for part in np.unique(parts[parts >= 0])[:2]]
        one, other = (fit.model.space.describe(state) for state in firsts)
        notes.append(
            f"The states fall into {count:.0f} parts that these tracks never compare, such as "
            f"those of {one} and {other}: what is said of costs holds within a part only, and "
            "between parts the prior alone decides."
        )
    if isinstance(fit.model.basis, Flat):
        return
    state, (seen, expected), sds = misfit(fit)
    numbers["largest_misfit"] = sds
    if sds > MISFIT and abs(seen - expected) > MISFIT_SHARE * expected:
        notes.append(
            f"The basis cannot say all that these tracks show: {fit.model.space.describe(state)} "
            f"was entered {seen:.0f} times where the fit expects {expected:.0f}, {sds:.0f} "
            "standard deviations off. Try a finer basis."
        )


def _note_learned(fit: "Fit", notes: list[str], numbers: dict[str, float]) -> None:
    """Where learned dynamics hide in bins, where the prior decides, or costs could do the same."""
    if isinstance(fit.model.passive, Unreadable) or not fit.family.count:
        return
    if not isinstance(fit.model.passive, Turns):
        hidden = narrow_axes(fit.passive, fit.model.space)
        notes.extend(f"{sentence[0].upper()}{sentence[1:]}." for sentence in hidden)
    draws = np.asarray(fit.passive_unknowns)
    if len(draws) < FEWEST:
        return
    explained = explained_by_costs(fit, draws)
    numbers["passive_explained_by_costs"] = float(explained.max())
    for name, sd, share in zip(fit.family.names, draws.std(axis=0), explained, strict=True):
        if sd > UNLEARNED:
            notes.append(f"The tracks hardly tell the {name}: what is said of it is its prior.")
        elif share > INSEPARABLE:
            notes.append(
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


def _judge_passive(fit: "Fit", failures: list[str], numbers: dict[str, float]) -> None:
    """Where animals often do what is all but impossible passively, costs make up for it."""
    if isinstance(fit.model.passive, Unreadable):
        return
    pairs = fit.data["transitions"].to_dataset()
    logs = fit.operator.log_probability(
        jnp.asarray(pairs["origin"].values), jnp.asarray(pairs["destination"].values)
    )
    rare = np.asarray(logs) < math.log(RARE)
    count = pairs["count"].values
    share = numbers["share_passively_rare"] = float(count[rare].sum() / count.sum())
    if share > RARE_SHARE:
        failures.append(
            f"{share:.0%} of the transitions have a passive probability below {RARE:g}: the "
            "passive dynamics are too narrow, and costs are inflated to make up for it. Use wider "
            "ones (for RandomWalk a larger sd)."
        )
