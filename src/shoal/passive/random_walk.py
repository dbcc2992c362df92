"""A normal random walk on each axis: wrapped on circles, renormalised at the ends of intervals."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import erf, ndtr

from shoal.errors import InputError
from shoal.passive.estimating import estimated
from shoal.passive.per_axis import PerAxisDynamics
from shoal.passive.steps import normal_steps
from shoal.passive.unknown import Parameter, Unknown, parameter
from shoal.states import Axis, Circular, Folded, Interval, StateSpace


@dataclass(frozen=True)
class RandomWalk:
    """Each axis takes a normal step of its own, from the centre of its bin.

    Parameters
    ----------
    sd
        The standard deviation of a step, in the axis's unit: one number for all axes or one
        for each. The paper's guppies: 90°. With ``Unknown(…)`` it is learned.
    """

    sd: Any = 90.0

    def __post_init__(self) -> None:
        """Check that every sd is positive and finite, or unknown with a prior."""
        given = self.sd if isinstance(self.sd, tuple | list) else (self.sd,)
        if any(isinstance(sd, Unknown) or sd is None for sd in given):
            for sd in given:
                parameter("sd of a random walk", "sd", sd)
            object.__setattr__(self, "sd", tuple(given) if len(given) > 1 else given[0])
            return
        values = np.atleast_1d(np.asarray(self.sd, dtype=float))
        if not np.all(np.isfinite(values) & (values > 0)):
            raise InputError(f"the sd of a random walk must be positive and finite, got {self.sd}")
        stored = float(values[0]) if np.ndim(self.sd) == 0 else tuple(values.tolist())
        object.__setattr__(self, "sd", stored)

    def on(self, space: StateSpace) -> PerAxisDynamics:
        """The operator on a state space, where every sd is known."""
        parameters = self.parameters(space)
        if any(part.unknown for part in parameters):
            raise InputError(f"{self!r} has unknowns: fit a model with it, or give numbers")
        sds = [float(part.given) for part in parameters if not isinstance(part.given, Unknown)]
        return PerAxisDynamics.of(*map(walk_kernel, space.axes, sds))

    def parameters(self, space: StateSpace) -> tuple[Parameter, ...]:
        """An sd for each axis."""
        sds = self.sd if isinstance(self.sd, tuple) else (self.sd,) * len(space.axes)
        if len(sds) != len(space.axes):
            raise InputError(
                f"{len(sds)} standard deviations do not fit the {len(space.axes)} axes "
                f"{list(space.names)}: give one for all or one for each"
            )
        return tuple(
            parameter(f"step sd of {name.replace('_', ' ')}", "sd", sd, axis=n)
            for n, (name, sd) in enumerate(zip(space.names, sds, strict=True))
        )

    def build(self, space: StateSpace, values: dict[Any, Any]) -> PerAxisDynamics:
        """The operator with these values, which JAX may trace."""
        pairs = enumerate(space.axes)
        return PerAxisDynamics.of(*(normal_steps(axis, values["sd", n]) for n, axis in pairs))

    def estimate(self, transitions: Any) -> "RandomWalk":
        """With its unknowns learned from transitions in which nothing is preferred.

        For a second data set, of single animals or another treatment; a model with unknowns learns
        them together with its costs.
        """
        return estimated(self, transitions)

    def known(self, space: StateSpace, values: dict[Any, float]) -> "RandomWalk":
        """The same with these numbers."""
        return RandomWalk(tuple(values["sd", n] for n in range(len(space.axes))))


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
