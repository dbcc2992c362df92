"""Two sets of draws from what should be one posterior, compared within Monte Carlo error."""

from dataclasses import dataclass

import numpy as np
from arviz_stats.base.array import array_stats

QUANTILES = (0.05, 0.5, 0.95)
STATISTICS = ("mean", "sd", "quantile")

MOST_ERRORS = 4.0
"""Combined Monte Carlo standard errors that two engines may differ by.

An entry goes beyond by chance once in 16,000 times. The five statistics of a problem's 38 to 146
quantities are 190 to 730 entries: 1.2 % to 4.5 % that some entry does, were they independent, and
less as they are. Seeds are fixed, so this is met once, when versions change, and not on every run.
"""

MOST_OF_SD = 0.05
"""The share of a posterior sd that they may differ by."""


@dataclass(frozen=True)
class Gap:
    """The largest differences over all quantities: in combined errors, and in posterior sds."""

    errors: float
    of_sd: float


def quantities(cost_to_go: np.ndarray, precision: np.ndarray, arrivals: np.ndarray) -> np.ndarray:
    """(chain, draw, …): contrasts with the level removed, then the level, then the precision.

    The level is the mean weighted by arrivals; tracks say nothing of it, and the prior places it.
    """
    level = cost_to_go @ (arrivals / arrivals.sum())
    return np.concatenate(
        [cost_to_go - level[..., None], level[..., None], precision[..., None]], axis=-1
    )


def estimates(draws: np.ndarray, statistic: str) -> tuple[np.ndarray, np.ndarray]:
    """A statistic of every quantity, and its Monte Carlo standard error."""
    axes = {"chain_axis": 0, "draw_axis": 1}
    if statistic == "quantile":
        values = np.quantile(draws, QUANTILES, axis=(0, 1))
        errors = [
            array_stats.mcse(draws, **axes, method="quantile", prob=prob) for prob in QUANTILES
        ]
        return values, np.stack(errors)
    if statistic == "mean":
        return draws.mean(axis=(0, 1)), np.asarray(array_stats.mcse(draws, **axes, method="mean"))
    # ArviZ 0.8 takes the effective draws of the mean for those of the sd, which NUTS, whose draws
    # tend to lie on either side of the mean in turn, has several times fewer of
    effective = array_stats.ess(draws, **axes, method="sd")
    squares = (draws - draws.mean(axis=(0, 1))) ** 2
    variance = squares.mean(axis=(0, 1))
    return np.sqrt(variance), squares.std(axis=(0, 1)) / np.sqrt(4 * variance * effective)


def gaps(ours: np.ndarray, theirs: np.ndarray) -> dict[str, Gap]:
    """The largest differences of means, sds and quantiles."""
    sd = theirs.std(axis=(0, 1), ddof=1)
    found = {}
    for statistic in STATISTICS:
        (one, error), (other, its_error) = (estimates(x, statistic) for x in (ours, theirs))
        away = np.abs(one - other)
        found[statistic] = Gap(
            float(np.max(away / np.hypot(error, its_error))), float(np.max(away / sd))
        )
    return found
