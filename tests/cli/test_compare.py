"""``shoal compare``, and the choices of ``shoal fit`` that are left to the tracks."""

import csv
import sys
import tomllib

import numpy as np
import pytest
from matplotlib.image import imread

import shoal
from cli.test_fit import run_here
from shoal.cli.main import main
from shoal.selection import baselines, candidates, entrants, side_by_side
from shoal.selection import dynamics as choosing
from shoal.workflows.comparing import CompareRun, CompareSettings
from shoal.workflows.words import basis_of

LITTLE = ("--state", "local:bins=4", "--method", "map", "--as", "transitions")


@pytest.fixture(autouse=True)
def few_models(monkeypatch):
    """Fewer models, which compile in less time."""
    kept = ("uniform", "Markov chain, smoothed", "paper's walk", "paper's walk + smooth costs")

    def ladder(space, discount=1.0):
        return [one for one in candidates.ladder(space, discount) if one.name in kept]

    monkeypatch.setattr(side_by_side, "ladder", ladder)


def aligning(seed, frames=150, animals=6, **known):
    """Animals that turn towards each other, and at random."""
    rng = np.random.default_rng(seed)
    heading, places = rng.uniform(-np.pi, np.pi, animals), [rng.random((animals, 2))]
    for _ in range(frames - 1):
        mean = np.angle(np.exp(1j * heading).mean())
        towards = np.angle(np.exp(1j * (mean - heading)))
        heading = heading + 0.4 * towards + rng.normal(0, 0.8, animals)
        places.append(places[-1] + 0.01 * np.stack([np.cos(heading), np.sin(heading)], axis=-1))
    return shoal.Tracks.from_arrays(np.array(places), fps=10.0, length_unit="cm", **known)


@pytest.fixture(scope="module")
def fish(tmp_path_factory):
    """Two files of tracks."""
    folder = tmp_path_factory.mktemp("fish")
    made = {}
    for name, seeds in (("fish", (1, 2, 3)), ("others", (4, 5))):
        groups = [aligning(seed, group=f"g{seed}") for seed in seeds]
        made[name] = shoal.Collection(groups).to_csv(folder / f"{name}.csv")
    return made


def table(path):
    with path.open() as file:
        return {row["model"]: row for row in csv.DictReader(file)}


def done(capsys, monkeypatch, *words):
    """What a command that went well said."""
    monkeypatch.setattr(sys, "argv", ["shoal", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code in (0, None), said.err
    return said.out


def test_one_command_puts_models_side_by_side_and_its_choices_repeat_it(
    fish, tmp_path, capsys, monkeypatch
):
    out = tmp_path / "out" / "table.csv"
    said = done(capsys, monkeypatch, "compare", fish["fish"], *LITTLE, "--out", out)
    assert {path.name for path in out.parent.iterdir()} == {
        *("table.csv", "table.toml", "table.html", "table-scores.png", "table-scores.pdf")
    }
    rows = table(out)
    assert list(rows) == [
        *("uniform", "Markov chain, smoothed", "paper's walk", "paper's walk + smooth costs")
    ]
    assert float(rows["uniform"]["bits"]) == pytest.approx(-2)
    assert sum(float(row["stacking_weight"]) for row in rows.values()) == pytest.approx(1)
    assert {row["held_out_transitions"] for row in rows.values()} == {str(3 * 6 * 49)}
    assert {row["converged"] for row in rows.values()} == {"True"}
    best = max(rows.values(), key=lambda row: float(row["bits"]))
    assert float(best["difference_to_best"]) == 0
    walk, costs = rows["paper's walk"], rows["paper's walk + smooth costs"]
    gain = float(costs["bits"]) - float(walk["bits"])
    assert gain > 0.05, "they do align"
    assert imread(out.parent / "table-scores.png").std() > 0.03
    sentence = f"Best on held-out transitions: {best['model']} ("
    page = (out.parent / "table.html").read_text()
    for text in (page, said):
        assert sentence.replace("'", "&#x27;") in text or sentence in text
        assert "the last 33% of the frames" in " ".join(text.split())
    assert page.count("data:image/png;base64,") == 1
    choices = tomllib.loads((out.parent / "table.toml").read_text())
    assert choices["tracks"] == str(fish["fish"])
    assert choices["method"] == "map"
    again = tmp_path / "again.csv"
    done(capsys, monkeypatch, "compare", "--config", out.parent / "table.toml", "--out", again)
    assert again.read_bytes() == out.read_bytes()


def test_other_tracks_may_be_held_out(fish, tmp_path, capsys, monkeypatch):
    out = tmp_path / "c.csv"
    words = ("compare", fish["fish"], *LITTLE, "--held-out", fish["others"], "--out", out)
    said = done(capsys, monkeypatch, *words)
    assert {row["held_out_transitions"] for row in table(out).values()} == {str(2 * 6 * 148)}
    assert "others.csv" in said
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=4))
    seen, held = (
        shoal.count_transitions(shoal.read_tracks(fish[name]), space) for name in ("fish", "others")
    )
    walk = shoal.RandomWalk(90.0, start="centre")
    fit = shoal.Model(space, walk, shoal.Smooth()).fit(seen, "map")
    found = float(table(out)["paper's walk + smooth costs"]["bits"])
    assert found == pytest.approx(fit.score(held).bits, abs=1e-6)


