"""Opening long tables that are larger than memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.inputs import Filename
from shoal.tracks.readers.long_columns import covariate_columns, third_dimension
from shoal.tracks.readers.long_layout import Layout, layout_of
from shoal.tracks.readers.parts import labels_of
from shoal.tracks.readers.pieces import opened, read_columns
from shoal.tracks.readers.reading import files_of, without_strays
from shoal.tracks.readers.source import ReadOptions, Source, named
from shoal.tracks.readers.spooling import Spool, spooled
from shoal.tracks.readers.store import BLOCK_ROWS, OpenTracks
from shoal.tracks.record import warn


def open_tracks(
    path: Filename,
    *,
    columns: Mapping[str, str] | None = None,
    fps: float | None = None,
    unit: str | None = None,
    parts: str | None = None,
    block_rows: int = BLOCK_ROWS,
) -> OpenTracks:
    """A long table, or a folder of its parts, opened but not read: for more than memory holds.

    Parameters
    ----------
    path
        Parquet or CSV, a folder of them, or a pattern. Groups are told apart by a column, or by
        folders such as ``group=north``. CSV is copied block by block into a temporary Parquet file
        first.
    columns, fps, unit
        As in ``shoal.read_tracks``.
    parts
        Of several files without either: ``"time"`` where they are one recording cut in time, with
        or without overlapping frames; ``"groups"`` where each is a group. By default groups where
        all begin with the same frames, one recording (with a warning) where each begins where the
        one before ends, and an error where neither is plain.
    block_rows
        About how many rows are in memory at a time, for each worker.

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
        raise InputError(f"a block has one row or more, got {block_rows}")
    if parts not in (None, "time", "groups"):
        raise InputError(f"parts is 'time' or 'groups', got {parts!r}")
    options = ReadOptions(dict(columns or {}), fps, unit)
    with named(Path(str(path))):
        return _opened(path, options, parts, int(block_rows))


def _opened(path: Any, options: ReadOptions, parts: str | None, block_rows: int) -> OpenTracks:
    files, _ = files_of(path)
    sources = without_strays(files, lambda file: _recognised(file, options))
    files = [source.path for source in sources]
    kinds = {source.kind for source in sources}
    if kinds not in ({"text"}, {"parquet"}):
        raise InputError(f"{path}: only long tables, Parquet or CSV, can be opened; got {kinds}")
    layout = _one_layout(sources, options)
    spool, origins = None, {}
    if kinds == {"text"}:
        spool = Spool()
        origins = {
            spooled(
                source, layout, spool.path / f"{number:06d}.parquet", max(block_rows, 5_000)
            ): source.path
            for number, source in enumerate(sources)
        }
        files = list(origins)
    store = OpenTracks(tuple(files), layout, options, block_rows, {}, origins, spool)
    _check_alike(store)
    return replace(store, labels=labels_of(store, parts))


def _recognised(path: Path, options: ReadOptions) -> Source:
    """A file that is a long table, or of another kind, which is refused later."""
    source = Source(path)
    if source.kind == "text":
        with named(path):
            layout_of(source.header, options.columns)
    return source


def _one_layout(sources: Sequence[Source], options: ReadOptions) -> Layout:
    with named(sources[0].path):
        layout = layout_of(sources[0].header, options.columns)
    for sentence in third_dimension(layout)[0]:
        warn(f"{sources[0].path}: {sentence}")
    wanted = {*layout.columns.values(), *covariate_columns(layout)}
    for source in sources[1:]:
        if not wanted <= set(source.header):
            gone = sorted(wanted - set(source.header))[0]
            raise InputError(f"{source.path} has no column {gone!r}, which {sources[0].path} has")
    if layout.geographic:
        raise InputError(
            f"{sources[0].path}: longitude and latitude cannot be opened, only read whole"
        )
    return layout


def _check_alike(store: OpenTracks) -> None:
    """Files of one store have one unit and one frame rate."""
    for role in ("length_unit", "fps"):
        if role not in store.layout:
            continue
        seen = {}
        for path in store.files:
            with opened(path) as file:
                column = read_columns(file, path, [0], [store.layout[role]]).column(0)
            seen[str(column[0].as_py())] = store.origins.get(path, path)
        if len(seen) > 1:
            words = ", ".join(f"{value} ({path.name})" for value, path in seen.items())
            raise InputError(f"the files have mixed units: {role} is {words}")
