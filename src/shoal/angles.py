"""Degrees on a circle, in [−180, 180); of NumPy's arrays or any that know their namespace."""

from typing import Any

import numpy as np
from jaxtyping import Float

Angles = Float[Any, "*#shape"] | float


def namespace(values: Any) -> Any:
    """The functions that go with an array: NumPy's, or JAX's inside a simulation."""
    return values.__array_namespace__() if hasattr(values, "__array_namespace__") else np


def wrap(degrees: Angles) -> Float[Any, "*shape"]:
    """The same direction in [−180, 180)."""
    xp = namespace(degrees)
    wrapped = xp.mod(xp.asarray(degrees, dtype=float) + 180.0, 360.0)
    # a tiny negative angle is rounded up to a full turn by mod
    return xp.asarray(xp.where(wrapped >= 360.0, 0.0, wrapped) - 180.0)


def difference(to: Angles, start: Angles) -> Float[Any, "*shape"]:
    """The turn from ``start`` to ``to`` by the shorter way, in [−180, 180)."""
    return wrap(to - start)
