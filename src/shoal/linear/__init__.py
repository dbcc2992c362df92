"""Linear maps between arrays: dense, sparse, one matrix per axis."""

from shoal.linear.maps import AlongAxis, ChainedMap, DenseMap, LinearMap, PerAxisMap
from shoal.linear.sparse import SparseMap

__all__ = ["AlongAxis", "ChainedMap", "DenseMap", "LinearMap", "PerAxisMap", "SparseMap"]
