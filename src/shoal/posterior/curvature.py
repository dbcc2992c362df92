"""How sharply the posterior bends: the Hessian's product, its diagonal, and the whole of it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.linalg.blas import dsyrk

from shoal.errors import InputError
from shoal.posterior.density import Conditional, Density, Hyper
from shoal.precision import as_jax

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
    density: Density,
    hyper: Float[Any, " hyper"],
    c: Float[Any, " n"],
    *,
    triangle: bool = False,
) -> Float[np.ndarray, "n n"]:
    """−∇²ℓ in the functions' own coefficients: γ² Xᵀ (diag(Wᵀd) − Wᵀ diag(d) W) X, W the policy.

    P̄ is applied to the columns of X scaled by z, so no J × J matrix is needed, and only states
    that animals left enter the second term. With ``triangle`` the lower half alone is right, which
    is all that a Cholesky factor needs.
    """
    entered, spread = _curvature_parts(density, as_jax(hyper), as_jax(c))
    left = np.asarray(density.departures).ravel() > 0
    seen = np.asfortranarray(np.asarray(spread)[:, left])
    hessian = density.basis.map.gram(np.asarray(entered))
    lower = dsyrk(-1.0, seen, beta=1.0, c=np.asfortranarray(hessian), lower=True, overwrite_c=True)
    return lower if triangle else np.tril(lower) + np.tril(lower, -1).T


@eqx.filter_jit
def _curvature_parts(
    density: Density, hyper: Hyper, c: Float[Array, " n"]
) -> tuple[Float[Array, "*grid"], Float[Array, "n J"]]:
    """γ² Wᵀd, and γ √d W X by columns."""
    plain = density.plain(hyper)
    v = plain.basis.apply(c)
    _, z, reached = plain.desirability(v)
    left = plain.departures > 0
    weight = jnp.where(left, jnp.sqrt(plain.departures) / jnp.where(left, reached, 1.0), 0.0)
    columns = (z.ravel() * plain.basis.dense().T).reshape(-1, *plain.passive.shape)
    spread = jax.vmap(plain.passive.apply)(columns) * weight * plain.discount
    entered = plain.discount**2 * plain.expected_arrivals(v)
    return entered, spread.reshape(columns.shape[0], -1)


def curvature_diagonal(given: Conditional, xi: Float[Array, " n"]) -> Float[Array, " n"]:
    """An upper bound of the diagonal of −∇²ℓ, cheap at any size: the first term above."""
    entered = given.discount**2 * given.expected_arrivals(given.basis.apply(xi))
    return given.basis.map.squared().adjoint(entered).ravel()


@eqx.filter_jit
def diagonal_given(density: Density, hyper: Hyper, xi: Float[Array, " n"]) -> Float[Array, " n"]:
    """The same by one program, where all but the coefficients is known."""
    return curvature_diagonal(density.given(hyper), xi)


def curvature_product(
    given: Conditional, xi: Float[Array, " n"], direction: Float[Array, " n"]
) -> Float[Array, " n"]:
    """−∇²ℓ times a direction, exactly, at the price of one more gradient."""

    def gradient(at: Float[Array, " n"]) -> Float[Array, " n"]:
        return jax.grad(lambda b: -given.log_likelihood(given.basis.apply(b)))(at)

    return jax.jvp(gradient, (xi,), (direction,))[1]


def expected_curvature(
    density: Density, places: Float[np.ndarray, "draws unknowns"]
) -> Float[np.ndarray, "unknowns unknowns"]:
    """The mean of −∇² log p over these points."""
    size, count = density.dimension, density.coefficients
    total = np.zeros((size, size))
    amplitudes, precisions, rest = (np.asarray(part) for part in _beside(density, as_jax(places)))
    for place, amplitude in zip(places, amplitudes, strict=True):
        inner = likelihood_curvature(density, place[count:], amplitude * place[:count])
        total[:count, :count] += amplitude[:, None] * inner * amplitude
    total[np.arange(count), np.arange(count)] += precisions.sum()
    total[count:] = rest.sum(axis=0)
    total[:count, count:] = total[count:, :count].T
    return total / len(places)


@eqx.filter_jit
def _beside(
    density: Density, places: Float[Array, "draws unknowns"]
) -> tuple[Float[Array, "draws n"], Float[Array, " draws"], Float[Array, "draws hyper unknowns"]]:
    """Amplitudes and precision of the coefficients, and −∇² log p along the other unknowns."""
    directions = jnp.eye(density.dimension)[density.coefficients :]

    def one(place: Float[Array, " unknowns"]) -> tuple[Array, Array, Array]:
        basis, _ = density.parts(density.split(place)[1])
        slope = jax.grad(density.log_posterior)
        bend = jax.vmap(lambda ahead: -jax.jvp(slope, (place,), (ahead,))[1])(directions)
        return density.basis.amplitude(basis), density.basis.precision(basis), bend

    return jax.lax.map(one, places)
