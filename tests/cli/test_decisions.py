"""``shoal fit`` reads what animals decided, unless dynamics of states are named."""

import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest

import shoal
from cli.speaking import spoken
from cli.test_fit import drifting
from shoal.posterior import DecisionFit
from shoal.workflows.deciding import moves_for
from shoal.workflows.fitting import FitRun, FitSettings
from shoal.workflows.options import Settings
from shoal.workflows.words import moves_of, words_of_moves

STATE = "local:others:bins=8,neighbour-distance:bins=6:max=1.8"
LIKED = 0.75
HEADINGS = {"heading_frames": 1, "minimum_step": 0.0, "tracker_headings": False}


@pytest.fixture(scope="module")
def attracted(tmp_path_factory):
    """Four animals that align, and like neighbours to be at one distance, as a table."""
    space = shoal.StateSpace(
        shoal.LocalMisalignment(include_self=False, bins=8),
        shoal.Distance(tuple(np.linspace(0, 1.8, 7)), beyond=True),
    )
    angle, distance = np.meshgrid(*[axis.centres for axis in space.axes], indexing="ij")
    wants = 1.0 * (1 - np.cos(np.deg2rad(angle))) + 8.0 * (distance - LIKED) ** 2
    herd = shoal.simulate(
        wants,
        space=space,
        passive=shoal.Steps(spread=10.0, typical=0.1, variation=0.3, follow=0.5),
        start=shoal.Release(4, (0.0, 0.0), 1.0),
        steps=400,
        speed=0.1,
        seed=4,
        progress=False,
    )
    return herd.to_csv(tmp_path_factory.mktemp("attracted") / "herd.csv")


@pytest.fixture(scope="module")
def story(attracted):
    """The default command."""
    out = attracted.parent / "fit.nc"
    said = spoken("fit", attracted, "--state", STATE, "--draws", 250, "--out", out, "--json")
    assert said.status == 0, said.err
    return json.loads(said.out), out


@pytest.mark.slow
def test_a_known_attraction_is_recovered_by_the_default_command(story):
    found, out = story
    fit = shoal.load_fit(out)
    assert isinstance(fit, DecisionFit) and fit.method == "laplace"
    assert found["as"] == "decisions" and found["moves"]["words"] == "steps:cauchy:gamma"
    assert found["decisions"] == int(fit.arrivals.sum()) > 1000 and found["transitions"] is None
    assert found["diagnostics"]["trusted"], found["diagnostics"]["failures"]
    along = fit.cost_to_go.mean(("chain", "draw", "local_misalignment"))
    cheapest = float(along["neighbour_distance"][int(np.argmin(along.values))])
    assert cheapest == pytest.approx(LIKED, abs=0.31)  # a bin either way
    over = fit.cost_to_go.mean("neighbour_distance")
    angles = over["local_misalignment"].values
    opposed = over[..., np.abs(angles) > 150].mean("local_misalignment")
    aligned = over[..., np.abs(angles) < 30].mean("local_misalignment")
    gap = (opposed - aligned).values.ravel()
    truth = np.cos(np.deg2rad(22.5)) * 2
    assert np.quantile(gap, 0.005) < truth < np.quantile(gap, 0.995)


@pytest.mark.slow
def test_what_was_chosen_is_said_with_its_figures(story):
    found, _ = story
    why, gains = found["moves"]["chosen"], found["moves"]["gain_held_out"]
    assert set(gains) == {"still", "ahead"}
    best = max(gains, key=lambda word: gains[word]["bits"])
    assert found["moves"]["others"] == best
    lost = gains[best]["bits"] - gains["still"]["bits"]  # others were still, as they were simulated
    assert lost < 2 * gains["still"]["standard_error"]
    assert why["others"].startswith(f"{best}: +")
    for gain in gains.values():
        assert f"{gain['bits']:+.3f}".replace("-", "−") in why["others"]
    assert "frames" not in why and found["moves"]["every"] == 1  # places without errors


@pytest.mark.slow
def test_the_choices_that_were_taken_repeat_the_run_exactly(story, tmp_path):
    _, out = story
    choices = tomllib.loads(out.with_suffix(".toml").read_text())
    assert choices["as"] == "decisions" and choices["candidates"] >= 64
    again = spoken("fit", "--config", out.with_suffix(".toml"), "--out", tmp_path / "a.nc", "-q")
    assert again.status == 0, again.err
    one, other = shoal.load_fit(out), shoal.load_fit(tmp_path / "a.nc")
    assert np.array_equal(one.sampled.values, other.sampled.values)
    assert tomllib.loads((tmp_path / "a.toml").read_text()) == choices


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "words", "status"),
    [
        ("check", (), 0),
        ("simulate", ("--steps", 5, "--arena", "unbounded", "--out", "h.csv"), 0),
        ("calibrate", ("--out", "c.csv"), 2),
    ],
)
def test_other_commands_take_a_fit_of_decisions_or_say_why_not(
    command, words, status, story, tmp_path, monkeypatch
):
    _, out = story
    monkeypatch.chdir(tmp_path)
    said = spoken(command, out, *words, warned=True)
    assert said.status == status, said.err
    if status:
        assert said.err.count("\n") == 1 and "--as transitions" in said.err


