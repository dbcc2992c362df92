"""Datasets of tracks split in two: one part to fit a model, the other to test it."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Bool, Int

from shoal.errors import InputError, checked_seed
from shoal.tracks.covariates import covariates_of, members_of
from shoal.tracks.dataset import individuals_of, noted, positions_of

Animal = tuple[str, str]
Strata = Int[np.ndarray, " labels"] | None
"""The stratum of each label, or None for one stratum."""


def split_time(data: xr.Dataset, share: Any) -> tuple[xr.Dataset, xr.Dataset]:
    """The first frames and the last; each part has two or more."""
    total = len(positions_of(data))
    part = checked_share(share)
    cut = int(part * total)
    if min(cut, total - cut) < 2:
        raise InputError(
            f"each part needs 2 frames or more; a share of {part:g} cuts the {total} frames of "
            f"group {data.attrs['group']!r} into {cut} and {total - cut}: choose another share"
        )
    return (
        noted(data.isel(time=slice(None, cut)), f"the first {cut} of {total} frames"),
        noted(data.isel(time=slice(cut, None)), f"the last {total - cut} of {total} frames"),
    )


def drawn_groups(
    groups: Sequence[xr.Dataset], which: Any, seed: Any = 0, stratify: str | None = None
) -> Bool[np.ndarray, " groups"]:
    """Whether each group is in the first part: by its label, or at random by a share."""
    strata = None
    if stratify is not None:
        strata = strata_of(stratify, [group_facts(data) for data in groups], "group")
    return chosen_groups(which, [data.attrs["group"] for data in groups], seed, strata)


def split_animals(
    groups: Sequence[xr.Dataset], which: Any, seed: Any = 0
) -> tuple[list[xr.Dataset], list[xr.Dataset]]:
    """Some members of each group, and the others; a part leaves out groups without members."""
    rng = np.random.default_rng(checked_seed(seed))
    animals = [(data.attrs["group"], name) for data in groups for name in members_of(data)]
    if isinstance(which, Real):
        chosen = {who for data in groups for who in _drawn_members(data, which, rng)}
    else:
        _refuse_landmarks(which, groups, {name for _, name in animals})
        mask = named_animals(which, animals)
        chosen = {who for who, here in zip(animals, mask, strict=True) if here}
    parts = [
        [_with_members(data, side) for data in groups] for side in (chosen, {*animals} - chosen)
    ]
    first, rest = ([data for data in part if data is not None] for part in parts)
    return first, rest


def _drawn_members(data: xr.Dataset, share: Any, rng: np.random.Generator) -> list[Animal]:
    """A share of the members of one group, drawn at random."""
    names, group = members_of(data), data.attrs["group"]
    if len(names) < 2:
        raise InputError(
            f"group {group!r} has {len(names)} member, and a share of members needs two: "
            "split by time or by groups instead"
        )
    mask = drawn(checked_share(share), len(names), rng)
    return [(group, name) for name, here in zip(names, mask, strict=True) if here]


def _with_members(data: xr.Dataset, kept: set[Animal]) -> xr.Dataset | None:
    """The group with only these members and its landmarks; None if no member is left."""
    names = members_of(data)
    members = [name for name in names if (data.attrs["group"], name) in kept]
    if not members:
        return None
    gone = set(names) - set(members)
    places = [place for place, name in enumerate(individuals_of(data)) if name not in gone]
    return noted(
        data.isel(individuals=places),
        f"{len(members)} of {len(names)} animals ({listed(members)}); the others are not seen as "
        "neighbours",
    )


def _refuse_landmarks(which: Any, groups: Sequence[xr.Dataset], members: set[str]) -> None:
    """Raise an error if one of these labels names a landmark."""
    marks = {name for data in groups for name in individuals_of(data)} - members
    for name in _labels(which):
        if isinstance(name, str) and name in marks:
            raise InputError(f"{name!r} is a landmark, and stays in both parts: name members only")


def chosen_groups(
    which: Any, labels: Sequence[str], seed: Any = 0, strata: Strata = None
) -> Bool[np.ndarray, " labels"]:
    """Whether each group is chosen: by its label, or at random if ``which`` is a share."""
    rng = np.random.default_rng(checked_seed(seed))
    if isinstance(which, Real):
        return drawn(checked_share(which), len(labels), rng, "groups", strata)
    wanted = {str(label) for label in _labels(which)}
    _check_known(wanted - set(labels), labels, "group")
    return _both_sides(np.array([label in wanted for label in labels], dtype=bool), "groups")


def chosen_animals(
    which: Any, animals: Sequence[Animal], seed: Any = 0, strata: Strata = None
) -> Bool[np.ndarray, " animals"]:
    """Whether each animal is chosen: by its name, or at random if ``which`` is a share."""
    rng = np.random.default_rng(checked_seed(seed))
    if isinstance(which, Real):
        return drawn(checked_share(which), len(animals), rng, "animals", strata)
    return named_animals(which, animals)


def named_animals(which: Any, animals: Sequence[Animal]) -> Bool[np.ndarray, " animals"]:
    """Whether each animal is named: by its name in every group, or as (group, name)."""
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
    """Whether each label is drawn: at random, about the same share of each stratum."""
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


def group_facts(data: xr.Dataset) -> dict[str, Any]:
    """The covariates of a group and its members, without those of landmarks."""
    members = set(members_of(data))
    return {
        name: {who: each for who, each in value.items() if who in members}
        if isinstance(value, dict)
        else value
        for name, value in covariates_of(data).items()
    }


def strata_of(
    name: str, facts: Sequence[Mapping[str, Any]], what: str, animals: Sequence[str] = ()
) -> Int[np.ndarray, " labels"]:
    """The stratum of each group or animal, by a covariate.

    A group whose members differ is in a stratum named by all their values together.
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
            f"every {what} has another value of {name!r}, so there is nothing to stratify: name a "
            f"covariate that several {what}s share"
        )
    return np.asarray(code)


def number_of(share: float, total: int, what: str) -> int:
    """The number of labels in a share, with at least one in each part."""
    if total < 2:
        raise InputError(f"a split by {what} needs two or more, there is {total}: split by time")
    return max(1, min(total - 1, round(share * total)))


def checked_share(share: Any) -> float:
    """A share as a float; raise an error unless it lies between 0 and 1."""
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < float(share) < 1:
        raise InputError(f"a share lies between 0 and 1, such as 2/3; got {share!r}")
    return float(share)


def listed(names: Sequence[Any], most: int = 12) -> str:
    """The first names, separated by commas."""
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
