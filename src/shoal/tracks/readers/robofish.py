"""Robofish: the track format in HDF5, and CSV of RoboTracker."""

import numpy as np

from shoal.errors import InputError
from shoal.tracks.arena import Rectangle
from shoal.tracks.readers.assembly import timed_tracks, tracks_of
from shoal.tracks.readers.source import ReadOptions, Source, damaged, listed
from shoal.tracks.readers.table_files import column, csv_table
from shoal.tracks.record import Tracks


def declines_hdf5(source: Source) -> str | None:
    """Why the file is not a robofish track file; None if it is."""
    if source.kind != "hdf5":
        return "not an HDF5 file"
    return None if {"entities", "samplings"} <= source.keys else "no groups entities, samplings"


def read_hdf5(source: Source, options: ReadOptions) -> list[Tracks]:
    """Positions and headings of every entity, the arena, and species and sex."""
    with source.hdf5() as file:
        try:
            entities = file["entities"]
            names = sorted(entities, key=lambda n: (len(n), n))
            places = [entities[name]["positions"][()][:, :2] for name in names]
            facing = [
                entities[name]["orientations"][()] if "orientations" in entities[name] else None
                for name in names
            ]
            facts = {
                key: [str(entities[name].attrs.get(key, "")) for name in names]
                for key in ("species", "sex", "category")
            }
            world = np.asarray(file.attrs["world_size_cm"], dtype=float)
            sampling = file["samplings"][file["samplings"].attrs["default"]]
            rate = sampling.attrs.get("frequency_hz")
        except (KeyError, OSError, TypeError) as error:
            raise damaged(source.path, error) from error
    if len({len(part) for part in places}) != 1:
        raise InputError(f"{source.path}: the entities have different numbers of frames")
    heading = None
    if all(part is not None and part.shape[1:] == (2,) for part in facing):
        heading = np.stack([_degrees(np.asarray(part)) for part in facing], axis=1)
    width, height = world[:2] / 2
    return [
        tracks_of(
            source,
            options,
            np.stack(places, axis=1),
            fps=rate,
            unit="cm",
            individuals=names,
            heading=heading,
            covariates={name: values for name, values in facts.items() if any(values)},
            arena=Rectangle(-width, -height, width, height),
        )
    ]


def declines_csv(source: Source) -> str | None:
    """Why the file is not a CSV of RoboTracker; None if it is."""
    if source.kind != "text":
        return "not a text file"
    names = source.header
    fits = names[-1:] == ["time in ms"] and names[:2] == ["fish0_x", "fish0_y"]
    return None if fits else "its header is not 'fish0_x;fish0_y;fish0_ori;…;time in ms'"


def read_csv(source: Source, options: ReadOptions) -> list[Tracks]:
    """Columns fish0_x, fish0_y, fish0_ori, …, time in ms; orientations in radians."""
    names = list(dict.fromkeys(name[:-2] for name in source.header if name.endswith("_x")))
    wanted = [f"{name}_{what}" for name in names for what in ("x", "y", "ori")]
    gone = [name for name in wanted if name not in source.header]
    if gone:
        raise InputError(
            f"{source.path}: there is no column {gone[0]!r:.60} in {listed(source.header)}"
        )
    rows = csv_table(source, [*wanted, "time in ms"])
    values = np.stack([column(rows, name) for name in wanted], axis=1).reshape(-1, len(names), 3)
    time = column(rows, "time in ms") / 1000
    angle = np.mod(np.rad2deg(values[..., 2]) + 180.0, 360.0) - 180.0
    return [
        timed_tracks(
            source, options, time, positions=values[..., :2], heading=angle, individuals=names
        )
    ]


def _degrees(vectors: np.ndarray) -> np.ndarray:
    angle = np.rad2deg(np.arctan2(vectors[:, 1], vectors[:, 0]))
    angle = np.where(angle >= 180.0, -180.0, angle)
    return np.where(np.hypot(vectors[:, 0], vectors[:, 1]) > 0, angle, np.nan)
