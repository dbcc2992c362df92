"""How commands answer: in words that fit, as one JSON document, or not at all."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import shoal
from cli.speaking import spoken
from cli.test_fit import drifting
from shoal.cli.answering import plain
from shoal.cli.main import COMMANDS, app
from shoal.cli.output import print_table
from shoal.paper import demo as paper_demo
from shoal.paper import reproducing
from shoal.paper.claims import FAILS, Claim
from shoal.selection import candidates, side_by_side
from shoal.workflows import machine

EVERY = [command.__name__ for commands in COMMANDS.values() for command in commands]
PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
SMALL = ("--state", "local:bins=6,target:bins=6", "--target", "1.5,0.5", "--basis", "identity")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Tracks, a fit of them, and what the command said."""
    folder = tmp_path_factory.mktemp("answers")
    groups = [drifting(seed, 60, group=f"g{seed}") for seed in range(2)]
    path = shoal.Collection(groups).to_csv(folder / "fish.csv")
    words = ("fit", path, *SMALL, "--passive", "random-walk:40", "--method", "laplace")
    said = spoken(*words, "--draws", 100, "--out", folder / "f.nc", "--json")
    assert said.status == 0, said.err
    return folder, said


def documented(said, *keys):
    """The one document of an answer, with these keys and no number that JSON lacks."""

    def refused(word):
        raise AssertionError(f"{word} is no JSON")

    assert said.out, said.err
    found = json.loads(said.out, parse_constant=refused)
    assert list(found)[:2] == ["command", "shoal"] and list(found)[-1] == "warnings"
    assert set(found) == {"command", "shoal", *keys, "warnings"}
    assert all(f"`{key}`" in PAGE for key in found)
    for path in _paths(found.get("files", {})):
        assert Path(path).is_absolute() and Path(path).exists(), path
    return found


def _paths(files):
    for value in files.values():
        yield from _paths(value) if isinstance(value, dict) else [value]


READ = ("tracks", "notes", "fixes", "dropped", "decisions", "transitions", "distinct_transitions")
READ = (*READ, "states")


def test_a_fit_is_one_document(fitted):
    folder, said = fitted
    found = documented(
        said, "as", *READ, "lag", "moves", "passive", "basis", "discount", "method", "chains",
        "draws", "seed", "learned", "effects", "cheapest_state", "diagnostics", "files",
    )  # fmt: skip
    assert found["command"] == "fit" and found["tracks"] == str(folder / "fish.csv")
    assert found["transitions"] == 2 * 6 * 58 and found["dropped"]["no heading"] == 12
    fit = shoal.load_fit(found["files"]["fit"])
    assert (found["chains"], found["draws"]) == fit.cost_to_go.shape[:2]
    assert found["states"]["entered"] == int((fit.arrivals > 0).sum())
    shares = [effect["mean"] for effect in found["effects"].values()]
    assert sum(shares) == pytest.approx(1)
    mean = fit.cost_to_go.mean(("chain", "draw")).where(fit.arrivals > 0)
    best = mean.argmin(...)
    for axis, place in found["cheapest_state"].items():
        assert place == float(fit.cost_to_go[axis][int(best[axis])])
    assert found["diagnostics"]["trusted"] == fit.diagnostics().trusted
    assert set(found["files"]) == {"fit", "choices", "page", "figures"}


def test_a_check_answers_by_its_status_too(fitted, monkeypatch):
    folder, _ = fitted
    said = spoken("check", folder / "f.nc", "--json")
    found = documented(
        said,
        "fit",
        "method",
        "chains",
        "draws",
        "states",
        "decisions",
        "transitions",
        "diagnostics",
    )
    assert said.status == 0 and found["diagnostics"]["trusted"]
    monkeypatch.setattr("shoal.posterior.method_diagnostics.PARETO_K", -1.0)
    said = spoken("check", folder / "f.nc", "--json")
    assert said.status == 1 and not json.loads(said.out)["diagnostics"]["trusted"]
    assert spoken("check", folder / "f.nc", "--quiet") == (1, "", "")


