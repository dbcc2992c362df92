"""``read_tracks``: a file, a folder or a pattern in, tracks out."""

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from shoal.errors import InputError
from shoal.inputs import Filename
from shoal.tracks.collection import Collection
from shoal.tracks.doubts import no_scores, not_marked
from shoal.tracks.preparing import jump_notes
from shoal.tracks.readers.assembling import assembled
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.geography import centre_of
from shoal.tracks.readers.joining import joined
from shoal.tracks.readers.registry import Format, format_named, recognised
from shoal.tracks.readers.source import ReadOptions, Source, named
from shoal.tracks.record import Tracks, warn

T = TypeVar("T")
ASIDE = {".json", ".md", ".txt.license", ".toml", ".log", ".avi", ".mp4", ".png", ".pdf", ".bib"}
BESIDE = {"id_probabilities.csv", "areas.csv", "attributes.json", "readme.txt", "provenance.md"}
"""Files that lie beside tracks and hold none."""


@dataclass(frozen=True, eq=False)
class _Read:
    """What one file gave."""

    path: Path
    format: Format
    content: Fixes | list[Tracks]

    @property
    def solo(self) -> bool:
        """Whether the file holds one animal and does not say who else was there."""
        return (
            isinstance(self.content, Fixes)
            and len(self.content.animals) == 1
            and len(self.content.groups) == 1
        )


def read_tracks(  # noqa: PLR0913  (every choice a user has)
    path: Filename,
    format: str | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    fps: float | None = None,
    unit: str | None = None,
    keypoint: str | None = None,
    confidence: float = 0.0,
    clock: float | None = None,
    sort: bool = False,
    drop_estimated: bool = False,
) -> Tracks | Collection:
    r"""The tracks in a file, a folder or all files of a pattern such as ``"day1/*.h5"``.

    Parameters
    ----------
    path
        A file gives Tracks, or a Collection where it holds several groups. The files of a folder
        or pattern are groups of a Collection; where each holds one animal alone (TRex, or a long
        table without a column for the individual) they are the animals of one group.
    format
        A name that ``shoal formats`` lists; by default recognised from the content.
    columns
        For long tables with names of their own: role to column, for example
        ``{"individual": "who", "frame": "n", "x": "east", "y": "north"}``.
    fps
        Frames per second, where the file does not say or is wrong.
    unit
        Of lengths, where the file does not say.
    keypoint
        Of poses: the point that stands for the animal, by default the centroid of all.
    confidence
        Points of poses with a lower score, and places whose animal was identified with a lower
        probability (idTracker, idtracker.ai) or detected with a lower one (TRex), count as not
        seen. An error where the file has no scores.
    clock
        Seconds between the ticks of a common clock, for animals with clocks of their own; by
        default the usual interval between an animal's fixes.
    sort
        Rows of a long table may come in any order.
    drop_estimated
        Places that idTracker or idtracker.ai estimated while an animal was hidden count as not
        seen. By default they count as seen, with a warning that gives their share.

    Returns
    -------
    Tracks or Collection
        Tracks of one group; a Collection where there are several. Both are read by every function
        that takes tracks, and going through either gives the Tracks of each group.

    Examples
    --------
    >>> import shoal
    >>> folder = getfixture("tmp_path")
    >>> text = "frame,id,x,y\n1,a,0,0\n1,b,0,1\n2,a,1,0\n2,b,1,1\n"
    >>> _ = (folder / "pond.csv").write_text(text)
    >>> shoal.read_tracks(folder / "pond.csv")
    Tracks('pond', 2 animals, 2 frames, 0 of 4 fixes missing)
    """
    options = ReadOptions(
        dict(columns or {}), fps, unit, keypoint, confidence, clock, sort, drop_estimated
    )
    _check(options)
    chosen = None if format is None else format_named(format)
    files, root = files_of(path)
    sources = without_strays(files, lambda file: _recognised(file, chosen, options))
    parts = [_read(source, known, options) for source, known in sources]
    if len(parts) == 1:
        found = _tracks(parts[0], options)
        return found[0] if len(found) == 1 else Collection(found)
    options = replace(options, centre=_centre(parts))
    kinds = {part.format.name: part.path for part in parts}
    if len(kinds) > 1:
        seen = ", ".join(f"{kind} ({file.name})" for kind, file in sorted(kinds.items()))
        raise InputError(f"{path} holds files of different formats: {seen}; read them apart")
    if all(part.solo for part in parts):
        found = _animals_together(parts, root, options)
    else:
        found = [
            _labelled(one, part, root, alone=len(tracks) == 1)
            for part in parts
            for tracks in [_tracks(part, options)]
            for one in tracks
        ]
    return found[0] if len(found) == 1 and parts[0].solo else Collection(found)


def _centre(parts: list[_Read]) -> tuple[float, float] | None:
    """One centre for the places of all files, so that a place on Earth is one place in all."""
    fixes = [part.content for part in parts if isinstance(part.content, Fixes)]
    geographic = [part for part in fixes if part.geographic]
    if not geographic:
        return None
    longitude = np.concatenate([part.x for part in geographic])
    return centre_of(longitude, np.concatenate([part.y for part in geographic]))


