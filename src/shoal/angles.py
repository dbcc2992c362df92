"""Degrees on a circle, in [−180, 180)."""

import numpy as np
from jaxtyping import Float


def wrap(degrees: Float[np.ndarray, "*shape"] | float) -> Float[np.ndarray, "*shape"]:
    """The same direction in [−180, 180)."""
    wrapped = np.mod(np.asarray(degrees, dtype=float) + 180.0, 360.0)
    # a tiny negative angle is rounded up to a full turn by mod
    return np.asarray(np.where(wrapped >= 360.0, 0.0, wrapped) - 180.0)


def difference(
    to: Float[np.ndarray, "*#shape"] | float, start: Float[np.ndarray, "*#shape"] | float
) -> Float[np.ndarray, "*shape"]:
    """The turn from ``start`` to ``to`` by the shorter way, in [−180, 180)."""
    return wrap(np.asarray(to, dtype=float) - np.asarray(start, dtype=float))
