"""Fixes, one a row, and how they become tracks: the way of every long table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from shoal.errors import InputError
from shoal.tracks.arena import Arena, arena_of
from shoal.tracks.readers.clock import Clock, clock_of_frames, clock_of_times
from shoal.tracks.readers.geography import centre_of, projection_notes, to_metres
from shoal.tracks.readers.source import ReadOptions
from shoal.tracks.record import Tracks, warn

PER_ROW = ("group", "animal", "x", "y", "frame", "time", "heading", "fps", "arena", "row")
Numbers = Float[np.ndarray, " fixes"]
Codes = Int[np.ndarray, " fixes"]


@dataclass(frozen=True, eq=False)
class Fixes:
    """Rows of a long table: who was where when.

    Attributes
    ----------
    group, animal
        Numbers into ``groups`` and ``animals``.
    frame, time
        At least one of them; time in seconds.
    covariates
        By name: for each animal, or with ``per_group`` for each group, one value a row.
    logged
        Whether loggers on the animals wrote the rows: these repeat and swap fixes, which is noted
        and no error, since every fix has its own time.
    fps, arena
        What rows say of their group.
    row, file, first_row
        What rows are called in messages.
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

    def take(self, rows: Any) -> "Fixes":
        """Some of the rows."""
        arrays = {
            name: getattr(self, name)[rows] for name in PER_ROW if getattr(self, name) is not None
        }
        covariates = {name: values[rows] for name, values in self.covariates.items()}
        return replace(self, **arrays, covariates=covariates)

    def row_words(self, index: int) -> str:
        """The number of a row in its file."""
        number = index if self.row is None else int(self.row[index])
        return f"row {number + self.first_row}"

    def place(self, index: int) -> str:
        """What to call a row in a message."""
        return f"{self.file}, {self.row_words(index)}"


def joined(parts: Sequence[Fixes], group: str) -> Fixes:
    """One animal's fixes after the other's, as one group."""
    first = parts[0]
    for name in ("length_unit", "geographic", "timestamps"):
        values = {getattr(part, name) for part in parts}
        if len(values) > 1:
            raise InputError(f"{group}: the files have mixed units: {sorted(map(str, values))}")
    with_frame = all(part.frame is not None for part in parts)
    with_time = all(part.time is not None for part in parts)
    with_heading = all(part.heading is not None for part in parts)
    rates = {float(part.fps[0]) for part in parts if part.fps is not None}
    if len(rates) > 1:
        raise InputError(
            f"{group}: the files have different frame rates: {sorted(map(str, rates))}"
        )
    names = [part.animals[0] for part in parts]
    if len(set(names)) < len(names):
        raise InputError(f"{group}: two files hold the same animal, {names}")
    sizes = [len(part.x) for part in parts]

    def together(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])

    return replace(
        first,
        group=np.zeros(sum(sizes), dtype=int),
        groups=(group,),
        animal=np.repeat(np.arange(len(parts)), sizes),
        animals=tuple(names),
        x=together("x"),
        y=together("y"),
        frame=together("frame") if with_frame else None,
        time=together("time") if with_time else None,
        heading=together("heading") if with_heading else None,
        fps=together("fps") if all(part.fps is not None for part in parts) else None,
        arena=together("arena") if all(part.arena is not None for part in parts) else None,
        row=None,
        covariates=stacked_covariates(parts),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        file=group,
        first_row=1,
    )


def assembled(fixes: Fixes, options: ReadOptions) -> list[Tracks]:
    """One record for each group."""
    if not len(fixes.x):
        raise InputError(f"{fixes.file} holds no fixes")
    check_finite(fixes)
    if fixes.geographic:
        fixes = projected(fixes, options.centre)
    return [one_group(part, fixes.groups[label], options) for label, part in by_group(fixes)]


def by_group(fixes: Fixes) -> Iterator[tuple[int, Fixes]]:
    """Each group's rows, in the order of its first."""
    starts = np.flatnonzero(np.diff(fixes.group, prepend=-1))
    labels = fixes.group[starts]
    if len(set(labels.tolist())) == len(labels):
        for label, start, stop in zip(labels, starts, [*starts[1:], len(fixes.group)], strict=True):
            yield int(label), fixes.take(slice(start, stop))
    else:
        for label in dict.fromkeys(labels.tolist()):
            yield label, fixes.take(np.flatnonzero(fixes.group == label))


