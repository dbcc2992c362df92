"""``open_tracks``: long tables larger than memory, as one file or in parts."""

import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from shoal.errors import InputError, warn
from shoal.inputs import Filename
from shoal.tracks.readers.layout import (
    ROLES,
    Layout,
    layout_of,
    split_unit,
    third_dimension,
    used_columns,
    wanted_columns,
)
from shoal.tracks.readers.reading import files_of, without_strays
from shoal.tracks.readers.source import ReadOptions, Source, listed, named
from shoal.tracks.readers.streaming import BLOCK_ROWS, OpenTracks
from shoal.tracks.readers.table_files import copy_to_parquet, row_groups


class Spool:
    """A temporary folder that is removed when nothing refers to this object any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="shoal-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def open_tracks(
    path: Filename,
    *,
    columns: Mapping[str, str] | None = None,
    fps: float | None = None,
    unit: str | None = None,
    parts: str | None = None,
    block_rows: int = BLOCK_ROWS,
) -> OpenTracks:
    """Open a long table, or a folder of its parts, that is larger than memory.

    Parameters
    ----------
    path
        A Parquet or CSV file, a folder of them, or a pattern. A column names the groups, or folders
        such as ``group=north`` do. CSV is first copied to a temporary Parquet file.
    columns, fps, unit
        As in ``shoal.read_tracks``.
    parts
        What several files are if nothing names the groups: ``"time"`` if they are one recording
        cut in time, with or without overlapping frames; ``"groups"`` if each file is a group. By
        default they are groups if all begin with about the same frames, and one recording (with a
        warning) if each begins where the one before ends. Anything else is an error.
    block_rows
        About how many rows each worker has in memory at a time.

    Returns
    -------
    OpenTracks
        Pass it to ``count_transitions`` or ``decisions``, or iterate over its groups.

    Returns
    -------
    OpenTracks
        Passed to ``shoal.count_transitions`` or ``shoal.decisions``, which read it in parts, or
        gone through, group by group.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> path = getfixture("tmp_path") / "ponds.parquet"
    >>> steps = np.random.default_rng(1).normal(size=(50, 4, 2)).cumsum(axis=0)
    >>> _ = shoal.Tracks.from_arrays(steps, group="north").to_parquet(path)
    >>> opened = shoal.open_tracks(path)
    >>> opened
    OpenTracks(200 rows in 1 files)
    >>> shoal.count_transitions(opened, shoal.StateSpace(shoal.LocalMisalignment(12))).total
    192
    """
    if block_rows < 1:
        raise InputError(f"block_rows must be one row or more, got {block_rows}")
    if parts not in (None, "time", "groups"):
        raise InputError(f"parts must be 'time' or 'groups', got {parts!r}")
    options = ReadOptions(dict(columns or {}), fps, unit)
    with named(Path(str(path))):
        return _opened(path, options, parts, int(block_rows))


def _opened(path: Any, options: ReadOptions, parts: str | None, block_rows: int) -> OpenTracks:
    files, _ = files_of(path)
    sources = without_strays(files, lambda file: _recognised(file, options))
    files = [source.path for source in sources]
    kinds = {source.kind for source in sources}
    if kinds not in ({"text"}, {"parquet"}):
        raise InputError(
            f"{path}: only long tables, Parquet or CSV, can be opened; got {listed(sorted(kinds))}"
        )
    layout = _one_layout(sources, options)
    spool, origins = None, {}
    if kinds == {"text"}:
        spool, rows = Spool(), max(block_rows, 5_000)
        for number, source in enumerate(sources):
            copied = spool.path / f"{number:06d}.parquet"
            copy_to_parquet(source, *wanted_columns(source, layout), copied, rows)
            origins[copied] = source.path
        files = list(origins)
    store = OpenTracks(tuple(files), layout, options, block_rows, {}, origins, spool)
    _check_alike(store)
    return replace(store, labels=_labels(store, parts))


def _recognised(path: Path, options: ReadOptions) -> Source:
    """A file; raise an error if it is a CSV file that is not a long table."""
    source = Source(path)
    if source.kind == "text":
        with named(path):
            layout_of(source.header, options.columns)
    return source


def _one_layout(sources: Sequence[Source], options: ReadOptions) -> Layout:
    """The layout of all files; raise an error if one lacks a column of the first."""
    with named(sources[0].path):
        layout = layout_of(sources[0].header, options.columns)
    for sentence in third_dimension(layout)[0]:
        warn(f"{sources[0].path}: {sentence}")
    wanted = set(used_columns(layout))
    for source in sources[1:]:
        if not wanted <= set(source.header):
            gone = sorted(wanted - set(source.header))[0]
            raise InputError(f"{source.path} has no column {gone!r}, which {sources[0].path} has")
    if layout.geographic:
        raise InputError(
            f"{sources[0].path}: open_tracks needs x and y, not longitude and latitude: use "
            "read_tracks"
        )
    return layout


def _check_alike(store: OpenTracks) -> None:
    """Raise an error if files have different units or frame rates."""
    for role in ("length_unit", "fps"):
        if role not in store.layout:
            continue
        name, seen = store.layout[role], {}
        for path in store.files:
            rows = next(row_groups(path, [name], [0]), None)
            if rows is not None and rows.num_rows:
                seen[str(rows.column(name)[0].as_py())] = store.origins.get(path, path)
        if len(seen) > 1:
            words = ", ".join(f"{value} ({path.name})" for value, path in seen.items())
            raise InputError(f"the files have mixed units: {role} is {words}")


def _labels(store: OpenTracks, parts: str | None) -> dict[Path, str]:
    """The group of each file, if no column names it."""
    if "group" in store.layout:
        return {}
    places = {path: store.origins.get(path, path) for path in store.files}
    keyed = {path: _hive(place) for path, place in places.items()}
    if all(keyed.values()):
        return {path: str(label) for path, label in keyed.items()}
    if len(places) > 1 and (parts or _way(store)) == "time":
        return dict.fromkeys(places, next(iter(places.values())).parent.name)
    names = [place.stem for place in places.values()]
    if len(set(names)) < len(names):
        names = ["/".join(place.with_suffix("").parts[-2:]) for place in places.values()]
    return dict(zip(places, names, strict=True))


def _hive(path: Path) -> str | None:
    """The group in the name of a folder such as ``group=north``."""
    for part in reversed(path.parent.parts):
        found = re.fullmatch(r"(\w+)=(.+)", part)
        if found and split_unit(found[1])[0] in ROLES["group"]:
            return found[2]
    return None


def _way(store: OpenTracks) -> str:
    """Whether files are one recording cut in time ("time") or one group each ("groups")."""
    if "frame" not in store.layout:
        return "groups"
    spans = sorted(_frame_range(path, store.layout["frame"]) for path in store.files)
    if all(now[0] >= then[1] for then, now in pairwise(spans)):
        warn(
            f"the frames of {len(spans)} files follow each other: taken as one recording cut in "
            "time; use parts='groups' if each file is a group"
        )
        return "time"
    first, last = spans[0]
    if all(start <= (first + last) / 2 for start, _ in spans):
        return "groups"
    raise InputError(
        "the frames of the files overlap in part: pass parts='time' if they are one recording, or "
        "parts='groups' if each is a group"
    )


def _frame_range(path: Path, name: str) -> tuple[float, float]:
    """The first and the last frame in a file."""
    found = [pc.min_max(rows.column(name)).as_py() for rows in row_groups(path, [name])]
    ends = [(each["min"], each["max"]) for each in found if each["min"] is not None]
    if not ends:
        raise InputError(f"{path}, column {name!r}: there are no frames")
    return min(low for low, _ in ends), max(high for _, high in ends)
