"""Each axis takes its own step: usually a small one, at times a wide one."""

from dataclasses import dataclass, replace
from typing import Any

from shoal.passive.estimating import estimated
from shoal.passive.family import built
from shoal.passive.per_axis import PerAxisDynamics
from shoal.passive.steps import check_start, floored, mixed_steps
from shoal.passive.unknown import SHARE, Parameter, Unknown, parameter, per_axis
from shoal.states import Axis, Circular, Folded, StateSpace

FIELDS = ("sd", "wide", "share")
SHARED = Unknown(0.15, 4.0)


@dataclass(frozen=True)
class WalkMixture:
    """A mixture of two normal steps on every axis, independent of the other axes.

    Parameters
    ----------
    sd, wide
        The standard deviations, in the axis's unit: one for all axes or one for each. By default
        learned, around 10° and 60° or a twentieth and a quarter of an interval.
    share
        Of the wide steps.
    start
        Where in its bin a step starts: ``"anywhere"`` with equal chance, so that standard
        deviations are in the axis's unit whatever the bins; or at its ``"centre"``.
    """

    sd: Any = None
    wide: Any = None
    share: Any = SHARED
    start: str = "anywhere"

    def __post_init__(self) -> None:
        """Check the start."""
        check_start(self.start)

    def on(self, space: StateSpace) -> PerAxisDynamics:
        """The operator on a state space, where all numbers are known."""
        operator = built(self, space)
        assert isinstance(operator, PerAxisDynamics)
        return operator

    def parameters(self, space: StateSpace) -> tuple[Parameter, ...]:
        """Three numbers for each axis."""
        given = {name: per_axis(getattr(self, name), len(space.axes), name) for name in FIELDS}
        found = []
        for n, axis in enumerate(space.axes):
            name, guesses = axis.name.replace("_", " "), _guesses(axis)
            for field in FIELDS:
                value = given[field][n]
                known = guesses[field] if value is None else value
                kind = {"kind": SHARE} if field == "share" else {}
                words = {"sd": "step sd", "wide": "wide step sd", "share": "share of wide steps"}
                found.append(parameter(f"{words[field]} of {name}", field, known, axis=n, **kind))
        return tuple(found)

    def build(self, space: StateSpace, values: dict[Any, Any]) -> PerAxisDynamics:
        """The operator with these values."""
        kernels = []
        for n, axis in enumerate(space.axes):
            sd, wide, share = (values[field, n] for field in FIELDS)
            kernels.append(floored(mixed_steps(axis, sd, wide, share, self.start)))
        return PerAxisDynamics.of(*kernels)

    def estimate(self, transitions: Any) -> "WalkMixture":
        """With its unknowns learned from transitions in which nothing is preferred.

        For a second data set, of single animals or another treatment; a model with unknowns learns
        them together with its costs.
        """
        return estimated(self, transitions)

    def known(self, space: StateSpace, values: dict[Any, float]) -> "WalkMixture":
        """The same with these numbers."""
        axes = range(len(space.axes))
        numbers: dict[str, Any] = {name: tuple(values[name, n] for n in axes) for name in FIELDS}
        return replace(self, **numbers)


def _guesses(axis: Axis) -> dict[str, Unknown]:
    if isinstance(axis, Circular | Folded):
        narrow, wide = 10.0, 60.0
    else:
        narrow, wide = float(axis.widths.sum()) / 20, float(axis.widths.sum()) / 4
    return {"sd": Unknown(narrow, 4.0), "wide": Unknown(wide, 3.0), "share": Unknown(0.15, 4.0)}
