"""The most probable cost-to-go: one answer, no uncertainty, at any size."""

from dataclasses import dataclass

import numpy as np

from shoal.posterior.curvature import LARGEST_DENSE
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.hierarchy import Hierarchy
from shoal.posterior.laplace import marginal_peak
from shoal.posterior.marginal import marginal_top
from shoal.posterior.mode import conditional_mode, rough_mode
from shoal.posterior.nested import heights_of, log_posteriors
from shoal.precision import as_jax
from shoal.system.progress import Report


@dataclass(frozen=True)
class MAP:
    """The mode of the coefficients at the most probable precision of the prior.

    The precision is where its posterior, with the coefficients integrated out by Laplace's method,
    is highest; beyond 4,000 coefficients it comes from a cheaper fixed point. (The joint mode of
    coefficients and precision would shrink everything to zero.)
    """


def map_draws(
    density: Density | Hierarchy, settings: MAP, shape: tuple[int, int], seed: int, report: Report
) -> Draws:
    """The mode, as a single draw."""
    del settings, shape, seed  # one answer, nothing random
    if isinstance(density, Hierarchy):
        return _top_of(density, report)
    mode, t, settled = rough_mode(density)
    if density.prior.unknowns and density.coefficients <= LARGEST_DENSE:
        peak = marginal_peak(density, t, mode.beta, report, tolerance=0.05)
        t, settled = peak.t, peak.converged
        mode = conditional_mode(density, t, peak.beta)
    position = density.join(mode.beta, as_jax(t))
    height = np.asarray(log_posteriors(density, position[None]))
    return Draws(
        positions=np.asarray(position)[None, None],
        statistics={"log_posterior": height[None]},
        facts={"converged": settled and bool(mode.converged), "iterations": int(mode.steps)},
    )


def _top_of(density: Hierarchy, report: Report) -> Draws:
    """The most probable unknowns with the coefficients integrated out, and these at their mode."""
    top = marginal_top(density, report)
    xi, hyper = np.asarray(top.xi), np.asarray(top.hyper)
    position = np.concatenate([xi, hyper])
    height = heights_of(density, top)(hyper[None], xi[None, None])[0]
    return Draws(
        positions=np.asarray(position)[None, None],
        statistics={"log_posterior": height[None]},
        facts={"converged": top.converged, "iterations": top.iterations},
    )
