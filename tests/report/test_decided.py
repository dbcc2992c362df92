"""What a page says and shows of decisions: words, maps and moves beside plain sums and truths."""

import json
from functools import cache

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import shoal
from shoal.figures.around import on_page, sectors, shown_edges
from shoal.figures.fits import fit_figures
from shoal.posterior import DecisionFit
from shoal.posterior.around import around
from shoal.posterior.choice_words import _ALIGN
from shoal.posterior.choices import _angle_claim, statements
from shoal.posterior.preferences import Band, preferences
from shoal.report.fans import chances, fans_of
from shoal.report.packing import unpacked

STEPS = shoal.Steps(spread=10.0, typical=0.1, variation=0.3, follow=0.5)
EDGES = np.linspace(0, 2, 9)


def alignment(bins=12):
    return shoal.LocalMisalignment(include_self=False, bins=bins)


def distance():
    return shoal.Distance(EDGES, unit="m", beyond=True)


def made(draws, moves, *parts, arrivals=None):
    """A fit to decisions with these draws of q."""
    space = shoal.StateSpace(*parts)
    counts = np.full(space.shape, 10) if arrivals is None else arrivals
    q = np.asarray(draws, dtype=float).reshape(1, -1, *space.shape)
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"cost_to_go": (("chain", "draw", *space.names), q)}),
            "observed_data": xr.Dataset({"arrivals": (space.names, counts)}),
        }
    )
    tree.attrs = {"method": "laplace" if q.shape[1] > 1 else "map", "lag": 1}
    return DecisionFit(shoal.Model(space, moves, shoal.Smooth()), tree)


@cache
def herd():
    """Animals that align, keep 0.8 m away from each other and have no wish for bearings."""
    space = shoal.StateSpace(alignment(), distance(), shoal.Bearing(bins=8))
    angle, far, _ = np.meshgrid(*[axis.centres for axis in space.axes], indexing="ij")
    wants = 1.0 * (1 - np.cos(np.deg2rad(angle))) + 6.0 * (far - 0.8) ** 2
    tracks = shoal.simulate(
        wants, space=space, passive=STEPS, start=shoal.Release(5, (0.0, 0.0), 1.0), steps=700,
        speed=0.1, seed=3,
    )  # fmt: skip
    return tracks, space


@pytest.fixture(scope="module")
def fit():
    tracks, space = herd()
    read = shoal.decisions(tracks, space, shoal.Steps())
    model = shoal.Model(space, shoal.Steps(), shoal.Smooth(order=3, interactions=1))
    return model.fit(read, "laplace", draws=250, seed=1, progress=False)


def test_a_group_that_aligns_and_keeps_its_distance_is_said_to(fit):
    said = {(s.key, s.claim.split(" ")[1] if s.claim else ""): s for s in statements(fit)}
    align = said["align", "to"]
    low, high = align.interval
    assert align.claim == "turn to align with their neighbours"
    truth = np.mean(1 - np.cos(np.deg2rad([60, 90, 120]))) - (2 - 2 * np.cos(np.deg2rad(30))) / 3
    assert 0 < low < truth < high and align.probability > 0.99
    near, far = said["distance", "away"].claim, said["distance", "towards"].claim
    edge = float(near.split("nearer than ")[1].split()[0])
    beyond = float(far.split("farther than ")[1].split()[0])
    assert edge <= 0.8 <= beyond and near.endswith(" m")
    assert ("turn-towards", "") in said  # nobody wants bearings
    sentence, behind = fit.headline()
    assert sentence.startswith("These animals turn to align with their neighbours, move towards")
    assert any("do not show a preference for where their nearest" in line for line in behind)


@pytest.mark.slow
def test_animals_without_preferences_are_said_to_have_some_in_one_of_twenty_at_most():
    """A posterior that is calibrated: its centre is as far from the truth as draws are from it."""
    rng = np.random.default_rng(1)
    parts = (alignment(), distance(), shoal.Bearing(bins=8))
    shape = shoal.StateSpace(*parts).shape
    wrong = 0
    for _ in range(60):
        centre = sum(_noise(rng, shape, axis) for axis in range(3))
        draws = [centre + sum(_noise(rng, shape, axis) for axis in range(3)) for _ in range(200)]
        wrong += any(s.supported for s in statements(made(draws, STEPS, *parts)))
    assert wrong <= stats.binom(60, 0.05).ppf(0.999)


