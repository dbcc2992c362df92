"""The figure of each result: what ``result.plot()`` gives."""

from collections.abc import Sequence
from functools import singledispatch

import matplotlib as mpl
import numpy as np
from jaxtyping import Int
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from shoal.basis import Flat
from shoal.checks import Calibration, PredictiveCheck
from shoal.figures.calibration import calibration_figure
from shoal.figures.fits import cost_figure, decided_figures
from shoal.figures.judged import diagnostics_figure
from shoal.figures.lines import draw_arrivals
from shoal.figures.maps import circle_ticks, edges, turned_round
from shoal.figures.predictive import predictive_panels
from shoal.figures.scores import score_figure
from shoal.figures.style import BLUE, GREY, INK, ORANGE, STYLE
from shoal.figures.trajectories import trajectories
from shoal.lmdp import Solution
from shoal.moves import Decisions
from shoal.posterior import DecisionFit, DecisionScore, Effects, Fit, Score
from shoal.posterior.diagnostics import Diagnostics
from shoal.results import Result
from shoal.selection import Comparison
from shoal.states import Axis, StateSpace, Transitions
from shoal.tracks import Collection, Tracks

MANY_BLOCKS = 60
"""Blocks of a score above which their distribution is drawn instead of each of them."""

FEW = 20
"""Arrivals below which their axis is not logarithmic."""


@singledispatch
def figure_of(result: Result) -> Figure:
    """The figure of a result, by its class."""
    raise TypeError(f"no figure is known for {type(result).__name__}: register one in {__name__}")


figure_of.register(Calibration, calibration_figure)
figure_of.register(PredictiveCheck, predictive_panels)
figure_of.register(Comparison, score_figure)
figure_of.register(Diagnostics, diagnostics_figure)


@figure_of.register
def _(tracks: Tracks) -> Figure:
    return trajectories([tracks])


@figure_of.register
def _(tracks: Collection) -> Figure:
    return trajectories(list(tracks))


@figure_of.register
def _(fit: Fit) -> Figure:
    if isinstance(fit.model.basis, Flat):
        return _unknowns(fit)
    return cost_figure(fit, "cost_to_go")


@figure_of.register
def _(fit: DecisionFit) -> Figure:
    drawn = {} if isinstance(fit.model.basis, Flat) else decided_figures(fit)
    return next(iter(drawn.values()), None) or _unknowns(fit)


def _unknowns(fit: Fit) -> Figure:
    """What a fit without costs has learned: the numbers of its passive moves, else its arrivals."""
    names = [str(name) for name in fit.parameters.coords.get("parameter", np.array([])).values]
    if not names:
        return _entered(fit.model.space, fit.arrivals.values, "arrivals")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 1.0 * len(names) + 1.1), layout="constrained")
        grid = figure.subplots(len(names), 1, squeeze=False)[:, 0]
        for axes, name, draws in zip(grid, names, fit.parameters.values.T, strict=True):
            flat = draws.ravel()
            if flat.size > 1:
                low, high = np.quantile(flat, (0.025, 0.975))
                axes.plot([low, high], [0, 0], color=BLUE, lw=2.5)
            axes.plot(flat.mean(), 0, "o", color=BLUE)
            axes.set(yticks=[], ylim=(-1, 1), xlabel=name)
            axes.margins(x=0.3)
            axes.spines["left"].set_visible(False)
            axes.locator_params(axis="x", nbins=6)
        what = "posterior mean and 95 % interval" if fit.method != "map" else "most probable values"
        title = f"What was learned of the passive movement (angles in degrees)\n{what}"
        figure.suptitle(title, fontsize=11)
    return figure


@figure_of.register
def _(score: Score) -> Figure:
    """Bits of each block, with the mean and two standard errors around it."""
    bits = score.sums / score.counts
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 4.0), layout="constrained")
        axes = figure.subplots()
        if len(bits) > MANY_BLOCKS:
            _distribution(axes, score)
        else:
            _blocks(axes, score)
        figure.legend(loc="outside upper center", ncols=3)
    return figure


def _distribution(axes: Axes, score: Score) -> None:
    """How bits are distributed over transitions or blocks."""
    bits = score.sums / score.counts
    known = bits[np.isfinite(bits)]
    one = score.unit if score.independent else "block"
    axes.hist(known, bins=40, weights=np.full(known.size, 1 / bits.size), color=BLUE, alpha=0.6)
    axes.axvline(
        score.bits, color=INK, lw=1.6, label=f"mean, {score.bits:.3f} bits".replace("-", "−")
    )
    if np.isfinite(score.standard_error):
        low, high = (score.bits + sign * 2 * score.standard_error for sign in (-1, 1))
        axes.axvspan(low, high, color=INK, alpha=0.15, lw=0, label="± 2 standard errors")
    axes.set(xlabel=f"bits of a {one} (higher is better)", ylabel=f"share of {one}s")


