"""Long tables larger than memory: opened, indexed, and read block by block."""

import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int
from pyarrow import parquet

from shoal.errors import InputError
from shoal.tracks.arena import Arena
from shoal.tracks.readers.assembling import assembled
from shoal.tracks.readers.checking import check_finite
from shoal.tracks.readers.clock import clock_of_frames
from shoal.tracks.readers.delimited import batches
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.group_facts import arena_of_rows, rate_of
from shoal.tracks.readers.joining import stacked_covariates
from shoal.tracks.readers.long_columns import covariate_columns, is_numeric, wanted_columns
from shoal.tracks.readers.long_layout import ROLES, Layout, layout_of, split_unit
from shoal.tracks.readers.long_table import as_wanted, fixes_of
from shoal.tracks.readers.long_values import tidy
from shoal.tracks.readers.reading import files_of
from shoal.tracks.readers.source import ReadOptions, Source, damaged
from shoal.tracks.record import Tracks, warn

BLOCK_ROWS = 1_000_000
NUMBERS = ("x", "y", "frame", "heading", "fps")


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
    fps: float | None
    roles: tuple[str, ...]
    arena: Arena | None
    length_unit: str


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
        fixes = self.store.fixes(near or self.pieces[:1], self.groups, (start, stop))
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
    origins: Mapping[Path, Path] = field(default_factory=dict)
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
        """All individuals of a group, the span and the step of its frames, what rows say of it."""
        roles: dict[str, str] = {}
        frames: list[Any] = []
        times: list[Any] = []
        found = []
        rates, arena, unit = [], None, ""
        for piece in pieces:
            fixes = self.fixes([piece], [label])
            if fixes.frame is None or not len(fixes.frame):
                continue
            numbers, first = np.unique(fixes.frame, return_index=True)
            frames.append(numbers)
            times.append(None if fixes.time is None else fixes.time[first])
            rates.append(rate_of(fixes))
            arena, unit = arena or arena_of_rows(fixes), unit or fixes.length_unit
            marks = fixes.covariates.get("animal:role")
            for code in np.unique(fixes.animal):
                name = fixes.animals[code]
                given = [] if marks is None else [str(m) for m in marks[fixes.animal == code] if m]
                roles[name] = roles.get(name) or (given[0] if given else "")
            found.append(replace(piece, low=int(numbers[0]), high=int(numbers[-1])))
        whole, order = np.unique(np.concatenate(frames), return_index=True)
        clock = None if times[0] is None else np.concatenate(times)[order]
        fps = self.options.fps or next((rate for rate in rates if rate is not None), None)
        step = int(np.gcd.reduce(np.diff(whole))) if len(whole) > 1 else 1
        names = tuple(sorted(roles))
        return tuple(found), Survey(
            names,
            int(whole[0]),
            int(whole[-1]),
            step,
            clock_of_frames(whole, clock, fps).fps if len(whole) > 1 else fps,
            tuple(roles[name] for name in names),
            arena,
            unit,
        )

    def _rows(
        self,
        path: Path,
        numbers: Sequence[int],
        groups: Sequence[str],
        limits: tuple[int, int] | None,
    ) -> Fixes:
        layout = self.layout
        numeric, texts = wanted_columns(layout, numeric_time=True)
        with _opened(path) as file:
            rows = _read(file, path, numbers, list(dict.fromkeys([*numeric, *texts])))
        place = self.origins.get(path, path)
        as_wanted(rows, [layout[r] for r in NUMBERS if r in layout], [], place)
        fixes = fixes_of(rows, layout, place, self.labels.get(path, place.stem))
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
    files, _ = files_of(path)
    sources = [Source(file) for file in files]
    kinds = {source.kind for source in sources}
    if kinds not in ({"text"}, {"parquet"}):
        raise InputError(f"{path}: only long tables, Parquet or CSV, can be opened; got {kinds}")
    layout = _one_layout(sources, options)
    spool, origins = None, {}
    if kinds == {"text"}:
        spool = _Spool()
        origins = {
            _spooled(
                source, layout, spool.path / f"{number:06d}.parquet", max(block_rows, 5_000)
            ): source.path
            for number, source in enumerate(sources)
        }
        files = list(origins)
    opened = OpenTracks(tuple(files), layout, options, int(block_rows), {}, origins, spool)
    _check_alike(opened)
    return replace(opened, labels=_labels(opened, parts))


