"""Tracks in two parts: every frame, animal and group is in one of them, and notes say which."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal


def wander(seed=1, frames=40, names="abcd", group="", **known):
    rng = np.random.default_rng(seed)
    positions = np.cumsum(rng.normal(size=(frames, len(names), 2)), axis=0)
    positions[rng.random((frames, len(names))) < 0.1] = np.nan
    return shoal.Tracks.from_arrays(
        positions, **({"fps": 10.0, "individuals": list(names), "group": group} | known)
    )


PONDS = shoal.Collection(
    wander(i, 30 + 5 * i, "abcde"[: 3 + i], f"p{i}", covariates={"day": i}).with_landmarks("a")
    for i in range(3)
)


@given(st.floats(0.06, 0.94), st.integers(40, 90))
def test_frames_are_cut_in_two(share, frames):
    tracks = wander(frames=frames, heading=np.zeros((frames, 4)))
    first, rest = tracks.split_time(share)
    assert len(first.time) == int(share * frames)
    both = np.concatenate([first.positions, rest.positions])
    assert np.array_equal(both, tracks.positions, equal_nan=True)
    assert np.array_equal(np.concatenate([first.time, rest.time]), tracks.time)
    assert first.notes[-1] == f"the first {len(first.time)} of {frames} frames"
    assert rest.notes[-1] == f"the last {len(rest.time)} of {frames} frames"
    assert first.fps == rest.fps == 10.0
    assert "heading" in rest.data


def test_every_group_is_cut_in_two():
    first, rest = PONDS.split_time(0.5)
    assert [len(part.time) for part in first] == [15, 17, 20]
    assert [len(part.time) for part in rest] == [15, 18, 20]
    assert first.groups == rest.groups == PONDS.groups
    assert rest["p1"].covariates["day"] == 1


@pytest.mark.parametrize(
    ("share", "number"), [(0.01, 1), (0.34, 1), (0.5, 2), (2 / 3, 2), (0.99, 2)]
)
def test_whole_groups_drawn_by_the_seed(share, number):
    firsts = set()
    for seed in range(9):
        first, rest = PONDS.split_groups(share, seed)
        assert sorted(first.groups + rest.groups) == sorted(PONDS.groups)
        assert len(first) == number
        firsts.add(first.groups)
    assert len(firsts) > 1


def test_groups_by_label():
    first, rest = PONDS.split_groups(["p2", "p0"])
    assert (first.groups, rest.groups) == (("p0", "p2"), ("p1",))
    assert PONDS.split_groups("p1")[0].groups == ("p1",)


@given(st.floats(0.01, 0.99), st.integers(0, 99))
def test_members_are_dealt_and_landmarks_stay(share, seed):
    for parts in (PONDS.split_individuals(share, seed), PONDS.split_individuals(share, seed)):
        for whole, one, other in zip(PONDS, *parts, strict=True):
            assert sorted(one.members + other.members) == sorted(whole.members)
            assert one.members and other.members
            for part in (one, other):
                assert part.individuals == ("a", *part.members)
                for name in part.individuals:
                    assert np.array_equal(part.place_of(name), whole.place_of(name), equal_nan=True)
                number = f"{len(part.members)} of {len(whole.members)} animals ("
                assert part.notes[-1].startswith(number)
                assert part.notes[-1].endswith("are not seen as neighbours")
    one, other = (PONDS.split_individuals(share, seed)[0] for _ in range(2))
    assert [part.members for part in one] == [part.members for part in other]


def test_a_collection_of_one_is_split_as_its_tracks_are():
    tracks = wander(names="abcdefgh")
    for which in (0.4, ["b", "h"]):
        parts = tracks.split_individuals(which, seed=5)
        alone = shoal.Collection([tracks]).split_individuals(which, seed=5)
        assert [part.members for part in parts] == [part[0].members for part in alone]
    assert tracks.split_individuals(["b", "h"])[0].members == ("b", "h")
    draws = {tracks.split_individuals(0.4, seed)[0].members for seed in range(9)}
    assert len(draws) > 1


def test_animals_of_many_groups_by_name():
    first, rest = PONDS.split_individuals(["d"])
    assert first.groups == ("p1", "p2"), "the first group has nobody of that name"
    assert [part.members for part in first] == [("d",), ("d",)]
    assert [part.members for part in rest] == [("b", "c"), ("b", "c"), ("b", "c", "e")]
    one, others = PONDS.split_individuals([("p2", "c")])
    assert (one.groups, one[0].members) == (("p2",), ("c",))
    assert [part.members for part in others] == [("b", "c"), ("b", "c", "d"), ("b", "d", "e")]


@pytest.mark.filterwarnings("ignore:.* is a pair:UserWarning")
def test_counting_first_keeps_neighbours_in_sight():
    tracks = wander(names="abcdef", frames=80)
    space = shoal.StateSpace(shoal.LocalMisalignment(8))
    counted, _ = shoal.count_transitions(tracks, space).split_individuals(["a", "b"])
    alone = shoal.count_transitions(tracks.split_individuals(["a", "b"])[0], space)
    whole = shoal.count_transitions(tracks, space, by="individual")
    expected = whole["", "a"] + whole["", "b"]
    assert np.array_equal(counted.matrix(), expected.matrix())
    assert not np.array_equal(alone.matrix(), expected.matrix())


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (lambda: wander(frames=5).split_time(0.3), "2 frames or more.*'' into 1 and 4"),
        (lambda: wander().split_time(1), "a share lies between 0 and 1, such as 2/3; got 1"),
        (lambda: PONDS.split_time(0.99), "the 30 frames of group 'p0' into 29 and 1"),
        (lambda: shoal.Collection([wander()]).split_groups(0.5), "groups needs two or more"),
        (lambda: PONDS.split_groups(["p0", "sea"]), "no group is called 'sea'; there are p0, p1"),
        (lambda: PONDS.split_groups(["p0", "p1", "p2"]), "all groups are named"),
        (lambda: PONDS.split_individuals("a"), "'a' is a landmark, and stays in both parts"),
        (lambda: PONDS.split_individuals(["z"]), "no animal is called 'z'; there are b, c, d, e"),
        (lambda: PONDS.split_individuals(list("bcde")), "all animals are named"),
        (lambda: PONDS.split_individuals([]), "no animals are named"),
        (lambda: PONDS.split_individuals(1.5), "between 0 and 1"),
        (lambda: PONDS.split_individuals(0.5, seed=-1), "a seed is a whole number"),
        (lambda: wander(names="a", group="pond").split_individuals(0.5), "'pond' has 1 member"),
    ],
)
def test_what_cannot_be_split_is_said(split, words):
    with pytest.raises(shoal.InputError, match=words):
        split()
