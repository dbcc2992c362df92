"""Fits from disk, checked: a file may hold anything."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import xarray as xr

from shoal.errors import InputError
from shoal.moves import Turns
from shoal.passive import MatrixDynamics, PassiveOperator, SparseDynamics
from shoal.posterior.decision_fit import DecisionFit
from shoal.posterior.fit import SAMPLING, Fit
from shoal.posterior.model import Model
from shoal.posterior.saving import FORMAT
from shoal.posterior.specification import restored
from shoal.states import StateSpace
from shoal.system.quarantine import check_hdf5

NEEDED = ("posterior", "observed_data", "sample_stats", "transitions")


def load_fit(path: str | Path) -> Fit:
    """A fit that ``Fit.save`` or ``shoal fit`` wrote, as it was.

    Parameters
    ----------
    path
        The netCDF file. Nothing in it is executed.

    Returns
    -------
    Fit
        With its model, draws, settings and versions.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import shoal
    >>> space = shoal.StateSpace.discrete(3)
    >>> counts = shoal.count_transitions([[0, 1, 1, 2, 1, 1, 0, 1] * 10], space)
    >>> fit = shoal.Model(space, shoal.Uniform()).fit(counts, method="map")
    >>> place = fit.save(pathlib.Path(tempfile.mkdtemp()) / "fit.nc")
    >>> bool((shoal.load_fit(place).cost_to_go == fit.cost_to_go).all())
    True
    """
    place = Path(path)
    if not place.is_file():
        raise InputError(f"{place} is not a file: give a fit written by fit.save, such as fit.nc")
    try:
        check_hdf5(place)
        with xr.open_datatree(place, engine="h5netcdf") as opened:
            tree = opened.load()
    except Exception as error:
        raise InputError(
            f"{place} could not be read as a fit: it is damaged or not a netCDF file "
            f"({_first_line(error).removeprefix(f'{place} ')})"
        ) from error
    if tree.attrs.get("shoal_format") != FORMAT:
        raise InputError(
            f"{place} is netCDF but not a fit of this kind: expected shoal_format {FORMAT!r}, "
            f"found {tree.attrs.get('shoal_format')!r}"
        )
    missing = [name for name in NEEDED if name not in tree.children]
    if missing:
        raise InputError(f"{place} is not a whole fit: it lacks {', '.join(missing)}")
    try:
        model = _restored_model(tree)
        _check_contents(tree, model)
        kind = DecisionFit if isinstance(model.passive, Turns) else Fit
        fit = kind(model, _without_storage(tree))
        _ = fit.headings  # a file may hold anything
        return fit
    except InputError as error:
        raise InputError(f"{place}: {error}") from error
    except Warning:
        raise
    except Exception as error:
        words = f"{place} has a damaged description of its model: {_first_line(error)}"
        raise InputError(words) from error


def _restored_model(tree: xr.DataTree) -> Model:
    description = json.loads(tree.attrs["model"])
    space = StateSpace(*(restored(axis) for axis in description["axes"]))
    shape = tree["observed_data"]["arrivals"].shape
    if shape != space.shape:
        raise InputError(f"arrivals of shape {shape} do not fit states of shape {space.shape}")
    return Model(
        space=space,
        passive=_restored_passive(description["passive"], tree, space),
        basis=restored(description["basis"]),
        discount=description["discount"],
        prior=restored(description["prior"]),
        state_costs=bool(description.get("state_costs", False)),
    )


def _check_contents(tree: xr.DataTree, model: Model) -> None:
    """What every later step takes for granted of a fit."""
    names = model.space.names
    wanted: dict[str, dict[str, tuple[str, ...]]] = {
        "posterior": {"cost_to_go": (*SAMPLING, *names)},
        "observed_data": {"arrivals": names, "departures": names},
        "sample_stats": {"log_posterior": SAMPLING},
        "transitions": dict.fromkeys(("origin", "destination", "count"), ("pair",)),
    }
    if tree.attrs["method"] == "nuts":
        kept = ("diverging", "energy", "reached_max_tree_depth")
        wanted["sample_stats"] |= dict.fromkeys(kept, SAMPLING)
        wanted["convergence"] = dict.fromkeys(("r_hat", "ess_bulk", "ess_tail"), names)
    elif "converged" not in json.loads(tree.attrs["facts"]):
        raise InputError("the fit does not say whether it converged")
    for group, variables in wanted.items():
        for name, dims in variables.items():
            if group not in tree.children or name not in tree[group].data_vars:
                raise InputError(f"the fit lacks {group}/{name}")
            if tree[group][name].dims != dims:
                raise InputError(f"{group}/{name} has axes {tree[group][name].dims}, not {dims}")
    if not np.all(np.isfinite(tree["posterior"].to_dataset()["cost_to_go"].values)):
        raise InputError("posterior/cost_to_go holds values that are not finite")
    if json.loads(tree.attrs["settings"]) is None:
        raise InputError("the fit lacks its settings")


def _without_storage(tree: xr.DataTree) -> xr.DataTree:
    """The groups as a fresh fit has them."""
    groups = {name: node.to_dataset() for name, node in tree.children.items() if name != "passive"}
    plain = xr.DataTree.from_dict(groups)
    kept = ("method", "settings", "seed", "facts", "versions")
    plain.attrs = {"lag": _plain(tree.attrs.get("lag", 1))}
    plain.attrs |= {name: _plain(tree.attrs[name]) for name in kept}
    if "headings" in tree.attrs:  # files of earlier versions do not say
        plain.attrs["headings"] = str(tree.attrs["headings"])
    return plain


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _restored_passive(description: dict[str, Any], tree: xr.DataTree, space: StateSpace) -> Any:
    kind = description.get("kind")
    if kind not in ("sparse", "matrix"):
        return restored(description)
    arrays = tree["passive"].to_dataset()
    operator: PassiveOperator
    if kind == "matrix":
        operator = MatrixDynamics.of(arrays["probability"].values, space.shape)
    else:
        index = (arrays["row"].values, arrays["column"].values)
        size = (space.size, space.size)
        matrix: Any = sp.csr_array((arrays["probability"].values, index), shape=size)
        operator = SparseDynamics.of(matrix, space.shape)
    return operator


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]
