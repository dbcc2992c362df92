"""Which part of transitions or decisions is learned from, and which is held out."""

from typing import Any

import numpy as np
from jaxtyping import Int

from shoal.errors import InputError
from shoal.moves import Decisions
from shoal.posterior.scoring import blocks_of
from shoal.states import Transitions
from shoal.tracks.record import warn

Data = Transitions | Decisions
Part = tuple[Any, Any]
"""What to learn from, and what to score: transitions (or several as blocks), or decisions."""


def by_group(held: Transitions) -> list[Transitions]:
    """A block for each group: where groups were held out, it is groups that differ."""
    records = held.records
    if records is None or len(records.groups) < 2:
        return [held]
    return [held.split_groups([label])[0] for label in records.groups]


def group_rows(held: Decisions) -> list[Int[np.ndarray, " rows"]]:
    """The rows of each group's decisions."""
    group = held.records.group
    return [np.flatnonzero(group == number) for number in range(len(held.records.groups))]


def holds_groups_out(split: str) -> bool:
    """Whether whole groups are held out, so that it is groups that are blocks."""
    kind, _, rest = split.partition(":")
    return kind in ("group", "leave-one-group-out") or rest.partition(":")[0] == "group"


def parts_of(transitions: Any, split: Any, seed: int = 0) -> tuple[list[Part], str]:
    """What to learn from and what to score, and that in words."""
    if isinstance(transitions, tuple) and len(transitions) == 2:
        return [_two_parts(*transitions)], "given"
    if not isinstance(transitions, Transitions | Decisions):
        raise InputError(
            "models are compared on what shoal.decisions(…) or count_transitions(…) returns, got "
            f"{type(transitions).__name__}"
        )
    if not isinstance(split, str):
        raise InputError(f"a split is in words, such as time:0.67 or 5-fold:group; got {split!r}")
    kind, _, rest = split.partition(":")
    rest, _, stratify = rest.partition(":")
    strata: dict[str, Any] = {"seed": seed, "stratify": stratify or None}
    how = f"drawn with seed {seed}" + (f", stratified by {stratify}" if stratify else "")
    if stratify and (kind == "time" or (kind.endswith("-fold") and rest in ("", "time"))):
        raise InputError(f"{split!r}: times have no strata: hold out groups or individuals")
    if kind.endswith("-fold") and kind[:-5].isdecimal():
        by: Any = rest or "time"
        if by not in ("time", "group", "individual"):
            raise InputError(f"{split!r}: folds are by time, group or individual")
        if by == "individual":
            _warn_of_company(transitions)
        words = f"each of {kind[:-5]} parts by {by} in turn"
        return transitions.folds(int(kind[:-5]), by, **strata), (
            words if by == "time" else f"{words}, {how}"
        )
    if kind == "leave-one-group-out" and not rest + stratify:
        return transitions.folds(None, "group"), "each group in turn"
    share = _share(rest, split)
    if kind == "time":
        return [transitions.split_time(share)], f"the last {1 - share:.0%} of the frames"
    if kind == "group":
        parts = transitions.split_groups(share, **strata)
        return [parts], _part_words(share, "groups", parts, how)
    if kind == "individual":
        _warn_of_company(transitions)
        parts = transitions.split_individuals(share, **strata)
        return [parts], _part_words(share, "individuals", parts, how)
    raise InputError(
        "a split is time:SHARE, group:SHARE, individual:SHARE, K-fold, K-fold:group, "
        "K-fold:individual or leave-one-group-out, with a covariate to stratify by after "
        f"group:SHARE or K-fold:group, as in group:0.7:sex; got {split!r}"
    )


def _two_parts(seen: Any, held: Any) -> Part:
    """What to learn from and what to score, as they were given."""
    if isinstance(seen, Decisions) and isinstance(held, Decisions):
        if not seen.total or not held.total:
            raise InputError("there are no decisions to learn from, or none to score")
    elif isinstance(seen, Transitions):
        blocks_of(held)
    else:
        raise InputError(
            "two parts are Transitions (or Decisions) to learn from and the same to score"
        )
    return seen, held


def _part_words(share: float, what: str, parts: Part, how: str) -> str:
    """What was held out: 30% of the groups (8 of 26), drawn with seed 1, stratified by sex."""
    seen, held = (len(getattr(part.records, what)) for part in parts)
    name = what.replace("individuals", "animals")
    return f"{1 - share:.0%} of the {name} ({held} of {seen + held}), {how}"


def _warn_of_company(transitions: Data) -> None:
    social = [p.axis.name for p in transitions.space.parts if getattr(p, "social", False)]  # type: ignore[union-attr]
    if social:
        warn(
            f"{', '.join(social)} of an animal says much about its neighbours, which are learned "
            "from: hold out times or groups instead of animals"
        )


def _share(words: str, split: str) -> float:
    if not words:
        return 2 / 3
    top, sign, bottom = words.partition("/")
    try:
        share = float(top) / float(bottom) if sign else float(top)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{split!r}: a share is a number below 1, such as 2/3 or 0.7") from None
    return share