@pytest.mark.slow
def test_frames_are_left_out_where_places_have_errors(tmp_path):
    rng = np.random.default_rng(2)
    noisy = []
    for seed in range(3):
        clean = drifting(seed, 400, 4)
        places = clean.positions + rng.normal(0, 0.003, clean.positions.shape)  # 0.3 of a step
        noisy.append(shoal.Tracks.from_arrays(places, fps=10.0, group=f"g{seed}"))
    path = shoal.Collection(noisy).to_csv(tmp_path / "noisy.csv")
    run = FitRun(FitSettings(tracks=str(path), state="local:others:bins=8", draws=250), False)
    assert run.thinning.every > 1
    assert "errors of measurement" in run.thinning.sentence
    assert run.resolved.every == run.thinning.every
    assert run.fit.diagnostics().trusted
    assert dict(run.rows())["frames, chosen"] == run.thinning.sentence


@pytest.mark.slow
def test_nuts_takes_over_where_laplace_cannot_be_corrected_and_it_is_said(tmp_path, monkeypatch):
    path = drifting(1, 60).to_csv(tmp_path / "fish.csv")
    words = {"state": "local:others:bins=8", "every": 1, "candidates": 16}
    quick = {"chains": 1, "draws": 50, "warmup": 50}
    monkeypatch.setattr("shoal.workflows.fitting.well_drawn", lambda fit: False)
    run = FitRun(FitSettings(tracks=str(path), **words, **quick), False)
    assert run.fit.method == run.resolved.method == "nuts"
    assert any("could not be corrected" in note for note in run.notes())
    named = FitRun(FitSettings(tracks=str(path), method="laplace", **words, **quick), False)
    assert named.fit.method == "laplace" and not any("corrected" in n for n in named.notes())


