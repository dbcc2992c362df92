"""Fixes of several files, put together as those of one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.tracks.readers.fixes import Fixes


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


def stacked_covariates(parts: Sequence[Fixes]) -> dict[str, np.ndarray]:
    """Rows of covariates one after the other, empty where a part has none."""
    keys = dict.fromkeys(key for part in parts for key in part.covariates)
    return {
        key: np.concatenate(
            [part.covariates.get(key, np.full(len(part.x), "", dtype=object)) for part in parts]
        )
        for key in keys
    }
