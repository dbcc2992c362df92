"""Animals that prefer nothing, in the continuum: their places are cut into bins afterwards.

Every transition is one step of an animal of its own, from a place drawn from the law under which it
is everywhere alike. Where an end is no wall, those that leave are not seen.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2

import shoal
from shoal.passive import as_family
from shoal.passive.estimating import _loss, most_probable
from shoal.states import Numbered

Steps = Callable[[np.random.Generator, int], np.ndarray]


def normal(sd: float) -> Steps:
    return lambda rng, n: rng.normal(0.0, sd, n)


def cauchy(width: float) -> Steps:
    return lambda rng, n: width * rng.standard_cauchy(n)


def two_normals(sd: float, wide: float, share: float) -> Steps:
    return lambda rng, n: rng.normal(0.0, np.where(rng.random(n) < share, wide, sd))


def places(axis: Any, rng: np.random.Generator, n: int, measure: str = "length") -> np.ndarray:
    """Where animals are that may be anywhere."""
    if isinstance(axis, Numbered):
        return rng.integers(0, axis.size, n).astype(float)
    if not isinstance(axis, shoal.states.Interval):
        return rng.uniform(-180.0, 180.0, n)
    low, high = axis.edges[0], axis.edges[-1]
    if measure == "area":
        return np.sqrt(rng.uniform(low**2, high**2, n))
    return rng.uniform(low, high, n)


def moved(axis: Any, place: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Where a step leads: walls send it back as often as it meets them."""
    after = place + step
    if not isinstance(axis, shoal.states.Interval):
        return after  # round the circle; a fold takes the absolute value
    low, span = axis.edges[0], axis.edges[-1] - axis.edges[0]
    if axis.walls == "both":
        return low + span - np.abs(np.mod(after - low, 2 * span) - span)
    if axis.walls == "low":
        return low + np.abs(after - low)
    if axis.walls == "high":
        return axis.edges[-1] - np.abs(axis.edges[-1] - after)
    return after


def counted(space: shoal.StateSpace, before: Any, after: Any) -> shoal.states.Transitions:
    """Transitions of those that are seen before and after."""
    origin, destination = (space.locate(*values)[0] for values in (before, after))
    seen = (origin >= 0) & (destination >= 0)
    return shoal.states.Transitions.from_pairs(origin[seen], destination[seen], space)


def walked(space: shoal.StateSpace, steps: tuple[Steps, ...], seed: int, n: int) -> Any:
    """Each axis by itself."""
    rng = np.random.default_rng([seed, 71])
    before = [places(axis, rng, n) for axis in space.axes]
    pairs = zip(space.axes, before, steps, strict=True)
    after = [moved(axis, place, step(rng, n)) for axis, place, step in pairs]
    return counted(space, before, after)


def turned(space: shoal.StateSpace, truth: shoal.TurnCoupled, seed: int, n: int) -> Any:
    """One turn moves every angle, each has noise, and other axes take Cauchy steps."""
    rng = np.random.default_rng([seed, 72])
    before = [places(axis, rng, n) for axis in space.axes]
    turn, after = truth.spread * rng.standard_cauchy(n), []
    for axis, place in zip(space.axes, before, strict=True):
        if isinstance(axis, shoal.Circular):
            noise = rng.normal(0.0, truth.noise, n) + truth.tails * rng.standard_cauchy(n)
            after.append(place - turn + noise)
        else:
            after.append(moved(axis, place, truth.step * rng.standard_cauchy(n)))
    return counted(space, before, after)


def anywhere(space: shoal.StateSpace, measures: tuple[str, ...], seed: int, n: int) -> Any:
    """From anywhere to anywhere."""
    rng = np.random.default_rng([seed, 73])
    pairs = [*zip(space.axes, measures, strict=True)]
    before, after = ([places(axis, rng, n, m) for axis, m in pairs] for _ in range(2))
    return counted(space, before, after)


