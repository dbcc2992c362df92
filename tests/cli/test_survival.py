"""Nothing is lost when a run is killed, stopped, repeated or started twice."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import shoal
from cli.speaking import spoken
from cli.test_fit import drifting
from shoal.posterior.checkpoint import Checkpoint
from shoal.system.lock import locked, unfinished

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    path = drifting(1).to_csv(tmp_path_factory.mktemp("survival") / "fish.csv")
    words = "--state local:bins=8 --passive random-walk:60 --basis identity --draws 16000"
    return ("fit", path, *words.split(), "--warmup", "60", "--chains", "2")


def begun(*words):
    """A command that is running, and has saved more of its draws than there were."""
    partial = unfinished(words[words.index("--out") + 1])
    before = len(list(partial.glob("draws-*")))
    program = "from shoal.cli.main import main; main()"
    heard = ["env", "--default-signal=INT"]  # shells deafen what runs in their background
    process = subprocess.Popen(
        [*heard, sys.executable, "-c", program, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(list(partial.glob("draws-*"))) <= before:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    return process


def test_a_run_that_is_killed_stopped_and_resumed_is_the_uninterrupted_one(command, tmp_path):
    out = tmp_path / "fit.nc"

    def refused(*more):
        done = spoken(*command, "--out", out, *more)
        assert done.status == 2
        return done.err

    with locked(out):
        assert "another process is writing" in refused()
    assert not unfinished(out).exists()

    process = begun(*command, "--out", out)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "the draws so far are in" in said
    assert "--resume goes on" in said
    assert not out.exists()
    assert "add --resume to go on with it, or --restart to forget it" in refused()
    assert "give one of them" in refused("--resume", "--restart")
    assert "seed 1 → 9" in refused("--resume", "--seed", "9")

    process = begun(*command, "--out", out, "--resume")
    process.kill()
    process.communicate()
    last = spoken(*command, "--out", out, "--resume")
    assert last.status == 0, last.err
    assert not unfinished(out).exists()
    whole = tmp_path / "whole.nc"
    assert spoken(*command, "--out", whole).status == 0
    one, other = (shoal.load_fit(path).sampled.values for path in (out, whole))
    assert np.array_equal(one, other)


def test_an_interrupted_run_can_be_forgotten(command, tmp_path):
    out = tmp_path / "fit.nc"
    unfinished(out).mkdir()
    Checkpoint(unfinished(out), {"seed": 5})
    quick = [*command, "--method", "map", "--out", out]
    anew = spoken(*quick, "--restart")
    assert anew.status == 0, anew.err
    assert not unfinished(out).exists()
    nothing = spoken(*quick, "--resume", warned=True)
    assert nothing.status == 0
    assert "no interrupted run" in nothing.err
