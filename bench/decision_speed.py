"""How long fits to decisions take, from nothing: a fresh process, programs compiled in it.

    python bench/decision_speed.py laplace|nuts [--decisions 10000] [--candidates 64]
    python bench/decision_speed.py turns      two angles at 10³ … 10⁶ decisions, beside transitions

Three features (18 × 9 × 18 states) with interactions, five animals that align and keep a distance.
"""

import argparse
import resource
import time
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import shoal


def herd(steps: int) -> tuple[Any, Any]:
    """Five animals that align and keep a distance."""
    space = shoal.StateSpace(
        shoal.LocalMisalignment(include_self=False, bins=18),
        shoal.Distance(np.linspace(0, 2, 9), beyond=True),
        shoal.Bearing(bins=18),
    )
    angle, far, _ = np.meshgrid(*[axis.centres for axis in space.axes], indexing="ij")
    made = shoal.simulate(
        0.8 * (1 - np.cos(np.deg2rad(angle))) + 4.0 * (far - 0.8) ** 2,
        space=space,
        passive=shoal.Steps(spread=10.0, typical=0.1, variation=0.3, follow=0.5),
        start=shoal.Release(5, (0.0, 0.0), 1.0),
        steps=steps, speed=0.1, seed=1, arena=shoal.tracks.Periodic(-2, -2, 2, 2), progress=False,
    )  # fmt: skip
    return made, space


def fits(method: str, count: int, candidates: int) -> None:
    """One fit, timed from the tracks on."""
    made, space = herd(count // 5 + 2)
    jax.clear_caches()
    moves = shoal.Steps(candidates=candidates)
    begun = time.perf_counter()
    read = shoal.decisions(made, space, moves, progress=False)
    then = time.perf_counter()
    settings: dict[str, Any] = {"chains": 4, "draws": 500 if method == "nuts" else 1000}
    model = shoal.Model(space, moves, shoal.Smooth())
    fit = model.fit(read, method, seed=1, progress=False, **settings)
    done = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{method}: {read.total:,} decisions × {candidates}, {space.size:,} states, "
        f"{model.density(read).coefficients} functions: read {then - begun:.1f} s, fitted "
        f"{done - then:.1f} s, peak memory {memory:.2f} GB\n{fit.diagnostics()}",
        flush=True,
    )


def turns() -> None:
    """One value-and-gradient, of decisions and of transitions of the same tracks."""
    space = shoal.StateSpace(
        shoal.LocalMisalignment(include_self=False, bins=36),
        shoal.TargetMisalignment(target=(0.0, 0.0), bins=36),
    )
    truth = np.add.outer(*(0.5 * (1 - np.cos(np.deg2rad(axis.centres))) for axis in space.axes))
    for count in (1_000, 10_000, 100_000, 1_000_000):
        made = shoal.simulate(
            truth, space=space, passive=shoal.Turns(spread=6.0), replicates=max(1, count // 5000),
            steps=min(count, 5000) // 10, start=shoal.Release(10, (0.5, 0.5), 0.3), speed=0.01,
            seed=1, progress=False,
        )  # fmt: skip
        groups = [made] if isinstance(made, shoal.Tracks) else list(made)
        read = shoal.decisions(groups, space, shoal.Turns(), progress=False)
        seen = shoal.count_transitions(shoal.Collection(groups), space)
        found = [
            _gradient(shoal.Model(space, shoal.Turns(), shoal.Smooth()), read),
            _gradient(shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth()), seen),
        ]
        print(
            f"{read.total:,} decisions: {1e3 * found[0]:.2f} ms, transitions {1e3 * found[1]:.2f} "
            f"ms, ratio {found[0] / found[1]:.1f}",
            flush=True,
        )


def _gradient(model: Any, data: Any) -> float:
    density = model.density(data)
    point = jnp.asarray(np.random.default_rng(1).normal(size=density.dimension) * 0.1)
    both = jax.jit(lambda d, x: jax.value_and_grad(d.log_posterior)(x))
    jax.block_until_ready(both(density, point))
    times = []
    for _ in range(20):
        begun = time.perf_counter()
        jax.block_until_ready(both(density, point))
        times.append(time.perf_counter() - begun)
    return float(np.median(times))


def main() -> None:
    """One of the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["laplace", "nuts", "turns"])
    parser.add_argument("--decisions", type=int, default=10_000)
    parser.add_argument("--candidates", type=int, default=64)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    if chosen.part == "turns":
        turns()
    else:
        fits(chosen.part, chosen.decisions, chosen.candidates)


if __name__ == "__main__":
    main()
