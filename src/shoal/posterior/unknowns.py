"""Draws of scales, lengths and passive moves from a density that is known in closed form.

They come from a mixture of skewed Student t distributions, each adapted to what the ones before it
found, and are weighted by how probable they are.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import gammaln, logsumexp

from shoal.posterior.importance import Weighing, weigh
from shoal.system.progress import Report

FREEDOM = 7.0
"""Of the Student t: tails a little heavier than the posterior's."""

EACH, ROUNDS = 512, 12
"""Draws of a round, and how many rounds there are at most."""

GOOD = 0.5
"""The tail of the weights at which no further round is made."""

ENOUGH = 100.0
"""Points that must count for a distribution to be adapted to them."""

SHIFTS = np.linspace(-1.0, 1.0, 41)
"""Where the peak of a skewed distribution may lie, in sds from its mean."""


class SplitStudent(NamedTuple):
    """A multivariate Student t whose spread to the left and to the right may differ.

    A point is centre + factor @ z, with a peak of z at 0 and widths ``left`` and ``right`` on
    either side of it along each direction.
    """

    centre: Float[np.ndarray, " hyper"]
    factor: Float[np.ndarray, "hyper hyper"]
    left: Float[np.ndarray, " hyper"]
    right: Float[np.ndarray, " hyper"]

    @classmethod
    def around(
        cls, centre: Float[np.ndarray, " hyper"], spread: Float[np.ndarray, "hyper hyper"]
    ) -> "SplitStudent":
        """The same to both sides, from a square root of the covariance."""
        factor = np.linalg.cholesky(spread @ spread.T)
        return cls(np.asarray(centre), factor, np.ones(len(centre)), np.ones(len(centre)))

    def draw(self, count: int, generator: np.random.Generator) -> Float[np.ndarray, "n hyper"]:
        """So many points."""
        size = np.abs(generator.standard_normal((count, self.centre.size)))
        ahead = generator.random(size.shape) * (self.left + self.right) < self.right
        stretch = np.sqrt(generator.chisquare(FREEDOM, (count, 1)) / FREEDOM)
        z = np.where(ahead, self.right * size, -self.left * size) / stretch
        return np.asarray(self.centre + z @ self.factor.T)

    def log_density(self, points: Float[np.ndarray, "n hyper"]) -> Float[np.ndarray, " n"]:
        """Of each point."""
        size = self.centre.size
        z = self._whitened(points, self.centre)
        squares = np.sum((z / np.where(z > 0, self.right, self.left)) ** 2, axis=1)
        constant = gammaln((FREEDOM + size) / 2) - gammaln(FREEDOM / 2)
        constant -= size / 2 * np.log(FREEDOM * np.pi) + np.log(np.diag(self.factor)).sum()
        constant -= np.log((self.left + self.right) / 2).sum()
        return np.asarray(constant - (FREEDOM + size) / 2 * np.log1p(squares / FREEDOM))

    def adapted(
        self, points: Float[np.ndarray, "n hyper"], weights: Float[np.ndarray, " n"]
    ) -> "SplitStudent":
        """With the mean, covariance and skew of weighted points; near itself where few count."""
        size, effective = self.centre.size, 1 / np.sum(weights**2)
        mean = weights @ points
        apart = points - mean
        before = self.factor @ self.factor.T
        shape = (effective * (weights[:, None] * apart).T @ apart + 2 * size * before) / (
            effective + 2 * size
        )
        found = self._replace(centre=mean, factor=np.linalg.cholesky(shape))
        peaks, left, right = _split(found._whitened(points, mean), weights)
        return SplitStudent(mean + found.factor @ peaks, found.factor, left, right)

    def _whitened(
        self, points: Float[np.ndarray, "n hyper"], centre: Float[np.ndarray, " hyper"]
    ) -> Float[np.ndarray, "n hyper"]:
        return np.asarray(np.linalg.solve(self.factor, (points - centre).T).T)


def _split(
    z: Float[np.ndarray, "n hyper"], weights: Float[np.ndarray, " n"]
) -> tuple[Float[np.ndarray, " hyper"], ...]:
    """The most likely split normal of each column: its peak, its left and its right width."""
    best = np.full(z.shape[1], -np.inf)
    found = np.zeros((3, z.shape[1]))
    for peak in SHIFTS:
        squares = weights[:, None] * (z - peak) ** 2
        below, above = (
            np.maximum(np.sum(squares * (side * (z - peak) > 0), axis=0), 1e-6) for side in (-1, 1)
        )
        both = np.cbrt(below) + np.cbrt(above)
        left, right = np.cbrt(below) * np.sqrt(both), np.cbrt(above) * np.sqrt(both)
        height = -np.log(left + right)
        better = height > best
        best = np.where(better, height, best)
        found = np.where(better, [np.full_like(left, peak), left, right], found)
    return found[0], found[1], found[2]


def tempered(weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Weights to a power of at most 1 at which they are worth ``ENOUGH`` points.

    While the first distributions are far from the target, a few points would decide all.
    """
    power, softer = 1.0, weights
    while 1 / np.sum(softer**2) < ENOUGH and power > 1e-3:
        power *= 0.8
        softer = weights**power
        softer = softer / softer.sum()
    return softer


def weighted_unknowns(
    start: SplitStudent,
    heights: Callable[[Float[np.ndarray, "n hyper"]], Float[np.ndarray, " n"]],
    wanted: int,
    generator: np.random.Generator,
    report: Report,
) -> tuple[Float[np.ndarray, "n hyper"], Float[np.ndarray, " n"], Weighing]:
    """Points, the log density of each, and their weights: worth ``wanted`` draws where it can be.

    All rounds count, each point by the mixture of all the distributions that were drawn from.
    """
    students, points, logs = [start], np.zeros((0, start.centre.size)), np.zeros(0)
    for done in range(ROUNDS):
        report("drawing scales and dynamics", done, ROUNDS)
        fresh = students[-1].draw(EACH, generator)
        points, logs = np.concatenate([points, fresh]), np.concatenate([logs, heights(fresh)])
        each = np.stack([student.log_density(points) for student in students])
        weighing = weigh(logs, logsumexp(each, axis=0) - np.log(len(students)))
        if weighing.effective >= wanted and weighing.pareto_k < GOOD:
            break
        if weighing.effective > 0:
            students.append(students[-1].adapted(points, tempered(weighing.weights)))
    report("drawing scales and dynamics", ROUNDS, ROUNDS)
    return points, logs, weighing
