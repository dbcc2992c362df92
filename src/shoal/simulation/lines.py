"""Where turns lead: through the grid of states along lines on which all angles change together.

All angles that a turn changes are cut into the same fine bins, as many as their own numbers of bins
have for a common multiple; turns are one fine bin apart. A turn by k fine bins takes each angle k
bins down its circle (or up, for an angle that is the turn itself). With places on a circle counted
in that direction, every turn is a step of +1 on all of them, so the states that the turns from one
state lead to lie along a line, and the lines are given by the differences between its places.
"""

import math
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from shoal.errors import InputError
from shoal.states import Circular, Folded, StateSpace, TurningAngle

MOST_TURNS = 1440
MOST_PLACES = 50_000_000


Places = list[Int[Array, " n"]]


class Lines(eqx.Module):
    """The lines of a state space.

    Attributes
    ----------
    turning
        The numbers of the axes that a turn changes.
    states
        The state at every place along every line, twice round.
    bins
        For each axis that turns, the bin of its whole circle at every place, twice round.
    folded
        Whether some of these axes are absolute angles.
    count
        The number of turns, and of places round a circle.
    """

    space: StateSpace = eqx.field(static=True)
    turning: tuple[int, ...] = eqx.field(static=True)
    count: int = eqx.field(static=True)
    states: Int[Array, "lines places"]
    bins: tuple[Int[Array, " places"], ...]
    folded: bool = eqx.field(static=True)

    @property
    def step(self) -> float:
        """Degrees between turns."""
        return 360.0 / self.count

    @staticmethod
    def turning_axes(space: StateSpace) -> tuple[int, ...]:
        """The numbers of the axes that a turn changes."""
        return tuple(
            number
            for number, (part, axis) in enumerate(zip(space.parts, space.axes, strict=True))
            if isinstance(axis, Circular | Folded) and getattr(part, "turn", None)
        )

    @classmethod
    def of(cls, space: StateSpace) -> "Lines":
        """The lines of a space some of whose axes turn."""
        turning = cls.turning_axes(space)
        sizes = {number: _circle(space.axes[number]).bins for number in turning}
        count = math.lcm(*sizes.values())
        if count > MOST_TURNS:
            raise InputError(
                f"angles in {', '.join(map(str, sizes.values()))} bins have {count} turns in "
                "common, too many to choose among: take numbers of bins that go into each other"
            )
        fixed = [axis.size for n, axis in enumerate(space.axes) if n not in turning]
        rows = math.prod(fixed) * count ** (len(turning) - 1)
        if rows * 2 * count > MOST_PLACES:
            raise InputError(f"{space.size} states are too many to simulate from")
        round_ = {n: _bins(space, n, count) for n in turning}
        bins = {n: _folded(space.axes[n], index) for n, index in round_.items()}
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
        twice = tuple(jnp.asarray(np.tile(round_[n], 2), dtype=jnp.int32) for n in turning)
        absolute = any(isinstance(space.axes[n], Folded) for n in turning)
        return cls(space, turning, count, jnp.asarray(code, dtype=jnp.int32), twice, absolute)

    def located(
        self, values: list[Float[Array, " n"]], offset: Float[Array, " n"]
    ) -> tuple[Int[Array, " n"], Places, Places, Places]:
        """Each animal's line, where its turns begin, its bins, and those of whole circles.

        The second and the last are for each axis that turns, the third for every axis.

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
        return line.astype(jnp.int32), begin, here, round_

    def _place(
        self, number: int, value: Float[Array, " n"], offset: Float[Array, " n"]
    ) -> Int[Array, " n"]:
        """Where on its circle an angle is after a turn of no bins, counted along the turn."""
        part, half = self.space.parts[number], _circle(self.space.axes[number]).step / 2
        if isinstance(part, TurningAngle):
            return jnp.floor((180.0 + half) / self.step + offset).astype(jnp.int32)
        return -jnp.floor((value + 180.0 + half) / self.step - offset).astype(jnp.int32)


def _circle(axis: Any) -> Circular:
    return axis.circle if isinstance(axis, Folded) else axis


def _bins(space: StateSpace, number: int, count: int) -> Int[np.ndarray, " places"]:
    """The bin of the whole circle at every place of it, counted along the turn."""
    circle = _circle(space.axes[number])
    sign = 1 if isinstance(space.parts[number], TurningAngle) else -1
    return (sign * np.arange(count)) % count // (count // circle.bins)


def _folded(axis: Any, index: Int[np.ndarray, " places"]) -> Int[np.ndarray, " places"]:
    return axis.fold[index] if isinstance(axis, Folded) else index
