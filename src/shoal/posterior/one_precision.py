"""The paper's prior: its one precision, and the posterior around it.

Given the precision, coefficients are nearly normal; what is left of the posterior is a function of
one number, t, its logarithm. It is looked at node by node.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from shoal.errors import InputError
from shoal.posterior.curvature import diagonal_given, likelihood_curvature
from shoal.posterior.density import Density
from shoal.posterior.mode import Mode, mode_given
from shoal.posterior.prior import OnePrecision
from shoal.posterior.proposals import Proposals, Proposed, log_posteriors
from shoal.precision import as_jax
from shoal.system.progress import Report

if TYPE_CHECKING:
    from shoal.posterior.laplace import Laplace

MAX_CLIMBS = 30
"""Looks for the most probable precision before giving up."""

MAX_NODES = 40
"""Nodes on either side of the peak before giving up."""


def one_precision(density: Density) -> OnePrecision:
    """The basis with the prior of its precision."""
    assert isinstance(density.basis, OnePrecision)
    return density.basis


def hyper_of(density: Density, t: float) -> Float[np.ndarray, " hyper"]:
    """The unknowns besides the coefficients: t, or nothing where it is known."""
    return np.full(one_precision(density).prior.unknowns, float(t))


def place_of(
    density: Density, position: Float[np.ndarray, " unknowns"]
) -> tuple[Float[np.ndarray, " n"], float]:
    """β and t of a point."""
    count = density.coefficients
    return position[:count], float(one_precision(density).logarithm(position[count:]))


def precision_at(density: Density, t: float) -> float:
    """1 / Var(β)."""
    return math.exp(one_precision(density).prior.power * t)


def mode_at(density: Density, t: float, start: Float[np.ndarray, " n"]) -> Mode:
    """The most probable coefficients where t is known."""
    return mode_given(density, as_jax(hyper_of(density, t)), as_jax(start))


def rough_mode(
    density: Density, tolerance: float = 1e-2, max_rounds: int = 50
) -> tuple[Mode, float, bool]:
    """The mode of β at a plausible t, that t, and whether it settled; cheap at any size.

    t is taken where p(t | E[Σ β²]) is highest, with variances from the curvature's diagonal
    (MacKay's fixed point): the joint mode of (β, t) would shrink all coefficients to nothing.
    """
    prior = one_precision(density).prior
    t = float(prior.start)
    mode = mode_at(density, t, np.zeros(density.coefficients))
    for _ in range(max_rounds if prior.unknowns else 0):
        before = t
        diagonal = np.asarray(diagonal_given(density, as_jax(hyper_of(density, t)), mode.beta))
        beta = np.asarray(mode.beta)
        for _ in range(10):
            variance = np.sum(1 / (diagonal + precision_at(density, t)))
            t = prior.mode_given(float(beta @ beta + variance), density.coefficients)
        mode = mode_at(density, t, beta)
        if abs(t - before) < tolerance:
            return mode, t, True
    return mode, t, not prior.unknowns


def expected_bend(density: Density, t: float) -> float:
    """−∂²_t of the log posterior, Σ β² replaced by its expectation.

    At the mode of β the curvature in t would be far too small: coefficients that the tracks
    leave free lie at zero there, and nowhere else in the posterior.
    """
    prior = one_precision(density).prior
    return 0.5 * prior.power**2 * density.coefficients + float(prior.rate) * math.exp(t)


class Node(NamedTuple):
    """The Gaussian approximation of β at one t, and log p(t | y) up to a constant."""

    t: float
    log_weight: float
    mode: Float[np.ndarray, " n"]
    factor: Float[np.ndarray, "n n"]
    converged: bool


def node_proposals(
    density: Density,
    settings: "Laplace",
    count: int,
    generator: np.random.Generator,
    report: Report,
) -> Proposals:
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
    positions = np.column_stack([betas, t]) if density.names else betas
    log_p = np.asarray(log_posteriors(density, as_jax(positions)))
    converged = found and all(node.converged for node in nodes)
    facts = {"converged": converged, "nodes": len(nodes)}
    return Proposals(Proposed(positions, log_p, log_q + log_density_t), facts)


def _nodes(density: Density, settings: "Laplace", report: Report) -> tuple[list[Node], bool]:
    """The approximation at each node of the integral over t, and whether they hold its mass."""
    if not density.names:
        mode, t, _ = rough_mode(density)
        return [laplace_node(density, t, np.asarray(mode.beta))], True
    peak = marginal_peak(density, report)
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
            node = laplace_node(density, here.t + step, here.mode)
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
    mode: Mode
    converged: bool

    @property
    def beta(self) -> Float[np.ndarray, " n"]:
        """The coefficients there."""
        return np.asarray(self.mode.beta)


def marginal_peak(density: Density, report: Report, tolerance: float = 2.0) -> Peak:
    """The most probable t after β is integrated out, by parabolas through three points.

    Parameters
    ----------
    tolerance
        The last step to the top of a parabola is shorter than this many sds of t.
    """
    mode, t, _ = rough_mode(density)
    start, step, near, climbs = np.asarray(mode.beta), 0.25, False, 0
    for climbs in range(1, MAX_CLIMBS + 1):
        nodes = []
        for place in (t - step, t, t + step):
            nodes.append(laplace_node(density, place, start))
            start = nodes[-1].mode
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
    mode = mode_at(density, t, start)
    return Peak(t, step, mode, near and bool(mode.converged))


def laplace_node(density: Density, t: float, start: Float[np.ndarray, " n"]) -> Node:
    """Log p(y, β̂, t) − log N(β̂; β̂, H⁻¹), and what draws need."""
    mode, prior = mode_at(density, t, start), one_precision(density).prior
    beta = np.asarray(mode.beta)
    precise = likelihood_curvature(density, hyper_of(density, t), beta, triangle=True)
    precise[np.diag_indices_from(precise)] += precision_at(density, t)
    factor = np.asarray(cholesky(precise, lower=True, check_finite=False))
    joint = float(mode.height) + prior.log_constant(t, density.coefficients)
    volume = 0.5 * density.coefficients * math.log(2 * math.pi) - np.sum(np.log(np.diag(factor)))
    return Node(t, joint + volume, beta, factor, bool(mode.converged))


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
