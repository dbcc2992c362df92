"""Bisquare functions at several resolutions, planar as FRK builds them or round the circle."""

import itertools
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float

from shoal.angles import difference
from shoal.basis.operator import BasisOperator
from shoal.errors import InputError
from shoal.linear import SparseMap
from shoal.states import Axis, Circular, Numbered, StateSpace

REACH = 1.5 * 1.25
"""Radius over spacing: FRK's aperture (1.25) and its scale for the bisquare function (1.5)."""


@dataclass(frozen=True)
class Bisquare:
    """(1 − (d/R)²)² within R of a centre; centres 3, 9, 27, … along each axis.

    Parameters
    ----------
    resolutions
        How many grids of centres, each three times finer than the one before.
    circular
        True: on circular axes centres are spaced 360°/n and distance goes round. False: as the R
        package FRK builds them on a rectangle, centres from the first bin to the last; with three
        resolutions and two axes these are the paper's 819 functions, with its artefact at ±180°.

    Notes
    -----
    Distances are measured in spacings of the centres, so that axes in different units can be
    combined; where the spacings are equal this is FRK's distance.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.LocalMisalignment(bins=36))
    >>> shoal.Bisquare(resolutions=3).on(space).count
    39
    """

    resolutions: int = 3
    circular: bool = True

    def __post_init__(self) -> None:
        """Check the number of resolutions."""
        if self.resolutions < 1:
            raise InputError(f"a bisquare basis needs 1 resolution or more, got {self.resolutions}")

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator on a state space."""
        blocks = [self._resolution(space, 3**level) for level in range(1, self.resolutions + 1)]
        matrix = sp.hstack(blocks, format="csr")
        return BasisOperator(SparseMap.of(matrix, (matrix.shape[1],), space.shape))

    def _resolution(self, space: StateSpace, count: int) -> sp.csr_array:
        """The functions of one resolution, with ``count`` centres along each axis."""
        gaps = [self._distances(axis, count) ** 2 for axis in space.axes]
        near = [[np.flatnonzero(column < REACH**2) for column in gap.T] for gap in gaps]
        states, values, sizes = [], [], []
        for choice in itertools.product(range(count), repeat=len(gaps)):
            cells = [bins[centre] for bins, centre in zip(near, choice, strict=True)]
            squares = np.zeros((1,) * len(gaps))
            parts = zip(gaps, cells, choice, strict=True)
            for part in np.ix_(*(gap[cell, centre] for gap, cell, centre in parts)):
                squares = squares + part
            states.append(np.ravel_multi_index(np.ix_(*cells), space.shape).ravel())
            values.append(np.maximum(1 - squares.ravel() / REACH**2, 0.0) ** 2)
            sizes.append(states[-1].size)
        columns = np.repeat(np.arange(len(sizes)), sizes)
        index = (np.concatenate(states), columns)
        return sp.csr_array((np.concatenate(values), index), shape=(space.size, len(sizes)))

    def _distances(self, axis: Axis, count: int) -> Float[np.ndarray, "bins centres"]:
        """From every bin to every centre, in spacings of the centres."""
        if isinstance(axis, Numbered):
            raise InputError(
                f"bisquare functions need a distance between states, axis {axis.name!r} has none"
            )
        if axis.size < 2:
            raise InputError(f"bisquare functions need 2 bins or more, axis {axis.name!r} has 1")
        if self.circular and isinstance(axis, Circular):
            spacing = 360.0 / count
            centres = -180.0 + spacing * np.arange(count)
            return np.abs(difference(axis.centres[:, None], centres[None, :])) / spacing
        centres = np.linspace(axis.centres[0], axis.centres[-1], count)
        return np.abs(axis.centres[:, None] - centres[None, :]) / (centres[1] - centres[0])
