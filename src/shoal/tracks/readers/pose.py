"""Poses and boxes, read by the ``movement`` package: DeepLabCut, LightningPose, SLEAP, VIA."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.foreign import refuse_promises
from shoal.tracks.readers.arrays import IMAGE
from shoal.tracks.readers.clock import at_rate
from shoal.tracks.readers.pickles import plain_pickle
from shoal.tracks.readers.pose_sizes import check_boxes, check_labels
from shoal.tracks.readers.source import ReadOptions, Source, damaged, named
from shoal.tracks.record import Tracks

VIA = ["filename", "file_size", "file_attributes", "region_count", "region_id"]


def declines_deeplabcut(source: Source) -> str | None:
    """Why this is no CSV of DeepLabCut."""
    if source.kind != "text":
        return "no text"
    if _header_rows(source) is None:
        return "its first rows are not scorer, (individuals,) bodyparts, coords"
    return "the scorer is LightningPose's" if _is_lightning(source) else None


def declines_lightningpose(source: Source) -> str | None:
    """Why this is no CSV of LightningPose."""
    if source.kind != "text":
        return "no text"
    if _header_rows(source) is None:
        return "its first rows are not scorer, bodyparts, coords"
    return None if _is_lightning(source) else "the scorer is not LightningPose's heatmap_tracker"


def read_deeplabcut(source: Source, options: ReadOptions) -> list[Tracks]:
    """A CSV with three or four header rows."""
    return _read(source, options, "DeepLabCut")


def read_lightningpose(source: Source, options: ReadOptions) -> list[Tracks]:
    """A CSV with three header rows."""
    return _read(source, options, "LightningPose")


def declines_deeplabcut_h5(source: Source) -> str | None:
    """Why this is no HDF5 file of DeepLabCut."""
    if source.kind != "hdf5":
        return "no HDF5 file"
    return None if "df_with_missing" in source.keys else "no table 'df_with_missing'"


def read_deeplabcut_h5(source: Source, options: ReadOptions) -> list[Tracks]:
    """A table of pandas: its column names are a pickle, read without executing it."""
    import pandas as pd  # noqa: PLC0415

    columns, values = _pandas_table(source)
    names = ("scorer", "individuals", "bodyparts", "coords")
    depth = len(columns[0])
    levels = names if depth == 4 else ("scorer", "bodyparts", "coords")
    index = pd.MultiIndex.from_tuples(columns, names=levels)
    frame = pd.DataFrame(values, columns=index)
    labelled = "likelihood" not in index.get_level_values("coords")
    if labelled:  # hand-labelled files have no likelihood, which movement asks for
        frame = _with_likelihood(frame)
    with quiet_movement() as poses:
        dataset = poses.from_dlc_style_df(frame, source_software="DeepLabCut")
    notes = ["labelled by hand: rows are images, not consecutive frames"] if labelled else []
    return [_one_point(source, options, dataset, notes)]


def declines_sleap(source: Source) -> str | None:
    """Why this is no analysis file of SLEAP."""
    if source.kind != "hdf5":
        return "no HDF5 file"
    wanted = {"tracks", "node_names", "track_names"}
    return None if wanted <= source.keys else "no datasets tracks, node_names, track_names"


def declines_sleap_labels(source: Source) -> str | None:
    """Why this is no .slp file of SLEAP."""
    if source.kind != "hdf5":
        return "no HDF5 file"
    wanted = {"frames", "instances", "metadata"}
    return None if wanted <= source.keys else "no datasets frames, instances, metadata"


def read_sleap(source: Source, options: ReadOptions) -> list[Tracks]:
    """Tracks of an .analysis.h5 or the labels of an .slp file."""
    source.checked  # noqa: B018
    check_labels(source)
    return _read(source, options, "SLEAP")


def declines_via(source: Source) -> str | None:
    """Why this is no table of VIA-tracks."""
    if source.kind != "text":
        return "no text"
    return (
        None
        if source.header[:5] == VIA
        else "its header is not that of VIA: filename, file_size, …"
    )


def read_via(source: Source, options: ReadOptions) -> list[Tracks]:
    """The centres of boxes."""
    check_boxes(source)
    with quiet_movement() as _:
        from movement.io import load_bboxes  # noqa: PLC0415

        with named(source.path):
            dataset = load_bboxes.from_via_tracks_file(
                source.path, use_frame_numbers_from_file=True
            )
    return [_one_point(source, options, dataset, ["the place of an animal is its box's centre"])]


def declines_netcdf(source: Source) -> str | None:
    """Why this is no dataset of movement."""
    if source.kind not in ("hdf5", "netcdf3"):
        return "no netCDF file"
    wanted = {"position", "time", "space"}
    return None if source.kind == "netcdf3" or wanted <= source.keys else "no variable 'position'"


def read_netcdf(source: Source, options: ReadOptions) -> list[Tracks]:
    """What ``to_netcdf`` of a movement dataset wrote."""
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


def _read(source: Source, options: ReadOptions, software: str) -> list[Tracks]:
    with quiet_movement() as poses, named(source.path):
        dataset = poses.from_file(source.path, source_software=software)
        rows = _header_rows(source)
        if rows is not None:  # the first column of a CSV numbers the frames
            dataset = dataset.assign_coords(time=_frame_numbers(source, rows))
    return [_one_point(source, options, dataset, [])]


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
def quiet_movement() -> Iterator[ModuleType]:
    """The movement package, without its log on the terminal and its change of xarray's options."""
    import xarray as xr  # noqa: PLC0415

    options: Any = xr
    kept = options.get_options()
    try:
        from movement.io import load_poses  # noqa: PLC0415
        from movement.utils.logging import logger  # noqa: PLC0415
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


def _frame_numbers(source: Source, rows: int) -> Any:
    import pandas as pd  # noqa: PLC0415

    first = pd.read_csv(source.path, skiprows=rows, header=None, usecols=[0]).iloc[:, 0]
    numbers = pd.to_numeric(first, errors="coerce").to_numpy(dtype=float)
    if not np.all(np.diff(numbers) > 0):  # names of images, say
        numbers = np.arange(len(numbers), dtype=float)
    return numbers


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


def _with_likelihood(frame: Any) -> Any:
    import pandas as pd  # noqa: PLC0415

    parts = []
    for key, pair in frame.T.groupby(level=list(range(frame.columns.nlevels - 1)), sort=False):
        seen = pair.T.copy()
        seen[(*key, "likelihood")] = np.nan
        parts.append(seen)
    return pd.concat(parts, axis=1)
