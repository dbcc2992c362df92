"""Gaussian bumps on every k-th cell."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from shoal.angles import difference
from shoal.basis.operator import BasisOperator, factored
from shoal.errors import InputError
from shoal.states import Axis, Circular, Numbered, StateSpace

HALF_HEIGHT = 1 / (2 * np.sqrt(2 * np.log(2)))
"""Width over spacing at which neighbouring Gaussians cross at half their height."""


@dataclass(frozen=True)
class Gaussian:
    """exp(−(s − c)² / 2w²) with centres c on every k-th bin; a product over axes, kept factored.

    Parameters
    ----------
    every
        k; the paper's SPP model has 2.
    width
        w in the axis's unit. By default neighbouring functions cross at half their height: wider
        ones can hardly tell neighbouring states apart (docs/decisions/003).
    circular
        Whether distance goes round circular axes. The paper's functions live on a line, which is
        the source of its spike at ±180°; pass False to repeat that.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.LocalMisalignment(bins=36))
    >>> shoal.Gaussian(every=2).on(space).count
    18
    """

    every: int = 2
    width: float | None = None
    circular: bool = True

    def __post_init__(self) -> None:
        """Check the spacing and the width."""
        if self.every < 1:
            raise InputError(f"centres lie on every k-th bin with k of 1 or more, got {self.every}")
        if self.width is not None and not (np.isfinite(self.width) and self.width > 0):
            raise InputError(f"the width of a Gaussian must be positive, got {self.width}")

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space."""
        return factored(*map(self.on_axis, space.axes))

    def on_axis(self, axis: Axis) -> Float[np.ndarray, "bins functions"]:
        """The bumps on one axis."""
        if isinstance(axis, Numbered):
            raise InputError(
                f"Gaussian functions need a distance between states, axis {axis.name!r} has none"
            )
        centres = axis.centres[:: self.every]
        width = self.width or HALF_HEIGHT * _spacing(axis, centres)
        if self.circular and isinstance(axis, Circular):
            distance = difference(axis.centres[:, None], centres[None, :])
        else:
            distance = axis.centres[:, None] - centres[None, :]
        return np.asarray(np.exp(-0.5 * (distance / width) ** 2))


def _spacing(
    axis: Axis, centres: Float[np.ndarray, " functions"]
) -> Float[np.ndarray, " functions"]:
    """The distance of each centre to its neighbours: the mean of both sides on uneven axes."""
    if len(centres) == 1:
        return np.array([float(np.sum(axis.widths))])
    return np.asarray(np.abs(np.gradient(centres)))
