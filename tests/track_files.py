"""One small file of every format that can be read, made from known positions."""

import json
import pickle
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import scipy.io
import sleap_io

import shoal

FPS = 25.0
FRAMES, ANIMALS = 30, 3


def places(seed=1, missing=True):
    """Positions (time, individuals, 2) with a few gaps, with three decimals as trackers write."""
    rng = np.random.default_rng(seed)
    positions = np.round(100 + np.cumsum(rng.normal(size=(FRAMES, ANIMALS, 2)), axis=0), 3)
    if missing:
        positions[4:6, 1] = positions[11, 0] = np.nan
    return positions


def idtrackerai_npy(folder, positions, protocol=4, scores=1.0):
    content = {
        "trajectories": positions,
        "id_probabilities": np.broadcast_to(scores, positions.shape[:2])[..., None].copy(),
        "version": "5.2.12",
        "video_paths": ["/films/fish.avi"],
        "frames_per_second": FPS,
        "body_length": np.float64(58.0),
        "stats": {"estimated_accuracy": 0.99},
        "areas": {"mean": np.ones(ANIMALS)},
        "setup_points": {"corner": np.zeros((4, 2))},
        "identities_labels": ["1", "2", "3"],
        "identities_groups": {},
        "length_unit": None,
    }
    path = folder / "trajectories.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "|O", "fortran_order": False, "shape": ()}
        )
        pickle.dump(np.array(content, dtype=object), file, protocol=protocol)
    return path


def idtrackerai_h5(folder, positions):
    path = folder / "trajectories.h5"
    with h5py.File(path, "w") as file:
        file["trajectories"] = positions
        file["id_probabilities"] = np.ones((*positions.shape[:2], 1))
        file.attrs.update(
            frames_per_second=FPS,
            body_length=57.7,
            length_unit=-1,
            version="6.0.0",
            identities_labels=["1", "2", "3"],
        )
    return path


def idtrackerai_csv(folder, positions):
    folder = folder / "trajectories_csv"
    folder.mkdir()
    names = [f"{axis}{k + 1}" for k in range(ANIMALS) for axis in "xy"]
    table = pd.DataFrame(positions.reshape(FRAMES, -1), columns=names)
    table.insert(0, "seconds", np.round(np.arange(FRAMES) / FPS, 3))
    table.to_csv(folder / "trajectories.csv", index=False, na_rep="nan")
    (folder / "attributes.json").write_text(json.dumps({"frames_per_second": FPS}))
    scores = pd.DataFrame(np.ones((FRAMES, ANIMALS)))
    scores.columns = [f"id_probabilities{k + 1}" for k in range(ANIMALS)]
    scores.insert(0, "seconds", table["seconds"])
    scores.to_csv(folder / "id_probabilities.csv", index=False)
    return folder


def idtracker_txt(folder, positions):
    path = folder / "trajectories.txt"
    header = "\t".join(f"X{k}\tY{k}\tProbId{k}" for k in range(1, ANIMALS + 1))
    rows = [
        "\t".join(f"{x}\t{y}\t{'NaN' if np.isnan(x) else 1.0}" for x, y in frame)
        for frame in positions
    ]
    path.write_text("\n".join([header + "\t", *rows]).replace("nan", "NaN") + "\n")
    return path


def idtracker_mat(folder, positions):
    path = folder / "trajectories.mat"
    scipy.io.savemat(
        path, {"trajectories": positions, "probtrajectories": np.ones(positions.shape[:2])}
    )
    return path


def trex_npz(folder, positions):
    folder = folder / "data"
    folder.mkdir()
    for animal in range(ANIMALS):
        first = 2 if animal == 2 else 0  # an animal may be seen later than others
        x, y = np.where(np.isnan(positions), np.inf, positions)[first:, animal].T
        frame = np.arange(first, FRAMES)
        np.savez(
            folder / f"film_fish{animal}.npz",
            **{
                "frame": frame.astype(np.float32),
                "time": frame / FPS,
                "X#wcentroid": x,
                "Y#wcentroid": y,
                "X": x + 1,
                "Y": y + 1,
                "missing": np.isinf(x).astype(np.float32),
                "detection_p": np.where(np.isinf(x), np.inf, 1.0),
                "ANGLE": np.zeros(len(x)),
                "cm_per_pixel": np.array([0.1]),
                "frame_rate": np.array([99]),
            },
        )
    return folder


