"""Decisions read block by block and on workers: the same as of the tracks read whole."""

import numpy as np
import pytest

import shoal
from shoal.moves import sampling
from shoal.moves.record import EACH

ARENA = shoal.tracks.Rectangle(-60.0, -60.0, 60.0, 60.0)
ANGLES = shoal.StateSpace(
    shoal.LocalMisalignment(bins=12, include_self=False), shoal.TargetMisalignment((0.0, 5.0), 6)
)
PLACES = shoal.StateSpace(
    shoal.Bearing(bins=8),
    shoal.Distance(np.linspace(0, 40, 9)),
    shoal.states.Speed(np.linspace(0, 30, 7), beyond=True),
)


def group(seed, frames=160, animals=3):
    """Walks with rests, one of them long, and gaps."""
    rng = np.random.default_rng(seed)
    positions = np.cumsum(rng.normal(size=(frames, animals, 2)), axis=0)
    resting = rng.random((frames, animals)) < 0.2
    resting[50:100, 1] = True
    for frame in range(1, frames):
        positions[frame][resting[frame]] = positions[frame - 1][resting[frame]]
    positions[rng.random((frames, animals)) < 0.03] = np.nan
    names = [f"a{i}" for i in range(animals)]
    return shoal.Tracks.from_arrays(
        positions, fps=10.0, group=f"g{seed}", individuals=names, arena=ARENA
    )


GROUPS = shoal.Collection(group(seed) for seed in range(3))
READINGS = {
    "turns": (ANGLES, shoal.Turns(candidates=8), {}),
    "persistent turns": (
        ANGLES,
        shoal.Turns(candidates=8, persistence=True),
        {"minimum_step": 0.4},
    ),
    "turns over three frames": (ANGLES, shoal.Turns(candidates=8), {"heading_frames": 3}),
    "turning angles": (
        shoal.StateSpace(shoal.states.TurningAngle(bins=8), shoal.Bearing(bins=8)),
        shoal.Turns(candidates=8),
        {},
    ),
    "steps": (PLACES, shoal.Steps(candidates=8), {"minimum_step": 0.1}),
    "steps, others ahead": (PLACES, shoal.Steps(candidates=8, others="ahead"), {}),
    "speeds beside others": (
        shoal.StateSpace(shoal.states.RelativeSpeed(np.linspace(0, 3, 7), beyond=True)),
        shoal.Steps(candidates=8),
        {},
    ),
}


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    return GROUPS.to_parquet(tmp_path_factory.mktemp("store") / "groups.parquet")


@pytest.fixture(scope="module")
def whole():
    return {name: shoal.decisions(GROUPS, *reading[:2], **reading[2])
            for name, reading in READINGS.items()}  # fmt: skip


def same(one, other):
    for name in (*EACH, "states", "arrivals"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in ("origin", "destination", "group", "individual", "frame"):
        np.testing.assert_array_equal(getattr(one.records, name), getattr(other.records, name))
    assert one.records.groups == other.records.groups
    assert one.records.individuals == other.records.individuals
    assert (one.possible is None) == (other.possible is None)
    if one.possible is not None:
        np.testing.assert_array_equal(one.possible, other.possible)
    assert one.dropped == other.dropped and one.fixes == other.fixes
    assert one.moves == other.moves


@pytest.mark.parametrize("block_rows", [pytest.param(29, marks=pytest.mark.slow), 150, 10**6])
@pytest.mark.parametrize("name", READINGS)
def test_decisions_do_not_depend_on_blocks(parquet, whole, name, block_rows):
    space, moves, choices = READINGS[name]
    opened = shoal.open_tracks(parquet, block_rows=block_rows)
    assert (len(opened.blocks()) > 3) == (block_rows < 1000)
    same(shoal.decisions(opened, space, moves, **choices), whole[name])


@pytest.mark.slow
def test_decisions_do_not_depend_on_workers(parquet, whole):
    opened = shoal.open_tracks(parquet, block_rows=150)
    space, moves, choices = READINGS["steps"]
    same(shoal.decisions(opened, space, moves, cluster=1, **choices), whole["steps"])


@pytest.mark.slow
def test_a_sample_of_moves_does_not_depend_on_blocks(parquet, monkeypatch):
    monkeypatch.setattr(sampling, "SAMPLE", 100)
    space, moves, choices = READINGS["steps"]
    expected = shoal.decisions(GROUPS, space, moves, **choices)
    assert expected.total > 300
    opened = shoal.open_tracks(parquet, block_rows=60)
    same(shoal.decisions(opened, space, moves, **choices), expected)


def test_a_function_of_the_users_own_sees_whole_groups(parquet):
    north = shoal.states.Custom(
        shoal.Circular("north", 8), lambda s: 90.0 - s.headings + 0 * s.positions[:1, :, 0], turn=-1
    )
    space = shoal.StateSpace(north)
    opened = shoal.open_tracks(parquet, block_rows=60)
    same(shoal.decisions(opened, space), shoal.decisions(GROUPS, space))
