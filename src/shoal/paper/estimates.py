"""A fit of a study, as curves and maps, and beside the truth where that is known."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Float

from shoal.checks.recovery import Recovery
from shoal.figures.fits import curve_of
from shoal.figures.lines import Curve
from shoal.posterior import Fit, Model
from shoal.posterior.diagnostics import Diagnostics
from shoal.posterior.model import Method
from shoal.states import Transitions
from shoal.system.files import make_folder
from shoal.system.progress import Report, silent


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fit with a name for files, a label for people, and the time it took."""

    name: str
    label: str
    fit: Fit
    seconds: float

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """How far to trust it."""
        return self.fit.diagnostics()

    def draws(self, what: str) -> xr.DataArray:
        """Draws of ``cost_to_go`` or ``state_cost``, without the level."""
        return self.fit.cost_to_go if what == "cost_to_go" else self.fit.state_cost

    def mean(self, what: str = "cost_to_go") -> Float[np.ndarray, " *axes"]:
        """The posterior mean, with minimum 0."""
        return np.asarray(self.draws(what).values.mean(axis=(0, 1)))

    def sd(self, *, level: bool = False) -> Float[np.ndarray, " *axes"]:
        """The posterior sd of the cost-to-go, with the level that the prior places or without."""
        draws = self.fit.sampled if level else self.fit.cost_to_go
        return np.asarray(draws.values.std(axis=(0, 1), ddof=1))

    def curve(self, what: str, label: str = "") -> Curve:
        """Mean and 95 % interval along one axis."""
        return curve_of(self.draws(what), label or self.label)

    def beside(self, truth: Float[np.ndarray, " *axes"], what: str = "cost_to_go") -> Recovery:
        """Estimate and truth at one level, state by state."""
        return Recovery.of(self.draws(what), truth, self.fit.arrivals.values)


@dataclass
class Fitting:
    """Makes the fits of a study, keeps each in its folder at once, and the time it took."""

    folder: Path
    chains: int
    seed: int
    report: Report = silent
    clock: Callable[[], float] = time.perf_counter
    made: list[Estimate] = field(default_factory=list)

    def __call__(
        self, name: str, label: str, model: Model, counts: Transitions, method: Method, draws: int
    ) -> Estimate:
        """A fit under a name."""
        start = self.clock()
        fit = model.fit(
            counts,
            method,
            chains=self.chains,
            draws=draws,
            seed=self.seed,
            progress=lambda stage, done, total: self.report(f"{name}: {stage}", done, total),
        )
        seconds = self.clock() - start
        fit.save(make_folder(self.folder) / f"{name}.nc")
        self.made.append(Estimate(name, label, fit, seconds))
        return self.made[-1]


def diagnosed(estimates: Sequence[Estimate]) -> list[dict[str, str]]:
    """A row for each fit: how far to trust it. Nothing in it depends on the machine's speed."""
    rows = []
    for estimate in estimates:
        numbers = estimate.diagnostics.numbers
        sizes = estimate.fit.sampled.sizes
        rows.append(
            {
                "fit": estimate.name,
                "what": estimate.label,
                "draws": f"{sizes['chain']} × {sizes['draw']}",
                "largest R-hat": shown(numbers, "max_r_hat", ".4f"),
                "smallest ESS": shown(numbers, "min_ess_bulk", ".0f"),
                "divergences": shown(numbers, "divergences", ".0f"),
                "Pareto k̂": shown(numbers, "pareto_k", ".2f"),
                "sound": "yes" if estimate.diagnostics.trusted else "no",
            }
        )
    return rows


def shown(numbers: dict[str, float], name: str, form: str) -> str:
    """A number in words, or a dash where the method has none."""
    return format(numbers[name], form) if name in numbers else "–"
