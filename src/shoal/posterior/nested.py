"""Draws where scales, lengths or dynamics are unknown: these first, then costs given them.

The unknowns u besides the coefficients come from a Student t whose centre and shape are adapted to
their posterior. Given u, the costs c = amplitude(u) ξ have the likelihood's Gaussian form, so that
ξ is drawn from the Gaussian that prior and likelihood make together at this u:

    ξ | u  ~  Normal(Λ⁻¹ A b(u), Λ⁻¹),   Λ = I + A H A,   A = diag amplitude(u),

with H the curvature of the log likelihood in c and b(u) = H c₀ + ∇ℓ(c₀), moved along with the
passive unknowns. One Gaussian for (ξ, u) together would be wrong: c is a product of the two.

Of H only the directions are kept in which tracks tell more than a little beyond the prior; in all
others a draw is the prior's. Where H = F Fᵀ then has few columns, Λ = I + A F (A F)ᵀ is solved by
a matrix of that size (Woodbury). Importance weights are those of what was drawn.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import cho_solve, solve_triangular
from jaxtyping import Array, Float
from scipy.linalg import eigh
from scipy.special import gammaln

from shoal.posterior.curvature import likelihood_curvature
from shoal.posterior.hierarchy import Hierarchy, Hyper
from shoal.posterior.importance import weigh
from shoal.posterior.marginal import hyper_spread, marginal_top
from shoal.posterior.quadratic import Top
from shoal.progress import Report

FREEDOM = 7.0
"""Of the Student t: tails a little heavier than the posterior's."""

CHUNK = 1024
"""Draws in one call of the compiled program; a power of 2, so that unknowns can be shared."""

LARGEST_BATCH = 4_000_000
"""Entries of all matrices that are factored at a time."""

ROUNDS = 5
"""At most, to adapt the Student t."""

TRIED, FEW = CHUNK, CHUNK // 4
"""Draws by which the Student t is adapted: fewer where a factor takes long."""

DEAR = 100
"""Directions that the tracks tell of, from which on a factor takes long."""

GOOD = 0.5
"""The share of effective draws at which it is adapted well enough."""

LARGEST_FACTORS = 5e10
"""Operations that all factors of Λ may take together; beyond, draws share the unknowns."""

NEGLIGIBLE = 1e-4
"""Of the prior's precision, what tracks must add for a direction to be drawn by them.

Scales may be several times larger in the tail than at the top, and tell by their square.
"""


class Proposed(NamedTuple):
    """Points, and the log densities of the posterior and of where they were drawn from."""

    positions: Float[np.ndarray, "draws unknowns"]
    log_posterior: Float[np.ndarray, " draws"]
    log_approximation: Float[np.ndarray, " draws"]


