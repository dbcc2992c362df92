"""Places that a tracker doubts or estimated, a third dimension, and files that hold no tracks."""

import json
import warnings

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.io
import xarray as xr

import shoal
from shoal.tracks.readers import FORMATS
from shoal.workflows.fitting import FitSettings
from shoal.workflows.reading import Reading
from track_files import ANIMALS, FILES, FRAMES, idtrackerai_npy, made, places

SCORED = {"idtrackerai-npy", "idtrackerai-h5", "idtrackerai-csv", "idtracker-txt", "idtracker-mat",
          "trex-npz", "deeplabcut-csv", "deeplabcut-h5", "lightningpose", "sleap-analysis",
          "sleap-labels"}  # fmt: skip
"""Formats of whose test files every place has a score, which is 1."""


@pytest.mark.parametrize("name", FILES)
def test_a_confidence_is_used_or_refused_never_ignored(name, tmp_path):
    path = made(name, tmp_path, places(missing=False))
    if name in SCORED:
        tracks = shoal.read_tracks(path, confidence=0.9)
        assert tracks.missing == (2 if name == "trex-npz" else 0)  # an animal that comes later
        assert any(word in note for note in tracks.notes for word in ("a score", "a confidence"))
    else:
        with pytest.raises(shoal.InputError, match=r"confidence=0\.9 needs a score .* has none"):
            shoal.read_tracks(path, confidence=0.9)


def scored(name, tmp_path, scores):
    """A file of idTracker or idtracker.ai with these identity probabilities (time, animals)."""
    positions = places(missing=False)
    folder = tmp_path / name
    folder.mkdir()
    if name == "idtracker-txt":
        names = [f"{what}{k + 1}" for k in range(ANIMALS) for what in ("X", "Y", "ProbId")]
        rows = np.concatenate([positions, scores[..., None]], axis=-1).reshape(FRAMES, -1)
        path = folder / "trajectories.txt"
        pd.DataFrame(rows, columns=names).to_csv(path, sep="\t", index=False, na_rep="NaN")
    elif name == "idtracker-mat":
        path = folder / "trajectories.mat"
        scipy.io.savemat(path, {"trajectories": positions, "probtrajectories": scores})
    elif name == "idtrackerai-h5":
        path = folder / "trajectories.h5"
        with h5py.File(path, "w") as file:
            file["trajectories"] = positions
            file["id_probabilities"] = scores[..., None]
    elif name == "idtrackerai-npy":
        path = idtrackerai_npy(folder, positions, scores=scores)
    else:
        path = FILES[name](folder, positions)
        columns = [f"id_probabilities{k + 1}" for k in range(ANIMALS)]
        table = pd.DataFrame(scores, columns=columns)
        table.insert(0, "seconds", np.arange(FRAMES) / 25)
        table.to_csv(path / "id_probabilities.csv", index=False, na_rep="nan")
    return path


