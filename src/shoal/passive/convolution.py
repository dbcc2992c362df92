"""P̄ that moves all angles by the same rule wherever they are: one convolution, done by FFT."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float, Int, Key

from shoal.passive.operator import PassiveOperator, counted, seen_logs
from shoal.precision import as_jax
from shoal.states import Transitions


class ConvolutionDynamics(PassiveOperator):
    """A kernel over the changes of all circular axes together, times a matrix for each other axis.

    Attributes
    ----------
    circles
        The numbers of the axes that the kernel moves.
    kernel
        The chance of every change of these, in bins up their circles.
    spectrum
        Its Fourier transform.
    matrices
        p̄(j | i) of every other axis, in order.

    Notes
    -----
    A Fourier transform has errors of 1e-16 of the largest value, also where the result is small.
    ``apply_positive`` therefore does not go below what the kernel's smallest entry allows, and is
    right to 1e-15 divided by that entry.
    """

    circles: tuple[int, ...] = eqx.field(static=True)
    kernel: Float[Array, "*circles"]
    spectrum: Complex[Array, "*half"]
    matrices: tuple[Float[Array, "_ _"], ...]

    @classmethod
    def of(
        cls,
        shape: tuple[int, ...],
        circles: tuple[int, ...],
        kernel: Float[Array, "*circles"],
        matrices: tuple[Any, ...] = (),
    ) -> "ConvolutionDynamics":
        """From the kernel of the circles and a matrix for each other axis."""
        kernel = as_jax(kernel)
        return cls(shape, circles, kernel, jnp.fft.rfftn(kernel), tuple(map(as_jax, matrices)))

    @property
    def others(self) -> tuple[int, ...]:
        """The numbers of the axes that the kernel leaves alone."""
        return tuple(n for n in range(len(self.shape)) if n not in self.circles)

    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ x: along the circles a correlation, along the others a product with a matrix."""
        return self._along_others(self._round(values, jnp.conj(self.spectrum)), self.matrices)

    def adjoint(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ᵀ x: the convolution, and the transposed matrices."""
        moved = self._round(values, self.spectrum)
        return self._along_others(moved, tuple(matrix.T for matrix in self.matrices))

    def apply_positive(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ x of x without negative entries, never below what it must be."""
        moved = self._round(values, jnp.conj(self.spectrum))
        least = jnp.min(self.kernel) * values.sum(axis=self.circles, keepdims=True)
        return self._along_others(jnp.maximum(moved, least), self.matrices)

    def _round(
        self, values: Float[Array, "*grid"], spectrum: Complex[Array, "*half"]
    ) -> Float[Array, "*grid"]:
        sizes = tuple(self.shape[n] for n in self.circles)
        wide = [1] * len(self.shape)
        for place, n in enumerate(self.circles):
            wide[n] = spectrum.shape[place]
        waves = jnp.fft.rfftn(values, axes=self.circles) * spectrum.reshape(wide)
        return jnp.fft.irfftn(waves, s=sizes, axes=self.circles)

    def _along_others(
        self, values: Float[Array, "*grid"], matrices: tuple[Float[Array, "_ _"], ...]
    ) -> Float[Array, "*grid"]:
        for axis, matrix in zip(self.others, matrices, strict=True):
            values = jnp.moveaxis(jnp.tensordot(matrix, values, axes=(1, axis)), 0, axis)
        return values

    def row(self, origin: int | Int[Array, ""]) -> Float[Array, "*grid"]:
        """p̄(· | origin)."""
        everywhere = jnp.arange(self.size)
        start = jnp.broadcast_to(jnp.asarray(origin), everywhere.shape)
        return jnp.exp(self.log_probability(start, everywhere)).reshape(self.shape)

    @eqx.filter_jit
    def log_probability(
        self, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
    ) -> Float[Array, " pairs"]:
        """The kernel's entry of the change, and those of the other axes."""
        starts = jnp.unravel_index(origin, self.shape)
        ends = jnp.unravel_index(destination, self.shape)
        change = tuple((ends[n] - starts[n]) % self.shape[n] for n in self.circles)
        total = jnp.log(self.kernel[change])
        for axis, matrix in zip(self.others, self.matrices, strict=True):
            total = total + jnp.log(matrix[starts[axis], ends[axis]])
        return total

    def dense(self) -> Float[Array, "J J"]:
        """P̄ written out, entry by entry."""
        return jax.lax.map(lambda origin: self.row(origin).ravel(), jnp.arange(self.size))

    def digest(self, transitions: Transitions) -> Any:
        """How often each change was seen, and each step along the other axes."""
        pairs = transitions.pairs
        starts = np.unravel_index(pairs.origin, self.shape)
        ends = np.unravel_index(pairs.destination, self.shape)
        change = tuple((ends[n] - starts[n]) % self.shape[n] for n in self.circles)
        steps = [change, *((starts[n], ends[n]) for n in self.others)]
        sizes = [self.kernel.shape, *((self.shape[n],) * 2 for n in self.others)]
        tables = zip(steps, sizes, strict=True)
        return tuple(counted(step, size, pairs.count) for step, size in tables)

    def log_weight(self, digest: Any) -> Float[Array, ""]:
        """Σ y_ij log p̄_ij, through changes and steps alone."""
        tables = (self.kernel, *self.matrices)
        parts = [seen_logs(count, table) for count, table in zip(digest, tables, strict=True)]
        return jnp.stack(parts).sum()

    def sample(self, key: Key[Array, ""], origin: Int[Array, " n"]) -> Int[Array, " n"]:
        """One change of all circles, and a step along each other axis."""
        first, *keys = jax.random.split(key, 1 + len(self.others))
        ends = list(jnp.unravel_index(origin, self.shape))
        log_kernel = jnp.log(self.kernel.ravel())
        drawn = jax.random.categorical(first, log_kernel, shape=origin.shape)
        for n, change in zip(
            self.circles, jnp.unravel_index(drawn, self.kernel.shape), strict=True
        ):
            ends[n] = (ends[n] + change) % self.shape[n]
        for one, axis, matrix in zip(keys, self.others, self.matrices, strict=True):
            ends[axis] = jax.random.categorical(one, jnp.log(matrix[ends[axis]]))
        return jnp.ravel_multi_index(tuple(ends), self.shape, mode="clip")
