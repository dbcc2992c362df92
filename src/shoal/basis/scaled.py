"""Bases whose functions have amplitudes that depend on unknowns: v = X (amplitude ⊙ ξ)."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from shoal.basis.operator import BasisOperator
from shoal.linear import ChainedMap, DenseMap, LinearMap
from shoal.precision import as_jax


class ScaledBasis(eqx.Module):
    """Coefficients ξ ~ Normal(0, 1), and amplitudes that depend on unknowns u."""

    map: LinearMap

    @property
    def size(self) -> int:
        """The number of coefficients."""
        return int(np.prod(self.map.in_shape))

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Of the unknowns."""

    @abstractmethod
    def amplitude(self, u: Float[Array, " k"]) -> Float[Array, " n"]:
        """The sd of each coefficient."""

    def precision(self, u: Float[Array, " k"]) -> Float[Array, ""]:
        """Of ξ, before the tracks are seen."""
        return jnp.asarray(1.0)

    @abstractmethod
    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """The unknowns in their own units."""

    def log_prior(self, u: Float[Array, " k"]) -> Float[Array, ""]:
        """Log p(u): standard normal unless said otherwise."""
        return -0.5 * jnp.vdot(u, u) - 0.5 * u.size * jnp.log(2 * jnp.pi)

    def draw(self, rng: np.random.Generator) -> Float[np.ndarray, " k"]:
        """Unknowns from their prior."""
        return rng.standard_normal(len(self.names))

    @property
    def start(self) -> Float[np.ndarray, " k"]:
        """Where a search begins."""
        return np.zeros(len(self.names))

    def apply(self, xi: Float[Array, " n"], u: Float[Array, " k"]) -> Float[Array, "*grid"]:
        """V."""
        return self.map.apply((self.amplitude(u) * xi).reshape(self.map.in_shape))

    def at(self, u: Float[Array, " k"]) -> BasisOperator:
        """X diag(amplitude)."""
        return BasisOperator(AmplifiedMap.of(self.map, self.amplitude(u)))


@eqx.filter_jit
def basis_at(basis: ScaledBasis, u: Float[Array, " k"]) -> BasisOperator:
    """X with the amplitudes at these unknowns, by one program."""
    return basis.at(u)


@eqx.filter_jit
def prior_at(
    basis: ScaledBasis, u: Float[Array, " k"]
) -> tuple[Float[Array, " n"], Float[Array, ""], Float[Array, " k"]]:
    """Amplitudes, and the log prior of the basis's unknowns with its slope, by one program."""
    return basis.amplitude(u), *jax.value_and_grad(basis.log_prior)(u)


BATCH = 256
"""Points of one call, so that any number of points needs one program."""


def priors_at(
    basis: ScaledBasis, us: Float[np.ndarray, "points k"]
) -> tuple[Float[np.ndarray, "points n"], Float[np.ndarray, " points"]]:
    """Amplitudes, and the log prior of the basis's unknowns, at many points."""
    count = len(us)
    padded = np.pad(us, ((0, -count % BATCH), (0, 0)))
    found = [_priors_at(basis, as_jax(padded[n : n + BATCH])) for n in range(0, len(padded), BATCH)]
    amplitudes, log_priors = zip(*found, strict=True)
    return np.concatenate(amplitudes)[:count], np.concatenate(log_priors)[:count]


@eqx.filter_jit
def _priors_at(
    basis: ScaledBasis, us: Float[Array, "points k"]
) -> tuple[Float[Array, "points n"], Float[Array, " points"]]:
    return jax.vmap(basis.amplitude)(us), jax.vmap(basis.log_prior)(us)


class ThroughBasis(ScaledBasis):
    """q = N v, where v is written in another basis: what is decided for, by what is met there."""

    inner: ScaledBasis

    @classmethod
    def of(cls, inner: ScaledBasis, matrix: Any) -> "ThroughBasis":
        """From the basis of v, and N (states × states)."""
        columns = as_jax(matrix @ np.asarray(inner.map.dense()))
        return cls(DenseMap(inner.map.in_shape, inner.map.out_shape, columns), inner)

    @classmethod
    def then(cls, inner: ScaledBasis, maps: list[LinearMap]) -> "ThroughBasis":
        """From the basis of v, and maps that lead from v to q."""
        return cls(ChainedMap.of(inner.map, *maps), inner)

    @property
    def names(self) -> tuple[str, ...]:
        """As those of v."""
        return self.inner.names

    @property
    def start(self) -> Float[np.ndarray, " k"]:
        """As that of v."""
        return self.inner.start

    def amplitude(self, u: Float[Array, " k"]) -> Float[Array, " n"]:
        """As those of v."""
        return self.inner.amplitude(u)

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """As those of v."""
        return self.inner.values(u)

    def log_prior(self, u: Float[Array, " k"]) -> Float[Array, ""]:
        """As that of v."""
        return self.inner.log_prior(u)

    def draw(self, rng: np.random.Generator) -> Float[np.ndarray, " k"]:
        """As of v."""
        return self.inner.draw(rng)


class AmplifiedMap(LinearMap):
    """A linear map after a factor for each of its columns."""

    inner: LinearMap
    factor: Float[Array, " n"]

    @classmethod
    def of(cls, inner: LinearMap, factor: Float[Array, " n"]) -> "AmplifiedMap":
        """The map x ↦ A (factor ⊙ x), of flat x."""
        return cls((factor.shape[0],), inner.out_shape, inner, factor)

    def apply(self, x: Float[Array, " n"]) -> Float[Array, "*target"]:
        """A (factor ⊙ x)."""
        return self.inner.apply((self.factor * x).reshape(self.inner.in_shape))

    def squared(self) -> "AmplifiedMap":
        """The entries squared."""
        return AmplifiedMap.of(self.inner.squared(), self.factor**2)

    def gram(self, weights: Float[np.ndarray, "*target"]) -> Float[np.ndarray, "columns columns"]:
        """Aᵀ diag(w) A between the factors."""
        factor = np.asarray(self.factor)
        return factor[:, None] * self.inner.gram(weights) * factor[None, :]

    def dense(self) -> Float[Array, "rows columns"]:
        """A diag(factor)."""
        return self.inner.dense() * self.factor


class SomeColumnsMap(LinearMap):
    """Some of the columns of a tensor product: coefficients placed in a grid, then axis by axis."""

    inner: LinearMap
    places: Int[Array, " n"]

    @classmethod
    def of(cls, inner: LinearMap, places: np.ndarray) -> "SomeColumnsMap":
        """Columns with these flat places among those of ``inner``."""
        return cls((places.size,), inner.out_shape, inner, as_jax(places))

    def apply(self, x: Float[Array, " n"]) -> Float[Array, "*target"]:
        """A x."""
        size = int(np.prod(self.inner.in_shape))
        if x.size == size - 1:  # all but the first
            whole = jnp.concatenate([jnp.zeros(1, x.dtype), x])
        else:
            whole = jnp.zeros(size, x.dtype).at[self.places].set(x, unique_indices=True)
        return self.inner.apply(whole.reshape(self.inner.in_shape))

    def squared(self) -> "SomeColumnsMap":
        """The entries squared."""
        return SomeColumnsMap(self.in_shape, self.out_shape, self.inner.squared(), self.places)
