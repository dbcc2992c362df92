"""Files made to do harm: each is refused with a sentence, or read without any effect."""

import gzip
import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
from pyarrow import parquet

import shoal
from shoal.cli.output import print_table
from shoal.figures.style import save_figure
from shoal.figures.trajectories import trajectories
from shoal.report.page import Note, Page, write_page
from shoal.report.tables import write_table
from specimens import small_fit
from track_files import FRAMES, long_rows, made, places

HTML = "<script>alert(1)</script>"
FORMULA = "=cmd|'/C calc'!A0"


class Payload:
    """Unpickled, it makes a file."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def refused(path, words, read=shoal.read_tracks):
    """One line that names the file and says what is wrong."""
    with pytest.raises(shoal.InputError, match=words) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_1_a_pickle_bomb_is_not_executed(tmp_path):
    mark = tmp_path / "executed"
    bomb = np.array(Payload(mark), dtype=object)
    np.save(tmp_path / "a.npy", bomb, allow_pickle=True)
    refused(tmp_path / "a.npy", "it was not executed")
    numbers = np.arange(5.0)
    np.savez(tmp_path / "b.npz", frame=numbers, X=numbers, Y=bomb, allow_pickle=True)
    refused(tmp_path / "b.npz", "does it hold no numbers")
    path = made("deeplabcut-h5", tmp_path, places())
    with h5py.File(path, "a") as file:
        file["df_with_missing"].attrs["non_index_axes"] = np.bytes_(
            pickle.dumps([Payload(mark)], protocol=0)
        )
    refused(path, "it was not executed")
    assert not mark.exists()


def test_2_links_out_of_an_hdf5_file_are_refused(tmp_path):
    secret = tmp_path / "secret.h5"
    with h5py.File(secret, "w") as file:
        file["trajectories"] = places()
    for name, link in {
        "external": lambda f: f.__setitem__(
            "trajectories", h5py.ExternalLink(str(secret), "/trajectories")
        ),
        "virtual": _virtual(secret),
        "raw": lambda f: f.create_dataset(
            "trajectories", (4, 2, 2), "f8", external=[(str(secret), 0, 128)]
        ),
    }.items():
        path = tmp_path / f"{name}.h5"
        with h5py.File(path, "w") as file:
            link(file)
        refused(path, "lie(s)? in another file")
        refused(path, "in another file", shoal.load_fit)


def _virtual(secret):
    def link(file):
        layout = h5py.VirtualLayout((FRAMES, 3, 2), "f8")
        layout[...] = h5py.VirtualSource(str(secret), "trajectories", (FRAMES, 3, 2))
        file.create_virtual_dataset("trajectories", layout)

    return link


def test_3_a_zip_writes_nothing_anywhere(tmp_path):
    table = long_rows(places()).to_csv(index=False)
    home = tmp_path / "inner"
    home.mkdir()
    with zipfile.ZipFile(home / "slip.zip", "w") as file:
        file.writestr("../../evil.csv", table)
    assert len(shoal.read_tracks(home / "slip.zip").positions) == FRAMES
    with zipfile.ZipFile(home / "slip.npz", "w") as file:
        for name in ("frame", "X", "Y", "../../evil"):
            buffer = io.BytesIO()
            np.save(buffer, np.arange(5.0))
            file.writestr(f"{name}.npy", buffer.getvalue())
    assert len(shoal.read_tracks(home / "slip.npz").positions) == 5
    assert {path.name for path in tmp_path.rglob("*")} == {"inner", "slip.zip", "slip.npz"}


def test_4_headers_that_promise_billions_of_rows_are_refused(tmp_path):
    with (tmp_path / "a.npy").open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 8, 2)}
        np.lib.format.write_array_header_1_0(file, header)
    refused(tmp_path / "a.npy", "bytes cannot be")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file.create_dataset("trajectories", (10**9, 8, 2), "f8", chunks=(1000, 8, 2))
    refused(tmp_path / "b.h5", "says that it holds 128 GB of values")
    rows = {"frame": [0, 10**14], "id": ["a", "a"], "x": [0.0, 1.0], "y": [0.0, 1.0]}
    pd.DataFrame(rows).assign(frame=[0, 10**18]).to_csv(tmp_path / "c.csv", index=False)
    refused(tmp_path / "c.csv", "frames are whole numbers below")
    frames = np.r_[0:99, 10**14]
    pd.DataFrame({"frame": frames, "x": 0.0, "y": frames}).to_csv(tmp_path / "d.csv", index=False)
    refused(tmp_path / "d.csv", "spread over")
    many = pa.table({"frame": np.arange(10**7), "x": np.zeros(10**7), "y": np.zeros(10**7)})
    kept = {"compression": "zstd", "use_dictionary": ["x", "y"]}
    encoded = {"column_encoding": {"frame": "DELTA_BINARY_PACKED"}}
    parquet.write_table(many, tmp_path / "e.parquet", **kept, **encoded)
    assert (tmp_path / "e.parquet").stat().st_size < 2e6
    refused(tmp_path / "e.parquet", "made to fill memory")
    with pytest.raises(shoal.InputError, match="made to fill memory"):
        shoal.open_tracks(tmp_path / "e.parquet").blocks()


def test_5_html_in_names_is_escaped_and_names_are_no_paths(tmp_path, capsys):
    rows = long_rows(places(missing=False)).assign(id=lambda t: HTML + t["id"].astype(str))
    rows.assign(group="../../evil$\\frac{").to_csv(tmp_path / "a.csv", index=False)
    tracks = shoal.read_tracks(tmp_path / "a.csv")
    assert tracks.group == "../../evil$\\frac{"
    out = tmp_path / "out"
    out.mkdir()
    cells = [{"what": HTML, "found": "[/red]\x1b[2J" + HTML}]
    page = Page(HTML, HTML, cells, (), (Note(HTML, "\n".join(tracks.individuals)),))
    text = write_page(out / "page.html", page).read_text()
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    save_figure(trajectories([tracks]), out / "tracks.png")
    print_table("found", cells)
    assert "\x1b" not in capsys.readouterr().out
    tracks.to_csv(out / "tracks.csv")
    names = {path.name for path in tmp_path.rglob("*")}
    assert names == {"a.csv", "out", "page.html", "tracks.png", "tracks.csv"}


def test_6_nul_bytes_are_named_or_harmless(tmp_path):
    text = long_rows(places()).to_csv(index=False).encode()
    for number, damaged in enumerate(
        [b"\x00" + text, text.replace(b"frame", b"fra\x00me"), b"\x00" * 10_000]
    ):
        (tmp_path / f"{number}.csv").write_bytes(damaged)
        refused(tmp_path / f"{number}.csv", "not a recognised table or tracker file")
    (tmp_path / "late.csv").write_bytes(b"frame,id,x,y\n" + b"1,a,1,2\n" * 2000 + b"2,a,\x00,1\n")
    refused(tmp_path / "late.csv", "expected a number")
    (tmp_path / "fit.toml").write_bytes(b"tracks = 'a\x00'")
    refused(tmp_path / "fit.toml", "is no TOML file", _config)


def _config(path):
    from shoal.workflows.fitting import FitSettings  # noqa: PLC0415

    return FitSettings.from_toml(path)


def test_7_absurd_shapes_are_refused(tmp_path):
    for shape in ((0, 3, 2), (3,), (4, 5, 6, 7), (2, 0, 2), (1, 1, 2)):
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["trajectories"] = np.zeros(shape)
        refused(tmp_path / "a.h5", "expected positions|fewer than two frames|an array")
    small = {"trajectories": np.zeros((5000, 5000, 4), np.uint8)}
    scipy.io.savemat(tmp_path / "b.mat", small, do_compression=True)
    refused(tmp_path / "b.mat", "made to fill memory")
    (tmp_path / "c.csv.gz").write_bytes(
        gzip.compress(b"frame,id,x,y\n" + b"1,a,0,0\n" * 16_000_000, compresslevel=6)
    )
    refused(tmp_path / "c.csv.gz", "made to fill memory")
    fit = small_fit()
    for bins in (10**12, 10**30, -1, 0):
        path = fit.save(tmp_path / "d.nc")
        with h5py.File(path, "r+") as file:
            model = json.loads(file.attrs["model"])
            model["axes"][0]["bins"] = bins
            file.attrs["model"] = json.dumps(model)
        refused(path, "states|bins|description", shoal.load_fit)


def test_8_links_in_circles_are_followed_once(tmp_path):
    path = made("robofish", tmp_path, places())
    with h5py.File(path, "a") as file:
        file["samplings/again"] = file["/"]
        file["nowhere"] = h5py.SoftLink("/not/there")
    assert len(shoal.read_tracks(path).positions) == FRAMES
    with h5py.File(path, "a") as file:
        file["entities/9"] = h5py.SoftLink("/entities/9")
    refused(path, "damaged or not complete: copy or export it again .*too many links")


def test_9_names_that_are_formulas_are_text_in_a_spreadsheet(tmp_path):
    names = [FORMULA, "'=1+1", "-fish", "@a", "+b", "'quoted", "-1", "plain"]
    steps = np.random.default_rng(1).normal(size=(5, len(names), 2))
    tracks = shoal.Tracks.from_arrays(
        steps, fps=5.0, individuals=names, group="=2+2", covariates={"sex": ["=x()"] * 8}
    )
    path = tracks.to_csv(tmp_path / "a.csv")
    cells = pd.read_csv(path, dtype=str)[["group", "individual", "animal:sex"]].to_numpy().ravel()
    assert not [cell for cell in cells if cell[0] in "=+@" or (cell[0] == "-" and cell != "-1")]
    again = shoal.read_tracks(path)
    assert again.individuals == tracks.individuals
    assert again.group == "=2+2"
    assert set(again.covariates["sex"].values()) == {"=x()"}
    assert shoal.read_tracks(tracks.to_parquet(tmp_path / "a.parquet")).individuals == tuple(names)
    table = write_table([{"name": FORMULA, "cost": "-0.5"}], tmp_path / "t.csv").read_text()
    assert table.splitlines()[1] == f"'{FORMULA},-0.5"


@pytest.mark.skipif(os.name != "posix", reason="links and pipes as POSIX has them")
def test_10_symbolic_links_and_pipes_do_no_harm(tmp_path):
    victim = tmp_path / "victim.csv"
    victim.write_text("mine\n")
    tracks = shoal.Tracks.from_arrays(places(), fps=25.0)
    (tmp_path / "out.csv").symlink_to(victim)
    tracks.to_csv(tmp_path / "out.csv")
    assert victim.read_text() == "mine\n"
    assert not (tmp_path / "out.csv").is_symlink()
    (tmp_path / "round.csv").symlink_to(tmp_path / "round.csv")
    refused(tmp_path / "round.csv", "does not exist")
    folder = tmp_path / "folder"
    folder.mkdir()
    tracks.to_csv(folder / "a.csv")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.csv")
    assert len(shoal.read_tracks(folder).positions) == FRAMES
    refused(folder / "pipe.csv", "expected a file")
