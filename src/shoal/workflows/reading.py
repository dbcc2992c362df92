"""From a file of tracks to counted transitions: what a fit and a comparison begin with."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.selection.dynamics import LagChoice, Thinning, choose_lag, choose_thinning
from shoal.states import Scene, StateSpace, Transitions, count_transitions
from shoal.states.recipe import Counting
from shoal.system.files import write_whole
from shoal.system.progress import Report, reporting
from shoal.tracks import Collection, Tracks
from shoal.tracks.arena import misfit
from shoal.tracks.readers import OpenTracks, open_tracks, read_tracks
from shoal.tracks.readers.reading import files_of
from shoal.tracks.record import warn
from shoal.workflows.features import feature_of
from shoal.workflows.settings import ReadingSettings
from shoal.workflows.words import (
    arena_of_words,
    pairs_of,
    target_note,
    target_of,
)


@dataclass(frozen=True, eq=False)
class Reading:
    """Tracks, states and counts, made when they are first asked for."""

    settings: ReadingSettings
    progress: bool | Report | None = None

    @cached_property
    def tracks(self) -> Tracks | Collection | OpenTracks:
        """Read, prepared and thinned."""
        every = self.thinning.every
        return self._whole if every == 1 else self._whole.thin(every)  # type: ignore[union-attr]

    @cached_property
    def thinning(self) -> Thinning:
        """Which frames are used, and why where that is left to the tracks."""
        return self._thinning()

    def _thinning(self) -> Thinning:
        """The one at which states change from frame to frame."""
        s = self.settings
        named = getattr(s, "passive", "auto") != "auto"  # dynamics given for the frames as they are
        if s.every or named or s.lag != 1 or s.stream:
            return Thinning(s.every or 1, "")
        whole: Any = self._whole
        return choose_thinning(list(whole), Counting(self._space_of(whole), 1, **s.headings))

    @cached_property
    def _whole(self) -> Tracks | Collection | OpenTracks:
        """Read and prepared, with all frames."""
        s = self.settings
        columns = pairs_of(s.columns, "columns")
        if s.fps < 0 or s.clock < 0:
            raise InputError("fps and clock must be positive")
        if s.stream:
            return self._opened(columns)
        if s.cluster or s.parts:
            raise InputError("--cluster and --parts are for streamed tracks: add --stream")
        found: Any = read_tracks(
            s.tracks, s.format or None, columns=columns, fps=s.fps or None, unit=s.unit or None,
            keypoint=s.keypoint or None, confidence=s.confidence, clock=s.clock or None,
            sort=s.sort, drop_estimated=s.drop_estimated,
        )  # fmt: skip
        return self._prepared(found)

    def _opened(self, columns: dict[str, str]) -> OpenTracks:
        s = self.settings
        changed = [
            name
            for name in (
                *("drop", "landmarks", "flip_y", "max_step", "fill_gaps", "smooth", "rescale"),
                *("format", "keypoint", "confidence", "clock", "sort", "drop_estimated"),
            )
            if getattr(s, name)
        ]
        if changed or s.every > 1:
            raise InputError(
                f"streamed tracks take no {', '.join(changed) or 'every'}: read them whole"
            )
        return open_tracks(
            s.tracks, columns=columns, fps=s.fps or None, unit=s.unit or None, parts=s.parts or None
        )

    def _prepared(self, found: Any) -> Any:
        s = self.settings
        for name in ("every", "fill_gaps", "smooth"):
            if getattr(s, name) < 0:
                raise InputError(f"{name.replace('_', '-')} cannot be negative")
        if s.drop:
            found = found.drop([name.strip() for name in s.drop.split(",")])
        if s.landmarks:
            found = found.with_landmarks(*(name.strip() for name in s.landmarks.split(",")))
        if s.flip_y:
            found = found.flip_y()
        if s.max_step:
            found = found.drop_jumps(s.max_step)
        if s.fill_gaps:
            found = found.fill_gaps(s.fill_gaps)
        if s.smooth:
            found = found.smooth(s.smooth)
        if s.rescale:
            found = found.rescale() if s.rescale == "unit-square" else _scaled(found, s.rescale)
        return found

    @cached_property
    def target(self) -> Any:
        """Where the animals may want to go, in the coordinates of the tracks."""
        return target_of(self.settings.target, self._in_memory)

    @property
    def _in_memory(self) -> Sequence[Tracks]:
        """The tracks as far as they are read: none of those that are streamed."""
        found = self.__dict__.get("tracks") or self._whole  # thinning wants the target early
        return () if isinstance(found, OpenTracks) else list(found)

    @cached_property
    def space(self) -> StateSpace:
        """The states; what looks wrong about target and arena is warned of."""
        s, space = self.settings, self._space_of(self.tracks)
        arena = arena_of_words(s.arena)
        if s.target and "target" not in s.state:
            warnings.warn(f"--target {s.target} is used by no state", UserWarning, stacklevel=2)
        if arena is not None and all(getattr(one, "arena", None) is None for one in space.parts):
            found = (misfit(arena, part.positions, part.group) for part in self._in_memory)
            for sentence in islice(filter(None, found), 1):  # counting warns of those of features
                warn(sentence)
        return space

    def _space_of(self, tracks: Tracks | Collection | OpenTracks) -> StateSpace:
        """The states, with bins of distances from these tracks where none are given."""
        s = self.settings
        arena = arena_of_words(s.arena)
        words = [word for word in s.state.split(",") if word.strip()]
        if not words:
            raise InputError("which states? give --state local, or local,target")
        unit = s.unit or getattr(tracks, "length_unit", "")

        def scenes() -> Sequence[Scene]:
            return self._scenes(tracks)

        bins = self._angle_bins(len(words))
        return StateSpace(
            *(feature_of(word, self.target, arena, unit, scenes, bins) for word in words)
        )

    def _angle_bins(self, features: int) -> int:
        """Bins of angles for which none are given."""
        return 36

    def _scenes(self, tracks: Tracks | Collection | OpenTracks) -> Sequence[Scene]:
        s = self.settings
        if isinstance(tracks, OpenTracks):
            raise InputError("of streamed tracks the bins of distances must be given: edges=0/5/10")
        return [Scene.of(part, **s.headings) for part in tracks]

    @cached_property
    def lag_choice(self) -> LagChoice | None:
        """The lag that the tracks speak for, and why, where it is left to them."""
        if not isinstance(self.settings.lag, str):
            return None
        if isinstance(self.tracks, OpenTracks):
            raise InputError("--lag auto counts tracks several times: read them whole")
        rates = {part.fps for part in self.tracks}
        with reporting(self.progress) as report:
            return choose_lag(self._counted, rates.pop() if len(rates) == 1 else None, report)

    @cached_property
    def lag(self) -> int:
        """Frames between states."""
        if self.lag_choice is not None:
            return self.lag_choice.lag
        return int(self.settings.lag)

    @cached_property
    def counts(self) -> Transitions:
        """Transitions between states."""
        return self._counted(self.lag)

    def _counted(self, lag: int) -> Transitions:
        s = self.settings
        found: Transitions = count_transitions(
            self.tracks, self.space, lag=lag, cluster=s.cluster or None, progress=self.progress,
            **s.headings,
        )  # fmt: skip
        return found

    def notes(self) -> list[str]:
        """What reading and preparing did, each sentence once."""
        found = [] if isinstance(self.tracks, OpenTracks) else list(self.tracks.notes)
        placed = target_note(self.settings.target, self._whole)
        if len(found) <= 12:
            return found + placed
        plain: dict[str, int] = {}
        for part in self.tracks:
            for note in part.notes:
                plain[note] = plain.get(note, 0) + 1
        once = [f"{note} ({count} groups)" if count > 1 else note for note, count in plain.items()]
        return once + placed

    def rows(self) -> list[tuple[str, str]]:
        """What was read and counted, for a summary."""
        counts = self.counts
        lost = {reason: number for reason, number in counts.dropped.items() if number}
        return [
            ("tracks", repr(self.tracks)),
            ("states", " × ".join(f"{axis.label}: {axis.size}" for axis in self.space.axes)),
            ("fixes", f"{counts.fixes:,}"),
            *((f"  {reason}", f"{number:,}") for reason, number in lost.items()),
            ("transitions", f"{counts.total:,}, {len(counts.pairs):,} distinct"),
            ("states entered", f"{int((counts.arrivals > 0).sum()):,} of {self.space.size:,}"),
            *([("lag, chosen", self.lag_choice.sentence)] if self.lag_choice else []),
            *([("frames, chosen", self.thinning.sentence)] if self.thinning.sentence else []),
        ]

    def spare_inputs(self, outputs: Iterable[Path]) -> None:
        """What is read is never written over."""
        if not self.settings.tracks:
            raise InputError("which tracks? give a file, a folder or a pattern")
        files, _ = files_of(self.settings.tracks)
        ours = {path.resolve() for path in outputs}
        for file in files:
            if file.resolve() in ours:
                raise InputError(f"{file} is what was read: choose another name for --out")

    def write_choices(self, path: Path) -> Path:
        """As a TOML file that repeats the run from any folder."""
        write_whole(path, self.resolved.from_anywhere().toml().encode())
        return path

    @property
    def resolved(self) -> Any:
        """The choices, with the thinning that was taken."""
        return replace(self.settings, every=self.thinning.every)


def _scaled(tracks: Any, words: str) -> Any:
    factor, _, unit = words.partition(" ")
    try:
        return tracks.rescale(float(factor), unit.strip())
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"--rescale is unit-square, or a factor with a unit such as '0.05 cm'; got {words!r}"
        ) from None
