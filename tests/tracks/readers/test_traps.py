"""Quiet ways to a wrong number that readers once had, or could have."""

import json
import warnings

import h5py
import numpy as np
import pandas as pd
import pytest

import shoal
from track_files import FPS, FRAMES, idtrackerai_npy, made, places

SPACE = shoal.StateSpace(shoal.LocalMisalignment(6))


def long_table(positions, **columns):
    frames, animals, _ = positions.shape
    x, y = positions.reshape(-1, 2).T
    table = pd.DataFrame(
        {
            "frame": np.repeat(np.arange(frames), animals),
            "id": np.tile([f"a{i}" for i in range(animals)], frames),
            "x": x,
            "y": y,
        }
    )
    return table.assign(**columns)


def write(table, path):
    table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(path)
    return path


def both_ways(path, **choices):
    whole = shoal.count_transitions(shoal.read_tracks(path), SPACE, **choices)
    for rows in (30, 10**6):
        opened = shoal.open_tracks(path, block_rows=rows)
        streamed = shoal.count_transitions(opened, SPACE, **choices)
        assert np.array_equal(streamed.matrix(), whole.matrix())
        assert streamed.dropped == whole.dropped
    return whole


@pytest.mark.filterwarnings("ignore:.* is a pair:UserWarning")
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_flags_roles_and_walls_hold_for_streams_as_well(tmp_path, suffix):
    rng = np.random.default_rng(1)
    table = long_table(places(missing=False), visible=rng.random(FRAMES * 3) > 0.2)
    assert both_ways(write(table, tmp_path / f"v{suffix}")).dropped["not seen"] > 5
    table = long_table(places(missing=False), role=np.tile(["", "", "landmark"], FRAMES))
    assert both_ways(write(table, tmp_path / f"r{suffix}")).fixes == 2 * FRAMES
    walled = shoal.Tracks.from_arrays(places(), arena=shoal.tracks.Circle(100, 100, 50), group="w")
    path = tmp_path / f"w{suffix}"
    walled.to_csv(path) if suffix == ".csv" else walled.to_parquet(path)
    space = shoal.StateSpace(shoal.states.WallDistance((0, 30, 60)))
    whole = shoal.count_transitions(walled, space)
    for rows in (30, 10**6):
        found = shoal.count_transitions(shoal.open_tracks(path, block_rows=rows), space)
        assert np.array_equal(found.matrix(), whole.matrix())


def test_streamed_tables_are_called_by_their_files(tmp_path):
    for name, shift in (("a", 0), ("b", 500)):
        folder = tmp_path / f"group={name}"
        folder.mkdir()
        table = long_table(places(missing=False) + shift)
        write(table.assign(frame=table["frame"] + shift), folder / "p.csv")
    opened = shoal.open_tracks(tmp_path)
    assert opened.groups == ("a", "b")
    assert shoal.count_transitions(opened, SPACE).total == 2 * 3 * (FRAMES - 2)
    assert shoal.open_tracks(tmp_path / "group=a" / "p.csv").groups in (("a",), ("p",))


def test_speeds_of_cut_groups_know_the_step_of_the_frames(tmp_path):
    table = long_table(places(missing=False))
    path = write(table.assign(frame=5 * table["frame"], fps=50.0), tmp_path / "s.parquet")
    space = shoal.StateSpace(shoal.states.Speed((0, 5, 10, 20, 40, 80, 1000)))
    whole = shoal.count_transitions(shoal.read_tracks(path), space)
    cut = shoal.count_transitions(shoal.open_tracks(path, block_rows=30), space)
    assert np.array_equal(cut.arrivals, whole.arrivals)
    assert shoal.read_tracks(path).fps == 10


JUMP = [0.0, 0.1, 0.2, 0.3, 2.0, 2.1, 2.2]


def walk(frames):
    return np.round(100 + np.random.default_rng(1).normal(size=(frames, 2, 2)).cumsum(axis=0), 3)


