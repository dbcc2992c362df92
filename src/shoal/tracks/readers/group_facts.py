"""What the rows of a group say of it as a whole: its frame rate, its walls, its covariates."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.tracks.arena import Arena, arena_of
from shoal.tracks.readers.fixes import Codes, Fixes

VARIES = object()


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


def covariates_of_rows(
    fixes: Fixes, animal: Codes, names: Sequence[str]
) -> tuple[dict[str, Any], list[str]]:
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


def _one_value(values: np.ndarray) -> Any:
    """The one value that is given, None where there is none."""
    given = {v for v in values.tolist() if str(v) not in ("", "None", "nan")}
    return VARIES if len(given) > 1 else next(iter(given), None)
