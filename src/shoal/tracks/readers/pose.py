"""Poses and boxes: DeepLabCut, LightningPose, SLEAP and VIA.

shoal reads tables of DeepLabCut and analysis files of SLEAP itself. Labels of SLEAP and boxes of
VIA need the ``movement`` package.
"""

import csv
import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.system.quarantine import refuse_promises
from shoal.tracks.dataset import check_grid
from shoal.tracks.movement import POSES
from shoal.tracks.readers.assembly import IMAGE
from shoal.tracks.readers.clock import at_rate
from shoal.tracks.readers.pickles import plain_pickle
from shoal.tracks.readers.source import ReadOptions, Source, damaged, named
from shoal.tracks.record import Tracks

VIA = ["filename", "file_size", "file_attributes", "region_count", "region_id"]


def declines_deeplabcut(source: Source) -> str | None:
    """Why the file is not a CSV of DeepLabCut; None if it is."""
    if source.kind != "text":
        return "not a text file"
    if _header_rows(source) is None:
        return "its first rows are not scorer, (individuals,) bodyparts, coords"
    return "the scorer is LightningPose's" if _is_lightning(source) else None


def declines_lightningpose(source: Source) -> str | None:
    """Why the file is not a CSV of LightningPose; None if it is."""
    if source.kind != "text":
        return "not a text file"
    if _header_rows(source) is None:
        return "its first rows are not scorer, bodyparts, coords"
    return None if _is_lightning(source) else "the scorer is not LightningPose's heatmap_tracker"


def read_deeplabcut(source: Source, options: ReadOptions) -> list[Tracks]:
    """A CSV with three or four header rows, of DeepLabCut or LightningPose."""
    import pandas as pd  # noqa: PLC0415

    rows = _header_rows(source)
    assert rows is not None
    header = list(csv.reader(source.lines[:rows]))
    with named(source.path):
        table = pd.read_csv(source.path, skiprows=rows, header=None, skip_blank_lines=False)
        values = table.iloc[:, 1:].to_numpy(dtype=float)
    columns = list(zip(*(row[1:] for row in header), strict=False))
    if values.shape[1] != len(columns):
        raise InputError(
            f"{source.path}: {values.shape[1]} columns of numbers under {len(columns)} names"
        )
    software = "LightningPose" if _is_lightning(source) else "DeepLabCut"
    dataset = _of_table(columns, values, _frame_numbers(table.iloc[:, 0]), software)
    return [_one_point(source, options, dataset, [])]


def declines_deeplabcut_h5(source: Source) -> str | None:
    """Why the file is not an HDF5 file of DeepLabCut; None if it is."""
    if source.kind != "hdf5":
        return "not an HDF5 file"
    return None if "df_with_missing" in source.keys else "no table 'df_with_missing'"


def read_deeplabcut_h5(source: Source, options: ReadOptions) -> list[Tracks]:
    """A table of pandas, whose column names are a pickle that is not executed."""
    columns, values = _pandas_table(source)
    times = np.arange(len(values), dtype=float)
    dataset = _of_table(columns, values, times, "DeepLabCut")
    labelled = not any(column[-1] == "likelihood" for column in columns)
    notes = ["labelled by hand: rows are images, not consecutive frames"] if labelled else []
    return [_one_point(source, options, dataset, notes)]


def declines_sleap(source: Source) -> str | None:
    """Why the file is not an analysis file of SLEAP; None if it is."""
    if source.kind != "hdf5":
        return "not an HDF5 file"
    wanted = {"tracks", "node_names", "track_names"}
    return None if wanted <= source.keys else "no datasets tracks, node_names, track_names"


def declines_sleap_labels(source: Source) -> str | None:
    """Why the file is not an .slp file of SLEAP; None if it is."""
    if source.kind != "hdf5":
        return "not an HDF5 file"
    wanted = {"frames", "instances", "metadata"}
    return None if wanted <= source.keys else "no datasets frames, instances, metadata"


def read_sleap(source: Source, options: ReadOptions) -> list[Tracks]:
    """An .analysis.h5 file: tracks (animal, x and y, point, frame)."""
    source.checked  # noqa: B018
    with named(source.path), source.hdf5() as file:
        tracks = file["tracks"]
        refuse_promises(source.path, tracks.nbytes, source.path.stat().st_size)
        if tracks.ndim != 4 or tracks.shape[1] != 2:
            raise InputError(
                f"{source.path}: tracks of SLEAP have the shape (animals, 2, points, frames), got "
                f"{tracks.shape}"
            )
        position = np.asarray(tracks[()], dtype=float).transpose(3, 1, 2, 0)
        frames, _, points, animals = position.shape
        confidence = np.full((frames, points, animals), np.nan)
        if "point_scores" in file:
            confidence = np.asarray(file["point_scores"][()], dtype=float).T
        names = _words(file["track_names"][()]) or [f"id_{n}" for n in range(animals)]
        nodes = _words(file["node_names"][()])
    if (len(nodes), len(names)) != (points, animals) or confidence.shape != position[:, 0].shape:
        raise InputError(
            f"{source.path}: {len(names)} animals, {len(nodes)} points and scores of the shape "
            f"{confidence.shape} do not fit tracks of {frames} frames, {points} points and "
            f"{animals} animals"
        )
    times = np.arange(frames, dtype=float)
    dataset = _dataset(position, confidence, (["x", "y"], nodes, names), times, "SLEAP")
    return [_one_point(source, options, dataset, [])]


