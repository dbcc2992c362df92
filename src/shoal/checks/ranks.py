"""Whether ranks are uniform: their empirical distribution beside simultaneous bands."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from jaxtyping import Float
from scipy.special import bdtr, bdtrc

MASS = 0.99
SIMULATIONS = 4000


def uniform_rank(
    truth: Float[np.ndarray, " quantities"],
    draws: Float[np.ndarray, "draws quantities"],
    rng: np.random.Generator,
) -> Float[np.ndarray, " quantities"]:
    """Where the truth lies among draws, as a number between 0 and 1.

    If truth and draws come from the same distribution it is uniform, exactly: ties are broken at
    random, and so is the place within a rank.
    """
    below = (draws < truth).sum(axis=0)
    ties = (draws == truth).sum(axis=0)
    rank = below + rng.integers(0, ties + 1)
    return (rank + rng.random(truth.shape)) / (len(draws) + 1)


@dataclass(frozen=True)
class Band:
    """Where the distribution of so many uniform numbers stays, as a whole, with a probability."""

    points: Float[np.ndarray, " points"]
    lower: Float[np.ndarray, " points"]
    upper: Float[np.ndarray, " points"]


@cache
def simultaneous_band(count: int, mass: float = MASS) -> Band:
    """After Säilynoja, Bürkner and Vehtari (2022): pointwise bands, widened by simulation.

    Uniform numbers are drawn many times over. How improbable each curve is at its most improbable
    point says how improbable a point must be for a curve as a whole to be so in 1 − mass of cases.
    """
    points = np.arange(1, count) / count
    tail = float(np.quantile(_least_by_chance(count), 1 - mass))
    counts = np.arange(count + 1)[:, None]
    low = (bdtr(counts, count, points) < tail).sum(axis=0)
    high = count - (bdtrc(counts - 1.0, count, points) < tail).sum(axis=0)
    return Band(points, low / count, high / count)


@cache
def _least_by_chance(count: int) -> Float[np.ndarray, " simulations"]:
    """How improbable curves of so many uniform numbers are at their most improbable point."""
    rng = np.random.default_rng(count)
    return np.array([_least(rng.random(count)) for _ in range(SIMULATIONS)])


def _least(ranks: Float[np.ndarray, " ranks"]) -> float:
    count = ranks.size
    points = np.arange(1, count) / count
    below = np.searchsorted(np.sort(ranks), points, side="right")
    tails = np.minimum(bdtr(below, count, points), bdtrc(below - 1.0, count, points))
    return float(tails.min())


def holm(p: Float[np.ndarray, " tests"]) -> Float[np.ndarray, " tests"]:
    """P-values corrected for how many there are (Holm 1979): below 0.05 in 5 % of families.

    Examples
    --------
    >>> import numpy as np
    >>> holm(np.array([0.04, 0.01, 0.03])).tolist()
    [0.06, 0.03, 0.06]
    """
    order = np.argsort(p)
    stepped = np.maximum.accumulate((p.size - np.arange(p.size)) * p[order])
    found = np.empty(p.size)
    found[order] = np.minimum(stepped, 1.0)
    return found


@dataclass(frozen=True)
class RankCurve:
    """The empirical distribution of one quantity's ranks.

    Attributes
    ----------
    ranks
        One for each replicate, between 0 and 1.
    """

    name: str
    ranks: Float[np.ndarray, " replicates"]

    @property
    def band(self) -> Band:
        """Within which it lies if the intervals are right."""
        return simultaneous_band(self.ranks.size)

    @property
    def distribution(self) -> Float[np.ndarray, " points"]:
        """The share of ranks up to each point."""
        places = np.searchsorted(np.sort(self.ranks), self.band.points, side="right")
        return places / self.ranks.size

    @property
    def excess(self) -> float:
        """How far it leaves the band at the most, in half-widths of the band; 0 inside."""
        band, found = self.band, self.distribution
        half = np.maximum((band.upper - band.lower) / 2, 1 / self.ranks.size)
        beyond = np.maximum(found - band.upper, band.lower - found)
        return float(np.max(np.maximum(beyond, 0.0) / half))

    @property
    def inside(self) -> bool:
        """Whether it stays in the band everywhere."""
        return self.excess <= 1e-12

    @property
    def p_value(self) -> float:
        """The chance that uniform ranks make a curve as improbable as this one."""
        chance = _least_by_chance(self.ranks.size)
        return float((1 + np.sum(chance <= _least(self.ranks))) / (1 + chance.size))

    @property
    def shape(self) -> str:
        """What the ranks say of the intervals, in words."""
        centred = self.ranks - 0.5
        spread = float(np.mean(centred**2)) * 12
        lean = float(centred.mean()) * np.sqrt(12 * self.ranks.size)
        if abs(lean) > 3:
            return "estimates too low" if lean > 0 else "estimates too high"
        return "intervals too narrow" if spread > 1 else "intervals too wide"
