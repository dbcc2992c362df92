"""How sharply the posterior bends: the Hessian's product, its diagonal, and the whole of it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg.blas import dsyrk

from shoal.errors import InputError
from shoal.posterior.density import Density

LARGEST_DENSE = 4000
"""Coefficients beyond which no matrix of coefficients × coefficients is formed (128 MB each)."""


def check_dense(density: Any, method: str, instead: str) -> None:
    """Refuse a method that needs the whole Hessian of too many coefficients."""
    if density.coefficients > LARGEST_DENSE:
        raise InputError(
            f"{method} forms a matrix over all coefficients, and {density.coefficients} are more "
            f"than {LARGEST_DENSE}: use {instead}, or a basis with fewer functions"
        )


def likelihood_curvature(
    density: Density, beta: Float[Array, " n"], *, triangle: bool = False
) -> Float[np.ndarray, "n n"]:
    """−∇²ℓ in the coefficients: γ² Xᵀ (diag(Wᵀd) − Wᵀ diag(d) W) X with W the policy.

    P̄ is applied to the columns of X scaled by z, so no J × J matrix is needed, and only states
    that animals left enter the second term. With ``triangle`` the lower half alone is right, which
    is all that a Cholesky factor needs.
    """
    entered, spread = _curvature_parts(density, beta)
    left = np.asarray(density.departures).ravel() > 0
    seen = np.asfortranarray(np.asarray(spread)[:, left])
    hessian = density.basis.map.gram(np.asarray(entered))
    lower = dsyrk(-1.0, seen, beta=1.0, c=np.asfortranarray(hessian), lower=True, overwrite_c=True)
    return lower if triangle else np.tril(lower) + np.tril(lower, -1).T


@eqx.filter_jit
def _curvature_parts(
    density: Density, beta: Float[Array, " n"]
) -> tuple[Float[Array, "*grid"], Float[Array, "n J"]]:
    """γ² Wᵀd, and γ √d W X by columns."""
    v = density.basis.apply(beta)
    _, z, reached = density.desirability(v)
    left = density.departures > 0
    weight = jnp.where(left, jnp.sqrt(density.departures) / jnp.where(left, reached, 1.0), 0.0)
    columns = (z.ravel() * density.basis.dense().T).reshape(-1, *density.passive.shape)
    spread = jax.vmap(density.passive.apply)(columns) * weight * density.discount
    entered = density.discount**2 * density.expected_arrivals(v)
    return entered, spread.reshape(columns.shape[0], -1)


@eqx.filter_jit
def curvature_diagonal(density: Density, beta: Float[Array, " n"]) -> Float[Array, " n"]:
    """An upper bound of the diagonal of −∇²ℓ, cheap at any size: the first term above."""
    entered = density.discount**2 * density.expected_arrivals(density.basis.apply(beta))
    return density.basis.map.squared().adjoint(entered).ravel()


def curvature_product(
    density: Density, beta: Float[Array, " n"], direction: Float[Array, " n"]
) -> Float[Array, " n"]:
    """−∇²ℓ times a direction, exactly, at the price of one more gradient."""

    def gradient(at: Float[Array, " n"]) -> Float[Array, " n"]:
        return jax.grad(lambda b: -density.log_likelihood(density.basis.apply(b)))(at)

    return jax.jvp(gradient, (beta,), (direction,))[1]


@eqx.filter_jit
def joint_corner(
    density: Density, position: Float[Array, " unknowns"], squares: Float[Array, ""]
) -> tuple[Float[Array, " n"], Float[Array, ""]]:
    """−∇_β ∂_t and −∂²_t of the log posterior, Σ β² in the latter replaced by its expectation.

    At the mode of β the curvature in t would be far too small: coefficients that the tracks
    leave free lie at zero there, and nowhere else in the posterior.
    """
    beta, t = density.split(position)

    def slope(s: Float[Array, ""], u: Float[Array, ""]) -> Float[Array, ""]:
        return jax.grad(density.prior.log_density, argnums=1)(s, u, density.coefficients)

    corner = -jax.grad(slope, argnums=1)(squares, t)
    edge = -jax.grad(slope, argnums=0)(squares, t) * 2 * beta
    return edge, corner