class _Spool:
    """A temporary folder that goes when nobody needs it any more."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="shoal-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def _one_layout(sources: Sequence[Source], options: ReadOptions) -> Layout:
    try:
        layout = layout_of(sources[0].header, options.columns)
    except InputError as error:
        raise InputError(f"{sources[0].path}: {error}") from error
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


def _check_alike(opened: OpenTracks) -> None:
    """Files of one store have one unit and one frame rate."""
    for role in ("length_unit", "fps"):
        if role not in opened.layout:
            continue
        seen = {}
        for path in opened.files:
            with _opened(path) as file:
                column = _read(file, path, [0], [opened.layout[role]]).column(0)
            seen[str(column[0].as_py())] = opened.origins.get(path, path)
        if len(seen) > 1:
            words = ", ".join(f"{value} ({path.name})" for value, path in seen.items())
            raise InputError(f"the files have mixed units: {role} is {words}")


def _labels(opened: OpenTracks, parts: str | None) -> dict[Path, str]:
    """Of files without a column for the group: by folder, one recording in parts, or each one."""
    if "group" in opened.layout:
        return {}
    places = {path: opened.origins.get(path, path) for path in opened.files}
    keyed = {path: _hive(place) for path, place in places.items()}
    if all(keyed.values()):
        return {path: str(label) for path, label in keyed.items()}
    if len(places) > 1 and (parts or _way(opened)) == "time":
        return dict.fromkeys(places, next(iter(places.values())).parent.name)
    names = [place.stem for place in places.values()]
    if len(set(names)) < len(names):
        names = ["/".join(place.with_suffix("").parts[-2:]) for place in places.values()]
    return dict(zip(places, names, strict=True))


def _hive(path: Path) -> str | None:
    for part in reversed(path.parent.parts):
        found = re.fullmatch(r"(\w+)=(.+)", part)
        if found and split_unit(found[1])[0] in ROLES["group"]:
            return found[2]
    return None


def _way(opened: OpenTracks) -> str:
    """Whether files are one recording cut in time, or groups of their own."""
    if "frame" not in opened.layout:
        return "groups"
    spans = []
    for path in opened.files:
        ranges = [_ranges(opened, piece) for piece in opened.pieces if piece.path == path]
        spans.append((min(low for low, _ in ranges), max(high for _, high in ranges)))
    spans.sort()
    if all(now[0] >= then[1] for then, now in pairwise(spans)):
        warn(
            f"the frames of {len(spans)} files follow each other: taken as one recording cut in "
            "time; parts='groups' takes each as a group"
        )
        return "time"
    first, last = spans[0]
    if all(start <= (first + last) / 2 for start, _ in spans):
        return "groups"
    raise InputError(
        "the frames of the files overlap in part: say parts='time' where they are one recording, "
        "or parts='groups'"
    )


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


def _spooled(source: Source, layout: Layout, path: Path, rows: int) -> Path:
    """A CSV as a temporary Parquet file, a block of it in memory at a time."""
    numeric = "time" in layout and is_numeric(source, layout["time"])
    writer = None
    try:
        for batch in batches(source, *wanted_columns(layout, numeric)):
            if writer is None:
                writer = parquet.ParquetWriter(path, batch.schema)
            writer.write_batch(batch, row_group_size=rows)
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
        for name in ("x", "y", "frame", "time", "heading", "fps", "arena")
        if all(getattr(part, name) is not None for part in full)
    }
    notes = tuple(dict.fromkeys(note for part in full for note in part.notes))
    return replace(
        full[0],
        group=numbered("group", groups),
        groups=groups,
        animal=numbered("animal", animals),
        animals=animals,
        covariates=stacked_covariates(full),
        notes=notes,
        row=None,
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
    return Tracks.from_arrays(
        positions.reshape(frames, -1, 2),
        fps=survey.fps,
        individuals=survey.names,
        group=label,
        length_unit=options.unit or survey.length_unit,
        heading=heading,
        covariates={"role": list(survey.roles)} if any(survey.roles) else None,
        arena=survey.arena,
        source=fixes.file,
    )
