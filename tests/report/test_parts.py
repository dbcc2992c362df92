"""What a report says and holds: numbers as in the fit, words as the numbers allow."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import shoal
from handmade import fit_of
from report_pages import TARGET, fish, herd, learned, local
from shoal.passive import as_operator
from shoal.posterior import Fit
from shoal.posterior.along import marginal
from shoal.posterior.choice_words import bin_words
from shoal.posterior.single import costs_under, one_draw
from shoal.posterior.specification import Unreadable
from shoal.report.contents import short
from shoal.report.packing import packed, script_json, unpacked
from shoal.report.policies import COVERED, factors_of, policy_of
from shoal.report.replay import Stage
from shoal.simulation.designs import Scenario
from shoal.states import Headings, track_states


@pytest.fixture(scope="module")
def fit():
    return learned(fish(), local(), shoal.TargetMisalignment(TARGET, bins=12))


@given(st.text())
def test_no_text_ends_the_script_that_holds_it(text):
    written = script_json({"name": text})
    assert not re.search("[<>&]", written) and json.loads(written) == {"name": text}


@pytest.mark.parametrize("kind", ["f4", "i4", "u2"])
def test_arrays_come_back_as_they_were(kind):
    values = np.arange(12).reshape(3, 4)
    assert np.array_equal(unpacked(packed(values, kind)), values)


def test_names_from_files_are_escaped(tmp_path, fit):
    tracks = fish()
    nasty = "</script><img src=x onerror=alert(1)>"
    renamed = shoal.Tracks.from_arrays(
        tracks.positions, fps=10.0, group=nasty,
        individuals=[f"{nasty}{n}" for n in range(len(tracks.members))], notes=[nasty],
    )  # fmt: skip
    path = shoal.write_report(
        fit, tmp_path / "page.html", tracks=renamed, who=nasty, replicates=0, progress=False
    )
    text = path.read_text()
    assert "<img" not in text and text.count("</script>") == 2


def test_the_page_names_no_place_outside(tmp_path, fit):
    text = shoal.write_report(fit, tmp_path / "page.html").read_text()
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text and "connect-src 'none'" in text


def test_a_report_is_of_a_fit_and_ends_in_html(tmp_path, fit):
    with pytest.raises(shoal.InputError, match=r"ends in \.html"):
        shoal.write_report(fit, tmp_path / "page.pdf")
    with pytest.raises(shoal.InputError, match="about a Fit, got dict"):
        shoal.write_report({}, tmp_path / "page.html")


def test_a_fit_that_should_not_be_trusted_says_so_at_the_top(tmp_path, fit):
    fit.data.attrs["facts"] = json.dumps({"converged": False, "pareto_k": 2.0})
    try:
        text = shoal.write_report(fit, tmp_path / "page.html").read_text()
    finally:
        fit.data.attrs["facts"] = json.dumps({"converged": True, "pareto_k": 0.1})
    assert text.index("Do not trust this fit yet") < text.index(
        'class="headline"' if 'class="headline"' in text else "class=headline"
    )


def axes_fit(v, parts, method="nuts", basis=None):
    space = shoal.StateSpace(*parts)
    model = shoal.Model(space, shoal.Uniform(), basis or shoal.Identity())
    made = fit_of(model, v, method=method)
    counts = np.ones(space.shape, dtype=int)
    made.data["observed_data"] = xr.DataTree(
        xr.Dataset({"arrivals": (space.names, counts), "departures": (space.names, counts)})
    )
    pair = np.arange(space.size)
    made.data["transitions"] = xr.DataTree(
        xr.Dataset(dict.fromkeys(("origin", "destination"), ("pair", pair))
                   | {"count": ("pair", np.ones(space.size, dtype=int))})
    )  # fmt: skip
    return made


def test_the_headline_of_one_axis_names_the_cheapest_bin_and_how_sure_it_is():
    rng = np.random.default_rng(1)
    v = np.abs(np.arange(12) - 6)[None] + rng.normal(0, 0.1, (400, 12))
    sentence, behind = axes_fit(v, [shoal.Circular("local_misalignment", 12)]).headline()
    assert sentence.startswith("These animals steer towards a local misalignment of 0°")
    assert "probability > 0.99" in sentence
    low, high = np.quantile(
        (v - v.mean(axis=1, keepdims=True))[:, [0]] - (v - v.mean(axis=1, keepdims=True))[:, [6]],
        (0.025, 0.975),
    )
    assert f"{low:.2f} to {high:.2f}" in behind[0] and "lowest at 0°" in behind[0]


def test_the_headline_says_when_it_cannot_tell():
    rng = np.random.default_rng(2)
    axes = [shoal.Circular("local_misalignment", 6), shoal.Circular("target_misalignment", 6)]
    unsure = rng.normal(0, 1, (400, 6, 6))
    assert axes_fit(unsure, axes).headline()[0] in (
        "These tracks do not tell what these animals prefer.",
        "These tracks show no preference: costs cannot be told from none.",
    )
    wave = 3 * np.cos(np.arange(6) * np.pi / 3)
    even = wave[None, :, None] + wave[None, None] + 0.3 * unsure
    assert "cannot be told: the probability is" in axes_fit(even, axes).headline()[0]
    both = wave[None, :, None] * wave[None, None] / 3 + 0.1 * unsure
    assert axes_fit(both, axes).headline()[0] == (
        "What these animals prefer depends on alignment with their neighbours together with "
        "heading for the target; no axis by itself matters clearly."
    )
    sure = 3 * np.cos(np.arange(6) * np.pi / 3)[None, :, None] + 0.1 * unsure
    said, _ = axes_fit(sure, axes).headline()
    assert said == (
        "These animals value alignment with their neighbours over heading for the target "
        "(probability > 0.99)."
    )
    one = axes_fit(sure[:1], axes, method="map").headline()[0]
    assert one.startswith("At the most probable costs") and "probability >" not in one
    assert "No costs" in axes_fit(sure, axes, basis=shoal.basis.Flat()).headline()[0]


def test_factors_are_exact_where_axes_move_apart_and_absent_where_they_do_not():
    space = shoal.StateSpace(
        shoal.Circular("a", 8),
        shoal.states.Interval.regular("b", 0, 1, 5),
        shoal.states.Folded("c", 6),
    )
    operator = shoal.RandomWalk((50.0, 0.3, 60.0)).on(space)
    factors = factors_of(operator)
    product = np.einsum("ai,bj,ck->abcijk", *factors).reshape(space.size, space.size)
    np.testing.assert_allclose(product, np.asarray(operator.dense()), rtol=1e-9, atol=1e-14)
    turned = shoal.StateSpace(
        shoal.LocalMisalignment(bins=8, include_self=False),
        shoal.TargetMisalignment((0.0, 0.0), bins=8),
    )
    assert factors_of(shoal.TurnCoupled(spread=20.0, noise=5.0, tails=0.1).on(turned)) is None


def test_rows_of_the_policy_are_those_of_eq_pstar():
    space = shoal.StateSpace(
        shoal.LocalMisalignment(bins=8, include_self=False),
        shoal.TargetMisalignment((0.0, 0.0), bins=8),
    )
    passive = shoal.TurnCoupled(spread=20.0, noise=5.0, tails=0.1)
    v = np.random.default_rng(3).normal(0, 1, (1, 8, 8))
    fit = axes_fit(v, space.parts)
    object.__setattr__(fit, "model", shoal.Model(space, passive, shoal.Identity()))
    rows = policy_of(fit)["rows"]
    ends, index = unpacked(rows["ends"]), unpacked(rows["index"])
    found = np.exp(-unpacked(rows["policy"]).astype(float) / rows["per_nat"])
    for n, origin in enumerate(unpacked(rows["origins"])):
        own = slice(ends[n - 1] if n else 0, ends[n])
        expected = shoal.lmdp.policy(fit.cost_to_go.values[0, 0], fit.operator)[origin]
        np.testing.assert_allclose(found[own], expected[index[own]], rtol=4e-4)
        assert found[own].sum() > COVERED - 1e-3
        alone = np.exp(-unpacked(rows["passive"])[own].astype(float) / rows["per_nat"])
        assert alone.sum() > COVERED - 1e-3  # also where costs forbid what is passively likely


def test_another_discount_is_the_same_policy_and_its_state_costs_are_right(fit):
    v, r = costs_under(fit, 0.6)
    operator = fit.operator
    for draw in (0, 57):
        own = fit.cost_to_go.values.reshape(len(v), *fit.model.space.shape)[draw]
        np.testing.assert_allclose(
            shoal.lmdp.policy(v[draw], operator, 0.6), shoal.lmdp.policy(own, operator), atol=1e-12
        )
        expected = shoal.state_cost(v[draw], operator, discount=0.6)
        np.testing.assert_allclose(np.ptp(r[draw] - np.asarray(expected)), 0.0, atol=1e-9)
    with pytest.raises(shoal.InputError, match=r"lies in \(0, 1\]"):
        costs_under(fit, 0.0)


def test_one_draw_is_that_draw(fit):
    single = one_draw(fit, 117)
    own = fit.sampled.values[1, 17]
    np.testing.assert_array_equal(single.sampled.values, own[None, None])
    assert np.isnan(single.summary()["sd"]).all()
    with pytest.raises(shoal.InputError, match="from 0 to 199, counted through all chains"):
        one_draw(fit, 200)


def test_learned_numbers_are_shown_with_four_digits():
    walk = shoal.RandomWalk((12.3456789, 90.0))
    assert short(walk) == repr(walk).replace("12.3456789", "12.35")


def test_a_walk_with_one_exception_is_no_product():
    space = shoal.StateSpace(shoal.Circular("a", 12), shoal.Circular("b", 12))
    matrix = np.array(shoal.RandomWalk(60.0).on(space).dense())
    assert factors_of(as_operator(matrix, space)) is not None
    matrix[77] = 0.0
    matrix[77, 77] = 1.0
    assert factors_of(as_operator(matrix, space)) is None


def test_an_absorbing_state_does_not_take_its_neighbours_along():
    values = np.arange(12.0).reshape(1, 2, 2, 3)
    values[..., 1, 2] = np.nan
    draws = xr.DataArray(values, dims=("chain", "draw", "a", "b"), coords={"a": [0, 1]})
    weights = xr.DataArray(np.ones((2, 3)), dims=("a", "b"))
    along = marginal(draws, "a", weights).values
    np.testing.assert_allclose(along[0], [[1.0, 3.5], [7.0, 9.5]])


@pytest.mark.parametrize("lag", [1, 3])
def test_replayed_states_are_those_that_were_counted(lag):
    tracks = herd(3, 6, 91, "fish")
    space = shoal.StateSpace(local(), shoal.states.TurningAngle(bins=8))
    counts = shoal.count_transitions(tracks, space, lag=lag, heading_frames=2)
    fit = shoal.Model(space, shoal.RandomWalk(60.0)).fit(counts, method="map", progress=False)
    stage = Stage.of(fit, tracks, Scenario(headings=Headings(heading_frames=2)))
    states, _ = track_states(tracks, space, heading_frames=2)
    (panel,) = stage.observed()
    shown = unpacked(panel["states"])
    _, every = stage.whole[0]
    np.testing.assert_array_equal(shown, states[every])
    assert len(shown) == len(stage.seen[0].positions) > 25
    np.testing.assert_allclose(unpacked(panel["places"]), stage.seen[0].positions, rtol=1e-6)


def test_dynamics_that_a_file_could_not_hold_have_a_page_all_the_same(fit, tmp_path):
    lost = Fit(replace(fit.model, passive=Unreadable("a function of one's own")), fit.data)
    text = shoal.write_report(lost, tmp_path / "page.html").read_text()
    assert "the policy cannot be shown" in text and '"state_cost":null' in text


def test_pixels_are_not_rounded_to_powers_of_ten():
    axis = shoal.states.Interval("d", (1000.0, 1234.0, 2468.0), unit="px")
    assert [bin_words(axis, n) for n in (0, 1)] == ["1000 to 1234 px", "1234 to 2468 px"]
