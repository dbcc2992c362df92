"""Passive dynamics learned from tracks in which nothing is preferred, such as single animals."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.optimize import minimize

from shoal.errors import InputError
from shoal.passive.family import LearnableDynamics, PassiveFamily, as_family, passive_at
from shoal.precision import as_jax
from shoal.states import Transitions

LOST = 1e300
"""The loss where a density is not finite."""


def most_probable(family: PassiveFamily, digest: Any) -> Float[np.ndarray, " k"]:
    """The most probable unknowns where nothing is preferred."""
    if not family.count:
        return np.zeros(0)

    def loss(u: Float[np.ndarray, " k"]) -> Any:
        value, slope = _loss(family, digest, as_jax(u))
        finite = np.isfinite(value) and np.all(np.isfinite(slope))
        return (float(value), np.asarray(slope)) if finite else (LOST, np.zeros_like(u))

    found = minimize(loss, np.zeros(family.count), jac=True, method="L-BFGS-B")
    if not found.fun < LOST:
        raise InputError(
            "some of the transitions cannot happen by these passive dynamics, whatever their "
            "unknowns: use wider ones, or a larger guess"
        )
    return np.asarray(found.x)


def log_alone(family: PassiveFamily, digest: Any, u: Float[np.ndarray, " k"]) -> float:
    """The log likelihood where nothing is preferred, less half the squares of the unknowns."""
    return -float(_loss(family, digest, as_jax(u))[0]) if family.count else float(digest)


@eqx.filter_jit
def _loss(family: PassiveFamily, digest: Any, u: Float[Array, " k"]) -> tuple[Array, Array]:
    def value(at: Float[Array, " k"]) -> Float[Array, ""]:
        return 0.5 * jnp.vdot(at, at) - family.log_weight(family.at(at), digest)

    return jax.value_and_grad(value)(u)


def estimated(specification: Any, transitions: Any) -> Any:
    """The specification with the most probable numbers for its unknowns."""
    if not isinstance(transitions, Transitions) or not transitions.total:
        raise InputError("passive dynamics are estimated from counted transitions, one or more")
    family = as_family(specification, transitions.space)
    if not isinstance(family, LearnableDynamics):
        return specification
    u = most_probable(
        family, passive_at(family, as_jax(np.zeros(family.count))).digest(transitions)
    )
    return family.known(u)
