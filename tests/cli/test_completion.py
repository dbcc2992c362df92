"""What the shell completes, and that the words it offers are words that are understood."""

import subprocess
import sys
import warnings

import pytest

from cli.speaking import spoken
from cli.test_fit import drifting
from shoal.posterior.model import METHODS
from shoal.selection.holding_out import parts_of
from shoal.simulation.following import RULES
from shoal.simulation.walls import WALLS
from shoal.states import Circular, LocalMisalignment, StateSpace, count_transitions
from shoal.tracks import Collection
from shoal.tracks.readers import FORMATS
from shoal.workflows import comparing, vocabulary
from shoal.workflows.features import feature_of
from shoal.workflows.words import basis_of, passive_of


def completed(words, monkeypatch):
    """What bash is told to offer after these words, the last of which may be begun."""
    monkeypatch.setenv("_SHOAL_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", f"shoal {words}")
    monkeypatch.setenv("COMP_CWORD", str(len(f"shoal {words}.".split()) - 1))
    return spoken().out.split()


OFFERED = {
    "si": ["simulate"],
    "fit fish.csv --state lo": ["local"],
    "fit fish.csv --state local:bins=9,ta": [
        "local:bins=9,target",
        "local:bins=9,target-distance",
    ],
    "fit fish.csv --passive w": ["walk-mixture"],
    "fit fish.csv --basis bisquare": ["bisquare", "bisquare-planar"],
    "fit fish.csv --method n": ["nuts"],
    "fit fish.csv --format sleap": ["sleap-analysis", "sleap-labels"],
    "fit fish.csv --heading": ["--heading-frames"],
    "compare fish.csv --split lea": ["leave-one-group-out"],
    "compare fish.csv --as t": ["transitions"],
    "compare fish.csv --moves steps:": ["steps:ahead"],
    "calibrate --truth ": ["prior", "fit"],
    "simulate fit.nc --rule least": ["least-cost"],
    "simulate fit.nc --beside observed,pa": ["observed,passive"],
    "predict fit.nc --walls s": ["slide"],
    "reproduce g": ["guppies"],
    "animate fish.csv --format moveb": ["movebank"],
    "fit ": [],  # the shell offers files
}


@pytest.mark.parametrize("words", OFFERED)
def test_the_shell_offers_what_can_follow(words, monkeypatch):
    assert completed(words, monkeypatch) == OFFERED[words]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_shown_for_each_shell(shell, monkeypatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: (shell, f"/bin/{shell}"))
    said = spoken("--show-completion")
    assert said.status == 0
    assert f"_SHOAL_COMPLETE=complete_{shell}" in said.out


def test_a_feature_is_not_offered_twice(monkeypatch):
    offered = completed("fit fish.csv --state local,", monkeypatch)
    assert "local,target" in offered and "local,local" not in offered


def test_every_word_that_is_offered_is_understood():
    space = StateSpace(Circular("a", bins=8))
    for word in vocabulary.PASSIVE:
        assert word == "auto" or passive_of(word, space) is not None
    for word in vocabulary.BASES:
        assert basis_of(word) is not None
    for word in vocabulary.FEATURES:
        options = {"neighbours": ":radius=1"}.get(word, "")
        limit = ":max=1" if "distance" in word or "speed" in word else ""
        made = feature_of(f"{word}{options}{limit}", (0.0, 0.0), None, "", lambda: [])
        assert made is not None
    assert set(vocabulary.METHODS) == set(METHODS)
    assert set(vocabulary.RULES) == set(RULES)
    assert set(vocabulary.WALLS) == set(WALLS)
    assert set(vocabulary.COMPARED_MOVES) == {"auto", *comparing.MOVES}
    assert tuple(one.name for one in FORMATS) == vocabulary.FORMATS


def test_every_split_that_is_offered_is_understood():
    groups = [drifting(seed, 40, group=f"g{seed}") for seed in range(6)]
    space = StateSpace(LocalMisalignment(bins=4))
    counts = count_transitions(Collection(groups), space)
    for word in vocabulary.SPLITS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # animals that are apart have met
            parts, _ = parts_of(counts, word)
        for seen, held in parts:
            assert 0 < held.total < seen.total < counts.total


def test_completion_loads_nothing_that_takes_time(monkeypatch):
    code = "import sys; sys.argv = ['shoal']\nfrom shoal.cli.main import main\ntry: main()\n"
    code += "except SystemExit: pass\nheavy = {'jax', 'numpy', 'scipy', 'matplotlib', 'pandas'}\n"
    code += "sys.exit(', '.join(heavy & set(sys.modules)) or None)"
    for name, value in (("_SHOAL_COMPLETE", "complete_bash"), ("COMP_CWORD", "3")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COMP_WORDS", "shoal fit --state lo")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["local"], "")
