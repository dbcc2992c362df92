"""idtracker.ai: .npy of all versions, .h5 and CSV; and idTracker's text and Matlab files."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.tracks.confidence import without_doubtful
from shoal.tracks.readers.assembly import places_of, timed_tracks, tracks_of
from shoal.tracks.readers.pickles import load_npy
from shoal.tracks.readers.source import ReadOptions, Source, damaged
from shoal.tracks.readers.table_files import column, csv_table, unique_names
from shoal.tracks.record import Tracks


def declines_npy(source: Source) -> str | None:
    """Why the file is not a .npy file of trajectories; None if it is."""
    return None if source.kind == "npy" else "not a .npy file"


def read_npy(source: Source, options: ReadOptions) -> list[Tracks]:
    """A dictionary with trajectories, or an array of them; no pickle is executed."""
    content = load_npy(source.path)
    if isinstance(content, np.ndarray):
        return [tracks_of(source, options, content, unit="px")]
    known = isinstance(content, dict) and isinstance(content.get("trajectories"), np.ndarray)
    if not known:
        raise InputError(f"{source.path}: expected a dictionary with an array 'trajectories'")
    scores = content.get("id_probabilities")
    array, notes = _identified(source, options, content["trajectories"], scores)
    return [_from_attributes(source, options, array, content).noted(*notes)]


def declines_h5(source: Source) -> str | None:
    """Why the file is not an HDF5 file of idtracker.ai; None if it is."""
    if source.kind != "hdf5":
        return "not an HDF5 file"
    return None if "trajectories" in source.keys else "no dataset 'trajectories'"


def read_h5(source: Source, options: ReadOptions) -> list[Tracks]:
    """Dataset ``trajectories`` and the attributes of the file."""
    with source.hdf5() as file:
        try:
            array = file["trajectories"][()]
            scores = file["id_probabilities"][()] if "id_probabilities" in file else None
            facts = dict(file.attrs)
        except (OSError, TypeError) as error:
            raise damaged(source.path, error) from error
    array, notes = _identified(source, options, array, scores)
    return [_from_attributes(source, options, array, facts).noted(*notes)]


def declines_csv(source: Source) -> str | None:
    """Why the file is not a trajectories.csv of idtracker.ai; None if it is."""
    if source.kind != "text":
        return "not a text file"
    names = [name.strip() for name in source.header]
    if re.fullmatch(r"(seconds,)?x1,y1(,x\d+,y\d+)*", ",".join(names)):
        return None
    if re.fullmatch(r"trajectories1(,trajectories\d+)+", ",".join(names)):
        return None
    return "its header is neither 'seconds,x1,y1,…' nor 'trajectories1,trajectories2,…'"


def read_csv(source: Source, options: ReadOptions) -> list[Tracks]:
    """Columns x1, y1, x2, y2 …, with the attributes.json beside them if there is one."""
    names = unique_names(source.header)
    rows = csv_table(source, names)
    places = [name for name in names if name.strip() != "seconds"]
    values = np.stack([column(rows, name) for name in places], axis=1)
    if values.shape[1] % 2:
        raise InputError(f"{source.path}: {values.shape[1]} columns of positions, so an x has no y")
    places, notes = _identified(
        source, options, values.reshape(len(values), -1, 2), _scores_beside(source)
    )
    beside = source.path.with_name("attributes.json")
    facts = _json(beside) if beside.exists() else {}
    array: Any = places
    if "seconds" in source.header:
        timed = timed_tracks(source, options, column(rows, "seconds"), positions=array, unit="px")
        array = timed.positions  # with the frames that are missing altogether
        notes += [note for note in timed.notes if "missing altogether" in note]
        facts.setdefault("frames_per_second", timed.fps)
    group = source.path.parent.name if source.path.stem == "trajectories" else source.path.stem
    return [_from_attributes(source, options, array, facts, group).noted(*notes)]


def declines_legacy_text(source: Source) -> str | None:
    """Why the file is not a trajectories.txt of idTracker; None if it is."""
    if source.kind != "text":
        return "not a text file"
    legacy = source.header[:3] == ["X1", "Y1", "ProbId1"]
    return None if legacy else "its header does not begin with X1, Y1, ProbId1"


def read_legacy_text(source: Source, options: ReadOptions) -> list[Tracks]:
    """Columns X1, Y1, ProbId1, X2 …; a negative ProbId marks an estimated position."""
    names = unique_names(source.header)
    wanted = [name for name in names if re.fullmatch(r"(X|Y|ProbId)\d+", name)]
    if names[-1].startswith("#") and not _ends_with_tab(source):
        source = _Untabbed(source.path)  # only the header ends with a tab
    rows = csv_table(source, wanted)
    animals = len(wanted) // 3
    values = np.stack([column(rows, name) for name in wanted], axis=1)
    array = values.reshape(len(values), animals, 3)
    return [_legacy(source, options, array[..., :2], array[..., 2])]


def declines_legacy_mat(source: Source) -> str | None:
    """Why the file is not a trajectories.mat of idTracker; None if it is."""
    if source.kind != "mat":
        return "not a Matlab 5 file"
    return None if "trajectories" in source.keys else "no variable 'trajectories'"


def read_legacy_mat(source: Source, options: ReadOptions) -> list[Tracks]:
    """Variables trajectories and probtrajectories."""
    content = source.mat()
    return [_legacy(source, options, content["trajectories"], content.get("probtrajectories"))]


class _Untabbed(Source):
    """A table whose header has one column more than its rows."""

    @property
    def header(self) -> list[str]:
        """The header without its empty last name."""
        return [name for name in super().header if name]


def _ends_with_tab(source: Source) -> bool:
    return len(source.lines) > 1 and source.lines[1].endswith("\t")


def _legacy(source: Source, options: ReadOptions, places: Any, probability: Any) -> Tracks:
    """Tracks of idTracker; negative probabilities mark estimated positions."""
    scores = _fitting(probability, places)
    array, notes = without_doubtful(
        places_of(source, places),
        scores,
        None if scores is None else scores < 0,
        file=source.path,
        how="were estimated by idTracker while the animal was hidden",
        confidence=options.confidence,
        drop_estimated=options.drop_estimated,
    )
    return tracks_of(source, options, array, unit="px", notes=notes)


def _identified(
    source: Source, options: ReadOptions, places: Any, probability: Any
) -> tuple[Any, list[str]]:
    """Positions without doubtful ones; without a probability, the animal was not identified."""
    scores = _fitting(probability, places)
    if scores is not None and np.isnan(scores).all():
        scores = None  # tracked without identities
    return without_doubtful(
        places_of(source, places),
        scores,
        None if scores is None else np.isnan(scores),
        file=source.path,
        how="were put in by idtracker.ai where it could not identify the animal, as in crossings",
        confidence=options.confidence,
        drop_estimated=options.drop_estimated,
    )


def _fitting(probability: Any, places: Any) -> np.ndarray | None:
    """Probabilities as numbers, one for each position; None if they do not fit."""
    shape = np.shape(places)[:2]
    try:
        scores = np.asarray(probability, dtype=float)
    except (TypeError, ValueError):
        return None
    return scores.reshape(shape) if scores.shape in (shape, (*shape, 1)) else None


def _scores_beside(source: Source) -> np.ndarray | None:
    """The probabilities in id_probabilities.csv beside the trajectories; None without the file."""
    path = source.path.with_name("id_probabilities.csv")
    if not path.exists():
        return None
    beside = Source(path)
    names = [name for name in unique_names(beside.header) if name.strip() != "seconds"]
    rows = csv_table(beside, names)
    return np.stack([column(rows, name) for name in names], axis=1)


def _from_attributes(
    source: Source,
    options: ReadOptions,
    array: Any,
    facts: dict[str, Any],
    group: str | None = None,
) -> Tracks:
    labels = facts.get("identities_labels")
    names = None if labels is None else [str(_text(label)) for label in labels]
    shape = np.shape(array)
    if names is not None and (len(shape) < 2 or len(names) != shape[1]):
        names = None
    notes = []
    unit = facts.get("length_unit")
    if unit is not None and str(unit) not in ("-1", "None", "nan", ""):
        notes.append(f"the file gives length_unit = {unit}; positions are left in pixels")
    length = facts.get("body_length")
    if isinstance(length, int | float | np.number):
        notes.append(f"body length {float(length):.4g} px")
    return tracks_of(
        source,
        options,
        array,
        fps=facts.get("frames_per_second"),
        unit="px",
        individuals=names,
        notes=notes,
        group=group,
    )


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, error) from error
    return found if isinstance(found, dict) else {}
