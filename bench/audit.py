"""The audit's table: what was wrong, measured again by a script that knows public names only.

    python bench/audit.py                          every part but those that need data
    python bench/audit.py laplace lags …           some parts
    python bench/audit.py sheep --data FOLDER      with drives_data.mat in FOLDER/sheep-dog

Every part makes its own data with NumPy and states the truth beside what was found. It runs on
earlier versions, too (``PYTHONPATH=… python bench/audit.py``), which is how "before" was measured.
``bench/nulls.py`` has the null tests and the recovery of learned steps in full.
"""

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import shoal

CIRCLE = shoal.StateSpace(shoal.Circular("a"))


def decided(total: int, seed: int, walk: float = 40.0, depth: float = 2.0) -> Any:
    """Transitions of animals with v(180°) − v(0°) = depth and a known walk, from equilibrium."""
    rng = np.random.default_rng(seed)
    v = depth / 2 * (1 - np.cos(np.deg2rad(CIRCLE.axes[0].centres)))
    passive = np.asarray(shoal.RandomWalk(walk).on(CIRCLE).dense())
    policy = passive * np.exp(-v)
    policy /= policy.sum(axis=1, keepdims=True)
    at_rest = np.linalg.matrix_power(policy, 1000)[0]
    left = rng.multinomial(total, at_rest)
    pairs = np.stack([rng.multinomial(n, row) for n, row in zip(left, policy, strict=True)])
    return shoal.states.Transitions.from_matrix(pairs, CIRCLE)


def opposed(fit: Any) -> Any:
    """Draws of v(180°) − v(0°)."""
    v = fit.cost_to_go.values
    return (v[..., 0] - v[..., 18]).ravel()


def figures(name: str, draws: Any) -> str:
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{name} {draws.mean():.4f} ± {draws.std():.4f} [{low:.3f}, {high:.3f}]"


def beside_nuts(model: Any, counts: Any, label: str) -> None:
    """Laplace beside NUTS: the distance of the means in sds, and the ratio of the sds."""
    begun = time.perf_counter()
    quick = model.fit(counts, "laplace", chains=4, draws=2500, seed=1, progress=False)
    seconds = time.perf_counter() - begun
    exact = model.fit(counts, "nuts", chains=4, draws=5000, seed=2, progress=False)
    a, b = opposed(quick), opposed(exact)
    facts, trusted = quick.facts, quick.diagnostics().trusted
    print(
        f"{label:28} {figures('Laplace', a)}, {figures('NUTS', b)}: mean off by "
        f"{abs(a.mean() - b.mean()) / b.std():.3f} sd, sd × {a.std() / b.std():.3f}; k̂ "
        f"{facts['pareto_k']:.2f}, effective {facts.get('importance_ess', math.nan):.0f}, "
        f"{'sound' if trusted else 'not trusted'}, NUTS "
        f"{'sound' if exact.diagnostics().trusted else 'not trusted'} ({seconds:.1f} s)",
        flush=True,
    )


def laplace(_: Path | None) -> None:
    """Laplace with learned scales: truth 2, walk of 40° known."""
    model = shoal.Model(CIRCLE, shoal.RandomWalk(40.0), shoal.Smooth())
    for total in (10**3, 10**4, 10**5, 10**6):
        beside_nuts(model, decided(total, 1), f"{total:,} transitions")


def sheep(data: Path | None) -> None:
    """The sheep, local misalignment of others, by Laplace and by NUTS."""
    if data is None:
        print("needs --data")
        return
    tracks = shoal.read_tracks(data / "sheep-dog" / "drives_data.mat")
    space = shoal.StateSpace(shoal.LocalMisalignment(include_self=False))
    counts = shoal.count_transitions(tracks, space)
    model = shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth())
    beside_nuts(model, counts, f"sheep, {counts.total:,}")


