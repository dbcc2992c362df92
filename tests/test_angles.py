import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.angles import difference, wrap

ANGLES = st.floats(-1e6, 1e6)


@given(ANGLES)
def test_wrapped_angles_lie_in_the_half_open_circle_and_point_the_same_way(angle):
    wrapped = float(wrap(angle))
    assert -180 <= wrapped < 180
    turns = (angle - wrapped) / 360
    assert abs(turns - round(turns)) < 1e-6


def test_a_tiny_angle_below_minus_180_wraps_to_the_seam_and_not_beyond_it():
    assert float(wrap(-180 - 1e-14)) == -180
    assert float(wrap(540.0)) == -180


@given(ANGLES, ANGLES)
def test_the_difference_is_the_turn_that_leads_from_one_to_the_other(to, start):
    turn = difference(to, start)
    assert np.isclose(np.cos(np.deg2rad(start + turn)), np.cos(np.deg2rad(to)), atol=1e-6)
    assert np.isclose(np.sin(np.deg2rad(start + turn)), np.sin(np.deg2rad(to)), atol=1e-6)
