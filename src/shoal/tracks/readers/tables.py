"""Text tables of other trackers: AnimalTA and Bonsai."""

import re
from dataclasses import replace

import numpy as np

from shoal.errors import InputError
from shoal.tracks.gaps import check_grid
from shoal.tracks.readers.arrays import IMAGE, timed_tracks, tracks_of
from shoal.tracks.readers.clock import round_rate
from shoal.tracks.readers.delimited import column, table, unique_names
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.long_layout import layout_of
from shoal.tracks.readers.long_table import fixes_of
from shoal.tracks.readers.long_values import whole_frames
from shoal.tracks.readers.source import ReadOptions, Source
from shoal.tracks.record import Tracks

ARENA = re.compile(r"X_Arena(\d+)_Ind(\d+)")


def declines_animalta(source: Source) -> str | None:
    """Why this is no table of AnimalTA."""
    if source.kind != "text":
        return "no text"
    if source.header[:2] != ["Frame", "Time"]:
        return "its header does not begin with Frame;Time"
    known = source.header[2:6] == ["Arena", "Ind", "X", "Y"] or ARENA.match(source.header[-2])
    return None if known else "its columns are neither Arena;Ind;X;Y nor X_Arena0_Ind0;…"


def read_animalta(source: Source, options: ReadOptions) -> Fixes | list[Tracks]:
    """Every arena is a group; frames are counted, not timed."""
    if "Arena" in source.header:
        layout = layout_of(source.header, {"group": "Arena", "individual": "Ind"})
        columns = {role: name for role, name in layout.columns.items() if role != "time"}
        timeless = type(layout)(columns, "px")
        rows = table(source, ["Frame", "X", "Y"], ["Arena", "Ind"])
        fixes = fixes_of(rows, timeless, source.path, source.path.stem)
        return _labelled(fixes, source)
    places = [name for name in source.header if ARENA.match(name)]
    rows = table(source, ["Frame", "Time", *places, *(f"Y{name[1:]}" for name in places)])
    frame, time = whole_frames(column(rows, "Frame"), source.path), column(rows, "Time")
    steps = np.diff(frame)
    if np.any(steps <= 0):
        late = int(np.flatnonzero(steps <= 0)[0]) + 3
        raise InputError(f"{source.path}, row {late}: frames must increase")
    rate = (frame[-1] - frame[0]) / (time[-1] - time[0]) if time[-1] > time[0] else None
    index = frame - frame[0]
    check_grid(int(index[-1]) + 1, len(places), len(index) * len(places), str(source.path))
    arenas: dict[str, list[str]] = {}
    for name in places:
        match = ARENA.match(name)
        assert match is not None
        arenas.setdefault(match[1], []).append(name)
    found = []
    for arena, names in arenas.items():
        array = np.full((index[-1] + 1, len(names), 2), np.nan)
        for animal, name in enumerate(names):
            array[index, animal, 0] = column(rows, name)
            array[index, animal, 1] = column(rows, f"Y{name[1:]}")
        label = f"{source.path.stem} arena {arena}"
        animals = [name.rpartition("Ind")[2] for name in names]
        found.append(
            tracks_of(
                source,
                options,
                array,
                fps=None if rate is None else round_rate(float(rate)),
                unit="px",
                individuals=animals,
                group=label,
            )
        )
    return found


def declines_bonsai(source: Source) -> str | None:
    """Why this is no table of Bonsai."""
    bonsai = any(name.endswith("Centroid.X") for name in source.header)
    return None if bonsai else "no column that ends with Centroid.X"


def read_bonsai(source: Source, options: ReadOptions) -> list[Tracks]:
    """Centroids of one or several regions, one row a frame."""
    names = unique_names(source.header)
    regions = [name[: -len("Centroid.X")] for name in names if name.endswith("Centroid.X")]
    columns = [f"{region}Centroid.{axis}" for region in regions for axis in "XY"]
    rows = table(source, columns)
    array = np.stack([column(rows, name) for name in columns], axis=1)
    places = array.reshape(len(array), len(regions), 2)
    labels = [region.rstrip(".") or str(i + 1) for i, region in enumerate(regions)]
    times = _stamps(source, names)
    if times is None:
        return [tracks_of(source, options, places, unit="px", individuals=labels)]
    known = {"positions": places, "unit": "px", "individuals": labels}
    return [timed_tracks(source, options, times, **known)]


def _stamps(source: Source, names: list[str]) -> np.ndarray | None:
    """Seconds by the time stamps of a table, where it has any that increase."""
    import pandas as pd  # noqa: PLC0415

    stamps = [name for name in names if name.endswith("Timestamp")]
    if not stamps:
        return None
    words = table(source, [], stamps[:1]).column(stamps[0]).to_pandas()
    times = pd.to_datetime(words, errors="coerce", utc=True, format="ISO8601")
    seconds = (times - times.iloc[0]).dt.total_seconds().to_numpy()
    return seconds if len(seconds) > 1 and np.all(np.diff(seconds) > 0) else None


def _labelled(fixes: Fixes, source: Source) -> Fixes:
    labels = tuple(f"{source.path.stem} arena {name}" for name in fixes.groups)
    return replace(fixes, groups=labels, notes=(*fixes.notes, IMAGE))
