"""Datasets of tracks as long tables, with one row for each animal in each frame, seen or not."""

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr

from shoal.system.files import write_whole
from shoal.system.formulas import escape_formula
from shoal.tracks.covariates import covariates_of
from shoal.tracks.dataset import arena_around, individuals_of, positions_of

PER_GROUP, PER_ANIMAL = "group:", "animal:"
"""Prefixes of columns with covariates."""


def table(groups: Iterable[xr.Dataset]) -> pd.DataFrame:
    """Group, individual, frame, x, y, time and all other facts, so that nothing is lost."""
    return pd.concat([_rows(data) for data in groups], ignore_index=True)


def write_csv(groups: Iterable[xr.Dataset], path: Path) -> Path:
    """Write a long CSV; if writing fails, no part of it is left."""
    rows = table(groups)
    for name in rows.select_dtypes(exclude=["number", "bool"]):
        words = {
            word: escape_formula(word) for word in rows[name].unique() if isinstance(word, str)
        }
        if any(word != shown for word, shown in words.items()):
            rows[name] = [words.get(word, word) for word in rows[name]]
    write_whole(path, rows.to_csv(index=False).encode())
    return path


def write_parquet(groups: Iterable[xr.Dataset], path: Path) -> Path:
    """Write a long Parquet file; if writing fails, no part of it is left."""
    buffer = io.BytesIO()
    table(groups).to_parquet(buffer, index=False)
    write_whole(path, buffer.getbuffer())
    return path


def _rows(data: xr.Dataset) -> pd.DataFrame:
    places, arena, time = positions_of(data), arena_around(data), data["time"].values
    frames, animals, _ = places.shape
    x, y = places.reshape(-1, 2).T
    columns: dict[str, object] = {
        "group": np.full(frames * animals, data.attrs["group"], dtype=object),
        "individual": np.tile(np.array(individuals_of(data), dtype=object), frames),
        "frame": np.repeat(np.arange(frames), animals),
        "x": x,
        "y": y,
    }
    if data.attrs["time_unit"] == "s":
        columns["time_s"] = np.repeat(time, animals)
    elif not np.array_equal(time, np.arange(frames)):
        columns["frame"] = np.repeat(time, animals)
    if "fps" in data.attrs:
        columns["fps"] = data.attrs["fps"]
    if data.attrs["length_unit"]:
        columns["length_unit"] = data.attrs["length_unit"]
    if arena is not None:
        columns["arena_walls"] = repr(arena)
    if "heading" in data:
        columns["heading_deg"] = data["heading"].values.ravel()
    for name, value in covariates_of(data).items():
        if isinstance(value, dict):
            columns[PER_ANIMAL + name] = np.tile(
                np.array(list(value.values()), dtype=object), frames
            )
        else:
            columns[PER_GROUP + name] = value
    return pd.DataFrame(columns)
