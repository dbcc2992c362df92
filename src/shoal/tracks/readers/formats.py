"""The formats that shoal reads: how each is recognised, how it is read, what it looks like."""

from collections.abc import Callable
from dataclasses import dataclass

from shoal.errors import InputError
from shoal.tracks.readers import (
    animalta,
    bonsai,
    idtrackerai,
    long_table,
    matlab,
    movebank,
    pose,
    robofish,
    trex,
)
from shoal.tracks.readers.fixes import Fixes
from shoal.tracks.readers.layout import layout_of
from shoal.tracks.readers.source import ReadOptions, Source
from shoal.tracks.record import Tracks


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes
    ----------
    declines
        Gives the reason why a file does not have this format, or None if it does.
    read
        Reads a file of this format.
    scored
        Whether its files may have a score for each position.
    marked
        Whether its files may mark positions that the tracker estimated.
    """

    name: str
    what: str
    example: str
    declines: Callable[[Source], str | None]
    read: Callable[[Source, ReadOptions], Fixes | list[Tracks]]
    scored: bool = False
    marked: bool = False


def _declines_long(source: Source, kind: str) -> str | None:
    if source.kind != kind:
        return f"not a {kind} file"
    try:
        layout_of(source.header, {})
    except InputError as error:
        return str(error)
    return None


# fmt: off
FORMATS = (
    Format("idtrackerai-npy", "idtracker.ai trajectories.npy, all versions, or an array (T, N, 2)",
           "{'trajectories': array (T, N, 2), 'frames_per_second': 28, …}",
           idtrackerai.declines_npy, idtrackerai.read_npy, scored=True, marked=True),
    Format("idtrackerai-h5", "idtracker.ai trajectories.h5 (version 6)",
           "dataset trajectories (T, N, 2), attribute frames_per_second",
           idtrackerai.declines_h5, idtrackerai.read_h5, scored=True, marked=True),
    Format("idtrackerai-csv", "idtracker.ai trajectories.csv, versions 5 and 6",
           "seconds,x1,y1,x2,y2",
           idtrackerai.declines_csv, idtrackerai.read_csv, scored=True, marked=True),
    Format("idtracker-txt", "idTracker trajectories.txt",
           "X1<tab>Y1<tab>ProbId1<tab>X2<tab>Y2<tab>ProbId2",
           idtrackerai.declines_legacy_text, idtrackerai.read_legacy_text,
           scored=True, marked=True),
    Format("idtracker-mat", "idTracker trajectories.mat",
           "trajectories (T, N, 2), probtrajectories (T, N)",
           idtrackerai.declines_legacy_mat, idtrackerai.read_legacy_mat, scored=True, marked=True),
    Format("trex-npz", "TRex, one .npz for each animal",
           "video_fish0.npz: frame, X#wcentroid, Y#wcentroid, time",
           trex.declines_npz, trex.read_npz, scored=True, marked=True),
    Format("trex-csv", "TRex, one CSV for each animal",
           "frame,X#wcentroid (cm),Y#wcentroid (cm),time",
           trex.declines_csv, trex.read_csv, scored=True, marked=True),
    Format("deeplabcut-csv", "DeepLabCut CSV, one or several animals",
           "scorer,… / individuals,… / bodyparts,… / coords,x,y,likelihood",
           pose.declines_deeplabcut, pose.read_deeplabcut, scored=True),
    Format("deeplabcut-h5", "DeepLabCut .h5",
           "table df_with_missing of pandas",
           pose.declines_deeplabcut_h5, pose.read_deeplabcut_h5, scored=True),
    Format("lightningpose", "LightningPose CSV",
           "scorer,heatmap_tracker,… / bodyparts,… / coords,x,y,likelihood",
           pose.declines_lightningpose, pose.read_deeplabcut, scored=True),
    Format("sleap-analysis", "SLEAP .analysis.h5",
           "tracks (N, 2, K, T), node_names, track_names",
           pose.declines_sleap, pose.read_sleap, scored=True),
    Format("sleap-labels", "SLEAP .slp",
           "frames, instances, points, metadata",
           pose.declines_sleap_labels, pose.read_sleap_labels, scored=True),
    Format("via-tracks", "VIA-tracks CSV of boxes",
           "filename,file_size,file_attributes,region_count,region_id,…",
           pose.declines_via, pose.read_via, scored=True),
    Format("robofish", "Robofish track format 1.0 (HDF5)",
           "entities/1/positions (T, 2), samplings/25 hz",
           robofish.declines_hdf5, robofish.read_hdf5),
    Format("robotracker", "RoboTracker CSV",
           "fish0_x;fish0_y;fish0_ori;fish1_x;fish1_y;fish1_ori;time in ms",
           robofish.declines_csv, robofish.read_csv),
    Format("ctrax", "Ctrax .mat, as written or after fixerrors",
           "x_pos, y_pos, angle, identity, ntargets; or trx",
           matlab.declines_ctrax, matlab.read_ctrax),
    Format("sheep-drives", "Sheep drives with dog and shepherd (.mat of Jadhav et al. 2024)",
           "pos_ev_1 (16, 2, T), ev_st_1, ev_et_1, events, dt",
           matlab.declines_drives, matlab.read_drives),
    Format("flight-mat", "Positions and velocities in one Matlab array",
           "flight (animals, x y vx vy …, frames)",
           matlab.declines_flight, matlab.read_flight),
    Format("movement", "netCDF of the movement package",
           "position (time, space, keypoints, individuals)",
           pose.declines_netcdf, pose.read_netcdf, scored=True),
    Format("animalta", "AnimalTA CSV, fixed or variable number of animals",
           "Frame;Time;X_Arena0_Ind0;Y_Arena0_Ind0",
           animalta.declines, animalta.read),
    Format("bonsai", "Bonsai CSV of centroids",
           "Item3.Value.Centroid.X,Item3.Value.Centroid.Y",
           bonsai.declines, bonsai.read),
    Format("movebank", "Movebank CSV, plain, .gz or .zip",
           "timestamp,location-long,location-lat,individual-local-identifier,visible",
           movebank.declines, movebank.read),
    Format("parquet", "Long Parquet, one fix a row",
           "group, individual, frame, x, y",
           lambda source: _declines_long(source, "parquet"), long_table.read_fixes),
    Format("csv", "Long CSV, one fix a row (usual names of columns, or columns=…)",
           "id,frame,x,y",
           lambda source: _declines_long(source, "text"), long_table.read_fixes),
)
# fmt: on


def format_named(name: str) -> Format:
    """The format of this name."""
    for known in FORMATS:
        if known.name == name:
            return known
    raise InputError(f"there is no format {name!r}; there are {', '.join(f.name for f in FORMATS)}")


def recognised(source: Source, options: ReadOptions) -> Format:
    """The first format that does not decline; if all do, an error gives their reasons."""
    if options.columns:
        layout_of(source.header, options.columns)
        return format_named("parquet" if source.kind == "parquet" else "csv")
    reasons = []
    for known in FORMATS:
        reason = known.declines(source)
        if reason is None:
            return known
        reasons.append((known, reason))
    telling = [
        f"{known.name}: {reason}"
        for known, reason in reasons
        if not reason.startswith(("no ", "not ")) or source.kind in reason
    ]
    telling.sort(key=lambda words: not words.startswith(("csv:", "parquet:")))
    others = [known.name for known, reason in reasons if f"{known.name}: {reason}" not in telling]
    if not telling:
        what = "" if source.words == "unknown" else f" ({source.words})"
        raise InputError(
            f"{source.path} is not a recognised table or tracker file{what}; `shoal formats` "
            "lists what can be read"
        )
    words = [f"Tried {'; '.join(telling)}"]
    if others:
        words.append(f"It is another kind of file than {', '.join(others)}")
    raise InputError(
        f"{source.path} is not a recognised table or tracker file ({source.words}). "
        f"{'. '.join(words)}. `shoal formats` lists all formats; format= chooses one"
    )
