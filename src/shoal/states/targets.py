"""Where an animal may want to go: a point, one for each group, or something that moves."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.states.scene import Scene

Target = tuple[float, ...] | str | tuple[tuple[str, tuple[float, ...]], ...]


def checked_target(target: Any) -> Target:
    """A point (x, y), the name of an animal or landmark, or a point for each group."""
    if isinstance(target, str):
        if not target:
            raise InputError("a target is a point (x, y) or a name, got an empty one")
        return target
    if isinstance(target, Mapping):
        return tuple((str(group), checked_point(point)) for group, point in target.items())
    pairs = isinstance(target, list | tuple) and target and len(target[0:1]) == 1
    if pairs and isinstance(target[0], list | tuple) and isinstance(target[0][0], str):
        return tuple((str(group), checked_point(point)) for group, point in target)
    return checked_point(target)


def checked_point(target: Any) -> tuple[float, ...]:
    """A point (x, y)."""
    try:
        point = np.asarray(target, dtype=float)
    except (TypeError, ValueError):
        point = np.full(1, np.nan)
    if point.shape != (2,) or not np.all(np.isfinite(point)):
        raise InputError(f"a target is a point (x, y), got {target!r}")
    return tuple(point.tolist())


def target_places(target: Target, scene: Scene) -> Float[Any, "_ 1 2"]:
    """Where the target was in every frame, or once for all."""
    if isinstance(target, str):
        if target not in scene.places:
            names = list(scene.places)
            known = ", ".join(names[:12]) + (" …" if len(names) > 12 else "") or "none"
            raise InputError(
                f"the target {target!r} is no animal or landmark of group {scene.group!r}, where "
                f"there are {known}; a point is two numbers, X,Y"
            )
        return scene.places[target][:, None]
    if target and isinstance(target[0], tuple):
        points = dict(target)
        if scene.group not in points:
            raise InputError(
                f"there is no target for group {scene.group!r}, only for {', '.join(points)}"
            )
        return np.asarray(points[scene.group], dtype=float)[None, None]
    return np.asarray(target, dtype=float)[None, None]


def outside(target: Target, scene: Scene) -> str:  # noqa: PLR0911  (one for each case)
    """A sentence where a fixed target lies outside the arena, or far from where animals were."""
    if isinstance(target, str):
        return ""
    point = target_places(target, scene)[0, 0]
    if scene.centre is not None and np.all(np.abs(point - np.asarray(scene.centre)) < 2):
        words = f"the target {_words(point)} looks like longitude and latitude, and places are "
        return words + "metres from the centre: take tracks.place_at(longitude, latitude)"
    if scene.arena is not None:
        if bool(scene.arena.holds(point)):
            return ""
        return (
            f"the target {_words(point)} lies outside the arena {scene.arena}: is it in its unit?"
        )
    places = scene.positions.reshape(-1, 2)
    if not np.isfinite(places).any():
        return ""
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    margin = 0.5 * (high - low)  # a goal need not have been reached
    if np.all((point >= low - margin) & (point <= high + margin)):
        return ""
    return (
        f"the target {_words(point)} lies far from the places where animals of group "
        f"{scene.group!r} were seen, x {low[0]:g} to {high[0]:g}, y {low[1]:g} to {high[1]:g}: is "
        "it in their unit, and after any flip of y or rescaling?"
    )


def _words(point: Float[np.ndarray, " 2"]) -> str:
    return f"({point[0]:g}, {point[1]:g})"
