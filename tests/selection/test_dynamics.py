"""Passive dynamics and lags that the tracks speak for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shoal
from handmade import turning_space, walked
from registries import CIRCLE, FOLDED, NUMBERED
from shoal.posterior import Score
from shoal.selection import dynamics as choosing
from shoal.selection.dynamics import LAGS, candidates_on, choose_lag, choose_passive, split_of
from shoal.states import Transitions
from shoal.states.recipe import Counting

FIVE = shoal.StateSpace.discrete(5)
EVEN = np.full((5, 5), 0.2)


def silent(*words):
    """No report."""


def moved(operator, space, animals=40, frames=60, seed=1):
    """Transitions of animals without preferences."""
    key = jax.random.key(seed)
    states = [np.random.default_rng(seed).integers(0, space.size, animals)]
    for one in jax.random.split(key, frames - 1):
        states.append(np.asarray(operator.sample(one, jnp.asarray(states[-1]))))
    return shoal.count_transitions(list(np.stack(states, axis=1)), space)


@pytest.mark.slow
def test_the_dynamics_that_moved_the_animals_are_chosen(monkeypatch):
    space, reports = turning_space(), []
    few = ("the paper's walk", "turn-coupled")  # to compile less
    monkeypatch.setattr(choosing, "candidates_on", lambda s: {n: candidates_on(s)[n] for n in few})
    turns = shoal.TurnCoupled(spread=20.0, noise=4.0, tails=0.5, follow=1.0).on(space)
    chosen = choose_passive(moved(turns, space), lambda *words: reports.append(words))
    assert chosen.passive == shoal.TurnCoupled()
    assert chosen.sentence.startswith("turn-coupled: −")
    assert "of the frames, scored on the rest" in chosen.sentence
    gap, error = chosen.scores["turn-coupled"].minus(chosen.scores["the paper's walk"])
    assert gap > 5 * error
    assert f"{gap:.3f} ± {error:.3f} better than the paper's walk" in chosen.sentence
    assert reports[-1] == ("choosing passive dynamics", 2, 2)
    wide = choose_passive(moved(shoal.RandomWalk(90.0, "centre").on(space), space), silent)
    gap, error = wide.scores["turn-coupled"].minus(wide.scores["the paper's walk"])
    assert gap < 2 * error, "independent angles are not taken for turns"
    assert wide.passive == shoal.RandomWalk(90.0, "centre")


def test_few_transitions_choose_nothing():
    space = turning_space()
    chosen = choose_passive(shoal.count_transitions([[0, 9, 18] * 10], space), silent)
    assert chosen.passive == shoal.RandomWalk((shoal.passive.Unknown(20.0, 4.0),) * 2)
    assert chosen.sentence == "a walk of learned sd: 29 transitions are too few to hold some out"
    assert chosen.scores == {}


def test_counts_without_records_need_a_name():
    counts = Transitions.from_matrix(np.full((5, 5), 100), FIVE)
    with pytest.raises(shoal.InputError, match="--passive auto needs tracks in memory"):
        choose_passive(counts, silent)


def test_numbers_of_states_have_uniform_dynamics():
    counts = walked(EVEN, FIVE, animals=10, frames=40)
    chosen = choose_passive(counts, silent)
    assert chosen.passive == shoal.Uniform()
    assert chosen.scores["uniform"].bits == pytest.approx(-np.log2(5))


@pytest.mark.parametrize("space", [CIRCLE, FOLDED])
def test_candidates_go_from_knowing_nothing_to_the_most_general(space):
    found = candidates_on(space)
    assert list(found) == [
        *("uniform", "the paper's walk", "a walk of learned sd", "a walk of two learned sds")
    ]
    learned = [shoal.Model(space, passive).family.count for passive in found.values()]
    assert learned == [0, 0, len(space.axes), 3 * len(space.axes)]
    assert list(candidates_on(turning_space()))[-1] == "turn-coupled"


def test_whole_groups_are_held_out_where_there_are_three():
    def tracks(number):
        rng = np.random.default_rng(number)
        steps = np.cumsum(rng.normal(size=(20, 2, 2)), axis=0)
        return shoal.Tracks.from_arrays(steps, fps=10.0, group=f"g{number}")

    space = shoal.StateSpace(shoal.states.TurningAngle(bins=4))
    for number, split in ((1, "time:0.67"), (2, "time:0.67"), (3, "group:0.67")):
        together = shoal.Collection([tracks(n) for n in range(number)])
        assert split_of(shoal.count_transitions(together, space)) == split
    assert split_of(Transitions.from_matrix(np.eye(15, dtype=int), NUMBERED)) == "time:0.67"


class Told:
    """A model whose costs gain so many bits per transition, and how unsurely, at each lag."""

    def __init__(self, gains):
        self.gains = gains

    def __call__(self, space, passive, basis):
        costs = not isinstance(basis, shoal.basis.Flat)

        class Fitted:
            def fit(inner, seen, method, progress):  # noqa: N805
                inner.lag = seen.lag
                return inner

            def score(inner, held):  # noqa: N805
                gain, wobble = self.gains[inner.lag] if costs else (0.0, 0.0)
                sums = -20.0 + 10 * gain + 10 * wobble * np.array([1.0, -1.0, 1.0, -1.0])
                return Score(sums, np.full(4, 10.0))

        return Fitted()


def counting(frames=300, animals=20):
    """Counts at any lag of animals that go anywhere."""
    states = np.random.default_rng(1).integers(0, 5, (animals, frames))
    return lambda lag: shoal.count_transitions(list(states), FIVE, lag=lag)


def test_the_lag_is_chosen_at_which_costs_gain_most_per_second(monkeypatch):
    gains = {1: (0.1, 0.01), 2: (0.5, 0.01), 3: (0.6, 0.01), 5: (9.0, 9.0)} | dict.fromkeys(
        (8, 13, 21), (0.7, 0.01)
    )
    monkeypatch.setattr(choosing, "Model", Told(gains))
    reports = []
    found = choose_lag(counting(), 10.0, lambda *words: reports.append(words))
    # 1, 2.5, 2 and 18 ± 10 bits per second: the last could be chance
    assert found.lag == 2
    assert "they gain most there, 2.50 ± 0.03 bits per second" in found.sentence
    assert [row["lag (frames)"] for row in found.rows] == [str(lag) for lag in LAGS]
    assert found.rows[1]["lag (s)"] == "0.2"
    assert found.rows[1]["gain"] == "0.500 ± 0.006"
    assert found.rows[1]["gain per s"] == "2.500 ± 0.029"
    assert found.rows[1]["passive (bits)"] == "−2.000"
    assert found.rows[1]["with costs (bits)"] == "−1.500"
    assert reports[-1] == ("comparing lags", len(LAGS), len(LAGS))
    frames = choose_lag(counting(), None, silent)
    assert "they gain most there, 0.25 ± 0.00 bits per frame" in frames.sentence


def test_where_costs_gain_nothing_for_sure_the_lag_is_one(monkeypatch):
    monkeypatch.setattr(choosing, "Model", Told(dict.fromkeys(LAGS, (0.1, 0.2))))
    found = choose_lag(counting(), 10.0, silent)
    assert found.lag == 1
    assert "at no lag do costs gain more than two standard errors" in found.sentence
    monkeypatch.setattr(choosing, "Model", Told(dict.fromkeys(LAGS, (-0.5, 0.01))))
    assert choose_lag(counting(), 10.0, silent).lag == 1


def test_lags_end_where_transitions_are_too_few(monkeypatch):
    monkeypatch.setattr(choosing, "Model", Told({lag: (0.5 * lag**2, 0.01) for lag in LAGS}))
    found = choose_lag(counting(frames=25, animals=40), 10.0, silent)
    # 40 × ⌊24 / lag⌋ transitions: 320 at a lag of 3, 160 at 5
    assert [int(row["lag (frames)"]) for row in found.rows] == [1, 2, 3]
    assert found.lag == 3


def test_tracks_without_any_transition_are_refused_in_words():
    def none(lag):
        raise shoal.InputError("nothing moves")

    with pytest.raises(shoal.InputError, match="nothing moves"):
        choose_lag(none, 10.0, silent)


def test_lags_end_where_nothing_can_be_held_out(monkeypatch):
    monkeypatch.setattr(choosing, "Model", Told({lag: (0.5 * lag**2, 0.01) for lag in LAGS}))
    found = choose_lag(counting(frames=20, animals=80), 10.0, silent)
    assert found.lag >= 5


def test_animals_seen_twice_are_too_few_frames_to_hold_some_out():
    states = np.random.default_rng(1).integers(0, 5, (300, 2))
    counts = shoal.count_transitions(list(states), FIVE)
    assert choose_passive(counts, silent).passive == shoal.Uniform()


def test_one_group_held_out_has_no_error_to_speak_of(monkeypatch):
    few = ("uniform", "the paper's walk")
    space = CIRCLE
    monkeypatch.setattr(choosing, "candidates_on", lambda s: {n: candidates_on(s)[n] for n in few})
    rng = np.random.default_rng(1)
    steps = [np.cumsum(rng.integers(-1, 2, 400)) % space.size for _ in range(3)]
    counts = Transitions.summed([shoal.count_transitions([run], space) for run in steps], space)
    monkeypatch.setattr(Score, "minus", lambda *_: (0.4, float("nan")))
    sentence = choose_passive(counts, silent).sentence
    assert "0.400 better than" in sentence and "nan" not in sentence


def told(space, gaps, error):
    """Scores whose differences to the first have this standard error, in blocks of ten."""
    wobble = error * 2 * np.sqrt(3) / 2 * np.array([1.0, -1.0, 1.0, -1.0])
    return {
        name: Score(10 * (-2.0 - gap + wobble * bool(place)), np.full(4, 10.0))
        for place, (name, gap) in enumerate(gaps.items())
    }


@pytest.mark.parametrize(
    ("gaps", "error", "chosen"),
    [
        ({"turn-coupled": 0.0, "a walk of learned sd": 0.007}, 0.011, "a walk of learned sd"),
        ({"turn-coupled": 0.0, "a walk of learned sd": 0.5}, 0.011, "turn-coupled"),
        ({"turn-coupled": 0.0, "the paper's walk": 0.001}, 0.011, "turn-coupled"),
        ({"the paper's walk": 0.0, "a walk of learned sd": 0.001}, 0.011, "the paper's walk"),
    ],
)
def test_of_dynamics_that_score_alike_the_simplest_is_taken(gaps, error, chosen):
    space = turning_space()
    scores, candidates = told(space, gaps, error), candidates_on(space)
    passive, sentence = choosing._simplest(candidates, scores, space, "the first frames")
    assert passive == candidates[chosen]
    assert sentence.startswith(f"{chosen}: ")
    best = next(iter(gaps))
    assert ("that could be chance" in sentence) == (chosen != best)


def turning(sd, seed=1, frames=800):
    """Five animals that turn by so much a frame, each for itself."""
    rng = np.random.default_rng(seed)
    heading = np.deg2rad(np.cumsum(rng.normal(0, sd, (frames, 5)), axis=0))
    steps = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    return shoal.Tracks.from_arrays(np.cumsum(steps, axis=0), fps=10.0)


def test_frames_are_left_out_until_angles_move_by_half_a_bin():
    space = shoal.StateSpace(shoal.LocalMisalignment(include_self=False))
    recipe = Counting(space)
    slow = turning(3.0, frames=3000)
    found = choosing.choose_thinning([slow], recipe)
    before = LAGS[LAGS.index(found.every) - 1]
    width = space.axes[0].widths[0]
    for every, least, most in ((found.every, 0.5, 2.0), (before, 0.0, 0.5)):
        x = space.parts[0].values(recipe.scene(slow.thin(every)))
        change = np.abs((np.diff(x, axis=0) + 180) % 360 - 180)
        assert least <= np.nanmedian(change) / width < most
    assert found.sentence.startswith(f"1 in {found.every}: ")
    fast = choosing.choose_thinning([turning(20.0)], recipe)
    assert (fast.every, fast.sentence) == (1, "")
    short = choosing.choose_thinning([turning(3.0, frames=60)], recipe)
    assert short.every == 1, "too few would be left"
