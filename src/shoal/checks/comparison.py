"""Observed groups among simulated ones: each measure, its distribution under each model."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from shoal.checks.words import paragraph
from shoal.measures.summaries import Summary
from shoal.results import Result, data_frame

if TYPE_CHECKING:
    import pandas as pd

LEARNED, PASSIVE, VICSEK = "learned policy", "passive only", "Vicsek"
MODELS = (LEARNED, PASSIVE, VICSEK)


@dataclass(frozen=True, eq=False)
class Measure:
    """One measure of the observed groups, and of every replicate of them under every model.

    Attributes
    ----------
    observed
        Its mean over the groups.
    by_group
        Its value for each group, by label.
    replicated
        Its mean over the groups of each replicate, by model.
    unit
        In words; empty for ratios.
    """

    summary: Summary
    unit: str
    observed: float
    by_group: dict[str, float]
    replicated: dict[str, Float[np.ndarray, " replicates"]]

    def __repr__(self) -> str:
        return f"Measure({self.summary.name}, observed {self.observed:.4g})"

    def interval(self, model: str, mass: float = 0.95) -> tuple[float, float]:
        """The central interval that holds this share of the replicates."""
        values = self._known(model)
        if not values.size:
            return np.nan, np.nan
        low, high = np.quantile(values, [(1 - mass) / 2, (1 + mass) / 2])
        return float(low), float(high)

    def holds(self, model: str) -> bool:
        """Whether the observed value lies within a model's 95 % interval."""
        low, high = self.interval(model)
        return low <= self.observed <= high or bool(np.isclose(self.observed, (low, high)).any())

    def mean(self, model: str) -> float:
        """Of the replicates."""
        values = self._known(model)
        return float(values.mean()) if values.size else np.nan

    def sd(self, model: str) -> float:
        """Of the replicates."""
        values = self._known(model)
        return float(values.std(ddof=1)) if values.size > 1 else np.nan

    def p_value(self, model: str) -> float:
        """The chance that a replicate lies as far out as the observed value, on either side.

        Twice the smaller tail, the observed value counted with the replicates, at most 1.
        """
        values = self._known(model)
        if not values.size or not np.isfinite(self.observed):
            return np.nan
        below = 1 + int((values <= self.observed).sum())
        above = 1 + int((values >= self.observed).sum())
        return min(1.0, 2 * min(below, above) / (values.size + 1))

    def p_words(self, model: str) -> str:
        """The p-value, or what it is below where no replicate lies as far out."""
        p, least = self.p_value(model), 2 / (self._known(model).size + 1)
        return f"≤ {p:.2g}" if p == least else f"{p:.2g}" if np.isfinite(p) else "–"

    def error(self, model: str) -> float:
        """How far the replicates' mean lies from the observed value, in units of one ruler.

        The ruler is the same for all models: the root mean square of their standard deviations.
        NaN where no model's replicates vary.
        """
        ruler = float(np.sqrt(np.mean([self.sd(name) ** 2 for name in self.replicated])))
        off = abs(self.mean(model) - self.observed)
        if off == 0:
            return 0.0
        return off / ruler if ruler > 1e-9 * abs(off) else np.nan

    def _known(self, model: str) -> Float[np.ndarray, " known"]:
        values = self.replicated[model]
        return values[np.isfinite(values)]


