"""A collection: tracks of several groups, which are changed together."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from shoal.errors import InputError
from shoal.inputs import GIVEN, Limits, Place
from shoal.results import Result, counted, share
from shoal.tracks import preparing, splitting, writing
from shoal.tracks.record import Share, Tracks

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Collection(Result):
    """Tracks of several groups, each with its own label.

    Parameters
    ----------
    tracks
        A list of Tracks, one for each group, with different labels and the same unit. A loop over
        the collection gives them in turn, ``collection["label"]`` gives one.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> ponds = shoal.Collection(
    ...     shoal.Tracks.from_arrays(np.ones((4, 2, 2)), group=name) for name in ("north", "south")
    ... )
    >>> ponds
    Collection(2 groups, 4 animals, 8 frames, 0 of 16 fixes missing)
    >>> ponds["south"].group
    'south'
    """

    tracks: tuple[Tracks, ...]

    def __init__(self, tracks: Iterable[Tracks]) -> None:
        members = tuple(tracks)
        if not members:
            raise InputError("a collection needs the tracks of at least one group")
        for member in members:
            if not isinstance(member, Tracks):
                raise InputError(f"a collection holds Tracks, got {type(member).__name__}")
        labels = [member.group for member in members]
        if len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise InputError(
                f"the groups of a collection need different labels, got {twice!r} twice"
            )
        units = {member.length_unit for member in members}
        if len(units) > 1:
            raise InputError(
                f"the groups have mixed units: {', '.join(repr(u) for u in sorted(units))}; "
                "rescale them to one"
            )
        object.__setattr__(self, "tracks", members)

    @property
    def groups(self) -> tuple[str, ...]:
        """The labels of the groups."""
        return tuple(member.group for member in self.tracks)

    @property
    def length_unit(self) -> str:
        """The unit of the positions; empty if not known."""
        return self.tracks[0].length_unit

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on what was done to the tracks, each with its group."""
        return tuple(
            f"{member.group}: {note}" if member.group else note
            for member in self.tracks
            for note in member.notes
        )

    @property
    def _data(self) -> "list[xr.Dataset]":
        """The datasets of all groups."""
        return [member.data for member in self.tracks]

    def map(self, change: Callable[[Tracks], Tracks]) -> "Collection":
        """Apply the same change to each group."""
        return Collection(change(member) for member in self.tracks)

    def thin(self, every: int) -> "Collection":
        """Every n-th frame of every group."""
        return self.map(lambda tracks: tracks.thin(every))

    def crop(
        self, x: Limits | None = None, y: Limits | None = None, time: Limits | None = None
    ) -> "Collection":
        """Keep positions and times within limits (low, high); None leaves a side open."""
        return self.map(lambda tracks: tracks.crop(x, y, time))

    def rescale(
        self, factor: float | None = None, unit: str = "", shift: Place = (0.0, 0.0)
    ) -> "Collection":
        """Multiply positions by ``factor``, add ``shift``; by default fit one unit square."""
        if factor is None:
            factor, shift = preparing.unit_square(self._data)
            unit = unit or "unit squares"
        return self.map(lambda tracks: tracks.rescale(factor, unit, shift))

    def smooth(self, window: int, order: int = 2) -> "Collection":
        """Smooth by Savitzky–Golay, see ``Tracks.smooth``."""
        return self.map(lambda tracks: tracks.smooth(window, order))

    def flip_y(self) -> "Collection":
        """Replace y by −y, see ``Tracks.flip_y``."""
        return self.map(Tracks.flip_y)

    def drop_jumps(self, step: float) -> "Collection":
        """Remove fixes farther than ``step`` from those before and after."""
        return self.map(lambda tracks: tracks.drop_jumps(step))

    def fill_gaps(self, longest: int) -> "Collection":
        """Fill gaps of at most ``longest`` frames by straight lines."""
        return self.map(lambda tracks: tracks.fill_gaps(longest))

    def drop(self, individuals: Sequence[str] = ()) -> "Collection":
        """Remove these animals from every group that has them."""

        def without(tracks: Tracks) -> Tracks:
            here = [name for name in individuals if name in tracks.individuals]
            return tracks.drop(here) if here else tracks

        unknown = [n for n in individuals if all(n not in t.individuals for t in self.tracks)]
        if unknown:
            raise InputError(f"no animal of any group is called {unknown[0]!r}")
        return self.map(without)

    def with_landmarks(self, *names: str) -> "Collection":
        """Mark these as landmarks: no members of a group, but possible targets of a feature."""
        return self.map(lambda tracks: tracks.with_landmarks(*names))

    def split_time(self, share: float) -> "tuple[Collection, Collection]":
        """The first frames of every group, and the others, see ``Tracks.split_time``."""
        parts = [member.split_time(share) for member in self.tracks]
        return Collection(first for first, _ in parts), Collection(rest for _, rest in parts)

    def split_groups(
        self, which: Share, seed: int = 0, stratify: str | None = None
    ) -> "tuple[Collection, Collection]":
        """Split into some groups, a random share or those with these labels, and the others.

        ``stratify="sex"``, a covariate, draws the same share of the groups of each sex.
        """
        first = splitting.drawn_groups(self._data, which, seed, stratify)
        return Collection(compress(self, first)), Collection(compress(self, ~first))

    def split_individuals(self, which: Share, seed: int = 0) -> "tuple[Collection, Collection]":
        """Split each group into some members, a random share or those with these names, and others.

        A name stands for the animals of all groups that have it, and (group, name) for one animal.
        A group that has no animal left in a part is left out of that part. See
        ``Tracks.split_individuals``.
        """
        first, rest = splitting.split_animals(self._data, which, seed)
        return Collection(map(Tracks, first)), Collection(map(Tracks, rest))

    def table(self) -> "pd.DataFrame":
        """One row for each fix of every group."""
        return writing.table(self._data)

    def to_csv(self, path: str | Path) -> Path:
        """Write a long CSV that ``read_tracks`` reads back exactly."""
        return writing.write_csv(self._data, Path(path))

    def to_parquet(self, path: str | Path) -> Path:
        """Write a long Parquet file that ``read_tracks`` reads back exactly."""
        return writing.write_parquet(self._data, Path(path))

    def __iter__(self) -> Iterator[Tracks]:
        return iter(self.tracks)

    def __len__(self) -> int:
        return len(self.tracks)

    def __getitem__(self, which: int | str) -> Tracks:
        if isinstance(which, str):
            if which not in self.groups:
                raise InputError(f"no group is called {which!r}; there are {list(self.groups)}")
            return self.tracks[self.groups.index(which)]
        return self.tracks[which]

    def __str__(self) -> str:
        animals = sum(len(member.members) for member in self.tracks)
        frames = sum(len(member.positions) for member in self.tracks)
        fixes = sum(member.positions[..., 0].size for member in self.tracks)
        lost = sum(member.missing for member in self.tracks)
        unit = self.length_unit
        words = [
            f"Tracks of {counted(len(self), 'group')} with {counted(animals, 'animal')} in all, "
            f"seen in {counted(frames, 'frame')}.",
            f"Lengths are in {unit}." if unit else "No unit of length is known.",
            f"{share(lost, fixes).capitalize()} of the places are missing.",
        ]
        if self.notes:
            words.append(f"{counted(len(self.notes), 'remark')} on the tracks: see notes.")
        return " ".join(words)

    def __repr__(self) -> str:
        animals = sum(len(member.members) for member in self.tracks)
        frames = sum(len(member.positions) for member in self.tracks)
        fixes = sum(member.positions[..., 0].size for member in self.tracks)
        lost = sum(member.missing for member in self.tracks)
        return (
            f"Collection({len(self)} groups, {animals} animals, {frames} frames, "
            f"{lost} of {fixes} fixes missing)"
        )


Groups = Annotated[Tracks | Collection | Sequence[Tracks], GIVEN]
"""Tracks of one group, or of several."""
