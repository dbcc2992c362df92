"""Long tables larger than memory: opened tracks, and the blocks in which they are read."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from operator import and_
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from jaxtyping import Int
from pyarrow import dataset

from shoal.errors import InputError
from shoal.tracks.arena import Arena
from shoal.tracks.readers.assembly import assembled, on_grid
from shoal.tracks.readers.clock import clock_of_frames
from shoal.tracks.readers.fixes import (
    Fixes,
    arena_of_rows,
    check_finite,
    rate_of,
    stacked,
    without_seams,
)
from shoal.tracks.readers.layout import Layout, used_columns
from shoal.tracks.readers.long_table import LongTable, tidy
from shoal.tracks.readers.source import ReadOptions, named
from shoal.tracks.readers.table_files import fragment_of, plain_column, row_group_sizes, row_groups
from shoal.tracks.record import Tracks

BLOCK_ROWS = 1_000_000


class Piece(NamedTuple):
    """The rows of one group in one row group of a Parquet file.

    Attributes
    ----------
    number
        Of the row group.
    label
        Of the group, as the file writes it; None if no column names it.
    """

    path: Path
    number: int
    rows: int
    label: Any = None


@dataclass(frozen=True, eq=False)
class OpenTracks:
    """A long table on disk that is not read yet: pass it to ``count_transitions``, or iterate.

    Iterating gives the Tracks of one group after the other.
    """

    files: tuple[Path, ...]
    layout: Layout
    options: ReadOptions
    block_rows: int = BLOCK_ROWS
    labels: Mapping[Path, str] = field(default_factory=dict)
    origins: Mapping[Path, Path] = field(default_factory=dict)
    spool: Any = None
    whole_groups: bool = False

    @property
    def rows(self) -> int:
        """The number of fixes."""
        return sum(fragment_of(path).metadata.num_rows for path in self.files)

    @cached_property
    def index(self) -> dict[str, list[Piece]]:
        """The pieces of every group."""
        found: dict[str, list[Piece]] = {}
        with self.named():
            for path in self.files:
                for label, piece in self._pieces_of(path):
                    found.setdefault(label, []).append(piece)
        return found

    @property
    def groups(self) -> tuple[str, ...]:
        """The labels of all groups."""
        return tuple(self.index)

    def blocks(self) -> "list[Block]":
        """Blocks of whole groups; a group larger than a block is cut into runs of frames."""
        found: list[Block] = []
        small: dict[str, list[Piece]] = {}
        together = 0
        lean = replace(self, spool=None)  # workers need no temporary folder
        with self.named():
            if not self.index:
                raise InputError("there are no rows")
            for label, pieces in self.index.items():
                rows = sum(piece.rows for piece in pieces)
                large = rows > 1.5 * self.block_rows and self._divisible
                if small and (large or together + rows > self.block_rows):
                    found.append(Block.of(lean, small))
                    small, together = {}, 0
                if large:
                    found += Block.of(lean, {label: pieces}).cut()
                else:
                    small[label] = pieces
                    together += rows
        return [*found, Block.of(lean, small)] if small else found

    @property
    def _divisible(self) -> bool:
        """Whether a group may be cut into runs of frames."""
        return "frame" in self.layout and not self.whole_groups

    def named(self) -> AbstractContextManager[None]:
        """Errors raised inside name these files."""
        first = self.origins.get(self.files[0], self.files[0])
        return named(first if len(self.files) == 1 else first.parent)

    def fixes(self, pieces: Sequence[Piece], frames: tuple[int, int] | None = None) -> Fixes:
        """The fixes in these pieces, and within these frames."""
        parts = []
        for path, tables in self._tables(pieces, frames):
            rows = list(tables)
            parts.append(self._fixes_of(path, pa.concat_tables(rows) if rows else _no_rows(path)))
        return parts[0] if len(parts) == 1 else without_seams(stacked(parts))

    def fixes_in_turn(self, pieces: Sequence[Piece]) -> Iterator[Fixes]:
        """The fixes in these pieces, one row group at a time."""
        for path, tables in self._tables(pieces):
            yield from (self._fixes_of(path, rows) for rows in tables)

    def _tables(
        self, pieces: Sequence[Piece], frames: tuple[int, int] | None = None
    ) -> Iterator[tuple[Path, Iterator[pa.Table]]]:
        """For each file, the row groups that hold these pieces, without the rows of others."""
        columns = used_columns(self.layout)
        for path in dict.fromkeys(piece.path for piece in pieces):
            here = [piece for piece in pieces if piece.path == path]
            where = []
            if here[0].label is not None:
                group = dataset.field(self.layout["group"])
                where.append(group.isin(pa.array([piece.label for piece in here])))
            if frames is not None:
                frame = dataset.field(self.layout["frame"])
                where.append((frame >= frames[0]) & (frame < frames[1]))
            numbers = sorted({piece.number for piece in here})
            yield path, row_groups(path, columns, numbers, reduce(and_, where) if where else None)

    def _fixes_of(self, path: Path, rows: pa.Table) -> Fixes:
        """The fixes in some rows of a file."""
        place = self.origins.get(path, path)
        with named(place):
            table = LongTable(rows, self.layout, place)
            return table.fixes(self.labels.get(path, place.stem), self.options.fps)

    def uncut(self) -> "OpenTracks":
        """The same tracks, with no group cut into runs of frames."""
        return replace(self, whole_groups=True)

    def __iter__(self) -> Iterator[Tracks]:
        for label, pieces in self.index.items():
            yield from (tracks for tracks, _ in Block.of(self, {label: pieces}).read())

    def __repr__(self) -> str:
        return f"OpenTracks({self.rows} rows in {len(self.files)} files)"

    def _pieces_of(self, path: Path) -> Iterator[tuple[str, Piece]]:
        """The pieces in a file, with the labels of their groups."""
        if "group" not in self.layout:
            for number, rows in enumerate(row_group_sizes(fragment_of(path))):
                yield self.labels.get(path, ""), Piece(path, number, rows)
            return
        name = self.layout["group"]
        for number, table in enumerate(row_groups(path, [name])):
            for counted in plain_column(table, name).value_counts():
                label, rows = counted["values"], counted["counts"].as_py()
                if not label.is_valid:
                    raise InputError(f"{path}, column {name!r}: it is empty in a row")
                yield tidy(label.as_py()), Piece(path, number, rows, label)


@dataclass(frozen=True)
class Survey:
    """What must be known of a group before it is cut: all animals, and the clock of its frames."""

    names: tuple[str, ...]
    roles: tuple[str, ...]
    first: int
    last: int
    step: int
    fps: float | None
    arena: Arena | None
    length_unit: str

    @classmethod
    def of(cls, parts: Iterator[Fixes], fps: float | None) -> "Survey":
        """The survey of a group, read a row group at a time."""
        roles: dict[str, str] = {}
        seen: list[tuple[Any, Any]] = []
        arena, unit = None, ""
        for fixes in parts:
            if fixes.frame is None or not len(fixes.frame):
                continue
            frames, first = np.unique(fixes.frame, return_index=True)
            seen.append((frames, None if fixes.time is None else fixes.time[first]))
            fps = fps or rate_of(fixes)
            arena, unit = arena or arena_of_rows(fixes), unit or fixes.length_unit
            for name, role in _roles(fixes).items():
                roles[name] = roles.get(name) or role
        if not seen:
            raise InputError("a group has no fixes, or all of them are marked as bad")
        whole, order = np.unique(np.concatenate([frames for frames, _ in seen]), return_index=True)
        timed = seen[0][1] is not None
        time = np.concatenate([time for _, time in seen])[order] if timed else None
        step = int(np.gcd.reduce(np.diff(whole))) if len(whole) > 1 else 1
        if len(whole) > 1:
            fps = clock_of_frames(whole, time, fps).fps
        names = tuple(sorted(roles))
        given = tuple(roles[name] for name in names)
        return cls(names, given, int(whole[0]), int(whole[-1]), step, fps, arena, unit)


@dataclass(frozen=True, eq=False)
class Block:
    """Some whole groups, or some frames of one group: what one worker counts at a time.

    Attributes
    ----------
    groups
        The labels of the groups in it.
    pieces
        The rows of these groups.
    frames
        For a run of frames: the first frame, and the one after the last.
    survey
        For a run of frames: facts on the whole group, so that all blocks agree.
    """

    store: OpenTracks
    groups: tuple[str, ...]
    pieces: tuple[Piece, ...]
    frames: tuple[int, int] | None = None
    survey: Survey | None = None

    @classmethod
    def of(cls, store: OpenTracks, groups: Mapping[str, Sequence[Piece]]) -> "Block":
        """A block of whole groups."""
        return cls(store, tuple(groups), tuple(piece for each in groups.values() for piece in each))

    def cut(self) -> "list[Block]":
        """The same group in runs of frames."""
        survey = Survey.of(self.store.fixes_in_turn(self.pieces), self.store.options.fps)
        count = -(-sum(piece.rows for piece in self.pieces) // self.store.block_rows)
        frames = (survey.last - survey.first) // survey.step + 1
        edges = np.unique(np.linspace(0, frames, count + 1).astype(int)) * survey.step
        limits = zip(survey.first + edges[:-1], survey.first + edges[1:], strict=True)
        return [replace(self, frames=(int(low), int(high)), survey=survey) for low, high in limits]

    def read(self, before: int = 0, after: int = 0) -> Iterator[tuple[Tracks, slice]]:
        """Tracks of each group, and which of their frames belong to this block.

        Parameters
        ----------
        before, after
            Frames around the block to read as well.
        """
        with self.store.named():
            found = self._found(before, after)
        yield from found

    def _found(self, before: int, after: int) -> list[tuple[Tracks, slice]]:
        if self.frames is None or self.survey is None:
            fixes = self.store.fixes(self.pieces)
            groups = assembled(fixes, replace(self.store.options, sort=True))
            return [(tracks, slice(0, len(tracks.positions))) for tracks in groups]
        low, high = self.frames
        step, first, last = self.survey.step, self.survey.first, self.survey.last
        start, stop = max(first, low - step * before), min(last + step, high + step * after)
        fixes = self.store.fixes(self.pieces, (start, stop))
        tracks = self._run(fixes, self.survey, (start, stop))
        return [(tracks, slice((low - start) // step, (high - start) // step))]

    def _run(self, fixes: Fixes, survey: Survey, limits: tuple[int, int]) -> Tracks:
        """A run of frames with all animals of the group, seen in it or not."""
        start, stop = limits
        shape = ((stop - start) // survey.step, len(survey.names))
        cell = _cells(fixes, survey, start)
        check_finite(fixes)
        return Tracks.from_arrays(
            on_grid(np.column_stack([fixes.x, fixes.y]), cell, shape),
            fps=survey.fps,
            individuals=survey.names,
            group=self.groups[0],
            length_unit=self.store.options.unit or survey.length_unit,
            heading=None if fixes.heading is None else on_grid(fixes.heading, cell, shape),
            covariates={"role": list(survey.roles)} if any(survey.roles) else None,
            arena=survey.arena,
            source=fixes.file,
        )

    @property
    def first(self) -> int:
        """The number of its first frame among those of the group."""
        if self.frames is None or self.survey is None:
            return 0
        return (self.frames[0] - self.survey.first) // self.survey.step

    def begins(self, before: int) -> bool:
        """Whether the group begins at most so many frames before the block."""
        return self.first <= before


def _no_rows(path: Path) -> pa.Table:
    """A table with the columns of a file and no rows."""
    return fragment_of(path).physical_schema.empty_table()


def _roles(fixes: Fixes) -> dict[str, str]:
    """The role of each animal, empty if none is given."""
    marks = fixes.covariates.get("animal:role")
    found = {}
    for code in np.unique(fixes.animal):
        given = [] if marks is None else [str(m) for m in marks[fixes.animal == code] if m]
        found[fixes.animals[code]] = given[0] if given else ""
    return found


def _cells(fixes: Fixes, survey: Survey, start: int) -> Int[np.ndarray, " fixes"]:
    """The cell of each fix in the grid of frames and animals; raise an error if two share one."""
    assert fixes.frame is not None
    order = {name: number for number, name in enumerate(survey.names)}
    animal = np.array([order.get(name, -1) for name in fixes.animals], dtype=int)[fixes.animal]
    cell = (fixes.frame - start) // survey.step * len(survey.names) + animal
    rows = np.argsort(cell, kind="stable")
    again = np.flatnonzero(np.diff(cell[rows]) == 0)
    if again.size:
        before, after = (int(rows[again[0] + step]) for step in (0, 1))
        raise InputError(
            f"{fixes.place(after)}: frame {fixes.frame[after]} comes twice for individual "
            f"{fixes.animals[fixes.animal[after]]!r:.60}, also in {fixes.row_words(before)}; keep "
            "one row for each animal and frame"
        )
    return cell
