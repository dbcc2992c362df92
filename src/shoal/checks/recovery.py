"""Costs that were learned, beside the true ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from shoal.posterior.along import interval

ENOUGH = 20
"""Arrivals from which on a state's interval is asked to hold the truth."""


@dataclass(frozen=True, eq=False)
class Recovery:
    """An estimate and the truth, which has been given the same mean weighted by arrivals."""

    truth: Float[np.ndarray, " *axes"]
    mean: Float[np.ndarray, " *axes"]
    lower: Float[np.ndarray, " *axes"]
    upper: Float[np.ndarray, " *axes"]
    arrivals: Any

    @classmethod
    def of(
        cls, draws: xr.DataArray, truth: Float[np.ndarray, " *axes"], arrivals: Any
    ) -> "Recovery":
        """Draws of costs beside the truth, which is known up to a constant."""
        mean = np.asarray(draws.values.mean(axis=(0, 1)))
        lower, upper = interval(draws)
        right = truth.reshape(mean.shape)
        right = right + np.average(mean - right, weights=arrivals)
        return cls(right, mean, lower, upper, arrivals)

    def seen(self, least: int = 1) -> Bool[np.ndarray, " *axes"]:
        """The states entered at least so often."""
        return np.asarray(self.arrivals >= least)

    @property
    def inside(self) -> Bool[np.ndarray, " *axes"]:
        """Where the 95 % interval holds the truth."""
        return (self.lower <= self.truth) & (self.truth <= self.upper)

    def coverage(self, least: int = 1) -> float:
        """The share of the states entered at least so often whose interval holds the truth."""
        return float(self.inside[self.seen(least)].mean())

    def error(self, least: int = 1) -> float:
        """The root mean square error over these states."""
        return float(np.sqrt(np.mean((self.mean - self.truth)[self.seen(least)] ** 2)))

    def largest_error(self, least: int = 1) -> float:
        """The largest error over these states."""
        return float(np.abs(self.mean - self.truth)[self.seen(least)].max())

    def correlation(self, least: int = 1) -> float:
        """Of estimate and truth over these states."""
        seen = self.seen(least)
        return float(np.corrcoef(self.mean[seen], self.truth[seen])[0, 1])

    def slope(self, least: int = 1) -> float:
        """Of the estimate on the truth: 1 where magnitudes are right."""
        seen = self.seen(least)
        return float(np.polyfit(self.truth[seen], self.mean[seen], 1)[0])
