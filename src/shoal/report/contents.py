"""What a fit has to show, as numbers for a page."""

import json
import re
from typing import Any

import numpy as np

from shoal.basis import Flat
from shoal.checks.comparison import PredictiveCheck
from shoal.posterior import DecisionFit, Fit
from shoal.posterior.along import interval, marginal
from shoal.posterior.choice_words import bin_words
from shoal.posterior.specification import Unreadable
from shoal.report.decided import around_of, decided_marginals
from shoal.report.packing import packed, plain
from shoal.states import Axis, Circular, Folded, Numbered

WIDEST = 120_000
"""States whose costs are in a page one by one; of more only marginals are."""
COSTS = {
    "cost_to_go": ("Cost-to-go", "v", "nats"),
    "state_cost": ("State cost", "r", "nats per step"),
}
DECIDED = {"cost_to_go": ("Cost-to-go of decided states", "q", "nats")}


def titles_of(fit: Fit) -> dict[str, tuple[str, str, str]]:
    """The costs that a fit knows, each with its title, letter and unit."""
    return DECIDED if isinstance(fit, DecisionFit) else COSTS


KINDS: dict[type[Axis], str] = {Circular: "circular", Folded: "folded", Numbered: "numbered"}


def axes_of(fit: Fit) -> list[dict[str, Any]]:
    """The axes with their bins, in numbers and words."""
    return [
        {
            "name": axis.name.replace("_", " "),
            "label": axis.label,
            "unit": axis.unit,
            "kind": KINDS.get(type(axis), "interval"),
            "centres": plain(axis.centres),
            "edges": plain(
                np.append(axis.centres - axis.widths / 2, axis.centres[-1] + axis.widths[-1] / 2)
                if not isinstance(axis, Folded)
                else np.concatenate([[0.0], np.cumsum(axis.widths)])
            ),
            "bins": [bin_words(axis, n) for n in range(axis.size)] if axis.size <= 400 else None,
        }
        for axis in fit.model.space.axes
    ]


def costs_of(fit: Fit, what: str) -> dict[str, Any] | None:
    """Mean, sd and 95 % interval of every state; None where there are too many, or no costs."""
    if fit.model.space.size > WIDEST or isinstance(fit.model.basis, Flat):
        return None
    if what == "state_cost" and isinstance(fit.model.passive, Unreadable):
        return None
    draws = getattr(fit, what)
    values = draws.values
    found = {"mean": values.mean(axis=(0, 1))}
    if fit.method != "map":
        lower, upper = interval(draws)
        found |= {"sd": values.std(axis=(0, 1), ddof=1), "lower": lower, "upper": upper}
    title, letter, unit = titles_of(fit)[what]
    return {
        "title": title,
        "letter": letter,
        "unit": unit,
        **{name: packed(grid) for name, grid in found.items()},
    }


def marginals_of(fit: Fit, what: str) -> list[dict[str, Any]]:
    """Costs along each axis, the others averaged over with the arrivals as weights.

    Of decisions: with the others equal, and along axes that moves can lead along alone.
    """
    if isinstance(fit.model.basis, Flat):
        return []
    if isinstance(fit, DecisionFit):
        return decided_marginals(fit)
    if what == "state_cost" and isinstance(fit.model.passive, Unreadable):
        return []
    draws, arrivals = getattr(fit, what), fit.arrivals
    found = []
    for place, axis in enumerate(fit.model.space.axes):
        others = tuple(n for n in range(arrivals.ndim) if n != place)
        along = marginal(draws, axis.name, arrivals)
        lower, upper = interval(along)
        band = {} if fit.method == "map" else {"lower": plain(lower), "upper": plain(upper)}
        found.append(
            {
                "axis": place,
                "mean": plain(along.values.mean(axis=(0, 1))),
                **band,
                "arrivals": arrivals.values.sum(axis=others).tolist(),
            }
        )
    return found