def trex_csv(folder, positions):
    folder = folder / "data"
    folder.mkdir()
    for animal in range(ANIMALS):
        x, y = np.where(np.isnan(positions), np.inf, positions)[:, animal].T
        frame = np.arange(FRAMES)
        table = pd.DataFrame(
            {
                "frame": frame,
                "SPEED#wcentroid (cm/s)": 0.0,
                "X#wcentroid (cm)": x,
                "Y#wcentroid (cm)": y,
                "num_pixels": 100,
                "time": np.round(frame / FPS, 3),
            }
        )
        table.to_csv(folder / f"film_fish{animal}.csv", index=False)
    return folder


def _pose_table(positions, scorer, several):
    """Two keypoints on either side of each place: their centroid is the place."""
    columns, values = [], []
    for animal in range(ANIMALS if several else 1):
        for part, shift in (("head", 1.0), ("tail", -1.0)):
            levels = (scorer, f"animal{animal + 1}", part) if several else (scorer, part)
            for axis, name in enumerate(("x", "y")):
                columns.append((*levels, name))
                values.append(positions[:, animal, axis] + shift)
            columns.append((*levels, "likelihood"))
            values.append(np.ones(FRAMES))
    names = ["scorer", "individuals", "bodyparts", "coords"]
    index = pd.MultiIndex.from_tuples(columns, names=names if several else names[:1] + names[2:])
    return pd.DataFrame(np.stack(values, axis=1), columns=index)


def deeplabcut_csv(folder, positions):
    path = folder / "mice.csv"
    _pose_table(positions, "DLC_resnet50", several=True).to_csv(path)
    return path


def deeplabcut_h5(folder, positions):
    """As pandas lays out a table, its columns in a pickle; written without PyTables."""
    path = folder / "mice.h5"
    table = _pose_table(positions, "DLC_resnet50", several=True)
    with h5py.File(path, "w") as file:
        group = file.create_group("df_with_missing")
        axes = [(1, list(table.columns))]
        group.attrs["non_index_axes"] = np.bytes_(pickle.dumps(axes, protocol=0))
        kind = np.dtype([("index", "<i8"), ("values_block_0", "<f8", (table.shape[1],))])
        rows = np.empty(FRAMES, dtype=kind)
        rows["index"], rows["values_block_0"] = np.arange(FRAMES), table.to_numpy()
        group["table"] = rows
    return path


def lightningpose(folder, positions):
    path = folder / "mouse.csv"
    _pose_table(positions, "heatmap_tracker", several=False).to_csv(path)
    return path


def sleap_analysis(folder, positions):
    path = folder / "mice.analysis.h5"
    with h5py.File(path, "w") as file:
        both = np.stack([positions + 1, positions - 1], axis=-1)  # (T, N, 2, K)
        file["tracks"] = both.transpose(1, 2, 3, 0)
        file["node_names"] = np.array([b"head", b"tail"])
        file["track_names"] = np.array([b"a", b"b", b"c"])
        file["track_occupancy"] = np.isfinite(positions[..., 0]).astype(np.uint8)
        file["point_scores"] = np.ones((ANIMALS, 2, FRAMES))
    return path


