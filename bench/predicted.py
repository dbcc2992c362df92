"""Simulated groups against observed ones: how many measures fail, by decisions and transitions.

    python bench/predicted.py --data FOLDER [--animals sheep] [--every 2 5 15]

All policies are learned from the same frames of the same groups, and checked on them: decisions
with steps and with turns, both with three features, and transitions with turn-coupled dynamics and
two angles. Turns and transitions replay the speeds of the animals that they start from; steps are
chosen.
"""

import argparse
import itertools
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.cli.compiling import keep_programs
from shoal.workflows.features import round_edges

SETS = {
    "sheep": "sheep-dog/drives_data.mat",
    "guppy pairs": "guppy-pairs-robofish",
    "fish-escape": "fish-escape5",
}
LEARNED_FROM = 8000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--animals", choices=SETS, action="append")
    parser.add_argument("--every", type=int, nargs="+", default=[5], help="frames of a move")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    keep_programs()
    print(
        "| animals | measure | observed | steps | turns | transitions |\n|---|---|---|---|---|---|"
    )
    for name, every in itertools.product(chosen.animals or SETS, chosen.every):
        read: Any = shoal.read_tracks(chosen.data / SETS[name])
        groups = [part.thin(every) for part in read if len(part.members) > 1][:6]
        begun = time.perf_counter()
        checks = {
            way: shoal.predictive_check(learned(groups), groups, replicates=100)
            for way, learned in WAYS.items()
        }
        told(f"{name}, 1 in {every}", checks)
        print(f"{name}, 1 in {every}: {time.perf_counter() - begun:.0f} s", flush=True)


def by_steps(groups: list[Any]) -> Any:
    """Alignment, distance and bearing of the nearest neighbour, by steps whose turns go on."""
    return _by_decisions(groups, shoal.Steps(others="ahead", candidates=128, persistence=True))


def by_turns(groups: list[Any]) -> Any:
    """The same, by turns."""
    return _by_decisions(groups, shoal.Turns(persistence=True))


def _by_decisions(groups: list[Any], moves: Any) -> Any:
    seen = [shoal.Distance((0, 1)).values(shoal.states.Scene.of(group)).ravel() for group in groups]
    gaps = np.concatenate(seen)
    edges = round_edges(gaps[np.isfinite(gaps)])
    space = shoal.StateSpace(
        shoal.LocalMisalignment(include_self=False, bins=18),
        shoal.Distance(edges, beyond=True),
        shoal.Bearing(bins=18),
    )
    found = shoal.decisions(groups, space, moves)
    if found.total > LEARNED_FROM:
        found = found.take(np.arange(0, found.total, -(-found.total // LEARNED_FROM)))
    return shoal.Model(space, moves, shoal.Smooth()).fit(found, "laplace", draws=100, seed=1)


def by_transitions(groups: list[Any]) -> Any:
    """Alignment and bearing, turn-coupled: what was fitted before decisions."""
    space = shoal.StateSpace(
        shoal.LocalMisalignment(include_self=False, bins=18), shoal.Bearing(bins=18)
    )
    counts = shoal.count_transitions(shoal.Collection(groups), space)
    return shoal.Model(space, shoal.TurnCoupled(), shoal.Smooth()).fit(
        counts, "laplace", draws=100, seed=1
    )


WAYS = {"steps": by_steps, "turns": by_turns, "transitions": by_transitions}


def told(name: str, checks: dict[str, Any]) -> None:
    fails = dict.fromkeys(checks, 0)
    first = next(iter(checks.values()))
    total = 0
    for key, measure in first.measures.items():
        if not np.isfinite(measure.observed):
            continue
        total += 1
        cells = []
        for way, check in checks.items():
            mine = check.measures[key]
            low, high = mine.interval("learned policy")
            held = mine.holds("learned policy")
            fails[way] += not held
            cells.append(f"{low:.3g} to {high:.3g}{'' if held else ' ✗'}")
        print(
            f"| {name} | {measure.summary.label} | {measure.observed:.3g} | {' | '.join(cells)} |"
        )
    failed = " | ".join(map(str, fails.values()))
    print(f"| {name} | **fail, of {total}** | | {failed} |", flush=True)


if __name__ == "__main__":
    main()
