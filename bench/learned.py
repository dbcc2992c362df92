"""Whether learned dynamics, scales and costs come back, and nothing where there is nothing.

    python bench/learned.py recovery [--sets 20] [--bins 36]
    python bench/learned.py null [--sets 20]
    python bench/learned.py gradient

Recovery: every data set has its own truth, drawn from the model's prior: turn, noise, follow,
scales, lengths and costs; decisions are drawn from its policy, and NUTS learns all of it at once.
Null: tracks of animals that turn as guppies do and prefer nothing; with --own an animal's heading
is part of the mean it is compared with, which alone makes it look aligned.
"""

import argparse
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import shoal
from shoal.passive import as_family


def angles(bins: int) -> shoal.StateSpace:
    return shoal.StateSpace(
        shoal.LocalMisalignment(bins=bins), shoal.TargetMisalignment((0.0, 0.0), bins=bins)
    )


def decisions(cost: Any, passive: Any, count: int, rng: np.random.Generator) -> list[int]:
    """One long chain of decisions by p*."""
    chances = np.cumsum(shoal.lmdp.policy(cost, passive), axis=1)
    states = [int(rng.integers(0, len(chances)))]
    for pick in rng.random(count):
        row = chances[states[-1]]
        states.append(int(min(np.searchsorted(row, pick * row[-1]), len(row) - 1)))
    return states


def recovery(sets: int, bins: int, transitions: int) -> None:
    space = angles(bins)
    model = shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth())
    family, basis = as_family(shoal.TurnCoupled(), space), shoal.Smooth().scaled(space)
    names = (*basis.names, *family.names)
    inside: dict[str, list[bool]] = {name: [] for name in names}
    costs: list[bool] = []
    worst = {"r_hat": 0.0, "divergences": 0.0, "seconds": 0.0}
    for number in range(sets):
        rng = np.random.default_rng([number, 11])
        u = jnp.asarray(rng.normal(size=len(basis.names)))
        w = jnp.asarray(rng.normal(size=family.count))
        v = np.asarray(basis.apply(jnp.asarray(rng.normal(size=basis.size)), u))
        truth = np.concatenate([np.asarray(basis.values(u)), np.asarray(family.values(w))])
        passive = np.asarray(family.at(w).dense())
        counts = shoal.count_transitions([decisions(v.ravel(), passive, transitions, rng)], space)
        start = time.perf_counter()
        fit = model.fit(counts, "nuts", chains=4, draws=500, seed=number, progress=False)
        seconds = time.perf_counter() - start
        low, high = np.quantile(fit.parameters.values, [0.025, 0.975], axis=(0, 1))
        for name, a, b, true in zip(names, low, high, truth, strict=True):
            inside[name].append(bool(a <= true <= b))
        weights = fit.level_weights.values
        draws = fit.sampled.values.reshape(-1, space.size)
        level = draws @ weights.ravel() / weights.sum()
        contrast = draws - level[:, None]
        wanted = (v - (v * weights).sum() / weights.sum()).ravel()
        often = (weights >= 20).ravel()
        a, b = np.quantile(contrast[:, often], [0.025, 0.975], axis=0)
        costs += ((a <= wanted[often]) & (wanted[often] <= b)).tolist()
        numbers = fit.diagnostics().numbers
        worst["r_hat"] = max(worst["r_hat"], numbers["max_r_hat"])
        worst["divergences"] += numbers["divergences"]
        worst["seconds"] = max(worst["seconds"], seconds)
        missed = [name for name in names if not inside[name][-1]]
        print(
            f"{number:3d}  {seconds:5.1f} s  R-hat {numbers['max_r_hat']:.4f}  divergences "
            f"{numbers['divergences']:.0f}  missed: {', '.join(missed) or 'none'}",
            flush=True,
        )
    groups = {
        "turn spread": [n for n in names if n == "turn spread"],
        "noise, tails, follow": [n for n in names if n.split()[0] in ("noise", "tails", "follow")],
        "lengths": [n for n in names if n.startswith("length")],
        "scales": [n for n in names if n.startswith("scale")],
    }
    for label, members in groups.items():
        hits = [hit for name in members for hit in inside[name]]
        print(f"{label}: {np.mean(hits):.1%} of {len(hits)} inside their 95 % intervals")
    everything = [hit for name in names for hit in inside[name]]
    print(f"all unknowns: {np.mean(everything):.1%} of {len(everything)}")
    print(f"costs in states with 20 arrivals or more: {np.mean(costs):.1%} of {len(costs)}")
    print(f"worst: {worst}")


