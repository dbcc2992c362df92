"""Animals whose turns have chances of their own, whatever noise there is in what they see.

A turn φ is weighed by f(φ) · Σ n(noise) · z(where turn and noise lead), z = e^{−γv}: by its own
chance, and by how desirable the states are that the turn and the noise make of the animal's own.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from shoal.lmdp.log_space import log_apply
from shoal.passive import LearnableDynamics, TurnCoupled
from shoal.passive.family import numbers_at
from shoal.passive.turn_coupled import FLOOR
from shoal.passive.turns import even_arcs
from shoal.posterior import Fit
from shoal.precision import as_jax
from shoal.simulation.following import ChooseTurns
from shoal.simulation.lines import Circles, Located
from shoal.states import StateSpace

STEP = 1.0
"""Degrees between turns; less where half of all turns are below twice that."""


@dataclass(frozen=True, eq=False)
class CoupledTurns:
    """Turns that move all angles together, with the numbers of every draw.

    Attributes
    ----------
    specification
        The kind of turn.
    places
        Where its numbers belong: (field, axis).
    numbers
        Those of each draw.
    """

    specification: TurnCoupled
    places: tuple[Any, ...]
    numbers: Float[np.ndarray, "draws places"]

    @classmethod
    def of(cls, passive: Any, space: StateSpace, draws: int = 1) -> "CoupledTurns | None":
        """From a specification with all its numbers, which all draws share; None for others."""
        if not isinstance(passive, TurnCoupled):
            return None
        known: Any = {(p.field, p.axis): p.given for p in passive.parameters(space)}
        numbers = np.tile(np.array([*known.values()], dtype=float), (draws, 1))
        return cls(passive, tuple(known), numbers)

    @classmethod
    def of_fit(cls, fit: Fit, draws: str) -> "CoupledTurns | None":
        """From a fit: with the numbers of every draw, or of their centre for ``"mean"``."""
        family = fit.model.family
        if draws == "mean":
            return cls.of(fit.passive, fit.model.space)
        count = fit.cost_to_go.sizes["chain"] * fit.cost_to_go.sizes["draw"]
        if not isinstance(family, LearnableDynamics):
            return cls.of(fit.passive, fit.model.space, count)
        if not isinstance(family.specification, TurnCoupled):
            return None
        found = numbers_at(family, fit.passive_unknowns)
        numbers = [np.broadcast_to(number, count) for number in found.values()]
        return cls(family.specification, tuple(found), np.stack(numbers, axis=1))

    def only(self, draws: Int[np.ndarray, " some"]) -> "CoupledTurns":
        """Of some draws."""
        return CoupledTurns(self.specification, self.places, self.numbers[draws])

    def field(self, name: str, axis: int | None = None) -> Float[np.ndarray, " draws"]:
        """One of the numbers, of each draw."""
        return self.numbers[:, self.places.index((name, axis))]


class FollowTurns(ChooseTurns):
    """Turns a degree apart, each weighted by its own chance and by where it leads with noise.

    A turn moves all angles by as much as the animal turns, and its own share in a mean heading is
    ignored: how far angles ``follow`` was learned from counts, while here the scene is made anew
    from real headings. An animal knows its angles by their bins, so that is what turns are weighed
    by.

    Attributes
    ----------
    log_turn
        Log chances of turns, −180° first, of each draw.
    log_z
        −γ v of every state, with the noise of angles and the steps of other axes taken into it.
    """

    log_turn: Float[Array, "draws turns"]
    log_z: Float[Array, "draws J"]

    @classmethod
    def of(
        cls,
        space: StateSpace,
        turns: CoupledTurns,
        log_z: Float[np.ndarray, "draws J"],
        draw: Int[np.ndarray, " groups"],
        rule: str = "stochastic",
        between: bool = True,
    ) -> "FollowTurns":
        """From states, the turns of every draw, and −γ v."""
        lines = Circles.finer(space, min(STEP, float(turns.field("spread").min()) / 2))
        numbers, wanted = as_jax(turns.numbers), as_jax(log_z)
        tables = _tables(turns.specification, space, lines.count, turns.places, numbers, wanted)
        return cls(lines, as_jax(draw), rule, between and rule != "least-cost", *tables)

    def log_chances(self, found: Located, group: Int[Array, ""]) -> Float[Array, "n turns"]:
        """Log f of the arc that each turn lies in."""
        chances = self.log_turn[self.draw[group]]
        return jnp.broadcast_to(chances, (found.line.shape[0], self.lines.count))

    def log_preferences(
        self, found: Located, ends: Int[Array, "n turns"], group: Int[Array, ""]
    ) -> Float[Array, "n turns"]:
        """How desirable the states are that turn and noise lead to."""
        return self.log_z[self.draw[group], ends]


@eqx.filter_jit
def _tables(
    specification: TurnCoupled,
    space: StateSpace,
    count: int,
    places: tuple[Any, ...],
    numbers: Float[Array, "draws places"],
    log_z: Float[Array, "draws J"],
) -> tuple[Float[Array, "draws turns"], Float[Array, "draws J"]]:
    """Log chances of turns, and −γ v with noise taken into it, one draw after the other."""

    def one(draw: tuple[Array, Array]) -> tuple[Array, Array]:
        values, wanted = dict(zip(places, draw[0], strict=True)), draw[1]
        chances = specification.turn_chances(values, even_arcs(count))
        chances = (1 - FLOOR) * jnp.maximum(chances, 0.0) + FLOOR / count
        blurred = log_apply(specification.straight_on(space, values), wanted.reshape(space.shape))
        return jnp.log(chances), blurred.ravel()

    found: tuple[Array, Array] = jax.lax.map(one, (numbers, log_z))
    return found
