"""Axes that move independently: one small kernel each, applied axis by axis."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from shoal.linear import PerAxisMap
from shoal.passive.operator import PassiveOperator, counted, seen_logs
from shoal.states import Transitions


class PerAxisDynamics(PassiveOperator):
    """P̄ = P̄₁ ⊗ P̄₂ ⊗ …, never multiplied out."""

    kernels: PerAxisMap

    @classmethod
    def of(cls, *kernels: Float[np.ndarray, "_ _"] | Float[Array, "_ _"]) -> "PerAxisDynamics":
        """From one stochastic matrix per axis."""
        both = PerAxisMap.of(*kernels)
        return cls(both.in_shape, both)

    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ x, axis by axis."""
        return self.kernels.apply(values)

    @eqx.filter_jit
    def log_probability(
        self, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
    ) -> Float[Array, " pairs"]:
        """The sum of the axes' log probabilities."""
        starts = jnp.unravel_index(origin, self.shape)
        ends = jnp.unravel_index(destination, self.shape)
        moves = zip(self.kernels.matrices, starts, ends, strict=True)
        return jnp.stack([jnp.log(kernel[i, j]) for kernel, i, j in moves]).sum(axis=0)

    def digest(self, transitions: Transitions) -> Any:
        """How often each axis went from which bin to which."""
        pairs = transitions.pairs
        starts = np.unravel_index(pairs.origin, self.shape)
        ends = np.unravel_index(pairs.destination, self.shape)
        moves = zip(starts, ends, self.shape, strict=True)
        return tuple(counted((i, j), (n, n), pairs.count) for i, j, n in moves)

    def log_weight(self, digest: Any) -> Float[Array, ""]:
        """Σ y_ij log p̄_ij, axis by axis."""
        parts = zip(digest, self.kernels.matrices, strict=True)
        return jnp.stack([seen_logs(count, kernel) for count, kernel in parts]).sum()

    def sample(self, key: Key[Array, ""], origin: Int[Array, " n"]) -> Int[Array, " n"]:
        """Each axis moves on its own."""
        keys = jax.random.split(key, len(self.shape))
        starts = jnp.unravel_index(origin, self.shape)
        ends = tuple(
            jax.random.categorical(axis_key, jnp.log(kernel[start]))
            for axis_key, kernel, start in zip(keys, self.kernels.matrices, starts, strict=True)
        )
        return jnp.ravel_multi_index(ends, self.shape, mode="clip")

    def dense(self) -> Float[Array, "J J"]:
        """The Kronecker product written out."""
        product = self.kernels.matrices[0]
        for kernel in self.kernels.matrices[1:]:
            product = jnp.kron(product, kernel)
        return product
