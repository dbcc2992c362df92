"""The walls around the animals: a rectangle or a circle."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from shoal.errors import InputError

Points = Float[np.ndarray, "*shape 2"]


@dataclass(frozen=True)
class Rectangle:
    """Walls at x = left and right, y = bottom and top, in the unit of the tracks."""

    left: Any
    bottom: Any
    right: Any
    top: Any

    def __post_init__(self) -> None:
        """Check the sides."""
        sides = _numbers((self.left, self.bottom, self.right, self.top), "left, bottom, right, top")
        for name, side in zip(("left", "bottom", "right", "top"), sides, strict=True):
            object.__setattr__(self, name, side)
        if not (self.left < self.right and self.bottom < self.top):
            raise InputError(f"a rectangle has left < right and bottom < top, got {self}")

    def distance(self, points: Points) -> Float[np.ndarray, "*shape"]:
        """From each point to the nearest wall, negative outside."""
        x, y = points[..., 0], points[..., 1]
        inside = np.minimum.reduce([x - self.left, self.right - x, y - self.bottom, self.top - y])
        beyond_x = np.maximum.reduce([self.left - x, x - self.right, np.zeros_like(x)])
        beyond_y = np.maximum.reduce([self.bottom - y, y - self.top, np.zeros_like(y)])
        return np.where(inside >= 0, inside, -np.hypot(beyond_x, beyond_y))

    def holds(self, points: Points) -> Bool[np.ndarray, "*shape"]:
        """Which points lie inside."""
        return np.asarray(self.distance(points) >= 0)

    def scaled(self, factor: float, shift: tuple[float, float]) -> "Rectangle":
        """The walls of tracks whose places p became factor · p + shift."""
        (dx, dy), f = shift, factor
        return Rectangle(
            f * self.left + dx, f * self.bottom + dy, f * self.right + dx, f * self.top + dy
        )


@dataclass(frozen=True)
class Circle:
    """A round wall, in the unit of the tracks."""

    x: Any
    y: Any
    radius: Any

    def __post_init__(self) -> None:
        """Check the radius."""
        values = _numbers((self.x, self.y, self.radius), "x, y, radius")
        for name, value in zip(("x", "y", "radius"), values, strict=True):
            object.__setattr__(self, name, value)
        if not self.radius > 0:
            raise InputError(f"a circle has a positive radius, got {self.radius}")

    def distance(self, points: Points) -> Float[np.ndarray, "*shape"]:
        """From each point to the wall, negative outside."""
        away = np.hypot(points[..., 0] - self.x, points[..., 1] - self.y)
        return np.asarray(self.radius - away)

    def holds(self, points: Points) -> Bool[np.ndarray, "*shape"]:
        """Which points lie inside."""
        return np.asarray(self.distance(points) >= 0)

    def scaled(self, factor: float, shift: tuple[float, float]) -> "Circle":
        """The wall of tracks whose places p became factor · p + shift."""
        return Circle(factor * self.x + shift[0], factor * self.y + shift[1], factor * self.radius)


Arena = Rectangle | Circle


def arena_of(words: str) -> Arena:
    """An arena as its ``repr`` writes it, without executing anything.

    >>> arena_of(repr(Rectangle(0, 0, 2, 1)))
    Rectangle(left=0.0, bottom=0.0, right=2.0, top=1.0)
    """
    kind, _, rest = words.strip().rstrip(")").partition("(")
    kinds: dict[str, Any] = {"Rectangle": Rectangle, "Circle": Circle}
    try:
        return kinds[kind](*(float(part.partition("=")[2]) for part in rest.split(",")))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"expected Rectangle(…) or Circle(…), got {words!r:.80}") from error


def _numbers(values: tuple[Any, ...], names: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        numbers = (np.nan,)
    if not np.all(np.isfinite(numbers)):
        raise InputError(f"an arena has finite numbers {names}; got {values}")
    return numbers
