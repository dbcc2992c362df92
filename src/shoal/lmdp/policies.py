"""What an animal does given its cost-to-go: eq. pstar, and what follows from it."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.errors import InputError
from shoal.lmdp.log_space import log_adjoint, log_apply
from shoal.passive import PassiveOperator, as_operator

LARGEST_MATRIX = 5000
"""States beyond which the policy is not written out as a matrix (200 MB)."""


def policy(cost_to_go: Any, passive: Any, discount: float = 1.0) -> Float[np.ndarray, "J J"]:
    """p*(j | i) = p̄_ij e^{−γ v_j} / Σ_k p̄_ik e^{−γ v_k} as a matrix (eq. pstar).

    Parameters
    ----------
    cost_to_go
        v, shaped like the grid or flat.
    passive
        An array, a sparse matrix or a bound passive object.
    discount
        γ.
    """
    operator, gamma = as_operator(passive), checked_discount(discount)
    if operator.size > LARGEST_MATRIX:
        raise InputError(
            f"a policy over {operator.size} states is too large to write out as a matrix "
            f"(more than {LARGEST_MATRIX}): ask for the row of one state instead"
        )
    log_z = -gamma * as_grid(cost_to_go, operator, "cost_to_go").ravel()
    log_rows = jnp.log(operator.dense()) + log_z
    return np.asarray(jax.nn.softmax(log_rows, axis=1))


def policy_row(
    cost_to_go: Any, passive: Any, origin: int, discount: float = 1.0
) -> Float[np.ndarray, "*grid"]:
    """p*(· | origin), shaped like the grid."""
    operator, gamma = as_operator(passive), checked_discount(discount)
    if not 0 <= origin < operator.size:
        raise InputError(f"state {origin} is out of range: there are {operator.size} states")
    log_z = -gamma * as_grid(cost_to_go, operator, "cost_to_go")
    log_row = jnp.log(operator.row(origin)) + log_z
    return np.asarray(jax.nn.softmax(log_row.ravel()).reshape(operator.shape))


def control_cost(
    cost_to_go: Float[Array, "*grid"], passive: PassiveOperator, discount: float
) -> Float[Array, "*grid"]:
    """KL(p*_i ‖ p̄_i): what state i pays for going against the passive dynamics (eq. costs)."""
    log_z = -discount * cost_to_go
    log_norm = log_apply(passive, log_z)
    # Σ_j p*_ij log z_j, with the positive and the negative part of log z taken apart
    gain = jnp.exp(log_apply(passive, log_z + _log_part(log_z)) - log_norm)
    loss = jnp.exp(log_apply(passive, log_z + _log_part(-log_z)) - log_norm)
    return gain - loss - log_norm


def _log_part(values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
    return jnp.where(values > 0, jnp.log(jnp.where(values > 0, values, 1.0)), -jnp.inf)


def stationary(
    cost_to_go: Any,
    passive: Any,
    discount: float = 1.0,
    *,
    tolerance: float = 1e-13,
    max_iterations: int = 100_000,
) -> tuple[Float[np.ndarray, "*grid"], bool, int]:
    """How often each state is visited in the long run, whether that converged, and the steps taken.

    Mass is moved by the policy and half of it held back, so that periodic policies settle too. It
    starts from two places, since a policy that falls apart has no one answer.
    """
    operator, gamma = as_operator(passive), checked_discount(discount)
    log_z = -gamma * as_grid(cost_to_go, operator, "cost_to_go")
    even = jnp.zeros(operator.shape)
    mass, change, steps = _settle(operator, log_z, even, tolerance, max_iterations)
    tilted = jnp.linspace(0.0, 5.0, operator.size).reshape(operator.shape)
    other, again, more = _settle(operator, log_z, tilted, tolerance, max_iterations)
    one_answer = float(jnp.abs(mass - other).sum()) < 1e-6
    settled = bool((change <= tolerance) & (again <= tolerance)) and one_answer
    return np.asarray(mass), settled, int(steps + more)


@eqx.filter_jit
def _settle(
    passive: PassiveOperator,
    log_z: Float[Array, "*grid"],
    log_start: Float[Array, "*grid"],
    tolerance: float,
    limit: int,
) -> tuple[Float[Array, "*grid"], Float[Array, ""], Array]:
    log_norm = log_apply(passive, log_z)

    def unsettled(carry: tuple[Array, Array, Array]) -> Array:
        return (carry[1] > tolerance) & (carry[2] < limit)

    def step(carry: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        log_mass, _, count = carry
        moved = log_z + log_adjoint(passive, log_mass - log_norm)
        held = jnp.logaddexp(log_mass, moved)
        held = held - jax.nn.logsumexp(held)
        return held, jnp.abs(jnp.exp(held) - jnp.exp(log_mass)).sum(), count + 1

    start = log_start - jax.nn.logsumexp(log_start)
    log_mass, change, count = jax.lax.while_loop(
        unsettled, step, (start, jnp.asarray(jnp.inf), jnp.asarray(0))
    )
    return jnp.exp(log_mass), change, count


def checked_discount(discount: Any) -> float:
    """A discount in [0, 1]."""
    try:
        gamma = float(discount)
    except (TypeError, ValueError):
        gamma = float("nan")
    if not 0 <= gamma <= 1:
        raise InputError(f"a discount lies in [0, 1], got {discount}")
    return gamma


def as_numbers(values: Any, name: str) -> Float[np.ndarray, "..."]:
    """An array of floats from anything that is one."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers ({error})") from error


def as_grid(values: Any, passive: PassiveOperator, name: str) -> Float[Array, "*grid"]:
    """Finite values in the shape of the grid, from a grid or a flat array."""
    array = as_numbers(values, name)
    if array.shape not in (passive.shape, (passive.size,)):
        raise InputError(
            f"{name} of shape {array.shape} does not fit passive dynamics on {passive.shape}"
        )
    if not np.all(np.isfinite(array)):
        where = int(np.argmin(np.isfinite(array.ravel())))
        raise InputError(f"{name} must be finite, state {where} has {array.ravel()[where]}")
    return jnp.asarray(array.reshape(passive.shape))
