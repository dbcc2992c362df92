"""The most probable coefficients where all else is known."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.sparse.linalg import cg
from jaxtyping import Array, Bool, Float, Int

from shoal.posterior.curvature import curvature_diagonal, curvature_product
from shoal.posterior.density import Density, Hyper


class Mode(NamedTuple):
    """Where the posterior of the coefficients β is highest, all else given.

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


@eqx.filter_jit
def mode_given(density: Density, hyper: Hyper, start: Float[Array, " n"]) -> Mode:
    """argmax_ξ log p(ξ | y, the other unknowns) by Newton steps, each by conjugate gradients.

    The objective is concave, so the answer is unique. The Newton decrement is the distance to the
    top in nats; iteration stops when it is below ``TOLERANCE`` times the size of the objective.
    """
    given = density.given(hyper)
    precision = given.precision

    def objective(beta: Float[Array, " n"]) -> Float[Array, ""]:
        fit = given.log_likelihood(given.basis.apply(beta))
        return 0.5 * precision * jnp.vdot(beta, beta) - fit

    scale = 1.0 + jnp.abs(objective(start))

    def unfinished(mode: Mode) -> Array:
        return ~mode.converged & (mode.steps < MAX_STEPS)

    def step(mode: Mode) -> Mode:
        beta = mode.beta
        gradient = jax.grad(objective)(beta)
        diagonal = curvature_diagonal(given, beta) + precision

        def hessian(direction: Float[Array, " n"]) -> Float[Array, " n"]:
            return curvature_product(given, beta, direction) + precision * direction

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
