"""Every format gives back the places it was made from; nothing in a file is executed."""

import pickle
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest
import xarray as xr

import shoal
from shoal.tracks.readers import FORMATS
from shoal.tracks.readers.pickles import load_npy
from track_files import FILES, FPS, FRAMES, TIMED, idtrackerai_npy, made, places


def test_every_format_has_a_file_to_be_tested_with():
    assert {known.name for known in FORMATS} == set(FILES)


@pytest.mark.parametrize("named", [False, True], ids=["recognised", "named"])
@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_back_the_places_it_was_made_from(name, named, tmp_path):
    positions = places()
    path = made(name, tmp_path, positions)
    found = shoal.read_tracks(path, format=name if named else None)
    if name == "sheep-drives":
        assert found.groups == ("trial7_drive1", "trial7_drive2")
        assert [len(part.positions) for part in found] == [10, 20]
        assert found[0].members == ("sheep1",)
        tracks = found
        array = np.concatenate([part.positions for part in found])
    else:
        assert isinstance(found, shoal.Tracks)
        tracks, array = [found], found.positions
    expected = positions.copy()
    if name == "lightningpose":
        expected = expected[:, :1]
    if name == "trex-npz":
        expected[:2, 2] = np.nan
    if name == "movebank":  # metres around the centroid of all fixes
        array, expected = (a - np.nanmean(a, axis=(0, 1)) for a in (array, expected))
    assert array.shape == expected.shape
    assert np.array_equal(np.isnan(array), np.isnan(expected))
    atol = {"movebank": 2e-3, "sleap-analysis": 1e-5, "sleap-labels": 1e-5}.get(name, 1e-9)
    assert np.allclose(array, expected, atol=atol, rtol=0, equal_nan=True)
    for part in tracks:
        assert part.data.attrs["format"] == name
        assert part.data.attrs["source"]
        if name in TIMED or name == "sheep-drives":
            assert part.fps == FPS
        elif name == "movebank":
            assert part.fps == pytest.approx(1 / 600, rel=1e-3)
        else:
            assert part.fps is None


@pytest.mark.parametrize("name", FILES)
def test_the_rate_that_a_user_gives_is_that_of_the_clock(name, tmp_path):
    """Whatever rate or times the file has itself."""
    found = shoal.read_tracks(made(name, tmp_path, places()), fps=10.0)
    for part in found:
        assert part.fps == 10.0
        assert np.diff(part.time) == pytest.approx(np.full(len(part.time) - 1, 0.1))
        assert part.data.attrs["time_unit"] == "s"
        assert not any("rate unknown" in note for note in part.notes)


