"""When a group arrives: how far it is from a target, and how long it takes to get there."""

from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.measures.shape import (
    PerFrame,
    PerGroup,
    Places,
    checked_rate,
    is_number,
    length,
    seen,
)
from shoal.tracks.arena import Arena, shortest


def target_distance(positions: Places, target: Any, arena: Arena | None = None) -> PerFrame:
    """How far the animal nearest to the target is from it.

    ``target`` is a point (x, y), or its places (…, time, 2) where it moves.
    """
    place = checked_places(target, positions.shape)
    away = length(shortest(seen(positions) - place, arena))
    closest = np.where(np.isnan(away), np.inf, away).min(axis=-1, initial=np.inf)
    return np.where(np.isinf(closest), np.nan, closest)


def time_to_target(
    positions: Places, target: Any, reach: Any, fps: Any = None, arena: Arena | None = None
) -> PerGroup:
    """Until the first animal is within ``reach`` of the target: seconds, or frames without fps.

    It counts from the first frame in which anybody is seen; NaN where nobody gets there.
    """
    distance = target_distance(positions, target, arena)
    with np.errstate(invalid="ignore"):
        there = distance <= checked_reach(reach)
    first = np.isfinite(positions).all(axis=-1).any(axis=-1).argmax(axis=-1)
    frames = (there.argmax(axis=-1) - first) / checked_rate(fps)
    return np.where(there.any(axis=-1), frames, np.nan)


def checked_reach(reach: Any) -> float:
    """A distance within which a target counts as reached."""
    if not is_number(reach) or not reach > 0:
        raise InputError(f"the reach of a target is a positive distance, got {reach!r}")
    return float(reach)


def checked_places(target: Any, shape: tuple[int, ...]) -> Float[np.ndarray, "*shape 2"]:
    """Where a target was, to be set against positions of this shape."""
    try:
        place = np.asarray(target, dtype=float)
    except (TypeError, ValueError):
        place = np.full(1, np.nan)
    fixed = place.shape == (2,) and bool(np.all(np.isfinite(place)))
    batch, frames = shape[:-3], shape[-3]
    if fixed or place.shape in {(frames, 2), (*batch, frames, 2)}:
        return place if fixed else place[..., None, :]
    raise InputError(
        f"a target is a point (x, y), or its places (time, 2) in {frames} frames; got "
        f"{target!r:.80}"
    )