def test_simulated_groups_are_listed(fitted, tmp_path):
    folder, _ = fitted
    said = spoken("simulate", folder / "f.nc", "--steps", 4, "--out", tmp_path / "h.csv", "--json")
    found = documented(said, "rule", "draws", "seed", "groups", "files")
    assert [(g["group"], g["animals"], g["frames"]) for g in found["groups"]] == [
        ("g0", 6, 5),
        ("g1", 6, 5),
    ]


@pytest.mark.slow
def test_a_predictive_check_is_numbers(fitted, tmp_path):
    folder, _ = fitted
    words = ("predict", folder / "f.nc", "--replicates", 40, "--out", tmp_path / "p.html")
    found = documented(
        spoken(*words, "--json"), "replicates", "groups", "seed", "vicsek_noise", "measures",
        "summed_standardised_error", "sentence", "files",
    )  # fmt: skip
    assert found["replicates"] == 40
    for measure in found["measures"]:
        assert isinstance(measure["observed"], float | None)
        for model in measure["models"].values():
            low, high = model["interval"]
            assert model["mean"] is None or low <= model["mean"] <= high


def test_a_comparison_is_numbers(fitted, tmp_path, monkeypatch):
    folder, _ = fitted
    kept = ("uniform", "paper's walk")

    def ladder(space, discount=1.0):
        return [one for one in candidates.ladder(space, discount) if one.name in kept]

    monkeypatch.setattr(side_by_side, "ladder", ladder)
    words = ("compare", folder / "fish.csv", *SMALL[:4], "--method", "map", "--as", "transitions")
    found = documented(
        spoken(*words, "--out", tmp_path / "c.csv", "--json"), *READ, "read_as", "lag", "held_out",
        "models", "best", "can_be_best", "simplest_not_clearly_worse", "cautions", "costs_gain",
        "sentence", "files",
    )  # fmt: skip
    bits = {model["model"]: model["bits"] for model in found["models"]}
    assert bits["uniform"] == pytest.approx(-np.log2(36))
    assert found["best"] == max(bits, key=bits.get)
    assert found["models"][0]["pareto_k"] is None


def test_a_calibration_is_numbers(tmp_path):
    words = ("--state", "local:bins=4", "--method", "laplace", "--draws", 25, "--replicates", 20)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        said = spoken("calibrate", *words, "--out", tmp_path / "c.csv", "--json", "--frames", 20)
    found = documented(
        said, "method", "states", "replicates", "truth", "coverage", "quantities", "medians",
        "sentences", "files",
    )  # fmt: skip
    assert (found["method"], found["states"], found["replicates"]) == ("laplace", 4, 20)
    assert [row["level"] for row in found["coverage"]] == [0.5, 0.8, 0.95]
    assert all(0 <= row["share"] <= 1 for row in found["coverage"])
    assert found["medians"]["rmse"] < found["medians"]["prior_rmse"]


def test_formats_and_features_are_lists():
    found = documented(spoken("formats", "--json"), "formats")
    assert {"name": "csv"}.items() <= found["formats"][-1].items()
    assert all(row["example"] for row in found["formats"])
    found = documented(spoken("--json", "features"), "features")
    assert found["features"][0]["name"] == "local"


def test_the_demo_is_numbers_and_says_what_to_try_next(tmp_path, monkeypatch):
    figures = {"basis": "identity", "method": "advi", "seconds": 1.5, "rms_cost_to_go": 0.25}
    figures |= {"rms_state_cost": 0.5, "coverage_95": 0.9, "max_r_hat": None}
    figures |= {"min_ess_bulk": None, "pareto_k": float("nan")}

    def short(out, draws, seed, progress=None):
        out.mkdir(exist_ok=True)
        page = out / "report.html"
        page.write_text("")
        return paper_demo.Demo(["They are known."], figures, {"report": page, "folder": out})

    monkeypatch.setattr(paper_demo, "run_demo", short)
    out = tmp_path / "demo"
    found = documented(spoken("demo", "--out", out, "--json"), "seed", "draws", "models", "files")
    assert found["models"] == [figures | {"pareto_k": None}]
    words = spoken("demo", "--out", out).out
    assert "With tracks of your own:\n  shoal fit tracks.csv --state local" in words
    assert "They are known." in words and str(out / "report.html") in words.replace("\n", "")


