"""Long tables under all the names people give their columns, folders of them, and what is wrong."""

import gzip
import zipfile

import numpy as np
import pandas as pd
import pytest
from pyproj import Geod

import shoal
from shoal.tracks.readers.layout import layout_of
from track_files import FRAMES, made, places

SPELLINGS = [
    ("time,animal_id,x,y", {"individual": "animal_id", "time": "time"}),
    ("x,y,time,bird", {"individual": "bird"}),
    ("cnt,frame,pos_x,pos_y,id", {"x": "pos_x", "individual": "id", "frame": "frame"}),
    ("event,id,time,lat,lon", {"group": "event", "longitude": "lon", "latitude": "lat"}),
    ("calftag,x,y,time,date", {"individual": "calftag", "date": "date"}),
    ("id,x,y,size,frame,track,ignore,track_fixed", {"individual": "track_fixed"}),
    ("frame,time_s,id,x_px,y_px,x,y,occlusion_flag", {"x": "x", "y": "y", "time": "time_s"}),
    ("Frame,X(cm),Y(cm)", {"x": "X(cm)", "frame": "Frame"}),
    ("date,time,lon,lat", {"time": "time", "date": "date", "longitude": "lon"}),
    (
        "timestamp,location.long,location.lat,individual.local.identifier,visible,study.name",
        {"longitude": "location.long", "individual": "individual.local.identifier"},
    ),
    ("step,id,x_px,y_px", {"frame": "step", "x": "x_px"}),
    ("individual,frame,x,y,experiment,sex", {"group": "experiment"}),
]


@pytest.mark.parametrize(("header", "roles"), SPELLINGS, ids=[s[0] for s in SPELLINGS])
def test_columns_are_recognised_by_the_names_people_give_them(header, roles):
    layout = layout_of(header.split(","), {})
    assert {role: layout[role] for role in roles} == roles


def write(path, text):
    path.write_text(text)
    return path


def small(frames=5):
    rows = [f"{f},{i},{f + i},{2 * f - i}" for f in range(frames) for i in range(2)]
    return ["frame,id,x,y", *rows]


def test_columns_of_any_name_can_be_mapped(tmp_path):
    rows = ["n,who,east,north", *small()[1:]]
    path = write(tmp_path / "a.csv", "\n".join(rows))
    columns = {"frame": "n", "individual": "who", "x": "east", "y": "north"}
    tracks = shoal.read_tracks(path, columns=columns)
    assert tracks.individuals == ("0", "1")
    assert tracks.positions[3, 1].tolist() == [4, 5]


@pytest.mark.parametrize(
    "packed", ["plain", "gz", "zip", "semicolons", "bom", "crlf", "decimal commas", "utf-16"]
)
def test_a_table_may_be_packed_and_written_in_many_ways(packed, tmp_path):
    text = "\n".join(small())
    path = tmp_path / "a.csv"
    if packed == "gz":
        path = tmp_path / "a.csv.gz"
        path.write_bytes(gzip.compress(text.encode()))
    elif packed == "zip":
        path = tmp_path / "a.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("table.csv", text)
            archive.writestr("readme.txt", "about")
    elif packed == "semicolons":
        path.write_text(text.replace(",", ";"))
    elif packed == "decimal commas":
        rows = [",".join([*row.split(",")[:2], *(f"{v}.0" for v in row.split(",")[2:])]) for row in
                small()[1:]]  # fmt: skip
        path.write_text("\n".join([small()[0], *rows]).replace(",", ";").replace(".", ","))
    elif packed == "utf-16":
        path.write_text(text, encoding="utf-16")
    elif packed == "bom":
        path.write_text(text, encoding="utf-8-sig")
    elif packed == "crlf":
        path.write_bytes(text.replace("\n", "\r\n").encode())
    else:
        path.write_text(text)
    tracks = shoal.read_tracks(path)
    assert tracks.positions[3, 1].tolist() == [4, 5]
    assert tracks.positions.shape == (5, 2, 2)


