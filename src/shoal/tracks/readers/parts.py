"""Which group each file of a store holds, where no column says it."""

import re
from itertools import pairwise
from pathlib import Path

from shoal.errors import InputError
from shoal.tracks.readers.long_layout import ROLES, split_unit
from shoal.tracks.readers.pieces import frame_range
from shoal.tracks.readers.store import OpenTracks
from shoal.tracks.record import warn


def labels_of(store: OpenTracks, parts: str | None) -> dict[Path, str]:
    """Of files without a column for the group: by folder, one recording in parts, or each one."""
    if "group" in store.layout:
        return {}
    places = {path: store.origins.get(path, path) for path in store.files}
    keyed = {path: _hive(place) for path, place in places.items()}
    if all(keyed.values()):
        return {path: str(label) for path, label in keyed.items()}
    if len(places) > 1 and (parts or _way(store)) == "time":
        return dict.fromkeys(places, next(iter(places.values())).parent.name)
    names = [place.stem for place in places.values()]
    if len(set(names)) < len(names):
        names = ["/".join(place.with_suffix("").parts[-2:]) for place in places.values()]
    return dict(zip(places, names, strict=True))


def _hive(path: Path) -> str | None:
    """The group that a folder such as ``group=north`` names."""
    for part in reversed(path.parent.parts):
        found = re.fullmatch(r"(\w+)=(.+)", part)
        if found and split_unit(found[1])[0] in ROLES["group"]:
            return found[2]
    return None


def _way(store: OpenTracks) -> str:
    """Whether files are one recording cut in time, or groups of their own."""
    if "frame" not in store.layout:
        return "groups"
    spans, name = [], store.layout["frame"]
    for path in store.files:
        ranges = [frame_range(piece, name) for piece in store.pieces if piece.path == path]
        spans.append((min(low for low, _ in ranges), max(high for _, high in ranges)))
    spans.sort()
    if all(now[0] >= then[1] for then, now in pairwise(spans)):
        warn(
            f"the frames of {len(spans)} files follow each other: taken as one recording cut in "
            "time; parts='groups' takes each as a group"
        )
        return "time"
    first, last = spans[0]
    if all(start <= (first + last) / 2 for start, _ in spans):
        return "groups"
    raise InputError(
        "the frames of the files overlap in part: say parts='time' where they are one recording, "
        "or parts='groups'"
    )
