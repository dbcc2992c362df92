"""Coordinates in which the posterior is nearly a standard normal, so that samplers move freely.

Adding a constant to v changes nothing in the likelihood, so the level is known to 1/√precision
only while contrasts are known to 1/√arrivals. In the coordinates u made here, from the curvature
at the centre of the posterior, all directions are alike.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator, eigsh

from shoal.posterior.curvature import (
    LARGEST_DENSE,
    curvature_diagonal,
    curvature_product,
    joint_corner,
    likelihood_curvature,
)
from shoal.posterior.density import Density

ORDINARY = 1.5
"""Scaled curvatures within this factor of 1 are left as they are."""

SMALL = 200
"""Unknowns up to which all directions are treated, since that costs nothing."""

LANCZOS_RANK = 24
"""Directions mended where the curvature is known by its products only."""


class LowRankWhitening(eqx.Module):
    """θ = c + s ⊙ (u + U (stretch ⊙ Uᵀu)): a scale per unknown, and a few directions stretched."""

    centre: Float[Array, " unknowns"]
    scale: Float[Array, " unknowns"]
    directions: Float[Array, "unknowns rank"]
    stretch: Float[Array, " rank"]

    def position(self, u: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """θ of u."""
        stretched = u + self.directions @ (self.stretch * (u @ self.directions))
        return self.centre + self.scale * stretched

    def inverse(self, position: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """U of θ."""
        x = (position - self.centre) / self.scale
        shrink = self.stretch / (1 + self.stretch)
        return x - self.directions @ (shrink * (x @ self.directions))


class DenseWhitening(eqx.Module):
    """θ = c + A u with A Aᵀ the inverse curvature."""

    centre: Float[Array, " unknowns"]
    matrix: Float[Array, "unknowns unknowns"]
    unmatrix: Float[Array, "unknowns unknowns"]

    def position(self, u: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """θ of u."""
        return self.centre + self.matrix @ u

    def inverse(self, position: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """U of θ."""
        return self.unmatrix @ (position - self.centre)


Whitening = LowRankWhitening | DenseWhitening


def whitening(density: Density, centre: Float[Array, " unknowns"], squares: float) -> Whitening:
    """Whitening coordinates around a point, given the expectation of Σ β² there.

    The curvature scaled to a unit diagonal has most eigenvalues near 1; where less than a third
    are not, only those directions are treated, which costs little per step; otherwise all are, as
    in small problems.
    """
    if density.coefficients > LARGEST_DENSE:
        return _from_products(density, centre, squares)
    curvature = _joint(density, centre, squares)
    scale = 1 / np.sqrt(np.diag(curvature))
    values, vectors = eigh(curvature * scale[:, None] * scale[None, :], check_finite=False)
    # curvature that is not positive at the centre is no guide: such directions stay as they are
    values = np.where(values > 0, values, 1.0)
    odd = (values < 1 / ORDINARY) | (values > ORDINARY)
    if values.size <= SMALL or 3 * odd.sum() > values.size:
        return _dense(centre, scale, values, vectors)
    return _low_rank(centre, scale, values[odd], vectors[:, odd])


def _joint(
    density: Density, centre: Float[Array, " unknowns"], squares: float
) -> Float[np.ndarray, "unknowns unknowns"]:
    """The curvature of the log posterior in (β, t)."""
    beta, t = density.split(centre)
    size, count = density.dimension, density.coefficients
    curvature = np.empty((size, size))
    curvature[:count, :count] = likelihood_curvature(density, beta)
    curvature[np.arange(count), np.arange(count)] += float(density.prior.precision(t))
    if density.prior.unknowns:
        edge, corner = joint_corner(density, centre, jnp.asarray(squares))
        curvature[:count, count] = curvature[count, :count] = np.asarray(edge)
        curvature[count, count] = float(corner)
    return curvature


def _from_products(
    density: Density, centre: Float[Array, " unknowns"], squares: float
) -> LowRankWhitening:
    """The same from products with the curvature alone: the flattest directions by Lanczos."""
    beta, t = density.split(centre)
    precision = density.prior.precision(t)
    diagonal = np.asarray(curvature_diagonal(density, beta) + precision)
    inner = jnp.asarray(1 / np.sqrt(diagonal))

    @eqx.filter_jit
    def product(model: Density, x: Float[Array, " n"]) -> Float[Array, " n"]:
        y = inner * x
        return inner * (curvature_product(model, beta, y) + precision * y)

    count = density.coefficients
    operator = LinearOperator(
        (count, count), matvec=lambda x: np.asarray(product(density, jnp.asarray(x.ravel())))
    )
    start = np.ones(count)
    values, vectors = eigsh(operator, k=LANCZOS_RANK, which="SA", v0=start, tol=1e-2)
    scale, odd = np.asarray(inner), (values > 0) & (values < 1 / ORDINARY)
    if density.prior.unknowns:
        _, corner = joint_corner(density, centre, jnp.asarray(squares))
        scale = np.append(scale, 1 / np.sqrt(float(corner)))
        vectors = np.vstack([vectors, np.zeros(vectors.shape[1])])
    return _low_rank(centre, scale, values[odd], vectors[:, odd])


def _low_rank(
    centre: Float[Array, " unknowns"],
    scale: Float[np.ndarray, " unknowns"],
    values: Float[np.ndarray, " rank"],
    vectors: Float[np.ndarray, "unknowns rank"],
) -> LowRankWhitening:
    """Padded to a multiple of 8 directions, so that a compiled sampler fits again."""
    pad = -values.size % 8 or (8 if values.size == 0 else 0)
    stretch = values**-0.5 - 1
    return LowRankWhitening(
        centre,
        jnp.asarray(scale),
        jnp.asarray(np.pad(vectors, ((0, 0), (0, pad)))),
        jnp.asarray(np.pad(stretch, (0, pad))),
    )


def _dense(
    centre: Float[Array, " unknowns"],
    scale: Float[np.ndarray, " unknowns"],
    values: Float[np.ndarray, " unknowns"],
    vectors: Float[np.ndarray, "unknowns unknowns"],
) -> DenseWhitening:
    root = np.sqrt(values)
    matrix = scale[:, None] * vectors / root
    unmatrix = root[:, None] * vectors.T / scale
    return DenseWhitening(centre, jnp.asarray(matrix), jnp.asarray(unmatrix))