def test_frames_that_are_missing_are_gaps_and_steps_of_several_are_steps(tmp_path):
    rows = small(8)
    gap = write(tmp_path / "gap.csv", "\n".join(r for r in rows if not r.startswith("3,")))
    assert np.isnan(shoal.read_tracks(gap).positions[3]).all()
    thin = [rows[0], *(r for r in rows[1:] if int(r[0]) % 2 == 0)]
    tracks = shoal.read_tracks(write(tmp_path / "thin.csv", "\n".join(thin)))
    assert tracks.positions.shape == (4, 2, 2)
    assert tracks.time.tolist() == [0, 2, 4, 6]
    assert "steps of 2" in tracks.notes[0]


def test_times_make_frames_and_breaks_in_them_are_gaps(tmp_path):
    times = [0.0, 0.1, 0.2, 0.52, 0.6]
    rows = ["t,id,x,y", *(f"{t},{i},{t},0" for t in times for i in "ab")]
    tracks = shoal.read_tracks(write(tmp_path / "a.csv", "\n".join(rows)))
    assert len(tracks.positions) == 7
    assert np.isnan(tracks.positions[3:5]).all()
    assert tracks.time[[0, 1, 2, 5, 6]].tolist() == times
    assert tracks.fps == 10
    assert any("2 frames are missing altogether" in note for note in tracks.notes)


def test_whole_numbers_of_time_without_a_unit_are_frames(tmp_path):
    rows = ["time,id,x,y", *(f"{t},{i},{t},0" for t in range(1, 5) for i in "ab")]
    tracks = shoal.read_tracks(write(tmp_path / "a.csv", "\n".join(rows)))
    assert tracks.fps is None
    assert tracks.notes == ("column 'time' counts 1, 2, 3 …: taken as frame numbers, rate unknown",)
    told = shoal.read_tracks(tmp_path / "a.csv", fps=10.0)
    assert told.notes == ("column 'time' counts 1, 2, 3 …: taken as frame numbers",)
    rows[0] = "time (s),id,x,y"
    assert shoal.read_tracks(write(tmp_path / "b.csv", "\n".join(rows))).fps == 1


def gps(tmp_path, offsets=(0, 70, 20)):
    """Three loggers with a fix every 10 minutes, each with a clock of its own."""
    rows = []
    for animal, late in enumerate(offsets):
        for fix in range(20):
            time = pd.Timestamp("2021-03-01 06:00:00") + pd.Timedelta(seconds=600 * fix + late)
            rows.append(
                {
                    "timestamp": time.strftime("%Y-%m-%d %H:%M:%S.000"),
                    "location-long": 179.99 + 0.002 * fix,
                    "location-lat": 60 + 0.001 * animal,
                    "individual-local-identifier": f"stork{animal}",
                    "visible": "false" if fix == 7 and animal == 1 else "true",
                }
            )
    rows[3]["location-long"] = rows[3]["location-lat"] = None
    table = pd.DataFrame(rows)
    table["location-long"] = (table["location-long"] + 180) % 360 - 180  # across the date line
    path = tmp_path / "storks.csv"
    table.to_csv(path, index=False)
    return path


def test_gps_fixes_are_projected_aligned_and_their_outliers_dropped(tmp_path):
    tracks = shoal.read_tracks(gps(tmp_path))
    assert tracks.positions.shape == (20, 3, 2)
    assert tracks.missing == 2
    assert np.isnan(tracks.positions[7, 1]).all()
    assert np.isnan(tracks.positions[3, 0]).all()
    step = np.nanmedian(np.diff(tracks.positions[:, 2, 0]))
    assert step == pytest.approx(0.002 * 111_319.5 * np.cos(np.deg2rad(60)), rel=0.01)
    notes = " | ".join(tracks.notes)
    assert "1 fixes marked visible=false were dropped" in notes
    assert "1 rows without a position were dropped" in notes
    assert "tick every 600 s" in notes
    assert "at most 40.4 s" in notes
    coarse = shoal.read_tracks(gps(tmp_path), clock=1200.0)
    assert len(coarse.positions) == 11
    assert any("fixes left out" in note for note in coarse.notes)


