"""The groups of section 4: a stand-in with a truth, and the user's files."""

import numpy as np
import pytest

import shoal
from shoal.errors import InputError
from shoal.paper.guppies_data import decided, from_files, stand_in
from shoal.paper.guppies_evidence import one_experiment_at_a_time


@pytest.fixture(scope="module")
def data():
    return stand_in(1, 2, 12, 1)


def test_decisions_are_as_many_as_the_fish_took_and_begin_where_they_did(data):
    space = data.space(12)
    moving, chosen = shoal.count_transitions(data.tracks, space), decided(data, space, 1)
    assert chosen.total == moving.total
    first = np.zeros(space.size, dtype=int)
    for part in data.tracks:
        scene = shoal.states.Scene.of(part)
        states = space.encode(*(feature.values(scene)[0] for feature in space.parts))
        np.add.at(first, states, 1)
    balance = chosen.departures - chosen.arrivals  # starts minus ends
    assert np.all(balance.ravel() <= first)
    assert balance.sum() == 0


def test_decisions_follow_the_policy_of_the_truth(data):
    """Within Monte Carlo error: the share of each destination of the most common origin."""
    chosen = decided(data, data.space(12), 1)
    pairs = chosen.pairs
    origin = int(np.bincount(pairs.origin, pairs.count).argmax())
    mine = pairs.origin == origin
    total = pairs.count[mine].sum()
    expected = data.truth.solution.policy(origin).ravel()
    seen = np.bincount(pairs.destination[mine], pairs.count[mine], minlength=expected.size) / total
    error = np.sqrt(expected * (1 - expected) / total)
    assert np.all(np.abs(seen - expected) <= 4.5 * error + 1.5 / total)


def written(folder, groups, columns, scale=1.0, flip=False):
    rows = [",".join(columns)]
    for number, part in enumerate(groups):
        for frame, places in enumerate(part.positions):
            for fish, (x, y) in enumerate(places):
                values = {
                    "individual": fish, "frame": frame, "x": scale * x,
                    "y": scale * (1 - y) if flip else scale * y,
                    "sex": "male", "experiment": number,
                }  # fmt: skip
                rows.append(",".join(str(values[name]) for name in columns))
    path = folder / "guppies.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


ONE = ("individual", "frame", "x", "y")
SEVERAL = ("experiment", "sex", *ONE)


def test_one_experiment_is_read_with_walls_and_its_target(data, tmp_path):
    groups = list(data.tracks)[:1]
    found = from_files(written(tmp_path, groups, ONE), (0.2, 0.8))
    assert found.kind == "one experiment"
    assert found.example.arena == shoal.tracks.Rectangle(0, 0, 1, 1)
    assert np.allclose(found.example.positions, groups[0].positions)


def test_some_groups_are_not_the_published_ones_and_it_is_said(data, tmp_path):
    found = from_files(written(tmp_path, list(data.tracks), SEVERAL), (0.2, 0.8))
    assert found.kind == "experiments"
    assert any("the paper has 12 and 14" in note for note in found.notes)


def test_files_without_a_target_or_with_one_far_away_are_refused(data, tmp_path):
    path = written(tmp_path, list(data.tracks)[:1], ONE)
    with pytest.raises(InputError, match="--target X,Y"):
        from_files(path, None)
    with pytest.raises(InputError, match="far from the fish"):
        from_files(path, (200.0, 800.0))
    with pytest.raises(InputError, match="two numbers"):
        from_files(path, (float("nan"), 0.8))


def test_pixels_that_count_downwards_give_the_same_angles_when_flipped(data, tmp_path):
    groups = list(data.tracks)[:1]
    path = written(tmp_path, groups, ONE, scale=640.0, flip=True)
    with pytest.warns(UserWarning, match="--flip-y"):
        from_files(path, (0.2 * 640, 0.2 * 640))
    with pytest.warns(UserWarning, match="unit square"):
        from_files(path, (0.2, 0.8), flip_y=True)
    found = from_files(path, (0.2 * 640, 0.2 * 640), flip_y=True)
    plain = shoal.count_transitions(groups[0], data.space(12))
    flipped = shoal.count_transitions(found.tracks, found.space(12))
    assert np.array_equal(plain.arrivals, flipped.arrivals)


def test_one_experiment_at_a_time_counts_what_it_finds():
    told = []
    power = one_experiment_at_a_time(2, 12, 2, 90.0, (40, 5), 1, lambda *w: told.append(w))
    assert 0 <= power.target <= power.experiments == 2
    assert 0 <= power.local <= 2
    assert "5 fish and at most 40 frames" in power.words()
    assert any(word[0] == "one experiment at a time" for word in told)


def test_the_example_is_a_group_of_males_near_120_frames(data):
    males = [part for part in data.tracks if part.covariates["sex"] == "male"]
    gap = [abs(len(part.positions) - 120) for part in males]
    assert data.example.group == males[int(np.argmin(gap))].group
