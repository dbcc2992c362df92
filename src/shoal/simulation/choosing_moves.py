"""Animals that choose among moves, each weighed by p̄(m) e^{−q} of what it leads to.

The rule is the one by which decisions are read off tracks and fitted, and features are evaluated
by the same code.
"""

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from shoal.angles import difference
from shoal.errors import InputError
from shoal.moves import MoveFamily, Steps, Turns
from shoal.moves.between import on_lines, running_axes
from shoal.moves.densities import (
    LEVELS,
    after_step,
    expected_log_step,
    level_of,
    log_step,
    log_turn,
)
from shoal.moves.quadrature import GOLDEN, log_step_table, turn_table
from shoal.passive.family import numbers_at
from shoal.passive.unknown import POWER
from shoal.posterior import Fit
from shoal.precision import as_jax
from shoal.simulation.behaviour import Behaviour, Choice, View
from shoal.simulation.following import perceived, sampled, state_number
from shoal.states import Interval, SpeedFeature, StateSpace
from shoal.tracks import Circle, Rectangle

CANDIDATES = 256
"""Moves that a simulated animal chooses among: spread at random each time, one in each stratum."""


@dataclass(frozen=True, eq=False)
class MoveNumbers:
    """What animals do without preferences, with the numbers of every draw."""

    moves: Turns
    values: dict[str, Float[np.ndarray, " draws"]]

    @classmethod
    def of(cls, moves: Turns, space: StateSpace) -> "MoveNumbers":
        """From a specification with all its numbers; powers of the step before are 0 by default."""
        parameters = moves.parameters(space)
        unknown = [part.name for part in parameters if part.unknown and part.kind != POWER]
        if unknown:
            raise InputError(f"to simulate, give numbers for {', '.join(unknown)}")
        numbers = {part.field: 0.0 if part.unknown else float(part.given) for part in parameters}  # type: ignore[arg-type]
        return cls(moves, {name: np.array([number]) for name, number in numbers.items()})

    @classmethod
    def of_fit(cls, fit: Fit, draws: str) -> "MoveNumbers":
        """From a fit: the numbers of every draw, or of their centre for ``"mean"``."""
        family = fit.family
        assert isinstance(family, MoveFamily)
        unknowns = fit.passive_unknowns
        if draws == "mean":
            unknowns = as_jax(np.asarray(unknowns).mean(axis=0, keepdims=True))
        found = numbers_at(family, unknowns)
        count = len(unknowns)
        values = {name: np.broadcast_to(np.asarray(v), (count,)) for (name, _), v in found.items()}
        return cls(family.specification, values)

    def only(self, draws: Int[np.ndarray, " some"]) -> "MoveNumbers":
        """Of some draws."""
        return MoveNumbers(
            self.moves, {name: v[draws] if len(v) > 1 else v for name, v in self.values.items()}
        )

    @property
    def centre(self) -> dict[str, float]:
        """Means over draws, by which candidates are spread."""
        return {name: float(np.mean(value)) for name, value in self.values.items()}