def test_a_reproduction_is_its_claims(tmp_path, monkeypatch):
    claim = Claim("sign", "It is so", "we look", "it is not", FAILS, {"gap": 0.25, "no": np.nan})

    def short(out, settings, progress=None):
        (out / "README.md").write_text("# A title")
        done = reproducing.Reproduced("vicsek", "A title", [claim], out / "README.md")
        return [done], out / "README.md"

    monkeypatch.setattr(reproducing, "reproduce", short)
    said = spoken("reproduce", "vicsek", "--out", tmp_path, "--json")
    found = documented(said, "studies", "quick", "seed", "files")
    assert found["studies"][0]["claims"][0]["numbers"] == {"gap": 0.25, "no": None}
    assert "does not hold" in spoken("reproduce", "vicsek", "--out", tmp_path).out


def test_the_doctor_says_what_is_here_and_its_status_whether_that_will_do(monkeypatch):
    monkeypatch.setattr(machine, "speed", lambda: machine.Speed({"36 × 36": 0.1}, 0.5, 30.0))
    keys = ("well", "trouble", "machine", "precision", "installed", "missing_options", "programs")
    said = spoken("doctor", "--json")
    found = documented(said, *keys, "speed")
    assert said.status == 0, found["trouble"]
    assert found["machine"]["devices"] == ["cpu: cpu"] and found["machine"]["free_memory"] > 2**20
    assert all(found["installed"].values())
    assert found["speed"]["gradient_ms"] == {"36 × 36": 0.1}
    words = spoken("doctor").out
    assert "Everything that is needed is here." in words and "0.1 ms" in words
    monkeypatch.setitem(machine.NEEDED, "fishnet", ("fishnet", "catching"))
    monkeypatch.setitem(machine.TRIED, "a net", lambda: 1 / 0)
    said = spoken("doctor", "--no-measure", "--json")
    assert said.status == 1
    first, second = json.loads(said.out)["trouble"]
    assert first == "fishnet is not installed (catching): pip install fishnet"
    assert second == "a net: ZeroDivisionError: division by zero"


def test_the_machines_speed_is_measured():
    found = machine.speed(seconds=0.01)
    assert list(found.milliseconds) == list(machine.REFERENCE_MS)
    assert min(*found.milliseconds.values(), found.compiling) > 0
    cores = min(4, machine.hardware()["cores"])
    drawing = 2 / cores * found.milliseconds["36 × 36"] / machine.REFERENCE_MS["36 × 36"]
    compiling = found.compiling / machine.REFERENCE_COMPILING
    assert found.fit == pytest.approx(np.dot(machine.REFERENCE_FIT, (compiling, drawing)), rel=1e-9)


def test_quiet_is_nothing_but_warnings_and_errors(fitted, tmp_path):
    folder, _ = fitted
    out = tmp_path / "h.csv"
    assert spoken("simulate", folder / "f.nc", "--steps", 2, "--out", out, "-q") == (0, "", "")
    assert out.exists()
    assert spoken("--quiet", "features") == (0, "", "")


