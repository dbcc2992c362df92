"""A different one-dimensional basis on each axis, their tensor product kept factored."""

from dataclasses import dataclass
from typing import Any

from shoal.basis.operator import AxisBasis, BasisOperator, factored
from shoal.errors import InputError
from shoal.states import StateSpace


@dataclass(frozen=True, init=False)
class Product:
    """X = X₁ ⊗ X₂ ⊗ …, one basis for each axis in order.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(
    ...     shoal.Circular("local"), shoal.states.Interval.regular("distance", 0.0, 10.0, 20, "cm")
    ... )
    >>> shoal.basis.Product(shoal.basis.Fourier(4), shoal.Gaussian(every=4)).on(space).count
    45
    """

    factors: tuple[AxisBasis, ...]

    def __init__(self, *factors: Any) -> None:
        for factor in factors:
            if not isinstance(factor, AxisBasis):
                raise InputError(f"{factor!r} has no one-dimensional form and cannot be a factor")
        object.__setattr__(self, "factors", factors)

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space."""
        if len(self.factors) != len(space.axes):
            raise InputError(
                f"{len(self.factors)} bases do not fit the {len(space.axes)} axes "
                f"{list(space.names)}: give one for each"
            )
        pairs = zip(self.factors, space.axes, strict=True)
        return factored(*(factor.on_axis(axis) for factor, axis in pairs))
