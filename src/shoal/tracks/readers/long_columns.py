"""Which columns of a long table are read, and which of them hold numbers."""

import csv
import re

import pyarrow as pa

from shoal.tracks.readers.long_layout import ROLES, Layout, split_unit
from shoal.tracks.readers.source import Source
from shoal.tracks.record import LEFT_OUT
from shoal.tracks.writing import PER_ANIMAL, PER_GROUP

COVARIATES = frozenset(
    {"sex", "treatment", "species", "condition", "role", "age", "population", "category"}
    | {"individual_taxon_canonical_name", "tag_local_identifier"}
)
"""Columns that are kept because of their name; others where they begin with animal: or group:."""
PLACES = ("x", "y", "longitude", "latitude")
NUMBERS = (*PLACES, "frame", "heading", "fps")
DEPTHS = ("z", "pos_z", "z_pos", "position_z", "z_position", "z_coord")
HEIGHTS = (
    *("altitude", "alt", "elevation", "height", "depth"),
    *("height_above_ellipsoid", "height_above_msl", "height_above_mean_sea_level"),
)
"""Columns of a third dimension, of which nothing is used: where x and y are in space, and else."""
TEXTS = ("individual", "group", "length_unit", "arena_words", "date")
FALSE, TRUE = {"false", "f", "0", "no"}, {"true", "t", "1", "yes"}


def wanted_columns(layout: Layout, numeric_time: bool) -> tuple[list[str], list[str]]:
    """The number columns and the text columns that tracks are made of."""
    numbers = [layout[role] for role in NUMBERS if role in layout]
    texts = [layout[role] for role in TEXTS if role in layout]
    if "time" in layout:
        (numbers if numeric_time else texts).append(layout["time"])
    texts += [name for name, _, _ in flag_columns(layout)]
    return numbers, list(dict.fromkeys([*texts, *covariate_columns(layout)]))


def covariate_columns(layout: Layout) -> list[str]:
    """Columns that say something of an animal or a group."""
    return [
        name
        for name in layout.others
        if name.startswith((PER_ANIMAL, PER_GROUP)) or split_unit(name)[0] in COVARIATES
    ]


def third_dimension(layout: Layout) -> tuple[list[str], list[str]]:
    """Sentences on columns that are left out: those to warn of, and those to note."""
    plain = {name: split_unit(name)[0] for name in layout.others}
    deep = [repr(name) for name, word in plain.items() if word in DEPTHS or word[:2] == "z_"]
    high = [repr(name) for name, word in plain.items() if word in HEIGHTS]
    return (
        [LEFT_OUT.format(f"column {', '.join(deep)}")] if deep else [],
        [LEFT_OUT.format(f"column {', '.join(high)}")] if high else [],
    )


def flag_columns(layout: Layout) -> list[tuple[str, set[str], str]]:
    """Columns that take rows out, what they say then, and how to tell it."""
    found = []
    if "visible" in layout:
        found.append((layout["visible"], FALSE, "marked visible=false"))
    if "ignore" in layout:
        found.append((layout["ignore"], TRUE, "marked to be ignored"))
    outliers = [layout["outlier"]] if "outlier" in layout else []
    outliers += [name for name in layout.others if split_unit(name)[0] in ROLES["outlier"]]
    return found + [(name, TRUE, f"marked as outliers ({name})") for name in outliers]


def is_numeric(source: Source, name: str) -> bool:
    """Whether a column of times holds numbers."""
    if source.kind == "parquet":
        kind = source.parquet_schema.field(name).type
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    place = source.header.index(name)
    rows = csv.reader(source.lines[1:], delimiter=source.delimiter)
    words = [row[place][:100] for row in rows if len(row) > place and row[place]]
    number = r"[-+]?\d*[.,]?\d*([eE][-+]?\d+)?"
    return bool(words) and re.fullmatch(number, words[0].strip()) is not None
