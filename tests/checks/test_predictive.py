"""Predictive checks: their arithmetic, their laws, and that they can tell models apart."""

import math

import numpy as np
import pytest

import shoal
from shoal.checks import Measure, PredictiveCheck, predictive_check
from shoal.checks.comparison import LEARNED, MODELS, PASSIVE, VICSEK
from shoal.checks.words import MORE_LESS
from shoal.measures.summaries import SUMMARIES, summaries

SPACE = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
PASSIVE_WALK = shoal.RandomWalk(40.0)
COSTS = 3 * (1 - np.cos(np.deg2rad(SPACE.axes[0].centres)))
TRUTH = shoal.solve(PASSIVE_WALK.on(SPACE), COSTS)
RELEASE = shoal.Release(6, place=(0.0, 0.0), spread=1.0)


def herd(seed=1, steps=120, **options):
    return shoal.simulate(
        TRUTH, space=SPACE, start=RELEASE, steps=steps, speed=1.0, fps=10.0, seed=seed, **options
    )


def fitted(tracks, space=SPACE):
    counts = shoal.count_transitions(tracks, space)
    return shoal.Model(space, PASSIVE_WALK).fit(counts, method="laplace", draws=200, seed=1)


@pytest.fixture(scope="module")
def check():
    tracks = herd()
    return predictive_check(fitted(tracks), tracks, replicates=60, seed=2, speed="constant")


def measure(observed, **replicated):
    return Measure(
        SUMMARIES["polarisation"], "", observed, {}, {k: np.array(v) for k, v in replicated.items()}
    )


def test_the_arithmetic_of_a_measure():
    values = np.arange(1.0, 20.0)
    found = measure(18.5, a=values, b=2 * values)
    assert found.mean("a") == 10.0 and found.sd("a") == pytest.approx(values.std(ddof=1))
    assert found.interval("a", 0.5) == pytest.approx(tuple(np.quantile(values, [0.25, 0.75])))
    assert found.p_value("a") == pytest.approx(2 * 2 / 20)  # one above, and itself, of 20
    assert measure(10.0, a=values).p_value("a") == 1.0
    assert measure(-5.0, a=values).p_value("a") == pytest.approx(2 / 20)
    sds = [values.std(ddof=1), 2 * values.std(ddof=1)]
    ruler = math.sqrt((sds[0] ** 2 + sds[1] ** 2) / 2)
    assert found.error("a") == pytest.approx(8.5 / ruler)
    assert found.error("b") == pytest.approx(1.5 / ruler)


def test_what_is_not_known_is_left_out_and_said():
    found = measure(1.0, a=[np.nan, 2.0, 4.0], b=[np.nan] * 3)
    assert found.mean("a") == 3.0
    assert np.isnan([found.mean("b"), found.p_value("b"), found.error("b")]).all()
    same = measure(2.0, a=[2.0, 2.0], b=[2.0, 2.0])
    assert same.error("a") == 0.0


def test_the_model_that_made_the_tracks_is_not_refuted_and_the_others_are(check):
    errors = check.errors()
    assert errors[LEARNED] < errors[PASSIVE] and errors[LEARNED] < errors[VICSEK]
    assert check.measures["polarisation"].p_value(LEARNED) > 0.05
    assert check.measures["polarisation"].p_value(PASSIVE) < 0.05
    assert check.measures["turning_angle"].p_value(VICSEK) < 0.05
    assert [m.summary.name for m in check.failures(PASSIVE)]
    assert "comes nearer than passive only and Vicsek" in check.words()


def test_replicates_have_the_design_of_the_data_and_are_measured_alike(check):
    """Speeds are constant here, so that a measure of them has one value only."""
    speed = check.measures["speed"]
    for model in MODELS:
        np.testing.assert_allclose(speed.replicated[model], speed.observed, rtol=1e-9)
        assert speed.replicated[model].shape == (60,)
    assert speed.unit == "per s"
    assert set(check.measures) <= set(SUMMARIES) and "time_to_target" not in check.measures


@pytest.mark.slow
def test_the_same_seed_gives_the_same_check():
    tracks = herd(steps=30)
    fit = fitted(tracks)
    one, other, third = (
        predictive_check(fit, tracks, replicates=40, seed=seed) for seed in (5, 5, 6)
    )
    for name, found in one.measures.items():
        for model in MODELS:
            np.testing.assert_array_equal(
                found.replicated[model], other.measures[name].replicated[model]
            )
    name = "polarisation"
    assert not np.array_equal(
        one.measures[name].replicated[LEARNED], third.measures[name].replicated[LEARNED]
    )


@pytest.mark.slow
def test_several_groups_count_with_their_mean_and_are_kept_apart():
    groups = shoal.Collection(
        shoal.Tracks(herd(seed, steps).data.assign_attrs(group=f"g{seed}"))
        for seed, steps in ((1, 30), (2, 45))
    )
    found = predictive_check(fitted(groups), groups, replicates=40, seed=1)
    for one in found.measures.values():
        assert set(one.by_group) == {"g1", "g2"}
        assert one.observed == pytest.approx(np.mean(list(one.by_group.values())))
    assert found.groups == 2


