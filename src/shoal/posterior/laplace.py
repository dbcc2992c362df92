"""Nested Laplace: Gaussian in the coefficients, numerical in the precision of the prior."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.interpolate import CubicSpline
from scipy.linalg import cholesky, solve_triangular

from shoal.posterior.curvature import check_dense, likelihood_curvature
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.mode import conditional_mode, rough_mode
from shoal.progress import Report


@dataclass(frozen=True)
class Laplace:
    """Gaussian draws around the mode, for each of several precisions weighed by their posterior.

    Parameters
    ----------
    spacing
        The distance between nodes of the numerical integral over log precision, in standard
        deviations of it.
    reach
        How far the nodes go on either side, in standard deviations.
    """

    spacing: float = 1.25
    reach: float = 3.75


MAX_CLIMBS = 30
"""Looks for the most probable precision before giving up."""


class Node(NamedTuple):
    """The Gaussian approximation of β at one t, and log p(t | y) up to a constant."""

    t: float
    log_weight: float
    mode: Float[np.ndarray, " n"]
    factor: Float[np.ndarray, "n n"]
    converged: bool


def laplace_draws(
    density: Density, settings: Laplace, shape: tuple[int, int], seed: int, report: Report
) -> Draws:
    """Independent draws (chains × draws) from the nested Laplace approximation."""
    check_dense(density, "laplace", "method='map', 'advi' or 'nuts'")
    nodes = _nodes(density, settings, report)
    generator = np.random.default_rng(seed)
    total = shape[0] * shape[1]
    t, log_density_t = _draw_t(nodes, total, generator)
    nearest = np.argmin(np.abs(t[:, None] - np.array([node.t for node in nodes])), axis=1)
    betas = np.empty((total, density.coefficients))
    log_q = np.empty(total)
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
    log_p = np.asarray(log_posteriors(density, jnp.asarray(positions)))
    return Draws(
        positions=positions.reshape(*shape, -1),
        statistics={
            "log_posterior": log_p.reshape(shape),
            "log_approximation": (log_q + log_density_t).reshape(shape),
        },
        facts={"converged": all(node.converged for node in nodes), "nodes": len(nodes)},
    )


@eqx.filter_jit
def log_posteriors(
    density: Density, positions: Float[Array, "draws unknowns"]
) -> Float[Array, " draws"]:
    """The log posterior of many points, one after the other."""
    return jax.lax.map(density.log_posterior, positions, batch_size=64)


def _nodes(density: Density, settings: Laplace, report: Report) -> list[Node]:
    """The approximation at each node of the integral over t; one node where t is fixed."""
    mode, t = rough_mode(density)
    if not density.prior.unknowns:
        return [laplace_node(density, t, mode.beta)]
    peak = marginal_peak(density, t, mode.beta, report)
    count = round(settings.reach / settings.spacing)
    start, nodes = peak.beta, []
    for step in range(-count, count + 1):
        nodes.append(laplace_node(density, peak.t + step * settings.spacing * peak.sd, start))
        start = jnp.asarray(nodes[-1].mode)
        report("Laplace: integrating over the precision", len(nodes), 2 * count + 1)
    return nodes


class Peak(NamedTuple):
    """Where log p(t | y) is highest, how wide it is there, and the mode of β."""

    t: float
    sd: float
    beta: Float[Array, " n"]
    converged: bool


def marginal_peak(density: Density, t: float, start: Float[Array, " n"], report: Report) -> Peak:
    """The most probable t after β is integrated out, by parabolas through three points."""
    step = 0.25
    near = False
    for attempt in range(MAX_CLIMBS):
        nodes = []
        for place in (t - step, t, t + step):
            nodes.append(laplace_node(density, place, start))
            start = jnp.asarray(nodes[-1].mode)
        low, middle, high = (node.log_weight for node in nodes)
        bend = low - 2 * middle + high
        report("Laplace: finding the precision", attempt + 1, attempt + 2)
        if bend >= 0:  # not near the top: climb
            t, step = t + 4 * step * (1 if high > low else -1), 2 * step
            continue
        shift = 0.5 * (low - high) / bend
        sd = step / math.sqrt(-bend)
        near = abs(shift * step) < 2 * sd and step < 3 * sd
        t, step = t + step * min(max(shift, -8.0), 8.0), sd
        if near:
            break
    mode = conditional_mode(density, t, start)
    return Peak(t, step, mode.beta, near and bool(mode.converged))


def laplace_node(density: Density, t: float, start: Float[Array, " n"]) -> Node:
    """Log p(y, β̂, t) − log N(β̂; β̂, H⁻¹), and what draws need."""
    mode = conditional_mode(density, t, start)
    precise = likelihood_curvature(density, mode.beta)
    precise[np.diag_indices_from(precise)] += float(density.prior.precision(t))
    factor = cholesky(precise, lower=True, check_finite=False)
    point = density.join(mode.beta, jnp.asarray(t))
    joint = float(log_posteriors(density, point[None])[0])
    volume = 0.5 * density.coefficients * math.log(2 * math.pi) - np.sum(np.log(np.diag(factor)))
    return Node(t, joint + volume, np.asarray(mode.beta), factor, bool(mode.converged))


def _draw_t(
    nodes: list[Node], total: int, generator: np.random.Generator
) -> tuple[Float[np.ndarray, " draws"], Float[np.ndarray, " draws"]]:
    """Draws of t from the interpolated density between the nodes, and that density's logarithm."""
    if len(nodes) == 1:
        return np.full(total, nodes[0].t), np.zeros(total)
    places = np.array([node.t for node in nodes])
    heights = np.array([node.log_weight for node in nodes])
    curve = CubicSpline(places, heights - heights.max())
    margin = (places[1] - places[0]) / 2
    fine = np.linspace(places[0] - margin, places[-1] + margin, 4001)
    weight = np.exp(curve(fine))
    mass = np.concatenate([[0.0], np.cumsum((weight[1:] + weight[:-1]) / 2)])
    step = fine[1] - fine[0]
    drawn = np.interp(generator.random(total) * mass[-1], mass, fine)
    return drawn, curve(drawn) - math.log(mass[-1] * step)