def _noise(rng, shape, axis):
    each = [1] * 3
    each[axis] = shape[axis]
    return rng.normal(0, 0.3, each) * np.ones(shape)


@pytest.mark.parametrize(
    ("near", "side", "opposed", "does"),
    [
        (0.0, 1.0, 2.0, "towards"),
        (2.0, 1.0, 0.0, "away"),
        (1.0, 0.0, 1.0, "beside"),
        (0.0, 1.0, 0.0, "along"),
        (0.5, 1.5, 0.0, "away"),  # less at the side, but most of all opposed
        (0.0, 1.5, 0.5, "towards"),
        (0.0, 0.0, 0.0, None),
    ],
)
def test_the_claim_about_an_angle_is_what_its_three_zones_say(near, side, opposed, does):
    sign = np.sign([side - near, opposed - near, opposed - side]).astype(int)
    claim, shown = _angle_claim(_ALIGN, sign)
    assert claim == ("" if does is None else getattr(_ALIGN, does))
    # the difference that is shown speaks for the claim
    if does in ("towards", "along"):
        assert sign[shown] > 0
    elif does is not None:
        assert sign[shown] < 0


def test_preferences_are_the_least_squares_over_terms_and_lines():
    rng = np.random.default_rng(2)
    parts = (alignment(6), shoal.TargetMisalignment((0, 0), bins=6), shoal.Distance((0, 1, 2, 3)))
    space = shoal.StateSpace(*parts)
    counts = rng.poisson(2.0, space.shape)
    fit = made(rng.normal(0, 1, (4, space.size)), shoal.Turns(), *parts, arrivals=counts)
    first, second, far = preferences(fit, [(0,), (1,), (2,)])
    there = np.argwhere(counts > 0)
    rows = []
    for i, j, k in there:
        row = np.zeros(6 + 6 + 6 * 3)
        row[i], row[6 + j], row[12 + 3 * ((i - j) % 6) + k] = 1, 1, 1
        rows.append(row)
    weight = np.sqrt(counts[counts > 0])
    q = fit.sampled.values[0][:, counts > 0]
    best = np.linalg.lstsq(np.array(rows) * weight[:, None], (q * weight).T, rcond=None)[0].T
    for part, own in ((first, best[:, :6]), (second, best[:, 6:12])):
        contrast = part.draws - part.draws[:, [0]]
        np.testing.assert_allclose(contrast, own - own[:, [0]], atol=1e-9)
        assert set(part.compared()) == {0}
    assert np.array_equal(far.compared(), [0, 1, 2])  # no turn leads from one to another


def test_levels_that_no_turn_can_leave_change_no_sentence():
    rng = np.random.default_rng(3)
    parts = (shoal.Bearing(bins=8), distance())
    space = shoal.StateSpace(*parts)
    angle, far = np.meshgrid(*[axis.centres for axis in space.axes], indexing="ij")
    wave = (1 - np.cos(np.deg2rad(angle))) * np.sign(far - 0.9)
    draws = wave + rng.normal(0, 0.1, (300, *space.shape))
    one = made(draws, shoal.Turns(), *parts)
    other = made(draws + 5 * np.sin(7 * far), shoal.Turns(), *parts)
    assert [s.sentence for s in statements(one)] == [s.sentence for s in statements(other)]
    (shown,), (again,) = around(one), around(other)
    np.testing.assert_allclose(shown.mean, again.mean, atol=1e-9)
    assert shown.apart
    claims = [s.claim for s in statements(one)]
    assert "turn towards neighbours farther than 1 m" in claims
    assert "turn away from neighbours nearer than 1 m" in claims
    nothing = [s.sentence for s in statements(one) if s.key == "distance"]
    assert nothing == [
        "Nothing can be known of a preference for the distance to their nearest neighbour: no turn "
        "changes it."
    ]


