"""Where turns lead: through the grid of states along lines on which all angles change together.

All angles that a turn changes are cut into the same fine bins, as many as their own numbers of bins
have for a common multiple; turns are one fine bin apart. A turn by k fine bins takes each angle k
bins down its circle (or up, for an angle that is the turn itself). With places on a circle counted
in that direction, every turn is a step of +1 on all of them, so the states that the turns from one
state lead to lie along a line, and the lines are given by the differences between its places.
Where turns are to lie closer than that, lines are too many to write down, and are followed axis by
axis.
"""

import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from shoal.errors import InputError
from shoal.precision import as_jax
from shoal.states import Circular, Folded, StateSpace, TurningAngle

MOST_TURNS = 1440
MOST_PLACES = 50_000_000


Places = list[Int[Array, " n"]]


class Located(NamedTuple):
    """Where animals are among the lines.

    ``line`` is each animal's line; ``begin``, for each axis that turns, where its turns begin;
    ``here`` its bin on every axis; ``round_``, for each axis that turns, the bin of the whole
    circle.
    """

    line: Int[Array, " n"]
    begin: Places
    here: Places
    round_: Places


class Circles(eqx.Module):
    """The circles of a state space, in places that turns step along together.

    Attributes
    ----------
    turning
        The numbers of the axes that a turn changes.
    count
        The number of turns, and of places round a circle.
    bins
        For each axis that turns, the bin of its whole circle at every place, twice round.
    """

    space: StateSpace = eqx.field(static=True)
    turning: tuple[int, ...] = eqx.field(static=True)
    count: int = eqx.field(static=True)
    bins: tuple[Int[Array, " places"], ...]

    @property
    def step(self) -> float:
        """Degrees between turns."""
        return 360.0 / self.count

    @property
    def folded(self) -> bool:
        """Whether some of the axes that turn are absolute angles."""
        return any(isinstance(self.space.axes[n], Folded) for n in self.turning)

    @staticmethod
    def turning_axes(space: StateSpace) -> tuple[int, ...]:
        """The numbers of the axes that a turn changes."""
        return tuple(
            number
            for number, (part, axis) in enumerate(zip(space.parts, space.axes, strict=True))
            if isinstance(axis, Circular | Folded) and getattr(part, "turn", None)
        )

    @classmethod
    def finer(cls, space: StateSpace, step: float) -> "Circles":
        """With an even number of turns that lie this many degrees apart or less.

        There are ``MOST_TURNS`` of them at most.
        """
        turning = cls.turning_axes(space)
        common = math.lcm(_common(space, turning), 2)
        wanted = math.ceil(360.0 / step / common)
        count = common * max(1, min(wanted, MOST_TURNS // common))
        return cls(space, turning, count, _twice(space, turning, count))

    def located(self, values: list[Float[Array, " n"]], offset: Float[Array, " n"]) -> Located:
        """Where each animal is.

        Parameters
        ----------
        values
            Of every feature.
        offset
            By how much of a fine bin each animal's turns are shifted.
        """
        line = jnp.zeros(offset.shape, dtype=jnp.int32)
        here = [axis.locate(value) for axis, value in zip(self.space.axes, values, strict=True)]
        for number, axis in enumerate(self.space.axes):
            if number not in self.turning:
                line = line * axis.size + here[number]
        first = [self._place(number, values[number], offset) for number in self.turning]
        for place in first[1:]:
            line = line * self.count + jnp.mod(place - first[0], self.count)
        begin = [jnp.mod(place - self.count // 2, self.count) for place in first]
        round_ = [_circle(self.space.axes[n]).locate(values[n]) for n in self.turning]
        return Located(line.astype(jnp.int32), begin, here, round_)

    def ends(self, found: Located) -> Int[Array, "n turns"]:
        """The states that each animal's turns lead to."""
        code = jnp.zeros((found.line.shape[0], self.count), dtype=jnp.int32)
        for number, axis in enumerate(self.space.axes):
            if number in self.turning:
                place = self.turning.index(number)
                around = slices(self.bins[place], (), found.begin[place], self.count)
                index = _folded(axis, around)
            else:
                index = found.here[number][:, None].astype(jnp.int32)
            code = code * axis.size + index
        return code

    def _place(
        self, number: int, value: Float[Array, " n"], offset: Float[Array, " n"]
    ) -> Int[Array, " n"]:
        """Where on its circle an angle is after a turn of no bins, counted along the turn."""
        part, half = self.space.parts[number], _circle(self.space.axes[number]).step / 2
        if isinstance(part, TurningAngle):
            return jnp.floor((180.0 + half) / self.step + offset).astype(jnp.int32)
        return -jnp.floor((value + 180.0 + half) / self.step - offset).astype(jnp.int32)


class Lines(Circles):
    """The lines of a state space, written down.

    Attributes
    ----------
    states
        The state at every place along every line, twice round.
    """

    states: Int[Array, "lines places"]

    @classmethod
    def of(cls, space: StateSpace) -> "Lines":
        """The lines of a space some of whose axes turn."""
        turning = cls.turning_axes(space)
        count = _common(space, turning)
        fixed = [axis.size for n, axis in enumerate(space.axes) if n not in turning]
        rows = math.prod(fixed) * count ** (len(turning) - 1)
        if rows * 2 * count > MOST_PLACES:
            raise InputError(f"{space.size} states are too many to simulate from")
        bins = {n: _folded(space.axes[n], _bins(space, n, count)) for n in turning}
        grids = np.indices((*fixed, *(count,) * (len(turning) - 1))).reshape(-1, rows, 1)
        others, apart = iter(grids[: len(fixed)]), iter(grids[len(fixed) :])
        places = np.arange(2 * count)
        code = np.zeros((rows, 1), dtype=int)
        for number, axis in enumerate(space.axes):
            if number not in turning:
                index = next(others)
            elif number == turning[0]:
                index = bins[number][places % count][None]
            else:
                index = bins[number][(places + next(apart)) % count]
            code = code * axis.size + index
        states = jnp.asarray(code, dtype=jnp.int32)
        return cls(space, turning, count, _twice(space, turning, count), states)

    def ends(self, found: Located) -> Int[Array, "n turns"]:
        """The states that each animal's turns lead to."""
        ends: Int[Array, "n turns"] = slices(self.states, (found.line,), found.begin[0], self.count)
        return ends


def slices(
    table: Any, rows: tuple[Int[Array, " n"], ...], begin: Int[Array, " n"], count: int
) -> Any:
    """For each animal a run of one row of a table."""
    ahead = (1,) * len(rows)

    def one(where: tuple[Array, ...]) -> Array:
        return jax.lax.dynamic_slice(table, where, (*ahead, count)).ravel()

    whole = [index.astype(jnp.int32) for index in (*rows, begin)]
    return jax.vmap(one)(tuple(whole))


def _common(space: StateSpace, turning: tuple[int, ...]) -> int:
    """The turns that the bins of all angles have in common."""
    sizes = [_circle(space.axes[n]).bins for n in turning]
    count = math.lcm(*sizes)
    if count > MOST_TURNS:
        raise InputError(
            f"angles in {', '.join(map(str, sizes))} bins have {count} turns in common, too many "
            "to choose among: take numbers of bins that go into each other"
        )
    return count


def _twice(
    space: StateSpace, turning: tuple[int, ...], count: int
) -> tuple[Int[Array, " places"], ...]:
    """The bin of the whole circle at every place, twice round."""
    rounds = (np.tile(_bins(space, n, count), 2) for n in turning)
    return tuple(as_jax(bins, dtype=np.int32) for bins in rounds)


def _circle(axis: Any) -> Circular:
    return axis.circle if isinstance(axis, Folded) else axis


def _bins(space: StateSpace, number: int, count: int) -> Int[np.ndarray, " places"]:
    """The bin of the whole circle at every place of it, counted along the turn."""
    circle = _circle(space.axes[number])
    sign = 1 if isinstance(space.parts[number], TurningAngle) else -1
    return (sign * np.arange(count)) % count // (count // circle.bins)


def _folded(axis: Any, index: Any) -> Any:
    """The bin of an axis from that of its whole circle."""
    return jnp.asarray(axis.fold)[index] if isinstance(axis, Folded) else index
