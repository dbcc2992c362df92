"""Nested Laplace: Gaussian in the coefficients, numerical in the precision of the prior."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Array, Float
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from shoal.errors import InputError
from shoal.posterior.curvature import check_dense, likelihood_curvature
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.hierarchy import Hierarchy
from shoal.posterior.importance import FEWEST_PROPOSED, PROPOSED, corrected, weigh
from shoal.posterior.mode import conditional_mode, rough_mode
from shoal.posterior.nested import Proposed, log_posteriors, nested_proposals
from shoal.precision import as_jax
from shoal.system.progress import Report


@dataclass(frozen=True)
class Laplace:
    """Gaussian draws around the mode, for each of several precisions weighed by their posterior.

    Parameters
    ----------
    spacing
        The distance between nodes of the numerical integral over log precision, in standard
        deviations of it near its peak; shorter where the posterior falls fast, longer in tails.
    depth
        How far the nodes go on either side: until the log posterior has fallen by this much.
    """

    spacing: float = 1.25
    depth: float = 7.0

    def __post_init__(self) -> None:
        """Check the settings."""
        for name, value, most in (("spacing", self.spacing, 2.0), ("depth", self.depth, 50.0)):
            if not 0 < value <= most:
                raise InputError(f"Laplace's {name} lies between 0 and {most:g}, got {value}")


FEWEST_DECIDED = 2048
"""Draws that are proposed for a fit to decisions, at the least."""

MAX_CLIMBS = 30
"""Looks for the most probable precision before giving up."""

MAX_NODES = 40
"""Nodes on either side of the peak before giving up."""


class Node(NamedTuple):
    """The Gaussian approximation of β at one t, and log p(t | y) up to a constant."""

    t: float
    log_weight: float
    mode: Float[np.ndarray, " n"]
    factor: Float[np.ndarray, "n n"]
    converged: bool


def laplace_draws(
    density: Density | Hierarchy,
    settings: Laplace,
    shape: tuple[int, int],
    seed: int,
    report: Report,
) -> Draws:
    """Draws (chains × draws) proposed by the nested Laplace approximation, then reweighted.

    More are proposed than are wanted; which of them are kept is decided by their importance
    weights, unless these have too heavy a tail.
    """
    check_dense(density, "laplace", "method='map', 'advi' or 'nuts'")
    generator = np.random.default_rng(seed)
    total = shape[0] * shape[1]
    count, before = max(PROPOSED * total, FEWEST_PROPOSED), None
    if isinstance(density, Hierarchy):
        if density.of_decisions:  # nearly all proposals are used
            count = max(total, FEWEST_DECIDED)
        proposed, top, before = nested_proposals(density, count, generator, report)
        facts: dict[str, Any] = {"converged": top.converged, "iterations": top.iterations}
    else:
        proposed, facts = _proposals(density, settings, count, generator, report)
    weighing = weigh(proposed.log_posterior, proposed.log_approximation)
    if before is not None:
        weighing = weighing.after(before)
    kept, quality = corrected(weighing, total, generator)
    return Draws(
        positions=proposed.positions[kept].reshape(*shape, -1),
        statistics={
            "log_posterior": proposed.log_posterior[kept].reshape(shape),
            "log_approximation": proposed.log_approximation[kept].reshape(shape),
        },
        facts=facts | quality,
    )


def _proposals(
    density: Density,
    settings: Laplace,
    count: int,
    generator: np.random.Generator,
    report: Report,
) -> tuple[Proposed, dict[str, Any]]:
    """Draws of t from its posterior between the nodes, and of β from the nearest node's."""
    try:
        nodes, found = _nodes(density, settings, report)
    except LinAlgError as error:
        raise InputError(
            "the prior is too weak for Laplace's method: some costs are held by neither data nor "
            "prior; use a larger precision or fewer functions"
        ) from error
    t, log_density_t = _draw_t(nodes, count, generator)
    nearest = np.argmin(np.abs(t[:, None] - np.array([node.t for node in nodes])), axis=1)
    betas = np.empty((count, density.coefficients))
    log_q = np.empty(count)
    for index, node in enumerate(nodes):
        mine = np.flatnonzero(nearest == index)
        noise = generator.standard_normal((density.coefficients, mine.size))
        betas[mine] = node.mode + solve_triangular(node.factor, noise, lower=True, trans="T").T
        log_q[mine] = (
            np.sum(np.log(np.diag(node.factor)))
            - 0.5 * (noise**2).sum(axis=0)
            - 0.5 * density.coefficients * math.log(2 * math.pi)
        )
    positions = np.column_stack([betas, t]) if density.prior.unknowns else betas
    log_p = np.asarray(log_posteriors(density, as_jax(positions)))
    converged = found and all(node.converged for node in nodes)
    facts = {"converged": converged, "nodes": len(nodes)}
    return Proposed(positions, log_p, log_q + log_density_t), facts


