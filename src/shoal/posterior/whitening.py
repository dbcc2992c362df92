"""Coordinates in which the posterior is nearly a standard normal, so that samplers move freely.

Adding a constant to v changes nothing in the likelihood, so the level is known to 1/√precision
only while contrasts are known to 1/√arrivals. And where tracks are few, the precision τ of the
prior and the coefficients it governs move together: with τ small they roam, with τ large they are
held. In the coordinates (z, w) made here from the curvature of the likelihood at the centre of the
posterior, all directions are alike, at every τ: β = c(τ) + (H + τ)^{−1/2} z.
"""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from shoal.posterior.coordinates import Coordinates
from shoal.posterior.curvature import (
    LARGEST_DENSE,
    curvature_product,
    diagonal_given,
    likelihood_curvature,
)
from shoal.posterior.density import Density
from shoal.posterior.one_precision import one_precision, place_of, precision_at
from shoal.posterior.prior import OnePrecision, Prior
from shoal.precision import as_jax

ORDINARY = 1.5
"""Scaled curvatures within this factor of 1 are left as they are."""

SMALL = 200
"""Unknowns up to which all directions are treated, since that costs nothing."""

FEW = 16
"""Unusual directions are treated one by one where they are fewer than one in so many."""

LANCZOS_RANK = 24
"""Directions mended where the curvature is known by its products only."""


