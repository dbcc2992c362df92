"""Leave-one-out scores from the draws of a single fit, by Pareto-smoothed importance sampling."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from shoal.errors import InputError
from shoal.posterior.scoring import Score, drawn, pair_logs
from shoal.precision import as_jax
from shoal.results import counted, data_frame
from shoal.states.transitions import Pairs

if TYPE_CHECKING:
    import pandas as pd

    from shoal.posterior.fit import Fit

CHUNK = 256
"""Distinct transitions whose draws are in memory at a time."""

FEWEST = 100
GOOD_K = 0.7


@dataclass(frozen=True, eq=False, repr=False)
class LooScore(Score):
    """A score of every transition by a fit to all others.

    Attributes
    ----------
    pareto_k
        Of every distinct transition: above 0.7 its score is not to be trusted.
    pairs
        The distinct transitions, with how often each was seen.
    """

    pareto_k: Float[np.ndarray, " pairs"] = None  # type: ignore[assignment]
    pairs: Pairs = None  # type: ignore[assignment]

    def table(self) -> "pd.DataFrame":
        """A row for each distinct transition: the states, how often, bits, and Pareto k̂."""
        first = np.cumsum(self.pairs.count) - self.pairs.count
        return data_frame(
            {
                "origin": self.pairs.origin,
                "destination": self.pairs.destination,
                "count": self.pairs.count,
                "bits": self.sums[first],
                "pareto_k": self.pareto_k,
            }
        )

    def __str__(self) -> str:
        if not self.unsure:
            words = "All of the transitions have a score that can be trusted."
        else:
            all_pairs = counted(self.pareto_k.size, "distinct transition")
            words = (
                f"The scores of {self.unsure:,} of {all_pairs} cannot be trusted (Pareto k̂ above "
                f"{GOOD_K})."
            )
        left = "Each transition is scored by the draws as if it had been left out of the fit."
        return f"{super().__str__()} {left} {words}"

    def __repr__(self) -> str:
        return f"Loo{super().__repr__()[:-1]}, {self.unsure} of {self.pareto_k.size} pairs unsure)"

    @property
    def unsure(self) -> int:
        """Distinct transitions whose score is not to be trusted."""
        return int(np.sum(~(self.pareto_k <= GOOD_K)))


def loo(fit: "Fit", draws: int = 2000) -> LooScore:
    """The leave-one-out score of a fit on its own transitions (PSIS-LOO).

    Transitions i → j that were seen many times have one score, so the work grows with the distinct
    ones; no array of draws × transitions is ever held. Neighbouring transitions of an animal are
    alike, so leaving out one says less about new data than leaving out a block: see ``Fit.score``.
    """
    if fit.method == "map":
        raise InputError("leave-one-out scores need draws: use nuts, laplace or advi")
    v, unknowns = drawn(fit, draws)
    if len(v) < FEWEST:
        raise InputError(f"leave-one-out scores need {FEWEST} draws or more, got {len(v)}")
    from arviz_stats.base.array import array_stats  # noqa: PLC0415  (slow to load, and only needed here)

    pairs = fit.data["transitions"].to_dataset()
    origin, destination = pairs["origin"].values, pairs["destination"].values
    count = pairs["count"].values
    bits, shapes = np.empty(count.size), np.empty(count.size)
    discount = as_jax(float(fit.model.discount))
    for first in range(0, count.size, CHUNK):
        rows = np.arange(first, first + CHUNK) % count.size  # a full chunk, so compiled once
        logs = np.asarray(
            _pair_draws(
                fit.model.family,
                unknowns,
                v,
                discount,
                as_jax(origin[rows]),
                as_jax(destination[rows]),
            )
        ).T
        weights, k = array_stats.psislw(logs)
        mean = np.logaddexp.reduce(weights + logs, axis=1) - np.logaddexp.reduce(weights, axis=1)
        size = min(CHUNK, count.size - first)
        bits[first : first + size] = mean[:size] / np.log(2)
        shapes[first : first + size] = k[:size]
    each = np.repeat(bits, count)
    return LooScore(each, np.ones(each.size), True, shapes, Pairs(origin, destination, count))


@eqx.filter_jit
def _pair_draws(family, unknowns, v, discount, origin, destination):  # type: ignore[no-untyped-def]
    def one(draw: tuple[Array, Array]) -> Array:
        return pair_logs(family, draw[0], draw[1], discount, origin, destination)

    return jax.lax.map(one, (unknowns, v))
