import numpy as np
import pytest

import shoal
from registries import CUBE, MIXED, NUMBERED, TORUS


@pytest.mark.parametrize("space", [TORUS, MIXED, CUBE, NUMBERED], ids=lambda s: str(s.shape))
def test_encoding_a_decoded_state_gives_it_back(space):
    states = np.arange(space.size)
    assert np.array_equal(space.encode(*space.decode(states)), states)


def test_states_are_numbered_with_the_last_axis_fastest():
    first, second = TORUS.decode(np.array([0, 1, 6]))
    assert first.tolist() == [-180, -180, -135]
    assert second.tolist() == [-180, -120, -180]


def test_a_value_without_a_bin_is_an_error_that_names_it_and_is_never_binned():
    with pytest.raises(shoal.InputError, match=r"1 of 3 values of 'distance'.*7\.5 at index 1"):
        MIXED.encode(np.zeros(3), np.array([0.5, 7.5, 1.0]))
    with pytest.raises(shoal.InputError, match=r"nan at index 1.*a value is missing there"):
        MIXED.encode(np.array([0.0, np.nan]), np.ones(2))


def test_locating_marks_what_has_no_bin_and_says_on_which_axis():
    states, (angle, distance) = MIXED.locate(np.array([0.0, np.nan]), np.array([99.0, 1.0]))
    assert states.tolist() == [-1, -1]
    assert angle.tolist() == [False, True]
    assert distance.tolist() == [True, False]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.StateSpace("local"), r"made of axes one after the other.*got 'local'"),
        (lambda: shoal.StateSpace.discrete("3"), "got '3'"),
        (lambda: TORUS.encode(np.zeros(3), np.zeros(2)), "numbers of one shape"),
        (lambda: TORUS.decode([0.5]), "whole numbers, got float64"),
        (lambda: TORUS.decode([48]), "state 48 is out of range"),
    ],
)
def test_slips_get_a_sentence(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make()


def test_two_axes_of_the_same_name_are_refused():
    with pytest.raises(shoal.InputError, match="different names"):
        shoal.StateSpace(shoal.Circular("a"), shoal.Circular("a"))


def test_a_space_without_axes_or_states_is_refused():
    with pytest.raises(shoal.InputError, match="at least one axis"):
        shoal.StateSpace()
    with pytest.raises(shoal.InputError, match="whole number of states, 1 or more; got 0"):
        shoal.StateSpace.discrete(0)


def test_anything_that_has_an_axis_can_be_a_part_of_a_space():
    class Feature:
        axis = shoal.Circular("bearing", bins=4)

    assert shoal.StateSpace(Feature()).names == ("bearing",)


def test_a_wrong_number_of_values_is_refused():
    with pytest.raises(shoal.InputError, match=r"one array for each of the axes \['local"):
        TORUS.encode(np.zeros(3))