@pytest.mark.parametrize("stop", [None, pytest.param("one", marks=pytest.mark.slow)])
def test_with_a_target_the_time_to_it_is_measured(stop):
    space = shoal.StateSpace(shoal.TargetMisalignment((3.0, 0.0), bins=12))
    v = 2 * (1 - np.cos(np.deg2rad(space.axes[0].centres)))
    tracks = shoal.simulate(
        v, space=space, passive=PASSIVE_WALK, start=RELEASE, steps=60, speed=1.0, fps=10.0, seed=1
    )
    found = predictive_check(
        fitted(tracks, space), tracks, replicates=40, seed=1, stop=stop, reach=0.4
    )
    time = found.measures["time_to_target"]
    assert time.unit == "s"
    away = np.hypot(*np.moveaxis(tracks.positions - np.array([3.0, 0.0]), -1, 0))
    first = np.argmax((away <= 0.4).any(axis=1)) / 10
    assert time.observed == pytest.approx(first)
    reached = found.measures["target_reached"]
    assert reached.observed == 1.0 and found.reaches == {"": 0.4}
    assert reached.mean(PASSIVE) < reached.mean(LEARNED)
    for model in MODELS:
        known = time.replicated[model][np.isfinite(time.replicated[model])]
        assert (known <= 6.0 + 1e-9).all()
        assert len(known) == reached.replicated[model].sum()  # of one group: those that got there


@pytest.mark.slow
def test_all_groups_of_a_replicate_live_by_one_draw():
    """Or else the posterior's uncertainty would be averaged away over groups."""
    groups = shoal.Collection(
        shoal.Tracks(herd(seed, 12).data.assign_attrs(group=f"g{seed}")) for seed in range(1, 9)
    )
    fit = fitted(groups.tracks[0])
    found = predictive_check(fit, groups, replicates=60, seed=1)
    of_mean = predictive_check(fit, groups, replicates=60, seed=1, draws="mean")
    spread, without = (check.measures["polarisation"].sd(LEARNED) for check in (found, of_mean))
    assert spread > 1.15 * without


@pytest.mark.slow
def test_gaps_in_the_tracks_are_gaps_in_the_replicates():
    tracks = herd(steps=60)
    places = tracks.positions.copy()
    places[10:, 3:] = np.nan  # half of them are lost from sight
    gappy = shoal.Tracks.from_arrays(places, fps=10.0, individuals=tracks.individuals)
    fit = fitted(tracks)
    whole, partly = (
        predictive_check(fit, part, replicates=60, seed=2, speed="constant")
        for part in (tracks, gappy)
    )
    for check in (whole, partly):
        near = check.measures["nearest_distance"]
        assert near.observed == pytest.approx(near.mean(LEARNED), abs=4 * near.sd(LEARNED))
    assert (
        partly.measures["nearest_distance"].observed > whole.measures["nearest_distance"].observed
    )


@pytest.mark.slow
def test_late_headings_and_late_comers_are_treated_alike_in_tracks_and_replicates():
    """One rests for long and has no heading until then; one comes when most is over."""
    places = herd(steps=60).positions.copy()
    places[:30] = places[0] + (places[:30] - places[0]) / 5  # all are slow at first
    places[30:] += places[29] - places[30]
    places[:40, 0], places[:50, 1] = places[40, 0], np.nan
    late = shoal.Tracks.from_arrays(places, fps=10.0)
    fit = fitted(late)
    found = predictive_check(fit, late, replicates=40, seed=1)
    alone = shoal.Tracks.from_arrays(np.delete(places, 1, axis=1), fps=10.0)
    for name, value in summaries(alone).items():
        assert found.measures[name].observed == pytest.approx(value, nan_ok=True)
    assert found.measures["speed"].holds(LEARNED)  # speeds are those of the frames compared
    assert "5 of 6 animals in frames 1 to 61 of 61" in found.words()
    assert "1 animal has not moved yet at the start" in found.words()


@pytest.mark.slow
def test_a_fit_at_a_lag_is_checked_at_its_own_pace():
    tracks = herd(steps=80)
    counts = shoal.count_transitions(tracks, SPACE, lag=4)
    fit = shoal.Model(SPACE, shoal.RandomWalk(90.0)).fit(counts, method="laplace", seed=1)
    found = predictive_check(fit, tracks, replicates=40, seed=1, speed="constant")
    slow = tracks.thin(4)
    steps = np.diff(slow.positions, axis=0)
    mean = np.hypot(steps[..., 0], steps[..., 1]).mean() * 2.5
    for model in MODELS:
        np.testing.assert_allclose(found.measures["speed"].replicated[model], mean)
    assert found.measures["speed"].unit == "per s"


