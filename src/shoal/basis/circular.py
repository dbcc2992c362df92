"""Smooth functions made for circles: Fourier series and von Mises bumps."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from shoal.basis.operator import BasisOperator, factored
from shoal.errors import InputError
from shoal.states import Axis, Circular, StateSpace


@dataclass(frozen=True)
class Fourier:
    """1, cos θ, sin θ, …, cos kθ, sin kθ on circular axes; a product over axes, kept factored.

    Parameters
    ----------
    order
        The highest k. A function that half the bins cannot tell from another is left out.
    """

    order: int = 6

    def __post_init__(self) -> None:
        """Check the order."""
        if self.order < 0:
            raise InputError(f"the order of a Fourier basis is 0 or more, got {self.order}")

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space whose axes are all circular."""
        return factored(*map(self.on_axis, space.axes))

    def on_axis(self, axis: Axis) -> Float[np.ndarray, "bins functions"]:
        """The series on one axis."""
        angle = np.deg2rad(_circle(axis, "Fourier").centres)
        columns = [np.ones_like(angle)]
        for k in range(1, min(self.order, axis.size // 2) + 1):
            columns.append(np.cos(k * angle))
            if 2 * k < axis.size:
                columns.append(np.sin(k * angle))
        return np.stack(columns, axis=1)


@dataclass(frozen=True)
class VonMises:
    """exp(κ (cos(θ − c) − 1)) with centres c evenly round circular axes; kept factored.

    Parameters
    ----------
    count
        The number of centres on each axis.
    concentration
        κ; by default the bumps are as wide as the distance between centres.
    """

    count: int = 18
    concentration: float | None = None

    def __post_init__(self) -> None:
        """Check the count and the concentration."""
        if self.count < 1:
            raise InputError(f"a von Mises basis needs 1 function or more, got {self.count}")
        kappa = self.concentration
        if kappa is not None and not (np.isfinite(kappa) and kappa > 0):
            raise InputError(f"the concentration must be positive, got {kappa}")

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space whose axes are all circular."""
        return factored(*map(self.on_axis, space.axes))

    def on_axis(self, axis: Axis) -> Float[np.ndarray, "bins functions"]:
        """The bumps on one axis."""
        angle = np.deg2rad(_circle(axis, "von Mises").centres)
        centres = -np.pi + 2 * np.pi * np.arange(self.count) / self.count
        kappa = self.concentration or (self.count / (2 * np.pi)) ** 2
        return np.asarray(np.exp(kappa * (np.cos(angle[:, None] - centres[None, :]) - 1)))


def _circle(axis: Axis, kind: str) -> Circular:
    if not isinstance(axis, Circular):
        raise InputError(
            f"{kind} functions need a circular axis, and {axis.name!r} is not one: give each axis "
            "its own, such as Product(Fourier(4), Gaussian(2))"
        )
    return axis
