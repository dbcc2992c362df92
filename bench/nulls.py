"""Whether nothing is found where nothing is, and learned steps come back in their own unit.

    python bench/nulls.py costs [--seeds 20] [--transitions 20000]
    python bench/nulls.py steps [--transitions 20000]

Costs: animals that follow passive dynamics in the continuum, cut into bins afterwards, are given
the identity basis and those same dynamics. A score test says whether equal costs are refused:
summed over seeds it is χ² distributed with seeds × (J − 1) degrees of freedom. Beside it stand the
share of costs beyond 2 sd (4.6 % by chance) and the range of the mean costs, and the same for the
form of earlier versions: bins counted alike, steps from the centre of a bin, no walls.

Steps: true standard deviations of 1° to 20° in bins of 10°, learned from transitions in which
nothing is preferred, from anywhere in a bin and from its centre. A number is right within 3 % or
two standard errors.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import chi2

import shoal
from shoal.passive import as_operator

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from walkers import (
    CIRCLE,
    EVEN,
    estimated_with_errors,
    judged,
    line,
    normal,
    nulls,
    turned,
    two_normals,
    walked,
)

ANGLES = shoal.StateSpace(shoal.Circular("a"), shoal.Circular("b"))
SPREADS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)


def costs(seeds: int, transitions: int) -> None:
    print(f"{'':34}{'now':^40}   {'as it was':^40}")
    row = f"{'χ²':>9} {'of':>6} {'p':>8} {'> 2 sd':>7} {'range':>6}"
    print(f"{'animals':34}{row}   {row}")
    for name, case in nulls().items():
        counts = [case.animals(seed, transitions) for seed in range(seeds)]
        found = [
            np.asarray(as_operator(passive, space).dense())
            for space, passive in ((case.space, case.passive), case.earlier())
        ]
        print(f"{name:34}" + "   ".join(_judged(matrix, counts) for matrix in found), flush=True)


def _judged(matrix: Any, counts: list[Any]) -> str:
    verdicts = [judged(matrix, each.arrivals, each.departures) for each in counts]
    square, freedom = sum(v.square for v in verdicts), sum(v.freedom for v in verdicts)
    beyond = np.mean([np.abs(v.costs) > 2 * v.sds for v in verdicts])
    mean = np.mean([v.costs for v in verdicts], axis=0)
    return (
        f"{square:9.0f} {freedom:6d} {chi2.sf(square, freedom):8.2g} {beyond:7.1%} "
        f"{np.ptp(mean):6.3f}"
    )


def steps(transitions: int) -> None:
    guess = shoal.passive.Unknown(10.0, 4.0)
    between = line(EVEN)
    walk, mixture = shoal.RandomWalk(guess), shoal.passive.WalkMixture()
    turns = shoal.TurnCoupled(tails=0.5, follow=1.0, effects=(-1, -1))
    ring = shoal.StateSpace(shoal.Circular("a"), shoal.states.Interval("d", EVEN))
    heavy = shoal.TurnCoupled(spread=8.0, noise=3.0, tails=0.5, follow=1.0, effects=(-1, 0))
    for sd in SPREADS:
        wide = max(60.0, 3 * sd)
        counts = {
            "circle": walked(CIRCLE, (normal(sd),), 1, transitions),
            "interval": walked(between, (normal(sd),), 2, transitions),
            "mixture": walked(CIRCLE, (two_normals(sd, wide, 0.15),), 3, transitions),
        }
        for start in ("anywhere", "centre"):
            single = replace(walk, start=start)
            _show(f"walk, circle, {start}", single, counts["circle"], [sd])
            _show(f"walk, interval, {start}", single, counts["interval"], [sd])
            both = replace(mixture, start=start)
            _show(f"two walks, circle, {start}", both, counts["mixture"], [sd, wide, 0.15])
        truth = replace(turns, spread=sd, noise=3.0)
        found = turned(ANGLES, truth, 4, transitions)
        _show("turns, two angles", turns, found, [sd, 3.0, 3.0])
        found = turned(ring, replace(heavy, step=sd), 5, transitions)
        _show("turns, angle and interval", heavy, found, [sd])


def _show(name: str, specification: Any, counts: Any, truths: list[float]) -> None:
    found, errors, names = estimated_with_errors(specification, counts)
    for what, value, error, true in zip(names, found, errors, truths, strict=True):
        right = abs(value - true) <= max(0.03 * true, 2 * error)
        print(
            f"{name:32}{what:28} true {true:6.2f}  found {value:7.3f} ± {error:.3f}  "
            f"{'right' if right else 'WRONG'}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("costs", "steps"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--transitions", type=int, default=20_000)
    chosen = parser.parse_args()
    if chosen.what == "costs":
        costs(chosen.seeds, chosen.transitions)
    else:
        steps(chosen.transitions)
