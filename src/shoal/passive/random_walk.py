"""A normal random walk on each axis: wrapped on circles, renormalised at the ends of intervals."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.special import erf, ndtr

from shoal.errors import InputError
from shoal.passive.per_axis import PerAxisDynamics
from shoal.states import Axis, Circular, Folded, Interval, StateSpace


@dataclass(frozen=True)
class RandomWalk:
    """Each axis takes a normal step of its own, from the centre of its bin.

    Parameters
    ----------
    sd
        The standard deviation of a step, in the axis's unit: one number for all axes or one
        for each. The paper's guppies: 90°.
    """

    sd: float | tuple[float, ...] = 90.0

    def __post_init__(self) -> None:
        """Check that every sd is positive and finite."""
        values = np.atleast_1d(np.asarray(self.sd, dtype=float))
        if not np.all(np.isfinite(values) & (values > 0)):
            raise InputError(f"the sd of a random walk must be positive and finite, got {self.sd}")
        stored = float(values[0]) if np.ndim(self.sd) == 0 else tuple(values.tolist())
        object.__setattr__(self, "sd", stored)

    def on(self, space: StateSpace) -> PerAxisDynamics:
        """The operator on a state space."""
        sds = self.sd if isinstance(self.sd, tuple) else (self.sd,) * len(space.axes)
        if len(sds) != len(space.axes):
            raise InputError(
                f"{len(sds)} standard deviations do not fit the {len(space.axes)} axes "
                f"{list(space.names)}: give one for all or one for each"
            )
        return PerAxisDynamics.of(*map(walk_kernel, space.axes, sds))


def walk_kernel(axis: Axis, sd: float) -> Float[np.ndarray, "bins bins"]:
    """p̄(j | i) of a normal step of this sd on one axis."""
    if isinstance(axis, Circular):
        return normalised(wrapped_step(axis, mean=0.0, sd=sd))
    if isinstance(axis, Folded):
        _, one_of_each = np.unique(axis.fold, return_index=True)
        from_one = walk_kernel(axis.circle, sd)[one_of_each]  # the same from either side
        return from_one @ (axis.fold[:, None] == np.arange(axis.size))
    if isinstance(axis, Interval):
        edges = np.asarray(axis.edges)
        low = (edges[:-1] - axis.centres[:, None]) / sd
        high = (edges[1:] - axis.centres[:, None]) / sd
        if axis.beyond:
            high[:, -1] = np.inf  # the last bin holds all that is farther
        return normalised(normal_mass(low, high))
    raise InputError(
        f"a random walk needs a distance between states, and axis {axis.name!r} has none: "
        "pass a matrix of passive probabilities instead"
    )


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


def normalised(mass: Float[np.ndarray, "bins bins"]) -> Float[np.ndarray, "bins bins"]:
    """Rows that sum to one."""
    return mass / mass.sum(axis=1, keepdims=True)
