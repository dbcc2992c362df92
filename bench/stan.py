"""Stan beside shoal: the same transitions, the same posterior, timed in one run.

    python bench/stan.py FOLDER [--only PATTERN] [--full]

FOLDER is what ``shoal reproduce`` writes. Every NUTS fit in it is taken to two Stan programs:
``published`` computes as the paper's own does, ``optimised`` as shoal does but with dense matrices.
Both have the fit's prior, and both gradients must agree with shoal's before anything is timed.

A gradient's time is the least of several, called from R for Stan and from Python for shoal: on 36
states either is mostly the call. Stan runs on one core, shoal may use more. A sampling run is the
whole of rstan's call, its processes and checks included, compilation not. Small problems are
sampled as shoal sampled them; large ones only with ``--full``, in short chains, and never in the
published way: its time is projected, and said to be. Results go to FOLDER/<study>/stan.json and
into the study's README; what is known of fits that ``--only`` leaves out is kept.
"""

import argparse
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from arviz_stats.base.array import array_stats

import shoal
from rstan import NoStanError, Stan, StanError, read_array, stan_in, write_array
from shoal.basis.identity import IdentityMap
from shoal.errors import InputError
from shoal.paper.timings import digest, refresh
from shoal.posterior import Fit
from shoal.posterior.convergence import convergence
from shoal.posterior.density import Conditional, Density
from shoal.posterior.fit import SAMPLING, without_level
from shoal.posterior.prior import FORMS, Prior
from shoal.system.files import write_whole

STUDIES = ("vicsek", "guppies")
PROGRAMS = ("optimised", "published")
"""In this order: the steps that the first needs project the time of the second."""

SMALL = 100_000
"""Up to this many states × distinct transitions the published way is quick enough to sample."""

SHORT = (2, 600, 300)
"""Chains, iterations and warm-up of a run on a large problem."""

CORES = 2
SEED = 1


@dataclass(frozen=True)
class Row:
    """What was measured of one program on one fit.

    ``load`` is how many processes wanted a core in the minute before: times grow with it.
    """

    fit: str
    transitions: str
    program: str
    load: float
    gradient_ms: float
    shoal_gradient_ms: float
    shoal_seconds: float | None = None
    sampling_seconds: float | None = None
    sampling_cpu_seconds: float | None = None
    iterations: str | None = None
    min_ess_bulk: float | None = None
    projected_seconds: float | None = None
    projection: str | None = None
    largest_z: float | None = None


@dataclass(frozen=True, eq=False)
class Problem:
    """A fit, and what Stan needs of it."""

    name: str
    fit: Fit
    transitions: shoal.states.Transitions
    whole: Density
    density: Conditional
    prior: Prior

    @classmethod
    def of(cls, name: str, fit: Fit) -> "Problem":
        """With the density that the fit was drawn from."""
        stored = fit.data["transitions"].to_dataset()
        origin, destination, count = (
            stored[name].values for name in ("origin", "destination", "count")
        )
        transitions = shoal.states.Transitions.from_pairs(
            origin, destination, fit.model.space, count
        )
        density = fit.model.density(transitions)
        if fit.model.hierarchical:
            raise TypeError(
                "Stan programs are written for bases and passive dynamics that are known"
            )
        given = density.given(jnp.asarray(density.start))
        return cls(name, fit, transitions, density, given, fit.model.prior)

    @property
    def size(self) -> int:
        """States × distinct transitions, which the published program's work grows with."""
        return self.density.passive.size * len(self.transitions.pairs)

    @cached_property
    def point(self) -> np.ndarray:
        """(β, t) of the last draw: a place that the sampler visits."""
        last = self.fit.data["posterior"].to_dataset().isel(chain=0, draw=-1)
        beta = last["coefficients" if "coefficients" in last else "cost_to_go"].values.ravel()
        if not self.prior.unknowns:
            return beta
        return np.append(beta, math.log(float(last["precision"])) / self.prior.power)

    @property
    def run(self) -> tuple[int, int, int]:
        """Chains, iterations and warm-up of the fit."""
        sizes = self.fit.data["posterior"].sizes
        warmup = int(json.loads(self.fit.data.attrs["settings"])["warmup"])
        return sizes["chain"], sizes["draw"] + warmup, warmup

    @property
    def steps(self) -> int:
        """Leapfrog steps of the draws that shoal kept."""
        return int(self.fit.data["sample_stats"]["n_steps"].sum())

    @cached_property
    def passive(self) -> np.ndarray:
        """P̄ written out."""
        return np.asarray(self.density.passive.dense())

    def data(self, program: str) -> dict[str, Any]:
        """What the data block of a program declares."""
        prior, density, pairs = self.prior, self.density, self.transitions.pairs
        shared = {
            "states": density.passive.size,
            "functions": density.basis.count,
            "discount": float(density.discount),
            "form": FORMS.index(prior.form) + 1,
            "shape": prior.shape,
            "rate": prior.rate,
            "known_sd": math.exp(-prior.start / 2),
        }
        if program == "published":
            return shared | {
                "pairs": len(pairs),
                "origin": pairs.origin + 1,
                "destination": pairs.destination + 1,
                "seen": pairs.count,
                "passive": self.passive,
                "basis": density.basis.dense(),
            }
        departures = self.transitions.departures.ravel()
        left = departures > 0
        identity = isinstance(density.basis.map, IdentityMap)
        return shared | {
            "leaving": int(left.sum()),
            "arrivals": self.transitions.arrivals.ravel(),
            "departures": departures[left],
            "passive": self.passive[left],
            "identity": int(identity),
            "basis": np.empty((0, density.basis.count)) if identity else density.basis.dense(),
        }


