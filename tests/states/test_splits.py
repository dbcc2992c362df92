"""Splits of transitions: disjoint, complete, never across an edge, and what they refuse."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from registries import NUMBERED
from shoal.states import Transitions, splitting
from shoal.tracks.splitting import drawn
from split_laws import (
    CHOICES,
    TURNS,
    counted,
    frames_by_group,
    groups_of,
    is_part_of,
    rows,
    summed,
    wander,
)

ALIGNED = shoal.StateSpace(shoal.LocalMisalignment(bins=6))
SHARES = st.floats(0.05, 0.95)


@given(CHOICES)
def test_records_are_the_counts_one_by_one(choice):
    counts = counted(*choice)
    is_part_of(counts, counts)
    assert len(counts.records) == counts.total


def test_records_agree_with_a_plain_loop():
    tracks = groups_of(5, 3)
    lag, expected = 2, Counter()
    for one in tracks:
        states, _ = shoal.states.track_states(one, TURNS)
        for frame in range(0, len(states) - lag, lag):
            for animal, name in enumerate(one.members):
                start, end = int(states[frame, animal]), int(states[frame + lag, animal])
                if start >= 0 and end >= 0:
                    expected[one.group, (one.group, name), frame, start, end] += 1
    assert rows(shoal.count_transitions(tracks, TURNS, lag=lag)) == expected
    apart = shoal.count_transitions(tracks, TURNS, lag=lag, by="individual")
    assert summed(apart.values()) == expected
    assert all(part.records.individuals == (who,) for who, part in apart.items())


def test_plain_sequences_are_animals_of_one_group():
    counts = shoal.count_transitions([[0, 2, 5], [1], [3, 4]], NUMBERED)
    assert rows(counts) == Counter(
        [("", ("", "0"), 0, 0, 2), ("", ("", "0"), 1, 2, 5), ("", ("", "2"), 0, 3, 4)]
    )
    assert counts.records.groups == ("",)
    assert counts.records.individuals == (("", "0"), ("", "2")), "the others have no transitions"


def test_landmarks_have_no_records():
    tracks = wander(individuals=["a", "b", "dog"]).with_landmarks("dog")
    counts = shoal.count_transitions(tracks, TURNS)
    assert counts.records.individuals == (("", "a"), ("", "b"))


@given(CHOICES, st.integers(0, 10**6))
def test_adding_keeps_records_and_knows_groups_by_their_labels(choice, seed):
    counts = counted(*choice)
    other = shoal.count_transitions(groups_of(seed, 2), TURNS, lag=counts.lag)
    together = counts + other
    is_part_of(together, together)
    assert rows(together) == rows(counts) + rows(other)
    assert len(together.records.groups) == max(len(counts.records.groups), 2)
    matrix = Transitions.from_matrix(counts.matrix(), counts.space)
    unknown = Transitions.summed([counts, replace(matrix, lag=counts.lag)], counts.space)
    assert unknown.records is None
    assert unknown.total == 2 * counts.total


@given(CHOICES, SHARES)
def test_earlier_and_later_share_no_frame_and_only_straddlers_are_lost(choice, share):
    counts = counted(*choice)
    try:
        earlier, later = counts.split_time(share)
    except shoal.InputError as error:
        assert "choose another share" in str(error)
        return
    for part in (earlier, later):
        is_part_of(part, counts)
    lost = rows(counts) - rows(earlier) - rows(later)
    ends = frames_by_group(counts)
    cuts = {g: min(f) + int(share * (max(f) - min(f) + 1)) for g, f in ends.items()}
    for group, _, frame, _, _ in lost:
        assert frame < cuts[group] <= frame + counts.lag
    assert all(max(f) < cuts[g] for g, f in frames_by_group(earlier).items())
    assert all(min(f) >= cuts[g] for g, f in frames_by_group(later).items())


@pytest.mark.parametrize("share", [2 / 3, np.float64(2 / 3)])
def test_ten_fish_in_119_frames_split_as_it_should_be(share):
    fish = wander(frames=120, animals=10, missing=0.0)
    for counts in (
        shoal.count_transitions(fish, ALIGNED),
        shoal.count_transitions(np.zeros((10, 119), dtype=int), NUMBERED),
    ):
        assert counts.total == 1180
        earlier, later = counts.split_time(share)
        assert (earlier.total, later.total) == (780, 390)
        assert earlier.records.frame.max() == 77
        assert later.records.frame.min() == 79


def test_at_a_longer_lag_more_straddle():
    counts = shoal.count_transitions(np.zeros((10, 119), dtype=int), NUMBERED, lag=5)
    earlier, later = counts.split_time(2 / 3)
    # of frames 0, 5, …, 110: those before 72, and those from 77 on
    assert (earlier.total, later.total) == (10 * 15, 10 * 7)
    assert earlier.lag == later.lag == 5
    assert counts.total - earlier.total - later.total == 10


def test_every_group_is_cut_at_its_own_time():
    long, short = wander(1, 102, 1, 0.0, group="long"), wander(2, 22, 1, 0.0, group="short")
    counts = shoal.count_transitions([long, short], TURNS)  # the first and last are no states
    earlier, later = counts.split_time(0.5)
    assert earlier.records.groups == later.records.groups == ("long", "short")
    assert np.bincount(earlier.records.group).tolist() == [49, 9]
    assert np.bincount(later.records.group).tolist() == [49, 9]


@given(CHOICES, SHARES, st.integers(0, 99))
def test_whole_groups_and_whole_animals_add_up(choice, share, seed):
    counts = counted(*choice)
    groups = counts.records.groups
    splits = [("individual", counts.split_individuals(share, seed))]
    if len(groups) > 1:
        splits.append(("group", counts.split_groups(share, seed)))
        first, _ = splits[-1][1]
        number = max(1, min(len(groups) - 1, round(share * len(groups))))
        assert len(first.records.groups) == number
    for by, parts in splits:
        for part in parts:
            is_part_of(part, counts)
        assert summed(parts) == rows(counts)
        names = [set(getattr(part.records, f"{by}s")) for part in parts]
        assert not names[0] & names[1]


def test_groups_and_animals_by_name():
    counts = shoal.count_transitions(groups_of(3, 3), TURNS)
    first, rest = counts.split_groups(["g2", "g0"])
    assert (first.records.groups, rest.records.groups) == (("g0", "g2"), ("g1",))
    assert counts.split_groups("g1")[0].total == rest.total
    zero, _ = counts.split_individuals(["0"])
    assert zero.records.individuals == (("g0", "0"), ("g1", "0"), ("g2", "0"))
    both, others = counts.split_individuals([("g1", "0"), ("g2", "3")])
    assert both.records.individuals == (("g1", "0"), ("g2", "3"))
    assert summed([both, others]) == rows(counts)
    numbered = shoal.count_transitions([[0, 1], [2, 3]], NUMBERED).split_individuals([1])
    assert numbered[0].records.individuals == (("", "1"),)


def test_a_draw_depends_on_its_seed_alone():
    counts = shoal.count_transitions(np.zeros((30, 4), dtype=int), NUMBERED)
    draws = [counts.split_individuals(0.5, seed)[0].records.individuals for seed in (0, 0, 1)]
    assert draws[0] == draws[1] != draws[2]
    assert len(draws[0]) == 15


def fish(number=12, females=5):
    """Groups in a file that lists females first; in each group the first fish is the large one."""
    return shoal.Collection(
        wander(n, 8, 2, 0.0, group=f"g{n:02d}", individuals=["a", "b"]).with_covariates(
            sex="female" if n < females else "male", size={"a": "large", "b": "small"}
        )
        for n in range(number)
    )


@given(st.integers(2, 30), st.integers(1, 6), SHARES, st.integers(0, 99))
def test_every_stratum_is_split_by_the_same_share(total, kinds, share, seed):
    code = np.random.default_rng(seed).integers(0, kinds, total)
    mask = drawn(share, total, np.random.default_rng(seed), "groups", code)
    assert mask.sum() == max(1, min(total - 1, round(share * total)))
    for kind in range(kinds):
        here = mask[code == kind]
        assert abs(here.sum() - mask.sum() * here.size / total) < 1


def test_groups_are_drawn_whatever_their_order_and_strata_are_kept():
    counts = shoal.count_transitions(fish(), TURNS)
    sexes = {label: known["sex"] for label, known in counts.records.facts.items()}
    held = [counts.split_groups(0.6, seed, "sex")[1].records.groups for seed in (1, 1, 2, 3)]
    assert held[0] == held[1]
    assert len(set(held)) == 3
    for groups in held:
        assert Counter(sexes[group] for group in groups) == {"female": 2, "male": 3}
    drawn_anyhow = {counts.split_groups(0.6, seed)[1].records.groups for seed in range(9)}
    assert len(drawn_anyhow) > 1
    assert counts.split_groups(0.6, 1, "sex")[1].records.groups == (
        fish().split_groups(0.6, 1, "sex")[1].groups
    ), "tracks and counts are split alike"
    females = ("g00", "g01", "g02", "g03", "g04")
    assert held[0] != females, "not in the order of the file"


def test_every_fold_has_its_share_of_each_stratum():
    counts = shoal.count_transitions(fish(), TURNS)
    for _, held in counts.folds(3, "group", seed=1, stratify="sex"):
        sexes = Counter(held.records.facts[group]["sex"] for group in held.records.groups)
        assert sexes["female"] in (1, 2)
        assert sexes["male"] in (2, 3)
    large, small = Counter(), Counter()
    first, rest = counts.split_individuals(0.5, 1, "size")
    large.update(name for _, name in first.records.individuals)
    small.update(name for _, name in rest.records.individuals)
    assert large == small == {"a": 6, "b": 6}, "animals by a covariate of their own"
    assert summed([first, rest]) == rows(counts)


def test_strata_that_are_none_are_refused():
    counts = shoal.count_transitions(fish(3, 1), TURNS)
    with pytest.raises(shoal.InputError, match="no group has a covariate called 'colour'; there"):
        counts.split_groups(0.5, 1, "colour")
    with pytest.raises(shoal.InputError, match="nothing to stratify"):
        fish(2, 1).split_groups(0.5, 1, "sex")
    mixed = counts.split_groups(0.5, 1, "size")  # all groups have large and small fish
    assert summed(mixed) == rows(counts)


def test_parts_at_different_lags_cannot_be_added():
    parts = [shoal.count_transitions([[0, 1, 2, 3]], NUMBERED, lag=lag) for lag in (1, 2)]
    with pytest.raises(shoal.InputError, match="lags of 1 and 2 cannot be added"):
        Transitions.summed(parts, NUMBERED)


def test_a_part_can_be_fitted_and_the_fit_saved(tmp_path):
    sequences = np.random.default_rng(2).integers(0, 15, (4, 60))
    earlier, _ = shoal.count_transitions(sequences, NUMBERED, lag=2).split_time(2 / 3)
    fit = shoal.Model(NUMBERED, shoal.Uniform(), shoal.Identity()).fit(
        earlier, shoal.posterior.MAP()
    )
    fit.save(tmp_path / "fit.nc")
    assert shoal.load_fit(tmp_path / "fit.nc").lag == 2


ONE = shoal.count_transitions([[0, 1, 2, 3, 4, 5]], NUMBERED)
TWO = shoal.count_transitions([[0, 1, 2], [3, 4, 5]], NUMBERED)


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (lambda: ONE.split_time(1.0), "a share lies between 0 and 1, such as 2/3; got 1.0"),
        (lambda: ONE.split_time(0), "between 0 and 1"),
        (lambda: ONE.split_time(True), "between 0 and 1"),
        (lambda: ONE.split_time(float("nan")), "between 0 and 1"),
        (lambda: ONE.split_time(0.2), "0.2 of at most 6 frames.* the earlier part without"),
        (lambda: ONE.split_time(0.9), "0.9 of at most 6 frames.* the later part without"),
        (lambda: ONE.split_groups(0.5), "by groups needs two or more, there is 1: split by time"),
        (lambda: ONE.split_groups(["pond"]), "no group is called 'pond'"),
        (lambda: ONE.split_groups([""]), "all groups are named, and none is left"),
        (lambda: ONE.split_groups([]), "no groups are named"),
        (lambda: ONE.split_individuals(0.5), "by animals needs two or more"),
        (lambda: TWO.split_individuals(["0", "1"]), "all animals are named"),
        (lambda: TWO.split_individuals(["7"]), "no animal is called '7'; there are 0, 1"),
        (lambda: TWO.split_individuals([("a", "0")]), r"no animal is called \('a', '0'\)"),
        (lambda: TWO.split_individuals(0.5, seed=-1), "a seed is a whole number"),
        (lambda: ONE.blocks(1), "blocks are a whole number, 2 or more; got 1"),
        (lambda: ONE.folds(1), "folds are a whole number, 2 or more; got 1"),
        (lambda: ONE.folds(None), "folds are a whole number"),
        (lambda: ONE.folds(9), "fold 3 of 9 by time holds out none of 5 transitions"),
        (
            lambda: ONE.folds(2, by="group"),
            "fold 2 without transitions: take folds by time",
        ),
        (lambda: ONE.folds(None, by="group"), "take folds by time"),
        (lambda: TWO.folds(3, by="individual"), "fold 3 without transitions: ask for 2 or fewer"),
        (lambda: TWO.folds(2, by="individual", seed=-1), "a seed is a whole number"),
    ],
)
def test_what_cannot_be_split_is_said_in_one_line(split, words):
    with pytest.raises(shoal.InputError, match=words) as caught:
        split()
    assert "\n" not in str(caught.value)


def test_what_has_the_wrong_type_is_named():
    records = TWO.records
    with pytest.raises(shoal.InputError, match="between 0 and 1, such as 2/3; got 'half'"):
        splitting.by_time(records, 1, "half")
    with pytest.raises(shoal.InputError, match="share between 0 and 1 or a list of labels, got No"):
        splitting.by_groups(records, None)
    with pytest.raises(shoal.InputError, match=r"blocks are a whole number, 2 or more; got 2\.5"):
        splitting.block_of(records, 1, 2.5)
    with pytest.raises(shoal.InputError, match="'time', 'group' or 'individual'; got 'day'"):
        splitting.folds_of(records, 1, 2, "day", 0)
    earlier, later = splitting.by_time(ONE.records, 1, Fraction(1, 2))
    assert (earlier.sum(), later.sum()) == (2, 2)


def test_a_fold_with_nothing_to_train_on_is_refused():
    counts = shoal.count_transitions([[0] * 9], NUMBERED, lag=4)
    with pytest.raises(shoal.InputError, match="fold 2 of 2 by time leaves none to train on"):
        counts.folds(2)


@pytest.mark.parametrize(
    "split",
    [
        lambda counts: counts.split_time(0.5),
        lambda counts: counts.split_groups(0.5),
        lambda counts: counts.split_individuals(0.5),
        lambda counts: counts.blocks(),
        lambda counts: counts.folds(2),
    ],
)
def test_counts_that_know_no_times_are_not_split(split, tmp_path):
    path = groups_of(1, 2).to_parquet(tmp_path / "groups.parquet")
    streamed = shoal.count_transitions(shoal.open_tracks(path), TURNS)
    for counts in (streamed, Transitions.from_pairs([0, 1], [1, 2], NUMBERED)):
        assert counts.records is None
        with pytest.raises(shoal.InputError, match=r"when and whose .* by='group'"):
            split(counts)
    with pytest.raises(shoal.InputError, match="no transitions to split"):
        split(shoal.count_transitions([[0]], NUMBERED))


def test_blocks_are_five_lags_long_or_longer():
    counts = shoal.count_transitions(np.zeros((3, 401), dtype=int), NUMBERED, lag=8)
    frames = [part.records.frame for part in counts.blocks()]
    assert len(frames) == 9, "of 393 frames"
    assert min(np.ptp(frame) for frame in frames) >= 4 * 8


@pytest.mark.parametrize("lag", [1, 2, 5])
def test_transitions_of_an_animal_do_not_overlap(lag):
    counts = shoal.count_transitions([np.arange(31) % 15], NUMBERED, lag=lag)
    begun = np.sort(counts.records.frame)
    assert np.all(np.diff(begun) >= lag)
    assert counts.total == 30 // lag
