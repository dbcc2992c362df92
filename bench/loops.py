"""Costs come back, or not: whatever others do, whatever the error of places, whatever the bins.

    python bench/loops.py others               truth → tracks → fit → tracks → fit
    python bench/loops.py noise [--seeds 20]   errors of places, animals that align or ignore others
    python bench/loops.py bins [--seeds 5]     how fine bins must be: costs and held-out scores

Tracks of the first part are made by a plain loop of this file, not by shoal's simulator.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np

import shoal
from shoal.cli.compiling import keep_programs

SPREAD = 8.0
FINE = np.arange(-179.75, 180.0, 0.5)
ANGLE = shoal.StateSpace(shoal.TargetMisalignment("leader", bins=36))


def wrapped(degrees: Any) -> Any:
    return np.mod(degrees + 180.0, 360.0) - 180.0


def passive_chances() -> Any:
    kept = np.exp(-np.deg2rad(SPREAD))
    heights = (1 - kept**2) / (1 + kept**2 - 2 * kept * np.cos(np.deg2rad(FINE)))
    return heights / heights.sum()


def tracks_by(q: Any, after: Any, noise: float, seed: int, animals: int = 200) -> list[Any]:
    """Animals that choose turns by p̄ e^{−q}, each with a leader of its own."""
    rng, chances = np.random.default_rng(seed), passive_chances()
    place, heading = np.zeros((animals, 2)), rng.uniform(-180, 180, animals)
    bearing, walked, led = rng.uniform(-180, 180, animals), [], []
    for _ in range(300):
        way = np.deg2rad(heading + bearing)
        walked.append(place)
        led.append(place + 50 * np.stack([np.cos(way), np.sin(way)], axis=1))
        own = np.deg2rad(heading)
        place = place + 0.1 * np.stack([np.cos(own), np.sin(own)], axis=1)
        weight = chances * np.exp(-q[ANGLE.axes[0].locate(wrapped(bearing[:, None] - FINE))])
        sums = np.cumsum(weight, axis=1)
        pick = (sums < rng.uniform(0, 1, (animals, 1)) * sums[:, -1:]).sum(axis=1)
        turn = FINE[pick] + rng.uniform(-0.25, 0.25, animals)
        heading = wrapped(heading + turn)
        bearing = wrapped(after(wrapped(bearing - turn)) + noise * rng.normal(size=animals))
    both = np.stack([walked, led], axis=2)
    return [
        shoal.Tracks.from_arrays(
            both[:, n], individuals=["animal", "leader"], group=f"g{n}"
        ).with_landmarks("leader")
        for n in range(animals)
    ]


def slope(found: Any, truth: Any, weight: Any) -> float:
    """How large costs are, as a share of the true ones: weighted least squares."""
    x, y = (part - np.average(part, weights=weight) for part in (truth, found))
    return float(np.sum(weight * x * y) / np.sum(weight * x * x))


def others(chosen: Any) -> None:
    """Costs over the true ones, from tracks; then again from tracks that the fit makes."""
    centres = ANGLE.axes[0].centres
    truth = 0.5 * (1 - np.cos(np.deg2rad(centres - 30)))
    ways = {
        "goes its own way": lambda y: y,
        "turns with the animal (follows)": lambda y: 0.7 * y,
        "keeps out of its way (leads)": lambda y: y + 20 * np.sin(np.deg2rad(y)),
    }
    print("| leader | noise of it, in turns | fit / truth | fit of simulated / fit |")
    print("|---|---|---|---|")
    for name, after in ways.items():
        for noise in (0.0, 0.5, 1.0, 2.0):
            q, shares = truth, []
            for loop in (1, 2):
                tracks = tracks_by(q, after, noise * SPREAD, seed=loop)
                read = shoal.decisions(tracks, ANGLE, shoal.Turns())
                model = shoal.Model(ANGLE, shoal.Turns(), shoal.Smooth())
                fit = model.fit(read, "laplace", draws=100, seed=loop)
                mean = fit.cost_to_go.values.mean(axis=(0, 1))
                shares.append(slope(mean, q, read.arrivals))
                q = mean
            print(f"| {name} | {noise:g} | {shares[0]:.3f} | {shares[1]:.3f} |", flush=True)


def noise(chosen: Any) -> None:
    """Cost of opposed over aligned: with an error, thinned as told, and without an error."""
    space = shoal.StateSpace(shoal.LocalMisalignment(include_self=False, bins=36))
    angle = space.axes[0].centres
    opposed = [int(np.argmax(np.abs(angle))), int(np.argmin(np.abs(angle)))]
    moves = shoal.Turns()
    print(
        "| wanted | error, in steps | seeds | told to thin in | after it: mean, off by, beyond 0 |"
    )
    print("|---|---|---|---|---|")
    for depth in (1.0, 0.0):
        for error in (0.1, 0.2, 0.5):
            rows = []
            for seed in range(1, (chosen.wanted if depth else chosen.seeds) + 1):
                made: Any = shoal.simulate(
                    depth * (1 - np.cos(np.deg2rad(angle))), space=space,
                    passive=shoal.Turns(spread=6.0), start=shoal.Release(10, (0.0, 0.0), 1.0),
                    steps=600, speed=0.1, seed=seed, progress=False,
                )  # fmt: skip
                rng = np.random.default_rng(seed)
                rows.append(_one(made, error * 0.1, rng, space, moves, opposed))
            told = [row for row in rows if row["every"] > 1]
            last = np.array([row["contrast"] for row in rows])
            clean = np.array([row["clean"] for row in rows])
            beyond = sum(row["beyond"] for row in rows)
            off = (
                f"{np.max(np.abs(last / clean - 1)):.0%} at most, "
                f"{abs(last.mean() / clean.mean() - 1):.1%} on average"
                if depth
                else "–"
            )
            print(
                f"| {2 * depth:g} | {error:g} | {len(rows)} | {len(told)} (by "
                f"{np.median([row['every'] for row in rows]):.0f}) | {last.mean():.2f} ± "
                f"{last.std(ddof=1):.2f}, {off}, {beyond} |",
                flush=True,
            )


def _one(made: Any, sd: float, rng: Any, space: Any, moves: Any, ends: list[int]) -> dict[str, Any]:
    """What a user would do: fit, thin as told, fit again, twice at most."""
    places = made.positions
    noisy, every = places + sd * rng.normal(size=places.shape), 1
    for _ in range(3):
        fit = _fit(noisy, every, space, moves)
        factor = int(fit.diagnostics().numbers.get("thin_by", 1))
        if factor <= 1:
            break
        every *= factor
    draws = _contrast(fit, ends)
    clean = _contrast(_fit(places, every, space, moves), ends)
    return {
        "every": every, "contrast": draws.mean(), "clean": clean.mean(),
        "beyond": bool(np.quantile(draws, 0.025) > 0),
    }  # fmt: skip


def _fit(places: Any, every: int, space: Any, moves: Any) -> Any:
    read = shoal.decisions(shoal.Tracks.from_arrays(places[::every]), space, moves)
    return shoal.Model(space, moves, shoal.Smooth()).fit(read, "laplace", draws=100, seed=1)


def _contrast(fit: Any, ends: list[int]) -> Any:
    draws = fit.sampled.values.reshape(-1, 36)
    return draws[:, ends[0]] - draws[:, ends[1]]


def bins(chosen: Any) -> None:
    """Costs over the true ones, and held-out bits, by bins; the truth changes from 1° to 1°."""
    fine = shoal.StateSpace(shoal.TargetMisalignment((0.0, 0.0), bins=360))
    angle = fine.axes[0].centres
    wants = {
        "wide (a cosine, 2 nats)": 1 - np.cos(np.deg2rad(angle - 30)),
        "narrow (30° wide, 3 nats)": 3 * (1 - np.exp((np.cos(np.deg2rad(angle - 30)) - 1) / 0.07)),
    }
    print("| costs | bins | fit / truth | held out, beyond 360 bins (bits) | s |")
    print("|---|---|---|---|---|")
    for name, truth in wants.items():
        found: dict[int, list[tuple[float, float, float]]] = {}
        for seed in range(1, chosen.seeds + 1):
            made = shoal.simulate(
                truth, space=fine, passive=shoal.Turns(spread=6.0), steps=500, speed=0.1,
                start=shoal.Release(40, (500.0, 0.0), 50.0), seed=seed, progress=False,
            )  # fmt: skip
            for count in (360, 12, 18, 24, 36, 72, 144):
                begun = time.perf_counter()
                space = shoal.StateSpace(shoal.TargetMisalignment((0.0, 0.0), bins=count))
                learn, held = shoal.decisions(made, space, shoal.Turns()).split_time(0.67)
                model = shoal.Model(space, shoal.Turns(), shoal.Smooth())
                fit: Any = model.fit(learn, "laplace", draws=100, seed=seed)
                mean = fit.cost_to_go.values.mean(axis=(0, 1))
                right = np.interp(space.axes[0].centres, angle, truth, period=360)
                share = slope(mean, right, learn.arrivals)
                seconds = time.perf_counter() - begun
                found.setdefault(count, []).append((share, fit.score(held).bits, seconds))
        best = np.array([score for _, score, _ in found[360]])
        for count, rows in sorted(found.items()):
            shares, scores, seconds_each = (np.array(part) for part in zip(*rows, strict=True))
            less = scores - best
            print(
                f"| {name} | {count} | {shares.mean():.3f} ± {shares.std(ddof=1):.3f} | "
                f"{less.mean():+.4f} ± {less.std(ddof=1):.4f} | {np.median(seconds_each):.0f} |",
                flush=True,
            )


PARTS = {"others": others, "noise": noise, "bins": bins}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*PARTS])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--wanted", type=int, default=6, help="seeds of noise where animals align")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    keep_programs()
    print(PARTS[chosen.part].__doc__, flush=True)
    PARTS[chosen.part](chosen)


if __name__ == "__main__":
    main()
