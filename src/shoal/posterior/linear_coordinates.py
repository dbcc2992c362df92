"""Coordinates in which a posterior with unknown scales is nearly a standard normal.

A coefficient ξ that the tracks determine well stands for a fixed cost ξ · amplitude: where a scale
grows, ξ must shrink, and it is known the better. One that they leave free is standard normal
whatever the scale. If the likelihood were normal with curvature h in ξ · amplitude, ξ would have sd
(1 + h amplitude²)^{−1/2} around a shrunken mean; η = (ξ − that mean) / that sd moves least when
scales and lengths move. (η, unknowns) are then made standard normal by the linear map of the
Gaussian around the centre.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.posterior.coordinates import Coordinates, inverses
from shoal.posterior.density import Density
from shoal.posterior.marginal import Around
from shoal.posterior.quadratic import amplitude_of
from shoal.precision import as_jax


class LinearCoordinates(Coordinates):
    """(η, unknowns) = centre + matrix z, and ξ from these.

    Attributes
    ----------
    mode
        Of ξ where the unknowns are at the centre.
    curvature
        Of the likelihood in each coefficient times its amplitude.
    usual
        The amplitudes at the centre.
    """

    centre: Float[Array, " unknowns"]
    matrix: Float[Array, "unknowns unknowns"]
    mode: Float[Array, " n"]
    curvature: Float[Array, " n"]
    usual: Float[Array, " n"]

    @classmethod
    def of(cls, model: Density, around: Around) -> "LinearCoordinates":
        """From a Gaussian."""
        count = model.coefficients
        xi, hyper = around.centre[:count], around.centre[count:]
        usual = np.maximum(amplitude_of(model, hyper), 1e-12)
        curvature, matrix = around.informed / usual**2, around.matrix.copy()
        centre = np.concatenate([np.zeros(count), hyper])
        parts = (as_jax(part) for part in (centre, matrix, xi, curvature, usual))
        made = cls(model.basis, *parts)
        slope = np.asarray(_mean_slope(made, as_jax(hyper)))
        matrix[:count, count:] -= slope @ matrix[count:, count:]
        return eqx.tree_at(lambda c: c.matrix, made, as_jax(matrix))

    def position(self, u: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """θ of z."""
        eta, hyper = self._split(self.centre + self.matrix @ u)
        mean, width = self._normal(hyper)
        return jnp.concatenate([mean + width * eta, hyper])

    def inverse(self, position: Float[Array, " unknowns"]) -> Float[Array, " unknowns"]:
        """Z of θ."""
        xi, hyper = self._split(position)
        mean, width = self._normal(hyper)
        place = jnp.concatenate([(xi - mean) / width, hyper])
        return jnp.linalg.solve(self.matrix, place - self.centre)

    def log_volume(self, u: Float[Array, " unknowns"]) -> Float[Array, ""]:
        """Log |∂θ/∂z|, up to a constant."""
        _, hyper = self._split(self.centre + self.matrix @ u)
        return jnp.sum(jnp.log(self._normal(hyper)[1]))

    def _split(
        self, position: Float[Array, " unknowns"]
    ) -> tuple[Float[Array, " n"], Float[Array, " hyper"]]:
        return position[: self.mode.size], position[self.mode.size :]

    def _normal(
        self, hyper: Float[Array, " hyper"]
    ) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
        """Where ξ would lie, and how much wider than at the centre, were the likelihood normal."""
        ratio = self.basis.amplitude(hyper[: len(self.basis.names)]) / self.usual
        then = 1 + self.curvature * self.usual**2
        now = 1 + self.curvature * (ratio * self.usual) ** 2
        return self.mode * ratio * then / now, jnp.sqrt(then / now)

    def adapted(self, places: Float[np.ndarray, "chain draw unknowns"]) -> "LinearCoordinates":
        """Centred on what was found, the unknowns besides coefficients as spread out as found.

        These are few, so that a few hundred draws tell their covariance, which the curvature at the
        top does not where the posterior is skewed.
        """
        count = self.mode.size
        flat = as_jax(places.reshape(-1, places.shape[-1]))
        z = np.asarray(inverses(self, flat))
        matrix, some = np.asarray(self.matrix).copy(), z[:, count:]
        centre = np.asarray(self.centre) + matrix @ z.mean(axis=0)
        if some.shape[1]:
            cover = np.atleast_2d(np.cov(some.T))
            weight = len(some) / (len(some) + 5 * some.shape[1])
            cover = weight * cover + (1 - weight) * np.eye(len(cover))
            matrix[:, count:] = matrix[:, count:] @ np.linalg.cholesky(cover)
        return eqx.tree_at(lambda c: (c.centre, c.matrix), self, (as_jax(centre), as_jax(matrix)))


@eqx.filter_jit
def _mean_slope(
    coordinates: LinearCoordinates, hyper: Float[Array, " hyper"]
) -> Float[Array, "n hyper"]:
    """How the mean of ξ moves with the unknowns."""
    return jax.jacfwd(lambda at: coordinates._normal(at)[0])(hyper)
