"""Closed loops: costs that are known, groups simulated from them, and what a fit finds again.

Flock: the paper's SPP-LMDP algorithm, 200 agents × 100 steps, NUTS, identity basis. With the level
removed from estimate and truth alike, how many states with at least 20 arrivals have the truth in
their 95 % interval, for decided and for observed transitions.

Tank: positions alone, states counted from them, a Laplace fit, marginal costs weighted by arrivals;
where their minima lie.
"""

import argparse
import warnings

import numpy as np

import shoal
from shoal.paper.spp import spp_costs
from shoal.paper.tank import tank_truth


def flock(seeds: int) -> None:
    axis = shoal.Circular("local_misalignment", 36)
    space = shoal.StateSpace(axis)
    passive = shoal.TurningMixture()
    solution = shoal.solve(passive.on(space), spp_costs(axis))
    inside: dict[str, list[np.ndarray]] = {"decided": [], "observed": []}
    misses: dict[str, list[float]] = {"decided": [], "observed": []}
    for seed in range(1, seeds + 1):
        made = shoal.paper.simulate_spp(solution, seed=seed)
        for way, found in inside.items():
            counts = getattr(made, way)
            fit = shoal.Model(made.space, passive).fit(
                counts, shoal.NUTS(warmup=500), chains=4, draws=1000, seed=seed
            )
            draws = fit.cost_to_go.values.reshape(-1, 36)
            weights = counts.arrivals / counts.arrivals.sum()
            draws = draws - (draws @ weights)[:, None]
            truth = solution.cost_to_go - solution.cost_to_go @ weights
            low, high = np.quantile(draws, [0.025, 0.975], axis=0)
            enough = counts.arrivals >= 20
            found.append(((low <= truth) & (truth <= high))[enough])
            misses[way].append(float(np.abs(draws.mean(axis=0) - truth)[enough].max()))
        print(
            f"seed {seed}: "
            + "; ".join(f"{way} {parts[-1].mean():.0%}" for way, parts in inside.items()),
            flush=True,
        )
    for way, parts in inside.items():
        every = np.concatenate(parts)
        print(
            f"{way}: the truth is inside for {every.mean():.1%} of {every.size} states over "
            f"{len(parts)} seeds; largest error {max(misses[way]):.2f} nats"
        )


def tank(seeds: int) -> None:
    hits = {"true passive": 0, "walk of 90°": 0}
    for seed in range(1, seeds + 1):
        made = shoal.paper.simulate_tank(seed=seed)
        _, solution = tank_truth(made.settings)
        centres = made.space.axes[0].centres
        truth = [centres[solution.cost_to_go.mean(axis=1 - a).argmin()] for a in (0, 1)]
        bare = shoal.Collection(  # positions only
            shoal.Tracks.from_arrays(t.positions, fps=t.fps, group=t.group) for t in made.tracks
        )
        counts = shoal.count_transitions(bare, made.space)
        words = []
        true = shoal.TurningMixture(made.settings.turns, made.settings.turn)
        for name, passive in (("true passive", true), ("walk of 90°", shoal.RandomWalk(90.0))):
            fit = shoal.Model(made.space, passive, shoal.Bisquare()).fit(
                counts, method="laplace", seed=seed
            )
            mean, weight = fit.cost_to_go.mean(("chain", "draw")).values, counts.arrivals
            minima = []
            for a in (0, 1):
                total = weight.sum(axis=1 - a)
                marginal = (mean * weight).sum(axis=1 - a) / np.maximum(total, 1)
                minima.append(centres[np.where(total > 0, marginal, np.inf).argmin()])
            off = [abs((f - t + 180) % 360 - 180) for f, t in zip(minima, truth, strict=True)]
            hits[name] += max(off) <= 20
            words.append(f"{name}: local {minima[0]:+.0f}°, target {minima[1]:+.0f}°")
        print(
            f"seed {seed}, {counts.total} transitions, truth {truth}: {'; '.join(words)}",
            flush=True,
        )
    for name, count in hits.items():
        print(f"{name}: both minima within two bins in {count} of {seeds}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flock", type=int, default=20, help="seeds")
    parser.add_argument("--tank", type=int, default=10, help="seeds")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    if wanted.flock:
        flock(wanted.flock)
    if wanted.tank:
        tank(wanted.tank)


if __name__ == "__main__":
    main()