def one_group(fixes: Fixes, label: str, options: ReadOptions) -> Tracks:
    """Rows of one group on the grid of its frames and animals."""
    animal, codes = _by_appearance(fixes.animal, len(fixes.animals))
    names = [fixes.animals[code] for code in codes]
    if fixes.timestamps and fixes.logged:
        fixes = replace(fixes, notes=(*fixes.notes, *_disorder(fixes, animal)))
    else:
        check_order(fixes, animal, names, options.sort)
    fps = options.fps or rate_of(fixes)
    if fixes.frame is not None and options.clock is None:
        clock = clock_of_frames(fixes.frame, fixes.time, fps)
    elif fixes.time is not None:
        clock = clock_of_times(fixes.time, animal, options.clock)
        fixes, animal, clock = _one_per_tick(fixes, animal, clock)
        if options.fps is not None:
            times = np.arange(len(clock.time)) / options.fps
            clock = replace(clock, time=times, fps=options.fps)
    else:
        raise InputError(f"{fixes.file}: a clock needs times, and there are only frames")
    frames = len(clock.time)
    if frames < 2:
        raise InputError(f"{fixes.file}: group {label!r} has fewer than two frames")
    cell = clock.frame * len(names) + animal
    positions = np.full((frames * len(names), 2), np.nan)
    positions[cell, 0], positions[cell, 1] = fixes.x, fixes.y
    heading: Any = None
    if fixes.heading is not None and np.isfinite(fixes.heading).any():
        heading = np.full(frames * len(names), np.nan)
        heading[cell] = fixes.heading
        heading = heading.reshape(frames, len(names))
    time, notes = clock.time, [*fixes.notes, *clock.notes]
    if fixes.timestamps and options.fps is None:
        notes.append(f"time 0 is {np.datetime64(round(time[0] * 1e3), 'ms')} UTC")
        time = time - time[0]
    timed = fixes.time is not None or fps is not None
    known, odd = _settled(fixes, animal, names)
    if fixes.logged and len(names) > 1:
        seen = np.isfinite(positions[:, 0]).reshape(frames, -1).sum(axis=1)
        alone = float((seen == 1).sum() / max(1, (seen > 0).sum()))
        if alone > 0.9:
            odd.append(
                f"in {alone:.0%} of the frames with any animal only one is seen: they are hardly "
                "ever seen at the same time, so there are no neighbours to speak of"
            )
            warn(f"{label}: {odd[-1]}")
    return Tracks.from_arrays(
        positions.reshape(frames, len(names), 2),
        fps=clock.fps if timed else None,
        time=time,
        individuals=names,
        group=label,
        length_unit=options.unit or fixes.length_unit,
        heading=heading,
        arena=arena_of_rows(fixes),
        covariates=known,
        source=fixes.file,
        notes=[*notes, *odd],
        centre=fixes.centre,
        time_unit="s" if timed else "frames",
    )


def _by_appearance(codes: Codes, count: int) -> tuple[Codes, Int[np.ndarray, " present"]]:
    """Numbers in the order of their first appearance, and which code each stands for."""
    first = np.full(count, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    rank = np.full(count, -1)
    rank[order] = np.arange(len(order))
    return rank[codes], order


def check_order(fixes: Fixes, animal: Codes, names: Sequence[str], sort: bool) -> None:
    """Every animal's frames or times increase, row after row; anything else is named."""
    moment = fixes.frame if fixes.frame is not None else fixes.time
    assert moment is not None
    word = "frame" if fixes.frame is not None else "time"
    if not np.all(np.isfinite(moment)):
        late = int(np.flatnonzero(~np.isfinite(moment))[0])
        raise InputError(f"{fixes.place(late)}: there is no {word}")
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
                f"{fixes.place(after)}: {word} {words} for individual {name!r}: "
                f"{moment[after]:.12g} after {moment[before]:.12g} in "
                f"{fixes.row_words(before)}; {advice}"
            )


def _disorder(fixes: Fixes, animal: Codes) -> list[str]:
    """How many rows of a logger came late."""
    assert fixes.time is not None
    order = np.argsort(animal, kind="stable")
    late = int(((np.diff(fixes.time[order]) < 0) & (np.diff(animal[order]) == 0)).sum())
    return [f"{late} fixes came out of order and were put into theirs"] if late else []


