"""Matlab files: Ctrax, the sheep drives of Jadhav et al. 2024, and flights as plain arrays."""

from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.tracks.covariates import LANDMARK
from shoal.tracks.dataset import check_grid
from shoal.tracks.readers.assembly import tracks_of
from shoal.tracks.readers.clock import round_rate
from shoal.tracks.readers.source import ReadOptions, Source, damaged
from shoal.tracks.record import Tracks

FLAT = {"x_pos", "y_pos", "identity", "ntargets"}


def declines_ctrax(source: Source) -> str | None:
    """Why the file is not a Matlab file of Ctrax; None if it is."""
    if source.kind != "mat":
        return "not a Matlab 5 file"
    known = source.keys >= FLAT or "trx" in source.keys
    return None if known else "no variables x_pos, y_pos, identity, ntargets, and no trx"


def read_ctrax(source: Source, options: ReadOptions) -> list[Tracks]:
    """Detections of all frames in one column, or ``trx`` as fixerrors writes it."""
    content = source.mat()
    if "trx" in content:
        return [_fixed_errors(source, options, content["trx"])]
    flat = {name: np.ravel(content[name]).astype(float) for name in FLAT}
    count = flat["ntargets"].astype(int)
    if count.sum() != len(flat["x_pos"]) or len(flat["identity"]) != len(flat["x_pos"]):
        raise InputError(
            f"{source.path}: ntargets says {count.sum()} detections, x_pos has {len(flat['x_pos'])}"
        )
    frame = np.repeat(np.arange(len(count)), count)
    names, animal = np.unique(flat["identity"].astype(int), return_inverse=True)
    check_grid(len(count), len(names), len(frame), str(source.path))
    cell = frame * len(names) + animal
    if len(np.unique(cell)) < len(cell):
        raise InputError(f"{source.path}: an identity comes twice in one frame")
    array = np.full((len(count) * len(names), 2), np.nan)
    array[cell] = np.stack([flat["x_pos"], flat["y_pos"]], axis=1)
    heading: Any = None
    if "angle" in content:
        heading = np.full(len(array), np.nan)
        angle = np.ravel(content["angle"]).astype(float)
        heading[cell] = np.mod(np.rad2deg(angle) + 180, 360) - 180
        heading = np.where(np.isfinite(heading), heading, np.nan).reshape(len(count), -1)
    rate = None
    if "timestamps" in content and len(np.ravel(content["timestamps"])) == len(count):
        rate = _rate(np.ravel(content["timestamps"]).astype(float))
    return [
        tracks_of(
            source,
            options,
            array.reshape(len(count), len(names), 2),
            fps=rate,
            unit="px",
            individuals=[str(name) for name in names],
            heading=heading,
        )
    ]


def _fixed_errors(source: Source, options: ReadOptions, trx: Any) -> Tracks:
    """Tracks from ``trx``, in which each animal has its own first frame, numbered from 1."""
    animals = [part for part in np.ravel(trx) if hasattr(part, "x") and hasattr(part, "firstframe")]
    if not animals:
        raise InputError(f"{source.path}: trx has no animals with x, y and firstframe")
    try:
        first = [int(np.ravel(part.firstframe)[0]) - 1 for part in animals]
        parts = [np.stack([np.ravel(a.x), np.ravel(a.y)], axis=1).astype(float) for a in animals]
        names = [str(int(np.ravel(part.id)[0])) for part in animals]
    except (AttributeError, IndexError, ValueError) as error:
        raise damaged(source.path, error) from error
    start = min(first)
    frames = max(f + len(p) for f, p in zip(first, parts, strict=True)) - start
    check_grid(frames, len(parts), sum(map(len, parts)), str(source.path))
    array = np.full((frames, len(parts), 2), np.nan)
    for index, (begin, part) in enumerate(zip(first, parts, strict=True)):
        array[begin - start : begin - start + len(part), index] = part
    rate = getattr(animals[0], "fps", None)
    return tracks_of(source, options, array, fps=rate, unit="px", individuals=names)


