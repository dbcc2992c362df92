"""Points near the posterior, with the densities by which they are weighed."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Float

from shoal.posterior.density import Density
from shoal.posterior.importance import Weighing


class Proposed(NamedTuple):
    """Points, and the log densities of the posterior and of where they were drawn from."""

    positions: Float[np.ndarray, "draws unknowns"]
    log_posterior: Float[np.ndarray, " draws"]
    log_approximation: Float[np.ndarray, " draws"]


class Proposals(NamedTuple):
    """Points, what is to be said of them, and how well other unknowns than ξ were drawn before."""

    proposed: Proposed
    facts: dict[str, Any]
    before: Weighing | None = None


@eqx.filter_jit
def log_posteriors(
    density: Density, positions: Float[Array, "draws unknowns"]
) -> Float[Array, " draws"]:
    """The log posterior of many points, one after the other."""
    return jax.lax.map(density.log_posterior, positions, batch_size=64)
