"""Linear maps between arrays: dense, sparse, one matrix per axis."""

from shoal.linear.maps import DenseMap, LinearMap, PerAxisMap
from shoal.linear.sparse import SparseMap

__all__ = ["DenseMap", "LinearMap", "PerAxisMap", "SparseMap"]
