"""Nested Laplace: Gaussian in the coefficients, numerical in the precision of the prior."""

from dataclasses import dataclass

import numpy as np

from shoal.errors import InputError
from shoal.posterior.approach import approach_to
from shoal.posterior.curvature import check_dense
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.importance import corrected, weigh
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


def laplace_draws(
    density: Density, settings: Laplace, shape: tuple[int, int], seed: int, report: Report
) -> Draws:
    """Draws (chains × draws) proposed by the nested Laplace approximation, then reweighted.

    More are proposed than are wanted; which of them are kept is decided by their importance
    weights, unless these have too heavy a tail.
    """
    check_dense(density, "laplace", "method='map', 'advi' or 'nuts'")
    generator, approach = np.random.default_rng(seed), approach_to(density)
    total = shape[0] * shape[1]
    count = approach.proposed(total)
    proposed, facts, before = approach.proposals(settings, count, generator, report)
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
