"""Tracks in two parts, to learn from one and to be judged on the other."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from shoal.errors import InputError, checked_seed
from shoal.tracks.collection import Collection
from shoal.tracks.record import Tracks

Animal = tuple[str, str]
Strata = Int[np.ndarray, " labels"] | None
"""The number of the stratum of each, or None for one stratum."""


def split_time(tracks: Tracks, share: Any) -> tuple[Tracks, Tracks]:
    """The first frames and the last; two at least in each."""
    total = len(tracks.positions)
    part = checked_share(share)
    cut = int(part * total)
    if min(cut, total - cut) < 2:
        raise InputError(
            f"a part of tracks has 2 frames or more; a share of {part:g} cuts the {total} frames "
            f"of group {tracks.group!r} into {cut} and {total - cut}: choose another share"
        )
    first = Tracks(tracks.data.isel(time=slice(None, cut)))
    rest = Tracks(tracks.data.isel(time=slice(cut, None)))
    return (
        first.noted(f"the first {cut} of {total} frames"),
        rest.noted(f"the last {total - cut} of {total} frames"),
    )


def split_individuals(tracks: Tracks, which: Any, seed: Any = 0) -> tuple[Tracks, Tracks]:
    """Some of the members and the others; landmarks are in both parts."""
    first, rest = split_animals(Collection([tracks]), which, seed)
    return first[0], rest[0]


def split_groups(
    collection: Collection, which: Any, seed: Any = 0, stratify: str | None = None
) -> tuple[Collection, Collection]:
    """Whole groups: a share of them, drawn at random, or those with these labels; the others."""
    strata = None
    if stratify is not None:
        strata = strata_of(stratify, [group_facts(part) for part in collection], "group")
    first = chosen_groups(which, collection.groups, seed, strata)
    return (
        Collection(part for part, here in zip(collection, first, strict=True) if here),
        Collection(part for part, here in zip(collection, first, strict=True) if not here),
    )


def split_animals(
    collection: Collection, which: Any, seed: Any = 0
) -> tuple[Collection, Collection]:
    """Some of each group's members and the others; a group without any is left out of a part."""
    rng = np.random.default_rng(checked_seed(seed))
    animals = [(part.group, name) for part in collection for name in part.members]
    if isinstance(which, Real):
        chosen = {who for part in collection for who in _drawn_here(part, which, rng)}
    else:
        _refuse_landmarks(which, collection, {name for _, name in animals})
        mask = named_animals(which, animals)
        chosen = {who for who, here in zip(animals, mask, strict=True) if here}
    sides = (chosen, set(animals) - chosen)
    first, rest = ([_with_members(part, side) for part in collection] for side in sides)
    return Collection(filter(None, first)), Collection(filter(None, rest))


def _drawn_here(tracks: Tracks, share: Any, rng: np.random.Generator) -> list[Animal]:
    names = tracks.members
    if len(names) < 2:
        raise InputError(
            f"group {tracks.group!r} has {len(names)} member, and a share of members needs two: "
            "split by time or by groups instead"
        )
    mask = drawn(checked_share(share), len(names), rng)
    return [(tracks.group, name) for name, here in zip(names, mask, strict=True) if here]


def _with_members(tracks: Tracks, kept: set[Animal]) -> Tracks | None:
    """Only these members, and the landmarks; None without a member."""
    members = [name for name in tracks.members if (tracks.group, name) in kept]
    if not members:
        return None
    gone = set(tracks.members) - set(members)
    places = [place for place, name in enumerate(tracks.individuals) if name not in gone]
    part = Tracks(tracks.data.isel(individuals=places))
    return part.noted(
        f"{len(members)} of {len(tracks.members)} animals ({listed(members)}); the others are not "
        "seen as neighbours"
    )


def _refuse_landmarks(which: Any, collection: Collection, members: set[str]) -> None:
    marks = {name for part in collection for name in part.individuals} - members
    for name in _labels(which):
        if isinstance(name, str) and name in marks:
            raise InputError(f"{name!r} is a landmark, and stays in both parts: name members only")


def chosen_groups(
    which: Any, labels: Sequence[str], seed: Any = 0, strata: Strata = None
) -> Bool[np.ndarray, " labels"]:
    """The groups that a share or a list of labels means: of a share some drawn at random."""
    rng = np.random.default_rng(checked_seed(seed))
    if isinstance(which, Real):
        return drawn(checked_share(which), len(labels), rng, "groups", strata)
    wanted = {str(label) for label in _labels(which)}
    _check_known(wanted - set(labels), labels, "group")
    return _both_sides(np.array([label in wanted for label in labels], dtype=bool), "groups")