def declines_drives(source: Source) -> str | None:
    """Why the file has no sheep drives; None if it has."""
    if source.kind != "mat":
        return "not a Matlab 5 file"
    wanted = {"pos_ev_1", "events", "dt"}
    return None if wanted <= source.keys else "no variables pos_ev_1, events, dt"


def read_drives(source: Source, options: ReadOptions) -> list[Tracks]:
    """Every drive of every trial, with the dog and the shepherd as landmarks."""
    content = source.mat()
    rate = round_rate(1 / float(np.ravel(content["dt"])[0]))
    found = []
    for number, trial in enumerate(np.ravel(content["events"]).astype(int), start=1):
        try:
            places = np.moveaxis(content[f"pos_ev_{number}"], -1, 0)  # (time, who, xy)
            starts = np.ravel(content[f"ev_st_{trial}"]).astype(int)
            ends = np.ravel(content[f"ev_et_{trial}"]).astype(int)
        except KeyError as error:
            raise damaged(source.path, error) from error
        lengths = ends - starts + 1
        if lengths.sum() != len(places):
            raise InputError(
                f"{source.path}: the drives of trial {trial} have {lengths.sum()} frames, "
                f"pos_ev_{number} has {len(places)}"
            )
        sheep = places.shape[1] - 2
        names = [*(f"sheep{i + 1}" for i in range(sheep)), "dog", "shepherd"]
        roles = ["animal"] * sheep + [LANDMARK] * 2
        for drive, part in enumerate(np.split(places, np.cumsum(lengths)[:-1]), start=1):
            found.append(
                tracks_of(
                    source,
                    options,
                    part,
                    fps=rate,
                    unit="m",
                    individuals=names,
                    covariates={"role": roles, "trial": int(trial)},
                    notes=["dog and shepherd are landmarks, not members of the group"],
                    group=f"trial{trial}_drive{drive}",
                )
            )
    return found


def declines_flight(source: Source) -> str | None:
    """Why the file is not an array of positions and velocities; None if it is."""
    if source.kind != "mat":
        return "not a Matlab 5 file"
    if len(source.keys) != 1:
        return f"{len(source.keys)} variables, expected one"
    array = source.mat()[next(iter(source.keys))]
    if array.ndim != 3 or array.shape[1] < 4 or not np.issubdtype(array.dtype, np.number):
        return f"its variable is not (animals, x y vx vy …, frames) but {array.shape}"
    return None if _spacing(array) > 0 else "rows 3 and 4 are not the velocities of rows 1 and 2"


def read_flight(source: Source, options: ReadOptions) -> list[Tracks]:
    """Rows x, y, vx, vy; the frame rate follows from displacements and velocities."""
    array = source.mat()[next(iter(source.keys))].astype(float)
    rate = round_rate(1 / _spacing(array))
    note = f"{rate:g} frames per second, inferred from displacements and velocities"
    places = np.moveaxis(array[:, :2], -1, 0)
    return [tracks_of(source, options, places, fps=rate, unit="m", notes=[note])]


def _spacing(array: np.ndarray) -> float:
    """Seconds between frames; 0 if the velocities do not fit the positions."""
    moved = np.diff(array[:, :2].astype(float), axis=-1)
    speed = array[:, 2:4, :-1].astype(float)
    usable = np.isfinite(moved) & np.isfinite(speed)
    if usable.sum() < 4 or not np.any(speed[usable]):
        return 0.0
    slope = float((moved[usable] * speed[usable]).sum() / (speed[usable] ** 2).sum())
    fit = np.corrcoef(moved[usable], speed[usable])[0, 1]
    return slope if fit > 0.95 and slope > 0 else 0.0


def _rate(times: np.ndarray) -> float | None:
    steps = np.diff(times)
    usual = float(np.median(steps)) if len(steps) else 0.0
    return round_rate(1 / usual) if usual > 0 else None
