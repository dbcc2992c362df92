"""Fixes of several files, put together as those of one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Int

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


def stacked(parts: Sequence[Fixes]) -> Fixes:
    """Rows of several files, with one numbering of groups and animals."""
    full = [part for part in parts if len(part.x)] or list(parts[:1])
    groups = tuple(dict.fromkeys(name for part in full for name in part.groups))
    animals = tuple(dict.fromkeys(name for part in full for name in part.animals))

    def numbered(name: str, names: tuple[str, ...]) -> Int[np.ndarray, " fixes"]:
        places = {label: number for number, label in enumerate(names)}
        return np.concatenate(
            [
                np.array([places[label] for label in getattr(part, f"{name}s")])[
                    getattr(part, name)
                ]
                for part in full
            ]
        )

    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in full])
        for name in ("x", "y", "frame", "time", "heading", "fps", "arena")
        if all(getattr(part, name) is not None for part in full)
    }
    notes = tuple(dict.fromkeys(note for part in full for note in part.notes))
    return replace(
        full[0],
        group=numbered("group", groups),
        groups=groups,
        animal=numbered("animal", animals),
        animals=animals,
        covariates=stacked_covariates(full),
        notes=notes,
        row=None,
        **arrays,
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


def without_seams(fixes: Fixes) -> Fixes:
    """Rows that two files share, once; where they differ, an error."""
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
