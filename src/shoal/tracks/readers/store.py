"""Long tables larger than memory: opened, indexed, and read block by block."""

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int
from pyarrow import compute, parquet

from shoal.errors import InputError
from shoal.tracks.readers.clock import clock_of_frames
from shoal.tracks.readers.delimited import batches
from shoal.tracks.readers.fixes import Fixes, assembled, check_finite
from shoal.tracks.readers.long_layout import ROLES, Layout, layout_of, split_unit
from shoal.tracks.readers.long_table import as_wanted, fixes_of, tidy
from shoal.tracks.readers.reading import files_of
from shoal.tracks.readers.source import ReadOptions, Source, damaged
from shoal.tracks.record import Tracks

BLOCK_ROWS = 1_000_000
NUMBERS = ("x", "y", "frame", "heading", "fps")
TEXTS = ("individual", "group", "length_unit")


@dataclass(frozen=True)
class Piece:
    """One row group of one file; ``low`` and ``high`` are its first and last frame, once known."""

    path: Path
    number: int
    rows: int
    label: str = ""
    low: int = 0
    high: int = 0


@dataclass(frozen=True)
class Survey:
    """What must be known of a group before it can be cut into runs of frames."""

    names: tuple[str, ...]
    first: int
    last: int
    step: int


@dataclass(frozen=True)
class Block:
    """Some whole groups, or some frames of one group: what one worker counts at a time.

    Attributes
    ----------
    groups
        Labels of the groups in it.
    pieces
        The row groups that hold them.
    frames, survey
        Of a cut group: its first frame, and the one before which it ends; what was found out about
        the whole group, so that every block has all individuals in the same order.
    """

    store: "OpenTracks"
    groups: tuple[str, ...]
    pieces: tuple[Piece, ...]
    rows: int
    frames: tuple[int, int] | None = None
    survey: Survey | None = None

    def read(self, before: int = 0, after: int = 0) -> Iterator[tuple[Tracks, slice]]:
        """Tracks of each group, and which of their frames belong to this block.

        Parameters
        ----------
        before, after
            Frames around the block to read as well.
        """
        if self.frames is None or self.survey is None:
            fixes = self.store.fixes(self.pieces, self.groups)
            for tracks in assembled(fixes, replace(self.store.options, sort=True)):
                yield tracks, slice(0, len(tracks.positions))
            return
        low, high = self.frames
        step, first, last = self.survey.step, self.survey.first, self.survey.last
        start, stop = max(first, low - step * before), min(last + step, high + step * after)
        near = [piece for piece in self.pieces if piece.low < stop and piece.high >= start]
        fixes = self.store.fixes(near, self.groups, (start, stop))
        tracks = _window(fixes, self.groups[0], self.survey, (start, stop), self.store.options)
        yield tracks, slice((low - start) // step, (high - start) // step)

    def begins(self, before: int) -> bool:
        """Whether reading so many frames before it reaches the group's first frame."""
        if self.frames is None or self.survey is None:
            return True
        return self.frames[0] - before * self.survey.step <= self.survey.first


@dataclass(frozen=True)
class OpenTracks:
    """A long table on disk, not read yet: pass it to ``count_transitions``, or go through it.

    Iterating gives the Tracks of one group after the other.
    """

    files: tuple[Path, ...]
    layout: Layout
    options: ReadOptions
    block_rows: int = BLOCK_ROWS
    labels: Mapping[Path, str] = field(default_factory=dict)
    spool: Any = None

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """Every row group of every file."""
        found = []
        for path in self.files:
            with _opened(path) as file:
                facts = file.metadata
                rows = [facts.row_group(i).num_rows for i in range(facts.num_row_groups)]
            label = self.labels.get(path, "")
            found += [Piece(path, i, n, label) for i, n in enumerate(rows)]
        return tuple(found)

    @property
    def rows(self) -> int:
        """Fixes in all."""
        return sum(piece.rows for piece in self.pieces)

    @cached_property
    def index(self) -> dict[str, list[tuple[Piece, int]]]:
        """For every group the pieces that hold it, with how many of its rows."""
        found: dict[str, list[tuple[Piece, int]]] = {}
        for piece in self.pieces:
            for label, rows in self._groups_of(piece):
                found.setdefault(label, []).append((piece, rows))
        return found

    @property
    def groups(self) -> tuple[str, ...]:
        """The labels of all groups."""
        return tuple(self.index)

    def blocks(self) -> list[Block]:
        """Blocks of whole groups; a group larger than a block is cut into runs of frames."""
        found: list[Block] = []
        labels: list[str] = []
        pieces: dict[Piece, None] = {}
        rows = 0
        lean = replace(self, spool=None)  # workers need no temporary folder
        for label, parts in self.index.items():
            size = sum(count for _, count in parts)
            large = (
                size > 1.5 * self.block_rows and "frame" in self.layout and self.layout.divisible
            )
            if labels and (large or rows + size > self.block_rows):
                found.append(Block(lean, tuple(labels), tuple(pieces), rows))
                labels, pieces, rows = [], {}, 0
            if large:
                found += lean._cut(label, [piece for piece, _ in parts], size)
            else:
                labels.append(label)
                pieces.update(dict.fromkeys(piece for piece, _ in parts))
                rows += size
        if labels:
            found.append(Block(lean, tuple(labels), tuple(pieces), rows))
        return found

    def fixes(
        self,
        pieces: Sequence[Piece],
        groups: Sequence[str],
        limits: tuple[int, int] | None = None,
    ) -> Fixes:
        """The rows of these groups, and within these frames."""
        parts = []
        for path in dict.fromkeys(piece.path for piece in pieces):
            numbers = [piece.number for piece in pieces if piece.path == path]
            parts.append(self._rows(path, numbers, groups, limits))
        if len(parts) == 1:
            return parts[0]
        return _without_seams(_stacked(parts))

    def uncut(self) -> "OpenTracks":
        """The same, with no group cut into runs of frames."""
        return replace(self, layout=replace(self.layout, divisible=False))

    def __iter__(self) -> Iterator[Tracks]:
        for label, parts in self.index.items():
            pieces = tuple(piece for piece, _ in parts)
            block = Block(self, (label,), pieces, sum(rows for _, rows in parts))
            for tracks, _ in block.read():
                yield tracks

    def __repr__(self) -> str:
        return f"OpenTracks({self.rows} rows in {len(self.files)} files)"

    def _groups_of(self, piece: Piece) -> list[tuple[str, int]]:
        if "group" not in self.layout:
            return [(piece.label, piece.rows)]
        with _opened(piece.path) as file:
            column = _read(file, piece.path, [piece.number], [self.layout["group"]]).column(0)
        counted = column.combine_chunks().value_counts()
        names, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
        if None in names:
            raise InputError(f"{piece.path}, column {self.layout['group']!r}: it is empty in a row")
        return [(tidy(name), int(count)) for name, count in zip(names, counts, strict=True)]

    def _cut(self, label: str, pieces: Sequence[Piece], size: int) -> list[Block]:
        """A large group in runs of frames."""
        surveyed, survey = self._surveyed(label, pieces)
        count = -(-size // self.block_rows)
        frames = (survey.last - survey.first) // survey.step + 1
        edges = np.unique(np.linspace(0, frames, count + 1).astype(int)) * survey.step
        return [
            Block(self, (label,), surveyed, size // count, (int(low), int(high)), survey)
            for low, high in zip(survey.first + edges[:-1], survey.first + edges[1:], strict=True)
        ]

    def _surveyed(self, label: str, pieces: Sequence[Piece]) -> tuple[tuple[Piece, ...], Survey]:
        """All individuals of a group, the span and the step of its frames."""
        roles = [role for role in ("frame", "individual", "group") if role in self.layout]
        names: set[str] = set()
        gaps, found = 0, []
        anchor: int | None = None
        for piece in pieces:
            with _opened(piece.path) as file:
                rows = _read(file, piece.path, [piece.number], [self.layout[r] for r in roles])
            if "group" in self.layout:
                labels = compute.cast(rows.column(self.layout["group"]), pa.string())
                rows = rows.filter(compute.equal(labels, label))
            frames = np.unique(_integers(rows.column(0), piece.path, self.layout["frame"]))
            anchor = int(frames[0]) if anchor is None else anchor
            gaps = int(np.gcd.reduce(np.append(frames - anchor, gaps)))
            if "individual" in self.layout:
                present = rows.column(self.layout["individual"]).unique().to_pylist()
                names |= {tidy(name) for name in present}
            found.append(replace(piece, low=int(frames[0]), high=int(frames[-1])))
        names = names or {self.labels.get(pieces[0].path, pieces[0].path.stem)}
        first, last = min(p.low for p in found), max(p.high for p in found)
        return tuple(found), Survey(tuple(sorted(names)), first, last, max(gaps, 1))

    def _rows(
        self,
        path: Path,
        numbers: Sequence[int],
        groups: Sequence[str],
        limits: tuple[int, int] | None,
    ) -> Fixes:
        layout = self.layout
        wanted = [layout[role] for role in (*NUMBERS, *TEXTS, "time") if role in layout]
        with _opened(path) as file:
            rows = _read(file, path, numbers, list(dict.fromkeys(wanted)))
        as_wanted(rows, [layout[r] for r in NUMBERS if r in layout], [], path)
        fixes = fixes_of(rows, layout, path, self.labels.get(path, path.stem))
        wanted_groups = set(groups)
        inside = np.array([name in wanted_groups for name in fixes.groups])
        kept = inside[fixes.group] if not inside.all() else None
        if limits is not None and fixes.frame is not None:
            within = (fixes.frame >= limits[0]) & (fixes.frame < limits[1])
            kept = within if kept is None else kept & within
        return fixes if kept is None or kept.all() else fixes.take(kept)


def open_tracks(
    path: Any,
    *,
    columns: Mapping[str, str] | None = None,
    fps: float | None = None,
    unit: str | None = None,
    block_rows: int = BLOCK_ROWS,
) -> OpenTracks:
    """A long table, or a folder of its parts, opened but not read: for more than memory holds.

    Parameters
    ----------
    path
        Parquet or CSV, a folder of them, or a pattern. Parts may be cut by group (a column, or
        folders such as ``group=north``) or by time, with or without overlapping frames. CSV is
        copied block by block into a temporary Parquet file first.
    columns, fps, unit
        As in ``shoal.read_tracks``.
    block_rows
        About how many rows are in memory at a time, for each worker.

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
    options = ReadOptions(dict(columns or {}), fps, unit)
    files, _ = files_of(path)
    spool = None
    sources = [Source(file) for file in files]
    kinds = {source.kind for source in sources}
    if kinds == {"text"}:
        spool = tempfile.TemporaryDirectory(prefix="shoal-")
        files = [
            _spooled(source, options, Path(spool.name) / f"{number:06d}-{source.path.stem}.parquet")
            for number, source in enumerate(sources)
        ]
        sources = [Source(file) for file in files]
    elif kinds != {"parquet"}:
        raise InputError(f"{path}: only long tables, Parquet or CSV, can be opened; got {kinds}")
    try:
        layout = layout_of(sources[0].header, options.columns)
    except InputError as error:
        raise InputError(f"{sources[0].path}: {error}") from error
    for source in sources[1:]:
        if not set(layout.columns.values()) <= set(source.header):
            raise InputError(f"{source.path} has other columns than {sources[0].path}")
    if layout.geographic:
        raise InputError(f"{path}: longitude and latitude cannot be opened, only read whole")
    opened = OpenTracks(tuple(files), layout, options, int(block_rows), {}, spool)
    return replace(opened, labels=_labels(opened))


def _labels(opened: OpenTracks) -> dict[Path, str]:
    """Of files without a column for the group: by folder, one recording in parts, or each one."""
    if "group" in opened.layout:
        return {}
    keyed = {path: _hive(path) for path in opened.files}
    if all(keyed.values()):
        return {path: str(label) for path, label in keyed.items()}
    names = [path.stem for path in opened.files]
    if len(opened.files) > 1 and _follow(opened):
        return dict.fromkeys(opened.files, opened.files[0].parent.name)
    if len(set(names)) < len(names):
        names = ["/".join(path.with_suffix("").parts[-2:]) for path in opened.files]
    return dict(zip(opened.files, names, strict=True))


def _hive(path: Path) -> str | None:
    for part in reversed(path.parent.parts):
        found = re.fullmatch(r"(\w+)=(.+)", part)
        if found and split_unit(found[1])[0] in ROLES["group"]:
            return found[2]
    return None


def _follow(opened: OpenTracks) -> bool:
    """Whether the frames of one file end where those of the next begin."""
    if "frame" not in opened.layout:
        return False
    spans = []
    for path in opened.files:
        ranges = [_ranges(opened, piece) for piece in opened.pieces if piece.path == path]
        spans.append((min(low for low, _ in ranges), max(high for _, high in ranges)))
    spans.sort()
    return all(now[0] >= then[1] for then, now in pairwise(spans))


def _ranges(opened: OpenTracks, piece: Piece) -> tuple[int, int]:
    """First and last frame of a row group: from its statistics, or by looking."""
    name = opened.layout["frame"]
    with _opened(piece.path) as file:
        place = file.schema_arrow.names.index(name)
        facts = file.metadata.row_group(piece.number).column(place).statistics
        if facts is not None and facts.has_min_max:
            return int(facts.min), int(facts.max)
        column = _read(file, piece.path, [piece.number], [name]).column(0)
    frames = _integers(column, piece.path, name)
    return int(frames.min()), int(frames.max())


def _integers(column: Any, path: Path, name: str) -> Int[np.ndarray, " rows"]:
    values = column.to_numpy(zero_copy_only=False)
    if not np.issubdtype(values.dtype, np.integer):
        wrong = ~(np.isfinite(values.astype(float)) & (np.floor(values.astype(float)) == values))
        if wrong.any():
            late = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"{path}, column {name!r}: frames are whole numbers, got {values[late]}"
            )
    return values.astype(np.int64, copy=False)


def _opened(path: Path) -> Any:
    try:
        return parquet.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from error


def _read(file: Any, path: Path, numbers: Sequence[int], columns: Sequence[str]) -> Any:
    try:
        return file.read_row_groups(list(numbers), columns=list(columns), use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from error


def _spooled(source: Source, options: ReadOptions, path: Path) -> Path:
    """A CSV as a temporary Parquet file, a block of it in memory at a time."""
    try:
        layout = layout_of(source.header, options.columns)
    except InputError as error:
        raise InputError(f"{source.path}: {error}") from error
    numbers = [layout[role] for role in (*NUMBERS, "time") if role in layout]
    texts = [layout[role] for role in TEXTS if role in layout]
    writer = None
    try:
        for batch in batches(source, numbers, texts):
            if writer is None:
                writer = parquet.ParquetWriter(path, batch.schema)
            writer.write_batch(batch)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise InputError(f"{source.path} has a header but no rows")
    return path


def _stacked(parts: Sequence[Fixes]) -> Fixes:
    """Rows of several files, with one numbering of groups and animals."""
    full = [part for part in parts if len(part.x)] or list(parts[:1])
    groups = tuple(dict.fromkeys(name for part in full for name in part.groups))
    animals = tuple(dict.fromkeys(name for part in full for name in part.animals))

    def numbered(name: str, names: tuple[str, ...]) -> Int[np.ndarray, " fixes"]:
        places = {label: number for number, label in enumerate(names)}
        return np.concatenate(
            [
                np.array([places[label] for label in getattr(part, f"{name}s")])[
                    getattr(part, name)
                ]
                for part in full
            ]
        )

    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in full])
        for name in ("x", "y", "frame", "time", "heading")
        if all(getattr(part, name) is not None for part in full)
    }
    return replace(
        full[0],
        group=numbered("group", groups),
        groups=groups,
        animal=numbered("animal", animals),
        animals=animals,
        **arrays,
    )


def _without_seams(fixes: Fixes) -> Fixes:
    """Rows that two files share, once; where they differ, an error."""
    moment = fixes.frame if fixes.frame is not None else fixes.time
    if moment is None or not len(moment):
        return fixes
    order = np.lexsort((moment, fixes.animal, fixes.group))
    keys = np.stack([fixes.group[order], fixes.animal[order], moment[order]])
    twice = np.flatnonzero((np.diff(keys, axis=1) == 0).all(axis=0))
    if not len(twice):
        return fixes
    one, other = order[twice], order[twice + 1]
    same = np.isclose(fixes.x[one], fixes.x[other], rtol=0, atol=0, equal_nan=True)
    same &= np.isclose(fixes.y[one], fixes.y[other], rtol=0, atol=0, equal_nan=True)
    if not same.all():
        late = int(one[~same][0])
        raise InputError(
            f"{fixes.file}: two files put individual {fixes.animals[fixes.animal[late]]!r} at "
            f"different places in frame {moment[late]}"
        )
    kept = np.ones(len(moment), dtype=bool)
    kept[other] = False
    return fixes.take(kept)


def _window(
    fixes: Fixes, label: str, survey: Survey, limits: tuple[int, int], options: ReadOptions
) -> Tracks:
    """A run of frames of one group, with all its individuals, seen here or not."""
    assert fixes.frame is not None
    start, stop = limits
    frames = (stop - start) // survey.step
    order = {name: number for number, name in enumerate(survey.names)}
    animal = np.array([order[name] for name in fixes.animals], dtype=int)[fixes.animal]
    cell = (fixes.frame - start) // survey.step * len(survey.names) + animal
    if len(np.unique(cell)) < len(cell):
        codes, counts = np.unique(cell, return_counts=True)
        where, who = divmod(int(codes[counts > 1][0]), len(survey.names))
        raise InputError(
            f"{fixes.file}: individual {survey.names[who]!r} comes twice in frame "
            f"{start + where * survey.step}; keep one row for each animal and frame"
        )
    check_finite(fixes)
    positions = np.full((frames * len(survey.names), 2), np.nan)
    positions[cell, 0], positions[cell, 1] = fixes.x, fixes.y
    heading: Any = None
    if fixes.heading is not None:
        heading = np.full(len(positions), np.nan)
        heading[cell] = fixes.heading
        heading = heading.reshape(frames, -1)
    fps = options.fps or fixes.fps
    if fps is None and fixes.time is not None:
        fps = clock_of_frames(fixes.frame, fixes.time, None).fps
    return Tracks.from_arrays(
        positions.reshape(frames, -1, 2),
        fps=fps,
        individuals=survey.names,
        group=label,
        length_unit=options.unit or fixes.length_unit,
        heading=heading,
        source=fixes.file,
    )
