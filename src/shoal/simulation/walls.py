"""What happens at the edge: nothing, a wall to slide along, or a wall that throws back."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from shoal.tracks import Arena, Circle, Rectangle

WALLS = ("slide", "reflect")
Points = Float[Array, "individuals 2"]


def moved(
    arena: Arena | None,
    walls: str,
    start: Points,
    lengths: Float[Array, " individuals"],
    ways: Points,
) -> tuple[Points, Points]:
    """Where animals end up that go some length from inside the arena, and their directions then.

    Parameters
    ----------
    arena
        Nothing, and a periodic box, whose places may be written with turns round it, stop nobody.
    walls
        ``"reflect"``: as light from a mirror. ``"slide"``: up to the wall and on along it; who runs
        into a corner, or straight at a round wall, turns back.
    ways
        Directions as unit vectors.
    """
    goal = start + lengths[:, None] * ways
    if isinstance(arena, Rectangle):
        return _in_rectangle(arena, walls, goal, ways)
    if isinstance(arena, Circle):
        if walls == "reflect":
            return _mirrored_in_circle(arena, start, lengths, ways)
        return _along_circle(arena, goal, ways)
    return goal, ways


def _in_rectangle(
    arena: Rectangle, walls: str, goal: Points, ways: Points
) -> tuple[Points, Points]:
    low, high = jnp.array([arena.left, arena.bottom]), jnp.array([arena.right, arena.top])
    if walls == "slide":
        stopped = jnp.clip(goal, low, high)
        return stopped, _along(ways, jnp.where(stopped == goal, ways, 0.0))
    side = high - low
    depth = (goal - low) / side
    met = jnp.where(depth >= 0, jnp.maximum(jnp.ceil(depth) - 1, 0), jnp.floor(depth))
    folded = low + side * (1 - jnp.abs(jnp.mod(depth, 2) - 1))
    inside = (goal >= low) & (goal <= high)
    place = jnp.where(inside, goal, jnp.clip(folded, low, high))
    return place, jnp.where(jnp.mod(met, 2) == 1, -ways, ways)


def _mirrored_in_circle(
    arena: Circle, start: Points, lengths: Float[Array, " individuals"], ways: Points
) -> tuple[Points, Points]:
    """From wall to wall; who meets it more than a dozen times in a step stays there."""
    centre = jnp.array([arena.x, arena.y])

    def bounce(_: Any, state: tuple[Points, Points, Array]) -> tuple[Points, Points, Array]:
        place, way, left = state
        away = place - centre
        towards = (away * way).sum(axis=1)
        depth = arena.radius**2 - (away**2).sum(axis=1)
        reach = -towards + jnp.sqrt(jnp.maximum(towards**2 + depth, 0.0))  # to the wall
        hits = left > reach
        step = jnp.where(hits, jnp.maximum(reach, 0.0), left)
        place = place + step[:, None] * way
        normal = (place - centre) / arena.radius
        mirrored = way - 2 * (way * normal).sum(axis=1, keepdims=True) * normal
        return place, jnp.where(hits[:, None], mirrored, way), left - step

    place, way, _ = jax.lax.fori_loop(0, 12, bounce, (start, ways, lengths))
    return _within_circle(arena, place), way


def _along_circle(arena: Circle, goal: Points, ways: Points) -> tuple[Points, Points]:
    away = goal - jnp.array([arena.x, arena.y])
    distance = jnp.hypot(away[:, 0], away[:, 1])[:, None]
    outside = distance > arena.radius
    normal = away / jnp.where(outside, distance, 1.0)
    along = _along(ways, ways - (ways * normal).sum(axis=1, keepdims=True) * normal)
    return _within_circle(arena, goal), jnp.where(outside, along, ways)


def _within_circle(arena: Circle, places: Points) -> Points:
    """Nobody is outside, not by rounding either."""
    centre = jnp.array([arena.x, arena.y])
    away = places - centre
    distance = jnp.hypot(away[:, 0], away[:, 1])[:, None]
    edge = arena.radius * (1 - 1e-12)
    outside = distance > edge
    return jnp.where(outside, centre + edge * away / jnp.where(outside, distance, 1.0), places)


def _along(ways: Points, left: Points) -> Points:
    """What is left of directions as unit vectors; where nothing is left, the way back."""
    length = jnp.hypot(left[:, 0], left[:, 1])[:, None]
    return jnp.where(length > 1e-9, left / jnp.where(length > 1e-9, length, 1.0), -ways)
