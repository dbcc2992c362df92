"""Tracks made ready: thinned, cropped, rescaled, smoothed, short gaps filled; each says so."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.signal import savgol_filter

from shoal.errors import InputError
from shoal.tracks.arena import Circle, Periodic, Rectangle, shortest
from shoal.tracks.record import Tracks

OPEN = (-np.inf, np.inf)


def thin(tracks: Tracks, every: Any) -> Tracks:
    """Every n-th frame."""
    if not hasattr(every, "__index__") or every < 1:
        raise InputError(f"every is a whole number of frames, 1 or more; got {every!r}")
    data = tracks.data.isel(time=slice(None, None, int(every)))
    if tracks.fps is not None:
        data = data.assign_attrs(fps=tracks.fps / every)
    return Tracks(data).noted(f"thinned to every {every} frames")


def crop(tracks: Tracks, x: Any = None, y: Any = None, time: Any = None) -> Tracks:
    """Nobody is seen outside (low, high) in x and y; frames outside the times are gone."""
    limits = {"x": _limits(x, "x"), "y": _limits(y, "y"), "time": _limits(time, "time")}
    clock = tracks.time
    kept = (clock >= limits["time"][0]) & (clock <= limits["time"][1])
    if not kept.any():
        raise InputError(
            f"no frame is left between the times {time}; they go from {clock[0]:g} to {clock[-1]:g}"
        )
    data = tracks.data.isel(time=np.flatnonzero(kept))
    places = data["position"].values
    with np.errstate(invalid="ignore"):
        outside = np.zeros(places.shape[:2], dtype=bool)
        for axis, name in enumerate("xy"):
            low, high = limits[name]
            outside |= (places[..., axis] < low) | (places[..., axis] > high)
    blanked = _without(Tracks(data), outside)
    return blanked.noted(
        f"cropped: {int((~kept).sum())} frames left out, {int(outside.sum())} fixes outside"
    )


def rescale(tracks: Tracks, factor: Any = None, unit: str = "", shift: Any = (0.0, 0.0)) -> Tracks:
    """Places times ``factor`` plus ``shift``; without a factor, fitted to the unit square."""
    if factor is None:
        factor, shift = unit_square([tracks])
        unit = unit or "unit squares"
    if not (np.isfinite(factor) and factor > 0):
        raise InputError(f"a scale is a positive number, got {factor}")
    offset = np.asarray(shift, dtype=float)
    data = tracks.data.assign(position=tracks.data["position"] * factor + offset)
    data.attrs = dict(tracks.data.attrs, length_unit=unit)
    data.attrs |= _from_metres(tracks, (float(factor), float(factor)), offset)
    if tracks.arena is not None:
        moved = tracks.arena.scaled(float(factor), (float(offset[0]), float(offset[1])))
        data.attrs["arena"] = repr(moved)
    return Tracks(data).noted(f"places multiplied by {factor:.6g}, shifted by {offset.tolist()}")


def unit_square(tracks: Iterable[Tracks]) -> tuple[float, tuple[float, float]]:
    """Factor and shift that put all places into [0, 1]², keeping angles."""
    places = np.concatenate([part.positions.reshape(-1, 2) for part in tracks])
    if not np.isfinite(places).any():
        raise InputError("tracks without a single place cannot be rescaled")
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    extent = float((high - low).max())
    if not extent > 0:
        raise InputError("tracks that never leave one point cannot be rescaled to the unit square")
    return 1 / extent, (float(-low[0] / extent), float(-low[1] / extent))


def smooth(tracks: Tracks, window: Any, order: Any = 2) -> Tracks:
    """A polynomial through every run of ``window`` frames without a gap; others stay."""
    if not hasattr(window, "__index__") or window < 3 or window % 2 == 0:
        raise InputError(f"a smoothing window is an odd number of frames, 3 or more; got {window}")
    if not hasattr(order, "__index__") or not 0 <= order < window:
        raise InputError(f"the polynomial's order lies between 0 and {window - 1}, got {order}")
    places = unwrapped(tracks)
    untouched = 0
    for animal in range(places.shape[1]):
        for start, stop in runs(np.isfinite(places[:, animal, 0])):
            if stop - start < window:
                untouched += stop - start
            else:
                run = places[start:stop, animal]
                places[start:stop, animal] = savgol_filter(run, int(window), int(order), axis=0)
    return _placed(tracks, places).noted(
        f"smoothed over {window} frames with polynomials of order {order}; {untouched} fixes in "
        "runs shorter than that are as they were"
    )


def drop(tracks: Tracks, individuals: Sequence[str] = (), frames: Any = ()) -> Tracks:
    """Without these animals, and with nobody seen in these frames: no transition crosses them."""
    gone = [str(name) for name in individuals]
    for name in gone:
        tracks.place_of(name)  # an error that names it
    kept = [i for i, name in enumerate(tracks.individuals) if name not in gone]
    if not kept:
        raise InputError("no animal would be left")
    total = len(tracks.positions)
    given = np.asarray(frames)
    if given.dtype == bool:
        if given.shape != (total,):
            raise InputError(f"a mask of frames has {total} values, got {given.size}")
        given = np.flatnonzero(given)
    if given.size and not np.issubdtype(given.dtype, np.integer):
        raise InputError(f"frames are whole numbers, got {given.dtype}")
    numbers = given.astype(int)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= total):
        raise InputError(f"frames to drop lie between 0 and {total - 1}, got {numbers.tolist()}")
    rest = Tracks(tracks.data.isel(individuals=kept))
    unseen = np.zeros(rest.positions.shape[:2], dtype=bool)
    unseen[numbers] = True
    words = [f"without {', '.join(gone)}"] if gone else []
    words += [f"{numbers.size} frames dropped"] if numbers.size else []
    return _without(rest, unseen).noted(*words)


def flip_y(tracks: Tracks) -> Tracks:
    """Mirrored, y as −y: turns to the left become positive where rows counted downwards."""
    flipped = _placed(tracks, tracks.positions * np.array([1.0, -1.0])).data
    if "heading" in flipped:
        angle = -flipped["heading"]
        flipped = flipped.assign(heading=angle.where(angle < 180.0, angle - 360.0))
    if isinstance(tracks.arena, Rectangle | Periodic):
        a = tracks.arena
        flipped = flipped.assign_attrs(arena=repr(type(a)(a.left, -a.top, a.right, -a.bottom)))
    elif isinstance(tracks.arena, Circle):
        c = tracks.arena
        flipped = flipped.assign_attrs(arena=repr(Circle(c.x, -c.y, c.radius)))
    notes = [note for note in tracks.notes if "flip_y()" not in note]
    flipped = flipped.assign_attrs(_from_metres(tracks, (1.0, -1.0), np.zeros(2)))
    return Tracks(flipped.assign_attrs(notes=notes)).noted("mirrored: y is minus what it was")


def drop_jumps(tracks: Tracks, step: Any) -> Tracks:
    """Without fixes that are farther than ``step`` from both the fix before and the one after."""
    if not (np.isreal(step) and np.isfinite(step) and step > 0):
        raise InputError(f"a longest step is a positive length, got {step!r}")
    frames, animals, _ = tracks.positions.shape
    bad = np.zeros((frames, animals), dtype=bool)
    for animal in range(animals):
        seen = np.flatnonzero(np.isfinite(tracks.positions[:, animal, 0]))
        steps = shortest(np.diff(tracks.positions[seen, animal], axis=0), tracks.arena)
        moved = np.hypot(steps[:, 0], steps[:, 1]) > step
        arrives, leaves = np.append(True, moved), np.append(moved, True)
        bad[seen[arrives & leaves], animal] = len(seen) > 1
    return _without(tracks, bad).noted(f"{int(bad.sum())} fixes dropped: jumps beyond {step:g}")


def jump_notes(tracks: Tracks, files: Mapping[str, Any]) -> list[str]:
    """A sentence where an animal jumps so far that it must be an error.

    Parameters
    ----------
    files
        Which file holds an animal, where it is not the tracks' own source.
    """
    moved = shortest(np.diff(tracks.positions, axis=0), tracks.arena)
    step = np.hypot(moved[..., 0], moved[..., 1])
    moving = step[np.isfinite(step) & (step > 0)]
    if moving.size < 20:
        return []
    usual = float(np.quantile(moving, 0.95))
    far = np.argwhere(step > 50 * usual)
    if not len(far):
        return []
    frame, animal = (int(place) for place in far[0])
    name = tracks.individuals[animal]
    file = files.get(name, tracks.data.attrs["source"])
    return [
        f"{len(far)} steps are over 50 times as long as 95 in 100 others; the first is of "
        f"{step[frame, animal]:.4g} {tracks.length_unit}".rstrip()
        + f" by {name} in frame {frame} of {file}: drop_jumps({2 * usual:.2g}) or --max-step "
        f"{2 * usual:.2g} takes such fixes out"
    ]


def fill_gaps(tracks: Tracks, longest: Any) -> Tracks:
    """Straight lines across gaps of at most ``longest`` frames; the share filled is noted."""
    if not hasattr(longest, "__index__") or longest < 1:
        raise InputError(f"the longest gap to fill is 1 frame or more, got {longest!r}")
    places = unwrapped(tracks)
    filled, members = 0, set(tracks.members)
    for animal, name in enumerate(tracks.individuals):
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
    data = _placed(tracks, places).data.assign_attrs(filled=share)
    return Tracks(data).noted(
        f"{filled} fixes ({share:.2%}) lie on straight lines across gaps of up to {longest} frames"
    )


def unwrapped(tracks: Tracks) -> Float[np.ndarray, "time individuals 2"]:
    """Places as they are; in a periodic box going on beyond its edge, so that paths are whole."""
    places = tracks.positions.copy()
    if isinstance(tracks.arena, Periodic):
        for animal in range(places.shape[1]):
            seen = np.isfinite(places[:, animal, 0])
            path = places[seen, animal]
            steps = tracks.arena.shortest(np.diff(path, axis=0))
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
    tracks: Tracks, factor: tuple[float, float], shift: Float[np.ndarray, " 2"]
) -> dict[str, list[float]]:
    """How metres around the centre become places, for ``place_at``, once these have changed."""
    if tracks.centre is None:
        return {}
    known = np.reshape(tracks.data.attrs.get("from_metres", (1.0, 1.0, 0.0, 0.0)), (2, 2))
    scale, offset = known * np.asarray(factor)
    return {"from_metres": [*scale.tolist(), *(offset + shift).tolist()]}


def _placed(tracks: Tracks, places: Float[np.ndarray, "time individuals 2"]) -> Tracks:
    return Tracks(tracks.data.assign(position=(tracks.data["position"].dims, places)))


def _without(tracks: Tracks, unseen: Bool[np.ndarray, "time individuals"]) -> Tracks:
    """Nobody seen there: neither place nor heading."""
    changed = _placed(tracks, np.where(unseen[..., None], np.nan, tracks.positions))
    if "heading" not in tracks.data:
        return changed
    angles = np.where(unseen, np.nan, tracks.data["heading"].values)
    return Tracks(changed.data.assign(heading=(tracks.data["heading"].dims, angles)))


def _limits(limits: Any, name: str) -> tuple[float, float]:
    if limits is None:
        return OPEN
    try:
        low, high = (OPEN[side] if v is None else float(v) for side, v in enumerate(limits))
    except (TypeError, ValueError):
        raise InputError(f"limits of {name} are (low, high), got {limits!r}") from None
    if not low < high:
        raise InputError(f"the limits of {name} must increase, got {limits!r}")
    return low, high
