"""How a group moves, frame by frame: order, rotation, distances, speeds.

Arrays have any leading dimensions (a stack of groups), then time, then individuals. Positions and
headings are NaN where there are none, and only what is known is averaged. A measure of order or of
distances is about company: where fewer than two animals are known it is NaN.
"""

from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.spatial import cKDTree

from shoal.errors import InputError
from shoal.states.scene import BLOCK
from shoal.tracks.arena import Arena, Periodic, shortest

Places = Float[np.ndarray, "*batch time individuals 2"]
PerAnimal = Float[np.ndarray, "*batch time individuals"]
PerFrame = Float[np.ndarray, "*batch time"]
PerGroup = Float[np.ndarray, "*batch"]
CROWD = 64
"""Animals beyond which a tree finds the nearest neighbours sooner."""
CANCELLED = 1e-9
"""A mean of unit vectors no longer than this is nothing but rounding: it has no direction."""


def polarisation(headings: PerAnimal) -> PerFrame:
    """Length of the mean unit heading, R = |Σ e^{iθ}| / n: 1 aligned, 0 where headings cancel."""
    known = np.isfinite(headings)
    theta = np.deg2rad(np.where(known, headings, 0.0))
    east = np.where(known, np.cos(theta), 0.0).sum(axis=-1)
    north = np.where(known, np.sin(theta), 0.0).sum(axis=-1)
    count = known.sum(axis=-1)
    mean = np.hypot(east, north) / np.maximum(count, 1)
    return np.where(count > 1, np.minimum(mean, 1.0), np.nan)  # rounding may pass 1


def misalignment_spread(headings: PerAnimal) -> PerFrame:
    """Circular standard deviation of a frame's headings in degrees, √(−2 ln R) as Mardia has it.

    R is the polarisation. NaN where headings cancel and there is no mean to be spread around.
    """
    return spread(polarisation(headings))


def spread(polarised: Float[np.ndarray, "*shape"]) -> Float[np.ndarray, "*shape"]:
    """The circular standard deviation in degrees that belongs to a polarisation."""
    defined = np.isfinite(polarised) & (polarised > CANCELLED)
    r = np.where(defined, polarised, 1.0)
    return np.where(defined, np.rad2deg(np.sqrt(2.0 * np.log(1.0 / r))), np.nan)


def centroid(positions: Places, arena: Arena | None = None) -> Float[np.ndarray, "*batch time 2"]:
    """The mean place of the animals that are seen.

    In a periodic box: the circular mean of each coordinate, plus the mean of the shortest ways from
    there to the animals. That is the plain mean for a group that spans less than half the box, and
    does not depend on the order of the animals. NaN where animals are spread so evenly round
    the box that the circular mean has no direction.
    """
    places = seen(positions)
    if not isinstance(arena, Periodic):
        return mean_known(places, axis=-2)
    corner, sides = np.asarray((arena.left, arena.bottom)), np.asarray(arena.sides)
    phase = 2.0 * np.pi * (places - corner) / sides
    x, y = mean_known(np.cos(phase), axis=-2), mean_known(np.sin(phase), axis=-2)
    around = corner + np.arctan2(y, x) * sides / (2.0 * np.pi)
    around = np.where(np.hypot(x, y) > CANCELLED, around, np.nan)
    beyond = mean_known(shortest(places - around[..., None, :], arena), axis=-2)
    return arena.wrapped(around + beyond)


def rotation(positions: Places, headings: PerAnimal, arena: Arena | None = None) -> PerFrame:
    """Milling, |mean of r̂ × ĥ|: 1 where all circle their centroid the same way round.

    r̂ is the unit vector from the centroid of all that are seen to the animal, ĥ its unit heading.
    An animal at the centroid has no r̂ and is left out.
    """
    centre = centroid(positions, arena)[..., None, :]
    out = shortest(seen(positions) - centre, arena)
    away = length(out)
    # an animal is at the centroid where no more than rounding parts them
    rounding = 1e-9 * mean_known(away, axis=-1)[..., None] + 1e-13 * length(centre)
    with np.errstate(invalid="ignore"):
        known = np.isfinite(headings) & (away > rounding)
    theta = np.deg2rad(np.where(known, headings, 0.0))
    cross = (out[..., 0] * np.sin(theta) - out[..., 1] * np.cos(theta)) / np.where(known, away, 1.0)
    mean = mean_known(np.where(known, cross, np.nan), axis=-1)
    return np.where(known.sum(axis=-1) > 1, np.minimum(np.abs(mean), 1.0), np.nan)


def cohesion(positions: Places, arena: Arena | None = None) -> PerFrame:
    """Mean distance of the animals from their centroid."""
    places = seen(positions)
    away = length(shortest(places - centroid(places, arena)[..., None, :], arena))
    company = np.isfinite(places[..., 0]).sum(axis=-1) > 1
    return np.where(company, mean_known(away, axis=-1), np.nan)


