"""The agreement table: reference problems, each solved by shoal and by engines that are not shoal.

    python bench/agreement.py [--only PATTERN] [--draws N]

NumPyro's NUTS samples the model as it is plainly written in tests/agreement; rstan, where R has it,
samples bench/stan/optimised.stan. For means, sds and the 5, 50 and 95 % quantiles of all contrasts,
the level and the precision, the table has the largest difference from shoal in combined Monte Carlo
standard errors and in posterior sds. Ends with 1 where one is over 4 or over 5 %.

Of N independent entries within error the largest is about √(2 log N) errors: 3.2 for the 190 of a
flock, 3.6 for the 730 of a torus; the chance that one of them is over 4 is 1.2 % and 4.5 %. In the
7,240 entries of the whole table that happens about every other time: look then whether the same
entry is over 4 with more draws, where a real difference grows and a chance one does not.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from rstan import NoStanError, Stan, read_array, stan_in, write_array

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "agreement"))

from comparison import MOST_ERRORS, MOST_OF_SD, STATISTICS, Gap, gaps, quantities
from plain_model import LARGEST_DENSE, POWER, Draws, Run, plain_draws
from problems import KINDS, PRIORS, Problem, shoal_draws

Engine = Callable[[Problem, Run, int], Draws]
OURS_TO_THEIRS = 2
"""Shoal draws this many times as often, since it costs little."""


def stan_draws(stan: Stan, problem: Problem, run: Run, seed: int) -> Draws:
    """Draws by Stan, from the same dense arrays."""
    departures = problem.counts.sum(axis=1)
    left, functions = departures > 0, problem.basis.shape[1]
    identity = np.array_equal(problem.basis, np.eye(functions))
    data = {
        "states": len(problem.passive),
        "functions": functions,
        "leaving": int(left.sum()),
        "discount": problem.discount,
        "arrivals": problem.arrivals,
        "departures": departures[left],
        "passive": problem.passive[left],
        "identity": int(identity),
        "basis": np.empty((0, functions)) if identity else problem.basis,
        "form": 1 + list(POWER).index(problem.form),
        "shape": problem.shape,
        "rate": problem.rate,
        "known_sd": 1.0,
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        for what, values in data.items():
            write_array(folder / "data" / f"{what}.txt", values)
        words = (run.chains, run.warmup + run.draws, run.warmup, 1, seed)
        done = stan.ask("sample", "optimised", folder, *words, int(functions <= LARGEST_DENSE))
        cost_to_go = np.moveaxis(read_array(folder / "draws.txt"), 0, 1)
        scale = read_array(folder / "scale.txt")[..., 0].T
    return Draws(cost_to_go, scale ** (2 * POWER[problem.form]), int(done["divergences"]))


def engines(stack: ExitStack) -> dict[str, Engine]:
    """NumPyro, and Stan where it is."""
    found: dict[str, Engine] = {"numpyro": plain_draws}
    try:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stan = stack.enter_context(stan_in(folder))
    except NoStanError as problem:
        print(f"without Stan: {problem}", file=sys.stderr)
        return found
    stan.compile("optimised")
    return found | {"rstan": lambda problem, run, seed: stan_draws(stan, problem, run, seed)}


def rows(only: str, draws: int, others: dict[str, Engine]) -> Iterator[dict[str, Gap]]:
    """Print a line for every problem, prior and engine, and give what is in it."""
    theirs = Run(4, 1000, draws)
    ours = theirs._replace(draws=OURS_TO_THEIRS * draws)
    for kind, form in ((kind, form) for kind in KINDS for form in PRIORS):
        if not fnmatch(f"{kind}, {form}", only):
            continue
        problem = KINDS[kind](form)
        one = shoal_draws(problem, ours, 1)
        known = quantities(one.cost_to_go, one.precision, problem.arrivals)
        for seed, (name, engine) in enumerate(others.items(), start=2):
            start = time.perf_counter()
            other = engine(problem, theirs, seed)
            seconds = time.perf_counter() - start
            found = gaps(known, quantities(other.cost_to_go, other.precision, problem.arrivals))
            cells = (f"{found[s].errors:7.2f} {100 * found[s].of_sd:6.2f}" for s in STATISTICS)
            print(
                f"{kind:20s} {form:10s} {name:8s} {5 * known.shape[-1]:7d} {' '.join(cells)} "
                f"{one.divergences + other.divergences:8d} {seconds:6.0f}",
                flush=True,
            )
            yield found


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare shoal's posteriors with other engines'.")
    parser.add_argument("--only", default="*", help="problems such as 'SPP*inverse-sd'")
    parser.add_argument("--draws", type=int, default=30_000, help="for each of 4 chains")
    words = parser.parse_args()
    titles = " ".join(f"{s + ' z':>7s} {'% sd':>6s}" for s in ("mean", "sd", "quant"))
    print(f"{'problem':20s} {'prior':10s} {'engine':8s} {'entries':>7s} {titles} diverged      s")
    with ExitStack() as stack:
        table = [
            gap for row in rows(words.only, words.draws, engines(stack)) for gap in row.values()
        ]
    worst = max(gap.errors for gap in table), max(gap.of_sd for gap in table)
    print(f"largest: {worst[0]:.2f} combined errors, {100 * worst[1]:.2f} % of an sd")
    return int(worst[0] >= MOST_ERRORS or worst[1] >= MOST_OF_SD)


if __name__ == "__main__":
    sys.exit(main())
