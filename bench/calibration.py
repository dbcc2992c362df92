"""Simulation-based calibration of every method, at two sizes, and of what users get by default.

    python bench/calibration.py [--replicates 500] [--large 100] [--only nuts] [--workers 2]
    python bench/calibration.py --defaults --replicates 200 [--only laplace]

36 states on a circle and 12 × 12 on a torus, walks of 60° and 90°, a coefficient for each state, a
Gamma(5, 5) prior of the precision, ten animals and 100 frames. With --defaults: smooth costs whose
scale and length are learned, 36 states, with a known walk, with a walk of learned sd and with
turn-coupled dynamics. Quantities, states and designs were chosen before any result was seen.
Figures go to --out.
"""

import argparse
import time
from pathlib import Path

import numpy as np

import shoal
from shoal.figures import save_figure
from shoal.figures.calibration import calibration_figure

PRIOR = shoal.Prior(shape=5, rate=5)
METHODS = ("nuts", "laplace", "advi")


def models() -> dict[str, shoal.Model]:
    circle = shoal.StateSpace(shoal.Circular("angle", bins=36))
    torus = shoal.StateSpace(shoal.Circular("one", bins=12), shoal.Circular("other", bins=12))
    return {
        "36 states": shoal.Model(circle, shoal.RandomWalk(60.0), prior=PRIOR),
        "12 × 12 states": shoal.Model(torus, shoal.RandomWalk(90.0), prior=PRIOR),
    }


def defaults() -> dict[str, shoal.Model]:
    space = shoal.StateSpace(shoal.LocalMisalignment(include_self=False))
    learned = shoal.RandomWalk(shoal.passive.Unknown(20.0, 4.0))
    return {
        "smooth, known walk": shoal.Model(space, shoal.RandomWalk(40.0), shoal.Smooth()),
        "smooth, learned walk": shoal.Model(space, learned, shoal.Smooth()),
        "smooth, turn-coupled": shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=500)
    parser.add_argument("--large", type=int, default=100)
    parser.add_argument("--only", choices=METHODS)
    parser.add_argument("--defaults", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("calibration"))
    chosen = parser.parse_args()
    chosen.out.mkdir(exist_ok=True)
    for name, model in (defaults() if chosen.defaults else models()).items():
        if chosen.model not in (None, name):
            continue
        count = chosen.large if name.startswith("12") else chosen.replicates
        every = METHODS[:2] if chosen.defaults else METHODS
        for method in [chosen.only] if chosen.only else every:
            begun = time.perf_counter()
            found = shoal.calibrate(
                model,
                method=method,
                replicates=count,
                seed=chosen.seed,
                cluster=chosen.workers,
                progress=False,
            )
            seconds = time.perf_counter() - begun
            r_hat = max(one.r_hat for one in found.replicates)
            print(f"\n{name}, {method}: {count} data sets in {seconds:.0f} s, R-hat ≤ {r_hat:.3f}")
            for sentence in found.sentences():
                print(f"  {sentence}")
            for curve in found.curves:
                end = "" if curve.inside else f", beyond by {curve.excess:.2f}, {curve.shape}"
                print(f"    {curve.name}: {'inside' if curve.inside else 'OUTSIDE'}{end}")
            ks = np.array([one.pareto_k for one in found.replicates])
            print(f"    Pareto k̂ above 0.7 in {np.mean(ks > 0.7):.1%}", flush=True)
            words = f"{name} {method}".replace(" × ", "x").replace(",", "").replace(" ", "-")
            save_figure(calibration_figure(found), chosen.out / f"{words}.png")


if __name__ == "__main__":
    main()
