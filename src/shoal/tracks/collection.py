"""Several experiments, read and prepared alike."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from shoal.errors import InputError
from shoal.inputs import GIVEN, Limits, Place
from shoal.results import Result, counted, share
from shoal.tracks.record import Share, Tracks

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Collection(Result):
    """Tracks of several groups; every group has its own label.

    Parameters
    ----------
    tracks
        Of each group. Going through a collection gives them one after the other, and
        ``collection["label"]`` gives one of them.

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
        """The groups' labels."""
        return tuple(member.group for member in self.tracks)

    @property
    def length_unit(self) -> str:
        """Of the positions; empty where it is not known."""
        return self.tracks[0].length_unit

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the tracks on the way, each sentence with its group."""
        return tuple(
            f"{member.group}: {note}" if member.group else note
            for member in self.tracks
            for note in member.notes
        )

    def map(self, change: Callable[[Tracks], Tracks]) -> "Collection":
        """Each group changed alike."""
        return Collection(change(member) for member in self.tracks)

    def thin(self, every: int) -> "Collection":
        """Every n-th frame of every group."""
        return self.map(lambda tracks: tracks.thin(every))

    def crop(
        self, x: Limits | None = None, y: Limits | None = None, time: Limits | None = None
    ) -> "Collection":
        """Places and times within limits (low, high); None leaves a side open."""
        return self.map(lambda tracks: tracks.crop(x, y, time))

    def rescale(
        self, factor: float | None = None, unit: str = "", shift: Place = (0.0, 0.0)
    ) -> "Collection":
        """Places times ``factor`` plus ``shift``; without a factor, fitted to one unit square."""
        from shoal.tracks.preparing import unit_square  # noqa: PLC0415  (takes and gives Tracks)

        if factor is None:
            factor, shift = unit_square(self.tracks)
            unit = unit or "unit squares"
        return self.map(lambda tracks: tracks.rescale(factor, unit, shift))

    def smooth(self, window: int, order: int = 2) -> "Collection":
        """Savitzky–Golay, see ``Tracks.smooth``."""
        return self.map(lambda tracks: tracks.smooth(window, order))

    def flip_y(self) -> "Collection":
        """Mirrored, y as −y, see ``Tracks.flip_y``."""
        return self.map(Tracks.flip_y)

    def drop_jumps(self, step: float) -> "Collection":
        """Without fixes that are farther than ``step`` from the ones before and after."""
        return self.map(lambda tracks: tracks.drop_jumps(step))

    def fill_gaps(self, longest: int) -> "Collection":
        """Straight lines across gaps of at most ``longest`` frames."""
        return self.map(lambda tracks: tracks.fill_gaps(longest))

    def drop(self, individuals: Sequence[str] = ()) -> "Collection":
        """Without these animals, in every group that has them."""

        def without(tracks: Tracks) -> Tracks:
            here = [name for name in individuals if name in tracks.individuals]
            return tracks.drop(here) if here else tracks

        unknown = [n for n in individuals if all(n not in t.individuals for t in self.tracks)]
        if unknown:
            raise InputError(f"no animal of any group is called {unknown[0]!r}")
        return self.map(without)

    def with_landmarks(self, *names: str) -> "Collection":
        """These are no members of any group, but can be the target of a feature."""
        return self.map(lambda tracks: tracks.with_landmarks(*names))

    def split_time(self, share: float) -> "tuple[Collection, Collection]":
        """The first frames of every group, and the others, see ``Tracks.split_time``."""
        parts = [member.split_time(share) for member in self.tracks]
        return Collection(first for first, _ in parts), Collection(rest for _, rest in parts)

    def split_groups(
        self, which: Share, seed: int = 0, stratify: str | None = None
    ) -> "tuple[Collection, Collection]":
        """Whole groups: a share of them, drawn at random, or those with these labels; the others.

        With ``stratify="sex"``, a covariate, the same share of the groups of each sex is drawn.
        """
        from shoal.tracks.splitting import split_groups  # noqa: PLC0415

        return split_groups(self, which, seed, stratify)

    def split_individuals(self, which: Share, seed: int = 0) -> "tuple[Collection, Collection]":
        """A share of each group's members, drawn at random, or those with these names; the others.

        A name means the animals of every group that has it, (group, name) one of them; a group
        without a member in a part is left out of it. See ``Tracks.split_individuals``.
        """
        from shoal.tracks.splitting import split_animals  # noqa: PLC0415

        return split_animals(self, which, seed)

    def table(self) -> "pd.DataFrame":
        """One row for each fix of every group."""
        from shoal.tracks.writing import table  # noqa: PLC0415

        return table(self.tracks)

    def to_csv(self, path: str | Path) -> Path:
        """Write a long CSV that ``read_tracks`` reads back exactly."""
        from shoal.tracks.writing import write_csv  # noqa: PLC0415

        return write_csv(self.tracks, Path(path))

    def to_parquet(self, path: str | Path) -> Path:
        """Write a long Parquet file that ``read_tracks`` reads back exactly."""
        from shoal.tracks.writing import write_parquet  # noqa: PLC0415

        return write_parquet(self.tracks, Path(path))

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
