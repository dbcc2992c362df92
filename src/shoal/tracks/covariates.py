"""Covariates: facts on animals and groups, such as sex, as coordinates of a dataset."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from shoal.errors import InputError
from shoal.tracks.dataset import DIMENSIONS

LANDMARK = "landmark"
OWN = frozenset({"time", "individuals", "space", "position", "heading", "group", "frame"})
"""Names that covariates cannot have."""


def covariates_of(data: xr.Dataset) -> dict[str, Any]:
    """Each covariate: a value of the group, or a dictionary from animals to values."""
    individuals = [str(name) for name in data["individuals"].values]
    found: dict[str, Any] = {}
    for name, values in data.coords.items():
        if name not in DIMENSIONS:
            plain = values.values.tolist()
            per_animal = values.dims == ("individuals",)
            pairs = zip(individuals, plain, strict=True) if per_animal else ()
            found[str(name)] = dict(pairs) if per_animal else plain
    return found


def coordinates_of(covariates: Mapping[str, Any], individuals: Sequence[str]) -> dict[str, Any]:
    """Covariates as coordinates: one value, or one for each animal."""
    return {name: _coordinate(name, value, individuals) for name, value in covariates.items()}


def _coordinate(name: str, value: Any, individuals: Sequence[str]) -> Any:
    if name in OWN or not name.isidentifier():
        raise InputError(f"a covariate needs a plain name other than {sorted(OWN)}: {name!r}")
    if isinstance(value, Mapping):
        unknown = set(map(str, value)) - set(individuals)
        if unknown:
            raise InputError(f"{name}: no animal is called {sorted(unknown)[0]!r}")
        by_name = {str(animal): item for animal, item in value.items()}
        value = [by_name.get(animal, "") for animal in individuals]
    if not isinstance(value, list | tuple | np.ndarray):
        return value
    if len(value) != len(individuals):
        raise InputError(f"{name} has {len(value)} values for {len(individuals)} animals")
    return ("individuals", np.asarray(value))


def members_of(data: xr.Dataset) -> tuple[str, ...]:
    """The names of all animals, without landmarks."""
    individuals = tuple(str(name) for name in data["individuals"].values)
    if "role" not in data.coords:
        return individuals
    roles = np.broadcast_to(data["role"].values, len(individuals))
    pairs = zip(individuals, roles, strict=True)
    return tuple(n for n, role in pairs if str(role).strip().lower() != LANDMARK)
