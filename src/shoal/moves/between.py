"""Costs of distances between the middles of bins: straight lines, on a grid of narrower bins.

A step is often much shorter than a bin of a distance is wide. Were the cost the same all over a
bin, moves within it would say nothing, and costs would come out too flat. The same holds for narrow
bins, by less: by about a third of the square of how wide they are beside a typical step.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from shoal.linear import AlongAxis, LinearMap
from shoal.moves.specification import Turns
from shoal.precision import as_jax
from shoal.states import (
    Distance,
    Interval,
    SpeedFeature,
    StateSpace,
    TargetDistance,
    WallDistance,
)

FINEST = 1_000_000
"""Narrow bins of all features together, at most."""

PART = 0.15
"""How wide a narrow bin of a distance is, over a typical step, where there are not too many.

With ever more decisions, narrow bins of 1, 0.5, 0.3 and 0.15 steps take 25, 8, 3 and less than 1 %
off the costs of distances.
"""

LEAST = 1e-3
"""Of the way from one bin to the next, that moves have to lead for costs to be learned."""

SPEED_PARTS = 8
"""Narrow bins in each bin of a speed."""

RUNNING = (Distance, TargetDistance, WallDistance, SpeedFeature)
"""Features whose costs run between the middles of bins."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Bins of a state space cut into narrower ones.

    Attributes
    ----------
    space
        The narrower bins.
    weights
        By the number of each axis that is cut: for every narrow bin, how much of the cost of each
        bin its own cost is.
    """

    space: StateSpace
    weights: dict[int, Float[np.ndarray, "narrow bins"]]

    def tells_apart(self, places: Int[np.ndarray, "*any"]) -> bool:
        """Whether costs of some of these narrow bins can differ by more than next to nothing."""
        index = np.unravel_index(np.unique(places), self.space.shape)
        return any(
            np.ptp(self.weights[n][own], axis=0).max() > LEAST
            if n in self.weights
            else np.ptp(own) > 0
            for n, own in enumerate(index)
        )

    def maps(self, shape: tuple[int, ...]) -> list[LinearMap]:
        """From costs of bins to costs of narrow bins, one axis after the other."""
        found: list[LinearMap] = []
        for axis, weight in self.weights.items():
            wider = (*shape[:axis], len(weight), *shape[axis + 1 :])
            found.append(AlongAxis(shape, wider, as_jax(weight), axis))
            shape = wider
        return found

    def fine(self, values: Float[np.ndarray, "*any J"], shape: tuple[int, ...]) -> Any:
        """Numbers of states, such as costs, in every narrow bin."""
        grid = np.asarray(values).reshape(*values.shape[:-1], *shape)
        for axis, weight in self.weights.items():
            place = grid.ndim - len(shape) + axis
            grid = np.moveaxis(np.tensordot(grid, weight, axes=(place, 1)), -1, place)
        return grid.reshape(*values.shape[:-1], self.space.size)


def grid_of(space: StateSpace, moves: Turns, typical: float) -> Grid | None:
    """Narrow bins for the distances and speeds among features; None where there are none.

    Parameters
    ----------
    typical
        The length of a typical step.
    """
    running = running_axes(space, moves)
    wide = 1.0
    while True:
        parts = {
            number: _parts(space.axes[number], space.parts[number], wide * PART * typical)
            for number in running
        }
        parts = {number: each for number, each in parts.items() if each.max() > 1}
        size = space.size
        for number, each in parts.items():
            size = size // space.axes[number].size * int(each.sum())
        if size <= max(FINEST, space.size):
            break
        wide *= 1.2
    if not parts:
        return None
    axes = list(space.axes)
    weights = {}
    for number, each in parts.items():
        axis: Any = axes[number]
        ends = zip(axis.edges[:-1], axis.edges[1:], each.tolist(), strict=True)
        edges = [np.linspace(low, high, k + 1)[:-1] for low, high, k in ends]
        fine = Interval(axis.name, (*np.concatenate(edges), axis.edges[-1]), axis.unit)
        weights[number] = _straight(axis.centres, fine.centres, beyond=axis.beyond)
        axes[number] = fine
    return Grid(StateSpace(*axes), weights)


def running_axes(space: StateSpace, moves: Turns) -> list[int]:
    """The axes along which costs run between the middles of bins."""
    if getattr(moves, "between", "bins") != "lines":
        return []
    return [
        number
        for number, (axis, kind) in enumerate(zip(space.axes, space.parts, strict=True))
        if isinstance(axis, Interval) and axis.size > 1 and isinstance(kind, RUNNING)
    ]


def on_lines(
    space: StateSpace, running: Sequence[int], costs: Any, values: list[Any], xp: Any = np
) -> Any:
    """Costs at these values of features: straight lines along some axes, bins along the others.

    The outer lines go on to the ends; a last bin that also holds what is beyond has the cost of its
    middle from there on.
    """
    choices: list[list[tuple[Any, Any]]] = []
    for number, (axis, value) in enumerate(zip(space.axes, values, strict=True)):
        if number in running:
            left, share = _between(xp.asarray(axis.centres), xp.nan_to_num(value), xp)
            share = xp.minimum(share, 1.0) if getattr(axis, "beyond", False) else share
            choices.append([(left, 1 - share), (left + 1, share)])
        else:
            choices.append([(xp.maximum(axis.locate(value), 0), 1.0)])
    total = 0.0
    for corner in itertools.product(*choices):
        code, share = 0, 1.0
        for size, (index, much) in zip(space.shape, corner, strict=True):
            code, share = code * size + index, share * much
        total = total + share * costs[code]
    return total


def _parts(axis: Any, kind: Any, width: float) -> Int[np.ndarray, " bins"]:
    """Into how many parts each bin is cut."""
    if isinstance(kind, SpeedFeature):
        return np.full(axis.size, SPEED_PARTS)
    return np.maximum(1, np.ceil(np.diff(axis.edges) / width - 1e-9).astype(int))


def _between(middles: Any, values: Any, xp: Any = np) -> tuple[Any, Any]:
    """The bin at or before each value, and how far the value is on the way to the next middle."""
    left = xp.clip(xp.searchsorted(middles, values) - 1, 0, len(middles) - 2)
    return left, (values - middles[left]) / (middles[left + 1] - middles[left])


def _straight(
    bins: Float[np.ndarray, " bins"], narrow: Float[np.ndarray, " narrow"], *, beyond: bool
) -> Float[np.ndarray, "narrow bins"]:
    """Weights of straight lines between the middles of bins; the outer ones go on to the ends.

    A last bin that also holds what is beyond has the cost of its middle from there on.
    """
    left, share = _between(bins, narrow)
    share = np.minimum(share, 1.0) if beyond else share
    weights = np.zeros((len(narrow), len(bins)))
    rows = np.arange(len(narrow))
    weights[rows, left] = 1 - share
    weights[rows, left + 1] = share
    return weights