def _blocks(axes: Axes, score: Score) -> None:
    """One mark for each block, and the score of passive moves alone where it is known."""
    places = np.arange(1, len(score.counts) + 1)
    series = [(score, BLUE, "o", "with preferences" if isinstance(score, DecisionScore) else "")]
    if isinstance(score, DecisionScore) and score.passive is not None:
        series.append((score.passive, ORANGE, "s", "passive moves alone"))
    for one, colour, marker, name in series:
        axes.plot(places, one.sums / one.counts, marker, color=colour, ms=5,
                  mfc=colour if marker == "o" else "white", label=name or "a block")  # fmt: skip
        axes.axhline(one.bits, color=colour, lw=1.2)
        if np.isfinite(one.standard_error):
            low, high = (one.bits + sign * 2 * one.standard_error for sign in (-1, 1))
            axes.axhspan(low, high, color=colour, alpha=0.18, lw=0)
    axes.fill_between([], [], color=GREY, alpha=0.4, lw=0, label="mean ± 2 standard errors")
    axes.set(xlabel="block", ylabel=f"bits per {score.unit} (higher is better)")
    axes.locator_params(axis="x", integer=True)


@figure_of.register
def _(effects: Effects) -> Figure:
    """The share of the variance that each effect explains, with its interval."""
    table = effects.table()[::-1]
    rows = np.arange(len(table))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 0.5 * len(table) + 1.3), layout="constrained")
        axes = figure.subplots()
        share, low, high = (100 * table[name] for name in ("share", "share_lower", "share_upper"))
        axes.hlines(rows, low, high, color=BLUE, lw=2.5, label="95 % interval")
        axes.plot(share, rows, "o", color=BLUE, label="posterior mean")
        axes.set_yticks(rows, list(table["effect"]))
        axes.set(xlim=(-2, 102), ylim=(-0.6, len(table) - 0.4))
        axes.set_xlabel("share of the variance of the cost-to-go (%)")
        axes.grid(axis="x", color=GREY, alpha=0.3)
        figure.legend(loc="outside upper center", ncols=2)
    return figure


@figure_of.register
def _(solution: Solution) -> Figure:
    """Costs and cost-to-go of every state; of a finite horizon a line for some of the steps."""
    finite = solution.horizon == "finite"
    size = solution.passive.size
    v, r = (values.reshape(-1, size) for values in (solution.cost_to_go, solution.cost))
    places = np.arange(size)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(6.4, 5.0), layout="constrained")
        top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
        steps = np.unique(np.linspace(0, len(v) - 1, min(5, len(v))).astype(int))
        for step in steps:
            colour = mpl.colormaps["cividis"](0.85 * step / max(len(v) - 1, 1))
            label = f"step {step}" if finite else None
            top.plot(places, v[step], "o-", ms=3, lw=1, color=colour if finite else BLUE,
                     label=label)  # fmt: skip
        bottom.step(places, r[0], where="mid", color=ORANGE)
        top.set_ylabel("cost-to-go $v$ (nats)")
        cost = "state cost $r$\n(nats per step)"
        bottom.set_ylabel(f"{cost}, step 0" if finite and len(np.unique(r, axis=0)) > 1 else cost)
        bottom.set_xlabel("state (number)")
        bottom.locator_params(axis="x", integer=True)
        if finite:
            figure.legend(loc="outside upper center", ncols=len(steps))
    return figure


@figure_of.register
def _(transitions: Transitions) -> Figure:
    return _entered(transitions.space, transitions.arrivals, "transitions into a state")


@figure_of.register
def _(decisions: Decisions) -> Figure:
    return _entered(decisions.space, decisions.arrivals, "decisions for a state")


def _entered(space: StateSpace, arrivals: Int[np.ndarray, "*grid"], words: str) -> Figure:
    """How often each state was entered: bars along one axis, a map of two, bars along more."""
    axes = space.axes
    with mpl.rc_context(STYLE):
        if len(axes) == 2:
            return _map(axes, arrivals, words)
        figure = Figure(figsize=(4.4 * len(axes) + 0.6, 3.4), layout="constrained")
        grid = figure.subplots(1, len(axes), sharey=True, squeeze=False)[0]
        for place, (one, axis) in enumerate(zip(grid, axes, strict=True)):
            others = tuple(n for n in range(len(axes)) if n != place)
            draw_arrivals(one, axis, arrivals.sum(axis=others))
        grid[0].set_ylabel(words)
        if arrivals.max() < FEW:
            grid[0].set_yscale("linear")
            grid[0].yaxis.set_major_locator(MaxNLocator(integer=True))
        else:
            grid[0].set_ylim(bottom=0.5)
    return figure


def _map(axes: Sequence[Axis], arrivals: Int[np.ndarray, "a b"], words: str) -> Figure:
    first, second = axes
    figure = Figure(figsize=(5.4, 4.4), layout="constrained")
    (panel,) = figure.subplots(1, 1, squeeze=False)[0]
    counts = np.where(arrivals > 0, arrivals, np.nan).astype(float)
    mesh = panel.pcolormesh(
        edges(second), edges(first), turned_round(first, second, counts),
        cmap="cividis", norm=LogNorm(1, max(2.0, float(arrivals.max()))), rasterized=True,
    )  # fmt: skip
    figure.colorbar(mesh, ax=panel, label=f"{words} (white: none)")
    panel.set(xlabel=second.label, ylabel=first.label)
    circle_ticks(panel, first, second)
    return figure
