"""Movebank: GPS fixes of many animals, each with its own times."""

from dataclasses import replace

from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.layout import split_unit
from shoal.tracks.readers.long_table import read_fixes
from shoal.tracks.readers.source import ReadOptions, Source

WANTED = {"timestamp", "location_long", "location_lat"}


def declines(source: Source) -> str | None:
    """Why the file is not a table of Movebank; None if it is."""
    names = {split_unit(name)[0] for name in source.header}
    return None if names >= WANTED else "no columns timestamp, location-long, location-lat"


def read(source: Source, options: ReadOptions) -> Fixes:
    """The fixes of all studies and animals, without rows that have no position."""
    fixes = read_fixes(source, options)
    empty = int((fixes.x != fixes.x).sum())  # NaN
    if not empty:
        return fixes
    kept = fixes.take(fixes.x == fixes.x)
    return replace(kept, notes=(*kept.notes, f"{empty} rows without a position were dropped"))
