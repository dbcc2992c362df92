"""Are the intervals right: fits to data whose truth is known, many times over.

Simulation-based calibration: a truth is drawn from the prior, decisions from its policy, and the
fit is asked where among its draws the truth lies. If the inference is exact, that rank is uniform.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from shoal.checks.ranks import MASS, RankCurve, holm, uniform_rank
from shoal.checks.truths import (
    Design,
    decided,
    prior_position,
    quantities,
    quantity_names,
)
from shoal.errors import InputError, checked_seed
from shoal.inputs import GIVEN, SEED, Numbers
from shoal.passive import PassiveOperator
from shoal.posterior import NUTS, Fit
from shoal.posterior.draws import Draws
from shoal.posterior.importance import PARETO_K
from shoal.posterior.model import Method, Model, resolved
from shoal.precision import as_jax
from shoal.results import Result, data_frame
from shoal.states import Transitions
from shoal.states.transitions import Pairs
from shoal.system.cluster import Cluster, run_jobs
from shoal.system.progress import Report, reporting, silent
from shoal.tracks.record import warn
from shoal.tracks.splitting import listed

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.5, 0.8, 0.95)
KEPT = 100
"""Draws that a truth is ranked among: few enough to be all but independent of each other."""

FEWEST = 20
"""Replicates below which nothing can be said."""

OFTEN = 20
"""Arrivals from which on a state counts as well known."""

FAMILY = 0.05
"""The chance that any of several quantities is called wrong though all are right."""

BATCH = 5
"""Replicates that one worker makes in a row."""


class Replicate(NamedTuple):
    """One truth, its data and its fit."""

    number: int
    ranks: Float[np.ndarray, " quantities"]
    covered: Float[np.ndarray, " levels"]
    shown: Float[np.ndarray, "states 4"]
    errors: Float[np.ndarray, " 4"]
    divergences: int
    pareto_k: float
    r_hat: float
    converged: bool
    seconds: float


@dataclass(frozen=True)
class Trial:
    """What every replicate has in common."""

    model: Model
    method: Method
    drawing: Callable[..., Draws]
    design: Design
    shape: tuple[int, int]
    seed: int
    truth: tuple[Float[np.ndarray, "*grid"], PassiveOperator] | None
    states: tuple[int, ...]

    @property
    def has_draws(self) -> bool:
        """Whether the method says more than one answer."""
        return type(self.method).__name__ != "MAP"


@dataclass(frozen=True, repr=False)
class Calibration(Result):
    """Ranks and coverage of many fits to data whose truth is known.

    Attributes
    ----------
    method
        By which they were made.
    names
        Of the ranked quantities.
    replicates
        One for each truth.
    from_prior
        Whether truths were drawn from the prior; ranks need be uniform only then.
    """

    method: str
    states: int
    design: Design
    names: tuple[str, ...]
    replicates: tuple[Replicate, ...]
    from_prior: bool

    @cached_property
    def curves(self) -> tuple[RankCurve, ...]:
        """The distribution of each quantity's ranks."""
        ranks = np.stack([one.ranks for one in self.replicates])
        return tuple(
            RankCurve(name, ranks[:, n]) for n, name in enumerate(self.names[: ranks.shape[1]])
        )

    @property
    def coverage(self) -> dict[float, tuple[float, float]]:
        """How often intervals of each mass hold the true cost-to-go, with its standard error.

        Over all states and replicates; states of one replicate are not independent, and the error
        says so.
        """
        if self.method == "map":
            return {}
        shares = np.stack([one.covered for one in self.replicates])
        errors = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
        return {
            level: (float(mean), float(error))
            for level, mean, error in zip(LEVELS, shares.mean(axis=0), errors, strict=True)
        }

    @property
    def outside(self) -> tuple[RankCurve, ...]:
        """Quantities whose ranks are not uniform."""
        return tuple(curve for curve in self.curves if not curve.inside)

    @cached_property
    def corrected(self) -> dict[str, float]:
        """P-values of uniform ranks by name, corrected for how many quantities there are (Holm)."""
        if not self.curves:
            return {}
        p = holm(np.array([curve.p_value for curve in self.curves]))
        return {curve.name: float(each) for curve, each in zip(self.curves, p, strict=True)}

    def mean_error(self, which: str) -> float:
        """Median over replicates of one of: rmse, prior_rmse, width, correlation."""
        place = ("rmse", "prior_rmse", "width", "correlation").index(which)
        values = np.array([one.errors[place] for one in self.replicates])
        return (
            float(np.median(values[np.isfinite(values)])) if np.isfinite(values).any() else np.nan
        )

    def table(self) -> "pd.DataFrame":
        """A row for each ranked quantity: whether its ranks are uniform, as they should be.

        For ``map``, which has no intervals and no ranks, a row for each estimate beside its truth.
        """
        if not self.curves:
            true, mean, *_ = np.concatenate([one.shown for one in self.replicates]).T
            return data_frame({"truth": true, "estimate": mean})
        return data_frame(
            {
                "quantity": [curve.name for curve in self.curves],
                "inside_band": [curve.inside for curve in self.curves],
                "excess": [curve.excess for curve in self.curves],
                "p_value": [curve.p_value for curve in self.curves],
                "p_corrected": [self.corrected[curve.name] for curve in self.curves],
                "meaning": ["" if curve.inside else curve.shape for curve in self.curves],
            }
        )

    def rows(self) -> list[dict[str, str]]:
        """The table as it is printed: a row for each ranked quantity."""
        return [
            {
                "quantity": curve.name,
                f"ranks in the {100 * MASS:.0f} % band": "yes" if curve.inside else "no",
                "beyond it by": "" if curve.inside else f"{curve.excess:.2f} half-widths",
                "p, corrected": f"{self.corrected[curve.name]:.2g}",
                "which means": "" if curve.inside else curve.shape,
            }
            for curve in self.curves
        ]

    def __str__(self) -> str:
        return " ".join(self.sentences())

    def __repr__(self) -> str:
        inside = len(self.curves) - len(self.outside)
        return (
            f"Calibration({self.method}, {len(self.replicates)} replicates, {inside} of "
            f"{len(self.curves)} quantities inside their bands)"
        )

    def sentences(self) -> list[str]:
        """What to make of it, in words."""
        return [*self._calibrated(), *self._recovered(), *self._trouble()]

    def _calibrated(self) -> list[str]:
        if self.method == "map":
            return ["map has no intervals to be right or wrong."]
        words = ", ".join(
            f"{100 * level:.0f} % intervals hold the truth {100 * mean:.1f} ± {100 * error:.1f} %"
            for level, (mean, error) in self.coverage.items()
        )
        said = [f"Over {len(self.replicates)} data sets, {words} of the time."]
        if not self.from_prior:
            return [
                *said,
                "The truth was given, not drawn from the prior: ranks need not be uniform.",
            ]
        if not self.outside:
            count = len(self.curves)
            return [
                *said,
                f"The ranks of all {count} quantities stay in their {100 * MASS:.0f} % bands.",
            ]
        worst = max(self.outside, key=lambda curve: curve.excess)
        total = len(self.curves)
        left = [curve.name for curve in self.outside if self.corrected[curve.name] < FAMILY]
        remain = (
            f"{len(left)} remain{'s' * (len(left) == 1)} ({listed(left)})"
            if left
            else "none remains: this can be chance"
        )
        return [
            *said,
            f"The ranks of {len(self.outside)} of {total} quantities leave their "
            f"{100 * MASS:.0f} % bands, most of all {worst.name} ({worst.shape}); by chance alone "
            f"{(1 - MASS) * total:.1f} would. After Holm's correction for {total} quantities "
            f"{remain}.",
        ]

    def _recovered(self) -> list[str]:
        rmse, before = self.mean_error("rmse"), self.mean_error("prior_rmse")
        correlation, width = self.mean_error("correlation"), self.mean_error("width")
        ending = "" if self.method == "map" else f"; a 95 % interval is {width:.2f} nats wide"
        return [
            f"With {self.design.words()}, a cost-to-go is off by {rmse:.2f} "
            f"nats where it is entered {OFTEN} times or more (without data: {before:.2f}), its "
            f"correlation with the truth is {correlation:.2f}{ending}. These are medians over "
            "data sets."
        ]

    def _trouble(self) -> list[str]:
        said, count = [], len(self.replicates)
        diverged = sum(one.divergences > 0 for one in self.replicates)
        far = sum(one.pareto_k > PARETO_K for one in self.replicates)
        lost = sum(not one.converged for one in self.replicates)
        if diverged:
            said.append(f"{diverged} of {count} fits had divergences.")
        if far:
            said.append(
                f"In {far} of {count} fits Pareto k̂ is above {PARETO_K}: the user is warned that "
                "the approximation is not the posterior."
            )
        if lost:
            said.append(f"{lost} of {count} fits did not converge, and say so.")
        return said