WRONG = {
    "no split": (["PATH", "--split", "banana"], "a split is time:SHARE, group:SHARE"),
    "odd share": (["PATH", "--split", "time:much"], "'time:much': a share is a number below 1"),
    "too many folds": (["PATH", "--split", "9-fold:group"], "ask for 3 or fewer"),
    "no tracks": ([], "which tracks?"),
    "streamed": (["PATH", "--stream"], "read them whole, not --stream"),
    "no method": (["PATH", "--method", "magic"], "method is one of map"),
    "nothing held out": (["PATH", "--held-out", "none.csv"], "does not exist"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line_and_exit_status_2(name, fish, tmp_path, capsys, monkeypatch):
    words, expected = WRONG[name]
    words = [str(fish["fish"]) if word == "PATH" else word for word in words]
    monkeypatch.chdir(tmp_path)
    status, errors = run_here(capsys, monkeypatch, "compare", *words, "--state", "local:bins=4")
    assert status == 2, errors
    assert len(errors.splitlines()) == 1
    assert errors.startswith("shoal: ")
    assert expected in errors
    assert not list(tmp_path.glob("*.csv"))


def test_what_was_read_is_never_written_over(fish, capsys, monkeypatch):
    before = fish["fish"].read_bytes()
    words = ("compare", fish["fish"], *LITTLE, "--out", fish["fish"])
    status, errors = run_here(capsys, monkeypatch, *words)
    assert status == 2
    assert "choose another name for --out" in errors
    assert fish["fish"].read_bytes() == before


def test_what_was_held_out_is_never_written_over(fish, tmp_path, capsys, monkeypatch):
    precious = tmp_path / "precious.csv"
    precious.write_bytes(fish["others"].read_bytes())
    words = ("compare", fish["fish"], *LITTLE, "--held-out", precious, "--out", precious)
    status, errors = run_here(capsys, monkeypatch, *words)
    assert precious.read_bytes() == fish["others"].read_bytes()
    assert status == 2, errors


def test_choices_repeat_the_run_from_any_folder(fish, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(fish["others"].parent)
    words = ("compare", "fish.csv", *LITTLE, "--held-out", "others.csv")
    done(capsys, monkeypatch, *words, "--out", tmp_path / "a.csv")
    choices = tomllib.loads((tmp_path / "a.toml").read_text())
    assert choices["held-out"] == str(fish["others"])


def fit_by(capsys, monkeypatch, path, tmp_path, *words):
    """The fit of a command, and what the command said."""
    out = tmp_path / "fit.nc"
    said = done(capsys, monkeypatch, "fit", path, "--method", "map", "--out", out, *words)
    return shoal.load_fit(out), " ".join(said.split())


def test_costs_may_be_left_out(fish, tmp_path, capsys, monkeypatch):
    words = ("--state", "local:bins=4", "--passive", "random-walk:90", "--basis", "flat")
    fit, _ = fit_by(capsys, monkeypatch, fish["fish"], tmp_path, *words)
    assert np.ptp(fit.sampled.values) < 1e-12


def test_smooth_costs_are_the_default_and_see_that_animals_align(
    fish, tmp_path, capsys, monkeypatch
):
    words = ("--state", "local:bins=4", "--passive", "random-walk:90")
    fit, _ = fit_by(capsys, monkeypatch, fish["fish"], tmp_path, *words)
    assert fit.model.basis == shoal.Smooth()
    v = fit.cost_to_go.isel(chain=0, draw=0)
    assert v.idxmin() == 0, "straight ahead is cheapest"
    assert abs(v.idxmax()) == 180
    assert basis_of("smooth:1") == shoal.Smooth(order=1)


def test_dynamics_left_to_the_tracks_are_chosen_and_said_why(fish, tmp_path, capsys, monkeypatch):
    both = {"uniform": shoal.Uniform(), "the paper's walk": shoal.RandomWalk(90.0)}
    monkeypatch.setattr(choosing, "candidates_on", lambda space: both)
    words = ("--state", "local:bins=4", "--as", "transitions", "--basis", "smooth")
    fit, said = fit_by(capsys, monkeypatch, fish["fish"], tmp_path, *words)
    assert fit.model.passive == shoal.RandomWalk(90.0)
    page = (tmp_path / "fit.html").read_text()
    assert "bits per held-out transition without any costs" in page
    assert "two thirds of the groups, drawn with seed 0, scored on the rest" in page
    assert "chosen" in said


def test_a_lag_left_to_the_tracks_is_chosen_and_said_why(fish, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(choosing, "LAGS", (1, 2))
    monkeypatch.setattr(choosing, "couples", lambda space: False)
    monkeypatch.setattr(choosing, "WalkMixture", lambda: shoal.RandomWalk(90.0))
    words = ("--state", "local:bins=4", "--lag", "auto", "--passive", "random-walk:90")
    fit, said = fit_by(capsys, monkeypatch, fish["fish"], tmp_path, *words)
    assert fit.lag in (1, 2)
    assert f"lag {fit.lag}: " in said
    assert tomllib.loads((tmp_path / "fit.toml").read_text())["lag"] == "auto"


@pytest.fixture
def few_rules(monkeypatch):
    """Fewer models of decisions."""

    def some(like, social=None):
        kept = ("passive moves", "alignment (Vicsek)")
        return [one for one in baselines.move_ladder(like, social) if one.name in kept]

    monkeypatch.setattr(entrants, "move_ladder", some)


def test_decisions_are_compared_unless_transitions_are_asked_for(
    fish, few_rules, tmp_path, capsys, monkeypatch
):
    out = tmp_path / "d.csv"
    words = ("compare", fish["fish"], "--state", "local:others:bins=8", "--method", "map")
    said = done(capsys, monkeypatch, *words, "--split", "group:0.67", "--every", 1, "--out", out)
    rows = table(out)
    assert list(rows) == ["passive moves", "alignment (Vicsek)"]
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=8, include_self=False))
    read = shoal.decisions(shoal.read_tracks(fish["fish"]), space, shoal.Turns())
    _, held = read.split_groups(0.67, seed=1)
    assert {row["held_out_decisions"] for row in rows.values()} == {str(held.total)}
    gain = float(rows["alignment (Vicsek)"]["gain_over_passive_moves"])
    assert gain > 0.05, "they do align"
    bits = [float(row["bits"]) for row in rows.values()]
    assert gain == pytest.approx(bits[1] - bits[0])
    assert "Best on held-out decisions: alignment (Vicsek) (" in " ".join(said.split())
    choices = tomllib.loads((tmp_path / "d.toml").read_text())
    assert (choices["as"], choices["moves"]) == ("auto", "auto")


MOVES = {
    "angles": ("local", {}, shoal.Turns()),
    "a distance": ("local,neighbour-distance:edges=0/1/2", {}, shoal.Steps()),
    "steps of angles": ("local", {"moves": "steps:ahead"}, shoal.Steps(others="ahead")),
    "a lag": ("local", {"lag": 2}, None),
    "transitions": ("local", {"as_": "transitions"}, None),
    "headings over frames": (
        *("local,neighbour-distance:edges=0/1/2", {"heading_frames": 3}, shoal.Turns()),
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves_follow_from_the_states_and_from_what_was_said(name, fish):
    state, said, expected = MOVES[name]
    settings = CompareSettings(tracks=str(fish["fish"]), state=state, every=1, **said)
    assert CompareRun(settings, progress=False).moves == expected


NOT_MOVES = {
    "no such reading": ({"as_": "guesses"}, "--as is one of auto, decisions, transitions"),
    "no such moves": ({"moves": "jumps"}, "--moves is one of auto, turns, steps, steps:ahead"),
    "decisions at a lag": ({"as_": "decisions", "lag": 3}, "decisions have no lag"),
}


@pytest.mark.parametrize("name", NOT_MOVES)
def test_moves_that_make_no_sense_are_refused(name, fish):
    said, words = NOT_MOVES[name]
    with pytest.raises(shoal.InputError, match=words):
        _ = CompareRun(
            CompareSettings(tracks=str(fish["fish"]), every=1, **said), progress=False
        ).moves
