"""Decisions read off tracks, beside plain loops and beside what a simulation decided."""

import numpy as np
import pytest

import shoal
from shoal.simulation.designs import Scenario
from shoal.simulation.groups import simulated
from shoal.system.progress import silent

ARENA = shoal.tracks.Rectangle(-5.0, -5.0, 5.0, 5.0)


def wandering(seed=1, frames=8, animals=4, step=0.3):
    rng = np.random.default_rng(seed)
    angle = np.cumsum(rng.normal(0, 0.6, (frames, animals)), axis=0)
    length = step * rng.gamma(4.0, 0.25, (frames, animals))
    moved = length[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    return rng.normal(0, 1, (animals, 2)) + np.cumsum(moved, axis=0)


def tracks_of(places, **more):
    names = [f"a{n}" for n in range(places.shape[1])]
    return shoal.Tracks.from_arrays(places, individuals=names, fps=2.0, **more)


FEATURES = {
    "local": shoal.LocalMisalignment(include_self=False),
    "local with self": shoal.LocalMisalignment(),
    "local near": shoal.LocalMisalignment(radius=2.5, include_self=False),
    "local nearest": shoal.LocalMisalignment(nearest=1, include_self=False),
    "target": shoal.TargetMisalignment((0.5, 0.3)),
    "another animal": shoal.TargetMisalignment("a1"),
    "neighbour bearing": shoal.Bearing(),
    "centroid bearing": shoal.Bearing("centroid"),
    "neighbour distance": shoal.Distance(np.linspace(0, 6, 25)),
    "centroid distance": shoal.Distance(np.linspace(0, 6, 25), "centroid"),
    "target distance": shoal.states.TargetDistance((0.5, 0.3), np.linspace(0, 8, 33)),
    "wall distance": shoal.states.WallDistance(np.linspace(0, 5, 21), arena=ARENA),
    "neighbours": shoal.states.NeighboursWithin(2.0),
}


def alone_moved(feature, places, headings, animal, place, heading):
    """The feature of one animal in a frame where it alone is elsewhere, by ``values``."""
    moved, turned = places.copy(), headings.copy()
    moved[animal], turned[animal] = place, heading
    names = tuple(f"a{n}" for n in range(len(places)))
    scene = shoal.states.Scene(
        moved[None], turned[None], 2.0, "", {n: places[None, i] for i, n in enumerate(names)},
        None, names,
    )  # fmt: skip
    return feature.values(scene)[0, animal]


@pytest.mark.parametrize("others", ["still", "ahead"])
@pytest.mark.parametrize("name", [name for name in FEATURES if name != "local with self"])
def test_every_candidate_step_leads_where_moving_one_animal_alone_leads(name, others):
    feature, places = FEATURES[name], wandering()
    space = shoal.StateSpace(feature)
    found = shoal.decisions(tracks_of(places), space, shoal.Steps(candidates=8, others=others))
    assert found.total
    for row in range(0, found.total, 3):
        one = slice(row, row + 1)
        t, animal = found.records.frame[row], found.records.individual[row]
        animal = int(found.records.individuals[animal][1][1:])
        back = places[t] - places[t - 1]
        headings = np.rad2deg(np.arctan2(back[:, 1], back[:, 0]))
        seen = places[t] + (back if others == "ahead" else 0.0)
        turns = found.quadrature.turns(found.turn_before[one], found.which[one])[0]
        own, before = found.pace[row], np.log(found.step_before[one] / found.pace[one])
        steps = own * found.quadrature.step_lengths(before, found.which[one])[0]
        moves = [(found.turn[row], found.step[row]), *zip(turns, steps, strict=True)]
        for k, (turn, step) in enumerate(moves):
            heading = headings[animal] + turn
            angle = np.deg2rad(heading)
            place = places[t, animal] + step * np.array([np.cos(angle), np.sin(angle)])
            value = alone_moved(feature, seen, headings, animal, place, heading)
            axis = space.axes[0]
            if isinstance(axis, shoal.states.Interval):
                value = np.clip(value, axis.edges[0], axis.edges[-1])
            leads = space if k == 0 else found.places  # candidates lead to narrower bins
            state = int(leads.axes[0].locate(np.array([value]))[0])
            if k == 0:
                assert found.records.destination[row] == state
                np.testing.assert_allclose(places[t + 1, animal], place, atol=1e-12)
            elif state >= 0:
                assert found.states[row, k - 1] == state
            else:
                assert found.possible is not None and not found.possible[row, k - 1]


@pytest.mark.parametrize(
    "name", ["local", "local with self", "local near", "target", "neighbour bearing"]
)
def test_a_turn_takes_as_much_off_an_angle(name):
    feature, places = FEATURES[name], wandering(seed=2)
    tracks = tracks_of(places)
    found = shoal.decisions(tracks, shoal.StateSpace(feature), shoal.Turns(candidates=8))
    headings = shoal.tracks.headings(places)
    for row in range(found.total):
        t, animal = found.records.frame[row], found.records.individual[row]
        turn = (headings[t + 1, animal] - headings[t, animal] + 180) % 360 - 180
        np.testing.assert_allclose(found.turn[row], turn, atol=1e-9)
        now = feature.values(shoal.states.Scene.of(tracks))[t, animal]
        np.testing.assert_allclose(found.perceived[row], now, atol=1e-9)
        after = (now - turn + 180) % 360 - 180
        np.testing.assert_allclose(found.decided[row], after, atol=1e-9)
        ends = (now - found.quadrature.turn[:, 0] + 180) % 360 - 180
        assert np.array_equal(found.states[row], feature.axis.locate(ends))


def test_speeds_and_turning_angles_are_those_of_the_move():
    space = shoal.StateSpace(
        shoal.states.Speed(np.linspace(0, 3, 13), beyond=True), shoal.states.TurningAngle()
    )
    places = wandering(frames=12)
    found = shoal.decisions(tracks_of(places), space, shoal.Steps())
    np.testing.assert_allclose(found.decided[:, 0], found.step * 2.0)
    np.testing.assert_allclose(found.decided[:, 1], found.turn)


def test_a_relative_speed_is_that_of_the_move_over_the_last_steps_of_the_others():
    space = shoal.StateSpace(shoal.states.RelativeSpeed(np.linspace(0, 3, 13), beyond=True))
    places = wandering(frames=12)
    found = shoal.decisions(tracks_of(places), space, shoal.Steps())
    steps = np.hypot(*np.moveaxis(np.diff(places, axis=0), 2, 0))  # steps[t] ends in frame t + 1
    for row in range(found.total):
        t, animal = found.records.frame[row], found.records.individual[row]
        usual = np.delete(steps[t - 1], animal).mean()
        assert found.perceived[row, 0] == pytest.approx(steps[t - 1, animal] / usual)
        assert found.decided[row, 0] == pytest.approx(steps[t, animal] / usual)


STEPS_SPACE = shoal.StateSpace(
    shoal.LocalMisalignment(include_self=False, bins=12),
    shoal.Distance(np.linspace(0, 2, 9), beyond=True),
    shoal.Bearing(bins=12),
)


def wanted():
    a, distance, b = np.meshgrid(*[axis.centres for axis in STEPS_SPACE.axes], indexing="ij")
    near = (distance - 0.7) ** 2
    return 0.6 * (1 - np.cos(np.deg2rad(a))) + near + 0.3 * (1 - np.cos(np.deg2rad(b)))


PASSIVE_STEPS = shoal.Steps(spread=8.0, typical=0.1, variation=0.3, follow=0.5)


@pytest.mark.parametrize("arena", [None, shoal.tracks.Rectangle(-1.0, -1.0, 1.0, 1.0)])
@pytest.mark.parametrize("others", ["still", "ahead"])
def test_steps_read_off_simulated_tracks_are_those_the_simulation_chose(arena, others):
    passive = shoal.Steps(spread=8.0, typical=0.1, variation=0.3, follow=0.5, others=others)
    (made,) = simulated(
        wanted(), Scenario(60, 0.1, arena), shoal.Release(5, (0.0, 0.0), 0.7), 1,
        report=silent, space=STEPS_SPACE, passive=passive, decisions=True,
    )  # fmt: skip
    tracks = shoal.Tracks.from_arrays(made.positions, arena=arena)
    found = shoal.decisions(tracks, STEPS_SPACE, shoal.Steps(others=others))
    frame, animal = found.records.frame, found.records.individual
    assert found.total == 59 * 5
    assert np.array_equal(found.records.origin, made.origin[frame, animal])
    assert np.array_equal(found.records.destination, made.destination[frame, animal])
    if arena is not None:
        assert arena.holds(made.positions).all()


def test_relative_speeds_read_off_simulated_tracks_are_those_the_simulation_chose():
    space = shoal.StateSpace(
        shoal.states.RelativeSpeed(np.linspace(0, 2, 9), beyond=True),
        shoal.LocalMisalignment(bins=12),
    )
    costs = 3.0 * np.abs(space.axes[0].centres - 1.0)[:, None] + np.zeros(space.shape)
    passive = shoal.Steps(spread=8.0, typical=0.1, variation=0.5, follow=0.5)
    (made,) = simulated(
        costs, Scenario(60, 0.1, None), shoal.Release(5, (0.0, 0.0), 0.7), 1,
        report=silent, space=space, passive=passive, decisions=True,
    )  # fmt: skip
    found = shoal.decisions(shoal.Tracks.from_arrays(made.positions), space, shoal.Steps())
    frame, animal = found.records.frame, found.records.individual
    assert found.total == 59 * 5
    assert np.array_equal(found.records.origin, made.origin[frame, animal])
    assert np.array_equal(found.records.destination, made.destination[frame, animal])
    fit = shoal.Model(space, shoal.Steps(), shoal.Smooth()).fit(found, "map")
    speeds = fit.cost_to_go.values.mean(axis=(0, 1, 3))
    assert 2 <= np.argmin(speeds) <= 5  # the truth has its least between bins 3 and 4


def test_turns_read_off_simulated_tracks_are_those_the_simulation_chose():
    space = shoal.StateSpace(
        shoal.LocalMisalignment(include_self=False), shoal.TargetMisalignment((0.5, 0.5))
    )
    costs = np.zeros(space.shape) + 1 - np.cos(np.deg2rad(space.axes[0].centres))[:, None]
    arena = shoal.tracks.Rectangle(0.0, 0.0, 1.0, 1.0)
    (made,) = simulated(
        costs, Scenario(80, 0.02, arena), shoal.Release(6, (0.5, 0.5), 0.3), 1, report=silent,
        space=space, passive=shoal.Turns(spread=6.0), decisions=True,
    )  # fmt: skip
    tracks = shoal.Tracks.from_arrays(made.positions, heading=made.headings, arena=arena)
    found = shoal.decisions(tracks, space, shoal.Turns(), tracker_headings=True)
    frame, animal = found.records.frame, found.records.individual
    assert np.array_equal(found.records.origin, made.origin[frame, animal])
    assert np.array_equal(found.records.destination, made.destination[frame, animal])
    touched = found.dropped["at a wall"]
    assert 0 < touched < 100 and found.total + touched == 80 * 6


def test_the_papers_flock_decided_what_its_tracks_say():
    space = shoal.StateSpace(shoal.Circular("local_misalignment", 36))
    cost = 2.0 * (np.abs(space.axes[0].centres) > 5)
    flock = shoal.paper.simulate_spp(
        shoal.solve(shoal.TurningMixture().on(space), cost), agents=40, steps=20, seed=1
    )
    moves = shoal.Turns(tuple(range(-60, 61, 10)), spread=10.0, every=10.0)
    found = shoal.decisions(flock.tracks, flock.space, moves, tracker_headings=True)
    assert np.array_equal(found.arrivals, flock.decided.arrivals)
    assert np.array_equal(found.departures, flock.decided.departures)


def test_rest_and_gaps_are_no_decisions():
    places = wandering(frames=12, animals=2)
    places[6:, 0] = places[6, 0]  # animal 0 rests from frame 6 on
    places[4, 1] = np.nan
    space = shoal.StateSpace(shoal.TargetMisalignment((3.0, 3.0)))
    found = shoal.decisions(tracks_of(places), space, shoal.Steps())
    frames = {n: found.records.frame[found.records.individual == n].tolist() for n in (0, 1)}
    assert frames[0] == [1, 2, 3, 4, 5]
    assert frames[1] == [1, 2, 6, 7, 8, 9, 10]
    assert found.dropped["resting"] == 5
    turned = shoal.decisions(tracks_of(places), space, shoal.Turns())
    frames = {n: turned.records.frame[turned.records.individual == n].tolist() for n in (0, 1)}
    assert frames[0] == [0, 1, 2, 3, 4]
    assert frames[1] == [0, 1, 5, 6, 7, 8, 9]


def test_blocks_and_splits_cut_every_column():
    found = shoal.decisions(
        [tracks_of(wandering(seed, 30), group=f"g{seed}") for seed in range(3)],
        STEPS_SPACE,
        shoal.Steps(),
    )
    earlier, later = found.split_time(0.5)
    assert earlier.records.frame.max() < later.records.frame.min()
    one, rest = found.split_groups(["g1"])
    assert one.total + rest.total == found.total and set(one.records.groups) == {"g1"}
    assert sum(block.total for block in found.blocks()) == found.total
    for part in (earlier, later, one, rest):
        sizes = {len(getattr(part, name)) for name in ("turn", "step", "states", "perceived")}
        assert sizes == {part.total}


@pytest.mark.parametrize(
    ("space", "moves", "places", "words"),
    [
        (shoal.StateSpace(shoal.Distance((0, 1, 9))), shoal.Turns(), wandering(), "a turn changes"),
        (STEPS_SPACE, shoal.Steps(), wandering(frames=2), "needs three"),
        (STEPS_SPACE, shoal.Turns(), wandering(frames=1), "needs two"),
        (STEPS_SPACE, shoal.Turns(every=10.0), wandering(), "is not a multiple of 10°"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(space, moves, places, words):
    with pytest.raises(shoal.InputError, match=words) as raised:
        shoal.decisions(tracks_of(places), space, moves)
    assert "\n" not in str(raised.value)


def test_bins_that_no_move_leaves_are_said_in_one_line():
    space = shoal.StateSpace(shoal.states.TargetDistance((0.0, 0.0), (0, 1e6, 2e6)))
    with pytest.raises(shoal.InputError, match="no move leads to another state of target_distance"):
        shoal.decisions(tracks_of(wandering()), space, shoal.Steps())


@pytest.mark.parametrize("units", [("cm", "m"), ("cm", "")])
def test_steps_in_several_units_are_refused(units):
    groups = [
        tracks_of(wandering(n, 20), group=f"g{n}", length_unit=unit) for n, unit in enumerate(units)
    ]
    with pytest.raises(shoal.InputError, match="different units of length"):
        shoal.decisions(groups, STEPS_SPACE, shoal.Steps())
    assert shoal.decisions(groups, STEPS_SPACE, shoal.Turns()).total


def test_one_step_length_repeated_is_no_choice():
    rng = np.random.default_rng(1)
    angle = np.cumsum(rng.normal(0, 0.5, (20, 3)), axis=0)
    places = np.cumsum(np.stack([np.cos(angle), np.sin(angle)], axis=-1), axis=0)
    with pytest.raises(shoal.InputError, match=r"read with shoal.Turns\(\)"):
        shoal.decisions(tracks_of(places), STEPS_SPACE, shoal.Steps())


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: shoal.Turns("gaussian"),
        lambda: shoal.Turns(persistence=1.5),
        lambda: shoal.Turns(every=7.0),
        lambda: shoal.Turns(candidates=2),
        lambda: shoal.Turns(()),
        lambda: shoal.Turns(bias=200.0),
        lambda: shoal.Turns(bias="left"),
        lambda: shoal.moves.EmpiricalMoves((0, 1), (0, 0)),
        lambda: shoal.moves.EmpiricalMoves((1, 0), (1, 1)),
        lambda: shoal.Steps(step=shoal.moves.EmpiricalMoves((-1, 1), (1, 1))),
        lambda: shoal.Steps(step="normal"),
        lambda: shoal.Steps(others="running"),
        lambda: shoal.Steps(every=10.0),
    ],
)
def test_wrong_words_for_moves_are_refused(wrong):
    with pytest.raises(shoal.InputError):
        wrong()
