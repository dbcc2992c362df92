"""Any passive dynamics written as a matrix, dense or sparse."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jaxtyping import Array, Float, Int

from shoal.errors import InputError
from shoal.linear import DenseMap, SparseMap
from shoal.passive.operator import PassiveOperator
from shoal.precision import as_jax

ROW_SUM_TOLERANCE = 1e-6
"""Rows within this of 1, as single precision leaves them, are divided by their sum."""


class MatrixDynamics(PassiveOperator):
    """P̄ as a dense array."""

    map: DenseMap

    @classmethod
    def of(cls, matrix: Any, shape: tuple[int, ...] | None = None) -> "MatrixDynamics":
        """From an array, checked to be a stochastic matrix of the size of the grid."""
        try:
            array = np.asarray(matrix, dtype=float)
        except (TypeError, ValueError) as error:
            raise InputError(f"passive probabilities are a matrix of numbers ({error})") from error
        grid = _checked_shape(array.shape, shape)
        _check_entries(array, array)
        sums = _checked_rows(array.sum(axis=1))
        return cls(grid, DenseMap(grid, grid, as_jax(array / sums[:, None])))

    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ x."""
        return self.map.apply(values)

    def log_probability(
        self, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
    ) -> Float[Array, " pairs"]:
        """The logarithm of the entries."""
        return jnp.log(self.map.matrix[origin, destination])

    def dense(self) -> Float[Array, "J J"]:
        """The matrix itself."""
        return self.map.matrix


class SparseDynamics(PassiveOperator):
    """P̄ as its non-zero entries."""

    map: SparseMap

    @classmethod
    def of(cls, matrix: Any, shape: tuple[int, ...] | None = None) -> "SparseDynamics":
        """From a SciPy sparse matrix, checked to be stochastic and of the size of the grid."""
        csr = sp.csr_array(matrix).astype(float)
        grid = _checked_shape(csr.shape, shape)
        _check_entries(csr.data, csr)
        sums = _checked_rows(np.asarray(csr.sum(axis=1), dtype=float).ravel())
        return cls(grid, SparseMap.of(sp.diags_array(1 / sums) @ csr, grid, grid))

    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ x."""
        return self.map.apply(values)

    def log_probability(
        self, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
    ) -> Float[Array, " pairs"]:
        """The logarithm of the entries, −inf where there is none."""
        entries = self.map
        codes = entries.rows * self.size + entries.columns
        wanted = origin * self.size + destination
        place = jnp.clip(jnp.searchsorted(codes, wanted), 0, codes.size - 1)
        return jnp.where(codes[place] == wanted, jnp.log(entries.entries[place]), -jnp.inf)


def _checked_shape(found: tuple[int, ...], grid: tuple[int, ...] | None) -> tuple[int, ...]:
    if len(found) != 2 or found[0] != found[1] or found[0] == 0:
        raise InputError(
            "passive probabilities are a square matrix, row i where state i leads; "
            f"got shape {' × '.join(map(str, found))}"
        )
    if grid is not None and int(np.prod(grid)) != found[0]:
        raise InputError(
            f"passive probabilities of {found[0]} states do not fit a space of "
            f"{int(np.prod(grid))} states (shape {' × '.join(map(str, grid))})"
        )
    return (found[0],) if grid is None else grid


def _check_entries(values: Float[np.ndarray, "..."], matrix: Any) -> None:
    if np.all(np.isfinite(values)) and np.all(values >= 0):
        return
    coordinates = sp.coo_array(matrix)
    entries = coordinates.data
    wrong = ~(np.isfinite(entries) & (entries >= 0))
    row, column = (int(index[wrong][0]) for index in coordinates.coords)
    raise InputError(
        f"passive probabilities are between 0 and 1; entry ({row}, {column}) is {entries[wrong][0]}"
    )


def _checked_rows(sums: Float[np.ndarray, " J"]) -> Float[np.ndarray, " J"]:
    off = np.abs(sums - 1) > ROW_SUM_TOLERANCE
    if np.any(off):
        row = int(np.argmax(off))
        raise InputError(
            f"rows of passive probabilities sum to 1; row {row} sums to {sums[row]:.10g} "
            f"({int(off.sum())} such rows): divide each row by its sum"
        )
    return np.where(np.abs(sums - 1) < 1e-14, 1.0, sums)  # what sums to 1 stays as it is