def test_distances_from_ticks_are_those_of_the_fixes_that_stay(tmp_path):
    """Fixes every second on a clock of 10 s: nine in ten go, the tenth is near its tick."""
    rows = ["time_s,id,x,y"]
    rows += [f"{t + 0.17 * (i == 'b')},{i},{t},0" for t in range(61) for i in "ab"]
    path = write(tmp_path / "a.csv", "\n".join(rows))
    tracks = shoal.read_tracks(path, clock=10.0)
    (note,) = (note for note in tracks.notes if "common clock" in note)
    assert "a tick every 10 s; fixes lie 0.0" in note
    assert any("fixes left out: another of the same animal" in note for note in tracks.notes)
    with pytest.raises(shoal.InputError, match="clock=10 puts a frame every 10 s, so fps=30 con"):
        shoal.read_tracks(path, clock=10.0, fps=30.0)


def test_projected_distances_agree_with_the_geodesic(tmp_path):
    tracks = shoal.read_tracks(gps(tmp_path))
    x, y = tracks.positions[0, 0]
    x2, y2 = tracks.positions[19, 2]
    _, _, exact = Geod(ellps="WGS84").inv(179.99, 60, 179.99 + 0.038, 60.002)
    assert np.hypot(x2 - x, y2 - y) == pytest.approx(exact, rel=1e-5)


def test_files_of_one_animal_each_are_one_group_and_folders_are_several(tmp_path):
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
        for fish in range(3):
            rows = ["Frame,X(cm),Y(cm)", *(f"{f},{f + fish},{f}" for f in range(6))]
            write(tmp_path / day / f"fish{fish}.csv", "\n".join(rows))
    one = shoal.read_tracks(tmp_path / "monday")
    assert one.individuals == ("fish0", "fish1", "fish2")
    assert one.length_unit == "cm"
    both = shoal.read_tracks(tmp_path)
    assert both.groups == ("monday", "tuesday")
    globbed = shoal.read_tracks(str(tmp_path / "*" / "fish0.csv"))
    assert globbed.groups == ("monday", "tuesday")


def test_files_of_many_animals_are_groups_named_by_their_place(tmp_path):
    for name in ("a", "b"):
        shoal.Tracks.from_arrays(places(), fps=5.0).to_csv(tmp_path / f"{name}.csv")
    (tmp_path / "README.md").write_text("about")
    groups = shoal.read_tracks(tmp_path)
    assert groups.groups == ("a", "b")
    assert [len(group.positions) for group in groups] == [FRAMES, FRAMES]


def guppies(folder, sexes=("female", "male")):
    rows = ["experiment,sex,individual,frame,x,y"]
    rng = np.random.default_rng(1)
    for number, sex in enumerate(sexes):
        for frame in range(20):
            for fish in range(10):
                x, y = rng.random(2)
                rows.append(f"e{number:02d},{sex},{fish},{frame},{x:.3f},{y:.3f}")
    return write(folder / "guppies.csv", "\n".join(rows))


def test_the_guppy_experiment_is_read_from_one_table_or_from_many(tmp_path):
    whole = shoal.paper.read_guppies(guppies(tmp_path, ["female"] * 12 + ["male"] * 14))
    assert len(whole) == 26
    assert [part.covariates["sex"] for part in whole].count("male") == 14
    assert whole[0].fps == 10
    assert not any("the paper has" in note for note in whole.notes)
    parts = tmp_path / "parts"
    parts.mkdir()
    for number, tracks in enumerate(whole):
        table = tracks.table()[["individual", "frame", "x", "y"]]
        sex = tracks.covariates["sex"]
        table.to_csv(parts / f"{sex}_{number:02d}.csv", index=False)
    again = shoal.paper.read_guppies(parts)
    assert len(again) == 26
    assert [part.covariates["sex"] for part in again].count("female") == 12
    few = shoal.paper.read_guppies(guppies(tmp_path))
    assert "1 female and 1 male groups; the paper has 12 and 14" in few.notes[-1] or any(
        "the paper has 12 and 14" in note for note in few.notes
    )
    with pytest.raises(shoal.InputError, match="its sex is unknown"):
        shoal.paper.read_guppies(guppies(tmp_path, ["unknown"]))


