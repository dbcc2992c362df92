"""The posterior density where more is unknown than coefficients: dynamics, scales, lengths."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.basis import BasisOperator, ScaledBasis
from shoal.moves import MoveFamily
from shoal.passive import PassiveFamily, PassiveOperator
from shoal.posterior.density import Density
from shoal.posterior.prior import Prior

Hyper = Float[Array, " hyper"]
UNIT = Prior("fixed", value=1.0)


class PaperBasis(ScaledBasis):
    """Any basis with the paper's prior: one precision for all coefficients."""

    prior: Prior = eqx.field(static=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The precision, where it is unknown."""
        return ("precision",) if self.prior.unknowns else ()

    @property
    def start(self) -> Float[np.ndarray, " k"]:
        """Where a search begins."""
        return np.full(self.prior.unknowns, self.prior.start)

    def amplitude(self, u: Float[Array, " k"]) -> Float[Array, " n"]:
        """1/√precision for all."""
        t = u[0] if self.prior.unknowns else self.prior.start
        return jnp.full(self.size, self.prior.precision(t) ** -0.5)

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """The precision."""
        return jnp.exp(self.prior.power * u)

    def draw(self, rng: np.random.Generator) -> Float[np.ndarray, " k"]:
        """Its logarithm from the prior."""
        return np.full(self.prior.unknowns, self.prior.draw(rng))

    def log_prior(self, u: Float[Array, " k"]) -> Float[Array, ""]:
        """Of its logarithm."""
        return self.prior.log_hyperprior(u[0]) if self.prior.unknowns else jnp.asarray(0.0)


class Hierarchy(eqx.Module):
    """What tracks say about coefficients ξ and all that is unknown besides.

    A point is (ξ, unknowns of the basis, unknowns of the passive dynamics). Coefficients have a
    standard normal prior, and so have the unknowns unless the basis says otherwise.

    Attributes
    ----------
    digest
        What the passive dynamics' own likelihood needs of the transitions.
    warm
        A point where a search may begin, from a fit to similar transitions.
    """

    family: PassiveFamily
    basis: ScaledBasis
    arrivals: Float[Array, "*grid"]
    departures: Float[Array, "*rows"]
    discount: Float[Array, ""]
    digest: Any
    warm: Any = None

    @property
    def coefficients(self) -> int:
        """The number of coefficients."""
        return self.basis.size

    @property
    def names(self) -> tuple[str, ...]:
        """Of the unknowns besides the coefficients."""
        return (*self.basis.names, *self.family.names)

    @property
    def dimension(self) -> int:
        """The number of all unknowns."""
        return self.coefficients + len(self.names)

    @property
    def start(self) -> Float[np.ndarray, " hyper"]:
        """Unknowns besides the coefficients from which a search begins."""
        return np.concatenate([self.basis.start, np.zeros(self.family.count)])

    def split(self, position: Float[Array, " unknowns"]) -> tuple[Float[Array, " n"], Hyper]:
        """Coefficients, and the other unknowns."""
        return position[: self.coefficients], position[self.coefficients :]

    def parts(self, hyper: Hyper) -> tuple[Float[Array, " basis"], Float[Array, " passive"]]:
        """Unknowns of the basis, and of the passive dynamics."""
        count = len(self.basis.names)
        return hyper[:count], hyper[count:]

    def values(self, hyper: Hyper) -> Hyper:
        """The unknowns besides the coefficients in their own units."""
        basis, passive = self.parts(hyper)
        return jnp.concatenate([self.basis.values(basis), self.family.values(passive)])

    def passive(self, hyper: Hyper) -> PassiveOperator:
        """P̄."""
        return self.family.at(self.parts(hyper)[1])

    def cost_to_go(self, position: Float[Array, " unknowns"]) -> Float[Array, "*grid"]:
        """V."""
        xi, hyper = self.split(position)
        return self.basis.apply(xi, self.parts(hyper)[0])

    def scaled_coefficients(self, position: Float[Array, " unknowns"]) -> Float[Array, " n"]:
        """Coefficients of the functions as they are, amplitudes included."""
        xi, hyper = self.split(position)
        return self.basis.amplitude(self.parts(hyper)[0]) * xi

    def given(self, hyper: Hyper) -> Density:
        """The density of the coefficients where all else is known."""
        passive = self.passive(hyper)
        inner = self.basis.at(self.parts(hyper)[0]).map
        return Density(
            passive=passive,
            basis=BasisOperator(inner),
            arrivals=self.arrivals,
            departures=self.departures,
            discount=self.discount,
            log_passive=passive.log_weight(self.digest),
            prior=UNIT,
        )

    def plain(self, hyper: Hyper) -> Density:
        """The density of the functions' own coefficients, amplitudes included in them."""
        passive = self.passive(hyper)
        return Density(
            passive=passive,
            basis=BasisOperator(self.basis.map),
            arrivals=self.arrivals,
            departures=self.departures,
            discount=self.discount,
            log_passive=passive.log_weight(self.digest),
            prior=UNIT,
        )

    @property
    def of_decisions(self) -> bool:
        """Whether there is a row for every decision instead of one for every state."""
        return isinstance(self.family, MoveFamily)

    @property
    def work(self) -> int:
        """About how many numbers one evaluation looks at."""
        return self.family.work if isinstance(self.family, MoveFamily) else self.arrivals.size

    def log_hyperprior(self, hyper: Hyper) -> Float[Array, ""]:
        """Log p of the unknowns besides the coefficients."""
        basis, passive = self.parts(hyper)
        normal = -0.5 * jnp.vdot(passive, passive) - 0.5 * passive.size * jnp.log(2 * jnp.pi)
        return self.basis.log_prior(basis) + normal

    def log_joint(self, xi: Float[Array, " n"], hyper: Hyper) -> Float[Array, ""]:
        """Log p(y, ξ | the other unknowns)."""
        density = self.given(hyper)
        fit = density.log_likelihood(density.basis.apply(xi))
        return fit - 0.5 * jnp.vdot(xi, xi) - 0.5 * xi.size * jnp.log(2 * jnp.pi)

    def log_posterior(self, position: Float[Array, " unknowns"]) -> Float[Array, ""]:
        """Log p(y, all unknowns): the log posterior up to a constant."""
        xi, hyper = self.split(position)
        return self.log_joint(xi, hyper) + self.log_hyperprior(hyper)
