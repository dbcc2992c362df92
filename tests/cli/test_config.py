"""``--config``: a file of choices for every command that has many, which the line goes before."""

import pytest

import shoal
from cli.speaking import spoken
from cli.test_fit import drifting


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A fit, its choices beside it, and the tracks."""
    folder = tmp_path_factory.mktemp("config")
    groups = [drifting(seed, 40, group=f"g{seed}") for seed in range(2)]
    path = shoal.Collection(groups).to_csv(folder / "fish.csv")
    words = "--state local:bins=6 --passive random-walk:40 --basis identity --method map"
    said = spoken("fit", path, *words.split(), "--out", folder / "f.nc")
    assert said.status == 0, said.err
    return folder


def written(path, *lines):
    path.write_text("\n".join(lines))
    return path


def test_choices_of_a_simulation_come_from_a_file_and_the_line_goes_before(fitted, tmp_path):
    run = written(
        tmp_path / "run.toml", 'command = "simulate"', f'fit = "{fitted / "f.nc"}"', "steps = 3",
        'rule = "least-cost"', 'group = "g1"', "seed = 4",
    )  # fmt: skip
    out = tmp_path / "h.csv"
    said = spoken("simulate", "--config", run, "--steps", 5, "--out", out)
    assert said.status == 0, said.err
    assert "by the least-cost rule" in said.out
    herd = shoal.read_tracks(out)
    assert herd.group == "g1" and len(herd.positions) == 6


@pytest.mark.parametrize("option", ["--config", "--fit-config"])
@pytest.mark.parametrize("marked", [True, False], ids=["marked", "of an earlier release"])
def test_the_file_of_the_fit_may_lie_elsewhere(option, marked, fitted, tmp_path):
    bare = tmp_path / "bare.nc"
    bare.write_bytes((fitted / "f.nc").read_bytes())
    lines = (fitted / "f.toml").read_text().splitlines()
    assert lines[1] == 'command = "fit"'
    choices = written(tmp_path / "elsewhere.toml", *(lines if marked else lines[2:]))
    out = tmp_path / "h.csv"
    said = spoken("simulate", bare, option, choices, "--steps", 2, "--out", out)
    assert said.status == 0, said.err
    assert shoal.read_tracks(out).groups == ("g0", "g1")


def test_a_film_takes_its_choices_from_a_file(fitted, tmp_path):
    run = written(tmp_path / "a.toml", f'tracks = "{fitted / "fish.csv"}"', "every = 9", "fps = 10")
    said = spoken("animate", "--config", run, "--group", "g1", "--out", tmp_path / "a.gif")
    assert said.status == 0, said.err
    assert (tmp_path / "a.gif").read_bytes()[:4] == b"GIF8"


WRONG = {
    "simulate": ("speed = 3", "speed is str; got 3"),
    "predict": ("replicates = '40'", "replicates is int; got '40'"),
    "animate": ("tail = 'long'", "tail is int; got 'long'"),
    "compare": ("draws = 2.5", "draws is int, such as 250; got 2.5"),
    "calibrate": ("frames = [1]", "frames is int, such as 100; got [1]"),
    "fit": ("flip-y = 1", "flip-y is bool, such as False; got 1"),
}


@pytest.mark.parametrize("command", WRONG)
def test_a_file_is_checked_in_one_line_that_names_it_and_the_key(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line, words = WRONG[command]
    cases = {
        line: f"run.toml: {words}",
        'colour = "blue"': "run.toml: there is no choice 'colour'; there are ",
        'command = "swim"': f"run.toml: command is 'swim', so that these are no choices of shoal "
        f"{command}",
        "steps = [": "run.toml is no TOML file",
    }
    for content, expected in cases.items():
        run = written(tmp_path / "run.toml", content)
        said = spoken(command, "--config", run)
        assert said.status == 2 and said.out == ""
        assert said.err.count("\n") == 1
        assert expected in said.err


def test_a_missing_fit_or_track_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command, word in (("simulate", "fit"), ("predict", "fit"), ("animate", "tracks")):
        said = spoken(command)
        assert said.status == 2 and f"which {word}? " in said.err
