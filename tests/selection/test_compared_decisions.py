"""Models of decisions side by side: on the same moves, beside plain sums, with known truth."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import wrapcauchy

import shoal
from shoal.posterior.decision_fit import log_densities
from shoal.selection import baselines, entrants
from shoal.selection.matching import rows_of, with_passive
from shoal.selection.zones import GAP, most_likely, passive_weights, zone_terms

SPREAD = 8.0
SPACE = shoal.StateSpace(shoal.LocalMisalignment(bins=24, include_self=False))
FINER = shoal.StateSpace(shoal.LocalMisalignment(bins=30, include_self=False))
ALIGNED = shoal.basis.Terms(shoal.basis.Term("local_misalignment", "cos"))
QUICK = ("passive moves", "alignment (Vicsek)")


def group(strength, seed, frames=90, animals=6):
    """Animals that choose turns by p̄(φ) e^{strength · cos(what is left of the misalignment)}."""
    rng = np.random.default_rng(seed)
    grid = np.arange(-180.0, 180.0, 0.5)
    passive = wrapcauchy.pdf(np.mod(np.deg2rad(grid), 2 * np.pi), np.exp(-np.deg2rad(SPREAD)))
    heading = rng.uniform(-180, 180, animals)
    places = [rng.random((animals, 2))]
    for _ in range(frames):
        way = np.exp(1j * np.deg2rad(heading))
        length = 0.1 * np.exp(rng.normal(0, 0.2, (animals, 1)))
        places.append(places[-1] + length * np.stack([way.real, way.imag], axis=-1))
        wanted = np.rad2deg(np.angle((way.sum() - way) / way))
        chance = passive * np.exp(strength * np.cos(np.deg2rad(wanted[:, None] - grid)))
        chance = np.cumsum(chance / chance.sum(axis=1, keepdims=True), axis=1)
        pick = (rng.random(animals)[:, None] > chance).sum(axis=1)
        heading = heading + grid[np.minimum(pick, grid.size - 1)]
    return shoal.Tracks.from_arrays(np.array(places), group=f"g{seed}")


@pytest.fixture(scope="module")
def tracks():
    return [group(1.5, seed) for seed in range(6)]


@pytest.fixture(scope="module")
def decided(tracks):
    return shoal.decisions(tracks, SPACE, shoal.Turns())


@pytest.fixture
def few_models(monkeypatch):
    def ladder(like, social=None):
        return [one for one in baselines.move_ladder(like, social) if one.name in QUICK]

    monkeypatch.setattr(entrants, "move_ladder", ladder)


@pytest.fixture(scope="module")
def fit(decided):
    """One strength, known passive moves."""
    known = with_passive(decided, shoal.Turns(spread=SPREAD))
    return shoal.Model(SPACE, known.moves, ALIGNED).fit(known, "map"), known


def plain_logit(decisions, columns, weights):
    """Log likelihood of the choices, one decision after the other."""

    def loss(strength):
        q = columns @ strength
        total = 0.0
        for row in range(decisions.total):
            norm = np.sum(weights[row] * np.exp(-q[decisions.states[row]]))
            total += -q[decisions.records.destination[row]] - np.log(norm)
        return -total

    return loss


def test_linear_terms_are_the_conditional_logit_that_scipy_finds(fit):
    found, known = fit
    some = known.take(np.arange(0, known.total, 4))
    column = np.cos(np.deg2rad(SPACE.axes[0].centres))[:, None]
    heights = wrapcauchy.pdf(
        np.mod(np.deg2rad(some.quadrature.turn[:, 0]), 2 * np.pi), np.exp(-np.deg2rad(SPREAD))
    )
    weights = heights * np.exp(some.quadrature.log_base[:, 0])
    weights = np.broadcast_to(weights / weights.sum(), some.states.shape)
    loss = plain_logit(some, column, weights)
    best = minimize(loss, np.zeros(1), method="BFGS", tol=1e-6)
    height, strength = most_likely(some, column, passive_weights(some))
    np.testing.assert_allclose(strength, best.x, rtol=2e-3)
    np.testing.assert_allclose(height, -best.fun, atol=0.05)
    by_model = shoal.Model(SPACE, some.moves, ALIGNED).fit(some, "map")
    q = by_model.sampled.values.ravel()
    np.testing.assert_allclose(q, best.x * column[:, 0], rtol=5e-3, atol=5e-3)
    # the truth: q = −1.5 cos
    assert abs(float(found.sampled.values.ravel()[12]) / column[12, 0] + 1.5) < 0.4


def test_scores_are_those_of_a_plain_loop_over_moves(decided, few_models):
    seen, held = decided.split_groups(["g0", "g1", "g2", "g3"])
    model = shoal.Model(SPACE, shoal.Turns(spread=SPREAD), ALIGNED)
    found = shoal.compare((seen, held), {"mine": model}, method="map")
    known = with_passive(seen, model.passive)
    q = replace(model, passive=known.moves).fit(known, "map").sampled.values.ravel()
    law = wrapcauchy(np.exp(-np.deg2rad(SPREAD)))
    heights = law.pdf(np.mod(np.deg2rad(held.quadrature.turn[:, 0]), 2 * np.pi))
    weights = heights * np.exp(held.quadrature.log_base[:, 0])
    weights /= weights.sum()
    total = 0.0
    for row in range(held.total):
        passive = law.pdf(np.mod(np.deg2rad(held.turn[row]), 2 * np.pi)) * np.pi / 180
        norm = np.sum(weights * np.exp(-q[held.states[row]]))
        total += np.log2(passive) - (q[held.records.destination[row]] + np.log(norm)) / np.log(2)
    assert found.unit == "decision"
    assert found["mine"].score.bits == pytest.approx(total / held.total, abs=1e-4)
    assert found["mine"].logs.size == held.total == found.counts.sum()


def test_animals_that_align_are_said_to_and_others_are_not(tracks, decided, few_models):
    found = shoal.compare(decided, split="2-fold:group", method="map")
    gain, error = found.gain("alignment (Vicsek)", "passive moves")
    assert gain > 3 * error
    assert found["alignment (Vicsek)"] in found.contenders
    assert found["passive moves"] not in found.contenders
    assert {name for name, _, _ in found.costs_pay()} == set(QUICK[1:])
    assert found.sentence().startswith(f"Best on held-out decisions: {found.best.name} (")
    assert "Its costs pay for themselves" in found.sentence()
    assert "bits per decision" in found.sentence()
    assert found.best.score.counts.size == 6, "groups are held out, and groups are blocks"
    row = found.rows()[1]
    assert row["gain over passive moves"] == f"{gain:.3f} ± {error:.3f}"

    nothing = [group(0.0, seed) for seed in range(20, 26)]
    null = shoal.compare(
        shoal.decisions(nothing, SPACE, shoal.Turns()), split="2-fold:group", method="map"
    )
    gain, error = null.gain("alignment (Vicsek)", "passive moves")
    assert gain < 2 * error
    assert null["passive moves"] in null.contenders
    assert "pay for themselves" not in null.sentence()


def test_decisions_are_matched_by_group_animal_and_frame(decided):
    rng = np.random.default_rng(1)
    other = decided.take(rng.permutation(decided.total)[:500])
    rows = rows_of(other, decided)

    def key(read, row):
        records = read.records
        return (*records.individuals[records.individual[row]], int(records.frame[row]))

    places = {key(other, row): row for row in range(other.total)}
    expected = [places.get(key(decided, row), -1) for row in range(decided.total)]
    assert rows.tolist() == expected


def test_a_model_with_its_own_reading_is_scored_on_the_decisions_that_all_have(
    tracks, decided, few_models
):
    own = shoal.decisions(tracks, FINER, shoal.Turns())
    fewer = own.take(np.arange(100, own.total))
    model = shoal.Model(FINER, shoal.Turns(), ALIGNED)
    found = shoal.compare(decided, {"finer": (model, fewer)}, split="time:0.5", method="map")
    kept = decided.take(rows_of(fewer, decided) >= 0)
    assert found.remarks[-1] == (
        f"Of {decided.total:,} decisions 100 were left out, since not every model could read them."
    )
    assert found.remarks[-1] in found.sentence()
    seen, held = kept.split_time(0.5)
    own_seen, own_held = (own.take(rows_of(own, part)) for part in (seen, held))
    alone = shoal.Model(FINER, own.moves, ALIGNED).fit(own_seen, "map")
    each = log_densities(alone, own_held)[0] / np.log(2)
    np.testing.assert_allclose(found["finer"].logs, each, atol=1e-6)
    assert {one.score.transitions for one in found.entries} == {held.total}
    gap, _ = found.gain("finer", "alignment (Vicsek)")
    assert abs(gap) < 0.02, "the same rule in other bins says nearly the same"


def test_what_cannot_be_compared_is_refused_in_one_line(tracks, decided):
    steps = shoal.decisions(tracks, SPACE, shoal.Steps())
    other = [shoal.Tracks.from_arrays(one.positions[:, ::-1], group=one.group) for one in tracks]
    moved = shoal.decisions(other, SPACE, shoal.Turns())
    model = shoal.Model(SPACE, shoal.Turns(), ALIGNED)
    for models, words in (
        (
            {"mine": (shoal.Model(SPACE, shoal.Steps()), steps)},
            "is of Steps and the others are of Turns: densities of turns and of turns with steps",
        ),
        ({"mine": (model, moved)}, "was given other moves: group 'g0', animal"),
        ({"mine": shoal.Model(FINER, shoal.Turns())}, r"give it with its own decisions"),
        ({"mine": (model, (moved, moved))}, "in as many parts as those that are compared: one"),
        ({"passive moves": model}, "there is a model 'passive moves' already"),
        ({"mine": shoal.Turns()}, r"shoal.Model\(…\) by name, or \(model, decisions\)"),
        ({"mine": shoal.Model(SPACE, shoal.Turns(every=10.0))}, "needs decisions that were read"),
    ):
        with pytest.raises(shoal.InputError, match=words) as refused:
            shoal.compare(decided, models)
        assert "\n" not in str(refused.value)


def test_every_baseline_is_there_and_rules_are_read_from_the_tracks_where_states_lack_them(
    tracks, decided
):
    data, found, remarks = entrants.entrants(decided, {}, tracks)
    names = [one.name for one in found]
    assert names == [
        "passive moves",
        "passive moves (turns of two normals)",
        "passive moves (von Mises turns)",
        "alignment (Vicsek)",
        "zones (Couzin)",
        "linear terms (step selection)",
        "smooth costs",
        "smooth costs (turns of two normals)",
        "smooth costs (von Mises turns)",
    ]
    assert data.total == decided.total
    assert remarks == ()
    zones = found[4]
    seen, held = zones.read(data.split_time(0.5))
    assert GAP in seen.space.names
    assert {term.axis for term in zones.make(seen).basis.terms} <= set(seen.space.names)
    assert np.array_equal(held.turn, data.split_time(0.5)[1].turn)
    _, fewer, remarks = entrants.entrants(decided, {})
    assert "zones (Couzin)" not in [one.name for one in fewer]
    assert remarks == (
        "Not compared, since the states lack the features: zones (Couzin); give tracks= to read "
        "them.",
    )


def test_zones_are_three_terms_each_within_its_own_distances():
    space = shoal.StateSpace(
        shoal.LocalMisalignment(bins=4, include_self=False),
        shoal.Distance((0, 1, 2, 3), beyond=True),
        shoal.Bearing(bins=4),
    )
    columns = np.asarray(zone_terms(1.0, 2.0).scaled(space).map.dense()).reshape(4, 3, 4, 3)
    for term, place in enumerate(range(3)):
        others = [other for other in range(3) if other != place]
        assert np.all(columns[:, others, :, term] == 0)
        assert np.abs(columns[:, place, :, term]).max() > 0.5
    assert len(zone_terms(0.0, 2.0).terms) == 2
    with pytest.raises(shoal.InputError, match="there is no axis 'speed'"):
        shoal.basis.Terms(shoal.basis.Term("speed")).on(space)