class Whitening(Coordinates):
    """θ = (β, t) of coordinates u = (z, w).

    Attributes
    ----------
    centre
        Of β in the whitening's own axes, at t = ``log_precision``.
    curvature
        Of the likelihood along those axes.
    log_precision, spread
        t = log_precision + spread · w, so that w is as spread out as z.
    """

    centre: Float[Array, " n"]
    curvature: Float[Array, " n"]
    log_precision: Float[Array, ""]
    spread: Float[Array, ""]

    @property
    def prior(self) -> Prior:
        """Of the coefficients, and of t."""
        assert isinstance(self.basis, OnePrecision)
        return self.basis.prior

    @abstractmethod
    def along(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """β of places along the whitening's axes."""

    @abstractmethod
    def across(self, beta: Float[Array, " n"]) -> Float[Array, " n"]:
        """Places along the whitening's axes of β."""

    @abstractmethod
    def stretched(self, z: Float[Array, " n"]) -> Float[Array, " n"]:
        """Unusual directions stretched."""

    @abstractmethod
    def unstretched(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """The inverse of ``stretched``."""

    def position(self, u: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """θ of u."""
        z, t = self._split(u)
        place, width = self._normal(t)
        beta = self.along(place + width * self.stretched(z))
        return jnp.append(beta, t) if self.prior.unknowns else beta

    def inverse(self, position: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """U of θ."""
        if not self.prior.unknowns:
            place, width = self._normal(self.log_precision)
            return self.unstretched((self.across(position) - place) / width)
        beta, t = position[:-1], position[-1]
        place, width = self._normal(t)
        z = self.unstretched((self.across(beta) - place) / width)
        return jnp.append(z, (t - self.log_precision) / self.spread)

    def log_volume(self, u: Float[Array, " unknowns"]) -> Float[Array, ""]:
        """Log |∂θ/∂u|, up to a constant."""
        _, t = self._split(u)
        _, width = self._normal(t)
        return jnp.sum(jnp.log(width))

    def _split(self, u: Float[Array, " unknowns"]) -> tuple[Float[Array, " n"], Float[Array, ""]]:
        if not self.prior.unknowns:
            return u, self.log_precision
        return u[:-1], self.log_precision + self.spread * u[-1]

    def _normal(self, t: Float[Array, ""]) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Where β lies and how wide, along each axis, for this t.

        If the likelihood were normal, its mode b would be shrunk to λ b / (λ + τ).
        """
        then, now = self.prior.precision(self.log_precision), self.prior.precision(t)
        shrink = (self.curvature + then) / (self.curvature + now)
        return self.centre * shrink, 1 / jnp.sqrt(self.curvature + now)


class LowRankWhitening(Whitening):
    """An axis for each coefficient, and a few directions stretched by z + U (stretch ⊙ Uᵀz)."""

    directions: Float[Array, "n rank"]
    stretch: Float[Array, " rank"]

    def along(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """The coefficients themselves."""
        return x

    def across(self, beta: Float[Array, " n"]) -> Float[Array, " n"]:
        """The coefficients themselves."""
        return beta

    def stretched(self, z: Float[Array, " n"]) -> Float[Array, " n"]:
        """Unusual directions stretched."""
        return z + self.directions @ (self.stretch * (z @ self.directions))

    def unstretched(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """The inverse of ``stretched``."""
        shrink = self.stretch / (1 + self.stretch)
        return x - self.directions @ (shrink * (x @ self.directions))


class DenseWhitening(Whitening):
    """Axes along the eigenvectors of the likelihood's curvature."""

    vectors: Float[Array, "n n"]

    def along(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """From the eigenvectors' axes."""
        return self.vectors @ x

    def across(self, beta: Float[Array, " n"]) -> Float[Array, " n"]:
        """Onto the eigenvectors' axes."""
        return beta @ self.vectors

    def stretched(self, z: Float[Array, " n"]) -> Float[Array, " n"]:
        """Nothing is left to stretch."""
        return z

    def unstretched(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """Nothing is left to stretch."""
        return x


def whitening(
    density: Density, centre: Float[np.ndarray, " unknowns"], spread: float | None = None
) -> Whitening:
    """Whitening coordinates around a point.

    The curvature scaled to a unit diagonal may have nearly all eigenvalues near 1, as with a
    coefficient for every state; then only the other directions are treated, which costs little per
    step. Otherwise all are, as in small problems.

    Parameters
    ----------
    spread
        The sd of t; by default as wide as the coefficients that the tracks determine leave it.
    """
    if density.coefficients > LARGEST_DENSE:
        return _from_products(density, centre, spread)
    beta, t = place_of(density, centre)
    curvature = likelihood_curvature(density, centre[density.coefficients :], beta)
    precision = precision_at(density, t)
    diagonal = np.maximum(np.diag(curvature), 0.0)
    scale = 1 / np.sqrt(diagonal + precision)
    whole = curvature + precision * np.eye(len(diagonal))
    values, vectors = eigh(whole * scale[:, None] * scale[None, :], check_finite=False)
    # curvature that is not positive at the centre is no guide: such directions stay as they are
    values = np.where(values > 0, values, 1.0)
    odd = (values < 1 / ORDINARY) | (values > ORDINARY)
    if values.size <= SMALL or FEW * odd.sum() > values.size:
        return _dense(density, centre, curvature, spread)
    return _low_rank(density, centre, diagonal, values[odd], vectors[:, odd], spread)


def _from_products(
    density: Density, centre: Float[np.ndarray, " unknowns"], spread: float | None
) -> LowRankWhitening:
    """The same from products with the curvature alone: the flattest directions by Lanczos."""
    beta, t = place_of(density, centre)
    hyper, xi = as_jax(centre[density.coefficients :]), as_jax(beta)
    diagonal = np.asarray(diagonal_given(density, hyper, xi))
    inner = as_jax(1 / np.sqrt(diagonal + precision_at(density, t)))

    @eqx.filter_jit
    def product(model: Density, x: Float[Array, " n"]) -> Float[Array, " n"]:
        given, y = model.given(hyper), inner * x
        return inner * (curvature_product(given, xi, y) + given.precision * y)

    count = density.coefficients
    operator = LinearOperator(
        (count, count),
        matvec=lambda x: np.asarray(product(density, as_jax(x.ravel()))),
        dtype=np.dtype(float),
    )
    start = np.ones(count)
    values, vectors = eigsh(operator, k=LANCZOS_RANK, which="SA", v0=start, tol=1e-2)
    odd = (values > 0) & (values < 1 / ORDINARY)
    return _low_rank(density, centre, diagonal, values[odd], vectors[:, odd], spread)


def _low_rank(
    density: Density,
    centre: Float[np.ndarray, " unknowns"],
    diagonal: Float[np.ndarray, " n"],
    values: Float[np.ndarray, " rank"],
    vectors: Float[np.ndarray, "n rank"],
    spread: float | None,
) -> LowRankWhitening:
    """Padded to a multiple of 8 directions, so that a compiled sampler fits again."""
    pad = -values.size % 8 or (8 if values.size == 0 else 0)
    stretch = values**-0.5 - 1
    beta, t = place_of(density, centre)
    return LowRankWhitening(
        density.basis,
        as_jax(beta),
        as_jax(diagonal),
        as_jax(t),
        _spread(density, t, diagonal, spread),
        as_jax(np.pad(vectors, ((0, 0), (0, pad)))),
        as_jax(np.pad(stretch, (0, pad))),
    )


def _dense(
    density: Density,
    centre: Float[np.ndarray, " unknowns"],
    curvature: Float[np.ndarray, "n n"],
    spread: float | None,
) -> DenseWhitening:
    values, vectors = eigh(curvature, check_finite=False)
    values = np.maximum(values, 0.0)
    beta, t = place_of(density, centre)
    return DenseWhitening(
        density.basis,
        as_jax(beta @ vectors),
        as_jax(values),
        as_jax(t),
        _spread(density, t, values, spread),
        as_jax(vectors),
    )


def _spread(
    density: Density,
    t: float,
    curvature: Float[np.ndarray, " n"],
    spread: float | None,
) -> Float[Array, ""]:
    """The sd of t: each coefficient that the tracks determine says power²/2 of it."""
    prior = one_precision(density).prior
    if spread is not None or not prior.unknowns:
        return as_jax(1.0 if spread is None else float(spread))
    determined = float(np.sum(curvature / (curvature + precision_at(density, t))))
    held = prior.rate * float(np.exp(t))
    return as_jax(1 / np.sqrt(0.5 * prior.power**2 * determined + held + 1e-2))