def seconds_per_call(call: Callable[[], object], budget: float = 2.0) -> float:
    """The least mean time of many short batches, the first call not counted: as in R.

    Batches are short so that on a busy machine some go through without being interrupted.
    """

    def timed(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            jax.block_until_ready(call())
        return (time.perf_counter() - start) / count

    timed(1)
    once = timed(1)
    size = max(1, math.ceil(0.005 / once))
    batches = min(400, max(3, math.ceil(budget / (size * once))))
    return min(timed(size) for _ in range(batches))


def agreement(problem: Problem, draws: np.ndarray) -> tuple[float, float]:
    """The fewest effective draws that Stan has, and the largest |z| between the posterior means.

    Both are of contrasts: the mean weighted by arrivals is removed from every draw. Of as many
    independent z as there are states, the largest is about 2.2 for 36 and 3.3 for 1,296.
    """
    ours = problem.fit.sampled
    theirs = xr.DataArray(
        np.moveaxis(draws, 0, 1).reshape(draws.shape[1], draws.shape[0], *ours.shape[2:]),
        dims=ours.dims,
    )
    arrivals = problem.fit.arrivals.drop_vars(list(problem.fit.arrivals.coords))
    observed = xr.Dataset({"arrivals": arrivals})
    figures = convergence(xr.Dataset({"cost_to_go": theirs}), observed)
    means, errors = [], []
    for sampled in (ours.drop_vars(list(ours.coords)), theirs):
        contrasts = without_level(sampled, arrivals)
        means.append(contrasts.mean(SAMPLING).values)
        errors.append(array_stats.mcse(contrasts.values, chain_axis=0, draw_axis=1))
    z = (means[0] - means[1]) / np.hypot(*errors)
    return float(figures["ess_bulk"].min()), float(np.abs(z).max())


def sampled(row: Row, stan: Stan, problem: Problem, folder: Path, full: bool) -> tuple[Row, int]:
    """The row after a sampling run, and its leapfrog steps: 0 where none is called for."""
    small = problem.size <= SMALL
    if not small and not (full and row.program == "optimised"):
        return row, 0
    chains, iterations, warmup = problem.run if small else SHORT
    words = (row.program, folder, chains, iterations, warmup, CORES, SEED)
    done = stan.ask("sample", *words)
    draws = read_array(folder / "draws.txt")
    ess, z = agreement(problem, draws)
    print(
        f"  {row.program}: {int(done['steps']):,} leapfrog steps, {int(done['divergences'])} "
        f"divergences, {done['cpu_seconds']:.1f} s of processor time in {done['seconds']:.1f} s",
        flush=True,
    )
    told = f"{chains} × {iterations}"
    row = replace(
        row,
        sampling_seconds=done["seconds"],
        sampling_cpu_seconds=done["cpu_seconds"],
        iterations=told,
        min_ess_bulk=ess,
        largest_z=z,
    )
    return row, int(done["steps"])


def projected(row: Row, problem: Problem, steps: int) -> Row:
    """The row with what sampling would take at this gradient's pace.

    ``steps`` are those of Stan's optimised run, which has the same posterior; 0 where there was
    none, and shoal's stand in for them.
    """
    if steps:
        chains, iterations, _ = SHORT
        source = f"Stan's optimised run of {chains} × {iterations} iterations, warm-up included"
    else:
        steps = problem.steps
        chains, iterations, warmup = problem.run
        source = (
            f"shoal's {chains} × {iterations - warmup} kept draws: no warm-up, and in coordinates "
            "that Stan has not, so at least that"
        )
    words = f"not run: {row.gradient_ms:.4g} ms × {steps:,} leapfrog steps of {source}; one core"
    return replace(row, projected_seconds=1e-3 * row.gradient_ms * steps, projection=words)


def compared(stan: Stan, problem: Problem, seconds: float | None, full: bool) -> list[Row]:
    """A row for each program."""
    ours = jax.jit(jax.value_and_grad(problem.whole.log_posterior))
    point = jnp.asarray(problem.point)
    slope = np.asarray(ours(point)[1])
    rows, steps = [], 0
    for program in PROGRAMS:
        stan.compile(program)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "data").mkdir()
            for what, values in problem.data(program).items():
                write_array(folder / "data" / f"{what}.txt", values)
            write_array(folder / "point.txt", problem.point)
            load = os.getloadavg()[0]
            theirs = stan.ask("gradient", program, folder)["seconds"]
            gap = np.abs(read_array(folder / "gradient.txt") - slope).max()
            assert gap < 1e-8 * np.abs(slope).max() + 1e-6, f"{program}: gradients differ by {gap}"
            mine = seconds_per_call(lambda: ours(point))
            times = (1e3 * theirs, 1e3 * mine, seconds)
            row = Row(problem.name, digest(problem.fit), program, load, *times)
            row, taken = sampled(row, stan, problem, folder, full)
        steps = steps or taken
        if program == "published" and not taken:
            row = projected(row, problem, steps)
        rows.append(row)
    return rows