def projected(fixes: Fixes, centre: tuple[float, float] | None = None) -> Fixes:
    """Longitude and latitude in metres around the centre of all fixes."""
    centre = centre or centre_of(fixes.x, fixes.y)
    east, north = to_metres(fixes.x, fixes.y, centre)
    notes = (*fixes.notes, *projection_notes(east, north, centre))
    return replace(
        fixes, x=east, y=north, geographic=False, logged=True, centre=centre, length_unit="m",
        notes=notes,
    )  # fmt: skip


def check_finite(fixes: Fixes) -> None:
    """Places are finite or missing, and on Earth where they say so."""
    for name, values in (("x", fixes.x), ("y", fixes.y)):
        if np.isinf(values).any():
            late = int(np.flatnonzero(np.isinf(values))[0])
            raise InputError(
                f"{fixes.place(late)}: {name} is {values[late]}; leave a place empty where an "
                "animal was not seen"
            )
    if fixes.geographic:
        wrong = (np.abs(fixes.y) > 90) | (np.abs(fixes.x) > 360)
        if wrong.any():
            late = int(np.flatnonzero(wrong)[0])
            raise InputError(
                f"{fixes.place(late)}: longitude {fixes.x[late]}, latitude {fixes.y[late]} is no "
                "place on Earth"
            )


def _one_per_tick(
    fixes: Fixes, animal: Codes, clock: Clock
) -> tuple[Fixes, Int[np.ndarray, " kept"], Clock]:
    """Where several fixes of an animal share a tick, the nearest stays."""
    assert fixes.time is not None
    off = np.abs(fixes.time - clock.time[clock.frame])
    unseen = np.isnan(fixes.x)  # a row without a place never displaces one with
    order = np.lexsort((off, unseen, animal, clock.frame))
    cell = clock.frame[order] * (int(animal.max()) + 1) + animal[order]
    first = np.concatenate([[True], np.diff(cell) != 0])
    if first.all():
        return fixes, animal, clock
    kept = np.sort(order[first])
    gone = len(order) - len(kept)
    notes = (
        *clock.notes,
        f"{gone} fixes left out: another of the same animal is as near its tick or nearer",
    )
    return (
        fixes.take(kept),
        animal[kept],
        replace(clock, frame=clock.frame[kept], notes=notes),
    )


def rate_of(fixes: Fixes) -> float | None:
    """Frames per second as the rows say, where they agree."""
    if fixes.fps is None or not len(fixes.fps):
        return None
    rates = np.unique(fixes.fps[np.isfinite(fixes.fps)])
    if len(rates) > 1:
        raise InputError(f"{fixes.file}: a group has frame rates {rates[:3].tolist()}")
    return float(rates[0]) if len(rates) else None


def arena_of_rows(fixes: Fixes) -> Arena | None:
    """The walls as the rows say."""
    words = [] if fixes.arena is None else sorted({str(w) for w in fixes.arena if w})
    if len(words) > 1:
        raise InputError(f"{fixes.file}: a group has several arenas, {words[0]} and {words[1]}")
    return arena_of(words[0]) if words else None


def stacked_covariates(parts: Sequence[Fixes]) -> dict[str, np.ndarray]:
    """Rows of covariates one after the other, empty where a part has none."""
    keys = dict.fromkeys(key for part in parts for key in part.covariates)
    return {
        key: np.concatenate(
            [part.covariates.get(key, np.full(len(part.x), "", dtype=object)) for part in parts]
        )
        for key in keys
    }


def _settled(fixes: Fixes, animal: Codes, names: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Covariates: one value for the group, or for each animal; and notes on those that vary."""
    found: dict[str, Any] = {}
    notes = []
    for key, values in fixes.covariates.items():
        kind, _, name = key.partition(":")
        each = [_one_value(values if kind == "group" else values[animal == i]) for i in
                range(1 if kind == "group" else len(names))]  # fmt: skip
        if any(value is VARIES for value in each):
            if name == "role":
                raise InputError(f"{fixes.file}: the role of an animal changes within its track")
            notes.append(f"column {name!r} varies within an animal's track and was left out")
        elif any(value is not None for value in each):
            found[name] = each[0] if kind == "group" else ["" if v is None else v for v in each]
    return found, notes


VARIES = object()


def _one_value(values: np.ndarray) -> Any:
    """The one value that is given, None where there is none."""
    given = {v for v in values.tolist() if str(v) not in ("", "None", "nan")}
    return VARIES if len(given) > 1 else next(iter(given), None)
