"""What features that are angles share: a circle of bins, or its two halves folded together."""

from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.angles import difference
from shoal.states.axes import Circular, Folded

Steps = Float[np.ndarray, "time individuals 2"]
PerAnimal = Float[np.ndarray, "time individuals"]


def angular_axis(name: str, bins: Any, absolute: bool) -> Circular | Folded:
    """The whole circle, or with ``absolute`` its halves folded together."""
    return Folded(name, bins) if absolute else Circular(name, bins)


def bearing(step: Steps, headings: PerAnimal) -> PerAnimal:
    """The turn from each heading to the direction of a step; NaN where either is undefined."""
    known = np.isfinite(headings) & np.isfinite(step[..., 0]) & np.isfinite(step[..., 1])
    known &= (step[..., 0] != 0) | (step[..., 1] != 0)
    towards = np.rad2deg(np.arctan2(step[..., 1], step[..., 0]))
    turn = difference(np.where(known, towards, 0.0), np.where(known, headings, 0.0))
    return np.where(known, turn, np.nan)
