"""Intervals hold the truth as often as they say, and a fault in the likelihood is seen."""

import csv

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

import shoal
from cli.speaking import spoken
from shoal.checks.ranks import RankCurve, holm, simultaneous_band, uniform_rank
from shoal.errors import InputError
from shoal.figures.calibration import calibration_figure

INFORMATIVE = shoal.Prior(shape=5, rate=5)
QUICK = shoal.NUTS(warmup=100)


def walking(bins=9, **more):
    space = shoal.StateSpace(shoal.Circular("angle", bins=bins))
    return shoal.Model(space, shoal.RandomWalk(90.0), prior=INFORMATIVE, **more)


class OffByOne(shoal.Model):
    """Departures are counted one bin away."""

    def density(self, transitions, warm=None):
        right = super().density(transitions, warm)
        return eqx.tree_at(lambda d: d.departures, right, jnp.roll(right.departures, 1))


@given(st.integers(0, 2**32 - 1), st.sampled_from(["normal", "coins", "constant"]))
def test_ranks_among_alike_are_uniform_even_with_ties(seed, kind):
    rng = np.random.default_rng(seed)
    draw = {
        "normal": lambda shape: rng.normal(size=shape),
        "coins": lambda shape: rng.integers(0, 2, shape).astype(float),
        "constant": np.ones,
    }[kind]
    ranks = np.concatenate([uniform_rank(draw(40), draw((9, 40)), rng) for _ in range(10)])
    assert kstest(ranks, "uniform").pvalue > 1e-6
    assert np.all((ranks >= 0) & (ranks < 1))


@pytest.mark.parametrize("count", [20, 100])
def test_uniform_numbers_stay_in_the_band_as_often_as_it_says(count):
    rng = np.random.default_rng(count)
    inside = np.mean([RankCurve("", rng.random(count)).inside for _ in range(2000)])
    # 0.99 holds for the simulated numbers that made the band; both have 2,000 or more
    assert abs(inside - 0.99) < 4 * np.sqrt(0.99 * 0.01 * (1 / 2000 + 1 / 4000)) + 0.004


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        (lambda u: 0.5 + (u - 0.5) * 0.5, "intervals too wide"),
        (lambda u: np.where(u < 0.5, u * 0.4, 1 - (1 - u) * 0.4), "intervals too narrow"),
        (lambda u: u**3, "estimates too high"),
        (lambda u: u ** (1 / 3), "estimates too low"),
    ],
)
def test_what_is_wrong_with_intervals_is_said(ranks, words):
    curve = RankCurve("x", ranks(np.random.default_rng(1).random(200)))
    assert not curve.inside
    assert curve.excess > 0.2
    assert curve.shape == words


def test_the_band_is_wider_for_fewer_ranks_and_holds_the_diagonal():
    few, many = simultaneous_band(20), simultaneous_band(100)
    assert (few.upper - few.lower).max() > (many.upper - many.lower).max()
    assert np.all(many.lower <= many.points)
    assert np.all(many.points <= many.upper)


@pytest.fixture(scope="module")
def sampled():
    return shoal.calibrate(
        walking(), method=QUICK, replicates=60, chains=2, draws=150, seed=3, progress=False
    )


@pytest.fixture(scope="module")
def approximated():
    return shoal.calibrate(walking(), method="laplace", replicates=100, seed=2, progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("which", ["sampled", "approximated"])
def test_ranks_are_uniform_and_intervals_hold_the_truth(which, request):
    found = request.getfixturevalue(which)
    assert len(found.curves) == 11
    assert [curve.name for curve in found.outside] == []
    for level, (share, error) in found.coverage.items():
        assert abs(share - level) < 3.5 * error, level
        assert error < 0.04
    assert "stay in their 99 % bands" in found.sentences()[1]
    assert found.mean_error("rmse") < 0.5 * found.mean_error("prior_rmse")


@pytest.mark.slow
def test_departures_that_are_off_by_one_bin_are_seen():
    model = walking()
    wrong = OffByOne(model.space, model.passive, prior=model.prior)
    found = shoal.calibrate(wrong, method="laplace", replicates=100, seed=2, progress=False)
    assert any("cost-to-go" in curve.name for curve in found.outside)
    share, error = found.coverage[0.95]
    assert share < 0.95 - 5 * error
    assert "leave their 99 % bands" in found.sentences()[1]
    assert (
        "by chance alone 0.1 would. After Holm's correction for 11 quantities"
        in (found.sentences()[1])
    )
    left = [name for name, p in found.corrected.items() if p < 0.05]
    assert any("cost-to-go" in name for name in left)
    assert len(left) <= len(found.outside) + 2


def test_of_many_uniform_curves_hardly_one_is_left_after_holms_correction():
    rng, families = np.random.default_rng(1), []
    for _ in range(150):
        p = np.array([RankCurve("", rng.random(40)).p_value for _ in range(11)])
        corrected = holm(p)
        assert np.all(corrected >= p)
        assert corrected.min() == pytest.approx(min(1.0, 11 * p.min()))
        families.append((p.min() < 0.05, corrected.min() < 0.05))
    plain, left = np.mean(families, axis=0)
    assert plain > 0.3, "many are looked at"
    assert left < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)