def by_matrix(space: shoal.StateSpace, matrix: np.ndarray, seed: int, n: int) -> Any:
    """By the chances themselves, for dynamics that are nothing but a matrix."""
    rng = np.random.default_rng([seed, 74])
    origin = rng.integers(0, space.size, n)
    below = np.cumsum(matrix, axis=1)
    destination = (below[origin] < rng.random(n)[:, None]).sum(axis=1)
    return shoal.states.Transitions.from_pairs(
        origin, np.minimum(destination, space.size - 1), space
    )


@dataclass(frozen=True)
class Null:
    """Passive dynamics and animals that follow them; ``before`` is the form of earlier versions."""

    space: shoal.StateSpace
    passive: Any
    animals: Callable[[int, int], Any]
    before: Any = None

    def earlier(self) -> tuple[shoal.StateSpace, Any]:
        axes = [
            replace(axis, walls="none") if isinstance(axis, shoal.states.Interval) else axis
            for axis in self.space.axes
        ]
        return shoal.StateSpace(*axes), self.before or self.passive


def _uniform(space: shoal.StateSpace, *measures: str) -> Null:
    spec = shoal.Uniform(measures if len(measures) > 1 else measures[0])
    return Null(space, spec, lambda s, n: anywhere(space, measures, s, n), shoal.Uniform("bins"))


def _walk(space: shoal.StateSpace, *sds: float) -> Null:
    steps = tuple(map(normal, sds))
    spec = shoal.RandomWalk(sds)
    return Null(space, spec, lambda s, n: walked(space, steps, s, n), replace(spec, start="centre"))


def _mixture(space: shoal.StateSpace, sd: float, wide: float, share: float) -> Null:
    spec, steps = shoal.passive.WalkMixture(sd, wide, share), (two_normals(sd, wide, share),)
    return Null(space, spec, lambda s, n: walked(space, steps, s, n), replace(spec, start="centre"))


def _turns(space: shoal.StateSpace, **more: Any) -> Null:
    spec = shoal.TurnCoupled(spread=8.0, noise=4.0, tails=0.5, follow=1.0, **more)
    return Null(space, spec, lambda s, n: turned(space, spec, s, n))


def _matrix(space: shoal.StateSpace, passive: Any, matrix: np.ndarray) -> Null:
    return Null(space, passive, lambda s, n: by_matrix(space, matrix, s, n))


EVEN = tuple(range(0, 130, 10))
UNEVEN = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)


def line(edges: tuple[float, ...], **more: Any) -> shoal.StateSpace:
    return shoal.StateSpace(shoal.states.Interval("d", edges, **more))


CIRCLE = shoal.StateSpace(shoal.Circular("a"))
FOLDED = shoal.StateSpace(shoal.states.Folded("a"))
RING = shoal.StateSpace(shoal.Circular("a", 8), shoal.states.Interval("d", UNEVEN))
TORUS = shoal.StateSpace(shoal.Circular("a", 8), shoal.Circular("b", 8))
NUMBERED = shoal.StateSpace.discrete(6)


