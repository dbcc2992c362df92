"""Real samples of every format and data set, where they lie beside the project; else made ones."""

import warnings
from pathlib import Path

import numpy as np

import shoal
from track_files import ANIMALS, FILES, FRAMES, made, places

SHARED = Path(__file__).parents[4] / "shared" / "data"
# file or folder: animals in all, frames in all, missing fixes, format
EXPECTED = {
    "formats/animalta/single_individual_multi_arena.csv": (9, 171, 0, "animalta"),
    "formats/animalta/variable_individuals_single_arena.csv": (1, 19, 0, "animalta"),
    "formats/bonsai/LI850.csv": (1, 1073, 78, "bonsai"),
    "formats/ctrax/MADE_HERE_ctrax_layout_8fish.mat": (8, 508, 43, "ctrax"),
    "formats/deeplabcut/CollectedData_Pranav.h5": (1, 116, 0, "deeplabcut-h5"),
    "formats/deeplabcut/mouse_multi.csv": (2, 27, 0, "deeplabcut-csv"),
    "formats/deeplabcut/mouse_single.csv": (1, 11, 0, "deeplabcut-csv"),
    "formats/idtracker_legacy/trajectories_nogaps_first3000.mat": (6, 3000, 212, "idtracker-mat"),
    "formats/idtracker_legacy/trajectories_nogaps_first3000.txt": (6, 3000, 212, "idtracker-txt"),
    "formats/idtrackerai/trajectories.h5": (8, 508, 7, "idtrackerai-h5"),
    "formats/idtrackerai/trajectories_csv": (8, 508, 7, "idtrackerai-csv"),
    "formats/idtrackerai/trajectories_v2_8fish.npy": (8, 508, 43, "idtrackerai-npy"),
    "formats/idtrackerai/trajectories_v3_8fish_with_setup_points.npy": (
        8, 508, 43, "idtrackerai-npy",
    ),
    "formats/idtrackerai/v5_session_1fish/with_gaps.npy": (1, 898, 357, "idtrackerai-npy"),
    "formats/idtrackerai/v5_session_1fish/with_gaps_csv": (1, 898, 357, "idtrackerai-csv"),
    "formats/lightningpose/mouse_single.csv": (1, 11, 0, "lightningpose"),
    "formats/movement_netcdf/bboxes_from_via_crabs.nc": (86, 5, 0, "movement"),
    "formats/movement_netcdf/poses_from_dlc_mouse_multi.nc": (2, 27, 0, "movement"),
    "formats/movement_netcdf/poses_from_sleap_three_mice.nc": (3, 601, 228, "movement"),
    "formats/robofish_track_format/Robotracker_first1500.csv": (2, 1499, 0, "robotracker"),
    "formats/robofish_track_format/guppies.hdf5": (2, 8990, 0, "robofish"),
    "formats/sleap/SLEAP_three-mice_Aeon_mixed-labels.analysis.h5": (
        3, 601, 228, "sleap-analysis",
    ),
    "formats/sleap/clip.2node.slp": (2, 1500, 0, "sleap-labels"),
    "formats/sleap/predictions.analysis.h5": (2, 3000, 0, "sleap-analysis"),
    "formats/trackdf/gps_01.csv": (1, 3600, 5, "csv"),
    "formats/trackdf/video_01_first5000.csv": (15, 630, 4450, "csv"),
    "formats/trex/beetle.csv": (1, 19, 0, "trex-csv"),
    "formats/trex/locusts-noqr_20250117_5_id0.npz": (1, 2845, 22, "trex-npz"),
    "formats/via_tracks/multiple-crabs.csv": (86, 5, 0, "via-tracks"),
    "bode-guppy/observed_male_guppies_digitised.csv": (10, 120, 0, "csv"),
    "bode-guppy/paper_bisquare-rw_simulation_digitised.csv": (10, 19, 0, "csv"),
    "fish-escape5": (5, 1884, 0, "csv"),
    "goats-gps16": (16, 3600, 176, "csv"),
    "guppy-pairs-robofish": (26, 13 * 8990, 0, "robofish"),
    "pigeons10": (10, 152, 0, "flight-mat"),
    "sheep-dog": (29 * 14, 8556, 0, "sheep-drives"),
    "sticklebacks5": (5, 1000, 0, "csv"),
}  # fmt: skip
# median speed per second, or per frame where the rate is unknown, as their provenance says
SPEEDS = {
    "bode-guppy/observed_male_guppies_digitised.csv": 0.066,
    "fish-escape5": 1.64 / 25,
    "goats-gps16": 0.151,
    "pigeons10": 13.4,
    "sticklebacks5": 0.853,
}


def summary(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one of the goats jumps 15 km
        found = shoal.read_tracks(path)
    parts = list(found)
    animals = sum(len(part.members) for part in parts)
    frames = sum(len(part.positions) for part in parts)
    missing = sum(part.missing for part in parts)
    return animals, frames, missing, parts[0].data.attrs["format"]


def test_every_sample_has_the_animals_frames_and_gaps_it_is_known_to_have(tmp_path):
    here = {SHARED / name: facts for name, facts in EXPECTED.items() if (SHARED / name).exists()}
    if not here:
        here = {
            made(name, tmp_path, places()): (ANIMALS, FRAMES, 3, name)
            for name in FILES
            if name not in ("sheep-drives", "lightningpose", "trex-npz")
        }
    found = {str(path): summary(path) for path in here}
    assert found == {str(path): facts for path, facts in here.items()}


def test_animals_in_the_samples_are_as_fast_as_they_are_known_to_be(tmp_path):
    here = {SHARED / name: speed for name, speed in SPEEDS.items() if (SHARED / name).exists()}
    if not here:
        path = made("csv", tmp_path, places(missing=False))
        steps = np.diff(places(missing=False), axis=0)
        here = {path: float(np.median(np.hypot(*steps.transpose(2, 0, 1)))) * 25}
    for path, speed in here.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tracks = shoal.read_tracks(path)
        steps = np.hypot(*np.diff(tracks.positions, axis=0).transpose(2, 0, 1)) * (tracks.fps or 1)
        assert abs(np.nanmedian(steps) / speed - 1) < 0.02, path
