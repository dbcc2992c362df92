"""Opened tables whose row groups hold several groups, and errors that name their rows."""

import numpy as np
import pandas as pd
import pytest

import shoal

SPACE = shoal.StateSpace(shoal.LocalMisalignment(12))


def table(group, animals, frames=60, seed=1):
    places = np.random.default_rng(seed).normal(size=(frames * len(animals), 2)).cumsum(axis=0)
    return pd.DataFrame(
        {
            "group": group,
            "frame": np.repeat(np.arange(frames), len(animals)),
            "id": animals * frames,
            "x": places[:, 0],
            "y": places[:, 1],
        }
    )


@pytest.mark.parametrize("kind", ["text", "categories", "numbers"])
def test_groups_with_other_animals_may_share_a_row_group(kind, tmp_path):
    rows = pd.concat([table("b", ["b1", "b2", "b3", "b4"]), table("a", ["a1", "a2", "a3"], seed=2)])
    if kind == "categories":
        rows = rows.astype({"group": "category", "id": "category"})
    elif kind == "numbers":
        rows["group"] = rows["group"].map({"a": 1.0, "b": 2.0})
    path = tmp_path / "ponds.parquet"
    rows.sample(frac=1, random_state=1).to_parquet(path, index=False, row_group_size=40)
    whole = shoal.count_transitions(shoal.read_tracks(path, sort=True), SPACE)
    for size in (30, 140, 10**6):
        opened = shoal.open_tracks(path, block_rows=size)
        counted = shoal.count_transitions(opened, SPACE)
        assert np.array_equal(counted.matrix(), whole.matrix())
    assert sorted(opened.groups) == (["1", "2"] if kind == "numbers" else ["a", "b"])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [("x", np.inf, "x is inf"), ("frame", 47, "frame .*comes twice for individual 'a2'")],
)
def test_errors_in_streams_name_the_row_in_the_file(suffix, column, value, words, tmp_path):
    rows = table("a", ["a1", "a2"])
    rows.loc[97, column] = value
    path = tmp_path / f"pond.{suffix}"
    if suffix == "csv":
        rows.to_csv(path, index=False)
    else:
        rows.to_parquet(path, index=False, row_group_size=25)
    number = 99 if suffix == "csv" else 98
    for size in (30, 10**6):
        opened = shoal.open_tracks(path, block_rows=size)
        with pytest.raises(shoal.InputError, match=rf"pond\.{suffix}, row {number}: {words}"):
            shoal.count_transitions(opened, SPACE)


def test_errors_in_files_of_one_animal_each_name_the_file(tmp_path):
    for name in ("a", "b"):
        rows = table("a", [name]).drop(columns=["group", "id"])
        if name == "b":
            rows.loc[7, "frame"] = 3
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
    with pytest.raises(shoal.InputError, match=r"b\.csv, row 9: frame goes backwards"):
        shoal.read_tracks(tmp_path)


def test_a_group_whose_rows_are_all_marked_as_bad_is_named(tmp_path):
    path = tmp_path / "pond.parquet"
    table("a", ["a1", "a2"]).assign(visible=False).to_parquet(path, index=False)
    with pytest.raises(shoal.InputError, match=r"pond\.parquet.* all of them are marked as bad"):
        shoal.open_tracks(path, block_rows=30).blocks()


def test_an_opened_table_without_rows_is_named(tmp_path):
    path = tmp_path / "pond.parquet"
    table("a", ["a1", "a2"]).iloc[:0].to_parquet(path, index=False)
    with pytest.raises(shoal.InputError, match=r"pond\.parquet: there are no rows"):
        shoal.count_transitions(shoal.open_tracks(path), SPACE)