def lags(_: Path | None, sets: int = 200) -> None:
    """Coverage of 95 % intervals of v(180°) − v(0°) = 0, ten independent walkers."""
    for lag in (1, 2, 5, 13):
        model = shoal.Model(CIRCLE, shoal.RandomWalk(10.0 * math.sqrt(lag)), shoal.basis.Fourier(3))
        held, errors, claimed = [], [], []
        for seed in range(sets):
            rng = np.random.default_rng(seed)
            steps = rng.normal(0.0, 10.0, (10, 1500))
            steps[:, 0] = rng.uniform(0.0, 360.0, 10)
            states = np.floor((np.cumsum(steps, axis=1) + 185.0) / 10.0).astype(int) % 36
            counts = shoal.count_transitions(list(states), CIRCLE, lag=lag)
            draws = opposed(model.fit(counts, "laplace", draws=500, seed=1, progress=False))
            low, high = np.quantile(draws, [0.025, 0.975])
            held.append(low <= 0 <= high)
            errors.append(draws.mean())
            claimed.append(draws.std())
        spread = math.sqrt(0.95 * 0.05 / sets)
        print(
            f"lag {lag:2d}: coverage {np.mean(held):.3f} (0.95 ± {spread:.3f}), sd of the "
            f"estimate {np.std(errors):.3f}, sd claimed {np.mean(claimed):.3f}",
            flush=True,
        )


def uniform(_: Path | None) -> None:
    """Nothing preferred: the range of estimated costs, in nats, should be about 0."""
    rng = np.random.default_rng(1)
    angles = np.abs(rng.uniform(-180.0, 180.0, 50_000))
    cuts = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)
    for name, axis, values in (
        ("folded angles", shoal.states.Folded("a"), angles),
        ("interval cut at 0, 1, 2, 4, 8, 16", shoal.states.Interval("d", cuts), angles / 180 * 16),
    ):
        space = shoal.StateSpace(axis)
        counts = shoal.count_transitions([space.encode(values)], space)
        fit = shoal.Model(space, shoal.Uniform(), shoal.Identity()).fit(
            counts, "laplace", seed=1, progress=False
        )
        mean = fit.cost_to_go.values.mean(axis=(0, 1))
        print(f"{name}: first {mean[0]:.2f}, last {mean[-1]:.2f}, range {np.ptp(mean):.2f} nats")


def steps(_: Path | None) -> None:
    """A walk's sd learned in bins of 10°."""
    rng = np.random.default_rng(1)
    for sd in (1.0, 2.0, 3.0, 5.0, 10.0, 20.0):
        start = rng.uniform(0.0, 360.0, 40_000)
        ends = start + rng.normal(0.0, sd, start.size)
        before, after = (np.floor((x + 185.0) / 10.0).astype(int) % 36 for x in (start, ends))
        counts = shoal.states.Transitions.from_pairs(before, after, CIRCLE)
        guess = shoal.RandomWalk(shoal.passive.Unknown(10.0, 4.0))
        fit = shoal.Model(CIRCLE, guess, shoal.basis.Flat()).fit(
            counts, "laplace", seed=1, progress=False
        )
        draws = fit.parameters.values[..., -1].ravel()
        print(f"true sd {sd:4.1f}°: {figures('learned', draws)}", flush=True)


def effects(_: Path | None) -> None:
    """Truth: all variance on axis a. Identity basis, 2,000 transitions."""
    rng = np.random.default_rng(1)
    space = shoal.StateSpace(shoal.Circular("a", bins=12), shoal.Circular("b", bins=12))
    v = np.broadcast_to(1 - np.cos(np.deg2rad(space.axes[0].centres))[:, None], space.shape)
    chance = np.exp(-v).ravel() / np.exp(-v).sum()
    states = rng.choice(space.size, 2001, p=chance)
    counts = shoal.count_transitions([states], space)
    for basis in (shoal.Identity(), shoal.Smooth()):
        model = shoal.Model(space, shoal.Uniform(), basis)
        fit = model.fit(counts, "laplace", seed=1, progress=False)
        print(f"{type(basis).__name__}: {fit.effects().sentence()}")


