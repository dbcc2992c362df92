"""AnimalTA: CSV files with a fixed or a variable number of animals."""

import re
from dataclasses import replace

import numpy as np

from shoal.errors import InputError
from shoal.tracks.dataset import check_grid
from shoal.tracks.readers.assembly import IMAGE, tracks_of
from shoal.tracks.readers.clock import round_rate
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.layout import Layout, layout_of
from shoal.tracks.readers.long_table import LongTable
from shoal.tracks.readers.source import ReadOptions, Source
from shoal.tracks.readers.table_files import column, csv_table
from shoal.tracks.record import Tracks

ARENA = re.compile(r"X_Arena(\d+)_Ind(\d+)")


def declines(source: Source) -> str | None:
    """Why the file is not a table of AnimalTA; None if it is."""
    if source.kind != "text":
        return "not a text file"
    if source.header[:2] != ["Frame", "Time"]:
        return "its header does not begin with Frame;Time"
    known = source.header[2:6] == ["Arena", "Ind", "X", "Y"] or ARENA.match(source.header[-2])
    return None if known else "its columns are neither Arena;Ind;X;Y nor X_Arena0_Ind0;…"


def read(source: Source, options: ReadOptions) -> Fixes | list[Tracks]:
    """Tracks in which every arena is a group."""
    if "Arena" in source.header:
        layout = layout_of(source.header, {"group": "Arena", "individual": "Ind"})
        columns = {role: name for role, name in layout.columns.items() if role != "time"}
        rows = csv_table(source, ["Frame", "X", "Y"], ["Arena", "Ind"])
        fixes = LongTable(rows, Layout(columns, "px"), source.path).fixes(source.path.stem)
        labels = tuple(f"{source.path.stem} arena {name}" for name in fixes.groups)
        return replace(fixes, groups=labels, notes=(*fixes.notes, IMAGE))
    places = [name for name in source.header if ARENA.match(name)]
    rows = csv_table(source, ["Frame", "Time", *places, *(f"Y{name[1:]}" for name in places)])
    frame = LongTable(rows, Layout({"frame": "Frame"}), source.path).frames()
    assert frame is not None
    time = column(rows, "Time")
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
