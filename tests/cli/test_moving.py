"""``shoal simulate``, ``predict`` and ``animate``: from a fit to moving groups, by one command."""

import csv
import re

import numpy as np
import pytest

import shoal
from cli.speaking import spoken
from cli.test_fit import drifting, run_here


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A fit made on the command line, its choices beside it."""
    folder = tmp_path_factory.mktemp("fit")
    groups = [drifting(seed, 40, group=f"g{seed}") for seed in range(2)]
    path = shoal.Collection(groups).to_csv(folder / "fish.csv")
    done = spoken(
        "fit", path, "--state", "local:bins=12,target:bins=12", "--target", "1.5,0.5", "--basis",
        "fourier:3", "--passive", "random-walk:40", "--method", "laplace", "--out", folder / "f.nc",
        warned=True,
    )  # fmt: skip
    assert done.status == 0, done.err
    return folder


@pytest.mark.slow
def test_a_herd_lives_by_a_fit_and_is_filmed_beside_the_observed_one(fitted, tmp_path):
    herd, video = tmp_path / "herd.csv", tmp_path / "herd.mp4"
    done = spoken(
        "simulate", fitted / "f.nc", "--steps", 25, "--rule", "stochastic", "--out", herd,
        "--video", video, "--beside", "observed,least-cost", "--inset", warned=True,
    )  # fmt: skip
    assert done.status == 0, done.err
    assert str(herd) in done.out and str(video) in done.out
    found = shoal.read_tracks(herd)
    assert found.groups == ("g0", "g1") and found["g1"].positions.shape == (26, 6, 2)
    observed = shoal.read_tracks(fitted / "fish.csv")
    np.testing.assert_allclose(found["g1"].positions[0], observed["g1"].positions[0])
    assert found.length_unit == "cm" and found["g0"].fps == 10.0
    assert video.stat().st_size > 5_000
    again = tmp_path / "again.csv"
    spoken("simulate", fitted / "f.nc", "--steps", 25, "--out", again, warned=True)
    assert again.read_bytes() == herd.read_bytes()


def test_a_release_needs_no_tracks(fitted, tmp_path, capsys, monkeypatch):
    out = tmp_path / "herd.parquet"
    bare = tmp_path / "bare.nc"
    bare.write_bytes((fitted / "f.nc").read_bytes())
    code, _ = run_here(
        capsys, monkeypatch, "simulate", bare, "--release", "8:0.2,0.2:0.1", "--steps", 9,
        "--speed", 0.5, "--fps", 10, "--arena", "0,0,2,1", "--stop", "one", "--reach", 0.05,
        "--out", out, "--rule", "least-cost",
    )  # fmt: skip
    assert code == 0
    herd = shoal.read_tracks(out)
    assert len(herd.members) == 8 and herd.arena == shoal.tracks.Rectangle(0, 0, 2, 1)
    code, err = run_here(capsys, monkeypatch, "simulate", bare, "--out", out)
    assert code == 2 and "bare.toml" in err and "--release" in err


@pytest.mark.slow
def test_one_command_says_whether_simulated_groups_move_like_the_observed(fitted, tmp_path):
    page = tmp_path / "check" / "predictive.html"
    done = spoken("predict", fitted / "f.nc", "--replicates", 40, "--out", page, warned=True)
    assert done.status == 0, done.err
    assert "On all measures together" in done.out and str(page) in done.out
    assert {path.name for path in page.parent.iterdir()} == {
        "predictive.html",
        "predictive-measures.csv",
        "predictive-measures.png",
        "predictive-measures.pdf",
    }
    text = page.read_text(encoding="utf-8")
    assert "summed standardised error" in text and "data:image/png" in text
    table = (page.parent / "predictive-measures.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(table.splitlines()))
    assert "share of groups that reach the target" in [r["measure"] for r in rows]


@pytest.mark.slow
def test_a_lag_is_a_decision_every_few_frames(fitted, tmp_path, capsys, monkeypatch):
    slow, out = tmp_path / "slow.nc", tmp_path / "slow.csv"
    code, err = run_here(
        capsys, monkeypatch, "fit", fitted / "fish.csv", "--state", "local:bins=12", "--lag", 4,
        "--heading-frames", 4, "--passive", "random-walk", "--basis", "bisquare", "--method", "map",
        "--out", slow,
    )  # fmt: skip
    assert code == 0, err
    code, err = run_here(capsys, monkeypatch, "simulate", slow, "--out", out)
    assert code == 0, err
    herd = shoal.read_tracks(out)
    assert herd["g0"].fps == 2.5 and len(herd["g0"].positions) == 10


def test_what_was_read_is_never_written_over(fitted, capsys, monkeypatch):
    before = (fitted / "fish.csv").read_bytes()
    code, err = run_here(
        capsys, monkeypatch, "simulate", fitted / "f.nc", "--out", fitted / "fish.csv"
    )
    assert code == 2 and "is what was read" in err
    assert (fitted / "fish.csv").read_bytes() == before


@pytest.mark.slow
def test_a_group_with_a_dog_is_filmed_with_it(tmp_path, capsys, monkeypatch):
    tracks = drifting(1, 30, individuals=["a", "b", "c", "d", "e", "dog"], group="field")
    path = tracks.with_landmarks("dog").to_csv(tmp_path / "sheep.csv")
    fit, video = tmp_path / "fit.nc", tmp_path / "herd.gif"
    code, err = run_here(
        capsys, monkeypatch, "fit", path, "--state", "local:bins=12,target:bins=12", "--target",
        "dog", "--method", "map", "--basis", "fourier:2", "--passive", "random-walk", "--out", fit,
    )  # fmt: skip
    assert code == 0, err
    code, err = run_here(
        capsys, monkeypatch, "simulate", fit, "--steps", 10, "--video", video, "--beside",
        "observed", "--inset", "--out", tmp_path / "herd.csv",
    )  # fmt: skip
    assert code == 0, err
    herd = shoal.read_tracks(tmp_path / "herd.csv")
    assert herd.members == tuple("abcde") and "dog" in herd.individuals
    code, err = run_here(
        capsys, monkeypatch, "simulate", fit, "--steps", 99, "--out", tmp_path / "h.csv"
    )
    assert code == 2 and "ask for 30 at most" in err


def test_tracks_are_filmed_as_they_are(fitted, tmp_path, capsys, monkeypatch):
    out = tmp_path / "fish.gif"
    code, err = run_here(
        capsys, monkeypatch, "animate", fitted / "fish.csv", "--group", "g1", "--target", "1.5,0.5",
        "--every", 4, "--out", out,
    )  # fmt: skip
    assert code == 0, err
    assert out.read_bytes()[:4] == b"GIF8"


BAD = {
    "suffix of tracks": (("--out", "herd.xlsx"), r"\.csv or \.parquet"),
    "suffix of a video": (("--video", "herd.avi"), r"ends in \.mp4 or \.gif"),
    "rule": (("--rule", "greedy"), "rule is one of"),
    "speed": (("--speed", "-1"), "0 or more; got -1"),
    "no number": (("--speed", "nan"), "0 or more; got nan"),
    "word for a speed": (("--speed", "fast"), "'constant', 'observed' or 'gamma'"),
    "arena": (("--arena", "1,2"), "an arena is left,bottom,right,top"),
    "start outside": (("--arena", "0,0,0.01,0.01"), "outside Rectangle"),
    "group": (("--group", "g7"), "no group 'g7'; there are g0, g1"),
    "nobody": (("--release", "0:1,1", "--speed", "1", "--steps", "3"), "1 animal or more"),
    "release": (("--release", "ten", "--speed", "1", "--steps", "3"), "a release is a number"),
    "stop": (("--stop", "half"), "stop is None, 'one' or 'all'"),
    "moving target": (("--stop", "one", "--target", "dog"), "fixed target is needed"),
    "beside": (("--video", "v.gif", "--beside", "greedy", "--steps", "3"), "--beside is made of"),
    "no steps": (("--steps", "0"), "1 or more; got 0"),
    "no reach": (("--stop", "one", "--reach", "0"), "reach of a target is positive"),
    "no replicates": (("--replicates", "0"), "1 or more; got 0"),
    "no video": (("--beside", "observed"), "name one with --video"),
    "no tracks there": (("--tracks", "nowhere.csv"), "nowhere.csv"),
}


@pytest.mark.parametrize(("words", "sentence"), BAD.values(), ids=BAD.keys())
def test_slips_end_with_a_line_and_status_2(words, sentence, fitted, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, err = run_here(capsys, monkeypatch, "simulate", fitted / "f.nc", *words)
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert re.search(sentence, err), err
    if "video" not in " ".join(words):
        assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_fit_that_does_not_say_where_to_turn_is_refused(fitted, tmp_path, capsys, monkeypatch):
    out = tmp_path / "d.nc"
    code, err = run_here(
        capsys, monkeypatch, "fit", fitted / "fish.csv", "--state", "neighbour-distance",
        "--method", "map", "--passive", "random-walk", "--basis", "bisquare", "--out", out,
    )  # fmt: skip
    assert code == 0, err
    code, err = run_here(capsys, monkeypatch, "simulate", out, "--out", tmp_path / "h.csv")
    assert code == 2 and "neighbour_distance" in err and "neighbour-bearing" in err
