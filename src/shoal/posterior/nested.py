"""Draws where scales, lengths or dynamics are unknown: these first, then costs given them.

The unknowns u besides the coefficients come from Student t distributions that are adapted to their
posterior; where the log likelihood is known to second order, as that of decisions is, without
another look at the tracks. Given u, the costs c = amplitude(u) ξ have the likelihood's Gaussian
form, so that ξ is drawn from the Gaussian that prior and likelihood make together at this u:

    ξ | u  ~  Normal(Λ⁻¹ A b(u), Λ⁻¹),   Λ = I + A H A,   A = diag amplitude(u),

with H the curvature of the log likelihood in c and b(u) = H c₀ + ∇ℓ(c₀), moved along with the
passive unknowns. One Gaussian for (ξ, u) together would be wrong: c is a product of the two.

Of H only the directions are kept in which tracks tell more than a little beyond the prior; in all
others a draw is the prior's. Where H = F Fᵀ then has few columns, Λ = I + A F (A F)ᵀ is solved by
a matrix of that size (Woodbury). Importance weights are those of what was drawn.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import cho_solve, cholesky, eigh, solve_triangular

from shoal.basis.scaled import priors_at
from shoal.posterior.curvature import likelihood_curvature
from shoal.posterior.density import Density
from shoal.posterior.importance import Weighing, resampled, weigh
from shoal.posterior.proposals import Proposed, log_posteriors
from shoal.posterior.quadratic import Top, amplitude_of, heights_given
from shoal.posterior.unknowns import SplitStudent, weighted_unknowns
from shoal.precision import as_jax
from shoal.system.progress import Report
from shoal.system.threads import side_by_side

CHUNK = 256
"""Draws at a time; a power of 2, so that unknowns can be shared."""

ROUNDS = 5
"""At most, to adapt the Student t."""

TRIED, FEW = 1024, 128
"""Draws by which the Student t is adapted: fewer where a factor takes long."""

DEAR = 100
"""Directions that the tracks tell of, from which on a factor takes long."""

GOOD = 0.5
"""The share of effective draws at which it is adapted well enough."""

LARGEST, MOST_SHARE = 5e10, 16
"""Operations that may be made for other unknowns than ξ; beyond, draws share these unknowns."""

SHARE, DEAR_SHARE, DEAR_WORK = 8, 16, 2_000_000
"""Of decisions: draws that share unknowns; more where so many candidates are looked up for each."""

FEWEST_SHARED, WORTH = 400, 1000
"""Of decisions: unknowns that draws share at the least, and what those are worth they come from."""

BETTER = 1.3
"""By how much a round must raise the effective draws for another one to be made."""

NEGLIGIBLE = 1e-4
"""Of the prior's precision, what tracks must add for a direction to be drawn by them.