def test_warnings_are_in_the_document_and_always_on_the_error_stream(fitted, tmp_path):
    folder, _ = fitted
    bare = tmp_path / "bare.nc"  # without its choices beside it
    bare.write_bytes((folder / "f.nc").read_bytes())
    words = ("simulate", bare, "--release", "3:0,0", "--steps", 2, "--speed", 1)
    words = (*words, "--arena", "unbounded", "--out", tmp_path / "h.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        said, quiet = spoken(*words, "--json"), spoken(*words, "--quiet")
        none = spoken(*words, "--json", "--fps", 1)
    assert "without --fps a speed is per frame" in json.loads(said.out)["warnings"]
    assert "shoal: warning: without --fps a speed is per frame\n" in said.err
    assert quiet == (0, "", said.err)
    assert json.loads(none.out)["warnings"] == []


def test_errors_are_one_line_whatever_the_manner(tmp_path):
    for manner in ("--json", "--quiet"):
        said = spoken("check", tmp_path / "no.nc", manner)
        assert said.status == 2 and said.out == ""
        assert said.err.startswith("shoal: ") and said.err.count("\n") == 1


SLIPS = {
    "swim": "No such command 'swim'; see shoal --help",
    "fit --stat local": "No such option: --stat",
    "demo --draws many": "Invalid value for '--draws'",
    "check": "Missing argument",
}


@pytest.mark.parametrize("words", SLIPS)
def test_a_slip_of_the_pen_is_one_line_too(words):
    said = spoken(*words.split())
    assert said.status == 2 and said.out == ""
    assert said.err.startswith("shoal: ") and said.err.count("\n") == 1
    assert SLIPS[words] in said.err


def test_without_a_word_there_is_help():
    said = spoken()
    assert said.status == 2
    assert "Usage: shoal [OPTIONS] COMMAND" in said.out and "Example:  shoal demo" in said.out
    assert said.err == ""


def test_every_command_is_on_the_page():
    assert all(f"| `{command}` |" in PAGE for command in EVERY)


def test_a_traceback_may_be_asked_for_after_the_commands_name(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["shoal", "check", str(tmp_path / "no.nc"), "--debug"])
    from shoal.cli.main import main  # noqa: PLC0415

    with pytest.raises(shoal.errors.InputError):
        main()


def test_what_json_lacks_becomes_null_and_nothing_else_is_lost():
    given = {"a": np.float64(0.1), "b": np.array([1, 2]), "c": float("inf"), "d": Path("x")}
    assert plain(given) == {"a": 0.1, "b": [1, 2], "c": None, "d": str(Path("x").resolve())}
    assert plain(np.array([0.5, np.nan])) == [0.5, None]
    assert plain(np.bool_(True)) is True


@pytest.mark.parametrize("command", EVERY)
def test_every_command_has_an_example_and_says_how_it_can_answer(command):
    said = spoken(command, "--help")
    assert said.status == 0
    assert f"Example:  shoal {command}" in said.out
    for option in ("--json", "--quiet", "--debug"):
        assert option in said.out


def test_every_command_is_listed_above():
    assert {info.callback.__name__ for info in app.registered_commands} == set(EVERY)


ROWS = [
    {"model": "paper's walk + smooth costs", "held out (bits)": "−4.671 ± 0.012", "n": "12,345"},
    {"model": "uniform", "held out (bits)": "−10.340 ± 0.000", "n": "/a/long/path/to/fish.csv"},
]
WIDE = [{f"column{n}": f"{n}.12345" for n in range(9)}]


@pytest.mark.parametrize("rows", [ROWS, WIDE], ids=["words", "numbers"])
@pytest.mark.parametrize("width", [60, 80, 200])
def test_tables_fit_the_terminal_and_break_no_number(rows, width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    print_table("A title that is longer than some terminals are wide, by a few words or so", rows)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    for row in rows:
        for cell in row.values():
            assert all(any(word in line for line in lines) for word in cell.split())


def test_piped_words_have_no_colours_and_ascii_is_enough(fitted, monkeypatch):
    folder, _ = fitted
    for words in (("features",), ("fit", "--help"), ("check", folder / "f.nc")):
        said = spoken(*words, encoding="ascii")
        assert said.status == 0, said.err
        assert "\x1b" not in said.out and said.out.isascii() and len(said.out) > 100
    assert "x 100 draws" in spoken("check", folder / "f.nc", encoding="ascii").out
    assert "× 100 draws" in spoken("check", folder / "f.nc").out


def test_no_color_is_respected_where_colours_are_forced(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in spoken("features").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in spoken("features").out.replace("\x1b[3m", "")
