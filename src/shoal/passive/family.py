"""Passive dynamics with unknowns: an operator for every value of them."""

from abc import abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.errors import InputError
from shoal.passive.binding import as_operator
from shoal.passive.operator import PassiveOperator
from shoal.passive.unknown import Parameter, coordinate_of, value_at
from shoal.precision import as_jax
from shoal.states import StateSpace


@runtime_checkable
class Learnable(Protocol):
    """A specification some of whose numbers may be unknown."""

    def parameters(self, space: StateSpace) -> tuple[Parameter, ...]:
        """Its numbers on a state space, known and unknown."""
        ...

    def build(self, space: StateSpace, values: dict[Any, Any]) -> PassiveOperator:
        """The operator with these values, by (field, axis); they may be traced by JAX.

        Its numbers are taken from ``values`` and from nowhere else: fits that differ in numbers
        alone share their compiled programs.
        """
        ...

    def known(self, space: StateSpace, values: dict[Any, float]) -> Any:
        """The same specification with numbers for its unknowns."""
        ...


class Place(NamedTuple):
    """Where a number of a specification belongs, and whether it is learned."""

    name: str
    field: str
    axis: int | None
    kind: str
    unknown: bool


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

    def log_weight(self, passive: PassiveOperator, digest: Any) -> Float[Array, ""]:
        """The log likelihood of transitions where nothing is preferred, at one of its operators."""
        return passive.log_weight(digest)

    @property
    def bare(self) -> "PassiveFamily":
        """As much of it as the passive dynamics' own likelihood needs."""
        return self

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

    def log_weight(self, passive: PassiveOperator, digest: Any) -> Float[Array, ""]:
        """The digest itself: the sum never changes, so it is taken once."""
        found: Float[Array, ""] = digest
        return found

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """None."""
        return u

    def coordinates(self, values: Any) -> Any:
        """None."""
        return values


class Form:
    """A specification as compiled programs know it: equal to others that differ in numbers alone.

    Attributes
    ----------
    specification
        As it was written down, numbers included.
    numbers
        Its fields that are numbers.
    """

    def __init__(self, specification: Any, numbers: frozenset[str]) -> None:
        self.specification, self.numbers = specification, numbers
        rest: Any = specification
        if is_dataclass(specification):
            names = [part.name for part in fields(specification) if part.name not in numbers]
            rest = tuple((name, getattr(specification, name)) for name in names)
        self.rest = (type(specification), numbers, rest)

    @classmethod
    def of(cls, specification: Any, parameters: tuple[Parameter, ...], *others: str) -> "Form":
        """From the parameters of a specification; no program reads its fields ``others``."""
        return cls(specification, frozenset(part.field for part in parameters).union(others))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Form) and self.rest == other.rest

    def __hash__(self) -> int:
        return hash(self.rest)


class LearnableDynamics(PassiveFamily):
    """P̄ of a specification with unknowns.

    Attributes
    ----------
    form
        The specification; its numbers are in ``given``.
    places
        Name, field, axis and kind of each number, and whether it is learned.
    given
        Each number and 0, or where it is learned the centre and the spread of its prior.
    """

    form: Form = eqx.field(static=True)
    space: StateSpace = eqx.field(static=True)
    places: tuple[Place, ...] = eqx.field(static=True)
    given: Float[Array, "numbers 2"]

    @staticmethod
    def parts(
        parameters: tuple[Parameter, ...],
    ) -> tuple[tuple[Place, ...], Float[Array, "numbers 2"]]:
        """Places and numbers of parameters."""
        places = tuple(Place(p.name, p.field, p.axis, p.kind, p.unknown) for p in parameters)
        numbers = np.array([part.numbers for part in parameters], dtype=float)
        return places, as_jax(numbers.reshape(-1, 2))

    @property
    def specification(self) -> Any:
        """As it was written down."""
        return self.form.specification

    @property
    def names(self) -> tuple[str, ...]:
        """Of the unknowns."""
        return tuple(place.name for place in self.places if place.unknown)

    def at(self, u: Float[Array, " k"]) -> PassiveOperator:
        """P̄ there."""
        operator: PassiveOperator = self.specification.build(self.space, self.numbers(u))
        return operator

    def numbers(self, u: Float[Array, " k"]) -> dict[Any, Any]:
        """Every number, known and learned, by (field, axis)."""
        known = {p[1:3]: self.given[n, 0] for n, p in enumerate(self.places) if not p.unknown}
        learned = [p[1:3] for p in self.places if p.unknown]
        return known | dict(zip(learned, self.values(u), strict=True))

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """The unknowns in their own units."""
        learned = [(n, place.kind) for n, place in enumerate(self.places) if place.unknown]
        parts = [
            value_at(kind, self.given[n, 0], self.given[n, 1], u[i])
            for i, (n, kind) in enumerate(learned)
        ]
        return jnp.stack(parts) if parts else u

    def coordinates(self, values: Any) -> Any:
        """The inverse of ``values``, along the last axis."""
        given = np.asarray(self.given)
        learned = [(n, place.kind) for n, place in enumerate(self.places) if place.unknown]
        parts = [
            coordinate_of(kind, given[n, 0], given[n, 1], values[..., i])
            for i, (n, kind) in enumerate(learned)
        ]
        return np.stack(parts, axis=-1)

    def known(self, u: Float[Any, " k"]) -> Any:
        """The specification with numbers for its unknowns."""
        found = numbers_at(self, as_jax(np.asarray(u)[None]))
        numbers = {place: float(np.ravel(value)[0]) for place, value in found.items()}
        return self.specification.known(self.space, numbers)


@eqx.filter_jit
def passive_at(family: PassiveFamily, u: Float[Array, " k"]) -> PassiveOperator:
    """P̄ at these unknowns, by one program."""
    return family.at(u)


@eqx.filter_jit
def numbers_at(family: LearnableDynamics, us: Float[Array, "draws k"]) -> dict[Any, Any]:
    """Every number of passive dynamics at many unknowns, by one program."""
    return jax.vmap(family.numbers)(us)


def as_family(passive: Any, space: StateSpace) -> PassiveFamily:
    """Passive dynamics with what is unknown about them, from anything that describes some."""
    if isinstance(passive, Learnable) and not isinstance(passive, type):
        parameters = passive.parameters(space)
        if any(part.unknown for part in parameters):
            form = Form.of(passive, parameters)
            return LearnableDynamics(form, space, *LearnableDynamics.parts(parameters))
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