@pytest.mark.parametrize(
    ("name", "mark"),
    [("idtracker-txt", -2.0), ("idtracker-mat", -1.0), ("idtrackerai-npy", np.nan),
     ("idtrackerai-h5", np.nan), ("idtrackerai-csv", np.nan)],
)  # fmt: skip
def test_estimated_places_are_told_with_their_share_and_left_out_on_request(name, mark, tmp_path):
    scores = np.full((FRAMES, ANIMALS), 0.9)
    scores[3:6, 1] = mark
    scores[7, 2] = 0.2
    path = scored(name, tmp_path, scores)
    place = path / "trajectories.csv" if path.is_dir() else path
    words = rf"3 of 90 positions \(3\.3%\) in {place} were .* by id[tT]racker"
    with pytest.warns(UserWarning, match=rf"{words}.* and count as seen: drop_estimated=True"):
        tracks = shoal.read_tracks(path)
    assert tracks.missing == 0
    assert any("--drop-estimated" in note for note in tracks.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dropped = shoal.read_tracks(path, drop_estimated=True)
        unsure = shoal.read_tracks(path, confidence=0.5)
    assert np.argwhere(np.isnan(dropped.positions[..., 0])).tolist() == [[3, 1], [4, 1], [5, 1]]
    assert any(note.endswith("and were left out") for note in dropped.notes)
    assert unsure.missing == 4
    assert np.isnan(unsure.positions[7, 2]).all()
    settings = FitSettings(tracks=str(path), drop_estimated=True)
    assert next(iter(Reading(settings).tracks)).missing == 3


def test_places_that_trex_interpolated_are_left_out_and_told(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    frame = np.arange(20.0)
    known = {"frame": frame, "time": frame / 30, "X": frame, "Y": frame}
    np.savez(folder / "film_fish0.npz", **known, missing=(frame > 15).astype(float))
    np.savez(folder / "film_fish1.npz", **known, missing=np.zeros(20))
    tracks = shoal.read_tracks(folder)
    assert tracks.missing == 4
    (note,) = (note for note in tracks.notes if "interpolated" in note)
    assert f"4 of 20 positions (20.0%) in {folder / 'film_fish0.npz'} were interpolated by" in note


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_where_estimated_places_are_not_marked_a_request_to_drop_them_is_answered(known, tmp_path):
    path = made(known.name, tmp_path, places())
    told = known.marked and known.name != "trex-csv"  # exported without the field 'missing'
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        shoal.read_tracks(path, drop_estimated=True)
    sentences = [str(one.message) for one in caught]
    assert any("does not mark positions that the tracker estimated" in s for s in sentences) != told


def test_hand_labels_and_boxes_without_scores_cannot_be_judged_and_boxes_with_them_can(tmp_path):
    boxes = xr.Dataset(
        {
            "position": (("time", "space", "individuals"), np.ones((4, 2, 1))),
            "confidence": (("time", "individuals"), [[0.9], [0.9], [0.1], [0.9]]),
        },
        {"time": np.arange(4), "space": ["x", "y"], "individuals": ["a"]},
    )
    tracks = shoal.Tracks.from_movement(boxes, confidence=0.5)
    assert np.isnan(tracks.positions[:, 0, 0]).tolist() == [False, False, True, False]
    blank = boxes.assign(confidence=boxes["confidence"] * np.nan)
    with pytest.raises(shoal.InputError, match="needs a score"):
        shoal.Tracks.from_movement(blank, confidence=0.5)


def test_a_third_dimension_is_told(tmp_path):
    rows = ["frame,id,x,y,z", *(f"{t},{i},{t},0,{t}" for t in range(5) for i in "ab")]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(rows))
    with pytest.warns(UserWarning, match=r"a\.csv: column 'z' was left out: only x and y are used"):
        tracks = shoal.read_tracks(path)
    assert any("column 'z' was left out" in note for note in tracks.notes)
    with pytest.warns(UserWarning, match=r"a\.csv: column 'z' was left out"):
        shoal.open_tracks(path)
    path.write_text("\n".join(rows).replace("z", "altitude (m)"))
    tracks = shoal.read_tracks(path)  # a note is enough
    assert any("column 'altitude (m)' was left out" in note for note in tracks.notes)
    space = xr.DataArray(np.ones((4, 3, 1)), dims=("time", "space", "individuals"))
    solid = space.assign_coords(space=["x", "y", "z"], individuals=["a"], time=np.arange(4))
    with pytest.warns(UserWarning, match="z was left out"):
        shoal.Tracks.from_movement(solid.to_dataset(name="position"))


@pytest.mark.parametrize("choices", [{}, {"format": "csv"}, {"columns": {"individual": "id"}}])
def test_a_stray_text_in_a_folder_of_tracks_is_passed_over_and_told(choices, tmp_path):
    path = made("csv", tmp_path, places()).parent
    stray = path / "remarks.txt"
    stray.write_text("dear diary\nit rained\n")
    with pytest.warns(UserWarning, match=rf"{stray} has no tracks .* was skipped"):
        tracks = shoal.read_tracks(path, **choices)
    assert tracks.positions.shape == (FRAMES, ANIMALS, 2)
    if "format" not in choices:
        with pytest.warns(UserWarning, match="was skipped"):
            assert shoal.open_tracks(path, **choices).groups == ("fish",)
    stray.rename(path / "remarks.csv")  # it may be a table of tracks that lost its header
    with pytest.raises(shoal.InputError, match=r"remarks\.csv"):
        shoal.read_tracks(path, **choices)
    (path / "remarks.csv").rename(stray)
    (path / "fish.csv").unlink()
    with pytest.raises(shoal.InputError, match=r"remarks\.txt"):
        shoal.read_tracks(path, **choices)


def test_a_table_that_breaks_off_in_a_row_is_an_error_also_under_another_ending(tmp_path):
    path = made("csv", tmp_path, places()).parent
    text = (path / "fish.csv").read_text()
    (path / "more.txt").write_text(text + "30,1.2,0,1\n")
    with pytest.raises(shoal.InputError, match=r"more\.txt, row .*: expected 5 columns, got 4"):
        shoal.read_tracks(path)


def test_a_jump_is_told_with_its_file_also_where_files_are_animals(tmp_path):
    positions = places(missing=False)
    positions[12, 1] += 15_000
    folder = made("trex-csv", tmp_path, positions)
    words = rf"by fish1 in frame 11 of {folder / 'film_fish1.csv'}: drop_jumps"
    with pytest.warns(UserWarning, match=words):
        tracks = shoal.read_tracks(folder)
    assert any(str(folder / "film_fish1.csv") in note for note in tracks.notes)


def test_odd_probabilities_do_no_harm(tmp_path):
    path = made("idtrackerai-csv", tmp_path, places())
    (path / "id_probabilities.csv").write_text("seconds,id_probabilities1\n0.0,1.0\n")
    (path / "attributes.json").write_text(json.dumps({"frames_per_second": 25}))
    assert shoal.read_tracks(path).missing == 3
    with pytest.raises(shoal.InputError, match="needs a score"):
        shoal.read_tracks(path, confidence=0.5)