class CostsGiven(eqx.Module):
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
    """

    model: Hierarchy
    informed: Float[Array, "n r"]
    bend: Float[Array, "n n"]
    pull: Float[Array, " n"]
    drift: Float[Array, "n passive"]
    passive: Float[Array, " passive"]

    @classmethod
    def of(cls, model: Hierarchy, top: Top) -> "CostsGiven":
        """Around the most probable unknowns."""
        basis, passive = model.parts(jnp.asarray(top.hyper))
        c = model.basis.amplitude(basis) * top.xi
        curvature = likelihood_curvature(model.plain(jnp.asarray(top.hyper)), c)
        slope, drift = _slopes(model, c, basis, passive)
        informed = _informed(curvature, np.asarray(model.basis.amplitude(basis)))
        pull = jnp.asarray(curvature) @ c + slope
        bend = jnp.asarray(informed @ informed.T)
        return cls(model, jnp.asarray(informed), bend, pull, drift, passive)

    def draw(
        self, hyper: Hyper, noise: Float[Array, "k both"]
    ) -> tuple[Float[Array, "k unknowns"], Float[Array, " k"]]:
        """Points with these unknowns, and the log density of their coefficients."""
        basis, passive = self.model.parts(hyper)
        amplitude = self.model.basis.amplitude(basis)
        pull = amplitude * (self.pull + self.drift @ (passive - self.passive))
        size, told = self.informed.shape
        way = self._by_factor if 2 * told > size else self._by_directions
        xi, height = way(amplitude, pull, noise)
        same = jnp.broadcast_to(hyper, (xi.shape[0], hyper.size))
        return jnp.concatenate([xi, same], axis=1), height

    def _by_factor(
        self, amplitude: Float[Array, " n"], pull: Float[Array, " n"], noise: Float[Array, "k both"]
    ) -> tuple[Float[Array, "k n"], Float[Array, " k"]]:
        """By a Cholesky factor of Λ, where the tracks tell of most directions."""
        count = amplitude.size
        bend = amplitude[:, None] * self.bend * amplitude
        factor = jnp.linalg.cholesky(jnp.eye(count) + bend)
        half = solve_triangular(factor, pull, lower=True)
        normal = noise[:, :count]
        xi = solve_triangular(factor, (half + normal).T, lower=True, trans="T").T
        height = jnp.sum(jnp.log(jnp.diag(factor))) - 0.5 * count * jnp.log(2 * jnp.pi)
        return xi, height - 0.5 * jnp.sum(normal**2, axis=1)

    def _by_directions(
        self, amplitude: Float[Array, " n"], pull: Float[Array, " n"], noise: Float[Array, "k both"]
    ) -> tuple[Float[Array, "k n"], Float[Array, " k"]]:
        """By Woodbury's identity, where the tracks tell of few directions.

        Λ x = z₁ + G z₂ with G = A F has the covariance Λ⁻¹ where z₁ and z₂ are standard normal.
        """
        count = amplitude.size
        inner = amplitude[:, None] * self.informed
        factor = jnp.linalg.cholesky(jnp.eye(inner.shape[1]) + inner.T @ inner)

        def solved(x: Float[Array, "m n"]) -> Float[Array, "m n"]:
            """Λ⁻¹ x, by Woodbury's identity."""
            return x - cho_solve((factor, True), inner.T @ x.T).T @ inner.T

        sides = [pull[None], noise[:, :count] + noise[:, count:] @ inner.T]
        # one solve for both: two at a time can block each other's threads for ever in jaxlib 0.10
        mean, away = jnp.split(solved(jnp.concatenate(sides)), [1])
        xi = mean + away
        square = jnp.sum(away**2, axis=1) + jnp.sum((away @ inner) ** 2, axis=1)
        height = jnp.sum(jnp.log(jnp.diag(factor))) - 0.5 * count * jnp.log(2 * jnp.pi)
        return xi, height - 0.5 * square


def _informed(
    curvature: Float[np.ndarray, "n n"], amplitude: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n r"]:
    """F: directions in which tracks add more than ``NEGLIGIBLE`` to the prior's precision of 1."""
    wide = np.maximum(amplitude, 1e-12)
    values, vectors = eigh(wide[:, None] * curvature * wide)
    kept = values > NEGLIGIBLE
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]) / wide[:, None])


class Student(NamedTuple):
    """A multivariate Student t with ``FREEDOM`` degrees of freedom."""

    centre: Float[np.ndarray, " hyper"]
    factor: Float[np.ndarray, "hyper hyper"]

    def draw(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "n hyper"]:
        """So many points."""
        normal = generator.standard_normal((count, self.centre.size))
        stretch = np.sqrt(generator.chisquare(FREEDOM, (count, 1)) / FREEDOM)
        return np.asarray(self.centre + (normal / stretch) @ self.factor.T)

    def log_density(self, points: Float[np.ndarray, "n hyper"]) -> Float[np.ndarray, " n"]:
        """Of each point."""
        size = self.centre.size
        constant = gammaln((FREEDOM + size) / 2) - gammaln(FREEDOM / 2)
        constant -= size / 2 * np.log(FREEDOM * np.pi) + np.linalg.slogdet(self.factor)[1]
        squares = self._squares(points)
        return np.asarray(constant - (FREEDOM + size) / 2 * np.log1p(squares / FREEDOM))

    def adapted(
        self, points: Float[np.ndarray, "n hyper"], weights: Float[np.ndarray, " n"]
    ) -> "Student":
        """Nearer to weighted points, by ten steps of EM; near itself where few of them count."""
        size, effective = self.centre.size, 1 / np.sum(weights**2)
        before = self.factor @ self.factor.T
        found = self
        for _ in range(10):
            pulled = weights * (FREEDOM + size) / (FREEDOM + found._squares(points))
            centre = pulled @ points / pulled.sum()
            apart = points - centre
            shape = (pulled[:, None] * apart).T @ apart
            shape = (effective * shape + 5 * size * before) / (effective + 5 * size)
            found = Student(centre, np.linalg.cholesky(shape))
        return found

    def _squares(self, points: Float[np.ndarray, "n hyper"]) -> Float[np.ndarray, " n"]:
        return np.asarray(
            np.sum(np.linalg.solve(self.factor, (points - self.centre).T) ** 2, axis=0)
        )


