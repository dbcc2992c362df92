"""Whether candidates are enough, bins reach far enough, and turns depend on the turn before."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import rankdata

from shoal.moves import Decisions, MoveFamily
from shoal.posterior.decision_likelihood import DecisionLikelihood
from shoal.posterior.nested import amplitude_of
from shoal.states import Interval

FEWEST, MOST_CHECKED = 30, 20_000
"""Decisions that a correlation is taken over."""

WELL_KNOWN = 20
"""Decisions from which on a state's cost is looked at."""


def quadrature_shift(
    likelihood: DecisionLikelihood, position: Float[np.ndarray, " unknowns"]
) -> float:
    """The largest shift of a cost, in posterior sds, where half of the candidates are left out.

    One Newton step from the posterior's centre, with every second candidate or with the others.
    All of them together are off by less. Where turns are multiples of some degrees, candidates are
    all there is, and exact.
    """
    model = likelihood.model
    assert isinstance(model.family, MoveFamily)
    if model.family.specification.every is not None:
        return 0.0
    xi, hyper = (np.asarray(part) for part in model.split(jnp.asarray(position)))
    amplitude = likelihood.given(hyper).amplitude
    costs = amplitude * xi
    curved = likelihood.curvature(costs, hyper)
    factor = cho_factor(np.eye(amplitude.size) + amplitude[:, None] * curved * amplitude)
    whole, *halves = likelihood.slopes_by_halves(costs, hyper)
    changes = whole - np.stack(halves)
    moved = amplitude[:, None] * cho_solve(factor, amplitude[:, None] * changes.T)
    known = likelihood.arrivals >= WELL_KNOWN
    if not known.any():
        return float("nan")
    functions = likelihood.functions
    centred = functions[known] - np.average(functions[known], axis=0)
    spread = centred * amplitude
    sd = np.sqrt(np.einsum("jn,nj->j", spread, cho_solve(factor, spread.T)))
    return float(np.max(np.abs(centred @ moved) / np.maximum(sd, 1e-12)[:, None]))


def residual_correlation(
    decisions: Decisions,
    likelihood: DecisionLikelihood,
    positions: Float[np.ndarray, "draws unknowns"],
) -> float:
    """Of each turn's quantile under the fitted policy with the rank of the turn before.

    What animals prefer makes successive turns depend on each other; what is left over is
    persistence where it is positive, and errors of measurement where it is negative. NaN where
    there are too few.
    """
    model = likelihood.model
    known = np.flatnonzero(decisions.turn_before != 0)
    if known.size < FEWEST:
        return float("nan")
    some = known[np.unique(np.linspace(0, known.size - 1, MOST_CHECKED).astype(int))]
    draws = positions[np.unique(np.linspace(0, len(positions) - 1, 200).astype(int))]
    q = likelihood.functions @ np.mean([_costs(likelihood, draw) for draw in draws], axis=0)
    few, hyper = decisions.take(some), positions.mean(axis=0)[model.coefficients :]
    family = MoveFamily.of(decisions.moves, decisions.places, few.candidates)
    weights = np.asarray(_weights(family, model.parts(jnp.asarray(hyper))[1])).T
    chances = weights * np.exp(q.min() - q[few.states])
    turns = decisions.quadrature.turns(decisions.turn_before[some], decisions.which[some])
    beyond = turns - decisions.turn[some, None]
    below = np.where(np.abs(beyond) < 1e-3, 0.5, beyond < 0)  # half of what is the move itself
    quantile = (chances * below).sum(axis=1) / chances.sum(axis=1)
    before = rankdata(decisions.turn_before[some])
    return float(np.corrcoef(np.stack([quantile, before]))[0, 1])


def beyond_bins(decisions: Decisions) -> dict[str, tuple[float, float]]:
    """By interval axis: the share of decisions above its last edge, and how far bins should reach.

    Bins should reach to the 99 % quantile of what was decided.
    """
    found = {}
    for axis, values in zip(decisions.space.axes, decisions.decided.T, strict=True):
        if isinstance(axis, Interval) and axis.size > 1:
            share = float(np.mean(values > axis.edges[-1]))
            found[axis.name] = (share, float(np.quantile(values, 0.99)))
    return found


def _costs(
    likelihood: DecisionLikelihood, position: Float[np.ndarray, " unknowns"]
) -> Float[np.ndarray, " n"]:
    """The coefficients of the functions as they are."""
    xi, hyper = likelihood.model.split(jnp.asarray(position))
    basis = likelihood.model.parts(hyper)[0]
    return np.asarray(amplitude_of(likelihood.model, basis)) * np.asarray(xi)


@eqx.filter_jit
def _weights(family: MoveFamily, passive: Float[Array, " passive"]) -> Float[Array, "k #n"]:
    return family.at(passive).weights
