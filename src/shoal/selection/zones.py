"""Rules of thumb for social animals: align, or keep apart, align and follow by distance."""

import math
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.basis import Term, Terms
from shoal.errors import InputError
from shoal.moves import AloneFamily, Decisions, MoveFamily, decisions
from shoal.passive.estimating import most_probable
from shoal.precision import as_jax
from shoal.states import Bearing, Distance, LocalMisalignment, Scene, StateSpace

HEADING, GAP, DIRECTION = "local_misalignment", "neighbour_distance", "neighbour_bearing"
SOCIAL = (HEADING, GAP, DIRECTION)
BINS, DISTANCES = 24, 8
"""Of the reading that baselines have where the states compared lack an axis."""

FEW = 2000
"""Decisions by which radii are chosen, evenly spread."""

ROUNDS, RIDGE = 25, 1e-3


def social_reading(tracks: Any, like: Decisions, space: StateSpace | None = None) -> Decisions:
    """The same decisions with misalignment, distance and bearing of neighbours."""
    taken = like.headings
    words: dict[str, Any] = {}
    if taken is not None:
        words = {
            "heading_frames": taken.heading_frames,
            "minimum_step": taken.minimum_step,
            "tracker_headings": taken.tracker_headings,
        }
    return decisions(tracks, space or _space(tracks, words), like.moves, progress=False, **words)


def _space(tracks: Any, words: dict[str, Any]) -> StateSpace:
    """The states, with a tenth of the distances in each bin or about so."""
    gaps = [Distance((0.0, 1.0)).values(Scene.of(part, **words)).ravel() for part in tracks]
    known = np.concatenate(gaps)
    known = known[np.isfinite(known)]
    if not known.size:
        raise InputError("no animal of these tracks has a neighbour")
    edges = np.unique(np.quantile(known, np.linspace(0.1, 0.95, DISTANCES)))
    return StateSpace(
        LocalMisalignment(BINS, include_self=False),
        Distance(np.concatenate([[0.0], edges[edges > 0]]), beyond=True),
        Bearing(bins=BINS),
    )


def alignment() -> Terms:
    """One strength: the cosine of the misalignment, as in Vicsek's model."""
    return Terms((Term(HEADING, "cos"),))


def zone_terms(repulsion: float, alignment: float) -> Terms:
    """Three strengths, as in Couzin's model, of the nearest neighbour.

    Its bearing where it is nearer than the first radius and where it is farther than the second,
    the misalignment between them.
    """
    zones = ((DIRECTION, 0.0, repulsion), (HEADING, repulsion, alignment))
    found = [
        Term(axis, "cos", (GAP, low, high))
        for axis, low, high in (*zones, (DIRECTION, alignment, math.inf))
        if low < high
    ]
    return Terms(tuple(found))


def zones(seen: Decisions) -> Terms:
    """The zones whose radii make the decisions to learn from most probable."""
    axis = seen.space.axes[seen.space.names.index(GAP)]
    radii = [float(edge) for edge in np.asarray(axis.edges)[:-1]]  # type: ignore[attr-defined]
    some = seen.take(np.unique(np.linspace(0, seen.total - 1, min(seen.total, FEW)).astype(int)))
    weights = passive_weights(some)
    best, found = -math.inf, zone_terms(*radii[:2])
    for near, far in combinations_with_replacement(radii, 2):
        terms = zone_terms(near, far)
        columns = np.asarray(terms.scaled(seen.space).map.dense())
        height, _ = most_likely(some, columns, weights)
        if height > best:
            best, found = height, terms
    return found


def passive_weights(some: Decisions, u: Any = None) -> Float[np.ndarray, "n k"]:
    """The passive chance of every candidate, by the passive moves that describe all moves best."""
    if u is None:
        u = most_probable(AloneFamily.of(some.moves, some.places, some.candidates), some.moved)
    family = MoveFamily.of(some.moves, some.places, some.candidates)
    weights = np.asarray(family.at(as_jax(u)).weights).T
    return np.broadcast_to(weights, some.states.shape)


def most_likely(
    some: Decisions, columns: Float[np.ndarray, "J terms"], weights: Float[np.ndarray, "n k"]
) -> tuple[float, Float[np.ndarray, " terms"]]:
    """The highest log likelihood of the choice among candidates, and the strengths there.

    A conditional logit by Newton's method: it is concave, and each step is halved until it climbs.
    """
    columns = some.on_places(columns.T).T
    there, ends = columns[some.states], columns[some.ends]
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)
    strength = np.zeros(columns.shape[1])

    def height(at: Float[np.ndarray, " terms"]) -> tuple[float, Float[np.ndarray, "n k"]]:
        logs = log_weights - there @ at
        top = logs.max(axis=1, keepdims=True)
        chances = np.exp(logs - top)
        total = chances.sum(axis=1, keepdims=True)
        value = -float((ends @ at).sum()) - float((top + np.log(total)).sum())
        return value - 0.5 * RIDGE * float(at @ at), chances / total

    now, chances = height(strength)
    for _ in range(ROUNDS):
        weighed = chances[..., None] * there
        mean = weighed.sum(axis=1)
        slope = (mean - ends).sum(axis=0) - RIDGE * strength
        flat = there.reshape(-1, strength.size)
        curved = weighed.reshape(flat.shape).T @ flat - mean.T @ mean
        step = np.linalg.solve(curved + RIDGE * np.eye(strength.size), slope)
        while True:
            ahead, new = height(strength + step)
            if ahead >= now or np.abs(step).max() < 1e-9:
                break
            step = step / 2
        gained, now, chances, strength = ahead - now, ahead, new, strength + step
        if gained < 1e-6:
            break
    return now, strength
