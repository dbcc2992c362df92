"""The most probable coefficients, and the most probable precision of the prior."""

import math
from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.sparse.linalg import cg
from jaxtyping import Array, Bool, Float, Int

from shoal.posterior.curvature import curvature_diagonal, curvature_product
from shoal.posterior.density import Density
from shoal.precision import as_jax


class Mode(NamedTuple):
    """Where the posterior of β given t is highest.

    ``height`` is the log likelihood there less half the precision times Σ β².
    """

    beta: Float[Array, " n"]
    height: Float[Array, ""]
    decrement: Float[Array, ""]
    converged: Bool[Array, ""]
    steps: Int[Array, ""]


TOLERANCE = 1e-12
"""Of the mode: its distance to the top in nats, relative to the size of the objective."""

MAX_STEPS = 100


def conditional_mode(density: Density, t: float, start: Float[Array, " n"]) -> Mode:
    """argmax_β log p(β | y, t) by Newton steps, each solved by conjugate gradients.

    The objective is concave, so the answer is unique. The Newton decrement is the distance to the
    top in nats; iteration stops when it is below ``TOLERANCE`` times the size of the objective.
    """
    return _newton(density, as_jax(t, dtype=float), start)


@eqx.filter_jit
def _newton(density: Density, t: Float[Array, ""], start: Float[Array, " n"]) -> Mode:
    precision = density.prior.precision(t)

    def objective(beta: Float[Array, " n"]) -> Float[Array, ""]:
        fit = density.log_likelihood(density.basis.apply(beta))
        return 0.5 * precision * jnp.vdot(beta, beta) - fit

    scale = 1.0 + jnp.abs(objective(start))

    def unfinished(mode: Mode) -> Array:
        return ~mode.converged & (mode.steps < MAX_STEPS)

    def step(mode: Mode) -> Mode:
        beta = mode.beta
        gradient = jax.grad(objective)(beta)
        diagonal = curvature_diagonal(density, beta) + precision

        def hessian(direction: Float[Array, " n"]) -> Float[Array, " n"]:
            return curvature_product(density, beta, direction) + precision * direction

        forcing = jnp.minimum(0.1, jnp.sqrt(mode.decrement / scale))
        move, _ = cg(hessian, -gradient, tol=forcing, maxiter=500, M=lambda x: x / diagonal)
        slope = jnp.vdot(gradient, move)
        length = _backtrack(objective, beta, move, slope)
        decrement = -slope / 2
        done = decrement < TOLERANCE * scale
        return Mode(beta + length * move, mode.height, decrement, done, mode.steps + 1)

    unknown = jnp.asarray(jnp.inf)
    first = Mode(start, unknown, unknown, jnp.asarray(False), jnp.asarray(0))
    found = jax.lax.while_loop(unfinished, step, first)
    return found._replace(height=-objective(found.beta))


def _backtrack(
    objective: Callable[[Float[Array, " n"]], Float[Array, ""]],
    beta: Float[Array, " n"],
    move: Float[Array, " n"],
    slope: Float[Array, ""],
) -> Float[Array, ""]:
    """The first of 1, ½, ¼, … at which the objective falls enough, rounding allowed for."""
    here = objective(beta)
    slack = 1e-14 * (1 + jnp.abs(here))

    def too_long(length: Float[Array, ""]) -> Array:
        there = objective(beta + length * move)
        fine = there <= here + 1e-4 * length * slope + slack
        return ~fine & (length > 1e-10)

    return jax.lax.while_loop(too_long, lambda length: length / 2, jnp.asarray(1.0))


def rough_mode(
    density: Density, tolerance: float = 1e-2, max_rounds: int = 50
) -> tuple[Mode, float, bool]:
    """The mode of β at a plausible t, that t, and whether it settled; cheap at any size.

    t is taken where p(t | E[Σ β²]) is highest, with variances from the curvature's diagonal
    (MacKay's fixed point): the joint mode of (β, t) would shrink all coefficients to nothing.
    """
    t = density.prior.start
    mode = conditional_mode(density, t, jnp.zeros(density.coefficients))
    for _ in range(max_rounds if density.prior.unknowns else 0):
        before = t
        diagonal, beta = np.asarray(curvature_diagonal(density, mode.beta)), np.asarray(mode.beta)
        for _ in range(10):
            variance = np.sum(1 / (diagonal + math.exp(density.prior.power * t)))
            t = density.prior.mode_given(float(beta @ beta + variance), density.coefficients)
        mode = conditional_mode(density, t, mode.beta)
        if abs(t - before) < tolerance:
            return mode, t, True
    return mode, t, not density.prior.unknowns
