import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.states.axes import Numbered


def test_circular_bins_are_centred_like_the_papers():
    axis = shoal.Circular("local")
    assert axis.centres.tolist() == list(range(-180, 180, 10))


@pytest.mark.parametrize(
    ("angle", "centre"),
    [
        (-180, -180),
        (180, -180),
        (175, -180),
        (174.9, 170),
        (-175.1, -180),
        (-175, -170),
        (0, 0),
        (4.999, 0),
        (5, 10),
        (-5, 0),
        (-5.001, -10),
        (365, 10),
        (-725, 0),
    ],
)
def test_angles_fall_into_the_bin_around_them_and_the_seam_into_the_first(angle, centre):
    axis = shoal.Circular("local")
    assert axis.centres[axis.locate(np.array(float(angle)))] == centre


@given(st.integers(1, 50), st.floats(-1e4, 1e4))
def test_an_angle_is_never_further_than_half_a_bin_from_its_centre(bins, angle):
    axis = shoal.Circular("x", bins)
    centre = axis.centres[int(axis.locate(np.array(angle)))]
    assert abs((angle - centre + 180) % 360 - 180) <= axis.step / 2 + 1e-6


def test_interval_bins_hold_their_lower_edge_and_the_last_also_its_upper():
    axis = shoal.states.Interval("distance", (0.0, 1.0, 3.0))
    values = np.array([0.0, 0.999, 1.0, 2.9, 3.0, 3.001, -0.001, np.nan, np.inf])
    assert axis.locate(values).tolist() == [0, 0, 1, 1, 1, -1, -1, -1, -1]


def test_numbered_states_are_whole_numbers_in_range():
    axis = Numbered(count=4)
    values = np.array([0.0, 3.0, 4.0, -1.0, 1.5, np.nan])
    assert axis.locate(values).tolist() == [0, 3, -1, -1, -1, -1]


@pytest.mark.parametrize(
    "edges", [(1.0,), (), (0.0, 0.0), (2.0, 1.0), (0.0, np.nan), (0.0, np.inf)]
)
def test_edges_that_do_not_increase_are_refused_with_the_edges(edges):
    with pytest.raises(shoal.InputError, match="increasing edges"):
        shoal.states.Interval("distance", edges)


@pytest.mark.parametrize("name", ["", "chain", "draw", "a/b", "arrivals", "mean", "quantile"])
def test_names_that_results_need_for_themselves_are_refused(name):
    with pytest.raises(shoal.InputError, match="cannot be named"):
        shoal.Circular(name)


def test_an_axis_without_bins_is_refused():
    with pytest.raises(shoal.InputError, match="whole number of bins, 1 or more; got 0"):
        shoal.Circular("local", bins=0)
    with pytest.raises(shoal.InputError, match=r"got 36\.5"):
        shoal.Circular("local", bins=36.5)
    with pytest.raises(shoal.InputError, match="edges of axis 'd' are numbers"):
        shoal.states.Interval("d", 5)


def test_an_open_end_is_no_wall_and_other_ends_are():
    assert shoal.states.Interval("d", (0, 1, 2)).walls == "both"
    assert shoal.states.Interval("d", (0, 1, 2), beyond=True).walls == "low"
    with pytest.raises(
        shoal.InputError, match="walls of axis 'd' are one of both, low, high, none"
    ):
        shoal.states.Interval("d", (0, 1, 2), walls="left")
    with pytest.raises(shoal.InputError, match="'d' is open, so there is no wall behind it"):
        shoal.states.Interval("d", (0, 1, 2), beyond=True, walls="both")


@pytest.mark.parametrize(
    "made",
    [
        lambda *edges, **more: shoal.Distance(edges, **more),
        lambda *edges, **more: shoal.states.TargetDistance((0, 0), edges, **more),
        lambda *edges, **more: shoal.states.WallDistance(edges, **more),
        lambda *edges, **more: shoal.states.Speed(edges, **more),
        lambda *edges, **more: shoal.states.RelativeSpeed(edges, **more),
    ],
)
def test_what_is_never_negative_has_a_wall_at_0_and_none_above(made):
    assert made(0, 1, 2).axis.walls == "low"
    assert made(0, 1, 2, beyond=True).axis.walls == "low"
    assert made(1, 2, 3).axis.walls == "none"
    assert made(0, 1, 2, walls="both").axis.walls == "both"