@dataclass(frozen=True, eq=False)
class PredictiveCheck(Result):
    """What came out, measure by measure.

    Attributes
    ----------
    measures
        By name.
    models
        The learned policy first, then the baselines.
    replicates
        How often the whole design was simulated under each model.
    noise
        σ of the Vicsek baseline, fitted to the tracks, in degrees; NaN without it.
    reaches
        How near the target counts as reached, by group.
    notes
        What part of the tracks is compared, and within which walls, where it is not all of them.
    """

    measures: dict[str, Measure]
    models: tuple[str, ...]
    replicates: int
    groups: int
    noise: float
    seed: int
    reaches: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        words = ", ".join(f"{name} {error:.3g}" for name, error in self.errors().items())
        return (
            f"PredictiveCheck({len(self.measures)} measures, {self.replicates} replicates of "
            f"{self.groups} group(s); summed standardised errors: {words})"
        )

    def errors(self) -> dict[str, float]:
        """The summed standardised error of each model; NaN where there is nothing to sum.

        Measures that some model does not have, or whose replicates vary under no model, are left
        out: see ``compared``.
        """
        summed = self.compared()
        return {
            model: float(sum(measure.error(model) for measure in summed)) if summed else np.nan
            for model in self.models
        }

    def failures(self, model: str = LEARNED) -> list[Measure]:
        """The measures whose observed value lies outside a model's 95 % interval, worst first."""
        out = [m for m in self.judged(model) if not m.holds(model)]
        return sorted(out, key=lambda m: -np.nan_to_num(m.error(model), nan=np.inf))

    def corrected(self, model: str = LEARNED) -> dict[str, float]:
        """P-values by measure, corrected for looking at all of them at once.

        The chance that in a replicate *any* measure lies as far out as this one does in the data,
        in standard deviations (Westfall and Young's largest statistic). Holm's correction would
        need thousands of replicates; this takes those at hand, and knows which measures go
        together.
        """
        judged = self.judged(model)
        if not judged:
            return {}
        columns = [np.append(m.replicated[model], m.observed) for m in judged]
        values = np.stack([np.where(np.isfinite(c), c, np.nan) for c in columns], axis=1)
        centre, spread = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        off = np.abs(values - centre) / np.where(spread > 0, spread, 1.0)
        off = np.where(spread > 1e-9 * np.abs(centre), np.nan_to_num(off), 0.0)
        largest = off.max(axis=1)
        p = [float(np.mean(largest >= own * (1 - 1e-12))) for own in off[-1]]
        return {m.summary.name: each for m, each in zip(judged, p, strict=True)}

    def surviving(self, model: str = LEARNED) -> list[Measure]:
        """Failures that remain once corrected for looking at all measures, worst first."""
        p = self.corrected(model)
        return [m for m in self.failures(model) if p[m.summary.name] < 0.05]

    def judged(self, model: str = LEARNED) -> list[Measure]:
        """The measures that both the observed and the simulated groups have."""
        return [m for m in self.measures.values() if np.isfinite(m.p_value(model))]

    def __str__(self) -> str:
        return self.words()

    def words(self) -> str:
        """Where the model holds and where it fails, in a paragraph."""
        return paragraph(self)

    def table(self) -> "pd.DataFrame":
        """A row for each measure and model: observed, and mean and 95 % interval of replicates."""
        corrected = {model: self.corrected(model) for model in self.models}
        rows: list[dict[str, Any]] = []
        for name, measure in self.measures.items():
            for model in self.models:
                lower, upper = measure.interval(model)
                rows.append(
                    {
                        "measure": name,
                        "unit": measure.unit,
                        "observed": measure.observed,
                        "model": model,
                        "mean": measure.mean(model),
                        "lower": lower,
                        "upper": upper,
                        "p_value": measure.p_value(model),
                        "p_corrected": corrected[model].get(name, np.nan),
                        "error": measure.error(model),
                    }
                )
        return data_frame({key: [row[key] for row in rows] for key in rows[0]})

    def rows(self) -> list[dict[str, str]]:
        """The table as it is printed: a row for each measure, with p and the 95 % intervals."""
        rows = []
        for measure in self.measures.values():
            unit = f" ({measure.unit})" if measure.unit else ""
            row = {
                "measure": f"{measure.summary.label}{unit}",
                "observed": _short(measure.observed),
            }
            for model in self.models:
                low, high = measure.interval(model)
                row[model] = f"{_short(measure.mean(model))} [{_short(low)}, {_short(high)}]"
                row[f"p, {model}"] = measure.p_words(model)
            rows.append(row)
        total = {"measure": "summed standardised error", "observed": ""}
        for model, error in self.errors().items():
            total |= {model: _short(error), f"p, {model}": ""}
        return [*rows, total]

    def compared(self) -> list[Measure]:
        """Measures with a standardised error under every model."""
        return [
            measure
            for measure in self.measures.values()
            if np.isfinite(measure.observed)
            and all(np.isfinite(measure.error(model)) for model in self.models)
        ]


def _short(value: float) -> str:
    return "–" if not np.isfinite(value) else f"{value:.3g}".replace("-", "−")