def nulls() -> dict[str, Null]:
    """Every passive specification, on every kind of axis that it may have."""
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.full(6, 2.0), size=6)
    elsewhere = by_matrix(NUMBERED, matrix, 99, 3000)
    empirical = shoal.passive.Empirical(elsewhere, 5.0)
    turning = shoal.TurningMixture()
    return {
        "uniform, circle": _uniform(CIRCLE, "length"),
        "uniform, folded": _uniform(FOLDED, "length"),
        "uniform, uneven interval": _uniform(line(UNEVEN), "length"),
        "uniform by area, distances": _uniform(line(UNEVEN), "area"),
        "uniform, angle and area": _uniform(RING, "length", "area"),
        "uniform, numbered": _uniform(NUMBERED, "length"),
        "walk of 5°, circle": _walk(CIRCLE, 5.0),
        "walk of 90°, circle": _walk(CIRCLE, 90.0),
        "walk of 5°, folded": _walk(FOLDED, 5.0),
        "walk of 60°, folded": _walk(FOLDED, 60.0),
        "walk of 8, two walls": _walk(line(EVEN), 8.0),
        "walk of 60, two walls": _walk(line(EVEN), 60.0),
        "walk of 1, two walls, uneven": _walk(line(UNEVEN), 1.0),
        "walk of 8, wall below": _walk(line(EVEN, walls="low"), 8.0),
        "walk of 8, wall above": _walk(line(EVEN, walls="high"), 8.0),
        "walk of 1, no wall, uneven": _walk(line(UNEVEN, walls="none"), 1.0),
        "walk of 1, open end, uneven": _walk(line(UNEVEN, beyond=True), 1.0),
        "walk, angle and interval": _walk(RING, 20.0, 2.0),
        "two walks, circle": _mixture(CIRCLE, 5.0, 60.0, 0.2),
        "two walks, folded": _mixture(FOLDED, 5.0, 60.0, 0.2),
        "two walks, two walls, uneven": _mixture(line(UNEVEN), 0.5, 5.0, 0.2),
        "turns, two angles": _turns(TORUS, effects=(-1, -1)),
        "turns, angle and interval": _turns(RING, effects=(-1, 0), step=0.5),
        "turning mixture, circle": _matrix(CIRCLE, turning, np.asarray(turning.on(CIRCLE).dense())),
        "matrix, numbered": _matrix(NUMBERED, matrix, matrix),
        "sparse matrix, numbered": _matrix(NUMBERED, sp.csr_array(matrix), matrix),
        "seen elsewhere, numbered": _matrix(
            NUMBERED, empirical, np.asarray(empirical.on(NUMBERED).dense())
        ),
    }


@dataclass(frozen=True)
class Verdict:
    """What a score test finds of preferences where there are none.

    With the identity basis the slope of the log likelihood at equal costs is P̄ᵀd − a, and its
    covariance is H = diag(P̄ᵀd) − P̄ᵀ diag(d) P̄ where nothing is preferred. Its square in H⁻¹ then is
    χ² distributed with J − 1 degrees of freedom, and costs are H⁻¹ times it, with variance H⁻¹.
    """

    square: float
    freedom: int
    costs: np.ndarray
    sds: np.ndarray

    @property
    def chance(self) -> float:
        return float(chi2.sf(self.square, self.freedom))


def judged(matrix: np.ndarray, arrivals: np.ndarray, departures: np.ndarray) -> Verdict:
    """The score test of equal costs."""
    a, d = arrivals.ravel().astype(float), departures.ravel().astype(float)
    expected = matrix.T @ d
    slope = expected - a
    curvature = np.diag(expected) - matrix.T @ (d[:, None] * matrix)
    inverse = np.linalg.pinv(curvature, rcond=1e-10, hermitian=True)
    freedom = int(np.linalg.matrix_rank(curvature, tol=1e-8 * expected.max(), hermitian=True))
    return Verdict(
        float(slope @ inverse @ slope), freedom, inverse @ slope, np.sqrt(np.diag(inverse))
    )


def estimated_with_errors(specification: Any, counts: Any) -> tuple[Any, Any, tuple[str, ...]]:
    """The most probable unknowns, and their standard errors from the curvature there."""
    family: Any = as_family(specification, counts.space)
    digest = family.at(jnp.zeros(family.count)).digest(counts)
    u, step = most_probable(family, digest), 1e-4

    def slope(at: np.ndarray) -> np.ndarray:
        return np.asarray(_loss(family, digest, jnp.asarray(at))[1])

    rows = [(slope(u + step * e) - slope(u - step * e)) / (2 * step) for e in np.eye(len(u))]
    variance = np.linalg.inv(np.array(rows))
    scale = np.diag(np.asarray(jax.jacfwd(family.values)(jnp.asarray(u))))
    return (
        np.asarray(family.values(jnp.asarray(u))),
        np.sqrt(np.diag(variance)) * scale,
        family.names,
    )