def test_gaps_in_time_are_gaps_whatever_the_file(tmp_path):
    """Seven frames, sixteen missing between the fourth and the fifth."""
    positions = walk(7)
    found = {"arrays": shoal.Tracks.from_arrays(positions, time=JUMP)}
    table = pd.DataFrame(positions.reshape(7, 4), columns=["x1", "y1", "x2", "y2"])
    table.insert(0, "seconds", JUMP)
    table.to_csv(tmp_path / "trajectories.csv", index=False)
    (tmp_path / "attributes.json").write_text(json.dumps({"frames_per_second": 10}))
    found["idtracker.ai"] = shoal.read_tracks(tmp_path / "trajectories.csv")
    whole = shoal.Tracks.from_arrays(walk(23), fps=10.0)
    kept = whole.to_movement().isel(time=[0, 1, 2, 3, 20, 21, 22])
    found["movement"] = shoal.Tracks.from_movement(kept)
    poses = pd.read_csv(
        made("deeplabcut-csv", tmp_path, places()), header=[0, 1, 2, 3], index_col=0
    )
    poses.iloc[[0, 1, 2, 3, 20, 21, 22]].to_csv(tmp_path / "poses.csv")
    found["DeepLabCut"] = shoal.read_tracks(tmp_path / "poses.csv")
    boxes = pd.read_csv(made("via-tracks", tmp_path, places(missing=False)))
    number = boxes["filename"].str[-12:-4].astype(int) - 1
    boxes[number.isin([0, 1, 2, 3, 20, 21, 22])].to_csv(tmp_path / "boxes.csv", index=False)
    found["VIA"] = shoal.read_tracks(tmp_path / "boxes.csv")
    stamps = pd.Timestamp("2020-01-01") + pd.to_timedelta(JUMP, unit="s")
    bonsai = {"Timestamp": stamps.strftime("%Y-%m-%dT%H:%M:%S.%f")}
    bonsai |= {f"A.Centroid.{n}": positions[:, 0, i] for i, n in enumerate("XY")}
    pd.DataFrame(bonsai).to_csv(tmp_path / "bonsai.csv", index=False)
    found["Bonsai"] = shoal.read_tracks(tmp_path / "bonsai.csv")
    for name, tracks in found.items():
        assert len(tracks.positions) == 23, name
        assert np.isnan(tracks.positions[4:20]).all(), name
        assert any("missing altogether" in note for note in tracks.notes), name


def test_roles_survive_blanks_capitals_and_files_of_one_animal(tmp_path):
    table = long_table(
        places(missing=False), role=np.tile(["animal", "animal", "Landmark"], FRAMES)
    )
    table.loc[5, "role"] = ""
    assert shoal.read_tracks(write(table, tmp_path / "a.csv")).members == ("a0", "a1")
    folder = tmp_path / "each"
    folder.mkdir()
    for name, part in table.groupby("id"):
        write(part.drop(columns="id"), folder / f"{name}.csv")
    assert shoal.read_tracks(folder).members == ("a0", "a1")
    table.loc[3, "role"] = "Landmark"
    with pytest.raises(shoal.InputError, match="the role of an animal changes"):
        shoal.read_tracks(write(table, tmp_path / "b.csv"))
    sizes = long_table(places(missing=False), age=np.arange(FRAMES * 3))
    assert "column 'age' varies" in shoal.read_tracks(write(sizes, tmp_path / "c.csv")).notes[-1]


def dated(words):
    rows = ["time,id,lon,lat", *(f"{w},a,{10 + i / 1e4},50" for i, w in enumerate(words))]
    return "\n".join(rows)


def test_dates_are_day_first_or_month_first_for_the_whole_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(dated(["11/04/2020 06:00", "12/04/2020 06:00", "13/04/2020 06:00"]))
    tracks = shoal.read_tracks(path)
    assert len(tracks.positions) == 3
    assert any("time 0 is 2020-04-11" in note for note in tracks.notes)
    path.write_text(dated(["09/04/2020 06:00", "10/04/2020 06:00", "11/04/2020 06:00"]))
    with pytest.raises(shoal.InputError, match="day first or month first"):
        shoal.read_tracks(path)


def test_numbers_of_time_are_in_the_unit_they_must_be_in(tmp_path):
    base = long_table(places(missing=False))
    epoch = 1.6e12 + 40.0 * base["frame"]
    stamped = base.drop(columns="frame").assign(timestamp=epoch)
    assert shoal.read_tracks(write(stamped, tmp_path / "ms.csv")).fps == FPS
    both = base.assign(time=base["frame"] / FPS, timestamp=40_000.0 * base["frame"])
    assert shoal.read_tracks(write(both, tmp_path / "both.csv")).fps == FPS
    spans = base.assign(time=pd.to_timedelta(base["frame"] / FPS, unit="s"))
    assert shoal.read_tracks(write(spans, tmp_path / "span.parquet")).fps == FPS
    timed = base.drop(columns="frame").assign(time_s=base["frame"] / FPS)
    assert shoal.read_tracks(write(timed, tmp_path / "t.csv"), fps=100.0).fps == 100
    days = timed.rename(columns={"time_s": "time"}).assign(date=np.tile(["d1", "d2", "d2"], FRAMES))
    with pytest.raises(shoal.InputError, match="several dates beside numbers"):
        shoal.read_tracks(write(days, tmp_path / "d.csv"))


