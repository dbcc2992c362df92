"""Whether candidate moves are enough, and whether turns still depend on the turn before."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import rankdata

from shoal.moves import Decisions, MoveFamily
from shoal.posterior.curvature import likelihood_curvature
from shoal.posterior.hierarchy import Hierarchy

FEWEST, MOST_CHECKED = 30, 20_000
"""Decisions that a correlation is taken over."""

WELL_KNOWN = 20
"""Decisions from which on a state's cost is looked at."""


def quadrature_shift(model: Hierarchy, position: Float[np.ndarray, " unknowns"]) -> float:
    """The largest shift of a cost, in posterior sds, between all candidates and half of them.

    One Newton step from the posterior's centre, with every second candidate and with the others.
    Half of the difference is what half as many candidates would change; all of them are off by
    less. Where turns are multiples of some degrees, candidates are all there is, and exact.
    """
    assert isinstance(model.family, MoveFamily)
    if model.family.specification.every is not None:
        return 0.0
    xi, hyper = model.split(jnp.asarray(position))
    amplitude = np.asarray(model.basis.amplitude(model.parts(hyper)[0]))
    costs = jnp.asarray(amplitude) * xi
    curved = likelihood_curvature(model.plain(hyper), costs)
    factor = cho_factor(np.eye(amplitude.size) + amplitude[:, None] * curved * amplitude)
    slopes = [np.asarray(_slope(_some(model, first), costs, hyper)) for first in (0, 1)]
    moved = amplitude * cho_solve(factor, amplitude * (slopes[0] - slopes[1]) / 2)
    functions = np.asarray(model.basis.map.dense())
    known = np.asarray(model.arrivals).ravel() >= WELL_KNOWN
    if not known.any():
        return float("nan")
    centred = functions[known] - np.average(functions[known], axis=0)
    spread = centred * amplitude
    sd = np.sqrt(np.einsum("jn,nj->j", spread, cho_solve(factor, spread.T)))
    return float(np.max(np.abs(centred @ moved) / np.maximum(sd, 1e-12)))


def _some(model: Hierarchy, first: int) -> Hierarchy:
    """The same with every second candidate."""
    family = model.family
    assert isinstance(family, MoveFamily) and family.candidates is not None
    given = family.candidates
    half = slice(first, None, 2)
    fewer = eqx.tree_at(
        lambda c: (c.states, c.turn, c.log_base),
        given,
        (given.states[half], given.turn[half], given.log_base[half]),
    )
    if given.possible is not None:
        fewer = eqx.tree_at(lambda c: c.possible, fewer, given.possible[half])
    if given.log_step is not None:
        fewer = eqx.tree_at(lambda c: c.log_step, fewer, given.log_step[half])
    return eqx.tree_at(lambda m: m.family.candidates, model, fewer)


@eqx.filter_jit
def _slope(
    model: Hierarchy, costs: Float[Array, " n"], hyper: Float[Array, " hyper"]
) -> Float[Array, " n"]:
    density = model.plain(hyper)
    return jax.grad(lambda c: density.log_likelihood(density.basis.apply(c)))(costs)


def residual_correlation(
    decisions: Decisions, model: Hierarchy, positions: Float[np.ndarray, "draws unknowns"]
) -> float:
    """Of each turn's quantile under the fitted policy with the rank of the turn before.

    What animals prefer makes successive turns depend on each other; what is left over is
    persistence where it is positive, and errors of measurement where it is negative. NaN where
    there are too few.
    """
    known = np.flatnonzero(decisions.turn_before != 0)
    if known.size < FEWEST:
        return float("nan")
    some = known[np.unique(np.linspace(0, known.size - 1, MOST_CHECKED).astype(int))]
    draws = positions[np.unique(np.linspace(0, len(positions) - 1, 200).astype(int))]
    q = np.asarray(jax.lax.map(model.cost_to_go, jnp.asarray(draws))).mean(axis=0).ravel()
    hyper = jnp.asarray(positions.mean(axis=0)[model.coefficients :])
    few = decisions.take(some)
    family = MoveFamily.of(decisions.moves, decisions.space, few.candidates)
    weights = np.asarray(family.at(model.parts(hyper)[1]).weights).T
    chances = weights * np.exp(q.min() - q[few.states])
    turns = decisions.quadrature.turns(decisions.turn_before[some])
    beyond = turns - decisions.turn[some, None]
    below = np.where(np.abs(beyond) < 1e-3, 0.5, beyond < 0)  # half of what is the move itself
    quantile = (chances * below).sum(axis=1) / chances.sum(axis=1)
    before = rankdata(decisions.turn_before[some])
    return float(np.corrcoef(np.stack([quantile, before]))[0, 1])
