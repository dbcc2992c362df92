"""Variational inference: the Gaussian nearest to the posterior, mean-field or full-rank."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.posterior.curvature import check_dense
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.full_rank import full_rank
from shoal.posterior.importance import FEWEST_PROPOSED, PROPOSED, corrected, weigh
from shoal.posterior.mean_field import (
    Approximation,
    mean_field,
    stochastic_mean_field,
)
from shoal.posterior.proposals import log_posteriors
from shoal.precision import as_jax
from shoal.system.progress import Report

FAMILIES = ("mean-field", "full-rank")


@dataclass(frozen=True)
class ADVI:
    """Automatic differentiation variational inference.

    Parameters
    ----------
    family
        ``"mean-field"``: unknowns independent of each other, as in the paper; it misses the
        level's uncertainty altogether. ``"full-rank"``: any covariance.
    stochastic
        Mean-field only. False: the same base draws throughout, so that the bound is a smooth
        function with one answer for a seed. True: fresh draws at every step and Stan's stopping
        rule, as in the paper.
    tolerance
        The paper has 0.01. Stochastic: the relative change of the bound, as Stan has it. Otherwise
        the change of the bound in nats over ten iterations (over one, full-rank).
    base_draws
        Draws on which the bound is evaluated.
    max_iterations
        At the latest.
    """

    family: str = "mean-field"
    stochastic: bool = False
    tolerance: float = 0.01
    base_draws: int = 64
    max_iterations: int = 10_000

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.family not in FAMILIES:
            raise InputError(f"an ADVI family is one of {', '.join(FAMILIES)}; got {self.family!r}")
        if self.stochastic and self.family != "mean-field":
            raise InputError("the stochastic optimiser is for the mean-field family")
        if not self.tolerance > 0:
            raise InputError(f"a tolerance must be positive, got {self.tolerance}")
        if self.base_draws < 4 or self.max_iterations < 1:
            raise InputError("ADVI needs 4 base draws and 1 iteration or more")


def advi_draws(
    density: Density, settings: ADVI, shape: tuple[int, int], seed: int, report: Report
) -> Draws:
    """Independent draws (chains × draws) from the variational approximation."""
    generator = np.random.default_rng(seed)
    limits = (settings.tolerance, settings.max_iterations)
    if settings.stochastic:
        approximation = stochastic_mean_field(density, *limits, seed, report)
    elif settings.family == "mean-field":
        approximation = mean_field(density, settings.base_draws, *limits, generator, report)
    else:
        check_dense(density, "full-rank advi", "the mean-field family")
        approximation = full_rank(density, settings.base_draws, *limits, generator, report)
    reweighted = settings.family == "full-rank"  # the paper's mean field stays as it is
    return _drawn(density, approximation, shape, generator, reweighted=reweighted)


def _drawn(
    density: Density,
    approximation: Approximation,
    shape: tuple[int, int],
    generator: np.random.Generator,
    *,
    reweighted: bool,
) -> Draws:
    total = shape[0] * shape[1]
    count = max(PROPOSED * total, FEWEST_PROPOSED) if reweighted else total
    noise = generator.standard_normal((count, density.dimension))
    positions = approximation.mean + approximation.spread(noise)
    log_q: Float[np.ndarray, " draws"] = (
        -0.5 * (noise**2).sum(axis=1)
        - approximation.log_volume
        - 0.5 * density.dimension * math.log(2 * math.pi)
    )
    log_p = np.asarray(log_posteriors(density, as_jax(positions)))
    weighing = weigh(log_p, log_q)
    kept, quality = corrected(weighing, total, generator)
    if not reweighted:
        kept, quality = np.arange(total), quality | {"reweighted": False}
    return Draws(
        positions=positions[kept].reshape(*shape, -1),
        statistics={
            "log_posterior": log_p[kept].reshape(shape),
            "log_approximation": log_q[kept].reshape(shape),
        },
        traces={"elbo": approximation.elbo},
        facts={
            "converged": approximation.converged,
            "iterations": approximation.iterations,
            "elbo": float(np.mean(log_p - log_q)),
            **quality,
            **({} if np.isnan(approximation.sd_error) else {"sd_error": approximation.sd_error}),
        },
    )