@pytest.mark.slow
def test_a_lone_animal_is_checked_without_neighbours():
    space = shoal.StateSpace(shoal.TargetMisalignment((9.0, 0.0), bins=12))
    v = 2 * (1 - np.cos(np.deg2rad(space.axes[0].centres)))
    alone = shoal.simulate(
        v, space=space, passive=PASSIVE_WALK, start=shoal.Release(1, place=(0, 0)), steps=80,
        speed=1.0, fps=10.0, seed=1,
    )  # fmt: skip
    found = predictive_check(fitted(alone, space), alone, replicates=40, seed=1)
    assert found.models == (LEARNED, PASSIVE)
    assert "Could not be judged: mean polarisation" in found.words()
    assert np.isfinite(list(found.errors().values())).all()


def test_groups_with_the_same_label_are_refused():
    with pytest.raises(shoal.InputError, match="different labels"):
        predictive_check(fitted(herd(steps=10)), [herd(1, 10), herd(2, 10)])


def test_the_noise_of_vicsek_is_found_again():
    flock = shoal.simulate(
        shoal.simulation.Vicsek(noise=15.0), start=shoal.Release(20, (0, 0), spread=1.0), steps=200,
        speed=1.0, seed=1,
    )  # fmt: skip
    found = shoal.simulation.Vicsek.fitted([flock])
    assert found.noise == pytest.approx(15.0, rel=4.5 / math.sqrt(2 * 20 * 198))


def test_every_measure_has_words():
    assert set(MORE_LESS) == set(SUMMARIES)


def test_the_words_say_on_which_side_a_model_fails(check):
    polarisation = check.measures["polarisation"]
    low = Measure(
        polarisation.summary, "", 0.99, {}, dict.fromkeys(MODELS, np.linspace(0.1, 0.2, 50))
    )
    one = type(check)({"polarisation": low}, check.models, 50, 1, 10.0, 1)
    assert "are less aligned (0.1" in one.words() and "observed 0.99" in one.words()
    none = Measure(
        polarisation.summary, "", 0.15, {}, dict.fromkeys(MODELS, np.linspace(0.1, 0.2, 50))
    )
    fine = type(check)({"polarisation": none}, check.models, 50, 1, 10.0, 1)
    assert fine.words().startswith("All 1 measures")
    assert "about as near as passive only and Vicsek" in fine.words()
    assert "PredictiveCheck(1 measures" in repr(fine)


def many(seed, shift=0.0, number=12, replicates=200):
    """A check of several measures of which the first is off, the others as in the replicates."""
    rng = np.random.default_rng(seed)
    draws = rng.normal(size=(replicates + 1, number)) @ (np.eye(number) + 0.2)
    draws[-1, 0] += shift
    names = list(SUMMARIES)[:number]
    measures = {
        name: Measure(
            SUMMARIES[name], "", float(draws[-1, n]), {}, dict.fromkeys(MODELS, draws[:-1, n])
        )
        for n, name in enumerate(names)
    }
    return PredictiveCheck(measures, MODELS, replicates, 1, 10.0, 1)


def test_many_measures_are_corrected_for_being_many():
    checks = [many(seed) for seed in range(150)]
    failed, left = (
        np.mean([bool(found) for found in each])
        for each in zip(*((one.failures(), one.surviving()) for one in checks), strict=True)
    )
    assert failed > 0.3, "of twelve right measures one or other fails"
    assert left < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)
    for one in checks[:10]:
        for name, p in one.corrected().items():
            assert p >= 0.4 * one.measures[name].p_value(LEARNED)
    off = many(1, shift=12.0)
    assert [m.summary.name for m in off.surviving()] == [next(iter(off.measures))]
    words = off.words()
    assert f"fails on {len(off.failures())} of 12 measures; by chance alone 0.6 would." in words
    assert "Corrected for looking at 12 measures at once 1 remains (" in words
    chance = next(one for one in checks if one.failures() and not one.surviving())
    assert "none remains, so that this can be chance" in chance.words()


def test_what_does_not_vary_is_left_out_and_said(check):
    speed = check.measures["speed"]
    off = Measure(speed.summary, "", 5.0, {}, dict.fromkeys(MODELS, np.full(50, 1.0)))
    one = type(check)({"speed": off}, check.models, 50, 1, 10.0, 1)
    assert one.failures() == [off] and not one.compared()
    assert one.surviving() == [off]
    assert "Left out of the sum" in one.words() and "On all measures" not in one.words()


def test_the_table_has_a_row_for_each_measure_and_the_sum(check):
    rows = check.rows()
    assert len(rows) == len(check.measures) + 1
    assert all(list(row) == list(rows[0]) for row in rows)


BAD = {
    "no fit": (lambda t: predictive_check(TRUTH, t), "made of a Fit"),
    "no tracks": (lambda t: predictive_check(fitted(t), 5), "needs the observed tracks.*got int"),
    "too few": (lambda t: predictive_check(fitted(t), t, replicates=39), "40 or more"),
}


@pytest.mark.parametrize(("make", "words"), BAD.values(), ids=BAD.keys())
def test_slips_get_a_sentence(make, words):
    with pytest.raises(shoal.InputError, match=words):
        make(herd(steps=10))
