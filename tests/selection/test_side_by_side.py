"""Models side by side: which is preferred, on what, and in which words."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.stats import ttest_rel

import shoal
from handmade import comparison, entry, walked
from registries import CIRCLE, CUBE, FOLDED, MIXED, TORUS, random_matrix
from shoal.figures.scores import score_figure
from shoal.selection import ladder
from shoal.selection.best_models import confidence_set
from shoal.selection.candidates import couples, paper_walk
from shoal.selection.holding_out import parts_of
from shoal.selection.verdict import stacking
from shoal.states import Transitions

FIVE = shoal.StateSpace.discrete(5)
EVEN = np.full((5, 5), 0.2)
V = np.array([0.0, 0.7, 1.4, 0.2, 1.0])
CHAINS = {
    "uniform": EVEN,
    "uniform + costs (maximum entropy)": shoal.lmdp.policy(V, EVEN),
    "Markov chain, smoothed": 0.5 * np.roll(np.eye(5), 1, axis=1) + 0.1,
}
"""What each baseline is right about."""


def optimum(logs, counts):
    """The best mixture by another method: a softmax of free numbers, from several starts."""

    def loss(free):
        weights = np.exp(free - free.max())
        return -counts @ np.log2(weights @ np.exp2(logs) / weights.sum()) / counts.sum()

    starts = np.vstack([np.zeros(len(logs)), 4 * np.eye(len(logs))])
    return min(minimize(loss, start, method="BFGS").fun for start in starts)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(3, 40))
def test_stacking_weights_are_the_best_mixture(seed, models, pairs):
    rng = np.random.default_rng(seed)
    logs = np.log2(rng.dirichlet(np.ones(pairs), size=models))
    counts = rng.integers(1, 50, pairs).astype(float)
    weights = stacking(logs, counts)
    assert np.isclose(weights.sum(), 1)
    assert np.all(weights >= 0)
    reached = counts @ np.log2(weights @ np.exp2(logs)) / counts.sum()
    # EM ends at steps of 1e-7: in 300 such problems it was never more than 1.3e-6 bits short
    assert reached > -optimum(logs, counts) - 1e-5


def test_models_that_say_the_same_share_a_weight():
    logs = np.log2([[0.7, 0.3], [0.7, 0.3], [0.2, 0.8]])
    weights = stacking(logs, np.array([5.0, 5.0]))
    assert weights[0] == weights[1]
    # the mixture is even: w 0.7 + (1 − w) 0.2 = 0.5 with w in two equal halves
    assert np.allclose(weights, [0.3, 0.3, 0.4], atol=1e-4)
    assert stacking(logs[:2], np.array([1.0, 9.0])).tolist() == [0.5, 0.5]
    assert np.allclose(stacking(logs, np.array([0.0, 9.0])), [0, 0, 1], atol=1e-4)


def test_a_model_that_forbids_what_happened_has_no_weight():
    logs = np.array([[-1.0, -1.0], [0.0, -np.inf]])
    assert np.allclose(stacking(logs, np.array([1.0, 99.0])), [0.99, 0.01], atol=0.03)
    assert stacking(logs, np.array([1.0, 1e6]))[1] < 1e-3


@pytest.mark.parametrize("right", CHAINS)
def test_the_model_that_made_the_data_is_preferred(right):
    counts = walked(CHAINS[right], FIVE, animals=30, frames=150, seed=4)
    found = shoal.compare(counts, method="map")
    assert found.split == "the last 33% of the frames"
    chances, score = CHAINS[right], found[right].score
    law = np.linalg.matrix_power(chances, 200)[0]
    entropy = float(law @ (chances * np.log2(chances)).sum(axis=1))
    # the error of the score, and that of the 20 numbers at most learned from 3,000 transitions
    assert abs(score.bits - entropy) < 4 * score.standard_error + 20 / 3000
    order = list(CHAINS)
    for simpler in order[: order.index(right)]:
        gain, error = found.gain(right, simpler)
        assert gain > 5 * error
    for richer in order[order.index(right) + 1 :]:  # learns that there is nothing to learn
        gain, error = found.gain(richer, right)
        assert gain < 3 * error + 1e-4
        assert gain > -20 / 3000
    ((name, gain, error),) = found.costs_pay()
    assert name == "uniform + costs (maximum entropy)"
    assert (gain > 3 * error) == (right == name)
    assert ("pay for themselves" in found.sentence()) == (
        found.best.dynamics == "uniform" and gain > 2 * error
    )


@pytest.fixture(scope="module")
def costly():
    return walked(CHAINS["uniform + costs (maximum entropy)"], FIVE, 30, 150, seed=4)


def test_every_transition_is_held_out_once_in_folds_and_scores_are_pooled(costly):
    found = shoal.compare(costly, split="3-fold", method="map")
    assert found.split == "each of 3 parts by time in turn"
    parts = costly.folds(3)
    for one in found.entries:
        assert one.score.transitions == costly.total
        assert one.score.counts.tolist() == [
            block.total for _, held in parts for block in held.blocks()
        ]
    assert found.counts.sum() == costly.total
    assert found["uniform"].score.bits == pytest.approx(-np.log2(5))
    for one in found.entries:
        assert one.score.bits == pytest.approx(found.counts @ one.logs / found.counts.sum())


def test_an_entry_is_the_score_of_a_fit_to_the_other_part(costly):
    seen, held = costly.split_time(0.5)
    mine = shoal.Model(FIVE, random_matrix(5, 1))
    found = shoal.compare(costly, {"mine": mine}, split="time:0.5", method="map")
    fit = mine.fit(seen, "map")
    one = found["mine"]
    assert found.entries[-1] is one
    assert np.allclose(one.score.sums, fit.score(held).sums)
    assert one.trained == pytest.approx(fit.score(seen).bits)
    assert one.costs
    assert one.converged
    assert found.gain("mine", "uniform") == one.score.minus(found["uniform"].score)
    given_apart = shoal.compare((seen, held), {"mine": mine}, method="map")
    assert given_apart.split == "given"
    assert given_apart["mine"].score.bits == one.score.bits
    with pytest.raises(
        shoal.InputError, match="no model 'yours' in this comparison; there are uni"
    ):
        found["yours"]


def test_parts_that_nobody_knows_the_times_of_may_be_given(costly):
    seen, held = costly.split_time(0.5)
    bare = [Transitions.from_matrix(part.matrix(), FIVE) for part in (seen, held)]
    found = shoal.compare(tuple(bare), method="map")
    assert found.best.score.independent
    assert found.best.score.transitions == held.total
    blocks = shoal.compare((bare[0], {"a": bare[1], "b": bare[0]}), method="map")
    assert blocks.best.score.counts.tolist() == [held.total, seen.total]


def groups(number=4):
    parts = {
        f"g{n}": walked(EVEN, FIVE, animals=3, frames=12, seed=n).records for n in range(number)
    }
    joined = [
        type(part)(
            *(part.origin, part.destination, part.group, part.individual, part.frame),
            groups=(name,),
            individuals=tuple((name, who) for _, who in part.individuals),
            facts={name: {"sex": "f" if name in ("g0", "g1") else "m"}},
        )
        for name, part in parts.items()
    ]
    one = type(joined[0]).joined(joined)
    return Transitions.from_codes(one.codes(5), FIVE, records=one)


@pytest.mark.parametrize(
    ("split", "words", "held"),
    [
        ("time", "the last 33% of the frames", [4 * 9]),
        ("time:", "the last 33% of the frames", [4 * 9]),
        ("time:1/2", "the last 50% of the frames", [4 * 15]),
        ("time:0.5", "the last 50% of the frames", [4 * 15]),
        ("group:0.75", "25% of the groups (1 of 4), drawn with seed 0", [33]),
        ("individual:0.5", "50% of the animals (6 of 12), drawn with seed 0", [6 * 11]),
        ("2-fold", "each of 2 parts by time in turn", [4 * 18, 4 * 15]),
        ("2-fold:group", "each of 2 parts by group in turn, drawn with seed 0", [66, 66]),
        (
            "3-fold:individual",
            "each of 3 parts by individual in turn, drawn with seed 0",
            [44, 44, 44],
        ),
        (
            "group:0.5:sex",
            "50% of the groups (2 of 4), drawn with seed 0, stratified by sex",
            [66],
        ),
        (
            "2-fold:group:sex",
            "each of 2 parts by group in turn, drawn with seed 0, stratified by sex",
            [66, 66],
        ),
        ("leave-one-group-out", "each group in turn", [33, 33, 33, 33]),
    ],
)
def test_splits_are_asked_for_by_word(split, words, held):
    parts, said = parts_of(groups(), split)
    assert said == words
    assert [part.total for _, part in parts] == held
    if "sex" in split:
        for _, part in parts:
            labels = part.records.groups
            assert sorted(part.records.facts[label]["sex"] for label in labels) == ["f", "m"]


def test_what_is_held_out_follows_the_seed():
    held = {parts_of(groups(), "group:0.5", seed)[0][0][1].records.groups for seed in range(9)}
    assert len(held) > 2


WRONG = {
    "no word": ("banana", "a split is time:SHARE, .*; got 'banana'"),
    "nothing": ("", "a split is time:SHARE"),
    "no folds": ("many-fold", "a split is time:SHARE"),
    "one fold": ("1-fold", "a whole number, 2 or more; got 1"),
    "folds without transitions": ("40-fold", "holds out none of 132 transitions"),
    "more folds than groups": ("5-fold:group", "leave fold 5 without transitions"),
    "all of it": ("time:1.5", "between 0 and 1, such as 2/3; got 1.5"),
    "no number": ("time:most", "'time:most': a share is a number below 1"),
    "no share": ("time:1/0", "'time:1/0': a share is a number below 1"),
    "too much": ("leave-one-group-out:3", "a split is time:SHARE"),
    "strata of each group": ("leave-one-group-out::sex", "a split is time:SHARE"),
    "strata of time": ("time:0.5:sex", "times have no strata"),
    "no such stratum": ("group:0.5:age", "no group has a covariate called 'age'; there is sex"),
    "no words at all": (0.7, "a split is in words, .*; got 0.7"),
}


@pytest.mark.parametrize("name", WRONG)
def test_splits_that_make_no_sense_are_refused_with_what_was_said(name):
    split, words = WRONG[name]
    with pytest.raises(shoal.InputError, match=words):
        shoal.compare(groups(), split=split)


def test_what_cannot_be_compared_is_refused(costly):
    counts = costly
    with pytest.raises(shoal.InputError, match=r"shoal.Model\(…\) by name; 'mine' is Uniform"):
        shoal.compare(counts, {"mine": shoal.Uniform()})
    with pytest.raises(shoal.InputError, match="count the parts apart"):
        shoal.compare(Transitions.from_matrix(counts.matrix(), FIVE))
    empty = shoal.count_transitions([[0]], FIVE)
    with pytest.raises(shoal.InputError, match="no transitions to score"):
        shoal.compare((counts, empty), method="map")
    with pytest.raises(shoal.InputError, match="no transitions to learn from"):
        shoal.compare((empty, counts), method="map")


WITHOUT = ("uniform", "Markov chain, smoothed", "paper's walk", "independent mixture")


@pytest.mark.parametrize("space", [CIRCLE, MIXED, CUBE, FOLDED, TORUS])
def test_every_baseline_is_in_the_ladder_with_the_same_dynamics_below_it(space):
    found = {one.name: one for one in ladder(space)}
    assert {*WITHOUT, "uniform + costs (maximum entropy)"} <= set(found)
    assert "paper's walk + bisquare costs (the paper)" in found
    for name in ("paper's walk + smooth costs", "independent mixture + smooth costs"):
        assert found[name].costs
        assert found[name].dynamics == name.split(" + ")[0]
        assert not found[found[name].dynamics].costs
    assert not couples(space), "nobody said what a turn does to these axes"
    counts = Transitions.from_pairs([0], [1], space)
    for one in found.values():
        assert isinstance(one.make(counts).basis, shoal.basis.Flat) is not one.costs


def test_turns_are_in_the_ladder_where_a_turn_is_known_to_move_angles():
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=8), shoal.states.Speed((0, 1, 2)))
    names = [one.name for one in ladder(space)]
    assert names[-2:] == ["turn-coupled", "turn-coupled + smooth costs"]
    assert couples(space)
    assert [one.name for one in ladder(FIVE)] == list(CHAINS)
    assert not couples(shoal.StateSpace(shoal.LocalMisalignment(bins=8, absolute=True)))
    four = shoal.StateSpace(*(shoal.Circular(name, bins=3) for name in "abcd"))
    assert not any("bisquare" in one.name for one in ladder(four))


def test_the_markov_chain_is_that_of_what_was_learned_from():
    counts = groups(2)
    chain = next(one for one in ladder(FIVE) if one.name.startswith("Markov"))
    assert chain.make(counts).passive.transitions is counts


def test_the_papers_walk_is_90_degrees_and_a_quarter_of_the_span():
    assert paper_walk(TORUS) == shoal.RandomWalk(90.0, "centre")
    assert paper_walk(MIXED) == shoal.RandomWalk((90.0, 1.5), "centre")
    assert paper_walk(CIRCLE, 40.0, "anywhere") == shoal.RandomWalk(40.0)


STEADY = np.array([-21.0, -20.0, -19.0, -20.0])
"""Bits in four blocks of ten transitions."""


def shown(change, wobble):
    """A walk, and the same with costs that change its bits, in blocks that disagree."""
    costs = STEADY + 10 * change + wobble * np.array([1.0, -1.0, 1.0, -1.0])
    return comparison(
        entry("walk", STEADY, costs=False, dynamics="walk"),
        entry("walk + costs", costs, dynamics="walk"),
    )


FEW = (
    " With 4 blocks the standard errors themselves are poorly known: hold out more groups or "
    "longer times."
)


def test_costs_that_gain_more_than_chance_pay():
    found = shown(0.5, 1.0)
    ((name, gain, error),) = found.costs_pay()
    assert (name, gain) == ("walk + costs", pytest.approx(0.5))
    assert error == pytest.approx(0.1 / np.sqrt(3))
    assert found.sentence() == (
        "Best on held-out transitions: walk + costs (−1.500 bits per transition), 0.500 ± "
        "0.058 better than walk. Corrected for choosing among two, it is better than the other. "
        "Its costs pay for themselves: 0.500 ± 0.058 bits per transition." + FEW
    )


def test_costs_that_lose_more_than_chance_are_worse_than_none():
    words = shown(-0.5, 1.0).sentence()
    assert words.startswith("Best on held-out transitions: walk (−2.000 bits")
    assert words.endswith(
        "Costs make it worse, by 0.500 ± 0.058 bits: they do not carry over to what was held out."
        + FEW
    )


@pytest.mark.parametrize(("change", "signed"), [(0.05, "0.050"), (-0.05, "−0.050")])
def test_within_errors_nothing_can_be_told(change, signed):
    words = shown(change, 1.0).sentence()
    assert "Corrected for choosing among two, it cannot be told from walk" in words
    assert f"cannot be told: costs change the score by {signed} ± 0.058 bits." in words


def test_without_errors_nothing_can_be_told_either():
    found = comparison(
        entry("walk", [-20.0], costs=False, dynamics="walk"),
        entry("walk + costs", [-10.0], dynamics="walk"),
    )
    assert "With one block to score on, it cannot be told from any other." in found.sentence()
    assert "prefer anything cannot be told" in found.sentence()
    assert found.contenders == (found["walk + costs"], found["walk"])


def test_models_without_a_twin_say_nothing_of_costs():
    found = comparison(entry("mine", STEADY + 9), entry("walk", STEADY, False, "walk"))
    assert found.costs_pay() == []
    assert found.sentence().endswith(
        "0.900 ± 0.000 better than walk. Corrected for choosing among two, it is better than the "
        "other." + FEW
    )
    assert comparison(entry("mine", STEADY)).sentence() == (
        "Best on held-out transitions: mine (−2.000 bits per transition)."
    )


def test_costs_are_set_against_the_same_dynamics_without_them():
    found = comparison(
        entry("uniform", STEADY - 10, costs=False, dynamics="uniform"),
        entry("walk", STEADY, costs=False, dynamics="walk"),
        entry("walk + costs", STEADY + 4, dynamics="walk"),
        entry("uniform + costs", STEADY - 8, dynamics="uniform"),
    )
    gains = {name: gain for name, gain, _ in found.costs_pay()}
    assert gains == {"walk + costs": pytest.approx(0.4), "uniform + costs": pytest.approx(0.2)}
    assert found.gain("walk", "uniform + costs")[0] == pytest.approx(0.8)


def test_a_table_has_a_row_for_each_model_and_one_is_best():
    rows = shown(0.5, 1.0).rows()
    assert [row["model"] for row in rows] == ["walk", "walk + costs"]
    assert [row["difference to the best"] for row in rows] == ["−0.500 ± 0.058", "best"]
    assert rows[0]["held out (bits)"] == "−2.000 ± 0.041"
    assert [row["stacking weight"] for row in rows] == ["0.00", "1.00"]
    assert repr(shown(0.5, 1.0)) == "Comparison(walk -2.000, walk + costs -1.500)"


def alike(models, blocks, seed, ahead=0.0, spread=1.0):
    """Models that are alike but for the first, in blocks that are hard or easy for all of them."""
    rng = np.random.default_rng(seed)
    sums = rng.normal(-20, 3, blocks) + rng.normal(0, spread, (models, blocks))
    sums[0] += ahead
    return sums


def test_of_two_models_the_corrected_p_value_is_that_of_students_t():
    for blocks in (4, 15, 200):
        sums = alike(2, blocks, seed=blocks, ahead=1.5 / np.sqrt(blocks))
        expected = ttest_rel(*sums).pvalue
        assert confidence_set(sums, np.full(blocks, 10.0)).min() == pytest.approx(
            expected, abs=0.03
        )


@pytest.mark.slow
def test_among_ten_models_that_are_alike_each_can_be_the_best():
    found = np.array([confidence_set(alike(10, 12, seed), np.full(12, 10.0)) for seed in range(60)])
    kept = (found >= 0.05).mean(axis=0)
    assert kept.mean() > 0.95
    single = ((found >= 0.05).sum(axis=1) == 1).mean()
    assert single <= 0.05, "none of them is said to be better than all others"


def test_a_model_that_is_better_than_all_others_is_the_only_one_left_whatever_its_place():
    sums = alike(10, 12, seed=1, ahead=8.0)
    order = np.random.default_rng(2).permutation(10)
    p = confidence_set(sums[order], np.full(12, 10.0))
    assert np.flatnonzero(p >= 0.05).tolist() == [int(np.argmin(order))]
    impossible = np.vstack([sums, np.full(12, -np.inf)])
    assert confidence_set(impossible, np.full(12, 10.0))[-1] == 0.0


def test_chance_among_many_is_more_than_chance_between_two():
    blocks, rng = 12, np.random.default_rng(3)
    first = alike(2, blocks, seed=5, ahead=1.1)
    two = confidence_set(first, np.full(blocks, 10.0)).min()
    many = np.vstack([first, first.mean(axis=0) + rng.normal(0, 1, (8, blocks))])
    assert two < 0.05 < confidence_set(many, np.full(blocks, 10.0))[1]


def test_the_simplest_that_is_not_clearly_worse_is_named():
    sums = alike(3, 12, seed=4, spread=0.5)
    sums[2] -= 30
    rich, plain, poor = (
        replace(entry(name, row, dynamics=name), unknowns=n)
        for name, row, n in zip(("rich", "plain", "poor"), sums, (300, 6, 0), strict=True)
    )
    found = comparison(rich, plain, poor)
    assert {one.name for one in found.contenders} == {"rich", "plain"}
    assert found.simplest is plain
    best, other = (rich, plain) if found.best is rich else (plain, rich)
    words = found.sentence()
    assert (
        f"Corrected for choosing among three, it is better than one of the others but cannot be "
        f"told from {other.name}." in words
    )
    named = (
        "The simplest that is not clearly worse is plain (unknowns: 6 instead of 300)."
        if best is rich
        else "It is itself the simplest that is not clearly worse."
    )
    assert named in words
    assert [row["can be the best"] for row in found.rows()] == ["yes", "yes", "no"]


DOUBTS = {
    "k̂ 0.93": {"pareto_k": 0.93},
    "worth 12 draws": {"importance_ess": 12.0},
    "R-hat 1.023": {"r_hat": 1.023, "method": "nuts"},
    "150 effective draws": {"effective_draws": 150.0, "method": "nuts"},
    "2 divergences": {"divergences": 2, "method": "nuts"},
    "not converged": {"converged": False},
}


@pytest.mark.parametrize("words", DOUBTS)
def test_fits_that_fail_are_marked_in_the_table_the_sentence_and_the_figure(words):
    good = entry("walk", STEADY, costs=False, dynamics="walk")
    bad = replace(entry("walk + costs", STEADY + 5, dynamics="walk"), **DOUBTS[words])
    found = comparison(good, bad)
    assert [row["warning"] for row in found.rows()] == ["", words]
    said = found.sentence()
    assert "This verdict is not safe: one of the two fits cannot be trusted" in said
    assert f"walk + costs ({words}); run again with" in said
    advice = "--draws 1000" if bad.method == "nuts" else "--method nuts"
    assert advice in said
    labels = [text.get_text() for text in score_figure(found).axes[0].get_yticklabels()]
    assert sorted(labels) == ["walk", f"walk + costs\n({words}: not safe)"]
    worse = replace(bad, score=replace(bad.score, sums=STEADY - 50))
    assert "Warning: one of the two fits" in comparison(good, worse).sentence()
    assert "warning" not in comparison(good).rows()[0]


def test_fits_that_are_fine_are_not_marked():
    fine = {"pareto_k": 0.7, "importance_ess": 400.0, "r_hat": 1.01, "effective_draws": 400.0}
    assert replace(entry("walk", STEADY), **fine).doubts == ()


def test_folds_by_something_else_are_refused_before_they_are_asked_for():
    with pytest.raises(shoal.InputError, match="3-fold:colour"):
        parts_of(groups(2), "3-fold:colour")


def test_the_costs_that_pay_are_those_of_the_best_model():
    found = comparison(
        entry("walk", STEADY, costs=False, dynamics="walk"),
        entry("walk + fine costs", STEADY + 5, dynamics="walk"),
        entry("walk + poor costs", STEADY + 1, dynamics="walk"),
    )
    assert "Its costs pay for themselves: 0.500 ± 0.000" in found.sentence()


def test_two_models_of_one_name_are_refused(costly):
    with pytest.raises(shoal.InputError, match="uniform"):
        shoal.compare(costly, {"uniform": shoal.Model(FIVE, EVEN)}, split="time:0.5", method="map")


def test_a_model_of_the_users_without_costs_is_one_without_costs(costly):
    flat = shoal.Model(FIVE, shoal.Uniform(), shoal.basis.Flat())
    assert not shoal.compare(costly, {"flat": flat}, split="time:0.5", method="map")["flat"].costs


def test_what_was_not_counted_is_refused_in_words():
    with pytest.raises(shoal.InputError, match="count_transitions"):
        shoal.compare([[0, 1, 2]])


def test_models_without_costs_are_fitted_by_laplace_without_warnings(costly):
    fit = shoal.Model(FIVE, shoal.Uniform(), shoal.basis.Flat()).fit(costly, "laplace", draws=50)
    assert fit.score(costly).bits == pytest.approx(-np.log2(5))
