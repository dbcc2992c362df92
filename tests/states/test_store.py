"""Counting block by block, on workers, across seams: the same as reading everything at once."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shoal
from shoal.system.cluster import client_of, run_jobs
from shoal.system.progress import silent

SPACE = shoal.StateSpace(
    shoal.LocalMisalignment(bins=12),
    shoal.TargetMisalignment(target=(0.0, 5.0), bins=6),
    shoal.states.TurningAngle(bins=4),
)


def group(seed, frames=200, animals=4):
    """Walks with rests, one of them long, and gaps."""
    rng = np.random.default_rng(seed)
    positions = np.cumsum(rng.normal(size=(frames, animals, 2)), axis=0)
    resting = rng.random((frames, animals)) < 0.3
    resting[50:110, 1] = True
    for frame in range(1, frames):
        positions[frame][resting[frame]] = positions[frame - 1][resting[frame]]
    positions[rng.random((frames, animals)) < 0.03] = np.nan
    positions[150:, 3] = np.nan
    return shoal.Tracks.from_arrays(
        positions, fps=10.0, group=f"g{seed}", individuals=[f"a{i}" for i in range(animals)]
    )


def same(one, other):
    assert np.array_equal(one.matrix(), other.matrix())
    assert one.dropped == other.dropped
    assert one.fixes == other.fixes


GROUPS = shoal.Collection(group(seed) for seed in range(3))


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    return {
        "parquet": GROUPS.to_parquet(folder / "groups.parquet"),
        "csv": GROUPS.to_csv(folder / "groups.csv"),
    }


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("block_rows", [37, 300, 10**6])
@pytest.mark.parametrize(
    "choices", [{}, {"lag": 4, "heading_frames": 3}, {"minimum_step": 0.4, "lag": 2}]
)
def test_counts_do_not_depend_on_blocks(files, kind, block_rows, choices):
    opened = shoal.open_tracks(files[kind], block_rows=block_rows)
    assert opened.groups == ("g0", "g1", "g2")
    assert (len(opened.blocks()) > 3) == (block_rows < 1000)
    whole = shoal.count_transitions(GROUPS, SPACE, **choices)
    same(shoal.count_transitions(opened, SPACE, **choices), whole)


@settings(max_examples=8, deadline=None)
@example(1, 2, 3, 0.5)
@given(st.integers(12, 900), st.integers(1, 5), st.integers(1, 4), st.sampled_from([0.0, 0.5, 2.0]))
def test_counts_do_not_depend_on_any_block_size(files, rows, lag, frames, step):
    choices = {"lag": lag, "heading_frames": frames, "minimum_step": step}
    opened = shoal.open_tracks(files["parquet"], block_rows=rows)
    same(
        shoal.count_transitions(opened, SPACE, **choices),
        shoal.count_transitions(GROUPS, SPACE, **choices),
    )


@pytest.mark.parametrize("by", ["group", "individual"])
def test_counts_apart_do_not_depend_on_blocks(files, by):
    opened = shoal.open_tracks(files["parquet"], block_rows=100)
    apart = shoal.count_transitions(opened, SPACE, by=by)
    expected = shoal.count_transitions(GROUPS, SPACE, by=by)
    assert set(apart) == set(expected)
    for label, counts in expected.items():
        same(apart[label], counts)


def test_a_function_of_the_users_own_sees_whole_groups(files):
    drift = shoal.states.Custom(
        shoal.states.Interval("drift", (0, 5, 10, 99)),
        lambda s: np.hypot(*(s.positions - s.positions[:1]).transpose(2, 0, 1)),
    )
    space = shoal.StateSpace(drift)
    opened = shoal.open_tracks(files["parquet"], block_rows=100)
    same(shoal.count_transitions(opened, space), shoal.count_transitions(GROUPS, space))


def parts(tracks, folder, *, overlap, rows=60):
    """One recording cut in time, as large files are."""
    table = tracks.table().drop(columns=["group"])
    frames = len(tracks.positions)
    for number, start in enumerate(range(0, frames, rows)):
        inside = (table["frame"] >= start) & (table["frame"] < start + rows + overlap)
        table[inside].to_parquet(folder / f"part-{number}.parquet", index=False)
    return folder


@pytest.mark.parametrize("overlap", [0, 1, 5])
def test_a_recording_cut_in_time_is_one_recording(tmp_path, overlap):
    tracks = group(7)
    folder = parts(tracks, tmp_path, overlap=overlap)
    if overlap < 2:
        with pytest.warns(UserWarning, match="taken as one recording"):
            shoal.open_tracks(folder)
    else:
        with pytest.raises(shoal.InputError, match="overlap in part"):
            shoal.open_tracks(folder)
    opened = shoal.open_tracks(folder, block_rows=150, parts="time")
    assert len(opened.groups) == 1
    same(shoal.count_transitions(opened, SPACE), shoal.count_transitions(tracks, SPACE))
    assert len(shoal.open_tracks(folder, parts="groups").groups) == 4


def test_files_that_disagree_at_a_seam_are_refused(tmp_path):
    folder = parts(group(7), tmp_path, overlap=1)
    table = pd.read_parquet(folder / "part-1.parquet")
    table.loc[0, "x"] += 1
    table.to_parquet(folder / "part-1.parquet", index=False)
    with pytest.raises(shoal.InputError, match="at different places in frame 60"):
        shoal.count_transitions(shoal.open_tracks(folder, parts="time"), SPACE)


def test_folders_may_name_the_groups(tmp_path):
    for tracks in GROUPS:
        place = tmp_path / f"group={tracks.group}"
        place.mkdir()
        tracks.table().drop(columns=["group"]).to_parquet(place / "part.parquet", index=False)
    opened = shoal.open_tracks(tmp_path, block_rows=300)
    assert set(opened.groups) == {"g0", "g1", "g2"}
    same(shoal.count_transitions(opened, SPACE), shoal.count_transitions(GROUPS, SPACE))


def test_files_without_groups_whose_frames_overlap_are_groups(tmp_path):
    for tracks in GROUPS:
        table = tracks.table().drop(columns=["group"])
        table.to_parquet(tmp_path / f"{tracks.group}.parquet", index=False)
    opened = shoal.open_tracks(tmp_path)
    assert opened.groups == ("g0", "g1", "g2")
    same(shoal.count_transitions(opened, SPACE), shoal.count_transitions(GROUPS, SPACE))


def test_groups_mixed_with_each_other_are_told_apart(tmp_path):
    table = GROUPS.table().sort_values(["frame", "individual", "group"])
    table.to_parquet(tmp_path / "mixed.parquet", index=False, row_group_size=100)
    opened = shoal.open_tracks(tmp_path / "mixed.parquet", block_rows=300)
    same(shoal.count_transitions(opened, SPACE), shoal.count_transitions(GROUPS, SPACE))


def test_landmarks_are_no_members_when_streamed_either(tmp_path):
    marked = GROUPS.map(lambda tracks: tracks.with_landmarks("a3"))
    path = marked.to_parquet(tmp_path / "marked.parquet")
    space = shoal.StateSpace(shoal.LocalMisalignment(6), shoal.TargetMisalignment("a3", 6))
    for rows in (100, 10**6):
        opened = shoal.open_tracks(path, block_rows=rows)
        same(shoal.count_transitions(opened, space), shoal.count_transitions(marked, space))


def test_opened_tracks_are_read_a_group_at_a_time(files):
    opened = shoal.open_tracks(files["parquet"], block_rows=50)
    read = list(opened)
    assert [tracks.group for tracks in read] == ["g0", "g1", "g2"]
    assert np.array_equal(read[1].positions, GROUPS[1].positions, equal_nan=True)


@pytest.fixture(scope="module")
def workers():
    with client_of(2) as client:
        yield client


def test_workers_count_the_same(files, workers):
    whole = shoal.count_transitions(GROUPS, SPACE)
    opened = shoal.open_tracks(files["parquet"], block_rows=100)
    same(shoal.count_transitions(opened, SPACE, cluster=workers), whole)
    address = workers.scheduler.address
    same(shoal.count_transitions(opened, SPACE, cluster=address), whole)


def test_jobs_of_a_lost_worker_run_again(workers):
    def slowly(number):
        time.sleep(0.05)
        return number

    def strike():
        os.kill(next(iter(workers.run(os.getpid).values())), signal.SIGKILL)

    timer = threading.Timer(0.4, strike)
    timer.start()
    done = list(run_jobs(slowly, range(60), workers, silent, "waiting"))
    timer.join()
    assert sorted(done) == list(range(60))


def test_an_error_on_a_worker_reaches_the_user(workers):
    def broken(number):
        raise shoal.InputError(f"item {number} is wrong")

    with pytest.raises(shoal.InputError, match="item 3 is wrong"):
        list(run_jobs(broken, [3], workers, silent, "failing"))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda files: shoal.open_tracks(files["csv"], block_rows=0), "one row or more, got 0"),
        (lambda files: client_of(0).__enter__(), "1 worker or more, got 0"),
        (
            lambda files: client_of("tcp://127.0.0.1:9").__enter__(),
            "no Dask scheduler answers at 'tcp://127.0.0.1:9'",
        ),
        (lambda files: client_of(3.5).__enter__(), "a cluster is a number of workers"),
        (
            lambda files: shoal.open_tracks(files["parquet"].parent),
            "only long tables, Parquet or CSV, can be opened",
        ),
    ],
)
def test_slips_get_a_sentence(files, make, words, monkeypatch):
    monkeypatch.setattr("shoal.system.cluster.PATIENCE", 0.3)
    with pytest.raises(shoal.InputError, match=words):
        make(files)
