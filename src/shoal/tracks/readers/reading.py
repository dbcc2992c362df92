"""``read_tracks``: the tracks in a file, a folder or the files of a pattern."""

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from shoal.errors import InputError, warn
from shoal.inputs import Filename
from shoal.tracks.collection import Collection
from shoal.tracks.confidence import no_scores, not_marked
from shoal.tracks.geography import centre_of
from shoal.tracks.preparing import jump_notes
from shoal.tracks.readers.assembly import assembled
from shoal.tracks.readers.fixes import Fixes, joined
from shoal.tracks.readers.formats import Format, format_named, recognised
from shoal.tracks.readers.source import ReadOptions, Source, named
from shoal.tracks.record import Tracks

T = TypeVar("T")
ASIDE = {".json", ".md", ".txt.license", ".toml", ".log", ".avi", ".mp4", ".png", ".pdf", ".bib"}
BESIDE = {"id_probabilities.csv", "areas.csv", "attributes.json", "readme.txt", "provenance.md"}
"""Files that lie beside files of tracks and hold no tracks."""


@dataclass(frozen=True, eq=False)
class _Read:
    """The content of one file."""

    path: Path
    format: Format
    content: Fixes | list[Tracks]

    @property
    def solo(self) -> bool:
        """Whether the file holds one animal only."""
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
    r"""Read the tracks in a file, a folder or all files of a pattern such as ``"day1/*.h5"``.

    Parameters
    ----------
    path
        A file, a folder, or a pattern. Each file of a folder or pattern is a group; if each holds
        one animal only (TRex, or a long table without a column for the individual), the files are
        the animals of one group.
    format
        A name that ``shoal formats`` lists; by default the content decides.
    columns
        The column of each role, for long tables with unusual names, for example
        ``{"individual": "who", "frame": "n", "x": "east", "y": "north"}``.
    fps
        Frames per second, if the file does not give them or gives a wrong number.
    unit
        The unit of lengths, if the file does not give it.
    keypoint
        The point of a pose that is the position of the animal; by default the centroid of all.
    confidence
        Positions with a lower score count as not seen. The score is that of points (poses), of the
        identity (idTracker, idtracker.ai) or of the detection (TRex). A file without scores is an
        error.
    clock
        Seconds between the ticks of a common clock, if each animal has times of its own; by
        default the usual interval between the fixes of an animal.
    sort
        Whether the rows of a long table may come in any order.
    drop_estimated
        Whether positions that the tracker estimated while an animal was hidden count as not seen.
        By default they count as seen, with a warning that gives their share.

    Returns
    -------
    Tracks or Collection
        Tracks of one group, or a Collection of several groups.

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
        raise InputError(
            f"{path} holds files of different formats: {seen}; read each format by itself"
        )
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
    """One centre for all files, so that a place on Earth has the same position in each."""
    fixes = [part.content for part in parts if isinstance(part.content, Fixes)]
    geographic = [part for part in fixes if part.geographic]
    if not geographic:
        return None
    longitude = np.concatenate([part.x for part in geographic])
    return centre_of(longitude, np.concatenate([part.y for part in geographic]))


def files_of(path: Any) -> tuple[list[Path], Path]:
    """The files that a path, folder or pattern stands for, and the folder above them."""
    text = str(path)
    if not text:
        raise InputError("expected a file, a folder or a pattern, got an empty path")
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
    """Whether the name of a file does not speak against tracks in it."""
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(root).parts)
    aside = file.suffix.lower() in ASIDE or file.name.lower() in BESIDE
    return file.is_file() and not hidden and not aside


def without_strays(files: Sequence[Path], recognise: Callable[[Path], T]) -> list[T]:
    """The files of a folder that have a known format.

    A file of no known format is skipped with a warning if no file of tracks has the same suffix;
    otherwise it is an error.
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
        warn(f"{file} has no tracks that shoal can read and was skipped")
    return found


def _recognised(path: Path, chosen: Format | None, options: ReadOptions) -> tuple[Source, Format]:
    """A file and its format; raise an error if it has none, or not the chosen one."""
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
    """Read one file."""
    path = source.path
    with named(path):
        if options.confidence > 0 and not known.scored:
            raise no_scores(options.confidence)
        if options.drop_estimated and not known.marked:
            warn(not_marked(path))
        return _Read(path, known, known.read(source, options))


def _tracks(part: _Read, options: ReadOptions) -> list[Tracks]:
    """The tracks of each group in one file."""
    content = part.content
    with named(part.path):
        found = assembled(content, options) if isinstance(content, Fixes) else content
        return [_told(one, part.format.name, {}) for one in found]


def _told(tracks: Tracks, name: str, files: Mapping[str, Path]) -> Tracks:
    """Tracks with the name of their format; warn of jumps that must be errors."""
    jumps = jump_notes(tracks.data, files)
    for sentence in jumps:
        warn(f"{tracks.group}: {sentence}" if tracks.group else sentence)
    return Tracks(tracks.data.assign_attrs(format=name)).noted(*jumps)


def _animals_together(parts: list[_Read], root: Path, options: ReadOptions) -> list[Tracks]:
    """Join files of one animal each to one group for each folder and common name."""
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
        note = f"{len(members)} files of one animal each were joined to one group"
        whole = joined(list(members.values()), label)
        made = assembled(replace(whole, notes=(*whole.notes, note)), options)
        files = {fixes.animals[0]: path for path, fixes in members.items()}
        found += [_told(one, parts[0].format.name, files) for one in made]
    return found


def _labelled(tracks: Tracks, part: _Read, root: Path, *, alone: bool) -> Tracks:
    """Label a group by the path of its file, and by its own label if the file has several."""
    where = part.path.relative_to(root).with_suffix("")
    label = str(where) if alone else f"{where}/{tracks.group}"
    return Tracks(tracks.data.assign_attrs(group=label))


def _check(options: ReadOptions) -> None:
    """Raise an error if the options are out of range or contradict each other."""
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
        raise InputError(f"confidence must lie between 0 and 1, got {options.confidence}")
