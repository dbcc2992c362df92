"""Which transitions go to which part: earlier and later, groups, animals, blocks and folds."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from shoal.errors import InputError, checked_seed
from shoal.states.records import Records
from shoal.tracks.splitting import (
    Strata,
    checked_share,
    chosen_animals,
    chosen_groups,
    strata_of,
)

Mask = Bool[np.ndarray, " transitions"]
BLOCKS = 20
"""About as many blocks, where groups are few."""
LAGS_PER_BLOCK = 5
"""A block is as long, at the least: what happens across its ends is then a small part of it."""
ENOUGH_GROUPS = 10
"""As many groups are blocks themselves."""


def by_time(records: Records, lag: int, share: Any) -> tuple[Mask, Mask]:
    """Both states among the first frames of the group, and the first state after them."""
    first, last = records.spans()
    frames = last + lag - first + 1
    part = checked_share(share)
    cut = (first + (part * frames).astype(int))[records.group]
    earlier, later = records.frame < cut - lag, records.frame >= cut
    for mask, name in ((earlier, "earlier"), (later, "later")):
        if not mask.any():
            raise InputError(
                f"a share of {part:g} of at most {frames.max()} frames, at a lag of {lag}, leaves "
                f"the {name} part without transitions: choose another share"
            )
    return earlier, later


def by_groups(
    records: Records, which: Any, seed: Any = 0, stratify: str | None = None
) -> tuple[Mask, Mask]:
    """Of these groups, and of the others."""
    strata = _strata(records, "group", stratify)
    first = chosen_groups(which, records.groups, seed, strata)[records.group]
    return first, ~first


def by_individuals(
    records: Records, which: Any, seed: Any, stratify: str | None = None
) -> tuple[Mask, Mask]:
    """Of these animals, and of the others."""
    strata = _strata(records, "individual", stratify)
    first = chosen_animals(which, records.individuals, seed, strata)[records.individual]
    return first, ~first


def _strata(records: Records, by: str, name: str | None) -> Strata:
    """Of the groups or the animals, by a covariate; None without one."""
    if name is None:
        return None
    if by == "group":
        return strata_of(name, [records.facts.get(g, {}) for g in records.groups], "group")
    facts = [records.facts.get(group, {}) for group, _ in records.individuals]
    return strata_of(name, facts, "animal", [who for _, who in records.individuals])


def block_of(records: Records, lag: int, count: Any) -> Int[np.ndarray, " transitions"]:
    """The number of each transition's block, which is several lags long."""
    wanted = BLOCKS if count is None else _checked_number(count, "blocks")
    if len(records.groups) >= ENOUGH_GROUPS:
        return records.group
    first, last = records.spans()
    frames = last - first + 1
    cuts = np.rint(wanted * frames / frames.sum()).astype(int)
    cuts = np.maximum(2, np.minimum(cuts, frames // (LAGS_PER_BLOCK * lag)))
    return (np.cumsum(cuts) - cuts)[records.group] + _run_of(records, cuts)


def folds_of(
    records: Records, lag: int, k: Any, by: Any, seed: Any, stratify: str | None = None
) -> list[tuple[Mask, Mask]]:
    """Training and held out, fold by fold; every transition is held out once."""
    if by == "time":
        return _folds_in_time(records, lag, _checked_number(k, "folds"))
    if by not in ("group", "individual"):
        raise InputError(f"folds are by 'time', 'group' or 'individual'; got {by!r}")
    number = records.group if by == "group" else records.individual
    total = len(records.groups if by == "group" else records.individuals)
    count = total if k is None else _checked_number(k, "folds")
    if count > total or total < 2:
        advice = f"ask for {total} or fewer" if total > 1 else "take folds by time"
        raise InputError(
            f"folds by {by} need two {by}s or more and one for each fold; {count} folds of {total} "
            f"{by}s leave fold {min(count, total + 1)} without transitions: {advice}"
        )
    dealt = np.empty(total, dtype=int)
    order = np.random.default_rng(checked_seed(seed)).permutation(total)
    strata = _strata(records, by, stratify)
    if strata is not None:  # one stratum after the other, so that every fold has its share of each
        order = order[np.argsort(strata[order], kind="stable")]
    dealt[order] = np.arange(total) % count
    fold = dealt[number]
    return [(fold != i, fold == i) for i in range(count)]


def _folds_in_time(records: Records, lag: int, k: int) -> list[tuple[Mask, Mask]]:
    first, last = records.spans()
    frames = last - first + 1
    run = _run_of(records, np.full(len(frames), k))
    found = []
    for fold in range(k):
        start, stop = (first - (-i * frames // k) for i in (fold, fold + 1))  # rounded up
        before = records.frame < (start - lag)[records.group]
        after = (records.frame >= stop[records.group]) | (start == stop)[records.group]
        training, held_out = before | after, run == fold
        for mask, words in ((held_out, "holds out none"), (training, "leaves none to train on")):
            if not mask.any():
                raise InputError(
                    f"fold {fold + 1} of {k} by time {words} of {len(records)} transitions in at "
                    f"most {frames.max()} frames at a lag of {lag}: choose another number of folds"
                )
        found.append((training, held_out))
    return found


def _run_of(records: Records, cuts: Int[np.ndarray, " groups"]) -> Int[np.ndarray, " transitions"]:
    """Each group's frames of origins in equal runs, as many as are wanted of that group."""
    first, last = records.spans()
    since = records.frame - first[records.group]
    return since * cuts[records.group] // (last - first + 1)[records.group]


def _checked_number(number: Any, what: str) -> int:
    if isinstance(number, bool) or not hasattr(number, "__index__") or number < 2:
        raise InputError(f"{what} are a whole number, 2 or more; got {number!r}")
    return int(number)
