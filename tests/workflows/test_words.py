"""Words on the command line, and the specifications they stand for."""

import pytest

import shoal
from registries import CIRCLE, MIXED
from shoal.workflows.features import feature_of
from shoal.workflows.words import passive_of


@pytest.mark.parametrize(
    ("words", "space", "meant"),
    [
        ("uniform", MIXED, shoal.Uniform()),
        ("uniform:area", MIXED, shoal.Uniform("area")),
        ("uniform:length,area", MIXED, shoal.Uniform(("length", "area"))),
        ("random-walk:90", CIRCLE, shoal.RandomWalk(90.0)),
        ("random-walk:90:centre", CIRCLE, shoal.RandomWalk(90.0, "centre")),
        ("random-walk:90,2:centre", MIXED, shoal.RandomWalk((90.0, 2.0), "centre")),
        ("random-walk", MIXED, shoal.RandomWalk((90.0, 1.5))),
        ("random-walk::centre", MIXED, shoal.RandomWalk((90.0, 1.5), "centre")),
        ("walk-mixture", CIRCLE, shoal.passive.WalkMixture()),
        ("walk-mixture:centre", CIRCLE, shoal.passive.WalkMixture(start="centre")),
    ],
)
def test_passive_dynamics_are_what_the_words_say(words, space, meant):
    assert passive_of(words, space) == meant


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("uniform:volume", "one of length, area, bins"),
        ("random-walk:90:middle", "'anywhere' or 'centre'"),
        ("walk-mixture:5", "'anywhere' or 'centre'"),
    ],
)
def test_words_that_mean_nothing_are_refused(words, sentence):
    with pytest.raises(shoal.InputError, match=sentence):
        passive_of(words, CIRCLE)


def test_walls_of_a_feature_can_be_written():
    word = "neighbour-distance:edges=0/1/2"
    assert feature_of(word, None, None, "cm", list).axis.walls == "low"
    assert feature_of(f"{word}:walls=both", None, None, "cm", list).axis.walls == "both"
    with pytest.raises(shoal.InputError, match="are one of both, low, high, none; got 'left'"):
        feature_of(f"{word}:walls=left", None, None, "cm", list)