def calibrate(  # noqa: PLR0913
    model: Annotated[Model, GIVEN],
    *,
    groups: int = 1,
    animals: int = 10,
    frames: int = 100,
    method: str | Method = "nuts",
    replicates: int = 100,
    chains: int = 4,
    draws: int = 250,
    seed: int = SEED,
    truth: Fit | Numbers | None = None,
    cluster: Cluster | None = None,
    progress: bool | Report | None = None,
) -> Calibration:
    """Fit simulated data whose truth is known, again and again, and see whether intervals hold it.

    Parameters
    ----------
    model
        What is assumed; give it an informative prior such as ``Prior(shape=5, rate=5)``. The
        paper's Gamma(0.1, 0.1) draws truths with costs of hundreds, which no data could show.
    groups, animals, frames
        The design: how many groups of how many animals are watched for how many frames.
    method, chains, draws
        As in ``Model.fit``.
    replicates
        How many truths.
    truth
        A fit, or a cost-to-go: the truth of all replicates. By default each is drawn from the
        prior.
    cluster
        A number of worker processes, the address of a Dask scheduler, or a Dask client.

    Returns
    -------
    Calibration
        ``print`` says whether the intervals hold the truth; ``coverage``, ``curves`` and ``table``
        have the numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> space = shoal.StateSpace.discrete(4)
    >>> model = shoal.Model(space, np.full((4, 4), 1 / 4), prior=shoal.Prior(shape=5, rate=5))
    >>> found = shoal.calibrate(model, method="laplace", replicates=20, seed=1)
    >>> 0.85 < found.coverage[0.95][0] <= 1
    True
    """
    if not isinstance(model, Model):
        raise InputError(f"a model is calibrated, got {type(model).__name__}")
    if replicates < FEWEST:
        raise InputError(f"fewer than {FEWEST} replicates say nothing, got {replicates}")
    design = Design(groups, animals, frames)
    design.check()
    settings, drawing = resolved(method)
    if isinstance(settings, NUTS) and cluster is not None and settings.workers is None:
        settings = replace(settings, workers=1)
    if truth is None:
        _warn_vague(model)
    trial = Trial(
        model,
        settings,
        drawing,
        design,
        (chains, draws),
        checked_seed(seed),
        None if truth is None else _given_truth(truth, model),
        _some_states(model.space.size),
    )
    return run_trial(trial, replicates, cluster, progress)


