"""``shoal fit``: from a file to a fit, figures and a page, by one command that can be repeated."""

import sys
import tomllib
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.image import imread

import shoal
from cli.speaking import spoken
from shoal.cli.main import main
from shoal.workflows.fitting import FitRun, FitSettings
from track_files import made, places

WORDS = {
    "local_misalignment": "local",
    "turning_angle": "turning",
    "neighbours_within": "neighbours",
}
"""Of features whose axis has another name."""


def run_here(capsys, monkeypatch, *words):
    """The command in this process: its exit status and what it wrote to the error stream."""
    monkeypatch.setattr(sys, "argv", ["shoal", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code, capsys.readouterr().err


def drifting(seed, frames=120, animals=6, **known):
    """Animals that turn a little every frame, and now and then towards each other."""
    rng = np.random.default_rng(seed)
    heading = np.cumsum(rng.normal(0, 0.2, (frames, animals)), axis=0)
    steps = 0.01 * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    positions = rng.random((1, animals, 2)) + np.cumsum(steps, axis=0)
    return shoal.Tracks.from_arrays(positions, fps=10.0, length_unit="cm", **known)


@pytest.fixture(scope="module")
def fish(tmp_path_factory):
    """A file of three groups."""
    groups = [drifting(seed, group=f"g{seed}") for seed in range(3)]
    return shoal.Collection(groups).to_csv(tmp_path_factory.mktemp("story") / "fish.csv")


@pytest.fixture(scope="module")
def story(fish):
    """What the command said, and where its results are."""
    words = (
        "--state",
        "local:bins=12,target:bins=12",
        "--target",
        "1.5,0.5",
        "--basis",
        "fourier:3",
    )
    done = spoken(
        "fit", fish, *words, "--passive", "random-walk:40", "--draws", 500, "--warmup", 300,
        "--seed", 3, "--out", fish.parent / "out" / "fit.nc",
    )  # fmt: skip
    return done, fish.parent / "out"


@pytest.mark.slow
def test_one_command_leads_from_a_file_to_a_fit_with_figures_and_a_page(story):
    done, out = story
    assert done.status == 0, done.err
    fit = shoal.load_fit(out / "fit.nc")
    assert fit.model.space.shape == (12, 12)
    assert fit.model.space.parts[1] == shoal.TargetMisalignment((1.5, 0.5), 12)
    assert int(fit.arrivals.sum()) == 3 * 6 * 118
    assert {path.name for path in out.iterdir()} == {
        *("fit.nc", "fit.toml", "fit.html"),
        *(f"fit-{name}.{kind}" for kind in ("png", "pdf")
          for name in ("cost-to-go", "state-cost", "marginals", "effects", "tracks")),
    }  # fmt: skip
    for picture in out.glob("*.png"):
        assert imread(picture).std() > 0.03, picture
    assert "2,124" in done.out
    assert str(out / "fit.html") in done.out.replace("\n", "")
    assert "18" in done.out  # fixes without a heading, one for each animal
    page = (out / "fit.html").read_text()
    assert "random-walk:40" in page and "Not checked here" in page
    assert "shoal fit" in page and "--seed 3" in page  # how to repeat it


@pytest.mark.slow
def test_the_choices_repeat_the_run_exactly(story, fish, tmp_path):
    _, out = story
    choices = tomllib.loads((out / "fit.toml").read_text())
    assert choices["tracks"] == str(fish)
    assert choices["heading-frames"] == 1
    again = spoken("fit", "--config", out / "fit.toml", "--out", tmp_path / "again.nc")
    assert again.status == 0, again.err
    one, other = shoal.load_fit(out / "fit.nc"), shoal.load_fit(tmp_path / "again.nc")
    assert np.array_equal(one.sampled.values, other.sampled.values)
    assert tomllib.loads((tmp_path / "again.toml").read_text()) == choices


@pytest.mark.slow
def test_a_word_on_the_line_goes_before_the_file(story, tmp_path):
    _, out = story
    done = spoken(
        "fit", "--config", out / "fit.toml", "--method", "map", "--state", "local:bins=8:absolute",
        "--basis", "identity", "--out", tmp_path / "one.nc", warned=True,
    )  # fmt: skip
    assert done.status == 0, done.err
    fit = shoal.load_fit(tmp_path / "one.nc")
    assert fit.method == "map"
    assert fit.model.space.axes == (shoal.states.Folded("local_misalignment", 8),)


@pytest.mark.slow
def test_streamed_tracks_give_the_same_counts(story):
    _, out = story
    chosen = FitSettings.from_toml(out / "fit.toml") | {"stream": True, "cluster": "1"}
    streamed, whole = FitRun(FitSettings(**chosen), False), shoal.load_fit(out / "fit.nc")
    assert np.array_equal(streamed.counts.arrivals, whole.arrivals.values)


@pytest.mark.parametrize(
    "state",
    [
        "neighbour-distance",
        "centroid-distance:bins=5,centroid-bearing:bins=6",
        "wall-distance:max=1:bins=4",
        "speed:edges=0/0.05/0.1/0.2",
        "turning:bins=12",
        "neighbours:radius=0.3:most=3",
        "target-distance:bins=4",
        "local:bins=6:others:nearest=2,neighbour-bearing:bins=4:absolute,speed:bins=3",
    ],
)
def test_every_feature_can_be_asked_for_by_word(state, fish):
    target = "1.5,0.5" if "target" in state else ""
    chosen = FitSettings(tracks=str(fish), state=state, target=target, arena="-3,-3,5,5")
    run = FitRun(replace(chosen, as_="transitions"), False)
    assert [part.split(":")[0] for part in state.split(",")] == [
        WORDS.get(name, name.replace("_", "-")) for name in run.space.names
    ]
    assert run.counts.total > 1000


def test_another_trackers_file_and_a_moving_target(tmp_path):
    path = made("idtrackerai-h5", tmp_path, places(missing=False))
    done = spoken(
        "fit", path, "--state", "local:bins=4,target:bins=4", "--target", "3", "--landmarks", "3",
        "--flip-y", "--method", "map", "--basis", "identity", "--passive", "random-walk",
        "--out", tmp_path / "t.nc",
    )  # fmt: skip
    assert done.status == 0, done.err
    assert shoal.load_fit(tmp_path / "t.nc").model.space.parts[1].target == "3"
    assert "mirrored" in done.out


WRONG = {
    "no tracks": ([], "which tracks?"),
    "no file": (["nothing.csv"], "does not exist"),
    "no feature": (["PATH", "--state", "mood"], "no feature 'mood'; there are local, target"),
    "no target": (["PATH", "--state", "target"], "needs --target"),
    "odd target": (["PATH", "--state", "target", "--target", "1,2,3"], "a target is X,Y"),
    "no such animal": (["PATH", "--state", "target", "--target", "dog"], "no animal or landmark"),
    "odd option": (["PATH", "--state", "local:size=3"], "no option 'size'; local has absolute"),
    "bare option": (["PATH", "--state", "local:radius"], "radius needs a value"),
    "odd number": (["PATH", "--state", "local:bins=many"], "bins is a number, got 'many'"),
    "no radius": (["PATH", "--state", "neighbours"], "needs a radius"),
    "no passive": (["PATH", "--passive", "lazy"], "passive dynamics are auto, turn-coupled"),
    "too many sds": (["PATH", "--passive", "random-walk:9,9"], "2 standard deviations"),
    "no basis": (["PATH", "--basis", "wavelet"], "a basis is one of identity"),
    "no resolution": (["PATH", "--basis", "bisquare:0"], "1 resolution or more, got 0"),
    "no method": (["PATH", "--method", "magic"], "method is one of map"),
    "no arena": (["PATH", "--arena", "1,2"], "an arena is left,bottom,right,top"),
    "no lag": (["PATH", "--lag", "0"], "whole number of frames, 1 or more; got 0"),
    "odd lag": (["PATH", "--lag", "often"], "whole number of frames, or auto; got 'often'"),
    "lag of a stream": (["PATH", "--lag", "auto", "--stream"], "read them whole"),
    "odd columns": (["PATH", "--columns", "x"], "written role=column"),
    "odd rescale": (["PATH", "--rescale", "big"], "unit-square, or a factor"),
    "cluster alone": (["PATH", "--cluster", "2"], "add --stream"),
    "changed stream": (["PATH", "--stream", "--every", "2"], "streamed tracks take no every"),
    "not netCDF": (["PATH", "--out", "fit.csv"], "ends in .nc"),
    "no config": (["--config", "none.toml"], "cannot be read"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line_and_exit_status_2(name, fish, tmp_path, capsys, monkeypatch):
    words, expected = WRONG[name]
    words = [str(fish) if word == "PATH" else word for word in words]
    out = () if "--out" in words else ("--out", tmp_path / "x.nc")
    monkeypatch.chdir(tmp_path)
    status, errors = run_here(capsys, monkeypatch, "fit", *words, *out)
    assert status == 2, errors
    assert len(errors.splitlines()) == 1
    assert errors.startswith("shoal: ")
    assert expected in errors
    assert not list(tmp_path.glob("*.nc"))


def test_a_toml_file_is_checked(tmp_path, capsys, monkeypatch):
    for text, words in (
        ("colour = 'blue'", "no choice 'colour'; there are tracks"),
        ("draws = 'many'", "draws is int, such as 1000; got 'many'"),
        ("draws = [", "is no TOML file"),
        ("lag = 'often'", "a whole number of frames, or auto; got 'often'"),
        ("lag = 'auto'\ntracks = 'nothing.csv'", "does not exist"),
    ):
        (tmp_path / "a.toml").write_text(text)
        choices = ("--config", tmp_path / "a.toml", "--out", tmp_path / "b.nc")
        status, errors = run_here(capsys, monkeypatch, "fit", *choices)
        assert status == 2
        assert words in errors


def test_what_was_read_is_never_written_over(tmp_path, capsys, monkeypatch):
    path = made("movement", tmp_path, places())
    before = path.read_bytes()
    words = ("fit", path, "--state", "local", "--method", "map", "--out", path)
    status, errors = run_here(capsys, monkeypatch, *words)
    assert status == 2
    assert "choose another name for --out" in errors
    assert path.read_bytes() == before


def test_warnings_are_one_line(fish, tmp_path):
    words = ("--state", "target:bins=4", "--target", "900,900", "--passive", "random-walk")
    words = (*words, "--method", "map", "--basis", "identity")
    done = spoken("fit", fish, *words, "--out", tmp_path / "w.nc", warned=True)
    assert done.status == 0
    assert "shoal: warning: the target (900, 900) lies far from" in done.err


def test_formats_and_features_are_listed():
    listed = spoken("formats").out
    for name in ("idtrackerai-npy", "sleap-labels", "movebank", "parquet"):
        assert name in listed
    assert "neighbour-distance" in spoken("features").out
