"""What the explorer can be asked: another draw, rule, speed or discount, another fit beside it."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import jax.numpy as jnp
import matplotlib as mpl
import numpy as np

from shoal.errors import InputError
from shoal.figures.fits import LABELS, cost_figure
from shoal.figures.style import STYLE
from shoal.posterior import DecisionFit, Fit
from shoal.posterior.fit import without_level
from shoal.posterior.single import costs_under, one_draw
from shoal.report import Report
from shoal.report.contents import COSTS
from shoal.report.packing import packed
from shoal.simulation.following import RULES
from shoal.system.formulas import escape_formula

MEAN = "mean"
SPEEDS = ("observed", "constant", "gamma")
LARGEST_LOO = 200_000
"""Transitions beyond which fits are not scored while somebody waits."""


@dataclass(frozen=True, eq=False)
class Workbench:
    """One fit or two, the first of them on the page.

    Attributes
    ----------
    reports
        Of the fits.
    names
        What they are called: the names of their files.
    """

    reports: Sequence[Report]
    names: Sequence[str]

    def __post_init__(self) -> None:
        """Keep the last few draws that were chosen."""
        object.__setattr__(self, "chosen", lru_cache(maxsize=16)(self._chosen))

    @cached_property
    def page(self) -> bytes:
        """The frame, without numbers: those are asked for."""
        return self.reports[0].html(served=True).encode()

    @cached_property
    def contents(self) -> bytes:
        """What the page draws, and what it may ask for."""
        found = self.reports[0].contents | {
            "explorer": {
                "draws": [len(self._flat(report.fit)) for report in self.reports],
                "names": list(self.names),
                "rules": list(RULES),
                "speeds": list(SPEEDS),
            }
        }
        return json.dumps(found, allow_nan=False).encode()

    @staticmethod
    def _flat(fit: Fit) -> np.ndarray:
        return fit.sampled.values.reshape(-1, fit.model.space.size)

    def _chosen(self, which: int, draw: str) -> Fit:
        fit = self.reports[which].fit
        return fit if draw == MEAN else one_draw(fit, int(draw))

    def costs(self, which: int, draw: str, discount: float | None) -> dict[str, Any]:
        """Costs of every state for a draw and a discount; None for the fit's own."""
        fit: Fit = self.chosen(which, draw)  # type: ignore[attr-defined]
        discount = float(fit.model.discount) if discount is None else discount
        found: dict[str, Any] = {}
        for what, draws in _costs(fit, discount).items():
            title, letter, unit = COSTS[what]
            found[what] = {"title": title, "letter": letter, "unit": unit}
            found[what]["mean"] = packed(draws.mean(axis=0))
            if len(draws) > 1:
                lower, upper = np.quantile(draws, (0.025, 0.975), axis=0)
                spread = {"sd": draws.std(axis=0, ddof=1), "lower": lower, "upper": upper}
                found[what] |= {name: packed(values) for name, values in spread.items()}
        return found

    def policy(self, which: int, draw: str, state: int) -> dict[str, Any]:
        """Where an animal goes next from a state, with costs and without."""
        fit: Fit = self.chosen(which, draw)  # type: ignore[attr-defined]
        if not 0 <= state < fit.model.space.size:
            raise InputError(f"there are states 0 to {fit.model.space.size - 1}, got {state}")
        if isinstance(fit, DecisionFit):
            raise InputError("animals choose among moves here: the replay shows their chances")
        passive = np.maximum(np.asarray(fit.operator.row(jnp.asarray(state))).ravel(), 0.0)
        v = fit.cost_to_go.values.mean(axis=(0, 1)).ravel()
        weighted = passive * np.exp(-float(fit.model.discount) * (v - v.min()))
        return {"policy": packed(weighted / weighted.sum()), "passive": packed(passive)}

    def simulate(self, which: int, draw: str, rule: str, speed: str, seed: int) -> dict[str, Any]:
        """The replayed groups again, by another draw, rule, speed or seed."""
        stage = self.reports[which].stage
        if stage is None:
            raise InputError("there are no tracks to start from: give --tracks")
        pace: Any = None if speed == "observed" else speed
        if speed not in SPEEDS:
            pace = _number(speed, "speed")
        fit = self.chosen(which, draw)  # type: ignore[attr-defined]
        groups = stage.simulated(fit, rule, speed=pace, seed=seed)
        of = "the posterior mean" if draw == MEAN else f"draw {draw}"
        words = f"Simulated: {rule} rule, {of}, speeds {speed}, seed {seed}"
        return {"panels": stage.panels(groups), "words": f"{words} ({self.names[which]})"}

    @cached_property
    def comparison(self) -> dict[str, Any]:
        """Two fits side by side: what each says, and where they differ by more than chance."""
        if len(self.reports) < 2:
            raise InputError("there is one fit: start with --against OTHER.nc to compare two")
        one, other = (report.fit for report in self.reports)
        rows = []
        for name, fit in zip(self.names, (one, other), strict=True):
            sentence, _ = fit.headline()
            row = {"fit": name, "says": sentence, "made by": repr(fit)}
            row["computation"] = "sound" if fit.diagnostics().trusted else "do not trust it yet"
            rows.append(row)
        if _same_transitions(one, other):
            for row, fit in zip(rows, (one, other), strict=True):
                score = fit.loo()
                row["left-out score (bits)"] = f"{score.bits:.3f} ± {score.standard_error:.3f}"
        found: dict[str, Any] = {"rows": rows, "difference": None, "words": ""}
        if one.model.space.axes != other.model.space.axes:
            found["words"] = "The fits have different states: their costs cannot be subtracted."
            return found
        means, variances = [], []
        for fit in (one, other):
            decided = isinstance(fit, DecisionFit)
            level = fit.cost_to_go if decided else without_level(fit.sampled, one.level_weights)
            draws = level.values
            means.append(draws.mean(axis=(0, 1)))
            several = fit.method != "map"
            variances.append(draws.var(axis=(0, 1), ddof=1) if several else 0.0 * means[-1])
        sd = np.sqrt(variances[0] + variances[1])
        apart = np.abs(means[0] - means[1]) > 2 * np.maximum(sd, 1e-12)
        entered = one.arrivals.values > 0
        found["difference"] = {"mean": packed(means[0] - means[1]), "sd": packed(sd)}
        what = (
            f"Cost-to-go of {self.names[0]} minus that of {self.names[1]}, both with their mean "
            "over the arrivals at 0. "
        )
        sure = (
            f"They differ by more than two standard deviations in "
            f"{int((apart & entered).sum())} of {int(entered.sum())} states entered (about "
            f"{0.05 * entered.sum():.0f} would by chance, were the draws independent)."
        )
        if "map" in (one.method, other.method):
            sure = "A fit by map has no uncertainty: whether they differ cannot be told."
        found["words"] = what + sure + _unlike(one, other)
        return found

    def figure(self, which: int, what: str, kind: str) -> bytes:
        """A figure for a paper, of the posterior at the fit's own discount."""
        _one_of(what, LABELS, "what")
        buffer = io.BytesIO()
        with mpl.rc_context(STYLE):
            cost_figure(self.reports[which].fit, what).savefig(buffer, format=kind, dpi=200)
        return buffer.getvalue()

    def numbers(self, which: int, what: str) -> str:
        """Every state as CSV, of the posterior at the fit's own discount."""
        _one_of(what, LABELS, "what")
        table = self.reports[which].fit.summary(what).reset_index()
        table.columns = [escape_formula(str(name)) for name in table.columns]
        return str(table.to_csv(index=False))