Scales may be several times larger in the tail than at the top, and tell by their square.
"""


@dataclass(frozen=True, eq=False)
class CostsGiven:
    """The Gaussian of ξ given the other unknowns.

    Attributes
    ----------
    informed
        F, whose columns are the directions that the tracks tell of: H = F Fᵀ is the curvature of
        the log likelihood in the costs' coefficients c.
    bend
        F Fᵀ.
    pull
        H c₀ + ∇ℓ(c₀).
    drift
        How ∇ℓ(c₀) changes with the passive unknowns.
    passive
        Where these are at the centre.
    log_posteriors
        Log p(y, all unknowns) of points of which several share all but ξ.
    """

    model: Density
    informed: Float[np.ndarray, "n r"]
    bend: Float[np.ndarray, "n n"]
    pull: Float[np.ndarray, " n"]
    drift: Float[np.ndarray, "n passive"]
    passive: Float[np.ndarray, " passive"]
    log_posteriors: Callable[..., Float[np.ndarray, "each share"]]

    @classmethod
    def of(cls, model: Density, top: Top) -> "CostsGiven":
        """Around the most probable unknowns."""
        known = len(model.basis.names)
        basis, passive = np.asarray(top.hyper)[:known], np.asarray(top.hyper)[known:]
        amplitude = amplitude_of(model, top.hyper)
        costs = amplitude * np.asarray(top.xi)
        heights = heights_of(model, top)
        if top.likelihood is None:
            curvature = likelihood_curvature(model, top.hyper, costs)
            found = _slopes(model, *map(as_jax, (costs, basis, passive)))
            slope, drift = (np.asarray(part) for part in found)
        else:
            assert top.around is not None
            n = costs.size
            curvature, drift = top.around.bend[:n, :n], -top.around.bend[:n, n:]
            slope = top.around.slope[:n]
        informed = _informed(curvature, amplitude)
        bend, pull = informed @ informed.T, curvature @ costs + slope
        return cls(model, informed, bend, pull, drift, passive, heights)

    def draw(
        self,
        amplitude: Float[np.ndarray, " n"],
        passive: Float[np.ndarray, " passive"],
        noise: Float[np.ndarray, "share both"],
    ) -> tuple[Float[np.ndarray, "share n"], Float[np.ndarray, " share"]]:
        """Coefficients where the other unknowns are known, and their log density."""
        pull = amplitude * (self.pull + self.drift @ (passive - self.passive))
        size, told = self.informed.shape
        way = self._by_factor if 2 * told > size else self._by_directions
        return way(amplitude, pull, noise)

    def _by_factor(
        self,
        amplitude: Float[np.ndarray, " n"],
        pull: Float[np.ndarray, " n"],
        noise: Float[np.ndarray, "share both"],
    ) -> tuple[Float[np.ndarray, "share n"], Float[np.ndarray, " share"]]:
        """By a Cholesky factor of Λ, where the tracks tell of most directions."""
        count = amplitude.size
        precise = amplitude[:, None] * self.bend * amplitude
        precise[np.diag_indices(count)] += 1.0
        factor = cholesky(precise, lower=True, overwrite_a=True, check_finite=False)
        half = solve_triangular(factor, pull, lower=True, check_finite=False)
        normal = noise[:, :count]
        xi = solve_triangular(factor, (half + normal).T, lower=True, trans="T", check_finite=False)
        height = np.sum(np.log(np.diag(factor))) - 0.5 * count * np.log(2 * np.pi)
        return xi.T, height - 0.5 * np.sum(normal**2, axis=1)

    def _by_directions(
        self,
        amplitude: Float[np.ndarray, " n"],
        pull: Float[np.ndarray, " n"],
        noise: Float[np.ndarray, "share both"],
    ) -> tuple[Float[np.ndarray, "share n"], Float[np.ndarray, " share"]]:
        """By Woodbury's identity, where the tracks tell of few directions.

        Λ x = z₁ + G z₂ with G = A F has the covariance Λ⁻¹ where z₁ and z₂ are standard normal.
        """
        count = amplitude.size
        inner = amplitude[:, None] * self.informed
        precise = inner.T @ inner
        precise[np.diag_indices(len(precise))] += 1.0
        factor = cholesky(precise, lower=True, overwrite_a=True, check_finite=False)
        sides = np.concatenate([pull[None], noise[:, :count] + noise[:, count:] @ inner.T])
        across = cho_solve((factor, True), inner.T @ sides.T, check_finite=False)
        solved = sides - across.T @ inner.T
        mean, away = solved[0], solved[1:]
        square = np.sum(away**2, axis=1) + np.sum((away @ inner) ** 2, axis=1)
        height = np.sum(np.log(np.diag(factor))) - 0.5 * count * np.log(2 * np.pi)
        return mean + away, height - 0.5 * square


def _informed(
    curvature: Float[np.ndarray, "n n"], amplitude: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n r"]:
    """F: directions in which tracks add more than ``NEGLIGIBLE`` to the prior's precision of 1."""
    wide = np.maximum(amplitude, 1e-12)
    values, vectors = eigh(wide[:, None] * curvature * wide)
    kept = values > NEGLIGIBLE
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]) / wide[:, None])


def nested_proposals(
    model: Density,
    top: Top,
    spread: Float[np.ndarray, "hyper hyper"],
    count: int,
    generator: np.random.Generator,
    report: Report,
) -> Proposed:
    """Points near the posterior; unknowns first, from a Student t that is adapted to them."""
    costs = CostsGiven.of(model, top)
    if not np.asarray(top.hyper).size:
        return _drawn(costs, None, count, generator, report)
    student = SplitStudent.around(np.asarray(top.hyper), spread)
    enough = FEW if costs.informed.shape[1] > DEAR else TRIED
    worth = 0.0
    for _ in range(ROUNDS):
        tried = _drawn(costs, student, enough, generator, report)
        weighing = weigh(tried.log_posterior, tried.log_approximation)
        good = weighing.effective > GOOD * enough and weighing.pareto_k < GOOD
        settled = 0 < weighing.effective < BETTER * worth
        worth = max(worth, weighing.effective)
        if weighing.effective > 0:
            hyper = tried.positions[:, model.coefficients :]
            student = student.adapted(hyper, weighing.weights)
        if good or settled:
            break
    return _drawn(costs, student, count, generator, report)


