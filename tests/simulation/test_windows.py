"""Which frames and animals of observed groups are simulated and compared."""

import numpy as np
import pytest

import shoal
from shoal.simulation.designs import Scenario
from shoal.simulation.release import hull, observed_window
from shoal.simulation.speeds import observed_lengths


def walking(frames=40, animals=6, seed=1):
    rng = np.random.default_rng(seed)
    return np.cumsum(rng.normal(0.5, 1.0, (frames, animals, 2)), axis=0)


def test_all_animals_in_all_frames_where_all_are_seen():
    tracks = shoal.Tracks.from_arrays(walking())
    window = observed_window(tracks)
    assert (window.first, window.last, window.rested) == (0, 40, 0) and window.repeated.all()
    np.testing.assert_array_equal(window.start[1], tracks.headings()[0])


def test_an_animal_that_rests_at_first_starts_with_its_first_heading():
    places = walking()
    places[:30, 2] = places[30, 2]
    places[:, 5] = 1.0  # this one never moves
    tracks = shoal.Tracks.from_arrays(places)
    window = observed_window(tracks)
    assert (window.first, window.last, window.rested) == (0, 40, 1)
    assert window.start[1][2] == tracks.headings()[30, 2]
    assert window.repeated.tolist() == [True] * 5 + [False]
    assert np.isnan(window.of(tracks).positions[:, 5]).all()


def test_a_heading_from_before_the_window_is_kept_while_an_animal_rests():
    places = walking()
    places[:10, :4] = np.nan  # so that it begins in frame 10
    places[5:30, 5] = places[5, 5]
    tracks = shoal.Tracks.from_arrays(places)
    window = observed_window(tracks)
    assert window.first == 10 and window.rested == 0
    assert window.start[1][5] == tracks.headings()[4, 5]


def test_of_members_that_come_and_go_only_those_in_view_together_are_simulated():
    """Twelve animals cross the view one after the other, three or four at a time."""
    places = walking(130, 12)
    for animal in range(12):
        places[: 10 * animal, animal] = places[10 * animal + 35 :, animal] = np.nan
    tracks = shoal.Tracks.from_arrays(places)
    window = observed_window(tracks)
    seen = np.isfinite(places[..., 0])
    assert 3 <= window.repeated.sum() <= seen.sum(axis=1).max() == 4
    compared = np.isfinite(window.of(tracks).positions[..., 0]).sum(axis=1)
    assert compared[0] == window.repeated.sum() and compared[-1] >= window.repeated.sum() / 2
    assert compared.max() == window.repeated.sum()


def test_observed_speeds_are_those_of_the_frames_that_are_simulated():
    places = walking()
    places[:20] /= 100.0
    places[:20, :5] = np.nan
    tracks = shoal.Tracks.from_arrays(places)
    (design,) = Scenario().designs(tracks)
    assert design.steps == 19
    for own, other in zip(design.speeds.series, observed_lengths(tracks), strict=True):
        assert own.tolist() == other[-19:].tolist()
    (short,) = Scenario(most=7).designs(tracks)
    assert short.steps == 7


def test_the_hull_holds_every_place_and_leaves_known_walls_alone():
    places = walking()
    tracks = shoal.Tracks.from_arrays(places)
    box = hull(tracks)
    assert box.holds(places).all() and box.distance(places).min() == 0.0
    assert Scenario(arena="hull").around(tracks).arena == box
    walled = tracks.with_arena(shoal.tracks.Circle(0, 0, 99))
    assert Scenario(arena="hull").around(walled).arena == shoal.tracks.Circle(0, 0, 99)
    assert Scenario(arena="none").around(walled).arena is None
    line = shoal.Tracks.from_arrays(np.stack([places[..., 0], 0 * places[..., 1]], axis=-1))
    assert hull(line).holds(line.positions).all()
    milling = shoal.Tracks.from_arrays(np.sin(np.linspace(0, 20, 40))[:, None, None] + places / 99)
    assert Scenario(arena="auto").around(milling).arena == hull(milling)
    on_their_way = shoal.Tracks.from_arrays(places + 3.0 * np.arange(40)[:, None, None])
    assert Scenario(arena="auto").around(on_their_way).arena is None
    with pytest.raises(shoal.InputError, match="'hull' or 'none'"):
        Scenario(arena="box")
