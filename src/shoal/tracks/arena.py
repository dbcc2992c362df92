"""The arena of tracks: rectangular or round walls, or a periodic box."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from shoal.angles import namespace
from shoal.errors import InputError

Points = Float[Any, "*shape 2"]


@dataclass(frozen=True)
class Rectangle:
    """Walls at x = left and right, and at y = bottom and top, in the unit of the tracks."""

    left: Any
    bottom: Any
    right: Any
    top: Any

    def __post_init__(self) -> None:
        """Raise an error unless left < right and bottom < top."""
        sides = _numbers((self.left, self.bottom, self.right, self.top), "left, bottom, right, top")
        for name, side in zip(("left", "bottom", "right", "top"), sides, strict=True):
            object.__setattr__(self, name, side)
        if not (self.left < self.right and self.bottom < self.top):
            raise InputError(f"a rectangle needs left < right and bottom < top, got {self}")

    def distance(self, points: Points) -> Float[Any, "*shape"]:
        """The distance of each point from the nearest wall, negative outside."""
        xp = namespace(points)
        x, y = points[..., 0], points[..., 1]
        inside_x, inside_y = (
            xp.minimum(x - self.left, self.right - x),
            xp.minimum(y - self.bottom, self.top - y),
        )
        inside = xp.minimum(inside_x, inside_y)
        beyond = xp.hypot(xp.minimum(inside_x, 0.0), xp.minimum(inside_y, 0.0))
        return xp.where(inside >= 0, inside, -beyond)

    def holds(self, points: Points) -> Bool[np.ndarray, "*shape"]:
        """Which points lie inside."""
        return np.asarray(self.distance(points) >= 0)

    def scaled(self, factor: float, shift: tuple[float, float]) -> "Rectangle":
        """The walls of tracks whose positions p became factor · p + shift."""
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
        """Raise an error unless the radius is positive."""
        values = _numbers((self.x, self.y, self.radius), "x, y, radius")
        for name, value in zip(("x", "y", "radius"), values, strict=True):
            object.__setattr__(self, name, value)
        if not self.radius > 0:
            raise InputError(f"a circle needs a positive radius, got {self.radius}")

    def distance(self, points: Points) -> Float[Any, "*shape"]:
        """The distance of each point from the wall, negative outside."""
        away = namespace(points).hypot(points[..., 0] - self.x, points[..., 1] - self.y)
        return self.radius - away

    def holds(self, points: Points) -> Bool[np.ndarray, "*shape"]:
        """Which points lie inside."""
        return np.asarray(self.distance(points) >= 0)

    def scaled(self, factor: float, shift: tuple[float, float]) -> "Circle":
        """The wall of tracks whose positions p became factor · p + shift."""
        return Circle(factor * self.x + shift[0], factor * self.y + shift[1], factor * self.radius)


@dataclass(frozen=True)
class Periodic:
    """A box without walls: an animal that leaves on one side enters on the other.

    Distances and directions between positions are those of the shortest way. Positions may
    lie any number of box lengths outside the box.
    """

    left: Any
    bottom: Any
    right: Any
    top: Any

    def __post_init__(self) -> None:
        """Raise an error unless left < right and bottom < top."""
        box = Rectangle(self.left, self.bottom, self.right, self.top)
        for name in ("left", "bottom", "right", "top"):
            object.__setattr__(self, name, getattr(box, name))

    @property
    def sides(self) -> tuple[float, float]:
        """The lengths of the box along x and y."""
        return self.right - self.left, self.top - self.bottom

    def shortest(self, step: Any) -> Any:
        """Displacements (…, 2) by the shortest way round; NumPy or JAX arrays."""
        sides = np.asarray(self.sides)
        return step - sides * (step * (1 / sides)).round()

    def wrapped(self, points: Any) -> Any:
        """The same positions inside the box; NumPy or JAX arrays."""
        corner, sides = np.asarray((self.left, self.bottom)), np.asarray(self.sides)
        return corner + (points - corner) % sides

    def holds(self, points: Points) -> Bool[np.ndarray, "*shape"]:
        """Which points lie inside: all that are finite."""
        return np.asarray(np.isfinite(points).all(axis=-1))

    def scaled(self, factor: float, shift: tuple[float, float]) -> "Periodic":
        """The box of tracks whose positions p became factor · p + shift."""
        box = Rectangle(self.left, self.bottom, self.right, self.top).scaled(factor, shift)
        return Periodic(box.left, box.bottom, box.right, box.top)


Walls = Rectangle | Circle
Arena = Rectangle | Circle | Periodic


def shortest(step: Any, arena: Arena | None) -> Any:
    """Displacements (…, 2) as they are, or in a periodic box by the shortest way round."""
    return arena.shortest(step) if isinstance(arena, Periodic) else step


MISFIT = 0.01
"""Share of positions outside an arena above which the arena is probably wrong."""


def misfit(arena: Arena, places: Points, group: str) -> str:
    """A sentence if many positions of a group lie outside an arena."""
    seen = np.isfinite(places).all(axis=-1)
    outside = int((seen & ~arena.holds(np.where(seen[..., None], places, 0.0))).sum())
    if outside <= MISFIT * seen.sum():
        return ""
    low, high = np.min(places[seen], axis=0), np.max(places[seen], axis=0)
    return (
        f"{outside:,} of {int(seen.sum()):,} places of group {group!r} lie outside the arena "
        f"{arena}; they go from x {low[0]:g} to {high[0]:g}, y {low[1]:g} to {high[1]:g}: is it in "
        "their unit, and after any flip of y or rescaling?"
    )


def arena_of(words: str) -> Arena:
    """The arena that a ``repr`` describes; nothing is executed.

    >>> arena_of(repr(Rectangle(0, 0, 2, 1)))
    Rectangle(left=0.0, bottom=0.0, right=2.0, top=1.0)
    """
    kind, _, rest = words.strip().rstrip(")").partition("(")
    kinds: dict[str, Any] = {"Rectangle": Rectangle, "Circle": Circle, "Periodic": Periodic}
    try:
        return kinds[kind](*(float(part.partition("=")[2]) for part in rest.split(",")))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"expected Rectangle(…), Circle(…) or Periodic(…), got {words!r:.80}"
        ) from error


def _numbers(values: tuple[Any, ...], names: str) -> tuple[float, ...]:
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        numbers = (np.nan,)
    if not np.all(np.isfinite(numbers)):
        raise InputError(f"an arena needs finite numbers {names}; got {values}")
    return numbers