def test_a_curve_outside_its_band_has_a_small_p_value():
    ranks = np.random.default_rng(1).random(100)
    assert RankCurve("", ranks).p_value > 0.05
    assert RankCurve("", ranks**3).p_value < 0.001
    edge = [RankCurve("", np.random.default_rng(n).random(100) ** 1.35) for n in range(40)]
    assert {one.inside for one in edge} == {True, False}
    for one in edge:  # at the very edge 1 % of 4,000 curves are tied
        assert one.inside == (one.p_value > 0.01) or abs(one.p_value - 0.01) < 0.003


@pytest.mark.slow
def test_users_of_mean_field_intervals_are_warned():
    found = shoal.calibrate(
        walking(), method="advi", frames=20, replicates=24, seed=3, progress=False
    )
    warned = [one.pareto_k > 0.7 for one in found.replicates]
    assert np.mean(warned) > 0.5  # k̂ does not see it every time, so it is always said in words
    assert any("Pareto k̂" in sentence for sentence in found.sentences())
    counts = shoal.count_transitions([np.arange(50) % 9], walking().space)
    judged = walking().fit(counts, "advi", draws=50, progress=False).diagnostics()
    assert not judged.trusted
    assert "It leaves out how unknowns hang together" in str(judged)


@pytest.mark.slow
def test_learned_dynamics_and_smoothness_are_calibrated_too():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=8))
    passive = shoal.TurnCoupled(
        spread=shoal.passive.Unknown(20.0, 1.5), noise=10.0, tails=0.5, follow=1.0
    )
    model = shoal.Model(space, passive, shoal.Smooth(order=2))
    found = shoal.calibrate(
        model, method="laplace", replicates=20, groups=4, seed=1, progress=False
    )
    assert {"turn spread"} <= {curve.name for curve in found.curves}
    assert 0.85 < found.coverage[0.95][0] <= 1


def test_a_given_truth_is_recovered_with_its_design():
    model = walking()
    truth = np.cos(np.arange(9) / 9 * 2 * np.pi)
    few, many = (
        shoal.calibrate(
            model, method="map", replicates=20, groups=n, truth=truth, seed=1, progress=False
        )
        for n in (1, 20)
    )
    assert many.mean_error("rmse") < 0.4 * few.mean_error("rmse")
    assert not many.coverage
    assert "no intervals" in many.sentences()[0]
    assert calibration_figure(many).axes


@pytest.mark.slow
def test_the_same_seed_gives_the_same_ranks_here_and_on_workers(approximated):
    again = shoal.calibrate(
        walking(), method="laplace", replicates=20, seed=2, cluster=2, progress=False
    )
    for one, other in zip(again.replicates, approximated.replicates, strict=False):
        np.testing.assert_array_equal(one.ranks, other.ranks)


def test_slips_get_a_sentence():
    model = walking()
    with pytest.raises(InputError, match="20 replicates"):
        shoal.calibrate(model, replicates=5)
    with pytest.raises(InputError, match="2 frames or more"):
        shoal.calibrate(model, frames=1)
    with pytest.raises(InputError, match="of shape"):
        shoal.calibrate(model, truth=np.zeros(3))
    vague = shoal.Model(model.space, model.passive)
    with pytest.warns(UserWarning, match="costs of hundreds"):
        shoal.calibrate(vague, method="map", replicates=20, frames=5, progress=False)


@pytest.mark.slow
def test_one_command_says_how_well_a_design_would_do(tmp_path):
    out = tmp_path / "design.csv"
    words = "calibrate --state local:bins=6 --groups 3 --method laplace --replicates 20 --out"
    done = spoken(*words.split(), str(out))
    assert done.status == 0, done.err
    assert "With 3 groups of 10 and 100 frames" in done.out
    with out.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 20
    assert all(0 <= float(row["precision"]) <= 1 for row in rows)
    for name in ("design.png", "design.pdf", "design.html", "design.toml"):
        assert (tmp_path / name).stat().st_size > 100
    refused = spoken("calibrate", "--state", "speed", "--out", str(out))
    assert refused.status == 2
    assert "give max= or edges=" in refused.err