def null(sets: int, bins: int, others: bool = True) -> None:
    told, ranges = [], []
    for number in range(sets):
        herd = wanderers(number)
        space = shoal.StateSpace(
            shoal.LocalMisalignment(bins=bins, include_self=not others),
            shoal.TargetMisalignment((50.0, 50.0), bins=bins),
        )
        counts = shoal.count_transitions(herd, space)
        seen, held = counts.split_time(2 / 3)
        fits = {
            name: shoal.Model(space, shoal.TurnCoupled(), basis).fit(
                seen, "laplace", draws=250, seed=number, progress=False
            )
            for name, basis in (("passive", shoal.basis.Flat()), ("costs", shoal.Smooth()))
        }
        gain, error = fits["costs"].score(held).minus(fits["passive"].score(held))
        told.append(gain <= 2 * error)
        whole = shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth()).fit(
            counts, "nuts", draws=400, seed=number, progress=False
        )
        effects = whole.effects()
        low = [float(np.quantile(effects[axis.name].range, 0.025)) for axis in space.axes]
        middle = [float(np.median(effects[axis.name].range)) for axis in space.axes]
        ranges.append(low)
        print(
            f"{number:3d}  costs gain {gain:+.4f} ± {error:.4f} bits  ranges of the main effects: "
            f"2.5 % {low[0]:.3f}, {low[1]:.3f}; median {middle[0]:.3f}, {middle[1]:.3f} nats  "
            f"divergences {whole.diagnostics().numbers['divergences']:.0f}",
            flush=True,
        )
    lowest = np.array(ranges)
    print(f"passive only preferred, or cannot tell: {sum(told)} of {len(told)}")
    print(
        f"2.5 % quantiles of the ranges: median {np.median(lowest):.3f}, largest {lowest.max():.3f}"
    )


def wanderers(seed: int) -> Any:
    """Ten animals that turn as guppies do, and prefer nothing."""
    rng = np.random.default_rng([seed, 5])
    frames, animals = 301, 10
    turns = rng.standard_cauchy((frames, animals)) * 4.5
    heading = np.cumsum(np.vstack([rng.uniform(-180, 180, (1, animals)), turns[1:]]), axis=0)
    step = 0.1 * np.stack([np.cos(np.deg2rad(heading)), np.sin(np.deg2rad(heading))], axis=-1)
    places = rng.uniform(40, 60, (1, animals, 2)) + np.cumsum(step, axis=0)
    return shoal.Tracks.from_arrays(places, fps=10.0)


def gradient() -> None:
    """One value and gradient of the posterior, turn-coupled against the independent walk."""
    for shape in ((36, 36), (36, 36, 36)):
        axes = [shoal.Circular(f"angle {n}", bins=bins) for n, bins in enumerate(shape)]
        space = shoal.StateSpace(*axes)
        rng = np.random.default_rng(1)
        counts = shoal.count_transitions([rng.integers(0, space.size, 20_000)], space)
        coupled = shoal.TurnCoupled(
            spread=5.0, noise=4.0, tails=0.5, follow=1.0, effects=(-1,) * len(shape)
        )
        found = {}
        for name, passive in (("walk", shoal.RandomWalk(90.0)), ("turn-coupled", coupled)):
            density: Any = shoal.Model(space, passive).density(counts)
            program = jax.jit(jax.value_and_grad(density.log_likelihood))
            found[name] = best(program, jnp.asarray(rng.normal(size=shape)))
        ratio = found["turn-coupled"] / found["walk"]
        words = ", ".join(f"{name} {1e3 * t:.3f} ms" for name, t in found.items())
        print(f"{' × '.join(map(str, shape))}: {words}; ratio {ratio:.2f}")
    space = angles(36)
    rng = np.random.default_rng(1)
    counts = shoal.count_transitions([rng.integers(0, space.size, 20_000)], space)
    joint: Any = shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth()).density(counts)
    program = jax.jit(jax.value_and_grad(joint.log_posterior))
    print(f"everything unknown, 36 × 36: {1e3 * best(program, jnp.zeros(joint.dimension)):.3f} ms")


def best(program: Any, x: Any, repeats: int = 7) -> float:
    jax.block_until_ready(program(x))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(50):
            result = program(x)
        jax.block_until_ready(result)
        times.append((time.perf_counter() - start) / 50)
    return min(times)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("recovery", "null", "gradient"))
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--bins", type=int, default=36)
    parser.add_argument("--transitions", type=int, default=3000)
    parser.add_argument("--own", action="store_true", help="own heading in the mean, in null")
    chosen = parser.parse_args()
    if chosen.what == "recovery":
        recovery(chosen.sets, chosen.bins, chosen.transitions)
    elif chosen.what == "null":
        null(chosen.sets, chosen.bins, not chosen.own)
    else:
        gradient()