def walls(_: Path | None) -> None:
    """A passive walker between two walls, sd a tenth of the way: costs of the ends."""
    rng = np.random.default_rng(1)
    space = shoal.StateSpace(shoal.states.Interval("x", np.linspace(0.0, 1.0, 21)))
    start = rng.uniform(0.0, 1.0, 200_000)
    ends = np.abs(start + rng.normal(0.0, 0.1, start.size))
    ends = np.where(ends > 1.0, 2.0 - ends, ends)
    counts = shoal.states.Transitions.from_pairs(space.encode(start), space.encode(ends), space)
    model = shoal.Model(space, shoal.RandomWalk(0.1), shoal.Smooth())
    mean = model.fit(counts, "laplace", seed=1, progress=False).cost_to_go.values.mean(axis=(0, 1))
    print(f"cost of the wall over the middle: {mean[[0, -1]].mean() - mean[10]:+.3f} nats")


def advi(_: Path | None) -> None:
    """Mean-field sds over those of the exact optimum, wide Gaussians, precision given."""
    counts = decided(5000, 1)
    basis = shoal.Gaussian(every=2, width=40.0)
    prior = shoal.Prior("fixed", value=1.0)
    model = shoal.Model(CIRCLE, shoal.RandomWalk(40.0), basis, prior=prior)
    fit = model.fit(counts, "advi", draws=5000, seed=1, progress=False)
    draws = fit.data["posterior"].to_dataset()["coefficients"].values
    found = draws.reshape(20_000, -1).std(axis=0)
    x = np.asarray(basis.on(CIRCLE).dense())
    passive = np.asarray(shoal.RandomWalk(40.0).on(CIRCLE).dense())
    v = fit.sampled.values.mean(axis=(0, 1))
    policy = passive * np.exp(-v)
    policy /= policy.sum(axis=1, keepdims=True)
    left = counts.departures
    entered, reached = left @ policy, policy @ x
    curvature = (x**2 * entered[:, None]).sum(axis=0) - (reached**2 * left[:, None]).sum(axis=0)
    ratio = found * np.sqrt(curvature + 1.0)
    print(f"sd over exact: {ratio.min():.2f} to {ratio.max():.2f}")


def smooth(_: Path | None) -> None:
    """The correlation of neighbouring bins that a length of 15° is said to mean."""
    import jax.numpy as jnp  # noqa: PLC0415  (for this part only)

    basis = shoal.Smooth(length=60.0).scaled(CIRCLE)
    tries = np.linspace(-4.0, 0.0, 401)
    lengths = np.array([float(basis.values(jnp.array([0.0, u]))[1]) for u in tries])
    u = tries[np.argmin(np.abs(lengths - 15.0))]
    functions = np.asarray(basis.at(jnp.array([0.0, u])).dense())
    covariance = functions @ functions.T
    ratio = 10.0 / 15.0
    kernel = (1 + math.sqrt(5) * ratio + 5 / 3 * ratio**2) * math.exp(-math.sqrt(5) * ratio)
    print(
        f"shortest length {lengths.min():.1f}°; neighbours at "
        f"{lengths[np.argmin(np.abs(lengths - 15.0))]:.1f}°: "
        f"{covariance[0, 1] / covariance[0, 0]:.2f}, the kernel says {kernel:.2f}"
    )


PARTS: dict[str, Callable[[Path | None], None]] = {
    part.__name__: part
    for part in (laplace, sheep, lags, uniform, steps, effects, walls, advi, smooth)
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=list(PARTS))
    parser.add_argument("--data", type=Path)
    chosen = parser.parse_args()
    for name in chosen.parts:
        print(f"\n{name}: {PARTS[name].__doc__}", flush=True)
        PARTS[name](chosen.data)
