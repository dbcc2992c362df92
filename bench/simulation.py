"""How fast groups move: beside Mesa's flocking model, and thousands of posterior-predictive groups.

    pip install "mesa>=3.1" networkx; python bench/simulation.py

Vicsek: 200 agents × 100 steps in a periodic box, about 6 neighbours each, by shoal and by the boids
of Mesa's examples (vision 10 in a box of 100), one after the other in the same process, the best
of several runs each. Compilation is timed apart.
"""

import argparse
import time
from collections.abc import Callable

import shoal

AGENTS, STEPS = 200, 100
BOX = shoal.tracks.Periodic(0, 0, 1, 1)


def best(work: Callable[[int], object], repeats: int) -> tuple[float, float]:
    """Seconds of the first run and of the quickest later one; every run has its own seed."""
    times = []
    for seed in range(repeats + 1):
        start = time.perf_counter()
        work(seed)
        times.append(time.perf_counter() - start)
    return times[0], min(times[1:])


def vicsek(seed: int) -> object:
    return shoal.simulate(
        shoal.simulation.Vicsek(radius=0.1, noise=10.0),
        start=shoal.Release(AGENTS),
        steps=STEPS,
        speed=0.01,
        arena=BOX,
        seed=seed,
    )


def boids(seed: int) -> object:
    from mesa.examples.basic.boid_flockers.model import BoidFlockers  # noqa: PLC0415

    model = BoidFlockers(population_size=AGENTS, width=100, height=100, vision=10, seed=seed)
    for _ in range(STEPS):
        model.step()
    return model


def predictive(groups: int, animals: int, steps: int) -> Callable[[int], object]:
    """Posterior-predictive groups: every one lives by a draw of its own."""
    tank = shoal.paper.simulate_tank(seed=1)
    counts = shoal.count_transitions(tank.tracks, tank.space)
    model = shoal.Model(tank.space, shoal.RandomWalk(90.0), shoal.Bisquare())
    fit = model.fit(counts, method="laplace", chains=1, draws=max(groups, 10), seed=1)
    release = shoal.Release(animals, place=(0.7, 0.2), spread=0.06)

    def work(seed: int) -> object:
        return shoal.simulate(
            fit, start=release, steps=steps, replicates=groups, draws="each", speed=0.066, fps=10.0,
            arena=shoal.tracks.Rectangle(0, 0, 1, 1), seed=seed,
        )  # fmt: skip

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--without-mesa", action="store_true")
    wanted = parser.parse_args()
    first, ours = best(vicsek, 10)
    print(f"{AGENTS} agents × {STEPS} steps")
    print(f"  shoal, Vicsek: {1e3 * ours:.1f} ms ({first:.2f} s with compilation)")
    if not wanted.without_mesa:
        _, theirs = best(boids, 3)
        print(f"  Mesa, boids: {theirs:.2f} s, {theirs / ours:.0f} times as long")
        print(f"  ({theirs / first:.1f} times as long as shoal with compilation)")
    work = predictive(1_000, 10, 300)
    first, later = best(work, 3)
    rate = 1_000 * 10 * 300 / later
    print(
        f"1,000 groups × 10 animals × 300 steps, a posterior draw each: {later:.2f} s "
        f"({first:.2f} s with compilation), {rate / 1e6:.1f} million decisions a second"
    )


if __name__ == "__main__":
    main()
