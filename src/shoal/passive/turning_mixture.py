"""Equal chances of a few turns, each blurred by a normal error (eq. pbar)."""

from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError
from shoal.passive.per_axis import PerAxisDynamics
from shoal.passive.random_walk import normalised, wrapped_step
from shoal.states import Circular, StateSpace

PAPER_TURNS = tuple(float(turn) for turn in range(-60, 61, 10))
"""The 13 turning angles of the SPP decision process, section 3 of the paper."""


@dataclass(frozen=True)
class TurningMixture:
    """One of a set of turns with equal chance, plus a normal error; on each circular axis.

    Parameters
    ----------
    turns
        Turning angles in degrees.
    sd
        The standard deviation of the error in degrees.
    """

    turns: tuple[float, ...] = PAPER_TURNS
    sd: float = 10.0

    def __post_init__(self) -> None:
        """Check that there are finite turns and a positive sd."""
        turns = tuple(float(turn) for turn in self.turns)
        object.__setattr__(self, "turns", turns)
        if not turns or not np.all(np.isfinite(turns)):
            raise InputError(f"a turning mixture needs one or more finite turns, got {turns}")
        if not (np.isfinite(self.sd) and self.sd > 0):
            raise InputError(f"the sd of a turn must be positive and finite, got {self.sd}")

    def on(self, space: StateSpace) -> PerAxisDynamics:
        """The operator on a state space whose axes are all circular."""
        kernels = []
        for axis in space.axes:
            if not isinstance(axis, Circular):
                raise InputError(
                    f"turns need circular axes, and {axis.name!r} is not one: use a random walk"
                )
            steps = (wrapped_step(axis, turn, self.sd) for turn in self.turns)
            kernels.append(normalised(np.sum(list(steps), axis=0)))
        return PerAxisDynamics.of(*kernels)