class FollowMoves(Behaviour):
    """Every animal weighs many moves, and makes one of them.

    Attributes
    ----------
    running
        The axes along which costs run between the middles of bins.
    values
        The numbers of the passive moves, of each draw.
    log_z
        −q of every state, of each draw.
    draw
        Which draw each group of a batch lives by.
    turn_places, turn_logs, step_places, step_logs
        Candidates by their share of all, and their log densities; a row for each level of the step
        before.
    """

    space: StateSpace = eqx.field(static=True)
    running: tuple[int, ...] = eqx.field(static=True)
    moves: Turns = eqx.field(static=True)
    rule: str = eqx.field(static=True)
    values: dict[str, Float[Array, " draws"]]
    log_z: Float[Array, "draws J"]
    draw: Int[Array, " groups"]
    turn_places: Float[Array, "levels table"]
    turn_logs: Float[Array, "levels table"]
    step_places: Float[Array, "levels table"] | None
    step_logs: Float[Array, "levels table"] | None

    @classmethod
    def of(
        cls,
        space: StateSpace,
        numbers: MoveNumbers,
        log_z: Float[np.ndarray, "draws J"],
        draw: Int[np.ndarray, " groups"],
        rule: str,
    ) -> "FollowMoves":
        """From states, the passive moves of every draw, and −q."""
        moves, centre = numbers.moves, numbers.centre
        turns, steps = _tables(moves, centre)
        count = len(log_z)
        values = {
            name: as_jax(np.broadcast_to(value, (count,))) for name, value in numbers.values.items()
        }
        tables = [None if part is None else as_jax(part) for part in (*turns, *steps)]
        return cls(
            space,
            tuple(running_axes(space, moves)),
            moves,
            rule,
            values,
            as_jax(log_z),
            as_jax(draw),
            *tables,  # type: ignore[arg-type]
        )

    def decide(self, key: Key[Array, ""], view: View, group: Int[Array, ""]) -> Choice:
        """A move for every animal, with the state it perceives and the one it decides for."""
        # a row for each animal: its numbers do not depend on how many others there are
        shift, other, pick = jax.random.uniform(key, (view.headings.shape[0], 3)).T
        values = {name: value[self.draw[group]] for name, value in self.values.items()}
        lengths = None
        if isinstance(self.moves, Steps):
            usual, before = self._before(view, values)
            beside = self.moves.log_reference - self._log_pace(view)
            level = level_of(before - (usual if isinstance(self.moves.pace, bool) else beside))
            own = after_step(values, level[:, None])
            turns, log_weight = self._turns(shift, view, own, level)
            expected = expected_log_step(usual, values["follow"], before, plain=self.moves.plain)
            lengths, more = self._lengths(other, expected + self._log_pace(view), own, level)
            log_weight = log_weight + more
        else:
            turns, log_weight = self._turns(shift, view, values, jnp.zeros(shift.shape))
        now = perceived(self.space, view)
        columns, possible = self._decided(view, now, turns, lengths)
        states = state_number(self.space, columns)
        origin = state_number(self.space, now)
        known = (origin >= 0) & jnp.isfinite(view.headings)
        log_weight = jnp.where(possible, log_weight, -jnp.inf)
        if self.rule != "passive":
            wanted = on_lines(self.space, self.running, self.log_z[self.draw[group]], columns, jnp)
            log_weight = log_weight + jnp.where(known[:, None] & (states >= 0), wanted, 0.0)
            log_weight = jnp.where(known[:, None] & (states < 0), -jnp.inf, log_weight)
        stuck = jnp.isneginf(log_weight.max(axis=1))
        log_weight = jnp.where(stuck[:, None], 0.0, log_weight)
        if self.rule == "least-cost":
            best = log_weight >= log_weight.max(axis=1, keepdims=True) - 1e-9
            log_weight = jnp.where(best, 0.0, -jnp.inf)
        chosen = sampled(log_weight, pick)[:, None]

        def made(each: Array) -> Array:
            return jnp.take_along_axis(each, chosen, axis=1)[:, 0]

        able = known & ~stuck
        return Choice(
            jnp.where(stuck, 0.0, made(turns)),
            jnp.where(able, origin, -1),
            jnp.where(able, state_number(self.space, [made(column) for column in columns]), -1),
            None if lengths is None else jnp.where(stuck, 0.0, made(lengths)),
        )

    def _turns(
        self,
        shift: Float[Array, " n"],
        view: View,
        values: dict[str, Array],
        level: Float[Array, " n"],
    ) -> tuple[Float[Array, "n k"], Float[Array, "n k"]]:
        """Candidate turns, and their log passive weights."""
        expected = values["persistence"] * jnp.nan_to_num(view.turned)[:, None]
        if self.moves.every is not None:
            turns = jnp.broadcast_to(self.turn_places, (shift.size, self.turn_places.size))
            return turns, jnp.broadcast_to(self.turn_logs, turns.shape)
        share = (jnp.arange(CANDIDATES) + shift[:, None]) / CANDIDATES
        away, spread = _looked_up((self.turn_places, self.turn_logs), level, share)
        return expected + away, log_turn(self.moves.turn, values, away) - spread

    def _lengths(
        self,
        shift: Float[Array, " n"],
        expected: Float[Array, " n"],
        values: dict[str, Array],
        level: Float[Array, " n"],
    ) -> tuple[Float[Array, "n k"], Float[Array, "n k"]]:
        """Candidate steps, and their log passive weights."""
        assert isinstance(self.moves, Steps)
        assert self.step_places is not None and self.step_logs is not None
        share = jnp.mod(GOLDEN * jnp.arange(CANDIDATES) + shift[:, None], 1.0)
        away, spread = _looked_up((self.step_places, self.step_logs), level, share)
        likely = log_step(self.moves.step, values, away, plain=self.moves.plain, odd=0.0)
        return jnp.exp(expected[:, None] + away), likely - spread

    def _log_pace(self, view: View) -> Float[Array, " n"]:
        """The log of every animal's pace; of animals without one, 0."""
        assert isinstance(self.moves, Steps)
        if isinstance(self.moves.pace, bool):
            return jnp.zeros(view.pace.shape)
        return jnp.log(jnp.maximum(view.pace, 1e-300))

    def _before(
        self, view: View, values: dict[str, Array]
    ) -> tuple[Float[Array, ""], Float[Array, " n"]]:
        """The logs of a typical step and of the step before, over the pace of the animal."""
        assert isinstance(self.moves, Steps)
        usual = jnp.log(values["typical"]) - self.moves.log_reference
        moved = jnp.log(jnp.maximum(view.lengths, 1e-300)) - self._log_pace(view)
        return usual, jnp.where(view.lengths > 0, moved, usual)

    def _decided(
        self,
        view: View,
        now: list[Float[Array, " n"]],
        turns: Float[Array, "n k"],
        lengths: Float[Array, "n k"] | None,
    ) -> tuple[list[Float[Array, "n k"]], Bool[Array, "n k"]]:
        """The value of every feature after each move, and which moves stay within walls."""
        headings = view.headings[:, None] + turns
        headings = jnp.mod(headings + 180.0, 360.0) - 180.0
        angle = jnp.deg2rad(headings)
        step = 0.0 if lengths is None else lengths[..., None]
        places = view.positions[:, None] + step * jnp.stack([jnp.cos(angle), jnp.sin(angle)], -1)
        parts: Any = self.space.parts
        seen, columns = self._seen(view), []
        for part, axis, value in zip(parts, self.space.axes, now, strict=True):
            if lengths is None and part.turn in (-1, 0):
                column = difference(value[:, None], turns) if part.turn else value[:, None]
                column = jnp.broadcast_to(column, turns.shape)
                column = jnp.where(jnp.isfinite(value)[:, None], column, jnp.nan)
            elif isinstance(part, SpeedFeature):
                column = part.of_lengths(view.scene(), lengths[None])[0]  # type: ignore[index]
            else:
                column = part.decided(seen.scene(), places[None], headings[None])[0]
            columns.append(_clipped(axis, column))
        possible = jnp.ones(turns.shape, dtype=bool)
        if lengths is not None and isinstance(view.arena, Rectangle | Circle):
            possible = view.arena.distance(places) >= 0
        return columns, possible

    def _seen(self, view: View) -> View:
        """Everybody as an animal sees them when it decides."""
        if not isinstance(self.moves, Steps) or self.moves.others == "still":
            return view
        angle = jnp.deg2rad(view.headings)
        way = jnp.stack([jnp.cos(angle), jnp.sin(angle)], axis=-1)
        return eqx.tree_at(
            lambda v: v.positions, view, view.positions + view.lengths[:, None] * way
        )


