"""Stories through the command line."""

import csv
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.image import imread

import shoal
from cli.speaking import spoken
from shoal import posterior
from shoal.paper.demo import AGENTS, RADIUS, SPEED, STEPS
from shoal.paper.spp import simulate_spp, spp_truth


def run(*words, **options):
    command = [sys.executable, "-c", "from shoal.cli.main import main; main()", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("story") / "demo"
    return run("demo", "--out", folder, "--draws", 1000), folder


@pytest.mark.slow
def test_the_demo_writes_fits_figures_table_and_page_and_says_where(demo):
    done, folder = demo
    assert done.returncode == 0, done.stderr
    assert str(folder / "report.html") in done.stdout.replace("\n", "")
    assert {path.name for path in folder.rglob("*.*")} == {
        *("cost-to-go.png", "cost-to-go.pdf", "flock.csv", "fit.nc", "summary.csv", "report.html"),
    }
    assert imread(folder / "figures" / "cost-to-go.png").std() > 0.05  # not an empty sheet
    assert "These animals turn to align with their neighbours." in done.stdout


@pytest.mark.slow
def test_the_demos_intervals_hold_the_truth_and_its_fit_loads(demo):
    _, folder = demo
    with (folder / "summary.csv").open() as file:
        rows = list(csv.DictReader(file))
    known = [row for row in rows if float(row["decisions"]) >= 20]
    inside = [float(row["lower"]) <= float(row["truth"]) <= float(row["upper"]) for row in known]
    assert len(known) >= 12 and sum(inside) >= len(known) - 2
    errors = [float(row["q (nats)"]) - float(row["truth"]) for row in known]
    assert sum(error**2 for error in errors) / len(errors) < 0.3**2
    fit = shoal.load_fit(folder / "fit.nc")
    assert fit.cost_to_go.sizes["draw"] == 1000
    assert abs(float(fit.cost_to_go.mean(("chain", "draw")).sel(local_misalignment=0.0))) < 1e-12


@pytest.mark.slow
def test_what_the_demo_read_off_its_tracks_is_what_was_decided(demo):
    _, folder = demo
    made = simulate_spp(spp_truth(), agents=AGENTS, steps=STEPS, radius=RADIUS, speed=SPEED, seed=1)
    fit = shoal.load_fit(folder / "fit.nc")
    np.testing.assert_array_equal(fit.arrivals.values, made.decided.arrivals)


@pytest.mark.slow
def test_the_page_stands_alone(demo):
    _, folder = demo
    found = []

    class Links(HTMLParser):
        def handle_starttag(self, tag, attrs):
            found.extend(value for name, value in attrs if name in ("src", "href"))

    Links().feed((folder / "report.html").read_text())
    assert found and all(value.startswith(("#", "data:")) for value in found)
    assert "The true costs are known here." in (folder / "report.html").read_text()


@pytest.mark.slow
def test_check_says_in_words_and_by_its_status_whether_to_trust(demo, tmp_path):
    _, folder = demo
    good = run("check", folder / "fit.nc")
    assert good.returncode == 0, good.stdout
    assert "The computation is sound" in good.stdout
    passive = shoal.TurningMixture()
    made = simulate_spp(spp_truth(), agents=20, steps=20, seed=1)
    model = shoal.Model(made.space, passive, shoal.Gaussian(every=2, circular=False))
    model.fit(made.decided, "advi", draws=500, seed=1).save(tmp_path / "bad.nc")
    bad = spoken("check", tmp_path / "bad.nc")
    assert bad.status == 1
    assert "Pareto k̂" in bad.out


def test_errors_are_one_line_with_status_2_and_a_traceback_only_on_request(tmp_path):
    foreign = tmp_path / "tracks.csv"
    foreign.write_text("x,y\n1,2\n")
    done = spoken("check", foreign)
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith("shoal: ")
    assert done.err.count("\n") == 1
    assert str(foreign) in done.err
    with pytest.raises(shoal.InputError):  # which Python shows with a traceback
        spoken("--debug", "check", foreign)


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    occupied = tmp_path / "file"
    occupied.write_text("here")
    done = spoken("demo", "--out", occupied / "demo")
    assert done.status == 2
    assert "cannot be written to" in done.err
    assert occupied.read_text() == "here"


def test_a_folder_that_takes_no_files_is_found_out_before_any_work():
    done = spoken("demo", "--out", "/proc/self")
    assert done.status == 2
    assert "cannot be written to" in done.err


def test_a_failure_of_ours_is_one_line_with_status_1(tmp_path, monkeypatch):
    monkeypatch.setattr(posterior, "load_fit", 1)
    done = spoken("check", tmp_path)
    assert done.status == 1
    assert done.err.startswith("shoal: the work failed (TypeError")
    assert done.err.count("\n") == 1


def test_help_and_version_need_no_work():
    assert run("--version").stdout.strip() == f"shoal {shoal.__version__}"
    words = spoken("--help").out
    for command in ("demo", "check"):
        assert command in words
        assert "Example" in spoken(command, "--help").out


def test_unknown_words_have_status_2():
    done = run("swim")  # a process, as from a terminal
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("shoal: ") and done.stderr.count("\n") == 1
    assert spoken("demo", "--draws", "many").status == 2
    assert spoken("demo", "--seed", "-1").status == 2
