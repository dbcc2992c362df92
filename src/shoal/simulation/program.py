"""Groups in motion: one program for all of them, the same on any device.

A group's moment is (x_t, θ_t). As in eq. vicsek, every animal moves along θ_t to x_{t+1}, and has
meanwhile decided by what it saw at t on the turn to θ_{t+1}. The state that it saw is therefore the
one that ``count_transitions`` and ``decisions`` read off the tracks at t.

Where an animal chooses its step as well, θ_t is the direction in which it came to x_t; it turns
first, and moves along θ_{t+1} to x_{t+1}.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from shoal.simulation.behaviour import Behaviour, View
from shoal.simulation.walls import moved
from shoal.tracks import Arena, shortest


@dataclass(frozen=True)
class Setting:
    """What is the same for all groups of a batch.

    Attributes
    ----------
    group
        The label, where all groups of the batch have one.
    walls
        ``"reflect"`` or ``"slide"``.
    stop
        ``"one"`` or ``"all"``: a group ends when one of its members, or all, reached the target;
        ``""``: it goes on.
    decisions
        Whether states and decisions are recorded, too.
    steps
        Whether animals choose how far they go.
    """

    members: tuple[str, ...]
    fps: float | None
    arena: Arena | None
    group: str = ""
    walls: str = "reflect"
    stop: str = ""
    decisions: bool = False
    steps: bool = False


class Batch(eqx.Module):
    """What differs from group to group: where they start, how far they move.

    Attributes
    ----------
    lengths
        The distance that each animal moves in each frame.
    pace
        The typical one of these distances, of each animal.
    places
        Where landmarks are in each frame, by name.
    goal, reach
        The target that ends a simulation and how near is there.
    number
        Of each group among all.
    stamp, replicate
        What its random numbers are made from.
    last
        The steps of the longest group: the program ends there, or when all groups ended.
    """

    positions: Float[Array, "groups individuals 2"]
    headings: Float[Array, "groups individuals"]
    lengths: Float[Array, "steps groups individuals"]
    pace: Float[Array, "groups individuals"]
    places: dict[str, Float[Array, "steps groups 2"]]
    goal: Float[Array, "groups 2"]
    reach: Float[Array, " groups"]
    number: Int[Array, " groups"]
    stamp: Int[Array, " groups"]
    replicate: Int[Array, " groups"]
    last: Int[Array, ""]


class Run(NamedTuple):
    """What came out, frame by frame; ``going`` says which frames came before the end.

    States and decisions are there if they were asked for; ``stateless`` counts the animals that
    had no state in a step.
    """

    positions: Float[Array, "moments groups individuals 2"]
    headings: Float[Array, "moments groups individuals"]
    going: Bool[Array, "moments groups"]
    stateless: Int[Array, "moments groups"]
    origin: Int[Array, "moments groups individuals"] | None
    destination: Int[Array, "moments groups individuals"] | None


class Moment(NamedTuple):
    """A group between two steps: where it is, whether it still goes on, and its last decisions."""

    positions: Float[Array, "individuals 2"]
    headings: Float[Array, " individuals"]
    turned: Float[Array, " individuals"]
    stepped: Float[Array, " individuals"]
    going: Bool[Array, ""]
    counted: Bool[Array, ""]
    stateless: Int[Array, ""]
    origin: Int[Array, " individuals"]
    destination: Int[Array, " individuals"]


@partial(jax.jit, static_argnames="setting")
def run_groups(behaviour: Behaviour, setting: Setting, batch: Batch, key: Key[Array, ""]) -> Run:
    """Every group of a batch, from its start to its last frame."""
    own = jax.vmap(lambda stamp: jax.random.fold_in(key, stamp))(batch.stamp)
    keys = jax.vmap(jax.random.fold_in)(own, batch.replicate)
    now = jax.vmap(partial(_begun, setting))(
        batch.positions, batch.headings, batch.lengths[0], batch.goal, batch.reach
    )
    steps = batch.lengths.shape[0]
    first = _recorded(setting, now)
    record = jax.tree.map(lambda x: jnp.zeros((steps + 1, *x.shape), x.dtype).at[0].set(x), first)

    def unfinished(state: tuple[Array, Moment, Run]) -> Array:
        return (state[0] < batch.last) & state[1].going.any()

    def advance(state: tuple[Array, Moment, Run]) -> tuple[Array, Moment, Run]:
        number, before, written = state
        places = {name: path[number] for name, path in batch.places.items()}

        def one(*group: Any) -> Moment:
            return _step(behaviour, setting, number, *group)

        after = jax.vmap(one)(
            keys,
            before,
            batch.lengths[number],
            batch.pace,
            places,
            batch.goal,
            batch.reach,
            batch.number,
        )
        fresh = _recorded(setting, after)
        written = jax.tree.map(lambda all_, new: all_.at[number + 1].set(new), written, fresh)
        return number + 1, after, written

    _, _, written = jax.lax.while_loop(unfinished, advance, (jnp.asarray(0), now, record))
    return written


def _recorded(setting: Setting, moment: Moment) -> Run:
    chosen = (moment.origin, moment.destination) if setting.decisions else (None, None)
    return Run(moment.positions, moment.headings, moment.counted, moment.stateless, *chosen)


def _begun(
    setting: Setting,
    positions: Array,
    headings: Array,
    lengths: Array,
    goal: Array,
    reach: Array,
) -> Moment:
    nothing = jnp.full(headings.shape, -1)
    going = ~_there(setting, positions, goal, reach)
    zero = jnp.zeros_like(headings)
    return Moment(
        positions, headings, zero, lengths, going, jnp.asarray(True), jnp.asarray(0), nothing,
        nothing,
    )  # fmt: skip


def _step(  # noqa: PLR0913, PLR0917
    behaviour: Behaviour,
    setting: Setting,
    number: Int[Array, ""],
    key: Key[Array, ""],
    now: Moment,
    lengths: Float[Array, " individuals"],
    pace: Float[Array, " individuals"],
    places: dict[str, Float[Array, " 2"]],
    goal: Float[Array, " 2"],
    reach: Float[Array, ""],
    group: Int[Array, ""],
) -> Moment:
    """One group, one frame on; a group that ended stays as it is."""
    known = now.stepped if setting.steps else lengths
    view = View(
        now.positions, now.headings, known, pace, now.turned, places, setting.members, setting.fps,
        setting.arena, setting.group,
    )  # fmt: skip
    choice = behaviour.decide(jax.random.fold_in(key, number), view, group)
    if choice.length is None:
        way = _unit(now.headings)
        reached, after = moved(setting.arena, setting.walls, now.positions, lengths, way)
        bounced = jnp.where((after == way).all(axis=1), now.headings, _degrees(after))
        later = (reached, _wrapped(bounced + choice.turn), choice.turn, lengths)
    else:
        headed = _wrapped(now.headings + choice.turn)
        reached = now.positions + choice.length[:, None] * _unit(headed)
        later = (reached, headed, choice.turn, choice.length)
    before = (now.positions, now.headings, now.turned, now.stepped)
    kept = [jnp.where(now.going, new, old) for new, old in zip(later, before, strict=True)]
    lost = (choice.origin < 0) & jnp.isfinite(now.headings) & now.going
    return Moment(
        positions=kept[0],
        headings=kept[1],
        turned=kept[2],
        stepped=kept[3],
        going=now.going & ~_there(setting, reached, goal, reach),
        counted=now.going,
        stateless=lost.sum(),
        origin=jnp.where(now.going, choice.origin, -1),
        destination=jnp.where(now.going, choice.destination, -1),
    )


def _there(
    setting: Setting,
    positions: Float[Array, "individuals 2"],
    goal: Float[Array, " 2"],
    reach: Float[Array, ""],
) -> Bool[Array, ""]:
    """Whether enough members are at the target."""
    if not setting.stop:
        return jnp.asarray(False)
    gap = shortest(positions - goal, setting.arena)
    near = jnp.hypot(gap[:, 0], gap[:, 1]) <= reach
    absent = jnp.isnan(positions[:, 0])
    return near.any() if setting.stop == "one" else (near | absent).all()


def _unit(headings: Float[Array, " individuals"]) -> Float[Array, "individuals 2"]:
    angle = jnp.deg2rad(headings)
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)


def _degrees(ways: Float[Array, "individuals 2"]) -> Float[Array, " individuals"]:
    return jnp.rad2deg(jnp.arctan2(ways[:, 1], ways[:, 0]))


def _wrapped(headings: Float[Array, " individuals"]) -> Float[Array, " individuals"]:
    return jnp.mod(headings + 180.0, 360.0) - 180.0