def chosen_animals(
    which: Any, animals: Sequence[Animal], seed: Any = 0, strata: Strata = None
) -> Bool[np.ndarray, " animals"]:
    """The animals that a share or a list of names means: of a share some drawn at random."""
    rng = np.random.default_rng(checked_seed(seed))
    if isinstance(which, Real):
        return drawn(checked_share(which), len(animals), rng, "animals", strata)
    return named_animals(which, animals)


def named_animals(which: Any, animals: Sequence[Animal]) -> Bool[np.ndarray, " animals"]:
    """By name in every group, or as (group, name)."""
    wanted = {
        tuple(map(str, label)) if isinstance(label, tuple) else str(label)
        for label in _labels(which)
    }
    names = [name for _, name in animals]
    _check_known(wanted - set(animals) - set(names), names, "animal")
    mask = np.array([who in wanted or who[1] in wanted for who in animals], dtype=bool)
    return _both_sides(mask, "animals")


def drawn(
    share: float,
    total: int,
    rng: np.random.Generator,
    what: str = "animals",
    strata: Strata = None,
) -> Bool[np.ndarray, " total"]:
    """A share of them, drawn at random: the same share of each stratum, up to one of them."""
    number = number_of(share, total, what)
    code = np.zeros(total, dtype=int) if strata is None else strata
    order = rng.permutation(total)
    sizes = np.bincount(code)
    take, left = np.divmod(number * sizes, total)
    largest = np.lexsort((rng.permutation(len(sizes)), -left))  # the rest by largest remainder
    take[largest[: number - take.sum()]] += 1
    mask = np.zeros(total, dtype=bool)
    for stratum, here in enumerate(take):
        mask[order[code[order] == stratum][:here]] = True
    return mask


def group_facts(tracks: Tracks) -> dict[str, Any]:
    """What is known of a group and its members, landmarks left out."""
    members = set(tracks.members)
    return {
        name: {who: each for who, each in value.items() if who in members}
        if isinstance(value, dict)
        else value
        for name, value in tracks.covariates.items()
    }


def strata_of(
    name: str, facts: Sequence[Mapping[str, Any]], what: str, animals: Sequence[str] = ()
) -> Int[np.ndarray, " labels"]:
    """The number of each group's or animal's stratum, by a covariate.

    A group whose members differ is in the stratum of all their values together.
    """
    if all(name not in known for known in facts):
        there = listed(sorted({key for known in facts for key in known})) or "none"
        raise InputError(
            f"no {what} has a covariate called {name!r}; there is {there}: name one of them, or "
            "split without strata"
        )
    words = []
    for place, known in enumerate(facts):
        value = known.get(name, "")
        if isinstance(value, dict) and animals:
            value = value.get(animals[place], "")
        several = sorted({str(each) for each in value.values()}) if isinstance(value, dict) else ()
        words.append(" + ".join(several) or str(value))
    found, code = np.unique(np.array(words), return_inverse=True)
    if len(found) == len(words) > 1:
        raise InputError(
            f"every {what} has a {name!r} of its own, so that there is nothing to stratify: name a "
            f"covariate that several {what}s share"
        )
    return np.asarray(code)


def number_of(share: float, total: int, what: str) -> int:
    """How many of a total a share is, with at least one on either side."""
    if total < 2:
        raise InputError(f"a split by {what} needs two or more, there is {total}: split by time")
    return max(1, min(total - 1, round(share * total)))


def checked_share(share: Any) -> float:
    """A share of the whole: more than nothing and less than all."""
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < float(share) < 1:
        raise InputError(f"a share lies between 0 and 1, such as 2/3; got {share!r}")
    return float(share)


def listed(names: Sequence[Any], most: int = 12) -> str:
    """Names in a row, not too many of them."""
    return ", ".join(map(str, names[:most])) + (" …" if len(names) > most else "")


def _labels(which: Any) -> list[Any]:
    if isinstance(which, str):
        return [which]
    if not hasattr(which, "__iter__"):
        raise InputError(f"expected a share between 0 and 1 or a list of labels, got {which!r}")
    return list(which)


def _check_known(unknown: set[Any], labels: Sequence[str], what: str) -> None:
    for label in sorted(unknown, key=str):
        known = listed(list(dict.fromkeys(labels)))
        raise InputError(f"no {what} is called {label!r}; there are {known}")


def _both_sides(mask: Bool[np.ndarray, " labels"], what: str) -> Bool[np.ndarray, " labels"]:
    if mask.all():
        raise InputError(f"all {what} are named, and none is left for the other part: name fewer")
    if not mask.any():
        raise InputError(f"no {what} are named, and the first part would be empty: name some")
    return mask