def _given_truth(truth: Any, model: Model) -> tuple[Float[np.ndarray, "*grid"], PassiveOperator]:
    if isinstance(truth, Fit):
        draws, passive = truth.cost_to_go.values, truth.operator
        v = draws.mean(axis=(0, 1))
    else:
        v, passive = np.asarray(truth, dtype=float), model.family.at(jnp.zeros(model.family.count))
    if v.shape != model.space.shape or not np.isfinite(v).all():
        raise InputError(
            f"a truth is a finite number for each state, of shape {model.space.shape}; got shape "
            f"{v.shape}"
        )
    return v, passive


def run_trial(
    trial: Trial, replicates: int, cluster: Any = None, progress: bool | Report | None = None
) -> Calibration:
    """All replicates of a trial, here or on workers."""
    batches = [
        range(first, min(first + BATCH, replicates)) for first in range(0, replicates, BATCH)
    ]
    with reporting(progress) as report:
        made = run_jobs(partial(_batch, trial), batches, cluster, report, "calibrating")
        found = sorted((one for batch in made for one in batch), key=lambda one: one.number)
    density: Any = trial.model.density(_one_transition(trial.model))
    names = quantity_names(density, trial.states)
    if trial.truth is not None:
        names = names[: len(trial.states)]
    return Calibration(
        type(trial.method).__name__.lower(),
        trial.model.space.size,
        trial.design,
        names if trial.has_draws else (),
        tuple(found),
        trial.truth is None,
    )


def _batch(trial: Trial, numbers: range) -> list[Replicate]:
    return [_replicate(trial, number) for number in numbers]


def _replicate(trial: Trial, number: int) -> Replicate:
    rng = np.random.default_rng([trial.seed, number])
    begun = time.perf_counter()
    model = trial.model
    if trial.truth is None:
        typical: Any = model.density(_one_transition(model))
        position = prior_position(typical, rng)
        v = typical.cost_to_go(position)
        passive = typical.passive(typical.split(position)[1])
    else:
        position = None
        v, passive = trial.truth
    counts = decided(model, np.asarray(v), passive, trial.design, rng)
    density: Any = model.density(counts)
    drawn = trial.drawing(density, trial.method, trial.shape, int(rng.integers(2**31)), silent)
    return _judged(trial, number, density, drawn, position, np.asarray(v), rng, begun)


