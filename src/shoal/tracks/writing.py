"""Tracks as long tables: one row for each animal in each frame, seen or not."""

import io
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from shoal.system.files import write_whole
from shoal.system.formulas import escape_formula
from shoal.tracks.record import Tracks

PER_GROUP, PER_ANIMAL = "group:", "animal:"
"""Mark columns that hold covariates."""


def table(tracks: Iterable[Tracks]) -> pd.DataFrame:
    """Group, individual, frame, time, x, y, then what else is known: read back, nothing is lost."""
    return pd.concat([_rows(part) for part in tracks], ignore_index=True)


def write_csv(tracks: Iterable[Tracks], path: Path) -> Path:
    """A long CSV, whole or not at all."""
    rows = table(tracks)
    for name in rows.select_dtypes(exclude=["number", "bool"]):
        words = {
            word: escape_formula(word) for word in rows[name].unique() if isinstance(word, str)
        }
        if any(word != shown for word, shown in words.items()):
            rows[name] = [words.get(word, word) for word in rows[name]]
    write_whole(path, rows.to_csv(index=False).encode())
    return path


def write_parquet(tracks: Iterable[Tracks], path: Path) -> Path:
    """A long Parquet file, whole or not at all."""
    buffer = io.BytesIO()
    table(tracks).to_parquet(buffer, index=False)
    write_whole(path, buffer.getbuffer())
    return path


def _rows(tracks: Tracks) -> pd.DataFrame:
    frames, animals, _ = tracks.positions.shape
    x, y = tracks.positions.reshape(-1, 2).T
    columns: dict[str, object] = {
        "group": np.full(frames * animals, tracks.group, dtype=object),
        "individual": np.tile(np.array(tracks.individuals, dtype=object), frames),
        "frame": np.repeat(np.arange(frames), animals),
        "x": x,
        "y": y,
    }
    if tracks.data.attrs["time_unit"] == "s":
        columns["time_s"] = np.repeat(tracks.time, animals)
    elif not np.array_equal(tracks.time, np.arange(frames)):
        columns["frame"] = np.repeat(tracks.time, animals)
    if tracks.fps is not None:
        columns["fps"] = tracks.fps
    if tracks.length_unit:
        columns["length_unit"] = tracks.length_unit
    if tracks.arena is not None:
        columns["arena_walls"] = repr(tracks.arena)
    if "heading" in tracks.data:
        columns["heading_deg"] = tracks.data["heading"].values.ravel()
    for name, value in tracks.covariates.items():
        if isinstance(value, dict):
            columns[PER_ANIMAL + name] = np.tile(
                np.array(list(value.values()), dtype=object), frames
            )
        else:
            columns[PER_GROUP + name] = value
    return pd.DataFrame(columns)
