"""A fit knows how headings were taken, and everything after it uses that."""

import json
from dataclasses import replace

import numpy as np
import pytest

import shoal
from shoal.posterior import Fit
from shoal.report.contents import headings_of
from shoal.report.replay import Stage
from shoal.simulation import groups
from shoal.simulation.designs import Scenario
from shoal.states import Headings

SPACE = shoal.StateSpace(shoal.LocalMisalignment(bins=12))


def walking(seed=1, fps=10.0):
    rng = np.random.default_rng(seed)
    places = np.cumsum(rng.normal(0.3, 1.0, (40, 4, 2)), axis=0)
    return shoal.Tracks.from_arrays(places, fps=fps)


TRACKS = walking()


@pytest.fixture(scope="module")
def fit():
    counts = shoal.count_transitions(TRACKS, SPACE, heading_frames=5, minimum_step=0.5)
    return shoal.Model(SPACE, shoal.RandomWalk(60.0)).fit(counts, "map", seed=1)


def aged(fit):
    """As a file of an earlier version gives it."""
    data = fit.data.copy()
    data.attrs = {name: value for name, value in fit.data.attrs.items() if name != "headings"}
    return Fit(fit.model, data)


def test_a_fit_and_its_file_keep_the_recipe(fit, tmp_path):
    recipe = Headings(5, 0.5, False, 0.1, "s")
    assert fit.headings == recipe
    assert shoal.load_fit(fit.save(tmp_path / "fit.nc")).headings == recipe
    assert headings_of(fit) == "headings over 5 frames (minimum step 0.5), a frame every 0.1 s"


def test_simulations_start_with_headings_taken_as_for_the_fit(fit, monkeypatch):
    asked = []
    monkeypatch.setattr(
        groups, "simulated", lambda _, given, *rest, **more: asked.append(given) or []
    )
    with pytest.raises(shoal.InputError, match="at least one group"):  # nothing was simulated
        shoal.simulate(fit, start=TRACKS, steps=3)
    (design,) = asked[0].designs(TRACKS)
    taken = TRACKS.headings(5, 0.5)[0]
    moving = np.isfinite(taken)
    assert moving.sum() == 3 and not np.allclose(taken[moving], TRACKS.headings()[0, moving])
    np.testing.assert_allclose(design.start[1][moving], taken[moving])
    given = Stage.of(fit, TRACKS, Scenario()).given  # of the page's replay
    assert given.headings_or_default.taken == (5, 0.5, False)


def test_another_choice_is_warned_of(fit):
    with pytest.warns(UserWarning, match="made with headings over 5 frames .* over 1 frame"):
        assert fit.headings_with(heading_frames=1).taken == (1, 0.5, False)
    assert fit.headings_with(5, 0.5, False) == fit.headings


def test_tracks_thinned_otherwise_are_refused_with_what_to_do(fit):
    finer = walking(fps=20.0)
    for use in (
        lambda: shoal.simulate(fit, start=finer, steps=3),
        lambda: shoal.predictive_check(fit, finer),
        lambda: Stage.of(fit, finer, Scenario()),
    ):
        with pytest.raises(shoal.InputError, match=r"every 0.1 s.*every 0.05 s: .*thin\(2\)"):
            use()
    with pytest.raises(shoal.InputError, match="give tracks with the frame interval"):
        fit.headings.check_interval(TRACKS.thin(2))
    fit.headings.check_interval(walking(fps=10.1))
    bare = shoal.Tracks.from_arrays(TRACKS.positions)
    unknown = Headings().of(bare.thin(3))
    assert (unknown.interval, unknown.interval_unit) == (3.0, "frames")
    with pytest.raises(shoal.InputError, match="every 3 frames"):
        unknown.check_interval(bare)
    fit.headings.check_interval(bare)  # seconds and frames cannot be compared


def test_a_fit_of_an_earlier_version_says_that_it_does_not_know(fit, tmp_path):
    old = shoal.load_fit(aged(fit).save(tmp_path / "old.nc"))
    assert old.headings is None and headings_of(old).startswith("unknown")
    with pytest.warns(UserWarning, match="does not say how headings were taken: .* assumed"):
        assert old.headings_with().taken == (1, 0.0, False)
    assert old.headings_with(5, 0.5).taken == (5, 0.5, False)  # told, so that nothing is assumed


def test_of_sequences_there_is_nothing_to_know(fit):
    counts = shoal.count_transitions([[0, 1, 2, 1, 0]], shoal.StateSpace.discrete(3))
    assert counts.headings is None
    plain = Fit(fit.model, fit.data.copy())
    plain.data.attrs = fit.data.attrs | {"headings": "null"}
    assert plain.headings_with().taken == (1, 0.0, False)  # without a warning


def test_a_score_of_transitions_counted_otherwise_is_warned_of(fit):
    alike = shoal.count_transitions(walking(2), SPACE, heading_frames=5, minimum_step=0.5)
    fit.score(alike)
    with pytest.warns(UserWarning, match="the score compares different things"):
        fit.score(shoal.count_transitions(walking(2), SPACE))
    thinned = replace(alike, headings=replace(alike.headings, interval=0.2))
    with pytest.warns(UserWarning, match="a frame every 0.2 s"):
        fit.score([thinned])


def test_parts_keep_the_recipe_and_those_that_differ_are_not_added():
    counts = shoal.count_transitions(TRACKS, SPACE, heading_frames=2)
    assert counts.split_time(0.5)[1].headings == counts.headings == (counts + counts).headings
    by_animal = shoal.count_transitions(TRACKS, SPACE, heading_frames=2, by="individual")
    assert {part.headings for part in by_animal.values()} == {counts.headings}
    with pytest.raises(shoal.InputError, match=r"headings over 2 frames .* cannot be added"):
        counts + shoal.count_transitions(TRACKS, SPACE)
    slow = replace(counts, headings=replace(counts.headings, interval=1.0))
    assert (counts + slow).headings.interval is None


@pytest.mark.parametrize(
    "words",
    ['{"heading_frames": 0}', '{"minimum_step": "a"}', '{"what": 1}', "[3]", '{"interval": -1}'],
)
def test_a_damaged_recipe_is_refused(fit, tmp_path, words):
    broken = Fit(fit.model, fit.data.copy())
    broken.data.attrs = fit.data.attrs | {"headings": words}
    assert json.loads(words)
    with pytest.raises(shoal.InputError, match=r"broken\.nc"):
        shoal.load_fit(broken.save(tmp_path / "broken.nc"))