def _judged(
    trial: Trial,
    number: int,
    density: Any,
    drawn: Draws,
    position: Any,
    v: Float[np.ndarray, "*grid"],
    rng: np.random.Generator,
    begun: float,
) -> Replicate:
    """Where the truth lies among the draws."""
    every = drawn.positions.reshape(-1, drawn.positions.shape[-1])
    some = np.unique(np.linspace(0, len(every) - 1, min(KEPT, len(every))).astype(int))
    # the truth is the first row: it is judged by the very same program
    first = every[:1] if position is None else np.asarray(position)[None]
    found = quantities(density, as_jax(np.concatenate([first, every])), trial.states)
    contrasts, ranked = np.asarray(found.contrasts), np.asarray(found.some)
    arrivals = np.asarray(density.arrivals).ravel()
    true = v.ravel() - v.ravel() @ arrivals / arrivals.sum()
    states = np.array(trial.states)
    if position is None:
        ranks = uniform_rank(true[states], contrasts[1:][some][:, states], rng)
    else:
        ranks = uniform_rank(ranked[0], ranked[1:][some], rng)
    mean = contrasts[1:].mean(axis=0)
    tails = [(1 - level) / 2 for level in LEVELS]
    low = np.quantile(contrasts[1:], tails, axis=0)
    high = np.quantile(contrasts[1:], [1 - tail for tail in tails], axis=0)
    shown = np.column_stack([true, mean, low[-1], high[-1]])[states]
    often = arrivals >= OFTEN
    return Replicate(
        number,
        ranks if trial.has_draws else np.zeros(0),
        ((low <= true) & (true <= high)).mean(axis=1),
        shown,
        _errors(true[often], mean[often], (high[-1] - low[-1])[often]),
        int(drawn.statistics.get("diverging", np.zeros(1)).sum()),
        float(drawn.facts.get("pareto_k", 0.0)),
        _r_hat(ranked[1:].reshape(*drawn.positions.shape[:2], -1)),
        bool(drawn.facts.get("converged", True)),
        time.perf_counter() - begun,
    )


def _errors(
    true: Float[np.ndarray, " n"], mean: Float[np.ndarray, " n"], width: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " 4"]:
    """The error of the estimate, of no estimate, the width of intervals, the correlation."""
    if true.size < 3:
        return np.full(4, np.nan)
    together = np.corrcoef(true, mean)[0, 1] if true.std() > 0 and mean.std() > 0 else np.nan
    return np.array(
        [
            np.sqrt(np.mean((mean - true) ** 2)),
            np.sqrt(np.mean((true - true.mean()) ** 2)),
            np.median(width),
            together,
        ]
    )


def _r_hat(draws: Float[np.ndarray, "chain draw quantities"]) -> float:
    if draws.shape[1] < 4:
        return float("nan")
    from arviz_stats.base.array import array_stats  # noqa: PLC0415  (slow to load)

    return float(np.nanmax(array_stats.rhat(draws, chain_axis=0, draw_axis=1)))


def _some_states(size: int, count: int = 4) -> tuple[int, ...]:
    """A few states, spread out whatever the shape of the grid, chosen before any data is seen."""
    golden = (np.arange(1, count + 1) * 0.6180339887498949) % 1
    return tuple(sorted({int(place * size) for place in golden}))


def _one_transition(model: Model) -> Transitions:
    """Data that say as good as nothing, to have a density at all."""
    origin = np.zeros(1, dtype=np.int64)
    row = np.asarray(model.family.at(jnp.zeros(model.family.count)).row(as_jax(0))).ravel()
    return Transitions(model.space, Pairs(origin, np.array([int(np.argmax(row))]), np.ones(1, int)))


def _warn_vague(model: Model) -> None:
    """A prior that draws truths which no data could show."""
    if not model.hierarchical and model.prior.unknowns and model.prior.shape < 2:
        warn(
            f"a Gamma({model.prior.shape:g}, {model.prior.rate:g}) prior of the precision draws "
            "truths with costs of hundreds of nats, which no data could show: calibrate with "
            "Prior(shape=5, rate=5) or the like"
        )