def read_sleap_labels(source: Source, options: ReadOptions) -> list[Tracks]:
    """The labels of an .slp file."""
    source.checked  # noqa: B018
    _check_labels(source)
    with quiet_movement(source.path) as poses, named(source.path):
        dataset = poses.from_file(source.path, source_software="SLEAP")
    return [_one_point(source, options, dataset, [])]


def declines_via(source: Source) -> str | None:
    """Why the file is not a table of VIA-tracks; None if it is."""
    if source.kind != "text":
        return "not a text file"
    return (
        None
        if source.header[:5] == VIA
        else "its header is not that of VIA: filename, file_size, …"
    )


def read_via(source: Source, options: ReadOptions) -> list[Tracks]:
    """The centres of boxes."""
    _check_boxes(source)
    with quiet_movement(source.path) as _:
        from movement.io import load_bboxes  # noqa: PLC0415

        with named(source.path):
            dataset = load_bboxes.from_via_tracks_file(
                source.path, use_frame_numbers_from_file=True
            )
    return [
        _one_point(source, options, dataset, ["the position of an animal is the centre of its box"])
    ]


def declines_netcdf(source: Source) -> str | None:
    """Why the file is not a dataset of movement; None if it is."""
    if source.kind not in ("hdf5", "netcdf3"):
        return "not a netCDF file"
    wanted = {"position", "time", "space"}
    return None if source.kind == "netcdf3" or wanted <= source.keys else "no variable 'position'"


def read_netcdf(source: Source, options: ReadOptions) -> list[Tracks]:
    """A dataset of movement, as its ``to_netcdf`` writes it."""
    import xarray as xr  # noqa: PLC0415

    engine: Any = "h5netcdf" if source.kind == "hdf5" else "scipy"
    if engine == "h5netcdf":
        source.checked  # noqa: B018
        content: Any = source.path
    else:  # from memory, which ends where the file does, whatever its header says
        content = io.BytesIO(source.path.read_bytes())
    with named(source.path), xr.open_dataset(content, engine=engine) as file:
        refuse_promises(source.path, file.nbytes, source.path.stat().st_size)
        dataset = file.load()
    if "position" not in dataset:
        raise InputError(f"{source.path}: there is no variable 'position', only {list(dataset)}")
    return [_one_point(source, options, dataset, [])]


def _of_table(
    columns: Sequence[tuple[str, ...]], values: np.ndarray, times: np.ndarray, software: str
) -> Any:
    """Columns named (scorer, point, coordinate), or (scorer, animal, point, coordinate)."""
    if len(columns[0]) == 4:
        keys = [(animal, point, coordinate) for _, animal, point, coordinate in columns]
    else:
        keys = [("individual_0", point, coordinate) for _, point, coordinate in columns]
    animals, points, coordinates = (list(dict.fromkeys(part)) for part in zip(*keys, strict=True))
    space = [name for name in coordinates if name != "likelihood"]
    position = np.full((len(values), len(space), len(points), len(animals)), np.nan)
    confidence = np.full((len(values), len(points), len(animals)), np.nan)
    for column, (animal, point, coordinate) in zip(values.T, keys, strict=True):
        place = (points.index(point), animals.index(animal))
        if coordinate == "likelihood":
            confidence[:, *place] = column
        else:
            position[:, space.index(coordinate), *place] = column
    return _dataset(position, confidence, (space, points, animals), times, software)


def _dataset(
    position: Float[np.ndarray, "time space points animals"],
    confidence: Float[np.ndarray, "time points animals"],
    names: tuple[list[str], list[str], list[str]],
    times: Float[np.ndarray, " time"],
    software: str,
) -> Any:
    """A dataset as that of movement; ``names`` are those of coordinates, points and animals."""
    import xarray as xr  # noqa: PLC0415

    space, points, animals = names
    return xr.Dataset(
        {
            "position": (POSES, position),
            "confidence": (("time", "keypoints", "individuals"), confidence),
        },
        {"time": times, "space": space, "keypoints": points, "individuals": animals},
        {"ds_type": "poses", "source_software": software, "time_unit": "frames"},
    )


