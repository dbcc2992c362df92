"""TRex: one .npz or CSV file for each animal, with inf where it was not seen."""

import re
import zipfile
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.system.quarantine import refuse_promises
from shoal.tracks.confidence import without_doubtful
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.pickles import array_of
from shoal.tracks.readers.source import ReadOptions, Source, listed, named
from shoal.tracks.readers.table_files import column, csv_table, unique_names

CENTROID = ("X#wcentroid", "Y#wcentroid")
HEAD = ("X", "Y")
ANIMAL = re.compile(r"(.+)_((?:fish|id|individual)\d+)$")


def declines_npz(source: Source) -> str | None:
    """Why the file is not an .npz of TRex; None if it is."""
    if source.kind != "npz":
        return "not an .npz archive"
    return (
        None
        if {"frame", *HEAD} <= source.keys or {"frame", *CENTROID} <= source.keys
        else ("no arrays 'frame' and 'X', 'Y' in it")
    )


def read_npz(source: Source, options: ReadOptions) -> Fixes:
    """The fixes of one animal: of its centroid, or of its head with ``keypoint="head"``."""
    x, y = _names(source.keys, options, source)
    with named(source.path), zipfile.ZipFile(source.path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
        refuse_promises(source.path, unpacked, source.path.stat().st_size)
        found = {name: _member(archive, name) for name in ("frame", x, y)}
        extra = {name: _member(archive, name) for name in _EXTRA if name in source.keys}
    notes = []
    if "cm_per_pixel" in extra and float(extra["cm_per_pixel"].ravel()[0]) == 1.0:
        notes.append("cm_per_pixel is 1: the video was not calibrated, so 1 cm is 1 pixel")
    return _one(source, options, (found["frame"], found[x], found[y]), extra, notes)


def _member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """An array of numbers in an archive; a pickle in it is refused and not read."""
    return array_of(archive.read(f"{name}.npy"), f"{archive.filename}, {name}")


def declines_csv(source: Source) -> str | None:
    """Why the file is not a CSV of TRex; None if it is."""
    names = {_plain(name) for name in source.header}
    if source.kind != "text" or "frame" not in names:
        return "no text table with a column 'frame'"
    marks = ("#wcentroid", "#pcentroid", "num_pixels")
    return (
        None
        if any(mark in name for name in names for mark in marks)
        else ("no columns named as TRex names them, such as 'X#wcentroid (cm)'")
    )


def read_csv(source: Source, options: ReadOptions) -> Fixes:
    """The fixes of one animal, from columns with units in the header."""
    header = unique_names(source.header)
    plain = {_plain(name): name for name in reversed(header) if not re.search(r"#\d+$", name)}
    x, y = _names(list(plain), options, source)
    wanted = {name: plain[name] for name in ("frame", x, y, *_EXTRA) if name in plain}
    rows = csv_table(source, list(dict.fromkeys(wanted.values())))
    values = {name: column(rows, spelled) for name, spelled in wanted.items()}
    extra = {name: values[name] for name in _EXTRA if name in values}
    return _one(source, options, (values["frame"], values[x], values[y]), extra, [])


_EXTRA = ("time", "missing", "ANGLE", "cm_per_pixel", "detection_p")


def _plain(name: str) -> str:
    return re.sub(r"\s*\(.*\)$", "", name.strip())


def _names(names: Any, options: ReadOptions, source: Source) -> tuple[str, str]:
    if options.keypoint not in (None, "centroid", "head"):
        raise InputError(f"TRex has the keypoints centroid and head, not {options.keypoint!r}")
    for pair in (HEAD,) if options.keypoint == "head" else (CENTROID, HEAD):
        if set(pair) <= set(names):
            return pair
        if len(set(pair) & set(names)) == 1:
            there = next(iter(set(pair) & set(names)))
            gone = next(iter(set(pair) - set(names)))
            raise InputError(
                f"{source.path}: there is no column {gone!r} beside {there!r} (columns found: "
                f"{listed(source.header or sorted(names))}): export both from TRex"
            )
    raise InputError(f"{source.path}: there are no columns 'X' and 'Y'")


def _one(
    source: Source,
    options: ReadOptions,
    columns: tuple[Any, Any, Any],
    extra: dict[str, Any],
    notes: list[str],
) -> Fixes:
    frame, x, y = columns
    sizes = {len(np.ravel(part)) for part in columns}
    if len(sizes) > 1:
        raise InputError(f"{source.path}: frame, X and Y have different lengths {sorted(sizes)}")
    given = np.stack([np.ravel(x), np.ravel(y)], axis=1).astype(float)
    given[~np.isfinite(given).all(axis=1)] = np.nan
    missing = _per_frame(extra, "missing", len(given))
    kept, words = without_doubtful(
        given,
        _per_frame(extra, "detection_p", len(given)),
        None if missing is None else np.nan_to_num(missing, posinf=1.0) > 0,
        file=source.path,
        how="were interpolated by TRex while the animal was missing",
        confidence=options.confidence,
        drop_estimated=missing is not None or options.drop_estimated,  # lines, as of fill_gaps()
    )
    notes, places = [*notes, *words], kept.T
    lost = np.isnan(places[0])
    numbers = np.ravel(frame).astype(float)
    if not np.all(np.isfinite(numbers)):
        raise InputError(f"{source.path}: a frame number is missing")
    time = extra.get("time")
    name = ANIMAL.match(source.path.stem)
    count = len(lost)
    heading = None
    if "ANGLE" in extra:  # radians in the image
        angle = np.ravel(extra["ANGLE"]).astype(float)
        known = np.isfinite(angle) & ~lost
        turned = np.mod(np.rad2deg(np.where(known, angle, 0.0)) + 180.0, 360.0) - 180.0
        heading = np.where(known, turned, np.nan)
    return Fixes(
        group=np.zeros(count, dtype=int),
        groups=(name[1] if name else source.path.stem,),
        animal=np.zeros(count, dtype=int),
        animals=(name[2] if name else source.path.stem,),
        x=places[0],
        y=places[1],
        frame=numbers.astype(int),
        time=None
        if time is None or not np.all(np.isfinite(time))
        else np.ravel(time).astype(float),
        heading=heading,
        length_unit="cm",
        row=np.arange(count),
        notes=tuple(notes),
        file=str(source.path),
    )


def _per_frame(extra: dict[str, Any], name: str, frames: int) -> np.ndarray | None:
    """A field with one number for each frame; None if the file does not have it."""
    values = np.ravel(np.asarray(extra.get(name, ()), dtype=float))
    return values if len(values) == frames else None
