"""Truths from the prior, and the decisions of animals that live by them."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.errors import InputError
from shoal.lmdp.log_space import log_apply
from shoal.passive import PassiveOperator
from shoal.posterior.density import Density
from shoal.posterior.model import Model
from shoal.precision import as_jax
from shoal.simulation.decisions import simulate_decisions
from shoal.states import Transitions, count_transitions

LARGEST = 5000
"""States up to which a policy is written out, which decisions need."""


class Design(NamedTuple):
    """How many animals are watched, in how many groups, and for how long."""

    groups: int = 1
    animals: int = 10
    frames: int = 100

    def check(self) -> None:
        """Raise where there is nothing to watch."""
        if self.groups < 1 or self.animals < 1 or self.frames < 2:
            raise InputError(
                "a design has 1 group, 1 animal and 2 frames or more; got "
                f"{self.groups}, {self.animals} and {self.frames}"
            )

    def words(self) -> str:
        """In words."""
        groups = "1 group" if self.groups == 1 else f"{self.groups} groups"
        seen = f"{self.transitions:,} transitions"
        return f"{groups} of {self.animals} and {self.frames} frames ({seen})"

    @property
    def transitions(self) -> int:
        """How many decisions are seen."""
        return self.groups * self.animals * (self.frames - 1)


def prior_position(density: Density, rng: np.random.Generator) -> Float[Array, " unknowns"]:
    """All unknowns at once, drawn from what is believed before the tracks are seen."""
    basis = density.basis.draw(rng)
    hyper = np.concatenate([basis, rng.standard_normal(density.family.count)])
    sd = float(density.basis.precision(as_jax(basis))) ** -0.5
    return as_jax(np.concatenate([sd * rng.standard_normal(density.coefficients), hyper]))


def decided(
    model: Model,
    v: Float[np.ndarray, "*grid"],
    passive: PassiveOperator,
    design: Design,
    rng: np.random.Generator,
) -> Transitions:
    """Counted decisions of animals that follow the policy of v, from starts spread evenly."""
    if model.space.size > LARGEST:
        raise InputError(
            f"decisions are simulated on {LARGEST:,} states at the most, got {model.space.size:,}: "
            "use coarser bins"
        )
    states = simulate_decisions(
        np.asarray(v).ravel(),
        passive=np.asarray(passive.dense()),
        discount=float(model.discount),
        agents=design.groups * design.animals,
        steps=design.frames - 1,
        seed=int(rng.integers(2**31)),
    )
    return count_transitions(list(states), model.space)


class Quantities(NamedTuple):
    """What is asked of a point of the posterior.

    Attributes
    ----------
    contrasts
        The cost-to-go less its mean over arrivals, in every state.
    some
        The numbers that are ranked: contrasts and state costs of a few states, all unknowns besides
        coefficients, the log likelihood, the range of the cost-to-go.
    """

    contrasts: Float[Array, "draws J"]
    some: Float[Array, "draws quantities"]


@eqx.filter_jit
def quantities(
    density: Density,
    positions: Float[Array, "draws unknowns"],
    states: tuple[int, ...],
) -> Quantities:
    """Of every point, one after the other."""

    def one(position: Float[Array, " unknowns"]) -> Quantities:
        beta, others = density.split(position)
        given = density.given(others)
        v = given.basis.apply(beta)
        contrast = _contrast(v, density.arrivals)
        cost = _contrast(v + log_apply(given.passive, -given.discount * v), density.arrivals)
        at = as_jax(states)
        single = jnp.stack([given.log_likelihood(v), jnp.max(v) - jnp.min(v)])
        return Quantities(contrast, jnp.concatenate([contrast[at], cost[at], others, single]))

    return jax.lax.map(one, positions)


def quantity_names(density: Density, states: tuple[int, ...]) -> tuple[str, ...]:
    """Of the numbers that are ranked."""
    words = [f"state {state}" for state in states]
    return (
        *(f"cost-to-go, {word}" for word in words),
        *(f"state cost, {word}" for word in words),
        *density.names,
        "log likelihood",
        "range of the cost-to-go",
    )


def _contrast(v: Float[Array, "*grid"], arrivals: Float[Array, "*grid"]) -> Float[Array, " J"]:
    return (v - jnp.vdot(v, arrivals) / jnp.sum(arrivals)).ravel()