def sleap_labels(folder, positions):
    path = folder / "mice.slp"
    skeleton = sleap_io.Skeleton(["head", "tail"])
    video = sleap_io.Video("film.mp4", open_backend=False)
    tracks = [sleap_io.Track(name) for name in "abc"]
    frames = []
    for number, frame in enumerate(positions):
        instances = [
            sleap_io.PredictedInstance.from_numpy(
                np.stack([place + 1, place - 1]),
                skeleton=skeleton,
                point_scores=np.ones(2),
                track=track,
                score=1.0,
            )
            for place, track in zip(frame, tracks, strict=True)
            if np.isfinite(place).all()
        ]
        frames.append(sleap_io.LabeledFrame(video=video, frame_idx=number, instances=instances))
    labels = sleap_io.Labels(frames, videos=[video], skeletons=[skeleton], tracks=tracks)
    sleap_io.save_slp(labels, str(path), verbose=False)
    return path


def via_tracks(folder, positions):
    path = folder / "crabs.csv"
    names = ["filename", "file_size", "file_attributes", "region_count", "region_id"]
    rows = []
    for number, frame in enumerate(positions):
        seen = [animal for animal in range(ANIMALS) if np.isfinite(frame[animal]).all()]
        for region, animal in enumerate(seen):
            x, y = frame[animal]
            box = {"name": "rect", "x": x - 2, "y": y - 3, "width": 4, "height": 6}
            who = {"track": str(animal + 1)}
            film = (f"film_frame_{number + 1:08d}.png", 1, '{"clip":123}', len(seen), region)
            rows.append([*film, json.dumps(box), json.dumps(who)])
    columns = [*names, "region_shape_attributes", "region_attributes"]
    pd.DataFrame(rows, columns=columns).to_csv(path, index=False)
    return path


def robofish(folder, positions):
    path = folder / "guppies.hdf5"
    with h5py.File(path, "w") as file:
        file.attrs.update(world_size_cm=[200.0, 300.0], num_frames=FRAMES, format_version=[1, 0])
        for animal in range(ANIMALS):
            entity = file.create_group(f"entities/{animal + 1}")
            entity["positions"] = positions[:, animal]
            entity["orientations"] = np.tile([0.0, 1.0], (FRAMES, 1))
            entity.attrs.update(species="guppy", sex="female", category="fish")
        file.create_group("samplings/25 hz").attrs["frequency_hz"] = FPS
        file["samplings"].attrs["default"] = "25 hz"
    return path


def robotracker(folder, positions):
    path = folder / "robot.csv"
    columns = {}
    for animal in range(ANIMALS):
        columns[f"fish{animal}_x"], columns[f"fish{animal}_y"] = positions[:, animal].T
        columns[f"fish{animal}_ori"] = np.full(FRAMES, np.pi / 2)
    columns["time in ms"] = 1000 * np.arange(FRAMES) / FPS
    pd.DataFrame(columns).to_csv(path, sep=";", index=False)
    return path


def ctrax(folder, positions):
    path = folder / "flies.mat"
    seen = np.isfinite(positions[..., 0])
    frame, animal = np.nonzero(seen)
    scipy.io.savemat(
        path,
        {
            "x_pos": positions[frame, animal, :1],
            "y_pos": positions[frame, animal, 1:],
            "angle": np.zeros((len(frame), 1)),
            "identity": animal[:, None].astype(float),
            "ntargets": seen.sum(axis=1)[:, None].astype(float),
            "startframe": np.zeros((1, 1)),
            "timestamps": (np.arange(FRAMES) / FPS)[:, None],
        },
    )
    return path


def sheep_drives(folder, positions):
    path = folder / "drives.mat"
    halves = {"pos_ev_1": positions.transpose(1, 2, 0), "dt": 1 / FPS, "events": [[7]]}
    edges = {"ev_st_7": [[101, 301]], "ev_et_7": [[110, 320]]}
    scipy.io.savemat(path, halves | edges)
    return path


def flight_mat(folder, positions):
    path = folder / "flight.mat"
    speed = np.gradient(positions, axis=0) * FPS
    speed[:-1] = np.diff(positions, axis=0) * FPS
    together = np.concatenate([positions, speed], axis=-1).transpose(1, 2, 0)
    scipy.io.savemat(path, {"flight": together})
    return path


