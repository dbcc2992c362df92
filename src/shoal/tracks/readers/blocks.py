"""A store of tracks cut into blocks: whole groups, or runs of frames of a large one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int

from shoal.errors import InputError
from shoal.tracks.readers.assembling import assembled, on_grid
from shoal.tracks.readers.checking import check_finite
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.pieces import Piece
from shoal.tracks.readers.source import ReadOptions
from shoal.tracks.readers.store import OpenTracks
from shoal.tracks.readers.survey import Survey, surveyed
from shoal.tracks.record import Tracks


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

    store: OpenTracks
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
        with self.store.told():
            found = self._found(before, after)
        yield from found

    def _found(self, before: int, after: int) -> list[tuple[Tracks, slice]]:
        if self.frames is None or self.survey is None:
            fixes = self.store.fixes(self.pieces, self.groups)
            groups = assembled(fixes, replace(self.store.options, sort=True))
            return [(tracks, slice(0, len(tracks.positions))) for tracks in groups]
        low, high = self.frames
        step, first, last = self.survey.step, self.survey.first, self.survey.last
        start, stop = max(first, low - step * before), min(last + step, high + step * after)
        near = [piece for piece in self.pieces if piece.low < stop and piece.high >= start]
        fixes = self.store.fixes(near or self.pieces[:1], self.groups, (start, stop))
        tracks = _window(fixes, self.groups[0], self.survey, (start, stop), self.store.options)
        return [(tracks, slice((low - start) // step, (high - start) // step))]

    @property
    def first(self) -> int:
        """The number of its first frame among those of the group."""
        if self.frames is None or self.survey is None:
            return 0
        return (self.frames[0] - self.survey.first) // self.survey.step

    def begins(self, before: int) -> bool:
        """Whether reading so many frames before it reaches the group's first frame."""
        if self.frames is None or self.survey is None:
            return True
        return self.frames[0] - before * self.survey.step <= self.survey.first


def blocks_of(store: OpenTracks) -> list[Block]:
    """Blocks of whole groups; a group larger than a block is cut into runs of frames."""
    found: list[Block] = []
    labels: list[str] = []
    pieces: dict[Piece, None] = {}
    rows = 0
    lean = replace(store, spool=None)  # workers need no temporary folder
    for label, parts in store.index.items():
        size = sum(count for _, count in parts)
        large = size > 1.5 * store.block_rows and "frame" in store.layout and store.layout.divisible
        if labels and (large or rows + size > store.block_rows):
            found.append(Block(lean, tuple(labels), tuple(pieces), rows))
            labels, pieces, rows = [], {}, 0
        if large:
            found += _cut(lean, label, [piece for piece, _ in parts], size)
        else:
            labels.append(label)
            pieces.update(dict.fromkeys(piece for piece, _ in parts))
            rows += size
    if labels:
        found.append(Block(lean, tuple(labels), tuple(pieces), rows))
    return found


def _cut(store: OpenTracks, label: str, pieces: Sequence[Piece], size: int) -> list[Block]:
    """A large group in runs of frames."""
    found, survey = surveyed(store, label, pieces)
    count = -(-size // store.block_rows)
    frames = (survey.last - survey.first) // survey.step + 1
    edges = np.unique(np.linspace(0, frames, count + 1).astype(int)) * survey.step
    return [
        Block(store, (label,), found, size // count, (int(low), int(high)), survey)
        for low, high in zip(survey.first + edges[:-1], survey.first + edges[1:], strict=True)
    ]


def _window(
    fixes: Fixes, label: str, survey: Survey, limits: tuple[int, int], options: ReadOptions
) -> Tracks:
    """A run of frames of one group, with all its individuals, seen here or not."""
    start, stop = limits
    shape = ((stop - start) // survey.step, len(survey.names))
    cell = _cells(fixes, survey, start)
    check_finite(fixes)
    return Tracks.from_arrays(
        on_grid(np.column_stack([fixes.x, fixes.y]), cell, shape),
        fps=survey.fps,
        individuals=survey.names,
        group=label,
        length_unit=options.unit or survey.length_unit,
        heading=None if fixes.heading is None else on_grid(fixes.heading, cell, shape),
        covariates={"role": list(survey.roles)} if any(survey.roles) else None,
        arena=survey.arena,
        source=fixes.file,
    )


def _cells(fixes: Fixes, survey: Survey, start: int) -> Int[np.ndarray, " fixes"]:
    """Where fixes lie on the grid of frames and animals; two in one place are an error."""
    assert fixes.frame is not None
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
    return cell