def check_of(check: PredictiveCheck) -> dict[str, Any]:
    """Observed values among replicates, measure by measure."""
    return {
        "models": list(check.models),
        "measures": [
            {
                "label": measure.summary.label,
                "unit": measure.unit,
                "observed": plain([measure.observed])[0],
                "models": {
                    model: {
                        "interval": plain(measure.interval(model)),
                        "half": plain(measure.interval(model, 0.5)),
                        "mean": plain([measure.mean(model)])[0],
                        "p": measure.p_words(model),
                        "holds": bool(measure.holds(model)),
                    }
                    for model in check.models
                },
            }
            for measure in check.measures.values()
            if np.isfinite(measure.observed)
        ],
    }


def fit_contents(fit: Fit) -> dict[str, Any]:
    """What the page draws of a fit by itself."""
    small = fit.model.space.size <= WIDEST
    titles, decided = titles_of(fit), isinstance(fit, DecisionFit)
    return {
        "axes": axes_of(fit),
        "method": fit.method,
        "discount": float(fit.model.discount),
        "arrivals": packed(fit.arrivals.values, "i4") if small else None,
        "titles": titles,
        "never": "never decided for" if decided else "never entered",
        "counted": "decisions" if decided else "arrivals",
        "costs": {what: costs_of(fit, what) if what in titles else None for what in COSTS},
        "marginals": {what: marginals_of(fit, what) for what in titles},
        "around": around_of(fit) if isinstance(fit, DecisionFit) else [],
    }


def facts_of(fit: Fit) -> list[tuple[str, str]]:
    """How a fit was made, a row each."""
    attrs = fit.data.attrs
    versions = json.loads(attrs["versions"])
    numbers = fit.diagnostics().numbers
    rows = [
        ("method", f"{fit.method}, {_settings(attrs['settings'])}"),
        ("draws", f"{fit.sampled.sizes['chain']} chains × {fit.sampled.sizes['draw']:,}"),
        ("seed", str(attrs["seed"])),
        *_dynamics(fit),
        ("basis", short(fit.model.basis)),
        ("versions", ", ".join(f"{name} {number}" for name, number in versions.items())),
    ]
    return rows + [(name.replace("_", " "), f"{value:.4g}") for name, value in numbers.items()]


def _dynamics(fit: Fit) -> list[tuple[str, str]]:
    """What a fit took for passive, and how headings were taken."""
    if isinstance(fit, DecisionFit):
        kind = "turn and length of a step" if fit.model.passive.steps else "heading"
        return [
            ("read as", f"decisions: each animal chooses the {kind} of its next move"),
            ("headings", headings_of(fit)),
            ("passive moves", short(fit.passive)),
        ]
    return [
        ("lag", f"{fit.lag} frame{'s' if fit.lag > 1 else ''}"),
        ("headings", headings_of(fit)),
        ("discount γ", f"{float(fit.model.discount):g}"),
        ("passive dynamics", short(fit.passive)),
    ]


def headings_of(fit: Fit) -> str:
    """How headings were taken for a fit, in words."""
    if "headings" not in fit.data.attrs:
        return "unknown: the fit was written by an earlier version"
    taken = fit.headings
    return "none were taken" if taken is None else f"{taken.words}, {taken.interval_words}"


def short(specification: Any) -> str:
    """A specification with numbers of four digits: what was learned has no more."""
    return re.sub(r"-?\d+\.\d{4,}(e-?\d+)?", lambda m: f"{float(m[0]):.4g}", repr(specification))


def _settings(words: str) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value}" for name, value in json.loads(words).items()
    )


def unknowns_of(fit: Fit) -> list[dict[str, str]]:
    """Unknowns of passive dynamics and basis that were learned, a row each."""
    rows = []
    draws = fit.parameters
    for number, name in enumerate(draws.coords.get("parameter", np.array([])).values):
        values = draws.values[..., number].ravel()
        low, high = (f"{value:.3g}" for value in np.quantile(values, (0.025, 0.975)))
        spread = f"{low} to {high}" if values.size > 1 else ""
        rows.append({"learned": str(name), "mean": f"{values.mean():.3g}", "95 % interval": spread})
    return rows
