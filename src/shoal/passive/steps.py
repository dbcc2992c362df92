"""Steps along one axis as a matrix p̄(j | i), with widths that JAX may trace."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

from shoal.errors import InputError
from shoal.states import Axis, Circular, Folded, Interval, Numbered

FLOOR = 1e-10
"""The share of learned steps that go anywhere with equal chance."""

FARTHEST = 1e15
"""Spans of an axis that stand for infinity."""

LAPS = 7
"""Round the circle, either way, that a normal step is followed."""

STARTS = 5
"""Places in a bin from which steps along an interval are taken."""


def normal_steps(axis: Axis, sd: Any) -> Float[Array, "bins bins"]:
    """A normal step from the centre of the bin: ``walk_kernel`` where the sd is traced."""
    if isinstance(axis, Circular):
        return _normalised(_wrapped(axis, sd))
    if isinstance(axis, Folded):
        _, one_of_each = np.unique(axis.fold, return_index=True)
        from_one = normal_steps(axis.circle, sd)[one_of_each]
        return from_one @ jnp.asarray(axis.fold[:, None] == np.arange(axis.size), dtype=float)
    low, high = _edges(axis)
    edges = np.append(low, high[-1]) - axis.centres[:, None]
    beyond = ndtr(-np.abs(edges) / sd)  # so small a tail is right on both sides
    near, far = beyond[:, :-1], beyond[:, 1:]
    outside = jnp.where(edges[:, :-1] >= 0, near - far, far - near)
    straddling = (edges[:, :-1] < 0) & (edges[:, 1:] > 0)
    return _normalised(jnp.where(straddling, 1 - near - far, outside))


def mixed_steps(axis: Axis, sd: Any, wide: Any, share: Any) -> Float[Array, "bins bins"]:
    """A normal step, or with some chance a wider one."""
    return (1 - share) * normal_steps(axis, sd) + share * normal_steps(axis, wide)


def heavy_steps(axis: Axis, width: Any) -> Float[Array, "bins bins"]:
    """A Cauchy step from anywhere in the bin, ends renormalised; numbered states stay or jump."""
    if isinstance(axis, Numbered):
        stay = 1 / (1 + width)
        return stay * jnp.eye(axis.size) + (1 - stay) / axis.size
    low, high = _edges(axis)
    at = (np.arange(STARTS) + 0.5) / STARTS - 0.5
    starts = axis.centres[:, None] + axis.widths[:, None] * at
    mass = jnp.arctan((high - starts[..., None]) / width)
    mass = mass - jnp.arctan((low - starts[..., None]) / width)
    return _normalised(mass.mean(axis=1))


def _wrapped(axis: Circular, sd: Any) -> Float[Array, "bins bins"]:
    """Normal masses of bins round the circle, from each bin: one row, turned.

    Left and right are alike, so the tail is looked up once for every edge on one side.
    """
    bins = axis.size
    beyond = ndtr(-axis.step * (np.arange(LAPS * bins + 1) + 0.5) / sd)
    away = jnp.concatenate([1 - 2 * beyond[:1], beyond[:-1] - beyond[1:]])
    right, left = away[:-1], away[:0:-1]
    row = (right + left).reshape(LAPS, bins).sum(axis=0)
    # p̄(j | i) is row[j − i]; by reshaping, whose slope costs less than that of looking it up
    return jnp.tile(jnp.roll(row, -1), bins + 1).reshape(bins, bins + 1)[::-1, :bins]


def _edges(axis: Axis) -> tuple[Any, Any]:
    if not isinstance(axis, Interval):
        raise InputError(
            f"steps need a distance between states, and axis {axis.name!r} has none: pass a matrix "
            "of passive probabilities instead"
        )
    edges = np.asarray(axis.edges)
    high = edges[1:].copy()
    if axis.beyond:
        # the last bin holds all that is farther; infinity itself would have no slope in a width
        high[-1] = edges[-1] + FARTHEST * (edges[-1] - edges[0])
    return edges[:-1], high


def _normalised(mass: Float[Array, "bins bins"]) -> Float[Array, "bins bins"]:
    """Rows that sum to one, with a floor: where nothing is possible no search finds its way."""
    shares = mass / mass.sum(axis=1, keepdims=True)
    return (1 - FLOOR) * shares + FLOOR / mass.shape[1]
