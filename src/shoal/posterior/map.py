"""The most probable cost-to-go: one answer, no uncertainty, at any size."""

from dataclasses import dataclass

import numpy as np

from shoal.posterior.approach import approach_to
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.system.progress import Report


@dataclass(frozen=True)
class MAP:
    """The mode of the coefficients at the most probable precision of the prior.

    The precision is where its posterior, with the coefficients integrated out by Laplace's method,
    is highest; beyond 4,000 coefficients it comes from a cheaper fixed point. (The joint mode of
    coefficients and precision would shrink everything to zero.)
    """


def map_draws(
    density: Density, settings: MAP, shape: tuple[int, int], seed: int, report: Report
) -> Draws:
    """The mode, as a single draw."""
    del settings, shape, seed  # one answer, nothing random
    top = approach_to(density).top(report)
    return Draws(
        positions=top.position[None, None],
        statistics={"log_posterior": np.array([[top.height]])},
        facts={"converged": top.converged, "iterations": top.iterations},
    )
