"""Columns of a long table as arrays: numbers, names, frames, words, covariates."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int

from shoal.errors import InputError
from shoal.tracks.readers.long_columns import covariate_columns
from shoal.tracks.readers.long_layout import Layout, split_unit
from shoal.tracks.writing import PER_ANIMAL, PER_GROUP

LARGEST_FRAME = 1e15


def numbers_of(rows: Any, name: str) -> Float[np.ndarray, " fixes"]:
    """A column as float64, NaN where it is empty."""
    return rows.column(name).to_numpy(zero_copy_only=False).astype(float, copy=False)


def codes_of(
    rows: Any, layout: Layout, role: str, name: str, path: Path, start: int
) -> tuple[Int[np.ndarray, " fixes"], tuple[str, ...]]:
    """Numbers for names, in the order of their first appearance."""
    if role not in layout:
        return np.zeros(rows.num_rows, dtype=int), (name,)
    column = rows.column(layout[role])
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if role == "group" and column.null_count and pa.types.is_string(column.type):
        column = column.fill_null("")
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    if encoded.null_count:
        late = int(np.flatnonzero(encoded.is_null().to_numpy(zero_copy_only=False))[0])
        raise InputError(f"{path}, row {late + start}, column {layout[role]!r}: it is empty")
    spelled = [tidy(value) for value in encoded.dictionary.to_pylist()]
    names = tuple(dict.fromkeys(spelled))
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(int)
    if len(names) < len(spelled):
        places = {name: number for number, name in enumerate(names)}
        codes = np.array([places[name] for name in spelled])[codes]
    return codes, names


def tidy(value: Any) -> str:
    """Names of numbers without a needless decimal point, names without spaces around them."""
    whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else str(value).strip()


def frames_of(
    rows: Any, layout: Layout, path: Path, start: int
) -> Int[np.ndarray, " fixes"] | None:
    """Frame numbers, where there is a column of them."""
    if "frame" not in layout:
        return None
    values = rows.column(layout["frame"]).to_numpy(zero_copy_only=False)
    return whole_frames(values, path, layout["frame"], start)


def whole_frames(
    values: np.ndarray, path: Path, name: str = "Frame", start: int = 2
) -> Int[np.ndarray, " fixes"]:
    """Frame numbers as integers; one that is none, or too large to count with, is named."""
    if np.issubdtype(values.dtype, np.integer):
        wrong = (values > LARGEST_FRAME) | (values < -LARGEST_FRAME)
    else:
        wrong = ~((np.floor(values) == values) & (np.abs(values) < LARGEST_FRAME))
    if wrong.any():
        late = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"{path}, row {late + start}, column {name!r}: frames are whole numbers below 10¹⁵, "
            f"got {values[late]}"
        )
    return values.astype(int, copy=False)


def constant_of(rows: Any, layout: Layout, role: str, path: Path) -> str:
    """The one word of a column, such as the unit; empty where there is none."""
    if role not in layout:
        return ""
    values = rows.column(layout[role]).unique().to_pylist()
    if len(values) > 1:
        raise InputError(
            f"{path}, column {layout[role]!r}: mixed units {values[:3]}; write one file for each"
        )
    return str(values[0] or "")


def words_of(rows: Any, name: str) -> np.ndarray:
    """A column as text, empty where nothing is given."""
    return np.array(["" if w is None else str(w) for w in plain(rows, name).to_pylist()], object)


def covariate_values(rows: Any, layout: Layout) -> dict[str, np.ndarray]:
    """What rows say of their animal or group, by the column's name."""
    found: dict[str, np.ndarray] = {}
    for name in covariate_columns(layout):
        key = name if name.startswith((PER_ANIMAL, PER_GROUP)) else PER_ANIMAL + split_unit(name)[0]
        values = plain(rows, name).to_pylist()
        found[key] = np.array([_typed(value) for value in values], dtype=object)
    return found


def _typed(value: Any) -> Any:
    """Text as the number or truth value that it is."""
    if not isinstance(value, str):
        return "" if value is None else value
    if value in ("True", "False"):
        return value == "True"
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})", value):
        return int(value)
    if re.fullmatch(r"-?\d+\.\d+(e[-+]?\d+)?", value):
        return float(value)
    return value


def plain(rows: Any, name: str) -> Any:
    """A column without the categories that pandas makes."""
    column = rows.column(name)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
