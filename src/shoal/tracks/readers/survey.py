"""What must be known of a large group before it can be cut into runs of frames."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.tracks.arena import Arena
from shoal.tracks.readers.clock import clock_of_frames
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.group_facts import arena_of_rows, rate_of
from shoal.tracks.readers.pieces import Piece
from shoal.tracks.readers.store import OpenTracks


@dataclass(frozen=True)
class Survey:
    """What must be known of a group before it can be cut into runs of frames."""

    names: tuple[str, ...]
    first: int
    last: int
    step: int
    fps: float | None
    roles: tuple[str, ...]
    arena: Arena | None
    length_unit: str


def surveyed(
    store: OpenTracks, label: str, pieces: Sequence[Piece]
) -> tuple[tuple[Piece, ...], Survey]:
    """All individuals of a group, the span and the step of its frames, what rows say of it."""
    roles: dict[str, str] = {}
    frames: list[Any] = []
    times: list[Any] = []
    found = []
    rates, arena, unit = [], None, ""
    for piece in pieces:
        fixes = store.fixes([piece], [label])
        if fixes.frame is None or not len(fixes.frame):
            continue
        numbers, first = np.unique(fixes.frame, return_index=True)
        frames.append(numbers)
        times.append(None if fixes.time is None else fixes.time[first])
        rates.append(rate_of(fixes))
        arena, unit = arena or arena_of_rows(fixes), unit or fixes.length_unit
        for name, role in _roles(fixes).items():
            roles[name] = roles.get(name) or role
        found.append(replace(piece, low=int(numbers[0]), high=int(numbers[-1])))
    whole, order = np.unique(np.concatenate(frames), return_index=True)
    clock = None if times[0] is None else np.concatenate(times)[order]
    fps = store.options.fps or next((rate for rate in rates if rate is not None), None)
    step = int(np.gcd.reduce(np.diff(whole))) if len(whole) > 1 else 1
    names = tuple(sorted(roles))
    return tuple(found), Survey(
        names,
        int(whole[0]),
        int(whole[-1]),
        step,
        clock_of_frames(whole, clock, fps).fps if len(whole) > 1 else fps,
        tuple(roles[name] for name in names),
        arena,
        unit,
    )


def _roles(fixes: Fixes) -> dict[str, str]:
    """The role of each animal, empty where none is given."""
    marks = fixes.covariates.get("animal:role")
    found = {}
    for code in np.unique(fixes.animal):
        given = [] if marks is None else [str(m) for m in marks[fixes.animal == code] if m]
        found[fixes.animals[code]] = given[0] if given else ""
    return found