@pytest.mark.parametrize("name", ["csv", "trex-csv", "deeplabcut-csv", "lightningpose"])
def test_frames_in_steps_of_two_come_half_as_often(name, tmp_path):
    path = made(name, tmp_path, places(missing=False))
    rows = {"csv": 3, "trex-csv": 1, "deeplabcut-csv": 1, "lightningpose": 1}[name]
    for file in sorted(path.iterdir()) if path.is_dir() else [path]:
        lines = file.read_text().splitlines()
        head = len(lines) - FRAMES * rows
        kept = [line for at, line in enumerate(lines[head:]) if at // rows % 2 == 0]
        file.write_text("\n".join([*lines[:head], *kept]))
    tracks = shoal.read_tracks(path, fps=10.0)
    assert len(tracks.positions) == FRAMES // 2
    assert tracks.fps == 5.0
    assert np.diff(tracks.time) == pytest.approx(np.full(FRAMES // 2 - 1, 0.2))


def test_what_else_a_file_says_is_kept(tmp_path):
    positions = places()
    guppies = shoal.read_tracks(made("robofish", tmp_path, positions))
    assert guppies.arena == shoal.tracks.Rectangle(-100, -150, 100, 150)
    assert guppies.covariates["sex"] == {"1": "female", "2": "female", "3": "female"}
    assert np.all(guppies.headings(tracker=True) == 90)
    assert guppies.length_unit == "cm"
    robot = shoal.read_tracks(made("robotracker", tmp_path, positions))
    assert np.allclose(robot.headings(tracker=True), 90)
    fish = shoal.read_tracks(made("idtrackerai-npy", tmp_path, positions))
    assert "body length 58 px" in fish.notes
    assert any("rows count downwards" in note for note in fish.notes)
    trex = shoal.read_tracks(made("trex-npz", tmp_path, positions))
    assert trex.individuals == ("fish0", "fish1", "fish2")
    assert trex.group == "film"
    head = shoal.read_tracks(tmp_path / "trex-npz" / "data", keypoint="head")
    assert np.allclose(head.positions, trex.positions + 1, equal_nan=True)


@pytest.mark.parametrize("name", ["deeplabcut-csv", "deeplabcut-h5", "sleap-analysis"])
def test_one_keypoint_can_stand_for_the_animal(name, tmp_path):
    positions = places()
    tracks = shoal.read_tracks(made(name, tmp_path, positions), keypoint="head")
    assert np.allclose(tracks.positions, positions + 1, equal_nan=True)
    with pytest.raises(shoal.InputError, match="no keypoint 'nose'; there are head, tail"):
        shoal.read_tracks(next((tmp_path / name).iterdir()), keypoint="nose")


@pytest.mark.parametrize("protocol", range(6))
def test_pickles_of_every_protocol_are_read_without_executing_them(protocol, tmp_path):
    positions = places()
    path = idtrackerai_npy(tmp_path, positions, protocol)
    content = load_npy(path)
    assert np.array_equal(content["trajectories"], positions, equal_nan=True)
    assert content["body_length"] == 58.0
    assert content["identities_labels"] == ["1", "2", "3"]
    with path.open("rb") as file:
        file.seek(0)
        expected = np.load(file, allow_pickle=True).item()
    assert set(content) == set(expected)
    assert content["stats"] == expected["stats"]


def create(path):
    """What an attacker would do."""
    Path(path).touch()


class Hostile:
    """A pickle that runs a function of its choice when it is loaded."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def hostile_npy(path, content, protocol=4):
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "|O", "fortran_order": False, "shape": ()}
        )
        pickle.dump(content, file, protocol=protocol)
    return path


@pytest.mark.parametrize("protocol", range(6))
def test_a_hostile_pickle_is_refused_and_does_nothing(protocol, tmp_path):
    mark = tmp_path / "created"
    attacks = {
        "plain": Hostile(create, str(mark)),
        "inside": {"trajectories": np.zeros((3, 2, 2)), "x": Hostile(create, str(mark))},
        "in an array": np.array([Hostile(create, str(mark))], dtype=object),
        "evaluated": Hostile(eval, f"__import__('pathlib').Path({str(mark)!r}).touch()"),
        "imported": Hostile(__import__, "os"),
    }
    for name, content in attacks.items():
        path = hostile_npy(tmp_path / f"{name}.npy", content, protocol)
        with pytest.raises(shoal.InputError, match="was not executed"):
            shoal.read_tracks(path)
        assert not mark.exists(), name
    with (tmp_path / "plain.npy").open("rb") as file:
        np.load(file, allow_pickle=True)
    assert mark.exists(), "the attack itself would have worked"


def test_a_pickle_cannot_change_how_pickles_are_read(tmp_path):
    """BUILD on one of the reader's own functions."""
    content = b"\x80\x04cnumpy\ndtype\n}X\x04\x00\x00\x00makeNsb."
    path = tmp_path / "build.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "|O", "fortran_order": False, "shape": ()}
        )
        file.write(content)
    with pytest.raises(shoal.InputError, match="tries to change how it is read"):
        shoal.read_tracks(path)
    assert shoal.read_tracks(made("idtrackerai-npy", tmp_path, places())).fps == FPS


def test_a_hostile_deeplabcut_file_is_refused_and_does_nothing(tmp_path):
    path = made("deeplabcut-h5", tmp_path, places())
    mark = tmp_path / "created"
    with h5py.File(path, "a") as file:
        attack = pickle.dumps(Hostile(create, str(mark)), protocol=0)
        file["df_with_missing"].attrs["non_index_axes"] = np.bytes_(attack)
    with pytest.raises(shoal.InputError, match="was not executed"):
        shoal.read_tracks(path)
    assert not mark.exists()


def test_reading_poses_leaves_xarray_as_it_was(tmp_path):
    before = {name: xr.get_options()[name] for name in ("keep_attrs", "display_expand_data")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shoal.read_tracks(made("sleap-analysis", tmp_path, places()))
    assert before == {name: xr.get_options()[name] for name in before}


@pytest.mark.parametrize("name", sorted(set(FILES) - {"idtrackerai-csv", "trex-npz", "trex-csv"}))
def test_a_truncated_file_gets_a_sentence(name, tmp_path):
    path = made(name, tmp_path, places())
    whole = path.read_bytes()
    for share in (0.0, 0.3, 0.7):
        path.write_bytes(whole[: int(share * len(whole))])
        try:
            tracks = shoal.read_tracks(path)
        except shoal.InputError as error:
            assert str(path) in str(error)
        else:  # a text that ends after a whole row, or a number cut to fewer digits
            assert path.suffix in (".csv", ".txt")
            assert isinstance(tracks, shoal.Tracks | shoal.Collection)
