"""The layout of a long table: what each column means, and which columns are read."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from shoal.errors import InputError
from shoal.tracks.dataset import LEFT_OUT
from shoal.tracks.readers.source import Source, listed
from shoal.tracks.writing import PER_ANIMAL, PER_GROUP

ROLES: dict[str, tuple[str, ...]] = {
    "x": ("x", "pos_x", "x_pos", "position_x", "x_position", "x_coord", "easting", "utm_easting"),
    "y": ("y", "pos_y", "y_pos", "position_y", "y_position", "y_coord", "northing", "utm_northing"),
    "longitude": ("location_long", "lon", "long", "longitude", "lng"),
    "latitude": ("location_lat", "lat", "latitude"),
    "individual": (
        "track_fixed", "individual_local_identifier", "individual", "individuals",
        "individual_id", "animal_id", "animal", "animalid", "id", "track_id", "trackid", "track",
        "identity", "ind", "bird", "fish", "fish_id", "sheep", "baboon", "calftag", "tag",
        "tag_local_identifier", "name", "agent",
    ),
    "frame": ("frame", "frames", "frame_number", "frame_id", "frame_idx", "framenumber", "step"),
    "time": ("time", "timestamp", "t", "seconds", "datetime", "date_time", "timestamps"),
    "date": ("date",),
    "group": (
        "group", "experiment", "exp", "trial", "event", "arena", "session", "school", "flock",
        "study_name",
    ),
    "heading": ("heading_deg",),
    "visible": ("visible",),
    "outlier": (
        "manually_marked_outlier", "algorithm_marked_outlier", "import_marked_outlier",
    ),
    "ignore": ("ignore",),
    "fps": ("fps",),
    "length_unit": ("length_unit",),
    "arena_words": ("arena_walls",),
}  # fmt: skip
"""Names of columns for each role, the clearest name first."""

UNITS = {"px": "px", "pixel": "px", "pixels": "px", "mm": "mm", "cm": "cm", "m": "m", "km": "km",
         "s": "s", "sec": "s", "seconds": "s", "ms": "ms", "deg": "deg"}  # fmt: skip
NUMBERS = ("x", "y", "longitude", "latitude", "frame", "heading", "fps")
"""Roles whose columns hold numbers."""
COVARIATES = frozenset(
    {"sex", "treatment", "species", "condition", "role", "age", "population", "category"}
    | {"individual_taxon_canonical_name", "tag_local_identifier"}
)
"""Columns kept because of their name; others are kept if they begin with animal: or group:."""
DEPTHS = ("z", "pos_z", "z_pos", "position_z", "z_position", "z_coord")
HEIGHTS = (
    *("altitude", "alt", "elevation", "height", "depth"),
    *("height_above_ellipsoid", "height_above_msl", "height_above_mean_sea_level"),
)
"""Columns of a third dimension, which are left out; shoal warns of DEPTHS and notes HEIGHTS."""
FALSE, TRUE = {"false", "f", "0", "no"}, {"true", "t", "1", "yes"}


@dataclass(frozen=True)
class Layout:
    """The column of each role, and the units given in the header.

    Attributes
    ----------
    others
        Columns without a role.
    """

    columns: Mapping[str, str]
    length_unit: str = ""
    time_unit: str = ""
    others: tuple[str, ...] = ()

    @property
    def geographic(self) -> bool:
        """Whether positions are longitudes and latitudes."""
        return "longitude" in self.columns

    def __contains__(self, role: str) -> bool:
        return role in self.columns

    def __getitem__(self, role: str) -> str:
        return self.columns[role]


def split_unit(name: str) -> tuple[str, str]:
    """The plain name of a column, and the unit written in it.

    >>> split_unit("X (cm)"), split_unit("location-long"), split_unit("time in ms")
    (('x', 'cm'), ('location_long', ''), ('time', 'ms'))
    """
    plain = re.sub(r"[\s.\-:#]+", "_", name.strip().lower().replace("#", "_"))
    found = re.fullmatch(r"(.+?)_?[(\[](.+?)[)\]]", plain) or re.fullmatch(r"(.+)_in_(\w+)", plain)
    if found is None:
        found = re.fullmatch(r"(x|y|time|t)_(\w+)", plain)
    if found is not None and found[2].strip("_") in UNITS:
        return found[1].strip("_"), UNITS[found[2].strip("_")]
    return plain.strip("_"), ""


def layout_of(header: Sequence[str], mapping: Mapping[str, str]) -> Layout:
    """Return the role of each column; raise an error if a necessary column is missing."""
    for role, name in mapping.items():
        if role not in ROLES:
            raise InputError(f"unknown role {role!r} in columns: use {', '.join(list(ROLES)[:9])}")
        if name not in header:
            raise InputError(f"there is no column {name!r}; the columns are {listed(header)}")
    plain = {name: split_unit(name) for name in header}
    columns: dict[str, str] = {}
    for role, spellings in ROLES.items():
        found = mapping.get(role) or _first(plain, spellings)
        if found is not None:
            columns[role] = found
    _settle(columns, mapping)
    missing = missing_places(columns)
    if missing:
        raise InputError(
            f"there is no column for {missing} (columns found: {listed(header)}): name it "
            f"with columns={{{missing!r}: …}} or --columns {missing}=…"
        )
    units = {plain[columns[role]][1] for role in ("x", "y") if role in columns}
    if len(units) > 1:
        raise InputError(
            f"mixed units: columns {columns['x']!r:.60} and {columns['y']!r:.60} have different "
            "units"
        )
    length = "m" if "longitude" in columns else next(iter(units), "")
    time_unit = plain[columns["time"]][1] if "time" in columns else ""
    taken = set(columns.values())
    return Layout(columns, length, time_unit, tuple(name for name in header if name not in taken))


def missing_places(columns: Mapping[str, str]) -> str:
    """The first necessary role that no column has; empty if all are there."""
    pairs = (("x", "y"), ("longitude", "latitude"))
    if not any(one in columns or other in columns for one, other in pairs):
        return "x"
    for one, other in pairs:
        if (one in columns) != (other in columns):
            return other if one in columns else one
    return "" if "frame" in columns or "time" in columns else "frame"


def _first(plain: Mapping[str, tuple[str, str]], spellings: Sequence[str]) -> str | None:
    """The column with the first of these spellings; one without a unit if there are several."""
    for spelling in spellings:
        named = [name for name, (word, _) in plain.items() if word == spelling]
        if named:
            return min(named, key=lambda name: plain[name][1] != "")
    return None


def _settle(columns: dict[str, str], mapping: Mapping[str, str]) -> None:
    """Keep one pair of coordinates, and use a lone date column as the time."""
    if "x" in columns and "y" in columns and "longitude" in columns and "longitude" not in mapping:
        surer = columns["longitude"].lower().replace(".", "-").startswith("location")
        if surer and "x" not in mapping:
            del columns["x"], columns["y"]
        else:
            del columns["longitude"]
            columns.pop("latitude", None)
    elif "longitude" in columns and "latitude" in columns:
        columns.pop("x", None)
        columns.pop("y", None)
    if "time" not in columns and "date" in columns:
        columns["time"] = columns.pop("date")


def wanted_columns(source: Source, layout: Layout) -> tuple[list[str], list[str]]:
    """The number columns and the text columns to read."""
    numbers = [layout[role] for role in NUMBERS if role in layout]
    if "time" in layout and _is_numeric(source, layout["time"]):
        numbers.append(layout["time"])
    return numbers, [name for name in used_columns(layout) if name not in numbers]


def used_columns(layout: Layout) -> list[str]:
    """All columns to read."""
    flags = [name for name, _, _ in flag_columns(layout)]
    return list(dict.fromkeys([*layout.columns.values(), *flags, *covariate_columns(layout)]))


def covariate_columns(layout: Layout) -> list[str]:
    """Columns that describe an animal or a group."""
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
    """Columns that mark bad rows, the values that mark them, and words for the note."""
    found = []
    if "visible" in layout:
        found.append((layout["visible"], FALSE, "marked visible=false"))
    if "ignore" in layout:
        found.append((layout["ignore"], TRUE, "marked to be ignored"))
    outliers = [layout["outlier"]] if "outlier" in layout else []
    outliers += [name for name in layout.others if split_unit(name)[0] in ROLES["outlier"]]
    return found + [(name, TRUE, f"marked as outliers ({name})") for name in outliers]


def _is_numeric(source: Source, name: str) -> bool:
    """Whether a column of times holds numbers."""
    if source.kind == "parquet":
        kind = source.parquet_schema.field(name).type
        return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
    place = source.header.index(name)
    rows = csv.reader(source.lines[1:], delimiter=source.delimiter)
    words = [row[place][:100] for row in rows if len(row) > place and row[place]]
    number = r"[-+]?\d*[.,]?\d*([eE][-+]?\d+)?"
    return bool(words) and re.fullmatch(number, words[0].strip()) is not None
