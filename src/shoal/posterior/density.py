"""The posterior density of eq. lmdplik and lmdpprior, through arrivals and departures only."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from shoal.basis import BasisOperator
from shoal.passive import PassiveOperator
from shoal.posterior.prior import Prior


class Density(eqx.Module):
    """What tracks say about coefficients β and the prior's unknown t.

    Attributes
    ----------
    passive
        P̄, or of decisions S: the passive chances of the states that each decision's moves lead to.
    arrivals, departures
        How often each state was entered; how often each row of P̄ or S was left.
    log_passive
        Σ y_ij log p̄_ij, the part of the likelihood that no cost changes.
    """

    passive: PassiveOperator
    basis: BasisOperator
    arrivals: Float[Array, "*grid"]
    departures: Float[Array, "*rows"]
    discount: Float[Array, ""]
    log_passive: Float[Array, ""]
    prior: Prior = eqx.field(static=True)

    @property
    def coefficients(self) -> int:
        """The number of coefficients."""
        return self.basis.count

    @property
    def dimension(self) -> int:
        """The number of unknowns: coefficients, and t where it is not fixed."""
        return self.coefficients + self.prior.unknowns

    def split(
        self, position: Float[Array, " unknowns"]
    ) -> tuple[Float[Array, " n"], Float[Array, ""]]:
        """β and t of a point."""
        if self.prior.unknowns:
            return position[:-1], position[-1]
        return position, jnp.asarray(self.prior.start)

    def join(
        self, coefficients: Float[Array, " n"], t: Float[Array, ""]
    ) -> Float[Array, " unknowns"]:
        """The point with these β and t."""
        return jnp.append(coefficients, t) if self.prior.unknowns else coefficients

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

    def log_prior(self, position: Float[Array, " unknowns"]) -> Float[Array, ""]:
        """Log p(β, t)."""
        beta, t = self.split(position)
        return self.prior.log_density(jnp.vdot(beta, beta), t, self.coefficients)

    def log_posterior(self, position: Float[Array, " unknowns"]) -> Float[Array, ""]:
        """Log p(y, β, t): the log posterior up to a constant."""
        beta, _ = self.split(position)
        return self.log_likelihood(self.basis.apply(beta)) + self.log_prior(position)

    def expected_arrivals(self, cost_to_go: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """Σ_i d_i p*(j | i): how often the policy would enter each state."""
        _, z, reached = self.desirability(cost_to_go)
        left = self.departures > 0
        return z * self.passive.adjoint(
            jnp.where(left, self.departures / jnp.where(left, reached, 1.0), 0.0)
        )
