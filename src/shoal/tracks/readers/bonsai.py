"""Bonsai: CSV files of centroids."""

import numpy as np

from shoal.tracks.readers.assembly import timed_tracks, tracks_of
from shoal.tracks.readers.source import ReadOptions, Source
from shoal.tracks.readers.table_files import column, csv_table, unique_names
from shoal.tracks.record import Tracks


def declines(source: Source) -> str | None:
    """Why the file is not a table of Bonsai; None if it is."""
    bonsai = any(name.endswith("Centroid.X") for name in source.header)
    return None if bonsai else "no column that ends with Centroid.X"


def read(source: Source, options: ReadOptions) -> list[Tracks]:
    """Centroids of one or several regions, with one row for each frame."""
    names = unique_names(source.header)
    regions = [name[: -len("Centroid.X")] for name in names if name.endswith("Centroid.X")]
    columns = [f"{region}Centroid.{axis}" for region in regions for axis in "XY"]
    rows = csv_table(source, columns)
    array = np.stack([column(rows, name) for name in columns], axis=1)
    places = array.reshape(len(array), len(regions), 2)
    labels = [region.rstrip(".") or str(i + 1) for i, region in enumerate(regions)]
    times = _stamps(source, names)
    if times is None:
        return [tracks_of(source, options, places, unit="px", individuals=labels)]
    known = {"positions": places, "unit": "px", "individuals": labels}
    return [timed_tracks(source, options, times, **known)]


def _stamps(source: Source, names: list[str]) -> np.ndarray | None:
    """Seconds from the time stamps of a table; None if there are none or they do not increase."""
    import pandas as pd  # noqa: PLC0415

    stamps = [name for name in names if name.endswith("Timestamp")]
    if not stamps:
        return None
    words = csv_table(source, [], stamps[:1]).column(stamps[0]).to_pandas()
    times = pd.to_datetime(words, errors="coerce", utc=True, format="ISO8601")
    seconds = (times - times.iloc[0]).dt.total_seconds().to_numpy()
    return seconds if len(seconds) > 1 and np.all(np.diff(seconds) > 0) else None