def test_a_band_is_wide_enough_for_all_numbers_at_once():
    rng = np.random.default_rng(4)
    draws = rng.normal(0, 1, (4000, 30)) * np.arange(1, 31)
    band = Band.of(draws)
    inside = ((draws >= band.lower) & (draws <= band.upper)).all(axis=1)
    assert inside.mean() == pytest.approx(0.95, abs=0.002)
    by_hand = stats.norm.ppf((1 + 0.95 ** (1 / 30)) / 2)  # of independent numbers
    assert np.allclose(band.upper - band.mean, by_hand * band.sd, rtol=0.05)


def test_one_set_of_costs_claims_nothing():
    far = shoal.StateSpace(distance()).axes[0].centres
    fit = made([far], STEPS, distance())
    sentence, behind = fit.headline()
    assert "do not tell" in sentence and behind[0].startswith("At the most probable costs")
    assert not any(s.supported for s in statements(fit))


def test_a_neighbour_to_the_left_of_an_animal_heading_north_is_drawn_to_the_left():
    places = np.array([[[0.0, 0.0], [-1.0, 0.0]], [[0.0, 1.0], [-1.0, 1.0]]])
    scene = shoal.states.Scene.of(shoal.Tracks.from_arrays(places, fps=1.0))
    assert scene.headings[0, 0] == pytest.approx(90.0)
    bearing = float(shoal.Bearing(bins=8).values(scene)[0, 0])
    assert bearing == pytest.approx(90.0)
    turned = np.deg2rad(on_page(bearing))
    assert np.allclose([np.cos(turned), np.sin(turned)], [-1.0, 0.0], atol=1e-12)
    ahead = np.deg2rad(on_page(0.0))
    assert np.allclose([np.cos(ahead), np.sin(ahead)], [0.0, 1.0], atol=1e-12)


def test_the_map_shows_the_cheapest_place_where_it_is_and_hatches_what_nobody_chose():
    parts = (alignment(), shoal.Bearing(bins=8), distance())
    space = shoal.StateSpace(*parts)
    q = np.zeros(space.shape)
    q += np.cos(np.deg2rad(space.axes[0].centres))[:, None, None]  # another feature
    q[:, 6, 3] -= 2.0  # 90° to the left, 0.75 to 1 m
    counts = np.full(space.shape, 10)
    counts[:, 1, 5] = 0
    rng = np.random.default_rng(5)
    fit = made(q + rng.normal(0, 0.01, (50, *space.shape)), STEPS, *parts, arrivals=counts)
    shown = next(one for one in around(fit) if one.thing)
    assert shown.thing == "their nearest neighbour" and not shown.apart
    ring, which = np.unravel_index(np.nanargmax(shown.mean), shown.mean.shape)
    assert (ring, shown.angle.centres[which]) == (3, 90.0)
    assert shown.mean[ring, which] - np.nanmedian(shown.mean) == pytest.approx(2.0, abs=0.02)
    assert np.isnan(shown.mean[5, 1]) and shown.arrivals[5, 1] == 0
    assert np.allclose(shown_edges(shown)[ring : ring + 2], [0.75, 1.0])
    assert (6, 67.5, 112.5) in sectors(shown.angle)