BROKEN = {
    "missing column": (["frame,id,x", "1,a,0"], "no column for y .*columns found: frame, id, x"),
    "no time at all": (["id,x,y", "a,0,0"], "no column for frame"),
    "text in a number": (
        [*small(), "5,0,oops,1", "5,1,1,1"],
        r"a\.csv, row 12, column 'x': expected a number, got 'oops'",
    ),
    "a short row": ([*small(), "5,0,1"], r"row 12: expected 4 columns, got 3"),
    "a long row": ([*small(), "5,0,1,2,3"], r"row 12: expected 4 columns, got 5"),
    "twice": ([*small(), "4,1,0,0"], r"row 12: frame comes twice for individual '1': 4 after 4"),
    "backwards": ([*small(), "2,1,0,0"], r"row 12: frame goes backwards for individual '1': 2"),
    "time backwards": (
        ["t,id,x,y", "0.0,a,0,0", "0.2,a,0,0", "0.1,a,0,0"],
        r"row 4: time goes backwards for individual 'a': 0.1 after 0.2 in row 3",
    ),
    "mixed units": (["frame,id,x_cm,y_px", "1,a,0,0", "2,a,0,0"], "mixed units: .*x_cm.*y_px"),
    "infinite": ([*small(), "5,0,inf,1"], r"row 12: x is inf"),
    "half a frame": ([*small(), "5.5,0,1,1"], r"row 12, column 'frame': frames are whole numbers"),
    "one frame": (small(1), "fewer than two frames"),
    "no rows": (["frame,id,x,y"], "a header but no rows"),
    "nobody": ([*small(), "5,,1,1"], r"row 12, column 'id': it is empty"),
    "no date": (["time,id,x,y", "2020-01-01 10:00:00,a,0,0", "soon,a,1,1"], r"row 3, .*got 'soon'"),
    "nowhere on Earth": (
        ["timestamp,location-long,location-lat", "2020-01-01 10:00:00,10,95"],
        "is not on Earth",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_said_with_file_row_and_column(name, tmp_path):
    rows, words = BROKEN[name]
    path = write(tmp_path / "a.csv", "\n".join(rows) + "\n")
    with pytest.raises(shoal.InputError, match=words) as caught:
        shoal.read_tracks(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_rows_in_any_order_are_read_on_request(tmp_path):
    rows = small()
    path = write(tmp_path / "a.csv", "\n".join([rows[0], *rows[:0:-1]]))
    with pytest.raises(shoal.InputError, match="sort=True"):
        shoal.read_tracks(path)
    tracks = shoal.read_tracks(path, sort=True)
    order = [int(name) for name in tracks.individuals]
    assert tracks.positions[3, order.index(1)].tolist() == [4, 5]


def test_a_broken_row_near_the_end_of_a_large_table_is_found(tmp_path):
    path = tmp_path / "large.csv"
    frame = np.repeat(np.arange(30_000), 10)
    table = pd.DataFrame({"frame": frame, "id": np.tile(np.arange(10), 30_000), "x": 1.5, "y": 2.5})
    text = table.to_csv(index=False).splitlines()
    text[299_990] = text[299_990].replace("1.5", "1.5.5")
    path.write_text("\n".join(text))
    with pytest.raises(shoal.InputError, match=r"row 299991, column 'x'.*got '1.5.5'"):
        shoal.read_tracks(path)


def test_a_format_that_nobody_knows_gets_the_reasons_of_all(tmp_path):
    path = write(tmp_path / "notes.txt", "dear diary\nit rained\n")
    with pytest.raises(shoal.InputError, match="not a recognised table or tracker file") as caught:
        shoal.read_tracks(path)
    for name in ("csv: there is no column", "deeplabcut-csv: its first rows", "robofish"):
        assert name in str(caught.value)
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)))
    with pytest.raises(shoal.InputError, match="not a recognised table or tracker file"):
        shoal.read_tracks(tmp_path / "noise.bin")


