"""Fits to disk: netCDF in ArviZ groups, written whole or not at all."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from shoal.passive import SparseDynamics, TurnCoupled
from shoal.passive.turn_coupled import turn_effects
from shoal.posterior.specification import described, plain
from shoal.states import StateSpace
from shoal.system.files import write_whole

if TYPE_CHECKING:
    from shoal.posterior.fit import Fit
    from shoal.posterior.model import Model

FORMAT = "shoal-fit-1"
LARGEST_KERNEL = 5000
"""States up to which passive dynamics of the user's own are stored as a matrix."""


def save_fit(fit: "Fit", path: Path) -> Path:
    """Write a fit, with the model's settings and the versions inside."""
    tree = fit.data.copy()
    description, arrays = described_model(fit.model)
    tree.attrs = {**fit.data.attrs, "shoal_format": FORMAT, "model": description}
    if arrays is not None:
        tree["passive"] = xr.DataTree(arrays)
    buffer = io.BytesIO()
    tree.to_netcdf(buffer, engine="h5netcdf")
    write_whole(path, buffer.getbuffer())
    return path


def described_model(model: "Model") -> tuple[str, xr.Dataset | None]:
    """A model as JSON, and the matrix of passive dynamics that are one."""
    passive, arrays = _stored_passive(model)
    parts = {
        "axes": _described_parts(model.space),
        "passive": passive,
        "basis": described(model.basis),
        "discount": model.discount,
        "prior": described(model.prior),
        "state_costs": bool(model.state_costs),
    }
    return json.dumps(parts, default=plain), arrays


def _described_parts(space: StateSpace) -> list[dict[str, Any]]:
    """Features where they are ours; the bare axes of a user's own."""
    parts = [described(part) for part in space.parts]
    axes = [described(axis) for axis in space.axes]
    pairs = zip(parts, axes, strict=True)
    return [axis if part["kind"] == "Unreadable" else part for part, axis in pairs]


def _stored_passive(model: "Model") -> tuple[dict[str, Any], xr.Dataset | None]:
    """A description, and the matrix where the dynamics are one."""
    passive = model.passive
    if isinstance(passive, TurnCoupled):  # a file may not hold what its features say of turns
        passive = replace(passive, effects=turn_effects(model.space, passive.effects))
    description = described(passive)
    if description["kind"] != "Unreadable":
        return description, None
    operator = model.operator()
    if isinstance(operator, SparseDynamics):
        matrix = operator.map.matrix().tocoo()
        entries = {
            "row": ("entry", matrix.coords[0]),
            "column": ("entry", matrix.coords[1]),
            "probability": ("entry", matrix.data),
        }
        return {"kind": "sparse"}, xr.Dataset(entries)
    if operator.size > LARGEST_KERNEL:
        return description, None
    dense = np.asarray(operator.dense())
    return {"kind": "matrix"}, xr.Dataset({"probability": (("from", "to"), dense)})
