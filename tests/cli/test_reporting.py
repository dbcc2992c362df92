"""``shoal report`` and ``shoal explore``: from a fit to a page, and to one that answers."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

import shoal
from cli.test_fit import drifting, run_here
from report_pages import learned, local
from shoal.cli.main import main
from shoal.workflows.fitting import FitSettings


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A fit with its choices beside it, as ``shoal fit`` leaves them."""
    folder = tmp_path_factory.mktemp("fitted")
    tracks = drifting(1, frames=60)
    path = tracks.to_csv(folder / "fish.csv")
    learned(shoal.read_tracks(path), local()).save(folder / "fit.nc")
    choices = FitSettings(tracks=str(path), state="local:bins=12", every=1, as_="transitions")
    (folder / "fit.toml").write_text(choices.toml())
    return folder


def test_a_report_is_written_with_what_was_read_checked_and_chosen(
    fitted, tmp_path, capsys, monkeypatch
):
    out = tmp_path / "new" / "report.html"
    words = ("report", fitted / "fit.nc", "--replicates", 40, "--out", out)
    monkeypatch.setattr(sys, "argv", ["shoal", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert str(out) in capsys.readouterr().out.replace("\n", "")
    page = out.read_text()
    for part in ("headline", "costs", "policy", "replay", "checks", "trust", "data", "repeat"):
        assert f'<section id="{part}"' in page
    assert "On all measures together" in page
    assert "fixes" in page and "no heading" in page
    assert "shoal fit" in page and "local:bins=12" in page


def test_without_tracks_there_is_a_page_without_groups(fitted, tmp_path, capsys, monkeypatch):
    alone = tmp_path / "alone.nc"
    alone.write_bytes((fitted / "fit.nc").read_bytes())
    status, _ = run_here(capsys, monkeypatch, "report", alone, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert status == 0 and '<section id="costs"' in page and '<section id="replay"' not in page


def test_how_a_fit_was_made_is_not_made_up(fitted, tmp_path, capsys, monkeypatch):
    alone = tmp_path / "alone.nc"
    alone.write_bytes((fitted / "fit.nc").read_bytes())
    words = ("report", alone, "--tracks", fitted / "fish.csv", "--replicates", 0)
    status, _ = run_here(capsys, monkeypatch, *words, "--out", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert status == 0 and '<section id="replay"' in page
    assert "is not said here" in page and "shoal fit " not in page


def test_wrong_words_are_said_in_a_line(fitted, tmp_path, capsys, monkeypatch):
    fit = fitted / "fit.nc"
    for words, sentence in [
        (("report", fit, "--out", tmp_path / "page.pdf"), "ends in .html"),
        (("report", fit, "--replicates", 7, "--out", tmp_path / "p.html"), "40 or more"),
        (("report", fit, "--group", "x", "--out", tmp_path / "p.html"), "there is no group 'x'"),
        (("report", tmp_path / "none.nc", "--out", tmp_path / "p.html"), "none.nc"),
        (("explore", tmp_path / "none.nc", "--no-open"), "none.nc"),
    ]:
        status, said = run_here(capsys, monkeypatch, *words)
        assert status == 2 and sentence in said and said.count("\n") == 1, (words, said)
    assert not list(tmp_path.glob("p*"))


@pytest.mark.slow
def test_the_explorer_says_where_it_is_and_ends_with_ctrl_c(fitted):
    words = [sys.executable, "-u", "-c", "from shoal.cli.main import main; main()"]
    started = subprocess.Popen(
        [*words, "explore", str(fitted / "fit.nc"), "--no-open"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ,
    )  # fmt: skip
    try:
        line = started.stdout.readline()
        address = next(word for word in line.split() if word.startswith("http://127.0.0.1:"))
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"Try it" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(address.rstrip("/") + "x/", timeout=30)
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=30)
    finally:
        started.kill()
    assert started.returncode == 0 and "Traceback" not in said


def test_the_command_that_repeats_a_fit_has_what_was_chosen_and_nothing_else(tmp_path):
    chosen = FitSettings(tracks="my fish.csv", state="local,target", target="1,2", flip_y=True)
    line = chosen.command_line(tmp_path / "fit.nc")
    assert line == (
        "shoal fit 'my fish.csv' --flip-y --state local,target --target 1,2 --out fit.nc"
    )
