"""To and from the datasets of the ``movement`` package."""

from typing import Any

import numpy as np
import xarray as xr

from shoal.errors import InputError
from shoal.tracks.arena import arena_of
from shoal.tracks.dataset import DIMENSIONS
from shoal.tracks.doubts import no_scores
from shoal.tracks.record import LEFT_OUT, Tracks, warn

KEYPOINT = "centroid"
DOUBTFUL = 0.6
"""A confidence below which points are worth a word."""
POSES = ("time", "space", "keypoints", "individuals")


def to_movement(tracks: Tracks) -> xr.Dataset:
    """A poses dataset with one keypoint, called centroid; covariates stay coordinates."""
    position = tracks.data["position"].expand_dims(keypoints=[KEYPOINT])
    confidence = xr.full_like(position.isel(space=0, drop=True), np.nan)
    variables = {
        "position": position.transpose(*POSES),
        "confidence": confidence.transpose("time", "keypoints", "individuals"),
    }
    if "heading" in tracks.data:
        variables["heading"] = tracks.data["heading"]
    attributes = dict(tracks.data.attrs)
    attributes.update(
        notes="\n".join(tracks.notes),
        source_software=attributes.get("format", "shoal"),
        source_file=attributes["source"],
        ds_type="poses",
    )
    return xr.Dataset(variables, attrs=attributes)


def from_movement(dataset: xr.Dataset, keypoint: str | None, confidence: float) -> Tracks:
    """One point for each animal: a keypoint, the centroid of those seen, or the box's centre."""
    if "position" not in dataset:
        raise InputError("expected a dataset of the movement package, with a variable 'position'")
    position = dataset["position"].rename(_renamed(dataset))
    missing = {"time", "space", "individuals"} - set(position.dims)
    if missing:
        raise InputError(f"positions of movement have {missing}; these have {position.dims}")
    if not {"x", "y"} <= set(position["space"].values.tolist()):
        raise InputError(f"places need x and y, got {position['space'].values.tolist()}")
    notes = [line for line in str(dataset.attrs.get("notes", "")).split("\n") if line]
    if position.sizes["space"] > 2:
        notes.append(LEFT_OUT.format("z"))
        warn(notes[-1])
    position = position.sel(space=["x", "y"])
    if confidence > 0:
        unsure = _judged(dataset, position, confidence)
        notes.append(f"{int(unsure.sum())} points with a confidence below {confidence:g} left out")
        position = position.where(~unsure)
    elif "confidence" in dataset:
        notes += _unsure(dataset, position)
    if "keypoints" in position.dims:
        point, words = _one_point(position, keypoint)
        position, notes = point, notes + words
    elif keypoint is not None:
        raise InputError(f"these tracks have no keypoints, so no {keypoint!r}")
    return _assembled(dataset, position.transpose(*DIMENSIONS), notes)


def _renamed(dataset: xr.Dataset) -> dict[str, str]:
    """Early versions of movement had singular names."""
    names = {"keypoint": "keypoints", "individual": "individuals"}
    return {old: new for old, new in names.items() if old in dataset["position"].dims}


def _one_point(position: xr.DataArray, keypoint: str | None) -> tuple[xr.DataArray, list[str]]:
    names = [str(name) for name in position["keypoints"].values]
    notes = []
    if keypoint is None:
        if len(names) > 1:
            notes.append(f"the place of an animal is the centroid of its {len(names)} keypoints")
            return _centroid(position), notes
        return position.isel(keypoints=0, drop=True), notes
    if keypoint not in names:
        raise InputError(f"there is no keypoint {keypoint!r}; there are {', '.join(names)}")
    notes.append(f"the place of an animal is its keypoint {keypoint}")
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


def _judged(dataset: xr.Dataset, position: xr.DataArray, confidence: float) -> xr.DataArray:
    """Points that were seen with a lower confidence; an error where no point has one."""
    if "confidence" not in dataset or not np.isfinite(dataset["confidence"].values).any():
        raise no_scores(confidence)
    return _below(dataset, position, confidence)


def _below(dataset: xr.Dataset, position: xr.DataArray, confidence: float) -> xr.DataArray:
    """Points that were seen with a lower confidence."""
    names = {k: v for k, v in _renamed(dataset).items() if k in dataset["confidence"].dims}
    return (dataset["confidence"].rename(names) < confidence) & position.notnull().any("space")


def _unsure(dataset: xr.Dataset, position: xr.DataArray) -> list[str]:
    """A sentence where points that the tracker doubts count as seen."""
    doubted = int(_below(dataset, position, DOUBTFUL).sum())
    if not doubted:
        return []
    share = doubted / int(position.notnull().any("space").sum())
    return [
        f"{doubted:,} points ({share:.1%}) have a confidence below {DOUBTFUL:g} and count as "
        f"seen: confidence={DOUBTFUL:g}, --confidence {DOUBTFUL:g}, leaves them out"
    ]


def _assembled(dataset: xr.Dataset, position: xr.DataArray, notes: list[str]) -> Tracks:
    attributes: dict[str, Any] = dataset.attrs
    arena = attributes.get("arena")
    fps = attributes.get("fps")
    heading = dataset["heading"].values if "heading" in dataset else None
    coordinates = {
        str(name): values
        for name, values in dataset.coords.items()
        if name not in (*DIMENSIONS, "keypoints", "keypoint", "individual")
        and values.dims in ((), ("individuals",))
    }
    tracks = Tracks.from_arrays(
        position.values,
        fps=None if fps in (None, "None") else float(fps),
        time=position["time"].values.astype(float),
        individuals=[str(name) for name in position["individuals"].values],
        group=str(attributes.get("group", "")),
        length_unit=str(attributes.get("length_unit", "px" if "ds_type" in attributes else "")),
        heading=heading,
        arena=None if arena is None else arena_of(str(arena)),
        source=str(attributes.get("source", attributes.get("source_file", ""))),
        notes=notes,
        time_unit="s" if attributes.get("time_unit") in ("s", "seconds") else "frames",
    )
    words: dict[str, Any] = {}
    if "filled" in attributes:
        words["filled"] = attributes["filled"]
    if "format" in attributes:
        words["format"] = attributes["format"]
    return Tracks(tracks.data.assign_attrs(words).assign_coords(coordinates))
