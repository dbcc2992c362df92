"""Draws of an approximation, corrected by importance weights so that they are the posterior's.

The weights are smoothed (PSIS). A k̂ of 0.7 or less says that *weighted* draws can be used, so
draws are resampled by their weights there. With a larger k̂ a few draws would stand for all: they
stay as the approximation made them, and the diagnostics say that they are not the posterior's.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

PARETO_K = 0.7
"""The largest k̂ at which weighted draws can be used."""

PROPOSED, FEWEST_PROPOSED = 2, 4000
"""Draws that are proposed for each that is kept, and at the least."""

FEWEST = 25
"""Draws below which the tail of the weights cannot be judged."""


class Weighing(NamedTuple):
    """How far proposed draws are from the posterior.

    Attributes
    ----------
    weights
        Smoothed, with sum 1.
    pareto_k
        The shape of their tail; infinite where it cannot be judged.
    effective
        How many independent draws of the posterior the weighted ones are worth.
    """

    weights: Float[np.ndarray, " draws"]
    pareto_k: float
    effective: float

    def after(self, before: "Weighing") -> "Weighing":
        """Of draws whose first part was itself resampled by weights."""
        if not min(self.effective, before.effective) > 0:
            return self._replace(effective=0.0)
        effective = 1 / (1 / self.effective + 1 / before.effective)
        return Weighing(self.weights, max(self.pareto_k, before.pareto_k), effective)


class Corrected(NamedTuple):
    """Which of the proposed draws to keep, and how good they are."""

    kept: Int[np.ndarray, " kept"]
    facts: dict[str, float | bool]


def weigh(
    log_posterior: Float[np.ndarray, " draws"], log_approximation: Float[np.ndarray, " draws"]
) -> Weighing:
    """The smoothed importance weights of draws from an approximation."""
    ratios = np.asarray(log_posterior - log_approximation, dtype=float)
    impossible = log_posterior == -np.inf
    count = ratios.size
    unusable = Weighing(np.full(count, 1 / max(count, 1)), float("inf"), 0.0)
    if count < FEWEST or not np.all(np.isfinite(ratios[~impossible])) or impossible.all():
        return unusable
    highest, possible = ratios[~impossible].max(), float((~impossible).sum())
    if np.ptp(ratios[~impossible]) < 1e-8:
        return Weighing(~impossible / possible, 0.0, possible)
    from arviz_stats.base.array import array_stats  # noqa: PLC0415  (slow to load)

    # arviz takes the ratios with their sign turned
    with np.errstate(all="ignore"):  # ratios that are apart by more than numbers can tell
        logs, k = array_stats.psislw(np.where(impossible, 1e6, highest - ratios))
        weights = np.exp(logs - logs.max())
        weights = weights / weights.sum()
    if not np.all(np.isfinite(weights)):
        return unusable
    return Weighing(weights, float(k), float(1 / np.sum(weights**2)))


def corrected(weighing: Weighing, count: int, generator: np.random.Generator) -> Corrected:
    """So many draws by their weights, in random order; the first ones as they are if k̂ is large."""
    usable = weighing.pareto_k <= PARETO_K
    facts: dict[str, float | bool] = {
        "pareto_k": weighing.pareto_k,
        "importance_ess": weighing.effective,
        "proposed": float(weighing.weights.size),
        "reweighted": bool(usable),
    }
    if not usable:
        return Corrected(np.arange(count) % weighing.weights.size, facts)
    return Corrected(resampled(weighing.weights, count, generator), facts)


def resampled(
    weights: Float[np.ndarray, " draws"], count: int, generator: np.random.Generator
) -> Int[np.ndarray, " kept"]:
    """So many draws by their weights, in random order.

    Systematic resampling: a draw of weight w is kept ⌊count·w⌋ or ⌈count·w⌉ times.
    """
    ends = np.cumsum(weights)
    places = (np.arange(count) + generator.random()) / count * ends[-1]
    kept = np.minimum(np.searchsorted(ends, places, side="right"), ends.size - 1)
    return generator.permutation(kept)