def _tables(moves: Turns, centre: dict[str, float]) -> tuple[Any, Any]:
    """Candidate turns and steps, and their log densities, at every level of the step before."""
    if not isinstance(moves, Steps):
        return [part[None] for part in turn_table(moves, centre)], (None, None)
    levels = [after_step(centre, level, np) for level in range(-LEVELS, LEVELS + 1)]
    tables = [[table(moves, own) for own in levels] for table in (turn_table, log_step_table)]
    turns, steps = ([np.stack(part) for part in zip(*table, strict=True)] for table in tables)
    return turns, steps


def _looked_up(
    tables: tuple[Float[Array, "levels table"], Float[Array, "levels table"]],
    level: Float[Array, " n"],
    share: Float[Array, "n k"],
) -> tuple[Float[Array, "n k"], Float[Array, "n k"]]:
    """Candidates by their share of all, and their log densities."""
    rows, length = tables[0].shape
    row = (level + rows // 2).astype(int)[:, None]
    place = share * (length - 1)
    left = jnp.clip(place.astype(int), 0, length - 2)
    part = place - left
    away, log_density = (
        (1 - part) * table[row, left] + part * table[row, left + 1] for table in tables
    )
    return away, log_density


def _clipped(axis: Any, value: Any) -> Any:
    """Beyond an end of an interval its last bin."""
    return jnp.clip(value, axis.edges[0], axis.edges[-1]) if isinstance(axis, Interval) else value
