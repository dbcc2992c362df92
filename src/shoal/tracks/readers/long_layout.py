"""Which column of a long table means what, from the names people give them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shoal.errors import InputError
from shoal.tracks.readers.source import listed

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
"""What columns are called, the surest name first."""

UNITS = {"px": "px", "pixel": "px", "pixels": "px", "mm": "mm", "cm": "cm", "m": "m", "km": "km",
         "s": "s", "sec": "s", "seconds": "s", "ms": "ms", "deg": "deg"}  # fmt: skip
SCALE = {"s": 1.0, "ms": 1e-3, "": 1.0}


@dataclass(frozen=True)
class Layout:
    """Column names by role, with the units that headers give."""

    columns: Mapping[str, str]
    length_unit: str = ""
    time_unit: str = ""
    others: tuple[str, ...] = field(default=())
    divisible: bool = True

    @property
    def geographic(self) -> bool:
        """Whether places are longitudes and latitudes."""
        return "longitude" in self.columns

    def __contains__(self, role: str) -> bool:
        return role in self.columns

    def __getitem__(self, role: str) -> str:
        return self.columns[role]


def split_unit(name: str) -> tuple[str, str]:
    """A column's plain name and the unit in it.

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
    """Roles of the columns; an error names what is missing and what was found."""
    for role, name in mapping.items():
        if role not in ROLES:
            raise InputError(
                f"columns are mapped to {', '.join(list(ROLES)[:9])}; there is no {role!r}"
            )
        if name not in header:
            raise InputError(f"there is no column {name!r}; there are {listed(header)}")
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
            f"there is no column for {missing} (columns found: {listed(header)}): say which "
            f"it is with columns={{{missing!r}: …}} or --columns {missing}=…"
        )
    units = {plain[columns[role]][1] for role in ("x", "y") if role in columns}
    if len(units) > 1:
        raise InputError(
            f"mixed units: columns {columns['x']!r:.60} and {columns['y']!r:.60} are not in the "
            "same one"
        )
    length = "m" if "longitude" in columns else next(iter(units), "")
    time_unit = plain[columns["time"]][1] if "time" in columns else ""
    taken = set(columns.values())
    return Layout(columns, length, time_unit, tuple(name for name in header if name not in taken))


def missing_places(columns: Mapping[str, str]) -> str:
    """The first role without which there are no tracks."""
    pairs = (("x", "y"), ("longitude", "latitude"))
    if not any(one in columns or other in columns for one, other in pairs):
        return "x"
    for one, other in pairs:
        if (one in columns) != (other in columns):
            return other if one in columns else one
    return "" if "frame" in columns or "time" in columns else "frame"


def _first(plain: Mapping[str, tuple[str, str]], spellings: Sequence[str]) -> str | None:
    """The first spelling that a column has, without a unit if there is a choice."""
    for spelling in spellings:
        named = [name for name, (word, _) in plain.items() if word == spelling]
        if named:
            return min(named, key=lambda name: plain[name][1] != "")
    return None


def _settle(columns: dict[str, str], mapping: Mapping[str, str]) -> None:
    """Where two roles could be meant, one."""
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
