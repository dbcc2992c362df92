"""Which of several models can be the best, corrected for having chosen the best of them."""

import numpy as np
from jaxtyping import Float

LEVEL = 0.05
"""The chance of excluding the model that is truly the best."""

SIMULATIONS = 4000
MANY = 50
"""Blocks beyond which standard errors are as good as known."""


def confidence_set(
    sums: Float[np.ndarray, "models blocks"], counts: Float[np.ndarray, " blocks"]
) -> Float[np.ndarray, " models"]:
    """A p-value for each model: how well the scores agree with its being as good as any other.

    The model confidence set of Hansen, Lunde and Nason (2011). As long as the largest difference
    between any two models, in standard errors, is more than chance would make it among so many
    pairs, the model that is most clearly worse is taken out. Those with a p-value of 0.05 or more
    hold the best model in 95 of 100 studies, however many were tried. Chance is that of blocks
    which vary together as the scores do, each pair with a standard error of its own: of one pair it
    is Student's t with one degree of freedom less than there are blocks.

    Examples
    --------
    >>> import numpy as np
    >>> sums = np.array([[-2, -3, -2.5, -2.2], [-2.1, -2.9, -2.5, -2.3], [-9, -9.9, -9.5, -9]])
    >>> (confidence_set(sums, np.ones(4)) >= 0.05).tolist()
    [True, True, False]
    """
    blocks = sums.shape[1]
    bits = sums.sum(axis=1) / counts.sum()
    known = np.isfinite(bits)
    p = np.where(known | ~known.any(), 1.0, 0.0)  # −∞ bits: what happened is impossible
    if blocks < 2 or known.sum() < 2:
        return p
    rest = np.where(known[:, None], sums - counts * np.where(known, bits, 0.0)[:, None], 0.0)
    gap, error, noise = _pairs(np.where(known, bits, 0.0), rest, counts.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        behind = np.where(gap > 0, gap / error, 0.0)  # how clearly row is worse than column
    left = [int(n) for n in np.flatnonzero(known)]
    reached = 0.0
    while len(left) > 1:
        own = np.ix_(left, left)
        chance = noise[:, np.array(left)[:, None], np.array(left)].max(axis=(1, 2))
        largest = behind[own].max()
        reached = max(reached, float((1 + np.sum(chance >= largest)) / (1 + len(chance))))
        worst = left[int(np.argmax(behind[own].max(axis=1)))]
        p[worst] = reached
        left.remove(worst)
    return p


def _pairs(
    bits: Float[np.ndarray, " models"], rest: Float[np.ndarray, "models blocks"], total: float
) -> tuple[
    Float[np.ndarray, "models models"],
    Float[np.ndarray, "models models"],
    Float[np.ndarray, "simulations models models"],
]:
    """How far the row is behind the column, its standard error, and |t| of pairs by chance."""
    models, blocks = rest.shape
    left, sizes, _ = np.linalg.svd(rest, full_matrices=False)
    roots = left * sizes  # the same covariances as the blocks have, in few directions
    one, other = np.triu_indices(models, 1)
    apart = roots[one] - roots[other]
    norm = np.linalg.norm(apart, axis=1)
    norm[norm < 1e-12 * max(float(sizes.max()), 1e-300)] = 0.0
    apart = apart / np.where(norm > 0, norm, np.inf)[:, None]
    rng = np.random.default_rng(blocks)
    mean = np.abs(rng.normal(size=(SIMULATIONS, roots.shape[1])) @ apart.T)
    squares, degrees = np.ones_like(mean), blocks - 1
    if degrees < MANY:
        squares = np.zeros_like(mean)
        for _ in range(degrees):
            squares += (rng.normal(size=(SIMULATIONS, roots.shape[1])) @ apart.T) ** 2 / degrees
    noise = np.zeros((SIMULATIONS, models, models))
    noise[:, one, other] = mean / np.sqrt(np.where(norm > 0, squares, 1.0))
    error = np.zeros((models, models))
    error[one, other] = error[other, one] = np.sqrt(blocks / (blocks - 1)) * norm / total
    return bits[None] - bits[:, None], error, noise