def asked(question: Mapping[str, str], fits: int) -> dict[str, Any]:
    """What a request asks for, checked word by word."""
    found: dict[str, Any] = {"which": int(_number(question.get("fit", "0"), "fit"))}
    if not 0 <= found["which"] < fits:
        raise InputError(f"there are fits 0 to {fits - 1}, got {found['which']}")
    draw = question.get("draw", MEAN)
    found["draw"] = draw if draw == MEAN else str(int(_number(draw, "draw")))
    gamma = question.get("discount")
    found["discount"] = None if gamma is None else _number(gamma, "discount")
    found["state"] = int(_number(question.get("state", "0"), "state"))
    found["rule"] = _one_of(question.get("rule", "stochastic"), RULES, "rule")
    found["speed"] = question.get("speed", "observed")
    found["seed"] = int(_number(question.get("seed", "1"), "seed"))
    found["what"] = question.get("what", "cost_to_go")
    return found


def _number(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not np.isfinite(number):
        raise InputError(f"{what} is a number, got {text!r:.40}")
    return number


def _one_of(word: str, known: Any, what: str) -> str:
    if word not in known:
        raise InputError(f"{what} is one of {', '.join(known)}; got {word!r:.40}")
    return word


def _unlike(one: Fit, other: Fit) -> str:
    """What alone makes costs differ."""
    pairs = {
        "discount": (one.model.discount, other.model.discount),
        "lag": (one.lag, other.lag),
        "passive dynamics": (repr(one.passive), repr(other.passive)),
    }
    names = [name for name, (first, second) in pairs.items() if first != second]
    if not names:
        return ""
    return f" They have different {' and '.join(names)}: that alone makes costs differ."


def _costs(fit: Fit, discount: float) -> dict[str, Any]:
    """Draws of every kind of cost; decisions tell the cost-to-go alone."""
    if not isinstance(fit, DecisionFit):
        return dict(zip(COSTS, costs_under(fit, discount), strict=True))
    if discount != 1:
        raise InputError(f"decisions have no discount: leave it 1, got {discount:g}")
    return {"cost_to_go": fit.cost_to_go.values.reshape(-1, *fit.model.space.shape)}


def _same_transitions(one: Fit, other: Fit) -> bool:
    if isinstance(one, DecisionFit) or isinstance(other, DecisionFit):
        return False
    first, second = (fit.data["transitions"].to_dataset() for fit in (one, other))
    few = int(first["count"].sum()) <= LARGEST_LOO
    return few and one.method != "map" and other.method != "map" and first.equals(second)