def nested_proposals(
    model: Hierarchy, count: int, generator: np.random.Generator, report: Report
) -> tuple[Proposed, Top]:
    """Points near the posterior, and the most probable unknowns around which they lie."""
    top = marginal_top(model, report)
    costs = CostsGiven.of(model, top)
    if not np.asarray(top.hyper).size:
        return _drawn(costs, None, count, generator, report), top
    spread = hyper_spread(model, top, report)
    student = Student(np.asarray(top.hyper), np.linalg.cholesky(spread @ spread.T))
    enough = FEW if costs.informed.shape[1] > DEAR else TRIED
    for _ in range(ROUNDS):
        tried = _drawn(costs, student, enough, generator, report)
        weighing = weigh(tried.log_posterior, tried.log_approximation)
        good = weighing.effective > GOOD * enough and weighing.pareto_k < GOOD
        if weighing.effective > 0:
            hyper = tried.positions[:, model.coefficients :]
            student = student.adapted(hyper, weighing.weights)
        if good:
            break
    return _drawn(costs, student, count, generator, report), top


def _drawn(
    costs: CostsGiven,
    student: Student | None,
    count: int,
    generator: np.random.Generator,
    report: Report,
) -> Proposed:
    """Chunk by chunk; draws share unknowns where a factor for each would take too long."""
    model, parts = costs.model, []
    size, told = costs.informed.shape
    share = 1
    while share < 10 and count / share * told**2 * (size + told / 3) > LARGEST_FACTORS:
        share *= 2
    chunk = min(CHUNK, max(count, FEW))
    each = chunk // share
    for done in range(0, count, chunk):
        noise = generator.standard_normal((each, share, size + told))
        if student is None:
            hyper, log_hyper = np.zeros((each, 0)), np.zeros(each)
        else:
            hyper = student.draw(each, generator)
            log_hyper = student.log_density(hyper)
        found = _propose(costs, jnp.asarray(hyper), jnp.asarray(noise))
        positions, log_p, log_q = (np.asarray(part) for part in found)
        log_q = log_q + log_hyper[:, None]
        parts.append(Proposed(positions.reshape(-1, model.dimension), log_p.ravel(), log_q.ravel()))
        report("Laplace: draws", min(done + chunk, count), count)
    return Proposed(*(np.concatenate(part)[:count] for part in zip(*parts, strict=True)))


@eqx.filter_jit
def _propose(
    costs: CostsGiven, hyper: Float[Array, "each hyper"], noise: Float[Array, "each share n"]
) -> tuple[Float[Array, "each share d"], Float[Array, "each share"], Float[Array, "each share"]]:
    def one(given: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        positions, log_q = costs.draw(*given)
        return positions, jax.vmap(costs.model.log_posterior)(positions), log_q

    work = max(1, noise.shape[2] ** 2, costs.model.work * noise.shape[1] // 10)
    batch = max(1, min(64, LARGEST_BATCH // work))
    return jax.lax.map(one, (hyper, noise), batch_size=batch)


@eqx.filter_jit
def _slopes(
    model: Hierarchy,
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
