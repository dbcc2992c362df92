"""Write the sample files of the documentation: simulated fish, in the layouts of trackers.

    python tools/samples.py FOLDER

All show fish of ``shoal.paper.simulate_tank``, whose wants are known: let go in one corner of a
tank, they keep together and swim to a shelter in the opposite one. Nothing here was measured.
"""

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
from jaxtyping import Float

import shoal

WIDTH = 800
"""Of the films, in pixels; the tank fills them."""

SAMPLES = (
    "fish.analysis.h5",
    "herd.csv",
    "school.csv",
    "tankDLC_el.csv",
    "trajectories.h5",
    "trex",
)
"""Files and folders, by name."""

Places = Float[np.ndarray, "time individuals 2"]


def write_samples(folder: Path) -> None:
    """All sample files, into this folder."""
    settings = shoal.paper.TankSettings(females=2, males=2, animals=8)
    tank = shoal.paper.simulate_tank(seed=4, settings=settings).tracks
    tank.to_csv(folder / "school.csv")
    longest = max(tank, key=lambda tracks: len(tracks.positions))
    metres = longest.positions
    pixels = np.round(np.stack([metres[..., 0], 1 - metres[..., 1]], axis=-1) * WIDTH, 2)
    rng = np.random.default_rng(1)
    pixels[rng.random(pixels.shape[:2]) < 0.01] = np.nan  # lost from sight now and then
    for write in (_idtrackerai, _trex, _sleap, _deeplabcut):
        write(folder, pixels)
    _movebank(folder, metres[::2], rng)


def _idtrackerai(folder: Path, pixels: Places) -> None:
    labels = [str(k + 1) for k in range(pixels.shape[1])]
    with h5py.File(folder / "trajectories.h5", "w") as file:
        file["trajectories"] = pixels
        file["id_probabilities"] = np.ones((*pixels.shape[:2], 1))
        file.attrs.update(
            frames_per_second=10.0, body_length=22.0, length_unit=-1, identities_labels=labels
        )


def _trex(folder: Path, pixels: Places) -> None:
    """One file for each fish, in centimetres; lost is infinite, and each has frames of its own."""
    place = folder / "trex"
    place.mkdir()
    for fish in range(pixels.shape[1]):
        first = 5 * (fish == 3)
        x, y = np.where(np.isnan(pixels), np.inf, pixels * 0.125)[first:, fish].T
        frame = np.arange(first, len(pixels))
        columns = {"frame": frame, "time": frame / 10, "X#wcentroid": x, "Y#wcentroid": y}
        columns |= {"missing": np.isinf(x), "cm_per_pixel": np.array([0.125])}
        np.savez_compressed(
            place / f"tank_fish{fish}.npz",
            allow_pickle=False,
            **{name: np.asarray(values, dtype=np.float32) for name, values in columns.items()},
        )


def _posed(pixels: Places) -> Float[np.ndarray, "time individuals 2 keypoints"]:
    """Head, body and tail of every fish, along the way it goes."""
    ahead = np.nan_to_num(np.diff(pixels, axis=0, append=pixels[-1:]))
    length = np.maximum(np.linalg.norm(ahead, axis=-1, keepdims=True), 1e-9)
    along = 10 * ahead / length
    return np.round(np.stack([pixels + along, pixels, pixels - along], axis=-1), 2)


def _sleap(folder: Path, pixels: Places) -> None:
    poses = _posed(pixels)
    frames, animals = pixels.shape[:2]
    with h5py.File(folder / "fish.analysis.h5", "w") as file:
        file["tracks"] = poses.transpose(1, 2, 3, 0)
        file["node_names"] = np.array([b"head", b"body", b"tail"])
        file["track_names"] = np.array([f"track_{k}".encode() for k in range(animals)])
        file["track_occupancy"] = np.isfinite(pixels[..., 0]).astype(np.uint8)
        file["point_scores"] = np.ones((animals, 3, frames))


def _deeplabcut(folder: Path, pixels: Places) -> None:
    """As SLEAP's, but where a fish was lost there is a guess of little likelihood."""
    lost = np.isnan(pixels[..., 0])
    poses = np.where(lost[..., None, None], 400.0, _posed(pixels))
    columns, values = [], []
    for fish in range(pixels.shape[1]):
        for point, name in enumerate(("head", "body", "tail")):
            likelihood = np.where(lost[:, fish], 0.02, 0.99)
            parts = (*poses[:, fish, :, point].T, likelihood)
            for coordinate, part in zip(("x", "y", "likelihood"), parts, strict=True):
                columns.append(("DLC_dlcrnetms5", f"fish{fish + 1}", name, coordinate))
                values.append(part)
    levels = ["scorer", "individuals", "bodyparts", "coords"]
    table = pd.DataFrame(
        np.stack(values, axis=1), columns=pd.MultiIndex.from_tuples(columns, names=levels)
    )
    table.to_csv(folder / "tankDLC_el.csv")


def _movebank(folder: Path, metres: Places, rng: np.random.Generator) -> None:
    """A herd whose tags were to report every ten minutes; a tank of 4 km in the Alps."""
    frame, animal = np.nonzero(rng.random(metres.shape[:2]) > 0.03)
    east, north = 4000 * (metres[frame, animal] - 0.5).T
    seconds = 600 * frame + 9 * animal + rng.uniform(0, 20, len(frame))
    moments = pd.Timestamp("2024-06-01 05:00:00") + pd.to_timedelta(seconds, unit="s")
    strange = np.zeros(len(frame), bool)
    strange[rng.choice(len(frame), 3, replace=False)] = True
    table = pd.DataFrame(
        {
            "event-id": 1000 + np.arange(len(frame)),
            "visible": np.where(strange, "false", "true"),
            "timestamp": moments.strftime("%Y-%m-%d %H:%M:%S.000"),
            "location-long": np.round(10.2 + (east + 30_000 * strange) / 76_700, 6),
            "location-lat": np.round(46.6 + north / 111_170, 6),
            "individual-local-identifier": [f"goat {n + 1}" for n in animal],
            "tag-local-identifier": 7300 + animal,
            "study-name": "Simulated herd",
        }
    )
    table.to_csv(folder / "herd.csv", index=False)


def put_samples(names: Sequence[str], folder: Path, made: Path | None = None) -> None:
    """Samples of these names in a folder, made anew unless there is a folder of them."""
    if not names:
        return
    if made is None:
        made = folder.parent / "samples"
        made.mkdir()
        write_samples(made)
    for name in names:
        copy: Callable[..., object] = shutil.copytree if (made / name).is_dir() else shutil.copy
        copy(made / name, folder / name)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True)
    write_samples(place)