WRONG = {
    "dynamics of states": (
        ("--as", "decisions", "--passive", "random-walk:90"),
        "--passive random-walk:90 is about transitions, and --as is decisions",
    ),
    "a lag": (("--as", "decisions", "--lag", "2"), "--lag 2 is about transitions"),
    "advi": (("--as", "decisions", "--method", "advi"), "--method advi is about transitions"),
    "a stream": (("--as", "decisions", "--stream"), "--stream is about transitions"),
    "moves of transitions": (
        ("--as", "transitions", "--moves", "turns"),
        "--moves turns is about decisions, --as transitions is not",
    ),
    "moves and dynamics": (
        ("--passive", "uniform", "--others", "still"),
        "--others still is about decisions, --passive uniform is not",
    ),
    "no such reading": (("--as", "dreams"), "--as is one of auto, decisions, transitions"),
    "no such moves": (("--moves", "jumps"), "moves are auto, turns or steps"),
    "no such shape": (("--moves", "turns:gamma"), "after turns stand shapes such as cauchy"),
    "no such others": (("--moves", "steps", "--others", "gone"), "--others is auto, still or"),
    "others of turns": (("--moves", "turns", "--others", "still"), "--others is for steps"),
    "few candidates": (("--candidates", "3"), "--candidates is 8 or more"),
    "nothing a move changes": (
        ("--state", "neighbour-distance", "--moves", "turns"),
        "a turn changes nothing of neighbour_distance",
    ),
    "steps of one length": (
        ("--state", "neighbour-distance", "--moves", "steps", "--others", "still"),
        "every step is 0.01 long",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_does_not_go_together_is_one_line_and_exit_status_2(name, tmp_path):
    path = drifting(1, 40).to_csv(tmp_path / "fish.csv")
    words, expected = WRONG[name]
    said = spoken("fit", path, *words, "--out", tmp_path / "x.nc")
    assert said.status == 2 and said.err.count("\n") == 1, said.err
    assert expected in said.err


def test_a_single_frame_is_one_line(tmp_path):
    path = drifting(1, 1).to_csv(tmp_path / "fish.csv")
    said = spoken("fit", path, "--state", "local:others", "--out", tmp_path / "x.nc")
    assert said.status == 2 and said.err.count("\n") == 1 and "fewer than two frames" in said.err


def test_commands_that_name_dynamics_still_count_transitions(tmp_path):
    path = drifting(1, 40).to_csv(tmp_path / "fish.csv")
    for words in ({"passive": "random-walk:90"}, {"lag": 2}, {"method": "advi"}, {"discount": 0.9}):
        run = FitRun(FitSettings(tracks=str(path), **words), False)
        assert not run.decides and isinstance(run.counts, shoal.states.Transitions)
    assert FitRun(FitSettings(tracks=str(path), passive="uniform"), False).method == "nuts"


def test_features_that_cannot_be_decided_on_are_counted_and_it_is_said(tmp_path):
    path = drifting(1, 40).to_csv(tmp_path / "fish.csv")  # every step has one length
    run = FitRun(FitSettings(tracks=str(path), state="neighbour-distance", every=1), False)
    assert isinstance(run.counts, shoal.states.Transitions)
    (note,) = (note for note in run.notes() if note.startswith("transitions were counted"))
    assert "every step is 0.01 long" in note and "changes no neighbour distance" in note
    assert run.resolved.as_ == "transitions"


def test_a_file_of_an_earlier_run_still_counts_transitions(tmp_path):
    lines = FitSettings(method="nuts").toml().splitlines()
    new = ("as = ", "moves = ", "others = ", "candidates = ", "persistence = ")
    path = tmp_path / "old.toml"
    path.write_text("\n".join(line for line in lines if not line.startswith(new)))
    assert FitSettings(**FitSettings.from_toml(path)).as_ == "transitions"
    path.write_text('state = "local"\n')
    assert FitSettings(**FitSettings.from_toml(path)).as_ == "auto"
    assert "as_" not in Settings.__dict__


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        (shoal.StateSpace(shoal.LocalMisalignment(8)), shoal.Turns),
        (shoal.StateSpace(shoal.Distance((0.0, 1.0, 2.0))), shoal.Steps),
        (
            shoal.StateSpace(shoal.Bearing("neighbour", 8), shoal.states.Speed((0.0, 1.0))),
            shoal.Steps,
        ),
    ],
    ids=["an angle", "a distance", "a speed"],
)
def test_distances_walls_and_speeds_are_chosen_by_steps_and_angles_by_turns(state, kind):
    rng = np.random.default_rng(0)
    tracks = [shoal.Tracks.from_arrays(np.cumsum(rng.normal(size=(20, 3, 2)), axis=0))]
    moves, why = moves_for("auto", tracks, state, HEADINGS)
    assert type(moves) is kind and not why


def test_where_no_step_can_be_chosen_turns_are_and_it_is_said():
    space = shoal.StateSpace(shoal.LocalMisalignment(8), shoal.Distance((0.0, 1.0, 2.0)))
    moves, why = moves_for("auto", [drifting(1, 40)], space, HEADINGS)
    assert type(moves) is shoal.Turns
    assert "every step is 0.01 long" in why["moves"] and "neighbour distance" in why["moves"]


@pytest.mark.parametrize(
    "words", ["turns:normals", "steps:cauchy:log-normal", "steps:normals:gamma"]
)
def test_moves_come_back_from_their_words(words):
    made = moves_of(words, "auto", 128, "learned")
    named = words_of_moves(made)
    assert named["moves"] == words and named["persistence"] == "learned"
    assert moves_of(**{"words": named.pop("moves"), **named}) == made


@pytest.mark.slow
@pytest.mark.parametrize(("kept", "chosen"), [(0.6, True), (0.0, False)])
def test_turns_that_go_on_as_they_were_are_learned_without_being_asked(tmp_path, kept, chosen):
    rng = np.random.default_rng(2)
    frames, animals = 900, 4
    turn = np.zeros((frames, animals))
    for t in range(1, frames):
        turn[t] = kept * turn[t - 1] + 0.15 * rng.standard_cauchy(animals).clip(-8, 8)
    angle, length = np.cumsum(turn, axis=0), rng.gamma(20.0, 0.05, (frames, animals))
    moved = length[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    path = shoal.Tracks.from_arrays(np.cumsum(moved, axis=0)).to_csv(tmp_path / "walkers.csv")
    settings = FitSettings(tracks=str(path), state="local:others", method="map")
    choice = FitRun(settings, False).choice
    assert (choice.moves.persistence != 0) == chosen == ("persistence" in choice.sentences)
    if chosen:
        assert abs(choice.moves.persistence - kept) < 0.15
        words = words_of_moves(choice.moves)
        assert moves_of(**{"words": words.pop("moves"), **words}) == choice.moves
    named = replace(settings, persistence="none")
    assert FitRun(named, False).choice.moves.persistence == 0
