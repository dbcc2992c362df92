"""Equal chances of a few turns, each blurred by a normal error (eq. pbar)."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import erf, ndtr

from shoal.errors import InputError
from shoal.passive.per_axis import PerAxisDynamics
from shoal.states import Circular, StateSpace

PAPER_TURNS = tuple(float(turn) for turn in range(-60, 61, 10))
"""The 13 turning angles of the SPP decision process, section 3 of the paper."""


@dataclass(frozen=True)
class TurningMixture:
    """One of a set of turns with equal chance, plus a normal error; on each circular axis.

    As in the paper, a turn starts at the centre of its bin.

    Parameters
    ----------
    turns
        Turning angles in degrees.
    sd
        The standard deviation of the error in degrees.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.Circular("heading", bins=4))
    >>> shoal.TurningMixture(turns=(-90.0, 90.0), sd=20.0).on(space).dense().round(2)[2].tolist()
    [0.01, 0.49, 0.01, 0.49]
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
            mass = np.sum(list(steps), axis=0)
            kernels.append(mass / mass.sum(axis=1, keepdims=True))
        return PerAxisDynamics.of(*kernels)


def wrapped_step(axis: Circular, mean: float, sd: float) -> Float[np.ndarray, "bins bins"]:
    """The mass that a normal step puts into each bin of a circle, all images summed."""
    shift = axis.centres[None, :] - axis.centres[:, None] - mean
    if sd > 2 * 360.0:  # uniform to e^−79
        return np.full_like(shift, 1 / axis.size)
    images = int(np.ceil(40.0 * sd / 360.0)) + 2  # ±40 sd hold all mass that doubles can show
    half = axis.step / 2
    total = np.zeros_like(shift)
    for turn in range(-images, images + 1):
        moved = shift + 360.0 * turn
        total += normal_mass((moved - half) / sd, (moved + half) / sd)
    return total


def normal_mass(
    low: Float[np.ndarray, "*shape"], high: Float[np.ndarray, "*shape"]
) -> Float[np.ndarray, "*shape"]:
    """Φ(high) − Φ(low), accurate in both tails and for steps much wider than a bin."""
    tails = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    middle = 0.5 * (erf(high / math.sqrt(2)) - erf(low / math.sqrt(2)))
    return np.where(np.maximum(np.abs(low), np.abs(high)) < 1, middle, tails)