def test_fixes_half_way_between_ticks_are_not_lost_by_turns(tmp_path):
    rows = ["timestamp,location-long,location-lat,individual-local-identifier"]
    for animal, late in enumerate((0, 15, 30)):
        for fix in range(10):
            time = pd.Timestamp("2020-01-01") + pd.Timedelta(seconds=60 * fix + late)
            rows.append(f"{time},{10 + fix / 1e4},50,{animal}")
    (tmp_path / "a.csv").write_text("\n".join(rows))
    for choices in ({}, {"clock": 60.0}):
        with pytest.warns(UserWarning, match="are that uncertain; choose a clock"):
            tracks = shoal.read_tracks(tmp_path / "a.csv", **choices)
        assert tracks.positions.shape[0] == 10
        assert tracks.missing == 0


def test_a_logger_keeps_its_own_interval(tmp_path):
    rows = ["timestamp,location-long,location-lat,individual-local-identifier"]
    for animal, late in enumerate((0, 9, 20)):
        for fix in range(40):
            time = pd.Timestamp("2020-01-01") + pd.Timedelta(seconds=28 * fix + late)
            rows.append(f"{time},{10 + 28 * fix / 71_695.7:.9f},50,{animal}")
    (tmp_path / "a.csv").write_text("\n".join(rows))
    with pytest.warns(UserWarning, match="tick every 28 s"):
        tracks = shoal.read_tracks(tmp_path / "a.csv")
    speed = np.diff(tracks.positions[..., 0], axis=0) * tracks.fps
    assert np.nanmedian(speed) == pytest.approx(1.0, rel=0.01)
    assert np.nanmax(speed) < 1.1


def test_every_column_of_outliers_counts(tmp_path):
    path = made("movebank", tmp_path, places(missing=False))
    table = pd.read_csv(path)
    table["manually-marked-outlier"] = None
    table["algorithm-marked-outlier"] = np.where(np.arange(len(table)) == 7, "true", "")
    tracks = shoal.read_tracks(write(table, tmp_path / "out.csv"))
    assert tracks.missing == 1
    assert any("1 fixes marked as outliers (algorithm" in note for note in tracks.notes)


def test_a_place_on_earth_is_one_place_in_all_files_of_a_folder(tmp_path):
    for name, shift in (("a", 0.0), ("b", 0.1)):
        path = made("movebank", tmp_path, places(missing=False))
        table = pd.read_csv(path)
        table["location-long"] += shift
        (tmp_path / "all").mkdir(exist_ok=True)
        write(table, tmp_path / "all" / f"{name}.csv")
        path.unlink()
        path.parent.rmdir()
    a, b = shoal.read_tracks(tmp_path / "all")
    gap = np.nanmean(b.positions[..., 0]) - np.nanmean(a.positions[..., 0])
    assert gap == pytest.approx(0.1 * 111_319.5, rel=1e-3)
    assert np.allclose(a.place_at(10.0, 0.0), b.place_at(10.0, 0.0))
    with pytest.warns(UserWarning, match="looks like longitude and latitude"):
        shoal.count_transitions(a, shoal.StateSpace(shoal.TargetMisalignment((10.0, 0.0))))


def test_mixed_rates_are_told(tmp_path):
    slow = shoal.Tracks.from_arrays(places(), fps=10.0, group="a")
    fast = shoal.Tracks.from_arrays(places(), fps=50.0, group="b")
    with pytest.warns(UserWarning, match="different frame rates"):
        shoal.count_transitions([slow, fast], SPACE)
    untimed = shoal.Tracks.from_arrays(places(), group="c")
    with pytest.raises(shoal.InputError, match="speeds need the frame rate of every group"):
        shoal.count_transitions([slow, untimed], shoal.StateSpace(shoal.states.Speed((0, 9, 999))))
    assert slow.to_csv(tmp_path / "a.csv")
    fast.to_csv(tmp_path / "b.csv")
    with pytest.raises(shoal.InputError, match="fps is"):
        shoal.open_tracks(tmp_path)