def files_of(path: Any) -> tuple[list[Path], Path]:
    """The files of tracks that a path, folder or pattern means, and the folder above them."""
    text = str(path)
    if not text:
        raise InputError("expected a file, a folder or a pattern, got nothing")
    place = Path(text).expanduser()
    if place.is_dir():
        inner = place / "trajectories.csv"
        if inner.exists() and (place / "attributes.json").exists():
            return [inner], place  # a trajectories_csv folder of idtracker.ai
        files = sorted(file for file in place.rglob("*") if _holds_tracks(file, place))
        if not files:
            raise InputError(f"the folder {place} holds no files of tracks")
        return files, place
    if place.exists() or not glob.has_magic(text):
        return [place], place.parent
    files = sorted(Path(file) for file in glob.glob(str(place), recursive=True))  # noqa: PTH207
    files = [file for file in files if _holds_tracks(file, file.parent)]
    if not files:
        raise InputError(f"no file fits the pattern {text}")
    return files, Path(os.path.commonpath([file.parent for file in files]))


def _holds_tracks(file: Path, root: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    aside = file.suffix.lower() in ASIDE or file.name.lower() in BESIDE
    return file.is_file() and not hidden and not aside


def without_strays(files: Sequence[Path], recognise: Callable[[Path], T]) -> list[T]:
    """What the files of a folder are, without those that hold no tracks.

    A file of no known format is passed over with a warning where its name ends otherwise than
    those of the files of tracks; else it is an error.
    """
    found: list[T] = []
    endings: set[str] = set()
    strays: dict[Path, InputError] = {}
    for file in files:
        try:
            found.append(recognise(file))
            endings.add(file.suffix.lower())
        except InputError as reason:
            strays[file] = reason
    for file, error in strays.items():
        if not found or file.suffix.lower() in endings:
            raise error
        warn(f"{file} holds no tracks that can be read, and was passed over")
    return found


def _recognised(path: Path, chosen: Format | None, options: ReadOptions) -> tuple[Source, Format]:
    """A file and its format; an error where it has none, or another than the one chosen."""
    with named(path):
        source = Source(path)
        known = chosen or recognised(source, options)
        if chosen is not None:
            reason = None if options.columns else chosen.declines(source)
            if reason is not None:
                words = f"{chosen.name}: {reason} ({source.words})"
                raise InputError(f"{path} is not in format {words}")
    return source, known


def _read(source: Source, known: Format, options: ReadOptions) -> _Read:
    path = source.path
    with named(path):
        if options.confidence > 0 and not known.scored:
            raise no_scores(options.confidence)
        if options.drop_estimated and not known.marked:
            warn(not_marked(path))
        return _Read(path, known, known.read(source, options))


def _tracks(part: _Read, options: ReadOptions) -> list[Tracks]:
    content = part.content
    with named(part.path):
        found = assembled(content, options) if isinstance(content, Fixes) else content
        return [_told(one, part.format.name, {}) for one in found]


def _told(tracks: Tracks, name: str, files: Mapping[str, Path]) -> Tracks:
    """With the format's name, and a warning of jumps that must be errors."""
    jumps = jump_notes(tracks, files)
    for sentence in jumps:
        warn(f"{tracks.group}: {sentence}" if tracks.group else sentence)
    return Tracks(tracks.data.assign_attrs(format=name)).noted(*jumps)


def _animals_together(parts: list[_Read], root: Path, options: ReadOptions) -> list[Tracks]:
    """Files of one animal each: one group for each folder and common name."""
    groups: dict[str, dict[Path, Fixes]] = {}
    for part in parts:
        assert isinstance(part.content, Fixes)
        fixes = part.content
        folder = part.path.parent
        named = fixes.groups[0] != fixes.animals[0]  # TRex: video and animal in the file's name
        label = fixes.groups[0] if named else folder.name
        if folder != root:
            label = (
                f"{folder.relative_to(root)}/{label}" if named else str(folder.relative_to(root))
            )
        groups.setdefault(label, {})[part.path] = fixes
    found = []
    for label, members in groups.items():
        note = f"{len(members)} files of one animal each make one group"
        whole = joined(list(members.values()), label)
        made = assembled(replace(whole, notes=(*whole.notes, note)), options)
        files = {fixes.animals[0]: path for path, fixes in members.items()}
        found += [_told(one, parts[0].format.name, files) for one in made]
    return found


def _labelled(tracks: Tracks, part: _Read, root: Path, *, alone: bool) -> Tracks:
    """A group in a folder is called by its path, unless the file itself has labels."""
    where = part.path.relative_to(root).with_suffix("")
    label = str(where) if alone else f"{where}/{tracks.group}"
    return Tracks(tracks.data.assign_attrs(group=label))


def _check(options: ReadOptions) -> None:
    for name in ("fps", "clock"):
        value = getattr(options, name)
        if value is not None and not value > 0:
            raise InputError(f"{name} must be positive, got {value}")
    if options.fps is not None and options.clock is not None:
        raise InputError(
            f"clock={options.clock:g} puts a frame every {options.clock:g} s, so fps="
            f"{options.fps:g} contradicts it: give one of them"
        )
    if not 0 <= options.confidence <= 1:
        raise InputError(f"a confidence lies between 0 and 1, got {options.confidence}")
