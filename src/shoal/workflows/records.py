"""Results as names and numbers, for programs that read them: what ``--json`` prints.

``docs/command-line.md`` lists every key; a key that is there stays.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.basis import Flat
from shoal.checks import Calibration, PredictiveCheck
from shoal.moves import Decisions
from shoal.posterior import Fit
from shoal.posterior.decision_fit import DecisionFit
from shoal.posterior.diagnostics import Diagnostics
from shoal.workflows.comparing import CompareRun
from shoal.workflows.fitting import FitRun
from shoal.workflows.moving import Simulating
from shoal.workflows.reading import Reading
from shoal.workflows.reporting import Reporting


def fitted(run: FitRun, written: Mapping[str, Path]) -> dict[str, Any]:
    """Of ``shoal fit``."""
    fit, choice, lag = run.fit, run.passive_choice, run.lag_choice
    figures = {
        name.removeprefix("figure, "): path
        for name, path in written.items()
        if name.startswith("figure, ")
    }
    files = {name: path for name, path in written.items() if not name.startswith("figure, ")}
    return {
        "as": "decisions" if run.decides else "transitions",
        **counted(run),
        "lag": {"frames": run.lag, "chosen": lag.sentence if lag else None},
        "moves": _moves(run),
        "passive": {
            "words": repr(fit.passive),
            "chosen": choice.sentence if choice else None,
            "bits_held_out": {n: s.bits for n, s in choice.scores.items()} if choice else {},
        },
        "basis": repr(run.model.basis),
        "discount": run.model.discount,
        **_method(fit),
        "seed": run.settings.seed,
        "learned": _learned(fit),
        **_effects(run),
        "cheapest_state": _cheapest(run),
        "diagnostics": judged(fit.diagnostics()),
        "files": files | {"figures": figures},
    }


def counted(run: Reading) -> dict[str, Any]:
    """What was read, and the transitions in it."""
    counts: Any = run.counts
    decided = isinstance(counts, Decisions)
    return {
        "tracks": Path(run.settings.tracks).expanduser(),
        "notes": run.notes(),
        "fixes": counts.fixes,
        "dropped": {reason: int(number) for reason, number in counts.dropped.items()},
        "decisions": int(counts.total) if decided else None,
        "transitions": None if decided else int(counts.total),
        "distinct_transitions": None if decided else len(counts.pairs),
        "states": {
            "number": run.space.size,
            "entered": int((counts.arrivals > 0).sum()),
            "axes": [
                {"name": axis.name, "label": axis.label, "bins": axis.size, "unit": axis.unit}
                for axis in run.space.axes
            ],
        },
    }


def checked(fit: Fit, path: Path) -> dict[str, Any]:
    """Of ``shoal check``."""
    return {
        "fit": path,
        **_method(fit),
        "states": fit.model.space.size,
        "decisions": int(fit.arrivals.sum()) if isinstance(fit, DecisionFit) else None,
        "transitions": None if isinstance(fit, DecisionFit) else int(fit.arrivals.sum()),
        "diagnostics": judged(fit.diagnostics()),
    }


def judged(found: Diagnostics) -> dict[str, Any]:
    """How far to trust a fit."""
    return {
        "trusted": found.trusted,
        "failures": list(found.failures),
        "notes": list(found.notes),
        "numbers": dict(found.numbers),
    }


def compared(run: CompareRun, written: Mapping[str, Path]) -> dict[str, Any]:
    """Of ``shoal compare``."""
    found = run.comparison
    return {
        **counted(run),
        "read_as": f"{found.unit}s",
        "lag": {"frames": run.lag, "chosen": None},
        "held_out": run.what_was_held_out(),
        "models": run.figures(),
        "best": found.best.name,
        "can_be_best": [entry.name for entry in found.contenders],
        "simplest_not_clearly_worse": found.simplest.name,
        "cautions": found.warnings(),
        "costs_gain": [
            {"model": name, "bits": gain, "standard_error": error}
            for name, gain, error in found.costs_pay()
        ],
        "sentence": found.sentence(),
        "files": dict(written),
    }


def calibrated(found: Calibration, written: Mapping[str, Path]) -> dict[str, Any]:
    """Of ``shoal calibrate``."""
    return {
        "method": found.method,
        "states": found.states,
        "replicates": len(found.replicates),
        "truth": "prior" if found.from_prior else "given",
        "coverage": [
            {"level": level, "share": share, "standard_error": error}
            for level, (share, error) in found.coverage.items()
        ],
        "quantities": [
            {
                "name": curve.name,
                "inside": curve.inside,
                "half_widths_beyond": curve.excess,
                "means": None if curve.inside else curve.shape,
                "p": curve.p_value,
                "p_corrected": found.corrected[curve.name],
            }
            for curve in found.curves
        ],
        "medians": {
            name: found.mean_error(name) for name in ("rmse", "prior_rmse", "width", "correlation")
        },
        "sentences": found.sentences(),
        "files": dict(written),
    }


def simulated(run: Simulating, written: Mapping[str, Path]) -> dict[str, Any]:
    """Of ``shoal simulate``."""
    return {
        "rule": run.settings.rule,
        "draws": run.settings.draws,
        "seed": run.settings.seed,
        "groups": [
            {
                "group": part.group,
                "animals": len(part.members),
                "frames": len(part.positions),
                "fps": part.fps,
                "length_unit": part.length_unit,
            }
            for part in run.groups
        ],
        "files": dict(written),
    }


def predicted(check: PredictiveCheck, written: Mapping[str, Path]) -> dict[str, Any]:
    """Of ``shoal predict``."""
    errors = check.errors()
    corrected = {model: check.corrected(model) for model in check.models}
    return {
        "replicates": check.replicates,
        "groups": check.groups,
        "seed": check.seed,
        "vicsek_noise": check.noise,
        "measures": [
            {
                "name": name,
                "label": measure.summary.label,
                "unit": measure.unit,
                "observed": measure.observed,
                "models": {
                    model: {
                        "mean": measure.mean(model),
                        "sd": measure.sd(model),
                        "interval": list(measure.interval(model)),
                        "p": measure.p_value(model),
                        "p_corrected": corrected[model].get(name),
                        "holds": measure.holds(model),
                    }
                    for model in check.models
                },
            }
            for name, measure in check.measures.items()
        ],
        "summed_standardised_error": errors,
        "sentence": check.words(),
        "files": dict(written),
    }


def _method(fit: Fit) -> dict[str, Any]:
    sizes = fit.data["posterior"].sizes
    return {"method": fit.method, "chains": sizes["chain"], "draws": sizes["draw"]}


def _moves(run: FitRun) -> dict[str, Any] | None:
    """What animals choose, and why; None for transitions."""
    if not run.decides:
        return None
    choice = run.choice
    return {
        "words": run.resolved.moves,
        "others": getattr(choice.moves, "others", None),
        "candidates": int(choice.moves.candidates),
        "every": choice.every,
        "chosen": dict(choice.sentences),
        "gain_held_out": {
            name: {"bits": score.gain[0], "standard_error": score.gain[1]}
            for name, score in choice.scores.items()
        },
    }


def _learned(fit: Fit) -> dict[str, Any]:
    """Unknowns of passive dynamics and basis."""
    draws = fit.parameters
    names = draws.coords.get("parameter", np.array([])).values
    return {str(name): _spread(draws.values[..., n]) for n, name in enumerate(names)}


def _effects(run: FitRun) -> dict[str, Any]:
    """Shares of the variance of the cost-to-go over all states."""
    if len(run.space.axes) < 2 or isinstance(run.model.basis, Flat):
        return {"effects": {}}
    found = run.fit.effects()
    return {"effects": {one.name: _spread(one.share) for one in found.effects}}


def _spread(draws: Float[np.ndarray, "..."]) -> dict[str, float | None]:
    """The mean and the 95 % interval, which one draw does not have."""
    low, high = np.quantile(draws, (0.025, 0.975)) if draws.size > 1 else (None, None)
    return {"mean": float(draws.mean()), "lower": low, "upper": high}


def _cheapest(run: FitRun) -> dict[str, float]:
    """Where the animals steer, by axis."""
    mean = run.fit.cost_to_go.values.mean(axis=(0, 1))
    state = int(np.argmin(np.where(run.counts.arrivals > 0, mean, np.inf)))
    places = run.space.decode(np.asarray(state))
    return {axis.name: float(at) for axis, at in zip(run.space.axes, places, strict=True)}


def reported(run: Reporting, written: Mapping[str, Path]) -> dict[str, Any]:
    """Of ``shoal report``."""
    report = run.report
    return {
        "fit": run.path,
        "headline": run.headline,
        "diagnostics": judged(run.fit.diagnostics()),
        "replayed_groups": 0 if report.stage is None else len(report.stage.seen),
        "replicates": 0 if report.check is None else report.check.replicates,
        "check_notes": run.sampled,
        "bytes": written["page"].stat().st_size,
        "files": dict(written),
    }
