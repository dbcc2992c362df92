"""A sparse matrix as a linear map."""

from typing import Any

import jax
import numpy as np
import scipy.sparse as sp
from jaxtyping import Array, Float, Int

from shoal.linear.maps import LinearMap
from shoal.precision import as_jax


class SparseMap(LinearMap):
    """The non-zero entries of a matrix between flattened arrays, ordered by row."""

    rows: Int[Array, " nonzero"]
    columns: Int[Array, " nonzero"]
    entries: Float[Array, " nonzero"]

    @classmethod
    def of(cls, matrix: Any, in_shape: tuple[int, ...], out_shape: tuple[int, ...]) -> "SparseMap":
        """From any SciPy sparse matrix; duplicates are summed, explicit zeros dropped."""
        csr = sp.csr_array(matrix).astype(float)
        csr.sum_duplicates()
        csr.eliminate_zeros()
        rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        columns = csr.indices.astype(rows.dtype)
        return cls(in_shape, out_shape, *map(as_jax, (rows, columns, csr.data)))

    def apply(self, x: Float[Array, "*source"]) -> Float[Array, "*target"]:
        """A x."""
        height = int(np.prod(self.out_shape))
        products = self.entries * x.ravel()[self.columns]
        sums = jax.ops.segment_sum(products, self.rows, height, indices_are_sorted=True)
        return sums.reshape(self.out_shape)

    def squared(self) -> "SparseMap":
        """The entries squared."""
        return SparseMap(self.in_shape, self.out_shape, self.rows, self.columns, self.entries**2)

    def gram(self, weights: Float[np.ndarray, "*target"]) -> Float[np.ndarray, "columns columns"]:
        """Aᵀ diag(w) A, through the entries that are there."""
        matrix = self.matrix()
        return np.asarray((matrix.T @ (sp.diags_array(weights.ravel()) @ matrix)).toarray())

    def matrix(self) -> sp.csr_array:
        """The entries as a SciPy matrix."""
        index = (np.asarray(self.rows), np.asarray(self.columns))
        shape = (int(np.prod(self.out_shape)), int(np.prod(self.in_shape)))
        return sp.csr_array((np.asarray(self.entries), index), shape=shape)
