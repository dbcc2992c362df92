"""One value-and-gradient: through arrivals and departures, and the published program's way.

The published Stan program visits every distinct transition, multiplies a dense row of P̄ with
exp(−γv) and takes a logarithm. It is repeated here twice, in NumPy and compiled by JAX, both with
the gradient written out by hand, which is kinder than Stan's automatic one. All three are timed in
one run and must agree.
"""

import time
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

import shoal
from problem import PASSIVE, SPACE, transitions


def best_of(run: Callable[[], object], repeats: int) -> float:
    """The least time of several, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - start)
    return min(times)


def numpy_loop(
    v: np.ndarray, rows: np.ndarray, pairs: shoal.states.transitions.Pairs
) -> tuple[float, np.ndarray]:
    """A dense row for every distinct transition, in NumPy."""
    value, slope = 0.0, np.zeros_like(v)
    for i, j, n in zip(pairs.origin, pairs.destination, pairs.count, strict=True):
        weights = rows[i] * np.exp(-v)
        total = weights.sum()
        value += n * (-v[j] - np.log(total))
        slope[j] -= n
        slope += (n / total) * weights
    return value, slope


@jax.jit
def compiled_loop(v, rows, origin, destination, count):  # type: ignore[no-untyped-def]
    """The same, compiled."""

    def visit(k, carry):  # type: ignore[no-untyped-def]
        value, slope = carry
        weights = rows[origin[k]] * jnp.exp(-v)
        total = weights.sum()
        n, j = count[k], destination[k]
        slope = slope.at[j].add(-n) + (n / total) * weights
        return value + n * (-v[j] - jnp.log(total)), slope

    return jax.lax.fori_loop(0, origin.shape[0], visit, (0.0, jnp.zeros_like(v)))


def main() -> None:
    counts = transitions()
    whole = shoal.Model(SPACE, PASSIVE).density(counts)
    density = whole.given(jnp.asarray(whole.start))
    v = np.random.default_rng(0).normal(size=SPACE.size)
    rows, pairs = np.asarray(density.passive.dense()), counts.pairs

    ours = jax.jit(jax.value_and_grad(density.log_likelihood))
    grid = jnp.asarray(v.reshape(SPACE.shape))
    columns = [jnp.asarray(a) for a in (pairs.origin, pairs.destination, pairs.count.astype(float))]
    value, slope = ours(grid)
    for other_value, other_slope in (
        numpy_loop(v, rows, pairs),
        compiled_loop(jnp.asarray(v), jnp.asarray(rows), *columns),
    ):
        gap = float(value - density.log_passive) - float(other_value)
        assert abs(gap) < 1e-9 * abs(float(other_value)), gap
        assert np.allclose(np.asarray(slope).ravel(), other_slope, atol=1e-8)

    times = {
        "shoal": best_of(lambda: ours(grid), 300),
        "loop over transitions, compiled": best_of(
            lambda: compiled_loop(jnp.asarray(v), jnp.asarray(rows), *columns), 3
        ),
        "loop over transitions, NumPy": best_of(lambda: numpy_loop(v, rows, pairs), 3),
    }
    print(f"{counts.total} transitions, {len(pairs)} distinct, {SPACE.size} states")
    for name, seconds in times.items():
        print(f"{name:35s} {1e3 * seconds:10.4f} ms   {seconds / times['shoal']:8.0f} ×")


if __name__ == "__main__":
    main()
