"""Fits, entries and chains made by hand, whose answers can be worked out."""

from functools import cache

import numpy as np
import xarray as xr

import shoal
from shoal.posterior import Fit, Score
from shoal.selection import Comparison
from shoal.selection.verdict import Entry


def fit_of(model, v, parameters=None, transitions=None, method="nuts", lag=1):
    """A fit in one chain with these draws, of costs-to-go and of passive unknowns."""
    v = np.asarray(v, dtype=float)
    dims = ("chain", "draw", *model.space.names)
    variables = {"cost_to_go": (dims, v.reshape(1, len(v), *model.space.shape))}
    if parameters is not None:
        values = np.asarray(parameters, dtype=float)[None]
        variables["parameters"] = (("chain", "draw", "parameter"), values)
    groups = {"posterior": xr.Dataset(variables)}
    if transitions is not None:
        pairs = transitions.pairs
        groups["transitions"] = xr.Dataset(
            {name: ("pair", getattr(pairs, name)) for name in ("origin", "destination", "count")}
        )
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = {"method": method, "lag": lag}
    return Fit(model, tree)


def entry(name, sums, costs=True, dynamics="", counts=None):
    """A model in a comparison, with these bits in each block."""
    sums = np.asarray(sums, dtype=float)
    counts = np.full(sums.size, 10.0) if counts is None else np.asarray(counts, dtype=float)
    return Entry(name, costs, dynamics, Score(sums, counts), sums / counts, -1.0, True)


def comparison(*entries):
    return Comparison(entries, entries[0].score.counts, "the last third")


def walked(matrix, space, animals=20, frames=100, seed=0):
    """Transitions of animals that follow a matrix of chances."""
    rng = np.random.default_rng(seed)
    edges = np.cumsum(matrix, axis=1)
    states = [rng.integers(0, len(matrix), animals)]
    for _ in range(frames - 1):
        draws = rng.random(animals)[:, None]
        states.append(np.minimum((draws > edges[states[-1]]).sum(axis=1), len(matrix) - 1))
    return shoal.count_transitions(list(np.stack(states, axis=1)), space)


@cache
def turning_space():
    return shoal.StateSpace(
        shoal.LocalMisalignment(bins=8, include_self=False),
        shoal.TargetMisalignment((0.0, 0.0), bins=8),
    )