def wall_clocks(study: Path) -> dict[str, float]:
    """Seconds that shoal's fits took, by name, where they were written down."""
    path = study / "timings.json"
    if not path.is_file():
        return {}
    return {entry["fit"]: entry["seconds"] for entry in json.loads(path.read_text())["fits"]}


def keep(study: Path, stan: Stan, rows: list[Row]) -> None:
    """Write stan.json: new rows in place of old ones of the same fit, others as they were."""
    path = study / "stan.json"
    before = json.loads(path.read_text())["fits"] if path.is_file() else []
    fresh = {row.fit for row in rows}
    kept = [
        row
        for row in before
        if row["fit"] not in fresh and (study / "fits" / f"{row['fit']}.nc").is_file()
    ]
    facts = {"rstan": stan.version, "compile_seconds": stan.compile_seconds}
    whole = {"stan": facts, "fits": kept + [asdict(row) for row in rows]}
    write_whole(path, (json.dumps(whole, indent=2, ensure_ascii=False) + "\n").encode())
    if (study / "README.md").is_file():
        refresh(study)


def shown(row: Row) -> str:
    """A line of the table."""

    def cell(value: float | None, form: str) -> str:
        return "–" if value is None else format(value, form)

    return (
        f"{row.fit:26s} {row.program:10s} {row.gradient_ms:10.4f} {row.shoal_gradient_ms:10.4f} "
        f"{row.gradient_ms / row.shoal_gradient_ms:7.1f} {row.iterations or '–':>9s} "
        f"{cell(row.sampling_seconds, '.1f'):>9s} {cell(row.projected_seconds, '.0f'):>9s} "
        f"{cell(row.shoal_seconds, '.1f'):>7s} {cell(row.min_ess_bulk, '.0f'):>7s} "
        f"{cell(row.largest_z, '.2f'):>6s} {row.load:5.1f}"
    )


HEADER = (
    f"{'fit':26s} {'program':10s} {'Stan ms':>10s} {'shoal ms':>10s} {'×':>7s} {'run':>9s} "
    f"{'s':>9s} {'projected':>9s} {'shoal s':>7s} {'ESS':>7s} {'|z|':>6s} {'load':>5s}"
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Time Stan beside shoal on the fits of a folder.")
    parser.add_argument("folder", type=Path, help="what shoal reproduce wrote")
    parser.add_argument(
        "--only", default="*", help="fits whose study/name matches this, such as 'guppies/*-walk'"
    )
    parser.add_argument("--full", action="store_true", help="sample large problems too")
    words = parser.parse_args()
    paths = [
        path
        for study in STUDIES
        for path in sorted((words.folder / study / "fits").glob("*.nc"))
        if fnmatch(f"{study}/{path.stem}", words.only)
    ]
    try:
        with tempfile.TemporaryDirectory() as name, stan_in(Path(name)) as stan:
            table = list(measured(stan, paths, words.full))
    except (StanError, InputError) as problem:
        print(problem, file=sys.stderr)
        return 2 if isinstance(problem, NoStanError | InputError) else 1
    if not table:
        print(f"{words.folder} holds no NUTS fit that was asked for", file=sys.stderr)
        return 2
    print(f"on {os.cpu_count()} cores, rstan {stan.version}", HEADER, *map(shown, table), sep="\n")
    for row in table:
        if row.projection:
            print(f"{row.fit}, {row.program}: {row.projection}")
    return 0


def measured(stan: Stan, paths: list[Path], full: bool) -> Iterator[Row]:
    """Rows of all fits by NUTS, written down study by study as they come."""
    done: dict[Path, list[Row]] = {}
    for path in paths:
        fit, study = shoal.load_fit(path), path.parent.parent
        if fit.method != "nuts":
            continue
        problem = Problem.of(path.stem, fit)
        print(
            f"{study.name}/{problem.name}: {problem.density.passive.size} states, "
            f"{len(problem.transitions.pairs)} distinct transitions",
            flush=True,
        )
        rows = compared(stan, problem, wall_clocks(study).get(problem.name), full)
        done.setdefault(study, []).extend(rows)
        keep(study, stan, done[study])
        yield from rows


if __name__ == "__main__":
    sys.exit(main())
