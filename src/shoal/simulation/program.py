"""Groups in motion: one program for all of them, the same on any device.

A group's moment is (x_t, θ_t). As in eq. vicsek, every animal moves along θ_t to x_{t+1}, and has
meanwhile decided by what it saw at t on the turn to θ_{t+1}. The state that it saw is therefore the
one that ``count_transitions`` reads off the tracks at t.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from shoal.simulation.behaviour import Behaviour, Choice, View
from shoal.simulation.walls import kept_inside
from shoal.tracks import Arena, shortest


@dataclass(frozen=True)
class Setting:
    """What is the same for all groups of a batch.

    Attributes
    ----------
    walls
        ``"reflect"`` or ``"slide"``.
    stop
        ``"one"`` or ``"all"``: a group ends when one of its members, or all, reached the target;
        ``""``: it goes on.
    decisions
        Whether states and decisions are recorded, too.
    """

    members: tuple[str, ...]
    fps: float | None
    arena: Arena | None
    walls: str = "reflect"
    stop: str = ""
    decisions: bool = False


class Batch(eqx.Module):
    """What differs from group to group: where they start, how far they move, their randomness.

    Attributes
    ----------
    lengths
        The distance that each animal moves in each frame.
    places
        Where landmarks are in each frame, by name.
    goal, reach
        The target that ends a simulation and how near is there.
    """

    positions: Float[Array, "groups individuals 2"]
    headings: Float[Array, "groups individuals"]
    lengths: Float[Array, "groups steps individuals"]
    places: dict[str, Float[Array, "groups steps 2"]]
    goal: Float[Array, "groups 2"]
    reach: Float[Array, " groups"]
    number: Int[Array, " groups"]


class Run(NamedTuple):
    """What came out; ``going`` says which frames came before the end."""

    positions: Float[Array, "groups moments individuals 2"]
    headings: Float[Array, "groups moments individuals"]
    going: Bool[Array, "groups moments"]
    origin: Int[Array, "groups steps individuals"] | None
    destination: Int[Array, "groups steps individuals"] | None
    stateless: Int[Array, " groups"]


@partial(jax.jit, static_argnames="setting")
def run_groups(behaviour: Behaviour, setting: Setting, batch: Batch, key: Key[Array, ""]) -> Run:
    """Every group of a batch, from its start to its last frame; a group's number makes its key."""

    def one(group: Batch) -> Run:
        return _run(behaviour, setting, group, jax.random.fold_in(key, group.number))

    return jax.vmap(one)(batch)


def _run(behaviour: Behaviour, setting: Setting, batch: Batch, key: Key[Array, ""]) -> Run:
    """One group."""
    start, first = batch.positions, batch.headings

    def step(carry: Any, item: Any) -> tuple[Any, Moment]:
        positions, headings, turned, going = carry
        number, lengths, places = item
        view = View(
            positions,
            headings,
            lengths,
            turned,
            places,
            setting.members,
            setting.fps,
            setting.arena,
        )
        choice = behaviour.decide(jax.random.fold_in(key, number), view, batch.number)
        way = _unit(headings)
        reached, after = kept_inside(
            setting.arena, setting.walls, positions + lengths[:, None] * way, way
        )
        bounced = jnp.where((after == way).all(axis=1), headings, _degrees(after))
        later = (reached, _wrapped(bounced + choice.turn), choice.turn)
        there = _there(setting, batch, reached)
        kept = [jnp.where(going, new, old) for new, old in zip(later, carry[:3], strict=True)]
        still = going & ~there
        lost = jnp.where(going, (choice.origin < 0) & jnp.isfinite(headings), False).sum()
        record = choice if setting.decisions else None
        return (*kept, still), Moment(kept[0], kept[1], going, record, lost)

    going = jnp.asarray(True) & ~_there(setting, batch, start)
    begin = (start, first, jnp.zeros_like(first), going)
    numbers = jnp.arange(batch.lengths.shape[0])
    _, moments = jax.lax.scan(step, begin, (numbers, batch.lengths, batch.places))
    record: Choice | None = moments.choice
    return Run(
        jnp.concatenate([start[None], moments.positions]),
        jnp.concatenate([first[None], moments.headings]),
        jnp.concatenate([jnp.ones(1, dtype=bool), moments.going]),
        None if record is None else jnp.where(moments.going[:, None], record.origin, -1),
        None if record is None else jnp.where(moments.going[:, None], record.destination, -1),
        moments.stateless.sum(),
    )


class Moment(NamedTuple):
    """What a step leaves behind."""

    positions: Float[Array, "individuals 2"]
    headings: Float[Array, " individuals"]
    going: Bool[Array, ""]
    choice: Choice | None
    stateless: Int[Array, ""]


def _there(setting: Setting, batch: Batch, positions: Float[Array, "individuals 2"]) -> Array:
    """Whether enough members are at the target."""
    if not setting.stop:
        return jnp.asarray(False)
    gap = shortest(positions - batch.goal, setting.arena)
    near = jnp.hypot(gap[:, 0], gap[:, 1]) <= batch.reach
    absent = jnp.isnan(positions[:, 0])
    return near.any() if setting.stop == "one" else (near | absent).all()


def _unit(headings: Float[Array, " individuals"]) -> Float[Array, "individuals 2"]:
    angle = jnp.deg2rad(headings)
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=1)


def _degrees(ways: Float[Array, "individuals 2"]) -> Float[Array, " individuals"]:
    return jnp.rad2deg(jnp.arctan2(ways[:, 1], ways[:, 0]))


def _wrapped(headings: Float[Array, " individuals"]) -> Float[Array, " individuals"]:
    return jnp.mod(headings + 180.0, 360.0) - 180.0
