"""Decisions against observed transitions: coverage, loops, noise, distances, real animals.

    python bench/decisions.py flock [--seeds 20]     the paper's flock, whose costs are known
    python bench/decisions.py tank [--seeds 20]      two angles, positions only, by the fitted rule
    python bench/decisions.py distances [--seeds 20] attraction, repulsion and alignment, or none
    python bench/decisions.py real --data FOLDER     bits per held-out decision on real animals

Coverage is over states decided for 20 times or more, levels taken off along lines.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import real_animals
import shoal
from shoal.cli.compiling import keep_programs
from shoal.paper.spp import spp_costs
from shoal.paper.tank import TankSettings, tank_truth
from shoal.posterior.decision_fit import without_levels

OFTEN = 20


def covered(fit: Any, truth: Any, arrivals: Any) -> tuple[Any, float]:
    """Which intervals of well-known states hold the truth, and the largest error."""
    lines = getattr(fit, "lines", np.zeros(truth.shape, dtype=int))
    draws = without_levels(fit.sampled.values, lines, arrivals).reshape(-1, truth.size)
    right = without_levels(truth[None, None], lines, arrivals).ravel()
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    known = arrivals.ravel() >= OFTEN
    inside = ((low <= right) & (right <= high))[known]
    return inside, float(np.abs(draws.mean(axis=0) - right)[known].max())


def told(name: str, found: list[tuple[Any, float]]) -> None:
    every = np.concatenate([inside for inside, _ in found])
    shares = np.array([inside.mean() for inside, _ in found])
    error = shares.std(ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else np.nan
    worst = max(error for _, error in found)
    print(
        f"{name:24} {every.mean():.1%} ± {error:.1%} of {every.size} covered, off by {worst:.2f}",
        flush=True,
    )


def flock(chosen: Any) -> None:
    """The paper's flock, recorded headings, turns by multiples of 10°."""
    axis = shoal.Circular("local_misalignment", 36)
    passive = shoal.TurningMixture()
    truth = shoal.solve(passive.on(shoal.StateSpace(axis)), spp_costs(axis))
    moves = shoal.Turns(passive.turns, spread=passive.sd, every=10.0)
    found: dict[str, list[Any]] = {"observed transitions": [], "decisions": []}
    for seed in range(1, chosen.seeds + 1):
        made = shoal.paper.simulate_spp(truth, seed=seed)
        read = shoal.decisions(made.tracks, made.space, moves, tracker_headings=True)
        assert np.array_equal(read.arrivals, made.decided.arrivals)
        fit = shoal.Model(made.space, moves, shoal.Smooth()).fit(read, "laplace", draws=500)
        found["decisions"].append(covered(fit, truth.cost_to_go, read.arrivals))
        seen = made.observed
        plain = shoal.Model(made.space, passive).fit(seen, "laplace", draws=500)
        found["observed transitions"].append(covered(plain, truth.cost_to_go, seen.arrivals))
    for name, parts in found.items():
        told(name, parts)


def tank(chosen: Any) -> None:
    """Two angles in the open, headings from positions, animals that choose turns."""
    space, solution = tank_truth(TankSettings())
    truth = solution.cost_to_go
    found: dict[str, list[Any]] = {"observed transitions": [], "decisions": []}
    for seed in range(1, chosen.seeds + 1):
        made = shoal.simulate(
            truth, space=space, passive=shoal.Turns(spread=5.0), replicates=26, steps=100,
            start=shoal.Release(10, (0.5, 0.5), 0.3), speed=0.01, seed=seed, progress=False,
        )  # fmt: skip
        bare = [shoal.Tracks.from_arrays(t.positions, group=t.group) for t in made]
        read = shoal.decisions(bare, space, shoal.Turns())
        fit: Any = shoal.Model(space, shoal.Turns(), shoal.Smooth()).fit(read, "laplace", draws=250)
        found["decisions"].append(covered(fit, truth, read.arrivals))
        seen = shoal.count_transitions(shoal.Collection(bare), space)
        model = shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth())
        plain = model.fit(seen, "laplace", draws=250)
        draws = without_levels(plain.sampled.values, fit.lines, seen.arrivals)
        right = without_levels(truth[None, None], fit.lines, seen.arrivals).ravel()
        low, high = np.quantile(draws.reshape(-1, truth.size), [0.025, 0.975], axis=0)
        known = seen.arrivals.ravel() >= OFTEN
        off = np.abs(draws.mean(axis=(0, 1)).ravel() - right)[known].max()
        found["observed transitions"].append((((low <= right) & (right <= high))[known], off))
    for name, parts in found.items():
        told(name, parts)


