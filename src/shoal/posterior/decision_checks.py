"""Whether candidates are enough, bins reach far enough, and turns still depend on each other."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int
from scipy.linalg import cho_factor, cho_solve
from scipy.stats import rankdata

from shoal.moves import Decisions, MoveFamily
from shoal.moves.between import running_axes
from shoal.posterior.decision_likelihood import DecisionLikelihood
from shoal.posterior.quadratic import amplitude_of
from shoal.states import Interval, SpeedFeature

FEWEST, MOST_CHECKED = 30, 20_000
"""Decisions that a correlation is taken over."""

WELL_KNOWN = 20
"""Decisions from which on a state's cost is looked at."""


FLATTER = 1 / 3
"""Of costs of distances, too flat by this times the square of a narrow bin over a step."""


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
    known = likelihood.by_state(likelihood.arrivals) >= WELL_KNOWN
    if not known.any():
        return float("nan")
    functions = likelihood.functions
    centred = functions[known] - np.average(functions[known], axis=0)
    spread = centred * amplitude
    sd = np.sqrt(np.einsum("jn,nj->j", spread, cho_solve(factor, spread.T)))
    return float(np.max(np.abs(centred @ moved) / np.maximum(sd, 1e-12)[:, None]))


def residual_correlations(
    decisions: Decisions,
    likelihood: DecisionLikelihood,
    positions: Float[np.ndarray, "draws unknowns"],
) -> dict[str, float]:
    """Whether turns still depend on each other, by their quantiles under the fitted policy.

    ``turn_correlation`` is that of a turn's quantile with the rank of the turn before. What animals
    prefer makes successive turns depend on each other; what is left over is persistence where it is
    positive, and errors of measurement where it is negative. ``frame_correlation`` is that of the
    quantiles of animals of a group in the same frame, and ``frame_pairs`` how many pairs of animals
    it is taken over. NaN where there are too few.
    """
    draws = positions[np.unique(np.linspace(0, len(positions) - 1, 200).astype(int))]
    costs = np.mean([_costs(likelihood, draw) for draw in draws], axis=0)
    q = decisions.on_places(likelihood.functions @ costs)
    _, hyper = likelihood.model.split(jnp.asarray(positions.mean(axis=0)))
    passive = likelihood.model.parts(hyper)[1]

    def quantiles(some: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        few = decisions.take(some)
        family = MoveFamily.of(decisions.moves, decisions.places, few.candidates)
        chances = np.asarray(_weights(family, passive)).T * np.exp(q.min() - q[few.states])
        turns = decisions.quadrature.turns(few.turn_before, few.which)
        beyond = turns - few.turn[:, None]
        below = np.where(np.abs(beyond) < 1e-3, 0.5, beyond < 0)  # half of what is the move itself
        return np.asarray((chances * below).sum(axis=1) / chances.sum(axis=1))

    return {
        "turn_correlation": _with_turn_before(decisions, quantiles),
        **_with_others(decisions, quantiles),
    }


def _with_turn_before(decisions: Decisions, quantiles: Any) -> float:
    """The correlation of quantiles with the turn before."""
    known = np.flatnonzero(decisions.turn_before != 0)
    if known.size < FEWEST:
        return float("nan")
    some = known[np.unique(np.linspace(0, known.size - 1, MOST_CHECKED).astype(int))]
    before = rankdata(decisions.turn_before[some])
    return float(np.corrcoef(np.stack([quantiles(some), before]))[0, 1])


def _with_others(decisions: Decisions, quantiles: Any) -> dict[str, float]:
    """The correlation of quantiles among animals that decide in the same frame of a group."""
    records = decisions.records
    _, moment, size = np.unique(
        np.stack([records.group, records.frame]), axis=1, return_inverse=True, return_counts=True
    )
    moment = moment.ravel()
    some = np.flatnonzero(size[moment] > 1)
    if some.size > MOST_CHECKED:  # whole frames
        every = -(-some.size // MOST_CHECKED)
        some = some[moment[some] % every == 0]
    _, moment, size = np.unique(moment[some], return_inverse=True, return_counts=True)
    pairs = float(size @ (size - 1)) / 2
    if pairs < FEWEST:
        return {"frame_correlation": float("nan"), "frame_pairs": pairs}
    away = quantiles(some) - 0.5
    together = np.bincount(moment, away) ** 2 - np.bincount(moment, away**2)
    found = float(together.sum() / (2 * pairs) / np.mean(away**2))
    return {"frame_correlation": found, "frame_pairs": pairs}


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


def too_flat(decisions: Decisions) -> dict[str, float]:
    """By distance whose narrow bins are wide beside a step: how much too flat its costs come out.

    Moves within a narrow bin count as alike. What that takes off grows with the square of the width
    over a typical step; the factor was measured on simulated groups that keep a distance.
    """
    space, found = decisions.space, {}
    step = float(np.median(decisions.step))
    for number in running_axes(space, decisions.moves):
        if isinstance(space.parts[number], SpeedFeature):
            continue
        narrow: Any = decisions.places.axes[number]
        inside = narrow.locate(
            np.clip(decisions.decided[:, number], narrow.edges[0], narrow.edges[-1])
        )
        wide = float(np.median(narrow.widths[inside])) / step
        found[narrow.name] = 1 - 1 / (1 + FLATTER * wide**2)
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
