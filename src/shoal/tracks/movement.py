"""Datasets of the ``movement`` package, made from tracks and turned into tracks."""

from typing import Any

import numpy as np
import xarray as xr

from shoal.errors import InputError, warn
from shoal.tracks.arena import arena_of
from shoal.tracks.confidence import no_scores
from shoal.tracks.dataset import DIMENSIONS, LEFT_OUT, dataset

KEYPOINT = "centroid"
DOUBTFUL = 0.6
"""A confidence below which shoal adds a note on points."""
POSES = ("time", "space", "keypoints", "individuals")


def to_movement(data: xr.Dataset) -> xr.Dataset:
    """A poses dataset with one keypoint, called centroid; covariates stay coordinates."""
    position = data["position"].expand_dims(keypoints=[KEYPOINT])
    confidence = xr.full_like(position.isel(space=0, drop=True), np.nan)
    variables = {
        "position": position.transpose(*POSES),
        "confidence": confidence.transpose("time", "keypoints", "individuals"),
    }
    if "heading" in data:
        variables["heading"] = data["heading"]
    attributes = dict(data.attrs)
    attributes.update(
        notes="\n".join(data.attrs["notes"]),
        source_software=attributes.get("format", "shoal"),
        source_file=attributes["source"],
        ds_type="poses",
    )
    return xr.Dataset(variables, attrs=attributes)


def from_movement(poses: xr.Dataset, keypoint: str | None, confidence: float) -> xr.Dataset:
    """One point of each animal: a keypoint, the centroid of those seen, or the centre of a box."""
    if "position" not in poses:
        raise InputError("expected a dataset of the movement package, with a variable 'position'")
    position = poses["position"].rename(_renamed(poses))
    missing = {"time", "space", "individuals"} - set(position.dims)
    if missing:
        raise InputError(f"positions need the dimensions {missing}; these have {position.dims}")
    if not {"x", "y"} <= set(position["space"].values.tolist()):
        raise InputError(f"positions need x and y, got {position['space'].values.tolist()}")
    notes = [line for line in str(poses.attrs.get("notes", "")).split("\n") if line]
    if position.sizes["space"] > 2:
        notes.append(LEFT_OUT.format("z"))
        warn(notes[-1])
    position = position.sel(space=["x", "y"])
    if confidence > 0:
        unsure = _judged(poses, position, confidence)
        notes.append(f"{int(unsure.sum())} points with a confidence below {confidence:g} left out")
        position = position.where(~unsure)
    elif "confidence" in poses:
        notes += _unsure(poses, position)
    if "keypoints" in position.dims:
        point, words = _one_point(position, keypoint)
        position, notes = point, notes + words
    elif keypoint is not None:
        raise InputError(f"these tracks have no keypoints, so keypoint={keypoint!r} cannot be used")
    return _assembled(poses, position.transpose(*DIMENSIONS), notes)


def _renamed(poses: xr.Dataset) -> dict[str, str]:
    """The names of dimensions as today's movement has them; early versions used the singular."""
    names = {"keypoint": "keypoints", "individual": "individuals"}
    return {old: new for old, new in names.items() if old in poses["position"].dims}


def _one_point(position: xr.DataArray, keypoint: str | None) -> tuple[xr.DataArray, list[str]]:
    """The positions of one point, and a sentence that names it."""
    names = [str(name) for name in position["keypoints"].values]
    notes = []
    if keypoint is None:
        if len(names) > 1:
            notes.append(f"the position of an animal is the centroid of its {len(names)} keypoints")
            return _centroid(position), notes
        return position.isel(keypoints=0, drop=True), notes
    if keypoint not in names:
        raise InputError(f"there is no keypoint {keypoint!r}; there are {', '.join(names)}")
    notes.append(f"the position of an animal is its keypoint {keypoint}")
    return position.isel(keypoints=names.index(keypoint), drop=True), notes


def _centroid(position: xr.DataArray) -> xr.DataArray:
    """The mean of the points that were seen, by NumPy: xarray may compile its own for seconds."""
    points = position.transpose("keypoints", ...)
    values = points.values
    space = points.dims.index("space")
    seen = ~np.isnan(values).any(axis=space, keepdims=True)
    count = seen.sum(axis=0)
    total = np.where(seen, values, 0.0).sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return points.isel(keypoints=0, drop=True).copy(data=mean)


def _judged(poses: xr.Dataset, position: xr.DataArray, confidence: float) -> xr.DataArray:
    """Points that were seen with a lower confidence; raise an error if no point has one."""
    if "confidence" not in poses or not np.isfinite(poses["confidence"].values).any():
        raise no_scores(confidence)
    return _below(poses, position, confidence)


def _below(poses: xr.Dataset, position: xr.DataArray, confidence: float) -> xr.DataArray:
    """Points that were seen with a lower confidence."""
    names = {k: v for k, v in _renamed(poses).items() if k in poses["confidence"].dims}
    return (poses["confidence"].rename(names) < confidence) & position.notnull().any("space")


def _unsure(poses: xr.Dataset, position: xr.DataArray) -> list[str]:
    """A sentence if points with a low confidence count as seen."""
    doubted = int(_below(poses, position, DOUBTFUL).sum())
    if not doubted:
        return []
    share = doubted / int(position.notnull().any("space").sum())
    return [
        f"{doubted:,} points ({share:.1%}) have a confidence below {DOUBTFUL:g} and count as "
        f"seen: confidence={DOUBTFUL:g}, --confidence {DOUBTFUL:g}, leaves them out"
    ]


def _assembled(poses: xr.Dataset, position: xr.DataArray, notes: list[str]) -> xr.Dataset:
    """The dataset of tracks, with attributes and covariates of the poses."""
    attributes: dict[str, Any] = poses.attrs
    arena, fps = attributes.get("arena"), attributes.get("fps")
    covariates = {
        str(name): values
        for name, values in poses.coords.items()
        if name not in (*DIMENSIONS, "keypoints", "keypoint", "individual")
        and values.dims in ((), ("individuals",))
    }
    data = dataset(
        position.values,
        fps=None if fps in (None, "None") else float(fps),
        time=position["time"].values.astype(float),
        individuals=[str(name) for name in position["individuals"].values],
        group=str(attributes.get("group", "")),
        length_unit=str(attributes.get("length_unit", "px" if "ds_type" in attributes else "")),
        heading=poses["heading"].values if "heading" in poses else None,
        arena=None if arena is None else arena_of(str(arena)),
        source=str(attributes.get("source", attributes.get("source_file", ""))),
        notes=notes,
        time_unit="s" if attributes.get("time_unit") in ("s", "seconds") else "frames",
    )
    kept = {name: attributes[name] for name in ("filled", "format") if name in attributes}
    return data.assign_attrs(kept).assign_coords(covariates)
