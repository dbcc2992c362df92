"""Fixes: which animal was where and when, one fix a row; joined, checked and summarised."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from shoal.errors import InputError
from shoal.tracks.arena import Arena, arena_of

PER_ROW = ("group", "animal", "x", "y", "frame", "time", "heading", "fps", "arena", "row", "origin")
Numbers = Float[np.ndarray, " fixes"]
Codes = Int[np.ndarray, " fixes"]
VARIES = object()


@dataclass(frozen=True, eq=False)
class Fixes:
    """Fixes of the animals of one or more groups.

    Attributes
    ----------
    group, animal
        Indices into ``groups`` and ``animals``.
    frame, time
        At least one of them is given; time is in seconds.
    covariates
        One value in each row, by ``animal:name`` or ``group:name``.
    logged
        Whether loggers on the animals wrote the rows. Loggers repeat and swap fixes: shoal notes
        this and raises no error, since every fix has its own time.
    fps, arena
        The frame rate and the walls, as each row gives them.
    row, file, first_row
        How messages name a row: its number, counted from ``first_row``, and its file.
    origin, files
        For fixes of several files, the file of each row.
    """

    group: Codes
    groups: tuple[str, ...]
    animal: Codes
    animals: tuple[str, ...]
    x: Numbers
    y: Numbers
    frame: Codes | None = None
    time: Numbers | None = None
    heading: Numbers | None = None
    geographic: bool = False
    timestamps: bool = False
    logged: bool = False
    centre: tuple[float, float] | None = None
    length_unit: str = ""
    fps: Numbers | None = None
    arena: Any = None
    row: Codes | None = None
    covariates: Mapping[str, np.ndarray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    file: str = ""
    first_row: int = 2
    origin: Codes | None = None
    files: tuple[str, ...] = ()

    def take(self, rows: Any) -> "Fixes":
        """Some of the rows."""
        arrays = {
            name: getattr(self, name)[rows] for name in PER_ROW if getattr(self, name) is not None
        }
        covariates = {name: values[rows] for name, values in self.covariates.items()}
        return replace(self, **arrays, covariates=covariates)

    def row_words(self, index: int) -> str:
        """The number of a row in its file, for messages."""
        number = index if self.row is None else int(self.row[index])
        return f"row {number + self.first_row}"

    def place(self, index: int) -> str:
        """The file and the number of a row, for messages."""
        file = self.file if self.origin is None else self.files[int(self.origin[index])]
        return f"{file}, {self.row_words(index)}"


def by_group(fixes: Fixes) -> Iterator[tuple[int, Fixes]]:
    """The rows of each group, in the order in which groups appear."""
    starts = np.flatnonzero(np.diff(fixes.group, prepend=-1))
    labels = fixes.group[starts]
    if len(set(labels.tolist())) == len(labels):
        for label, start, stop in zip(labels, starts, [*starts[1:], len(fixes.group)], strict=True):
            yield int(label), fixes.take(slice(start, stop))
    else:
        for label in dict.fromkeys(labels.tolist()):
            yield label, fixes.take(np.flatnonzero(fixes.group == label))


def joined(parts: Sequence[Fixes], group: str) -> Fixes:
    """Fixes of several files with one animal each, as one group."""
    for name in ("length_unit", "geographic", "timestamps"):
        values = {getattr(part, name) for part in parts}
        if len(values) > 1:
            raise InputError(f"{group}: the files have mixed units: {sorted(map(str, values))}")
    rates = {float(part.fps[0]) for part in parts if part.fps is not None}
    if len(rates) > 1:
        raise InputError(
            f"{group}: the files have different frame rates: {sorted(map(str, rates))}"
        )
    names = [part.animals[0] for part in parts]
    if len(set(names)) < len(names):
        raise InputError(f"{group}: two files have the same animal, {names}")
    return replace(stacked([replace(part, groups=(group,)) for part in parts]), file=group)


def stacked(parts: Sequence[Fixes]) -> Fixes:
    """Fixes of several files, whose groups and animals may be the same."""
    full = [part for part in parts if len(part.x)] or list(parts[:1])
    arrays: dict[str, Any] = {}
    for name in PER_ROW:
        columns = [getattr(part, name) for part in full]
        missing = any(column is None for column in columns)
        arrays[name] = None if missing else np.concatenate(columns)
    for name in ("group", "animal"):
        names = tuple(dict.fromkeys(each for part in full for each in getattr(part, f"{name}s")))
        places = {label: number for number, label in enumerate(names)}
        codes = [np.array([places[each] for each in getattr(p, f"{name}s")]) for p in full]
        parted = [code[getattr(part, name)] for code, part in zip(codes, full, strict=True)]
        arrays |= {name: np.concatenate(parted), f"{name}s": names}
    covariates = {}
    for key in dict.fromkeys(key for part in full for key in part.covariates):
        given = [part.covariates.get(key, np.full(len(part.x), "", object)) for part in full]
        covariates[key] = np.concatenate(given)
    arrays["origin"] = np.repeat(np.arange(len(full)), [len(part.x) for part in full])
    notes = tuple(dict.fromkeys(note for part in full for note in part.notes))
    files = tuple(part.file for part in full)
    return replace(full[0], covariates=covariates, notes=notes, files=files, **arrays)


def without_seams(fixes: Fixes) -> Fixes:
    """Remove fixes that two files share; raise an error if the files disagree on one."""
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


def check_finite(fixes: Fixes) -> None:
    """Raise an error that names a position which is infinite or not on Earth."""
    for name, values in (("x", fixes.x), ("y", fixes.y)):
        if np.isinf(values).any():
            late = int(np.flatnonzero(np.isinf(values))[0])
            raise InputError(
                f"{fixes.place(late)}: {name} is {values[late]}; leave the cell empty where "
                "an animal was not seen"
            )
    if fixes.geographic:
        wrong = (np.abs(fixes.y) > 90) | (np.abs(fixes.x) > 360)
        if wrong.any():
            late = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"{fixes.place(late)}: longitude {fixes.x[late]}, latitude {fixes.y[late]} is not "
                "on Earth"
            )


def check_order(fixes: Fixes, animal: Codes, names: Sequence[str], sort: bool) -> None:
    """Raise an error unless the frames or times of every animal increase from row to row."""
    moment = fixes.frame if fixes.frame is not None else fixes.time
    assert moment is not None
    word = "frame" if fixes.frame is not None else "time"
    if not np.all(np.isfinite(moment)):
        late = int(np.flatnonzero(~np.isfinite(moment))[0])
        raise InputError(f"{fixes.place(late)}: the {word} is empty")
    order = np.lexsort((moment, animal)) if sort else np.argsort(animal, kind="stable")
    step = np.diff(moment[order])
    same = np.diff(animal[order]) == 0
    for wrong, words in ((step < 0, "goes backwards"), (step == 0, "comes twice")):
        found = np.flatnonzero(same & wrong)
        if found.size:
            before, after = int(order[found[0]]), int(order[found[0] + 1])
            name = names[animal[after]]
            advice = "sort the rows by time, or read with sort=True"
            if words == "comes twice":
                advice = "keep one row for each animal and frame"
            raise InputError(
                f"{fixes.place(after)}: {word} {words} for individual {name!r:.60}: "
                f"{moment[after]:.12g} after {moment[before]:.12g} in "
                f"{fixes.row_words(before)}; {advice}"
            )


def disorder(fixes: Fixes, animal: Codes) -> list[str]:
    """A sentence on fixes that a logger wrote in the wrong order."""
    assert fixes.time is not None
    order = np.argsort(animal, kind="stable")
    late = int(((np.diff(fixes.time[order]) < 0) & (np.diff(animal[order]) == 0)).sum())
    return [f"{late} fixes were out of order and were sorted by time"] if late else []


def rate_of(fixes: Fixes) -> float | None:
    """Frames per second, if the rows give them; raise an error if the rows disagree."""
    if fixes.fps is None or not len(fixes.fps):
        return None
    rates = np.unique(fixes.fps[np.isfinite(fixes.fps)])
    if len(rates) > 1:
        raise InputError(f"{fixes.file}: one group has several frame rates, {rates[:3].tolist()}")
    return float(rates[0]) if len(rates) else None


def arena_of_rows(fixes: Fixes) -> Arena | None:
    """The walls, if the rows give them; raise an error if the rows disagree."""
    words = [] if fixes.arena is None else sorted({str(w) for w in fixes.arena if w})
    if len(words) > 1:
        raise InputError(f"{fixes.file}: one group has several arenas, {words[0]} and {words[1]}")
    return arena_of(words[0]) if words else None


def covariates_of_rows(
    fixes: Fixes, animal: Codes, names: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
    """One value for the group, or one for each animal; and notes on covariates that vary."""
    found: dict[str, Any] = {}
    notes = []
    for key, values in fixes.covariates.items():
        kind, _, name = key.partition(":")
        each = [_one_value(values if kind == "group" else values[animal == i]) for i in
                range(1 if kind == "group" else len(names))]  # fmt: skip
        if any(value is VARIES for value in each):
            if name == "role":
                raise InputError(f"{fixes.file}: the role of an animal changes within its track")
            notes.append(f"column {name!r} varies within the track of an animal and was left out")
        elif any(value is not None for value in each):
            found[name] = each[0] if kind == "group" else ["" if v is None else v for v in each]
    return found, notes


def _one_value(values: np.ndarray) -> Any:
    """The one value that is given; None if no value is, VARIES if several are."""
    given = {v for v in values.tolist() if str(v) not in ("", "None", "nan")}
    return VARIES if len(given) > 1 else next(iter(given), None)
