"""What tracks can tell at all: which states they compare, and what a basis cannot say."""

from typing import TYPE_CHECKING

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from shoal.passive import PassiveOperator
from shoal.passive.operator import rows_of
from shoal.precision import as_jax

if TYPE_CHECKING:
    from shoal.posterior.fit import Fit

LARGEST = 3000
"""States up to which the support of passive dynamics is looked at row by row."""

LEAST_EXPECTED = 5.0
"""Arrivals that must be expected before a state's misfit counts."""


def compared_parts(
    passive: PassiveOperator, departures: Int[np.ndarray, "*grid"]
) -> Int[np.ndarray, " J"]:
    """A number for each state: the same where tracks can compare two states, −1 where none.

    A departure compares all states that can be reached from there in one step. States that no chain
    of such comparisons joins have costs whose difference no tracks can tell.
    """
    size = departures.size
    if size > LARGEST:
        return np.zeros(size, dtype=int)
    left = np.flatnonzero(departures.ravel() > 0)
    rows = np.asarray(rows_of(passive, as_jax(left))).reshape(left.size, size)
    reach: Bool[np.ndarray, "left J"] = rows > 0
    if reach.all():
        return np.zeros(size, dtype=int)
    origin, destination = np.nonzero(reach)
    links = coo_array(
        (np.ones(origin.size), (origin + size, destination)), shape=(size + len(left),) * 2
    )
    _, labels = connected_components(links, directed=False)
    found = labels[:size]
    _, found[:] = np.unique(found, return_inverse=True)
    return np.where(reach.any(axis=0), found, -1)


def misfit(fit: "Fit") -> tuple[int, Float[np.ndarray, "2"], float]:
    """The state where arrivals differ most from what the fit expects, both, and how many sds.

    With a coefficient for each state arrivals are met but for the pull of the prior. What is left
    beyond chance is what the basis cannot say.
    """
    operator, discount = fit.operator, float(fit.model.discount)
    observed = fit.data["observed_data"].to_dataset()
    departures = as_jax(observed["departures"].values, dtype=float)
    arrivals = np.asarray(observed["arrivals"].values, dtype=float)
    draws = fit.sampled.values
    v = draws.reshape(-1, *draws.shape[2:]).mean(axis=0)
    z = np.exp(discount * (v.min() - v))
    expected = np.asarray(_expected(operator, departures, as_jax(z)))
    often = expected >= LEAST_EXPECTED
    sds = np.where(often, (arrivals - expected) / np.sqrt(np.maximum(expected, 1.0)), 0.0)
    worst = int(np.argmax(np.abs(sds)))
    pair = np.array([arrivals.ravel()[worst], expected.ravel()[worst]])
    return worst, pair, float(abs(sds.ravel()[worst]))


@eqx.filter_jit
def _expected(
    operator: PassiveOperator, departures: Float[Array, "*grid"], z: Float[Array, "*grid"]
) -> Float[Array, "*grid"]:
    """How often the policy p̄ z / P̄ z would enter each state."""
    left, reached = departures > 0, operator.apply_positive(z)
    return z * operator.adjoint(jnp.where(left, departures / jnp.where(left, reached, 1.0), 0.0))
