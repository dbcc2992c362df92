"""Passive dynamics with unknowns: an operator for every value of them."""

from abc import abstractmethod
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

import shoal.precision  # noqa: F401
from shoal.errors import InputError
from shoal.passive.binding import as_operator
from shoal.passive.operator import PassiveOperator
from shoal.passive.unknown import Parameter
from shoal.states import StateSpace


@runtime_checkable
class Learnable(Protocol):
    """A specification some of whose numbers may be unknown."""

    def parameters(self, space: StateSpace) -> tuple[Parameter, ...]:
        """Its numbers on a state space, known and unknown."""
        ...

    def build(self, space: StateSpace, values: dict[Any, Any]) -> PassiveOperator:
        """The operator with these values, by (field, axis); they may be traced by JAX."""
        ...

    def known(self, space: StateSpace, values: dict[Any, float]) -> Any:
        """The same specification with numbers for its unknowns."""
        ...


class PassiveFamily(eqx.Module):
    """P̄ as a function of unknowns u, each with a standard normal prior."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Of the unknowns."""

    @abstractmethod
    def at(self, u: Float[Array, " k"]) -> PassiveOperator:
        """P̄ there."""

    @abstractmethod
    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """The unknowns in their own units."""

    @abstractmethod
    def coordinates(self, values: Any) -> Any:
        """The inverse of ``values``, along the last axis."""

    @property
    def count(self) -> int:
        """The number of unknowns."""
        return len(self.names)


class KnownDynamics(PassiveFamily):
    """P̄ without unknowns."""

    operator: PassiveOperator

    @property
    def names(self) -> tuple[str, ...]:
        """None."""
        return ()

    def at(self, u: Float[Array, " k"]) -> PassiveOperator:
        """P̄."""
        return self.operator

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """None."""
        return u

    def coordinates(self, values: Any) -> Any:
        """None."""
        return values


class LearnableDynamics(PassiveFamily):
    """P̄ of a specification with unknowns."""

    specification: Any = eqx.field(static=True)
    space: StateSpace = eqx.field(static=True)
    parameters: tuple[Parameter, ...] = eqx.field(static=True)

    @property
    def unknown(self) -> tuple[Parameter, ...]:
        """The parameters to be learned."""
        return tuple(part for part in self.parameters if part.unknown)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the unknowns."""
        return tuple(part.name for part in self.unknown)

    def at(self, u: Float[Array, " k"]) -> PassiveOperator:
        """P̄ there."""
        operator: PassiveOperator = self.specification.build(self.space, self.numbers(u))
        return operator

    def numbers(self, u: Float[Array, " k"]) -> dict[Any, Any]:
        """Every number, known and learned, by (field, axis)."""
        places = [(p.field, p.axis) for p in self.unknown]
        learned = dict(zip(places, self.values(u), strict=True))
        return {(p.field, p.axis): p.given for p in self.parameters if not p.unknown} | learned

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """The unknowns in their own units."""
        parts = [part.value(u[place]) for place, part in enumerate(self.unknown)]
        return jnp.stack(parts) if parts else u

    def coordinates(self, values: Any) -> Any:
        """The inverse of ``values``, along the last axis."""
        parts = [part.coordinate(values[..., i]) for i, part in enumerate(self.unknown)]
        return jnp.stack([jnp.asarray(part) for part in parts], axis=-1)

    def known(self, values: Any) -> Any:
        """The specification with numbers for its unknowns."""
        places = [(p.field, p.axis) for p in self.unknown]
        numbers = {place: float(value) for place, value in zip(places, values, strict=True)}
        fixed = {(p.field, p.axis): p.given for p in self.parameters if not p.unknown}
        return self.specification.known(self.space, fixed | numbers)


def as_family(passive: Any, space: StateSpace) -> PassiveFamily:
    """Passive dynamics with what is unknown about them, from anything that describes some."""
    if isinstance(passive, Learnable) and not isinstance(passive, type):
        parameters = passive.parameters(space)
        if any(part.unknown for part in parameters):
            return LearnableDynamics(passive, space, parameters)
    return KnownDynamics(as_operator(passive, space))


def built(specification: Any, space: StateSpace) -> PassiveOperator:
    """The operator of a specification all of whose numbers are known."""
    parameters = specification.parameters(space)
    open_ = [part.name for part in parameters if part.unknown]
    if open_:
        raise InputError(
            f"{type(specification).__name__} has unknowns ({', '.join(open_)}): fit a model with "
            "it, or give numbers"
        )
    operator: PassiveOperator = specification.build(
        space, {(part.field, part.axis): part.given for part in parameters}
    )
    return operator