def test_other_slips_get_a_sentence(tmp_path):
    made("csv", tmp_path, places())
    made("robofish", tmp_path, places())
    with pytest.raises(shoal.InputError, match=r"different formats: csv \(fish.csv\), robofish"):
        shoal.read_tracks(tmp_path)
    with pytest.raises(shoal.InputError, match="does not exist"):
        shoal.read_tracks(tmp_path / "nothing.csv")
    with pytest.raises(shoal.InputError, match="no file fits the pattern"):
        shoal.read_tracks(str(tmp_path / "*.xyz"))
    with pytest.raises(shoal.InputError, match="there is no format 'trax'; there are idtracker"):
        shoal.read_tracks(tmp_path / "csv" / "fish.csv", format="trax")
    with pytest.raises(shoal.InputError, match="is not in format ctrax: not a Matlab 5 file"):
        shoal.read_tracks(tmp_path / "csv" / "fish.csv", format="ctrax")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(shoal.InputError, match=r"empty\.csv is empty"):
        shoal.read_tracks(tmp_path / "empty.csv")
    (tmp_path / "hollow").mkdir()
    with pytest.raises(shoal.InputError, match="holds no files of tracks"):
        shoal.read_tracks(tmp_path / "hollow")
    with pytest.raises(shoal.InputError, match="no column 'who'; the columns are frame"):
        shoal.read_tracks(tmp_path / "csv" / "fish.csv", columns={"individual": "who"})
    with pytest.raises(shoal.InputError, match="unknown role 'animal'"):
        shoal.read_tracks(tmp_path / "csv" / "fish.csv", columns={"animal": "id"})
    with pytest.raises(shoal.InputError, match="fps must be positive, got -1"):
        shoal.read_tracks(tmp_path / "csv" / "fish.csv", fps=-1.0)


def test_names_in_the_letters_of_excel_are_read(tmp_path):
    rows = ["frame;id;x;y", *(f"{f};{name};{f};0" for f in range(4) for name in ("Zoë", "Käthe"))]
    (tmp_path / "a.csv").write_bytes("\n".join(rows).encode("cp1252"))
    assert shoal.read_tracks(tmp_path / "a.csv").individuals == ("Zoë", "Käthe")


def test_times_of_day_are_seconds(tmp_path):
    rows = ["time,id,x,y", *(f"12:00:{s:02d},a,{s},0" for s in (0, 2, 4, 10, 12))]
    tracks = shoal.read_tracks(write(tmp_path / "a.csv", "\n".join(rows)))
    assert tracks.fps == 0.5
    assert np.isnan(tracks.positions[3:5, 0, 0]).all()


def test_a_jump_that_must_be_an_error_is_warned_about_and_can_be_dropped(tmp_path):
    positions = places(missing=False)
    positions[12, 1] += 15_000
    path = shoal.Tracks.from_arrays(positions, group="g").to_csv(tmp_path / "a.csv")
    with pytest.warns(UserWarning, match=r"g: 2 steps are over 50 times .* by 1 in frame 11"):
        tracks = shoal.read_tracks(path)
    mended = tracks.drop_jumps(100.0)
    assert mended.missing == 1
    assert np.isnan(mended.positions[12, 1]).all()
    assert mended.notes[-1] == "1 fixes dropped: jumps beyond 100"


def test_animals_never_seen_together_are_warned_about(tmp_path):
    rows = ["timestamp,location-long,location-lat,individual-local-identifier"]
    for animal, day in (("a", "2020-01-01"), ("b", "2020-02-01")):
        rows += [f"{day} 10:{m:02d}:00,{10 + m / 1e4},50,{animal}" for m in range(20)]
    with pytest.warns(UserWarning, match="hardly ever seen at the same time"):
        shoal.read_tracks(write(tmp_path / "a.csv", "\n".join(rows)))


def test_pictures_and_fits_are_called_what_they_are(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(shoal.InputError, match="a PNG picture"):
        shoal.read_tracks(tmp_path / "a.png")
