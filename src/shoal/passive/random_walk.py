"""A normal random walk on each axis: wrapped on circles, sent back by the walls of intervals."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.passive.estimating import estimated
from shoal.passive.per_axis import PerAxisDynamics
from shoal.passive.steps import check_start, floored, normal_steps
from shoal.passive.unknown import Parameter, Unknown, parameter
from shoal.states import StateSpace


@dataclass(frozen=True)
class RandomWalk:
    """Each axis takes a normal step of its own.

    Steps go round circles and turn back at walls (see ``Interval``); at an end that is no wall they
    are those of animals that stay.

    Parameters
    ----------
    sd
        The standard deviation of a step, in the axis's unit: one number for all axes or one
        for each. The paper's guppies: 90°. With ``Unknown(…)`` it is learned.
    start
        Where in its bin a step starts: ``"anywhere"`` with equal chance, so that the sd is in the
        axis's unit whatever the bins; or at its ``"centre"``, as in the paper.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.Circular("heading", bins=4))
    >>> shoal.RandomWalk(sd=60.0).on(space).dense().round(2)[2].tolist()
    [0.04, 0.23, 0.51, 0.23]
    """

    sd: Any = 90.0
    start: str = "anywhere"

    def __post_init__(self) -> None:
        """Check that every sd is positive and finite, or unknown with a prior, and the start."""
        check_start(self.start)
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
        pairs = zip(space.axes, sds, strict=True)
        return PerAxisDynamics.of(*(normal_steps(axis, sd, self.start) for axis, sd in pairs))

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
        kernels = (normal_steps(axis, values["sd", n], self.start) for n, axis in pairs)
        return PerAxisDynamics.of(*map(floored, kernels))

    def estimate(self, transitions: Any) -> "RandomWalk":
        """With its unknowns learned from transitions in which nothing is preferred.

        For a second data set, of single animals or another treatment; a model with unknowns learns
        them together with its costs.
        """
        return estimated(self, transitions)

    def known(self, space: StateSpace, values: dict[Any, float]) -> "RandomWalk":
        """The same with these numbers."""
        return replace(self, sd=tuple(values["sd", n] for n in range(len(space.axes))))
