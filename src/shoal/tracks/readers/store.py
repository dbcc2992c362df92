"""A long table on disk that is not read yet: which rows of which files hold which group."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.tracks.readers.assembling import assembled
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.joining import stacked, without_seams
from shoal.tracks.readers.long_columns import wanted_columns
from shoal.tracks.readers.long_layout import Layout
from shoal.tracks.readers.long_table import as_wanted, fixes_of
from shoal.tracks.readers.long_values import tidy
from shoal.tracks.readers.pieces import Piece, opened, pieces_of, read_columns
from shoal.tracks.readers.source import ReadOptions, named
from shoal.tracks.record import Tracks

if TYPE_CHECKING:
    from shoal.tracks.readers.blocks import Block

BLOCK_ROWS = 1_000_000
NUMBERS = ("x", "y", "frame", "heading", "fps")


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
        return tuple(
            piece for path in self.files for piece in pieces_of(path, self.labels.get(path, ""))
        )

    @property
    def rows(self) -> int:
        """Fixes in all."""
        return sum(piece.rows for piece in self.pieces)

    @cached_property
    def index(self) -> dict[str, list[tuple[Piece, int]]]:
        """For every group the pieces that hold it, with how many of its rows."""
        found: dict[str, list[tuple[Piece, int]]] = {}
        with self.told():
            for piece in self.pieces:
                for label, rows in self._groups_of(piece):
                    found.setdefault(label, []).append((piece, rows))
        return found

    @property
    def groups(self) -> tuple[str, ...]:
        """The labels of all groups."""
        return tuple(self.index)

    def blocks(self) -> "list[Block]":
        """Blocks of whole groups; a group larger than a block is cut into runs of frames."""
        from shoal.tracks.readers.blocks import blocks_of  # noqa: PLC0415  (takes OpenTracks)

        with self.told():
            return blocks_of(self)

    def told(self) -> AbstractContextManager[None]:
        """Failures inside are about these files."""
        first = self.origins.get(self.files[0], self.files[0])
        return named(first if len(self.files) == 1 else first.parent)

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
            with named(self.origins.get(path, path)):
                parts.append(self._rows(path, numbers, groups, limits))
        if len(parts) == 1:
            return parts[0]
        return without_seams(stacked(parts))

    def uncut(self) -> "OpenTracks":
        """The same, with no group cut into runs of frames."""
        return replace(self, layout=replace(self.layout, divisible=False))

    def __iter__(self) -> Iterator[Tracks]:
        for label, parts in self.index.items():
            with self.told():
                fixes = self.fixes([piece for piece, _ in parts], [label])
                groups = assembled(fixes, replace(self.options, sort=True))
            yield from groups

    def __repr__(self) -> str:
        return f"OpenTracks({self.rows} rows in {len(self.files)} files)"

    def _groups_of(self, piece: Piece) -> list[tuple[str, int]]:
        if "group" not in self.layout:
            return [(piece.label, piece.rows)]
        given = self.layout["group"]
        with opened(piece.path) as file:
            column = read_columns(file, piece.path, [piece.number], [given]).column(0)
        counted = column.combine_chunks().value_counts()
        names, counts = counted.field("values").to_pylist(), counted.field("counts").to_pylist()
        if None in names:
            raise InputError(f"{piece.path}, column {given!r}: it is empty in a row")
        return [(tidy(name), int(count)) for name, count in zip(names, counts, strict=True)]

    def _rows(
        self,
        path: Path,
        numbers: Sequence[int],
        groups: Sequence[str],
        limits: tuple[int, int] | None,
    ) -> Fixes:
        layout = self.layout
        numeric, texts = wanted_columns(layout, numeric_time=True)
        with opened(path) as file:
            rows = read_columns(file, path, numbers, list(dict.fromkeys([*numeric, *texts])))
        place = self.origins.get(path, path)
        as_wanted(rows, [layout[r] for r in NUMBERS if r in layout], [], place)
        fixes = fixes_of(rows, layout, place, self.labels.get(path, place.stem), self.options.fps)
        wanted_groups = set(groups)
        inside = np.array([name in wanted_groups for name in fixes.groups])
        kept = inside[fixes.group] if not inside.all() else None
        if limits is not None and fixes.frame is not None:
            within = (fixes.frame >= limits[0]) & (fixes.frame < limits[1])
            kept = within if kept is None else kept & within
        return fixes if kept is None or kept.all() else fixes.take(kept)