def nearest_distance(positions: Places, arena: Arena | None = None) -> PerFrame:
    """Distance to the nearest neighbour, mean over the animals."""
    places = seen(positions)
    animals = places.shape[-2]
    frames = places.reshape(-1, animals, 2)
    if animals > CROWD:
        found = [mean_known(_nearest_in_crowd(frame, arena), axis=-1) for frame in frames]
        return np.asarray(found).reshape(places.shape[:-2])
    distance = np.full(len(frames), np.nan)
    run = max(1, BLOCK // max(1, animals * animals))
    for start in range(0, len(frames), run):
        part = slice(start, start + run)
        distance[part] = mean_known(_to_nearest(frames[part], arena), axis=-1)
    return distance.reshape(places.shape[:-2])


def _nearest_in_crowd(
    places: Float[np.ndarray, "individuals 2"], arena: Arena | None
) -> Float[np.ndarray, " individuals"]:
    """To the nearest neighbour in one frame, by a tree: all pairs of a large group are too many."""
    known = np.isfinite(places[:, 0])
    found = np.full(len(places), np.nan)
    if known.sum() < 2:
        return found
    points, box = places[known], None
    if isinstance(arena, Periodic):
        box = np.asarray(arena.sides)
        points = np.mod(arena.wrapped(points) - (arena.left, arena.bottom), box)
        points = np.where(points >= box, 0.0, points)  # rounding may reach the far edge
    away: Any = cKDTree(points, boxsize=box).query(points, k=2)[0]
    found[known] = away[:, 1]
    return found


def _to_nearest(
    places: Float[np.ndarray, "frames individuals 2"], arena: Arena | None
) -> Float[np.ndarray, "frames individuals"]:
    gap = shortest(places[:, :, None] - places[:, None, :], arena)
    squared = gap[..., 0] ** 2 + gap[..., 1] ** 2
    own = np.arange(places.shape[1])
    squared[:, own, own] = np.inf
    closest = np.fmin.reduce(squared, axis=-1, initial=np.inf)  # fmin passes over NaN
    return np.where(np.isinf(closest), np.nan, np.sqrt(closest))


def steps(positions: Places, arena: Arena | None = None) -> Places:
    """From each place to that in the next frame; NaN in the last, and into and out of a gap."""
    places = seen(positions)
    moved = np.full(places.shape, np.nan)
    moved[..., :-1, :, :] = shortest(places[..., 1:, :, :] - places[..., :-1, :, :], arena)
    return moved


def speeds(positions: Places, fps: Any = None, arena: Arena | None = None) -> PerAnimal:
    """Of every animal to the next frame: lengths a second, or a frame where fps is not known."""
    return length(steps(positions, arena)) * checked_rate(fps)


def median_speed(positions: Places, fps: Any = None, arena: Arena | None = None) -> PerFrame:
    """Median of the animals' speeds in every frame."""
    return median_known(speeds(positions, fps, arena))


def group_speed(positions: Places, fps: Any = None, arena: Arena | None = None) -> PerFrame:
    """Speed of the centroid to the next frame, of those animals that are seen in both.

    That is the length of their mean step, in a periodic box by the shortest ways.
    """
    return length(mean_known(steps(positions, arena), axis=-2)) * checked_rate(fps)


def straightness(positions: Places, arena: Arena | None = None) -> PerGroup:
    """Net displacement of an animal over the length of its path, mean over animals.

    Both are of the steps that were seen, |Σ s| / Σ |s|: a gap counts in neither. NaN where
    nobody moves. It falls with the length of the tracks.
    """
    moved = steps(positions, arena)
    path = np.nansum(length(moved), axis=-2)
    net = length(np.nansum(moved, axis=-3))
    share = net / np.where(path > 0, path, 1.0)
    return mean_known(np.where(path > 0, np.minimum(share, 1.0), np.nan), axis=-1)


def mean_known(values: Float[np.ndarray, "..."], axis: int) -> Float[np.ndarray, "..."]:
    """The mean of what is known along an axis; NaN where nothing is."""
    known = np.isfinite(values)
    count = known.sum(axis=axis)
    total = np.where(known, values, 0.0).sum(axis=axis)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def median_known(values: Float[np.ndarray, "*shape last"]) -> Float[np.ndarray, "*shape"]:
    """The median of what is known along the last axis; NaN where nothing is."""
    return quantile_known(values, 0.5)


def quantile_known(
    values: Float[np.ndarray, "*shape last"], q: float
) -> Float[np.ndarray, "*shape"]:
    """A quantile of what is known along the last axis, between two values by a straight line."""
    count = np.isfinite(values).sum(axis=-1)[..., None]
    ordered = np.sort(values, axis=-1)  # NaN comes last, and there is no infinity
    place = np.maximum(count - 1, 0) * q
    below = np.floor(place).astype(int)
    above = np.minimum(below + 1, np.maximum(count - 1, 0))
    low, high = (np.take_along_axis(ordered, index, axis=-1) for index in (below, above))
    return np.asarray((low + (place - below) * (high - low))[..., 0])


def checked_rate(fps: Any) -> float:
    """Frames per second; 1 where that is not known, and a frame is the unit of time."""
    if fps is None:
        return 1.0
    if not is_number(fps) or not fps > 0:
        raise InputError(f"frames per second must be positive, got {fps!r}")
    return float(fps)


def is_number(value: Any) -> bool:
    """A finite number, and no truth value."""
    plain = isinstance(value, int | float | np.integer | np.floating)
    return plain and not isinstance(value, bool) and bool(np.isfinite(value))


def seen(positions: Places) -> Places:
    """Places without those of which only half is known."""
    whole = np.isfinite(positions).all(axis=-1, keepdims=True)
    return np.where(whole, positions, np.nan)


def length(step: Float[np.ndarray, "*shape 2"]) -> Float[np.ndarray, "*shape"]:
    """Of steps (…, 2)."""
    return np.asarray(np.hypot(step[..., 0], step[..., 1]))