@pytest.mark.filterwarnings("ignore:.* is a pair:UserWarning")
def test_an_animal_all_alone_is_not_aligned_with_anybody():
    positions = walk(20)
    positions[10:, 1] = np.nan
    counts = shoal.count_transitions(shoal.Tracks.from_arrays(positions), SPACE)
    assert counts.total == 2 * 8
    assert counts.dropped["local_misalignment: undefined"] == 9 + 1


def test_nobody_is_away_from_itself():
    tracks = shoal.Tracks.from_arrays(walk(20), individuals=["a", "b"])
    space = shoal.StateSpace(shoal.states.TargetDistance("a", (0, 1, 99)))
    assert shoal.count_transitions(tracks, space, by="individual")["", "a"].total == 0


def test_a_mask_of_frames_drops_the_frames_it_marks():
    tracks = shoal.Tracks.from_arrays(walk(20))
    mask = np.zeros(20, dtype=bool)
    mask[[4, 9]] = True
    assert np.array_equal(np.isnan(tracks.drop(frames=mask).positions[:, 0, 0]), mask)


def test_rows_are_called_by_their_number_in_the_file(tmp_path):
    rows = ["group,frame,id,x,y"]
    rows += [f"{g},{f},a,{f},0" for f in range(6) for g in ("n", "s")]
    rows.append("s,5,a,9,9")
    (tmp_path / "a.csv").write_text("\n".join(rows))
    with pytest.raises(shoal.InputError, match=r"row 14: frame comes twice.* in row 13"):
        shoal.read_tracks(tmp_path / "a.csv")


def test_collections_of_unlike_groups_come_back(tmp_path):
    one = shoal.Tracks.from_arrays(
        places(),
        fps=5.0,
        group="a",
        arena=shoal.tracks.Circle(0, 0, 9),
        covariates={"trial": 1, "ok": True},
    )
    other = shoal.Tracks.from_arrays(
        places(2), fps=7.0, group="b", arena=shoal.tracks.Rectangle(0, 0, 1, 1)
    )
    for path in (tmp_path / "c.csv", tmp_path / "c.parquet"):
        both = shoal.Collection([one, other])
        again = shoal.read_tracks(
            both.to_csv(path) if path.suffix == ".csv" else both.to_parquet(path)
        )
        assert [part.fps for part in again] == [5.0, 7.0]
        assert [part.arena for part in again] == [one.arena, other.arena]
        assert again[0].covariates["trial"] == 1
        assert again[0].covariates["ok"] is True
        assert "trial" not in again[1].covariates


def test_pickles_made_to_fill_memory_are_refused(tmp_path):
    path = tmp_path / "bomb.npy"

    def written(content):
        with path.open("wb") as file:
            header = {"descr": "|O", "fortran_order": False, "shape": ()}
            np.lib.format.write_array_header_1_0(file, header)
            file.write(content)
        return path

    with pytest.raises(shoal.InputError, match="made to exhaust memory"):
        shoal.read_tracks(written(b"\x80\x02]r\x00\xe1\xf5\x05."))
    shared = b"\x80\x04](K\x01e\x94" + b"".join(b"](h%ch%ce\x94" % (i, i) for i in range(40)) + b"."
    with pytest.raises(shoal.InputError, match="lists of lists of lists"):
        shoal.read_tracks(written(shared))
    with path.open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**10, 8, 2)}
        np.lib.format.write_array_header_1_0(file, header)
    with pytest.raises(shoal.InputError, match="bytes cannot be"):
        shoal.read_tracks(path)


def test_odd_facts_in_a_file_do_no_harm(tmp_path):
    path = made("idtrackerai-h5", tmp_path, places())
    with h5py.File(path, "a") as file:
        file.attrs["length_unit"] = "cm"
        file.attrs["body_length"] = np.zeros(0)
    tracks = shoal.read_tracks(path)
    assert any("length_unit = cm" in note for note in tracks.notes)
    assert idtrackerai_npy(tmp_path, places()).exists()


def test_long_gaps_between_row_groups_and_odd_labels_stream(tmp_path):
    table = long_table(places(missing=False))
    far = pd.concat([table, table.assign(frame=table["frame"] + 5000)])
    far["group"] = 1e20
    path = tmp_path / "far.parquet"
    far.to_parquet(path, index=False, row_group_size=40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        both_ways(path)
