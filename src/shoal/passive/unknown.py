"""Numbers of passive dynamics that are not known: each with a prior, learned from tracks."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.errors import InputError

POSITIVE, SHARE, CORRELATION, ANGLE, POWER = "positive", "share", "correlation", "angle", "power"
"""Kinds of parameters: above 0, between 0 and 1, between −1 and 1, between −180 and 180, or between
−3 and 3."""

WIDEST = {CORRELATION: 1.0, ANGLE: 180.0, POWER: 3.0}
"""How far parameters go from 0 on either side."""


@dataclass(frozen=True)
class Unknown:
    """A number to be learned, with a prior around a guess.

    Parameters
    ----------
    median
        The guess: as likely too high as too low.
    factor
        How far off it may be: two times in three the number lies within this factor of the guess.
        Of a share between 0 and 1 it is the odds that lie within this factor. Of a correlation ρ
        median and factor are those of (1 + ρ) / (1 − ρ). Of an angle ρ is its share of 180°, and of
        a power its share of 3.

    Examples
    --------
    >>> import shoal
    >>> shoal.RandomWalk(sd=shoal.passive.Unknown(20.0, factor=3.0))
    RandomWalk(sd=Unknown(median=20.0, factor=3.0), start='anywhere')
    """

    median: Any
    factor: Any = 3.0

    def __post_init__(self) -> None:
        """Check both numbers."""
        for name, value, least in (("median", self.median, 0.0), ("factor", self.factor, 1.0)):
            number = isinstance(value, int | float | np.number) and math.isfinite(value)
            if not number or not value > least:
                raise InputError(
                    f"the {name} of an Unknown is a number above {least:g}, got {value!r}"
                )
            object.__setattr__(self, name, float(value))


class Parameter(NamedTuple):
    """One number of passive dynamics.

    ``given`` is its value, or what is known of it; ``field`` and ``axis`` say where it belongs.
    """

    name: str
    field: str
    axis: int | None
    given: float | Unknown
    kind: str = POSITIVE

    @property
    def unknown(self) -> bool:
        """Whether it is to be learned."""
        return isinstance(self.given, Unknown)

    @property
    def numbers(self) -> tuple[float, float]:
        """The number and 0, or where it is learned the centre and the spread of its prior."""
        if not isinstance(self.given, Unknown):
            return float(self.given), 0.0
        median, spread = self.given.median, math.log(self.given.factor)
        if self.kind == SHARE:
            return math.log(median / (1 - median)), spread
        return (math.log(median) if self.kind in WIDEST else median), spread

    def value(self, u: Float[Array, ""]) -> Float[Array, ""]:
        """The number at u, which has a standard normal prior."""
        return value_at(self.kind, *self.numbers, u)

    def coordinate(self, value: Any) -> Any:
        """The inverse of ``value``."""
        return coordinate_of(self.kind, *self.numbers, value)


def value_at(kind: str, centre: Any, spread: Any, u: Float[Array, ""]) -> Float[Array, ""]:
    """The number of some kind at u, where its prior has this centre and spread."""
    if kind == SHARE:
        return jax.nn.sigmoid(centre + spread * u)
    if kind in WIDEST:
        return WIDEST[kind] * jnp.tanh((centre + spread * u) / 2)
    return centre * jnp.exp(spread * u)


def coordinate_of(kind: str, centre: Any, spread: Any, value: Any) -> Any:
    """The inverse of ``value_at``."""
    if kind == SHARE:
        return (np.log(value / (1 - value)) - centre) / spread
    if kind in WIDEST:
        return (2 * np.arctanh(value / WIDEST[kind]) - centre) / spread
    return np.log(value / centre) / spread


def parameter(
    name: str, field: str, given: Any, kind: str = POSITIVE, axis: int | None = None
) -> Parameter:
    """A checked parameter."""
    if given is None:
        raise InputError(
            f"the {name} is not known and has no prior: give a number, or "
            f"shoal.passive.Unknown(guess, factor) with what you know of it"
        )
    if isinstance(given, Unknown):
        if kind == SHARE and not given.median < 1:
            raise InputError(f"the {name} is a share below 1, and its median is {given.median:g}")
        return Parameter(name, field, axis, given, kind)
    number = isinstance(given, int | float | np.number) and math.isfinite(given)
    most = 1.0 if kind == SHARE else math.inf
    if not number or not 0 < given <= most:
        words = "a share between 0 and 1" if kind == SHARE else "a positive number"
        raise InputError(
            f"the {name} is {words} or shoal.passive.Unknown(guess, factor); got {given!r}"
        )
    return Parameter(name, field, axis, float(given), kind)


def per_axis(given: Any, count: int, what: str) -> tuple[Any, ...]:
    """One for each axis, from one for all or one for each."""
    if isinstance(given, tuple | list):
        if len(given) != count:
            raise InputError(f"{what}: {len(given)} numbers for {count} axes; give one for each")
        return tuple(given)
    return (given,) * count
