"""The posterior density of eq. lmdplik and lmdpprior, through arrivals and departures only."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.basis import BasisOperator, ScaledBasis
from shoal.moves import MoveFamily
from shoal.passive import PassiveFamily, PassiveOperator

Hyper = Float[Array, " hyper"]


class Conditional(eqx.Module):
    """What tracks say about coefficients where all else is known.

    Attributes
    ----------
    passive
        P̄, or of decisions S: the passive chances of the states that each decision's moves lead to.
    arrivals, departures
        How often each state was entered; how often each row of P̄ or S was left.
    log_passive
        Σ y_ij log p̄_ij, the part of the likelihood that no cost changes.
    precision
        Of the coefficients, before the tracks are seen.
    """

    passive: PassiveOperator
    basis: BasisOperator
    arrivals: Float[Array, "*grid"]
    departures: Float[Array, "*rows"]
    discount: Float[Array, ""]
    log_passive: Float[Array, ""]
    precision: Float[Array, ""]

    def log_likelihood(self, cost_to_go: Float[Array, "*grid"]) -> Float[Array, ""]:
        """ℓ(v) = −γ⟨a, v⟩ − ⟨d, log P̄ e^{−γv}⟩ + Σ y log p̄ (eq. lmdplik)."""
        lowest, _, reached = self.desirability(cost_to_go)
        left, possible = self.departures > 0, reached > 0
        log_norm = jnp.where(left & possible, jnp.log(jnp.where(possible, reached, 1.0)), 0.0)
        arrive = self.discount * jnp.vdot(self.arrivals, cost_to_go)
        depart = jnp.vdot(self.departures, log_norm) - lowest * jnp.sum(self.departures)
        # where v spans over 700 nats a row may vanish: such a v is refused, not misjudged
        vanished = jnp.any(left & ~possible)
        return jnp.where(vanished, -jnp.inf, self.log_passive - arrive - depart)

    def desirability(
        self, cost_to_go: Float[Array, "*grid"]
    ) -> tuple[Float[Array, ""], Float[Array, "*grid"], Float[Array, "*rows"]]:
        """M = min γv, z = e^{m − γv} and P̄ z."""
        scaled = self.discount * cost_to_go
        lowest = jax.lax.stop_gradient(jnp.min(scaled))
        z = jnp.exp(lowest - scaled)
        return lowest, z, self.passive.apply_positive(z)

    def expected_arrivals(self, cost_to_go: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """Σ_i d_i p*(j | i): how often the policy would enter each state."""
        _, z, reached = self.desirability(cost_to_go)
        left = self.departures > 0
        return z * self.passive.adjoint(
            jnp.where(left, self.departures / jnp.where(left, reached, 1.0), 0.0)
        )


class Density(eqx.Module):
    """What tracks say about coefficients ξ and all that is unknown besides.

    A point is (ξ, unknowns of the basis, unknowns of the passive dynamics). Where nothing is
    unknown besides the coefficients, the rest of a point is empty. The basis says what prior the
    coefficients and its unknowns have; unknowns of the passive dynamics are standard normal.

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

    @property
    def of_decisions(self) -> bool:
        """Whether there is a row for every decision instead of one for every state."""
        return isinstance(self.family, MoveFamily)

    @property
    def work(self) -> int:
        """About how many numbers one evaluation looks at."""
        return self.family.work if isinstance(self.family, MoveFamily) else self.arrivals.size

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

    def given(self, hyper: Hyper) -> Conditional:
        """The density of the coefficients where all else is known."""
        basis, _ = self.parts(hyper)
        return self._conditional(self.basis.at(basis), hyper, self.basis.precision(basis))

    def plain(self, hyper: Hyper) -> Conditional:
        """The same of the functions' own coefficients, amplitudes included in them."""
        return self._conditional(BasisOperator(self.basis.map), hyper, jnp.asarray(1.0))

    def _conditional(
        self, basis: BasisOperator, hyper: Hyper, precision: Float[Array, ""]
    ) -> Conditional:
        passive = self.passive(hyper)
        return Conditional(
            passive=passive,
            basis=basis,
            arrivals=self.arrivals,
            departures=self.departures,
            discount=self.discount,
            log_passive=self.family.log_weight(passive, self.digest),
            precision=precision,
        )

    def log_hyperprior(self, hyper: Hyper) -> Float[Array, ""]:
        """Log p of the unknowns besides the coefficients."""
        basis, passive = self.parts(hyper)
        normal = -0.5 * jnp.vdot(passive, passive) - 0.5 * passive.size * jnp.log(2 * jnp.pi)
        return self.basis.log_prior(basis) + normal

    def log_joint(self, xi: Float[Array, " n"], hyper: Hyper) -> Float[Array, ""]:
        """Log p(y, ξ | the other unknowns)."""
        given = self.given(hyper)
        fit = given.log_likelihood(given.basis.apply(xi))
        size = xi.size * (jnp.log(given.precision) - jnp.log(2 * jnp.pi))
        return fit - 0.5 * given.precision * jnp.vdot(xi, xi) + 0.5 * size

    def log_posterior(self, position: Float[Array, " unknowns"]) -> Float[Array, ""]:
        """Log p(y, all unknowns): the log posterior up to a constant."""
        xi, hyper = self.split(position)
        return self.log_joint(xi, hyper) + self.log_hyperprior(hyper)