def test_chances_of_replayed_moves_are_the_plain_sums_over_candidates(fit):
    tracks, _ = herd()
    fans = fans_of(fit, tracks, slice(10, 60))
    values = {
        name[0]: float(value)
        for name, value in fit.family.numbers(fit.passive_unknowns.mean(axis=0)).items()
    }
    q = fit.sampled.values.mean(axis=(0, 1)).ravel()
    read, spread = fans.read, fans.read.quadrature
    reference = fit.model.passive.pace
    for row in (0, 7, len(fans.frame) - 1):
        weights, which = [], read.which[row]
        pace, before = read.pace[row], read.step_before[row]
        away = np.clip(np.rint(np.log(before / read.moves.pace) / 0.5), -5, 5) * 0.5
        away += np.log(read.moves.pace / reference)
        narrow = values["spread"] * np.exp(-values["straightness"] * away)
        law = stats.wrapcauchy(np.exp(-np.deg2rad(narrow)))
        shape = values["variation"] ** -2 * np.exp(values["evenness"] * away)
        mean = (1 - values["follow"]) * values["typical"] / reference * pace
        mean += values["follow"] * before
        spread_by = (1 - spread.follow) * np.exp(spread.log_typical) * pace + spread.follow * before
        for k in range(len(spread.turn)):
            turn = law.pdf(np.mod(np.deg2rad(spread.turn[k, which]), 2 * np.pi))
            step = spread_by * np.exp(spread.log_step[k, which])
            height = 0.999 * stats.gamma.pdf(step, shape, scale=mean / shape) * step
            height += 0.001 * stats.cauchy.pdf(np.log(step / mean))
            weights.append(turn * height * np.exp(spread.log_base[k, which]))
        passive = np.array(weights) / np.sum(weights)
        np.testing.assert_allclose(fans.passive[row], passive, rtol=1e-2)  # steps before by levels
        wanted = passive * np.exp(-read.on_places(q)[read.states[row]])
        np.testing.assert_allclose(fans.chance[row], wanted / wanted.sum(), rtol=1e-2)
    np.testing.assert_allclose(chances(fit, read)[0].sum(axis=1), 1.0)
    places = tracks.positions
    for row in (0, 20):  # the move that was made leads to the next place
        frame, animal = fans.frame[row] + 10, fans.animal[row]
        step = np.hypot(*(places[frame + 1, animal] - places[frame, animal]))
        assert read.step[row] == pytest.approx(step)


def test_moves_in_a_page_are_bounded_and_as_exact_as_bytes_are(fit):
    tracks, _ = herd()
    fans = fans_of(fit, tracks, slice(0, 250))
    packed = fans.contents(budget=40_000)
    assert len(json.dumps(packed)) < 1.6 * 40_000
    kept = unpacked(packed["chance"])
    assert 0 < len(kept) < len(fans.frame)
    busiest = np.argmax(np.bincount(fans.animal))
    assert (unpacked(packed["animal"]) == busiest).any()
    whole = fans.contents(budget=10**9)
    most = unpacked(whole["chance_most"])[:, None]
    back = most * (unpacked(whole["chance"]) / 255.0) ** 2
    assert np.max(np.abs(back - fans.chance) / most) < 1 / 255


def test_the_page_of_decisions_speaks_of_decisions_and_escapes_names(fit, tmp_path):
    tracks, _ = herd()
    nasty = "</script><img src=x onerror=alert(1)>"
    renamed = shoal.Tracks.from_arrays(
        tracks.positions[:60], group=nasty, individuals=[f"{nasty}{n}" for n in range(5)]
    )
    path = shoal.write_report(
        fit, tmp_path / "page.html", tracks=renamed, who=nasty, replicates=0, progress=False
    )
    text = path.read_text()
    assert "<img" not in text and text.count("</script>") == 2
    for part in ("headline", "around", "costs", "marginals", "replay", "trust", "data", "repeat"):
        assert f'<section id="{part}"' in text
    assert '<section id="policy"' not in text and "cost-to-go q" in text
    assert "These animals turn to align" in text and "passive moves" in text
    assert "<td>decisions</td>" in text and "discount γ" not in text
    contents = json.loads(text.split('id="contents">')[1].split("</script>")[0])
    assert contents["costs"]["state_cost"] is None and contents["policy"] is None
    assert [one["thing"] for one in contents["around"]] == ["their nearest neighbour", ""]
    group = contents["replay"]["groups"][0]
    fan = {name: unpacked(group["fans"][name]) for name in ("frame", "animal")}
    states = unpacked(group["observed"]["states"])
    read = shoal.decisions(renamed, fit.model.space, shoal.Steps())
    shift = int(read.records.frame.min() - fan["frame"].min())
    for row in (0, 50, 100):
        assert states[fan["frame"][row], fan["animal"][row]] >= 0
        same = (read.records.frame == fan["frame"][row] + shift) & (
            read.records.individual == fan["animal"][row]
        )
        assert states[fan["frame"][row], fan["animal"][row]] == read.records.origin[same][0]


def test_a_fit_to_decisions_has_its_figures(fit):
    drawn = fit_figures(fit)
    assert set(drawn) == {"cost-to-go", "around-neighbour-bearing", "around-local-misalignment"}
    words = {
        text.get_text() for axes in drawn["around-neighbour-bearing"].axes for text in axes.texts
    }
    assert {"ahead", "left", "right", "behind"} <= words
