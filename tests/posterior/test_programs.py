"""Programs that JAX compiles: few for a fit from the command line, none for a second like it."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

import shoal
from posterior_problems import random_transitions

EVENT = "/jax/core/compile/backend_compile_duration"
MOST = {"decisions": 55, "transitions": 60}
"""Programs of one ``shoal fit``, its choices, figures and page included."""

COUNTED = f"""
import sys, jax
count = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **more: count.append(event) if event == {EVENT!r} else None
)
from shoal.cli.main import main
sys.argv = ["shoal", "fit", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("programs", len(count))
"""


@pytest.fixture(scope="module")
def compiled():
    """The programs that were compiled so far, by name."""
    names = []

    def note(event, seconds, **more):
        if event == EVENT:
            names.append(more.get("fun_name", "?"))

    jax.monitoring.register_event_duration_secs_listener(note)
    return names


@pytest.mark.parametrize("read", ["decisions", pytest.param("transitions", marks=pytest.mark.slow)])
def test_a_fit_from_the_command_line_compiles_few_programs(read, tmp_path):
    tank = shoal.paper.simulate_tank(seed=1, progress=False).tracks
    tank.to_csv(tmp_path / "tank.csv")
    words = [tmp_path / "tank.csv", "--state", "local:others:bins=12", "--as", read]
    words += ["--method", "laplace", "--out", tmp_path / "fit.nc"]
    run = subprocess.run(
        [sys.executable, "-c", COUNTED, *map(str, words)],
        env=os.environ | {"SHOAL_CACHE": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout.rpartition("programs")[2]) <= MOST[read]


SPACE = shoal.StateSpace(shoal.Circular("local", bins=9), shoal.Circular("target", bins=7))
PAIRS = {
    "the paper's": (
        shoal.Model(SPACE, shoal.RandomWalk(70.0), shoal.Bisquare(1)),
        shoal.Model(SPACE, shoal.RandomWalk(50.0), shoal.Bisquare(1), 0.9, shoal.Prior(rate=0.3)),
    ),
    "a fixed precision": (
        shoal.Model(SPACE, shoal.Uniform(), prior=shoal.Prior("fixed", value=1.0)),
        shoal.Model(SPACE, shoal.Uniform(), prior=shoal.Prior("fixed", value=3.0)),
    ),
    "scales and turns": (
        shoal.Model(
            SPACE,
            shoal.TurnCoupled(spread=shoal.passive.Unknown(5.0, 4.0), noise=3.0, effects=(-1, -1)),
            shoal.Smooth(order=2),
        ),
        shoal.Model(
            SPACE,
            shoal.TurnCoupled(spread=shoal.passive.Unknown(9.0, 3.0), noise=4.0, effects=(-1, -1)),
            shoal.Smooth(order=2, scale=2.0, length=120.0),
        ),
    ),
}


@pytest.mark.parametrize("method", ["map", "laplace"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_second_fit_with_other_numbers_compiles_nothing(name, method, compiled):
    one, other = PAIRS[name]
    counts = random_transitions(shoal.RandomWalk(70.0).on(SPACE), SPACE)
    first = one.fit(counts, method, chains=2, draws=50, seed=1)
    before = len(compiled)
    second = other.fit(counts, method, chains=2, draws=50, seed=1)
    assert compiled[before:] == []
    assert not np.allclose(first.sampled.values, second.sampled.values)


def test_a_second_fit_to_decisions_with_other_numbers_compiles_nothing(compiled):
    tracks = shoal.paper.simulate_tank(seed=2, progress=False).tracks
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=10))
    fits = []
    for spread, scale in (
        (shoal.passive.Unknown(5.0, 4.0), 1.0),
        (shoal.passive.Unknown(9.0, 3.0), 2.0),
    ):
        before = len(compiled)
        found = shoal.decisions(tracks, space, shoal.Turns(spread=spread))
        model = shoal.Model(space, found.moves, shoal.Smooth(scale=scale))
        fits.append(model.fit(found, "laplace", chains=2, draws=50, seed=1))
    assert compiled[before:] == []
    assert not np.allclose(fits[0].sampled.values, fits[1].sampled.values)