def _one_point(source: Source, options: ReadOptions, dataset: Any, notes: list[str]) -> Tracks:
    try:
        tracks = Tracks.from_movement(dataset, options.keypoint, options.confidence)
    except InputError as error:
        raise InputError(f"{source.path}: {error}") from error
    data = tracks.data.assign_attrs(source=str(source.path))
    if not tracks.group:
        data.attrs["group"] = source.path.stem
    if options.unit:
        data.attrs["length_unit"] = options.unit
    if len(tracks.positions) < 2:
        raise InputError(f"{source.path}: fewer than two frames")
    if options.fps is not None:
        data = at_rate(Tracks(data), options.fps).data
    words = [*notes, IMAGE] if data.attrs["length_unit"] == "px" else notes
    return Tracks(data).noted(*words)


@contextmanager
def quiet_movement(path: Path) -> Iterator[ModuleType]:
    """Import movement, without its log on the terminal and its changes to options of xarray."""
    import xarray as xr  # noqa: PLC0415

    options: Any = xr
    kept = options.get_options()
    try:
        from movement.io import load_poses  # noqa: PLC0415
        from movement.utils.logging import logger  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            f"{path}: labels of SLEAP (.slp) and boxes of VIA are read by the movement package, "
            "which is not installed: pip install 'shoal[poses]'; an .analysis.h5 that "
            "SLEAP exports can be read without it"
        ) from error
    finally:
        options.set_options(**{name: kept[name] for name in ("keep_attrs", "display_expand_data")})
    logger.remove()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield load_poses


def _header_rows(source: Source) -> int | None:
    if source.kind != "text" or len(source.lines) < 4:
        return None
    firsts = [line.split(",")[0] for line in source.lines[:4]]
    if firsts[:3] == ["scorer", "bodyparts", "coords"]:
        return 3
    return 4 if firsts == ["scorer", "individuals", "bodyparts", "coords"] else None


def _frame_numbers(first: Any) -> np.ndarray:
    """The frame numbers in the first column, or 0, 1, 2 … if it names images."""
    import pandas as pd  # noqa: PLC0415

    numbers = pd.to_numeric(first, errors="coerce").to_numpy(dtype=float)
    if not np.all(np.diff(numbers) > 0):
        numbers = np.arange(len(numbers), dtype=float)
    return np.asarray(numbers)


def _is_lightning(source: Source) -> bool:
    return "heatmap" in source.lines[0].split(",")[1]


def _pandas_table(source: Source) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Columns and values of ``df_with_missing``, in the table or the fixed layout of pandas."""
    where = f"{source.path}, df_with_missing"
    with source.hdf5() as file:
        group = file["df_with_missing"]
        try:
            if "table" in group:
                axes = plain_pickle(bytes(group.attrs["non_index_axes"]), where)
                columns = [tuple(map(str, name)) for name in axes[0][1]]
                values = group["table"]["values_block_0"]
            else:
                levels = int(group.attrs["axis0_nlevels"])
                names = [_words(group[f"axis0_level{i}"][()]) for i in range(levels)]
                codes = [group[f"axis0_label{i}"][()] for i in range(levels)]
                columns = [
                    tuple(names[level][row[level]] for level in range(levels))
                    for row in zip(*codes, strict=True)
                ]
                values = group["block0_values"][()]
        except InputError:
            raise
        except (KeyError, OSError, TypeError, ValueError, IndexError) as error:
            raise damaged(source.path, error) from error
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise InputError(f"{where}: {values.shape} values do not fit {len(columns)} columns")
    return columns, np.asarray(values, dtype=float)


def _words(values: Any) -> list[str]:
    return [v.decode() if isinstance(v, bytes) else str(v) for v in np.ravel(values)]


def _check_labels(source: Source) -> None:
    """Refuse labels of SLEAP with a few points spread over very many frames."""
    with named(source.path), source.hdf5() as file:
        if "frames" not in file or "instances" not in file or not len(file["frames"]):
            return
        frames, instances = file["frames"][()], file["instances"][()]
        last = int(np.max(frames["frame_idx"].astype(float)))
        tracks = len(file["tracks_json"]) if "tracks_json" in file else 0
        animals = max(tracks, _most(frames, "instance_id"))
        points = animals * _most(instances, "point_id")
        check_grid(last + 1, points, len(instances), str(source.path))


def _most(rows: np.ndarray, name: str) -> int:
    """The largest number of parts in a row, from the numbers of the first and the last."""
    count = rows[f"{name}_end"].astype(float) - rows[f"{name}_start"].astype(float)
    return max(1, int(count.max(initial=1)))


def _check_boxes(source: Source) -> None:
    """Refuse boxes of VIA with nearly as many tracks and images as rows."""
    images, tracks, count = set(), set(), 0
    with named(source.path), source.open() as text:
        for row in csv.reader(text):
            if len(row) > 5:
                images.add(row[0])
                tracks.add(row[-1])
                count += 1
    check_grid(len(images), len(tracks), count, str(source.path))
