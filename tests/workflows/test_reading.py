"""Targets on Earth and wrong arenas, from the words of a command to the states."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

import shoal
from shoal.workflows.fitting import FitSettings
from shoal.workflows.moving import Moving
from shoal.workflows.moving_settings import MovingSettings
from shoal.workflows.reading import Reading
from track_files import places

LONGITUDE, LATITUDE = 10.004, 46.603


@pytest.fixture
def herd(tmp_path):
    """Two animals in two groups; the first ends where the target is."""
    rows = ["study-name,timestamp,location-long,location-lat,individual-local-identifier"]
    for group in ("north", "south"):
        for animal in range(2):
            for fix in range(12):
                away = (11 - fix) * 1e-4
                lon, lat = LONGITUDE - away, LATITUDE - 2 * away + 0.002 * animal
                rows.append(f"{group},2020-05-01 10:{fix:02d}:00,{lon:.9f},{lat:.9f},{animal}")
    path = tmp_path / "herd.csv"
    path.write_text("\n".join(rows))
    return FitSettings(
        tracks=str(path), state="target", target=f"{LONGITUDE},{LATITUDE}", clock=60.0
    )


@pytest.mark.parametrize(
    "prepared",
    [{}, {"flip_y": True}, {"rescale": "0.001 km"}, {"rescale": "unit-square", "flip_y": True}],
    ids=str,
)
def test_a_target_in_degrees_lies_where_an_animal_at_that_place_is(prepared, herd):
    run = Reading(replace(herd, **prepared))
    arrived = run.tracks[0].positions[-1, 0]
    assert run.target == pytest.approx(tuple(arrived), abs=1e-4)
    assert run.space.parts[0].target == run.target
    (note,) = (note for note in run.notes() if "longitude and latitude and projected" in note)
    assert f"the target {LONGITUDE},{LATITUDE} was taken as" in note


def test_targets_of_groups_are_projected_and_those_in_metres_are_not(herd):
    degrees = f"{LONGITUDE},{LATITUDE}"
    run = Reading(replace(herd, target=f"north={degrees};south=xy:5,-7"))
    assert run.target["north"] == pytest.approx(tuple(run.tracks[0].positions[-1, 0]), abs=1e-4)
    assert run.target["south"] == (5.0, -7.0)
    plain = Reading(replace(herd, target="xy:120,-300"))
    assert plain.target == (120.0, -300.0)
    assert not any("was taken as" in note for note in plain.notes())
    with pytest.raises(shoal.InputError, match="so a target is LONGITUDE,LATITUDE in degrees"):
        _ = Reading(replace(herd, target="120,-300")).target
    with pytest.warns(UserWarning, match="lies far from the places"):  # metres are not degrees
        _ = Reading(replace(herd, target="0,0")).counts


def test_simulations_project_a_target_as_well(herd, tmp_path):
    choices = tmp_path / "fit.toml"
    choices.write_text(herd.toml())
    settings = MovingSettings(str(tmp_path / "fit.nc"), target=herd.target)
    with pytest.warns(UserWarning, match="longitude and latitude and projected like the tracks"):
        target = Moving(settings).target
    assert target == pytest.approx(Reading(herd).target)


@pytest.mark.parametrize(("state", "stream"), [("local", False), ("wall", False), ("wall", True)])
def test_an_arena_that_most_places_lie_outside_of_is_warned_of_once(state, stream, tmp_path):
    path = tmp_path / "fish.csv"
    groups = [
        shoal.Tracks.from_arrays(places(seed), group=name) for seed, name in ((1, "a"), (2, "b"))
    ]
    shoal.Collection(groups).to_csv(path)
    words = "wall-distance:edges=0/5/500" if state == "wall" else "local"
    settings = FitSettings(tracks=str(path), state=words, stream=stream, arena="0,0,100,100")
    where = np.concatenate([group.positions.reshape(-1, 2) for group in groups[:1]])
    outside = int((np.nanmax(where, axis=1, initial=0) > 100).sum())
    expected = rf"{outside} of 87 places of group 'a' lie outside the arena Rectangle\(left=0"
    with pytest.warns(UserWarning, match=expected) as caught:
        _ = Reading(settings).counts
    assert sum("outside the arena" in str(one.message) for one in caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = Reading(replace(settings, arena="0,0,200,200")).counts


def test_the_arena_of_a_file_is_compared_with_its_places():
    tracks = shoal.Tracks.from_arrays(places()).with_arena(shoal.tracks.Circle(0, 0, 10))
    space = shoal.StateSpace(shoal.LocalMisalignment(6))
    with pytest.warns(UserWarning, match="87 of 87 places .* lie outside the arena Circle"):
        shoal.count_transitions(tracks, space)


def test_an_arena_around_nobody_is_refused_in_words_that_name_it(tmp_path):
    path = shoal.Tracks.from_arrays(places(), group="a").to_csv(tmp_path / "fish.csv")
    settings = FitSettings(tracks=str(path), state="wall-distance", arena="0,0,2,2")
    with pytest.raises(shoal.InputError, match=r"no value above 0 .* 87 of 87 places of group 'a'"):
        _ = Reading(settings).space