def movement(folder, positions):
    path = folder / "poses.nc"
    tracks = shoal.Tracks.from_arrays(positions, fps=FPS, length_unit="px")
    tracks.to_movement().to_netcdf(path, engine="h5netcdf")
    return path


def animalta(folder, positions):
    path = folder / "film.csv"
    columns = {"Frame": np.arange(100, 100 + FRAMES), "Time": np.arange(FRAMES) / FPS + 4}
    for animal in range(ANIMALS):
        columns[f"X_Arena0_Ind{animal}"], columns[f"Y_Arena0_Ind{animal}"] = positions[:, animal].T
    pd.DataFrame(columns).to_csv(path, sep=";", index=False)
    return path


def bonsai(folder, positions):
    path = folder / "film.csv"
    columns = {"Item1.Depth": "U8"}
    for animal in range(ANIMALS):
        for axis, name in enumerate("XY"):
            columns[f"Item{animal}.Centroid.{name}"] = positions[:, animal, axis]
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


def long_rows(positions):
    frame, animal = np.nonzero(np.isfinite(positions[..., 0]))
    x, y = positions[frame, animal].T
    return pd.DataFrame({"frame": frame, "id": animal, "x": x, "y": y})


def long_csv(folder, positions):
    path = folder / "fish.csv"
    rows = long_rows(positions)
    rows.insert(1, "time_s", rows["frame"] / FPS)
    rows.to_csv(path, index=False)
    return path


def long_parquet(folder, positions):
    path = folder / "fish.parquet"
    rows = long_rows(positions)
    rows.insert(1, "time_s", rows["frame"] / FPS)
    rows.to_parquet(path, index=False)
    return path


def movebank(folder, positions):
    """Near the equator, where a degree is about as long in both directions."""
    path = folder / "storks.csv"
    rows = long_rows(positions)
    table = pd.DataFrame(
        {
            "event-id": np.arange(len(rows)),
            "visible": "true",
            "timestamp": pd.Timestamp("2020-05-01 10:00:00")
            + pd.to_timedelta(rows["frame"] * 600, unit="s"),
            "location-long": 10 + rows["x"] / 111_319.49,
            "location-lat": rows["y"] / 110_574.4,
            "individual-local-identifier": rows["id"].astype(str),
            "study-name": "storks",
        }
    )
    table["timestamp"] = table["timestamp"].dt.strftime("%Y-%m-%d %H:%M:%S.000")
    table.to_csv(path, index=False)
    return path


FILES = {
    "idtrackerai-npy": idtrackerai_npy,
    "idtrackerai-h5": idtrackerai_h5,
    "idtrackerai-csv": idtrackerai_csv,
    "idtracker-txt": idtracker_txt,
    "idtracker-mat": idtracker_mat,
    "trex-npz": trex_npz,
    "trex-csv": trex_csv,
    "deeplabcut-csv": deeplabcut_csv,
    "deeplabcut-h5": deeplabcut_h5,
    "lightningpose": lightningpose,
    "sleap-analysis": sleap_analysis,
    "sleap-labels": sleap_labels,
    "via-tracks": via_tracks,
    "robofish": robofish,
    "robotracker": robotracker,
    "ctrax": ctrax,
    "sheep-drives": sheep_drives,
    "flight-mat": flight_mat,
    "movement": movement,
    "animalta": animalta,
    "bonsai": bonsai,
    "movebank": movebank,
    "parquet": long_parquet,
    "csv": long_csv,
}
TIMED = {
    "idtrackerai-npy", "idtrackerai-h5", "idtrackerai-csv", "trex-npz", "trex-csv", "robofish",
    "robotracker", "ctrax", "flight-mat", "movement", "animalta", "parquet", "csv",
}  # fmt: skip
"""Formats whose files say how many frames a second there are."""


def made(name: str, folder: Path, positions: np.ndarray) -> Path:
    """A file or folder of this format, in a folder of its own."""
    place = folder / name
    place.mkdir()
    return FILES[name](place, positions)