def quadratic_proposals(
    model: Density,
    top: Top,
    spread: Float[np.ndarray, "hyper hyper"],
    count: int,
    generator: np.random.Generator,
    report: Report,
) -> tuple[Proposed, Weighing | None]:
    """Unknowns by the closed form that a quadratic log likelihood gives, then coefficients.

    The likelihood itself is taken only of what is proposed in the end, several draws of the
    coefficients to each of the other unknowns.
    """
    costs, around = CostsGiven.of(model, top), top.around
    if not np.asarray(top.hyper).size:
        return _drawn(costs, None, count, generator, report), None
    assert around is not None
    student = SplitStudent.around(np.asarray(top.hyper), spread)
    share = DEAR_SHARE if model.work > DEAR_WORK else SHARE
    number = max(FEWEST_SHARED, math.ceil(count / share))
    share = math.ceil(count / number)

    def heights(points: Float[np.ndarray, "n hyper"]) -> Float[np.ndarray, " n"]:
        return heights_given(model.basis, around, points)

    points, logs, weighing = weighted_unknowns(student, heights, WORTH, generator, report)
    kept = resampled(weighing.weights, number, generator)
    size, told = costs.informed.shape
    noise = generator.standard_normal((number, share, size + told))
    hypers = points[kept]
    amplitudes = priors_at(model.basis, hypers[:, : len(model.basis.names)])[0]
    done = 0

    def draw(n: int) -> Proposed:
        nonlocal done
        passive = hypers[n, len(model.basis.names) :]
        xi, log_q = costs.draw(amplitudes[n], passive, noise[n])
        log_p = costs.log_posteriors(hypers[n, None], xi[None])[0]
        same = np.broadcast_to(hypers[n], (share, hypers.shape[1]))
        done += share
        report("Laplace: draws", min(done, count), count)
        return Proposed(np.concatenate([xi, same], axis=1), log_p, log_q + logs[kept[n]])

    parts = side_by_side(draw, range(number))
    whole = Proposed(*(np.concatenate(part)[:count] for part in zip(*parts, strict=True)))
    return whole, weighing


def _drawn(
    costs: CostsGiven,
    student: SplitStudent | None,
    count: int,
    generator: np.random.Generator,
    report: Report,
) -> Proposed:
    """Chunk by chunk; draws share unknowns where a factor for each would take too long."""
    model, parts = costs.model, []
    size, told = costs.informed.shape
    share = 1
    while 2 * share <= min(MOST_SHARE, count // FEW) and (
        count / share * told**2 * (size + told / 3) > LARGEST
    ):
        share *= 2
    each = CHUNK // share
    for done in range(0, count, CHUNK):
        noise = generator.standard_normal((each, share, size + told))
        if student is None:
            hyper, log_hyper = np.zeros((each, 0)), np.zeros(each)
        else:
            hyper = student.draw(each, generator)
            log_hyper = student.log_density(hyper)
        xi, log_q = _coefficients(costs, hyper, noise)
        log_p = costs.log_posteriors(hyper, xi)
        same = np.broadcast_to(hyper[:, None], (each, share, hyper.shape[1]))
        positions = np.concatenate([xi, same], axis=2).reshape(-1, model.dimension)
        log_q = log_q + log_hyper[:, None]
        parts.append(Proposed(positions, log_p.ravel(), log_q.ravel()))
        report("Laplace: draws", min(done + CHUNK, count), count)
    return Proposed(*(np.concatenate(part)[:count] for part in zip(*parts, strict=True)))


def _coefficients(
    costs: CostsGiven,
    hyper: Float[np.ndarray, "each hyper"],
    noise: Float[np.ndarray, "each share both"],
) -> tuple[Float[np.ndarray, "each share n"], Float[np.ndarray, "each share"]]:
    """ξ given each of the other unknowns, and their log densities."""
    count = len(costs.model.basis.names)
    amplitudes = priors_at(costs.model.basis, hyper[:, :count])[0]
    found = [
        costs.draw(amplitude, one[count:], some)
        for amplitude, one, some in zip(amplitudes, hyper, noise, strict=True)
    ]
    xi, heights = zip(*found, strict=True)
    return np.stack(xi), np.stack(heights)


def heights_of(model: Density, top: Top) -> Callable[..., Float[np.ndarray, "each share"]]:
    """Log p(y, all unknowns), of points of which several share all but the coefficients."""
    likelihood = top.likelihood
    return partial(_log_posteriors, model) if likelihood is None else likelihood.log_posteriors


def _log_posteriors(
    model: Density,
    hyper: Float[np.ndarray, "each hyper"],
    xi: Float[np.ndarray, "each share n"],
) -> Float[np.ndarray, "each share"]:
    """Of transitions, by the compiled density."""
    same = np.broadcast_to(hyper[:, None], (*xi.shape[:2], hyper.shape[1]))
    positions = np.concatenate([xi, same], axis=2).reshape(-1, model.dimension)
    return np.asarray(log_posteriors(model, as_jax(positions))).reshape(xi.shape[:2])


@eqx.filter_jit
def _slopes(
    model: Density,
    c: Float[Array, " n"],
    basis: Float[Array, " basis"],
    passive: Float[Array, " passive"],
) -> tuple[Float[Array, " n"], Float[Array, "n passive"]]:
    """∇ℓ in the costs' coefficients, and how it changes with the passive unknowns."""

    def slope(at: Float[Array, " passive"]) -> Float[Array, " n"]:
        density = model.given(jnp.concatenate([basis, at]))
        v = model.basis.map.apply
        shape = model.basis.map.in_shape
        return jax.grad(lambda x: density.log_likelihood(v(x.reshape(shape))))(c)

    return slope(passive), jax.jacfwd(slope)(passive)
