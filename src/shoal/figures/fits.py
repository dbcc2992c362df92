"""The figures of one fit: costs over its states, along its axes, and what each axis does."""

import numpy as np
import xarray as xr
from jaxtyping import Int
from matplotlib.figure import Figure

from shoal.basis import Flat
from shoal.figures.lines import Curve, Panel, cost_lines, marginal_lines
from shoal.figures.maps import CostMap, cost_map
from shoal.posterior import Fit
from shoal.posterior.along import SAMPLING, interval, marginal

LABELS = {
    "cost_to_go": "cost-to-go $v$ (nats)",
    "state_cost": "state cost $r$ (nats per step)",
}


def fit_figures(fit: Fit) -> dict[str, Figure]:
    """All figures of a fit by name, for files beside each other; none where it has no costs."""
    if isinstance(fit.model.basis, Flat):
        return {}
    drawn = {}
    if len(fit.model.space.axes) <= 2:
        drawn = {what.replace("_", "-"): cost_figure(fit, what) for what in LABELS}
    if len(fit.model.space.axes) > 1:
        drawn |= {"marginals": marginal_figure(fit), "effects": effect_figure(fit)}
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
