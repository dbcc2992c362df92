"""What features that are angles share: a circle of bins, or its two halves folded together."""

from typing import Any

from jaxtyping import Float

from shoal.angles import difference, namespace
from shoal.states.axes import Circular, Folded


def angular_axis(name: str, bins: Any, absolute: bool) -> Circular | Folded:
    """The whole circle, or with ``absolute`` its halves folded together."""
    return Folded(name, bins) if absolute else Circular(name, bins)


def bearing(step: Float[Any, "*shape 2"], headings: Float[Any, "*shape"]) -> Float[Any, "*shape"]:
    """The turn from each heading to the direction of a step; NaN where either is undefined."""
    xp = namespace(headings)
    x, y = step[..., 0], step[..., 1]
    known = xp.isfinite(headings) & xp.isfinite(x) & xp.isfinite(y) & ((x != 0) | (y != 0))
    towards = xp.rad2deg(xp.arctan2(y, x))
    turn = difference(xp.where(known, towards, 0.0), xp.where(known, headings, 0.0))
    return xp.where(known, turn, xp.nan)
