"""The figures of one fit: costs over its states, along its axes, and what each axis does."""

import numpy as np
import xarray as xr
from jaxtyping import Int
from matplotlib.figure import Figure

from shoal.basis import Flat
from shoal.figures.around import around_figure
from shoal.figures.lines import Curve, Panel, cost_lines, marginal_lines
from shoal.figures.maps import CostMap, cost_map
from shoal.posterior import DecisionFit, Fit
from shoal.posterior.along import SAMPLING, interval, marginal
from shoal.posterior.around import around
from shoal.posterior.preferences import preferences

LABELS = {
    "cost_to_go": "cost-to-go $v$ (nats)",
    "state_cost": "state cost $r$ (nats per step)",
}
DECIDED = "cost-to-go of decided states $q$ (nats)"


def fit_figures(fit: Fit) -> dict[str, Figure]:
    """All figures of a fit by name, for files beside each other; none where it has no costs."""
    if isinstance(fit.model.basis, Flat):
        return {}
    if isinstance(fit, DecisionFit):
        return decided_figures(fit)
    drawn = {}
    if len(fit.model.space.axes) <= 2:
        drawn = {what.replace("_", "-"): cost_figure(fit, what) for what in LABELS}
    if len(fit.model.space.axes) > 1:
        drawn |= {"marginals": marginal_figure(fit), "effects": effect_figure(fit)}
    return drawn


def decided_figures(fit: DecisionFit) -> dict[str, Figure]:
    """Those of a fit to decisions: costs along axes, others equal, and maps around an animal."""
    space = fit.model.space
    parts = []
    for part in preferences(fit, [(n,) for n in range(len(space.axes))]):
        axis = space.axes[part.axes[0]]
        if np.unique(part.compared()[part.known]).size > 1:
            continue  # no move leads from one of its bins to another
        draws = part.centred()
        draws = draws - np.nanmin(draws.mean(axis=0))
        lower, upper = np.quantile(draws, (0.025, 0.975), axis=0)
        label = "most probable" if fit.method == "map" else fit.method
        curve = Curve(label, draws.mean(axis=0), lower, upper)
        parts.append((axis, Panel(axis.name.replace("_", " "), [curve]), part.arrivals))
    drawn = {"cost-to-go": marginal_lines(parts, DECIDED)} if parts else {}
    maps = around(fit)
    for number, found in enumerate(maps):
        name = "around" if len(maps) == 1 else f"around-{found.angle.name.replace('_', '-')}"
        drawn[name if name not in drawn else f"{name}-{number}"] = around_figure(found)
    return drawn


def cost_figure(fit: Fit, what: str) -> Figure:
    """Costs of every state: a line for one axis, maps for two, lines along each for more."""
    axes = fit.model.space.axes
    if len(axes) > 2:
        return marginal_figure(fit, what)
    if len(axes) == 1:
        panels = [Panel("", [marginal_curves(fit, what)[axes[0].name]])]
        return cost_lines(axes[0], panels, fit.arrivals.values, LABELS[what])
    draws = getattr(fit, what).values
    sd = None if fit.method == "map" else draws.std(axis=(0, 1), ddof=1)
    shown = CostMap(draws.mean(axis=(0, 1)), sd, fit.arrivals.values)
    return cost_map(axes[0], axes[1], shown, LABELS[what])


def marginal_figure(fit: Fit, what: str = "cost_to_go") -> Figure:
    """Costs along each axis, the others averaged over with the arrivals as weights."""
    curves = marginal_curves(fit, what)
    parts = [
        (
            axis,
            Panel(axis.name.replace("_", " "), [curves[axis.name]]),
            arrivals_along(fit, axis.name),
        )
        for axis in fit.model.space.axes
    ]
    return marginal_lines(parts, LABELS[what])


def effect_figure(fit: Fit) -> Figure:
    """What each axis does by itself, all states counting alike."""
    effects = fit.effects()
    parts = []
    for axis in fit.model.space.axes:
        effect = effects[axis.name]
        lower, upper = np.quantile(effect.draws, (0.025, 0.975), axis=0)
        share = f"{axis.name.replace('_', ' ')}: {effect.share.mean():.0%} of the variance"
        curve = Curve("main effect", effect.draws.mean(axis=0), lower, upper)
        parts.append((axis, Panel(share, [curve]), arrivals_along(fit, axis.name)))
    return marginal_lines(parts, "main effect on $v$ (nats)")


def marginal_curves(fit: Fit, what: str) -> dict[str, Curve]:
    """Mean and interval along each axis, by name."""
    label = "most probable" if fit.method == "map" else fit.method
    draws = getattr(fit, what)
    return {
        name: curve_of(marginal(draws, name, fit.arrivals), label) for name in fit.model.space.names
    }


def arrivals_along(fit: Fit, axis: str) -> Int[np.ndarray, " bins"]:
    """Arrivals in each bin of one axis."""
    place = fit.model.space.names.index(axis)
    others = tuple(n for n in range(len(fit.model.space.names)) if n != place)
    return np.asarray(fit.arrivals.values.sum(axis=others))


def curve_of(draws: xr.DataArray, label: str) -> Curve:
    """Mean and 95 % interval of draws along one axis."""
    lower, upper = interval(draws)
    return Curve(label, draws.transpose(*SAMPLING, ...).values.mean(axis=(0, 1)), lower, upper)
