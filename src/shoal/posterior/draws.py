"""What every method hands over: draws of the unknowns and how they came about."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Draws:
    """Draws from the posterior, or from what stands for it.

    Attributes
    ----------
    positions
        (β, t) of every draw.
    statistics
        One number per draw, by name: log_posterior, log_approximation, diverging, energy, …
    traces
        One number per iteration of an optimiser, by name.
    facts
        Single numbers and words, by name: converged, iterations, step_size, …
    """

    positions: Float[np.ndarray, "chain draw unknowns"]
    statistics: dict[str, Float[np.ndarray, "chain draw"]] = field(default_factory=dict)
    traces: dict[str, Float[np.ndarray, " iterations"]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def centre(self) -> Float[np.ndarray, " unknowns"]:
        """The mean of all draws, where another search may begin."""
        return self.positions.mean(axis=(0, 1))
