"""Datasets of tracks thinned, cropped, rescaled, smoothed or mended; each change adds a note."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from shoal.errors import InputError
from shoal.tracks.arena import Circle, Periodic, Rectangle, shortest
from shoal.tracks.covariates import members_of
from shoal.tracks.dataset import arena_around, individuals_of, noted, place_of, positions_of

OPEN = (-np.inf, np.inf)


def thin(data: xr.Dataset, every: Any) -> xr.Dataset:
    """Every n-th frame."""
    if not hasattr(every, "__index__") or every < 1:
        raise InputError(f"every must be a whole number of frames, 1 or more; got {every!r}")
    thinned = data.isel(time=slice(None, None, int(every)))
    if "fps" in data.attrs:
        thinned = thinned.assign_attrs(fps=data.attrs["fps"] / every)
    return noted(thinned, f"thinned to every {every} frames")


def crop(data: xr.Dataset, x: Any = None, y: Any = None, time: Any = None) -> xr.Dataset:
    """Frames within limits (low, high) of time; positions outside limits of x and y are missing."""
    limits = {"x": _limits(x, "x"), "y": _limits(y, "y"), "time": _limits(time, "time")}
    clock = data["time"].values
    kept = (clock >= limits["time"][0]) & (clock <= limits["time"][1])
    if not kept.any():
        raise InputError(
            f"no frame is left between the times {time}; they go from {clock[0]:g} to {clock[-1]:g}"
        )
    rest = data.isel(time=np.flatnonzero(kept))
    places = positions_of(rest)
    with np.errstate(invalid="ignore"):
        outside = np.zeros(places.shape[:2], dtype=bool)
        for axis, name in enumerate("xy"):
            low, high = limits[name]
            outside |= (places[..., axis] < low) | (places[..., axis] > high)
    words = f"cropped: {int((~kept).sum())} frames left out, {int(outside.sum())} fixes outside"
    return noted(_without(rest, outside), words)


def rescale(
    data: xr.Dataset, factor: Any = None, unit: str = "", shift: Any = (0.0, 0.0)
) -> xr.Dataset:
    """Multiply positions by ``factor``, then add ``shift``; by default fit the unit square."""
    if factor is None:
        factor, shift = unit_square([data])
        unit = unit or "unit squares"
    if not (np.isfinite(factor) and factor > 0):
        raise InputError(f"factor must be a positive number, got {factor}")
    offset = np.asarray(shift, dtype=float)
    scaled = data.assign(position=data["position"] * factor + offset)
    scaled.attrs = dict(data.attrs, length_unit=unit)
    scaled.attrs |= _from_metres(data, (float(factor), float(factor)), offset)
    arena = arena_around(data)
    if arena is not None:
        moved = arena.scaled(float(factor), (float(offset[0]), float(offset[1])))
        scaled.attrs["arena"] = repr(moved)
    return noted(scaled, f"positions multiplied by {factor:.6g}, shifted by {offset.tolist()}")


def unit_square(groups: Iterable[xr.Dataset]) -> tuple[float, tuple[float, float]]:
    """Factor and shift that put all positions into [0, 1]² and keep angles."""
    places = np.concatenate([positions_of(data).reshape(-1, 2) for data in groups])
    if not np.isfinite(places).any():
        raise InputError("tracks without any position cannot be rescaled")
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    extent = float((high - low).max())
    if not extent > 0:
        raise InputError("tracks that never leave one point cannot be rescaled to the unit square")
    return 1 / extent, (float(-low[0] / extent), float(-low[1] / extent))


def smooth(data: xr.Dataset, window: Any, order: Any = 2) -> xr.Dataset:
    """Fit polynomials to ``window`` frames at a time, within runs of frames without a gap."""
    from scipy.signal import savgol_filter  # noqa: PLC0415  (slow to load)

    if not hasattr(window, "__index__") or window < 3 or window % 2 == 0:
        raise InputError(f"window must be an odd number of frames, 3 or more; got {window}")
    if not hasattr(order, "__index__") or not 0 <= order < window:
        raise InputError(f"order must lie between 0 and {window - 1}, got {order}")
    places = unwrapped(data)
    untouched = 0
    for animal in range(places.shape[1]):
        for start, stop in runs(np.isfinite(places[:, animal, 0])):
            if stop - start < window:
                untouched += stop - start
            else:
                run = places[start:stop, animal]
                places[start:stop, animal] = savgol_filter(run, int(window), int(order), axis=0)
    return noted(
        _placed(data, places),
        f"smoothed over {window} frames with polynomials of order {order}; {untouched} fixes in "
        "runs shorter than that are unchanged",
    )


def drop(data: xr.Dataset, individuals: Sequence[str] = (), frames: Any = ()) -> xr.Dataset:
    """Remove these animals, and count all animals as not seen in these frames."""
    gone = [str(name) for name in individuals]
    for name in gone:
        place_of(data, name)  # an error that names it
    kept = [i for i, name in enumerate(individuals_of(data)) if name not in gone]
    if not kept:
        raise InputError("no animal would be left")
    total = len(positions_of(data))
    given = np.asarray(frames)
    if given.dtype == bool:
        if given.shape != (total,):
            raise InputError(f"a mask of frames needs {total} values, got {given.size}")
        given = np.flatnonzero(given)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise InputError(f"frames must be whole numbers, got {given.dtype}")
    numbers = given.astype(int)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= total):
        raise InputError(f"frames must lie between 0 and {total - 1}, got {numbers.tolist()}")
    rest = data.isel(individuals=kept)
    unseen = np.zeros((total, len(kept)), dtype=bool)
    unseen[numbers] = True
    words = [f"without {', '.join(gone)}"] if gone else []
    words += [f"{numbers.size} frames dropped"] if numbers.size else []
    return noted(_without(rest, unseen), *words)


def flip_y(data: xr.Dataset) -> xr.Dataset:
    """Replace y by −y, so that left turns are positive in images whose rows count downwards."""
    flipped = _placed(data, positions_of(data) * np.array([1.0, -1.0]))
    if "heading" in flipped:
        angle = -flipped["heading"]
        flipped = flipped.assign(heading=angle.where(angle < 180.0, angle - 360.0))
    arena = arena_around(data)
    if isinstance(arena, Rectangle | Periodic):
        mirrored = type(arena)(arena.left, -arena.top, arena.right, -arena.bottom)
        flipped = flipped.assign_attrs(arena=repr(mirrored))
    elif isinstance(arena, Circle):
        flipped = flipped.assign_attrs(arena=repr(Circle(arena.x, -arena.y, arena.radius)))
    notes = [note for note in data.attrs["notes"] if "flip_y()" not in note]
    flipped = flipped.assign_attrs(_from_metres(data, (1.0, -1.0), np.zeros(2)), notes=notes)
    return noted(flipped, "mirrored: y was replaced by −y")


def drop_jumps(data: xr.Dataset, step: Any) -> xr.Dataset:
    """Remove fixes farther than ``step`` from both the fix before and the fix after."""
    if not (np.isreal(step) and np.isfinite(step) and step > 0):
        raise InputError(f"step must be a positive length, got {step!r}")
    places = positions_of(data)
    bad = np.zeros(places.shape[:2], dtype=bool)
    for animal in range(places.shape[1]):
        seen = np.flatnonzero(np.isfinite(places[:, animal, 0]))
        steps = shortest(np.diff(places[seen, animal], axis=0), arena_around(data))
        moved = np.hypot(steps[:, 0], steps[:, 1]) > step
        arrives, leaves = np.append(True, moved), np.append(moved, True)
        bad[seen[arrives & leaves], animal] = len(seen) > 1
    return noted(_without(data, bad), f"{int(bad.sum())} fixes dropped: jumps beyond {step:g}")


def jump_notes(data: xr.Dataset, files: Mapping[str, Any]) -> list[str]:
    """A sentence if an animal jumps so far that it must be an error.

    Parameters
    ----------
    files
        The file of each animal, if it is not the source of the tracks.
    """
    moved = shortest(np.diff(positions_of(data), axis=0), arena_around(data))
    step = np.hypot(moved[..., 0], moved[..., 1])
    moving = step[np.isfinite(step) & (step > 0)]
    if moving.size < 20:
        return []
    usual = float(np.quantile(moving, 0.95))
    far = np.argwhere(step > 50 * usual)
    if not len(far):
        return []
    frame, animal = (int(place) for place in far[0])
    name = individuals_of(data)[animal]
    length = f"{step[frame, animal]:.4g} {data.attrs['length_unit']}".rstrip()
    return [
        f"{len(far)} steps are over 50 times as long as 95 % of the others; the first is of "
        f"{length} by {name} in frame {frame} of {files.get(name, data.attrs['source'])}: "
        f"drop_jumps({2 * usual:.2g}) or --max-step {2 * usual:.2g} removes such fixes"
    ]


def fill_gaps(data: xr.Dataset, longest: Any) -> xr.Dataset:
    """Fill gaps of at most ``longest`` frames by straight lines."""
    if not hasattr(longest, "__index__") or longest < 1:
        raise InputError(f"the longest gap to fill must be 1 frame or more, got {longest!r}")
    places = unwrapped(data)
    filled, members = 0, set(members_of(data))
    for animal, name in enumerate(individuals_of(data)):
        seen = np.isfinite(places[:, animal, 0])
        for start, stop in runs(~seen):
            inside = start > 0 and stop < len(seen)
            if not inside or stop - start > longest:
                continue
            weight = (np.arange(start, stop) - start + 1) / (stop - start + 1)
            before, after = places[start - 1, animal], places[stop, animal]
            places[start:stop, animal] = before + weight[:, None] * (after - before)
            filled += stop - start if name in members else 0
    share = filled / max(1, len(places) * len(members))
    return noted(
        _placed(data, places).assign_attrs(filled=share),
        f"{filled} fixes ({share:.2%}) lie on straight lines across gaps of up to {longest} frames",
    )


def unwrapped(data: xr.Dataset) -> Float[np.ndarray, "time individuals 2"]:
    """A copy of the positions; in a periodic box, paths that go on beyond its edge."""
    places, arena = positions_of(data).copy(), arena_around(data)
    if isinstance(arena, Periodic):
        for animal in range(places.shape[1]):
            seen = np.isfinite(places[:, animal, 0])
            path = places[seen, animal]
            steps = arena.shortest(np.diff(path, axis=0))
            places[seen, animal] = np.cumsum(np.concatenate([path[:1], steps]), axis=0)
    return places


def runs(mask: Bool[np.ndarray, " frames"]) -> list[tuple[int, int]]:
    """Where runs of True begin and end.

    >>> runs(np.array([True, True, False, True]))
    [(0, 2), (3, 4)]
    """
    steps = np.diff(np.concatenate([[False], mask, [False]]).astype(int))
    starts, stops = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    return [(int(a), int(b)) for a, b in zip(starts, stops, strict=True)]


def _from_metres(
    data: xr.Dataset, factor: tuple[float, float], shift: Float[np.ndarray, " 2"]
) -> dict[str, list[float]]:
    """How metres around the centre become positions after this change, for ``place_at``."""
    if "centre" not in data.attrs:
        return {}
    known = np.reshape(data.attrs.get("from_metres", (1.0, 1.0, 0.0, 0.0)), (2, 2))
    scale, offset = known * np.asarray(factor)
    return {"from_metres": [*scale.tolist(), *(offset + shift).tolist()]}


def _placed(data: xr.Dataset, places: Float[np.ndarray, "time individuals 2"]) -> xr.Dataset:
    """The tracks with other positions."""
    return data.assign(position=(data["position"].dims, places))


def _without(data: xr.Dataset, unseen: Bool[np.ndarray, "time individuals"]) -> xr.Dataset:
    """The tracks without these positions and headings."""
    changed = _placed(data, np.where(unseen[..., None], np.nan, positions_of(data)))
    if "heading" not in data:
        return changed
    angles = np.where(unseen, np.nan, data["heading"].values)
    return changed.assign(heading=(data["heading"].dims, angles))


def _limits(limits: Any, name: str) -> tuple[float, float]:
    """Limits as (low, high), infinite where they are None."""
    if limits is None:
        return OPEN
    try:
        low, high = (OPEN[side] if v is None else float(v) for side, v in enumerate(limits))
    except (TypeError, ValueError):
        raise InputError(f"limits of {name} are (low, high), got {limits!r}") from None
    if not low < high:
        raise InputError(f"the limits of {name} must increase, got {limits!r}")
    return low, high