def _mean(costs: Any) -> Any:
    return costs.mean((-2, -1))


def distances(chosen: Any) -> None:
    """Attraction and repulsion by distance, alignment and a bearing, three features."""
    space = shoal.StateSpace(
        shoal.LocalMisalignment(include_self=False, bins=12),
        shoal.Distance(np.linspace(0, 2, 9), beyond=True),
        shoal.Bearing(bins=12),
    )
    angle, far, _ = np.meshgrid(*[axis.centres for axis in space.axes], indexing="ij")
    passive = shoal.Steps(spread=10.0, typical=0.1, variation=0.3, follow=0.5)
    moves = shoal.Steps(candidates=128)
    align = 1 - np.cos(np.deg2rad(angle))
    for name, depth in (("wanted", 1.0), ("not wanted", 0.0)):
        truth = 0.8 * align + depth * 4.0 * (far - 0.8) ** 2
        asked: dict[str, Any] = {
            "opposed − aligned": lambda q: _mean(q[..., 0, :, :]) - _mean(q[..., 6, :, :]),
            "far − middle (attraction)": lambda q: _mean(q[..., 6, :]) - _mean(q[..., 3, :]),
            "farthest − middle": lambda q: _mean(q[..., 7, :]) - _mean(q[..., 3, :]),
            "near − middle (repulsion)": lambda q: _mean(q[..., 0, :]) - _mean(q[..., 3, :]),
        }
        held: dict[str, list[bool]] = {key: [] for key in asked}
        beyond: dict[str, list[bool]] = {key: [] for key in asked}
        errors: dict[str, list[float]] = {key: [] for key in asked}
        often: dict[int, list[int]] = {6: [], 7: []}
        for seed in range(1, chosen.seeds + 1):
            made = shoal.simulate(
                truth, space=space, passive=passive, start=shoal.Release(5, (0.0, 0.0), 1.0),
                steps=chosen.frames, speed=0.1, seed=seed, progress=False,
                arena=shoal.tracks.Periodic(-2, -2, 2, 2),
            )  # fmt: skip
            read = shoal.decisions(made, space, moves)
            for place, counts in often.items():
                counts.append(int(read.arrivals[:, place].sum()))
            fit = shoal.Model(space, moves, shoal.Smooth()).fit(read, "laplace", draws=250)
            for key, contrast in asked.items():
                low, high = np.quantile(contrast(fit.sampled.values), [0.025, 0.975])
                right = float(contrast(truth))
                held[key].append(bool(low <= right <= high))
                beyond[key].append(bool(low > 0 or high < 0))
                errors[key].append(float(contrast(fit.sampled.values).mean()) - right)
        for place, counts in often.items():
            axis: Any = space.axes[1]
            edges = axis.edges[place : place + 2]
            print(f"{name:12} decided for {edges}: median {np.median(counts):.0f} times")
        for key, contrast in asked.items():
            print(
                f"{name:12} {key:28} truth {float(contrast(truth)):+.2f}: held in "
                f"{sum(held[key])} of {chosen.seeds}, told to be there in {sum(beyond[key])}, "
                f"mean error {np.mean(errors[key]):+.2f}",
                flush=True,
            )


def real(chosen: Any) -> None:
    """Bits per held-out decision on real animals, against passive moves, rules and cloning."""
    real_animals.real(chosen.data, chosen.only)


PARTS = {"flock": flock, "tank": tank, "distances": distances, "real": real}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*PARTS])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--frames", type=int, default=400, help="of a group, for distances")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--only", default="", help="one data set of the part real")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    keep_programs()
    print(PARTS[chosen.part].__doc__, flush=True)
    PARTS[chosen.part](chosen)


if __name__ == "__main__":
    main()