def _nodes(density: Density, settings: Laplace, report: Report) -> tuple[list[Node], bool]:
    """The approximation at each node of the integral over t, and whether they hold its mass."""
    mode, t, _ = rough_mode(density)
    if not density.prior.unknowns:
        return [laplace_node(density, t, mode.beta)], True
    peak = marginal_peak(density, t, mode.beta, report)
    top = laplace_node(density, peak.t, peak.beta)
    step = settings.spacing * peak.sd
    below, low = _walk(density, top, -step, settings.depth, report)
    above, high = _walk(density, top, step, settings.depth, report)
    count = len(below) + 1 + len(above)
    report("Laplace: integrating over the precision", count, count)
    return [*below[::-1], top, *above], peak.converged and low and high


def _walk(
    density: Density, top: Node, step: float, depth: float, report: Report
) -> tuple[list[Node], bool]:
    """Nodes from the peak outwards until the posterior of t has fallen, and whether it has.

    Steps are halved where it falls by more than 6 nats at once and doubled in flat tails.
    """
    nodes, shortest = [top], abs(step) / 64
    highest = top.log_weight
    while len(nodes) <= MAX_NODES:
        here = nodes[-1]
        try:
            node = laplace_node(density, here.t + step, as_jax(here.mode))
        except LinAlgError:  # a precision so small that the curvature has no inverse
            return nodes[1:], False
        fall = here.log_weight - node.log_weight
        if fall > 6 and abs(step) > shortest:
            step /= 2
            continue
        nodes.append(node)
        report("Laplace: integrating over the precision", len(nodes), None)
        highest = max(highest, node.log_weight)
        if highest - node.log_weight >= depth:
            return nodes[1:], True
        if fall < 0.3:
            step *= 2
    return nodes[1:], False


class Peak(NamedTuple):
    """Where log p(t | y) is highest, how wide it is there, and the mode of β."""

    t: float
    sd: float
    beta: Float[Array, " n"]
    converged: bool


def marginal_peak(
    density: Density,
    t: float,
    start: Float[Array, " n"],
    report: Report,
    tolerance: float = 2.0,
) -> Peak:
    """The most probable t after β is integrated out, by parabolas through three points.

    Parameters
    ----------
    tolerance
        The last step to the top of a parabola is shorter than this many sds of t.
    """
    step, near, climbs = 0.25, False, 0
    for climbs in range(1, MAX_CLIMBS + 1):
        nodes = []
        for place in (t - step, t, t + step):
            nodes.append(laplace_node(density, place, start))
            start = as_jax(nodes[-1].mode)
        low, middle, high = (node.log_weight for node in nodes)
        bend = low - 2 * middle + high
        report("Laplace: finding the precision", climbs, None)
        if bend >= 0:  # not near the top: climb
            t, step = t + 4 * step * (1 if high > low else -1), 2 * step
            continue
        shift = 0.5 * (low - high) / bend
        sd = step / math.sqrt(-bend)
        near = bool(abs(shift * step) < tolerance * sd and step < 3 * sd)
        t, step = t + step * min(max(shift, -8.0), 8.0), sd
        if near:
            break
    report("Laplace: finding the precision", climbs, climbs)
    mode = conditional_mode(density, t, start)
    return Peak(t, step, mode.beta, near and bool(mode.converged))


def laplace_node(density: Density, t: float, start: Float[Array, " n"]) -> Node:
    """Log p(y, β̂, t) − log N(β̂; β̂, H⁻¹), and what draws need."""
    mode = conditional_mode(density, t, start)
    precise = likelihood_curvature(density, mode.beta, triangle=True)
    precise[np.diag_indices_from(precise)] += float(density.prior.precision(t))
    factor = np.asarray(cholesky(precise, lower=True, check_finite=False))
    joint = float(mode.height) + density.prior.log_constant(t, density.coefficients)
    volume = 0.5 * density.coefficients * math.log(2 * math.pi) - np.sum(np.log(np.diag(factor)))
    return Node(t, joint + volume, np.asarray(mode.beta), factor, bool(mode.converged))


def _draw_t(
    nodes: list[Node], total: int, generator: np.random.Generator
) -> tuple[Float[np.ndarray, " draws"], Float[np.ndarray, " draws"]]:
    """Draws of t from the interpolated density between the nodes, and that density's logarithm."""
    if len(nodes) == 1:
        return np.full(total, nodes[0].t), np.zeros(total)
    from scipy.interpolate import Akima1DInterpolator  # noqa: PLC0415  (slow to load, and only needed here)

    places = np.array([node.t for node in nodes])
    heights = np.array([node.log_weight for node in nodes])
    curve = Akima1DInterpolator(places, heights - heights.max())
    fine = np.linspace(places[0], places[-1], 8001)
    weight = np.exp(curve(fine))
    mass = np.concatenate([[0.0], np.cumsum((weight[1:] + weight[:-1]) / 2)])
    drawn = np.interp(generator.random(total) * mass[-1], mass, fine)
    return drawn, curve(drawn) - math.log(mass[-1] * (fine[1] - fine[0]))
