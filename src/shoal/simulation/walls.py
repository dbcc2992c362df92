"""What happens at the edge: nothing, a wall to slide along, or a wall that throws back."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from shoal.tracks import Arena, Circle, Rectangle

WALLS = ("slide", "reflect")
Points = Float[Array, "individuals 2"]


def kept_inside(
    arena: Arena | None, walls: str, places: Points, ways: Points
) -> tuple[Points, Points]:
    """Where animals end up that would have gone to ``places``, and their directions then.

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
    if isinstance(arena, Rectangle):
        return _in_rectangle(arena, walls, places, ways)
    if isinstance(arena, Circle):
        return _in_circle(arena, walls, places, ways)
    return places, ways


def _in_rectangle(
    arena: Rectangle, walls: str, places: Points, ways: Points
) -> tuple[Points, Points]:
    low, high = jnp.array([arena.left, arena.bottom]), jnp.array([arena.right, arena.top])
    if walls == "slide":
        stopped = jnp.clip(places, low, high)
        return stopped, _along(ways, jnp.where(stopped == places, ways, 0.0))
    side = high - low
    walls_met = jnp.floor((places - low) / side)
    depth = jnp.mod(places - low, 2 * side)
    folded = low + side - jnp.abs(depth - side)
    odd = jnp.mod(walls_met, 2) == 1
    return jnp.clip(folded, low, high), jnp.where(odd, -ways, ways)


def _in_circle(arena: Circle, walls: str, places: Points, ways: Points) -> tuple[Points, Points]:
    centre = jnp.array([arena.x, arena.y])
    away = places - centre
    distance = jnp.hypot(away[:, 0], away[:, 1])[:, None]
    outside = distance > arena.radius
    normal = away / jnp.where(outside, distance, 1.0)
    outwards = (ways * normal).sum(axis=1, keepdims=True)
    if walls == "slide":
        place, way = centre + arena.radius * normal, _along(ways, ways - outwards * normal)
    else:
        depth = jnp.maximum(2 * arena.radius - distance, 0.0)
        place, way = centre + depth * normal, ways - 2 * jnp.maximum(outwards, 0.0) * normal
    return jnp.where(outside, place, places), jnp.where(outside, way, ways)


def _along(ways: Points, left: Points) -> Points:
    """What is left of directions as unit vectors; where nothing is left, the way back."""
    length = jnp.hypot(left[:, 0], left[:, 1])[:, None]
    return jnp.where(length > 1e-9, left / jnp.where(length > 1e-9, length, 1.0), -ways)
