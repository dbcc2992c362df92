"""Coordinates in which samplers move freely, and the way back from them."""

from abc import abstractmethod

import equinox as eqx
import jax
from jaxtyping import Array, Float

from shoal.basis import ScaledBasis


class Coordinates(eqx.Module):
    """A point θ as a function of coordinates u in which the posterior is nearly standard normal.

    Attributes
    ----------
    basis
        Which knows the prior of the coefficients.
    """

    basis: ScaledBasis

    @abstractmethod
    def position(self, u: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """θ of u."""

    @abstractmethod
    def inverse(self, position: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """U of θ."""

    @abstractmethod
    def log_volume(self, u: Float[Array, " unknowns"]) -> Float[Array, ""]:
        """Log |∂θ/∂u|, up to a constant."""


@eqx.filter_jit
def inverses(
    coordinates: Coordinates, positions: Float[Array, "draws unknowns"]
) -> Float[Array, "draws unknowns"]:
    """U of many points, by one program."""
    return jax.vmap(coordinates.inverse)(positions)
