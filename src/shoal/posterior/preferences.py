"""What animals prefer of each feature, the others equal: the part of q that moves can tell.

Near decisions are often alike in several features at once: neighbours that are close are aligned as
well. The average of q over all decisions at one distance then says something of alignment, too. So
q is described by a sum of terms, one for each feature (or two of them together), plus a level for
every line that no move can leave,

    q(x) ≈ Σ_t f_t(x) + level(line of x),

by least squares with the arrivals as weights. The f_t are linear in q: the same matrix gives them
for every draw. Not all differences of f_t can be told. Those that can do not
change with the levels; they lie in the row space of the matrix of the least squares.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from jaxtyping import Bool, Float, Int

if TYPE_CHECKING:
    from shoal.posterior.decision_fit import DecisionFit

TOLERANCE = 1e-6
"""Of a difference that can be told."""


@dataclass(frozen=True, eq=False)
class Preference:
    """What one feature, or two together, do to q with all others equal.

    Attributes
    ----------
    axes
        The numbers of its axes.
    draws
        Its values in every draw; NaN where nobody decided for. Known up to what cannot be told.
    arrivals
        How often animals decided for each of its cells.
    tells
        The matrix that leaves differences of cells as they are where they can be told.
    """

    axes: tuple[int, ...]
    draws: Float[np.ndarray, "draws *own"]
    arrivals: Int[np.ndarray, "*own"]
    tells: Float[np.ndarray, "cells columns"]
    first: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of its own grid."""
        return tuple(self.arrivals.shape)

    @property
    def known(self) -> Bool[np.ndarray, " cells"]:
        """Which of its cells animals decided for."""
        return np.asarray(self.arrivals.ravel() > 0)

    def can_tell(self, weights: Float[np.ndarray, "n cells"]) -> Bool[np.ndarray, " n"]:
        """Whether sums of its cells, with weights, are known from decisions."""
        known = self.known
        inside = np.abs(weights[:, ~known]).sum(axis=1) == 0
        given = weights[:, known]
        left = given @ self.tells
        own = slice(self.first, self.first + given.shape[1])
        left[:, own] -= given
        return np.asarray(inside & (np.abs(left).max(axis=1, initial=0.0) < TOLERANCE))

    def summed(self, weights: Float[np.ndarray, "n cells"]) -> Float[np.ndarray, "draws n"]:
        """Sums of its cells with weights, draw by draw."""
        flat = np.nan_to_num(self.draws.reshape(len(self.draws), -1))
        return np.asarray(flat @ weights.T)

    def compared(self) -> Int[np.ndarray, " cells"]:
        """A number for each cell: the same where two can be compared, −1 where nobody decided."""
        number = np.full(self.arrivals.size, -1)
        cells = np.flatnonzero(self.known)
        count = 0
        for cell in cells:
            if number[cell] >= 0:
                continue
            rest = cells[number[cells] < 0]
            pairs = np.zeros((rest.size, self.arrivals.size))
            pairs[:, cell] -= 1.0
            pairs[np.arange(rest.size), rest] += 1.0
            number[rest[self.can_tell(pairs)]] = count
            count += 1
        return number

    def centred(self) -> Float[np.ndarray, "draws *own"]:
        """Its values less the mean, by arrivals, of all cells that a cell can be compared with."""
        flat = self.draws.reshape(len(self.draws), -1).copy()
        number, weight = self.compared(), self.arrivals.ravel().astype(float)
        for one in range(number.max() + 1):
            own = number == one
            flat[:, own] -= (flat[:, own] @ weight[own] / weight[own].sum())[:, None]
        return flat.reshape(self.draws.shape)


def preferences(fit: "DecisionFit", terms: Sequence[tuple[int, ...]]) -> tuple[Preference, ...]:
    """What each of some features, or pairs of them, does to q with the others equal.

    Parameters
    ----------
    fit
        A fit to decisions.
    terms
        The axes of each term, by number.
    """
    shape = fit.model.space.shape
    arrivals = np.asarray(fit.arrivals.values).ravel()
    there = np.flatnonzero(arrivals)
    weight = arrivals[there].astype(float)
    index = np.array(np.unravel_index(there, shape))
    counts = [_counted(arrivals.reshape(shape), axes) for axes in terms]
    columns = []
    for axes, count in zip(terms, counts, strict=True):
        place = np.cumsum(count.ravel() > 0) - 1
        cell = np.ravel_multi_index(index[list(axes)], count.shape)
        ones = (np.ones(there.size), (np.arange(there.size), place[cell]))
        columns.append(sp.csr_array(ones, shape=(there.size, int((count > 0).sum()))))
    design = sp.hstack(columns).tocsr()
    _, line = np.unique(fit.lines.ravel()[there], return_inverse=True)
    lines = sp.csr_array((np.ones(there.size), (np.arange(there.size), line)))
    total = lines.T @ weight
    held = (lines.T @ (design * weight[:, None])).toarray() / total[:, None]
    normal = (design.T @ (design * weight[:, None])).toarray()
    normal -= held.T @ (total[:, None] * held)
    values, vectors = np.linalg.eigh(normal)
    large = values > 1e-9 * max(values.max(), 1.0)
    half = vectors[:, large]
    tells = half @ half.T
    q = fit.sampled.values.reshape(-1, arrivals.size)[:, there]
    levels = (lines.T @ (q * weight).T).T / total
    moments = (design.T @ ((q - levels[:, line]) * weight).T).T
    found = (moments @ half) / values[large] @ half.T
    parts, first = [], 0
    for axes, count in zip(terms, counts, strict=True):
        own = np.flatnonzero(count.ravel() > 0)
        columns_of = slice(first, first + own.size)
        draws = np.full((len(q), count.size), np.nan)
        draws[:, own] = found[:, columns_of]
        shaped = draws.reshape(len(q), *count.shape)
        parts.append(Preference(tuple(axes), shaped, count, tells[columns_of], first))
        first += own.size
    return tuple(parts)


def _counted(arrivals: Int[np.ndarray, "*grid"], axes: tuple[int, ...]) -> Int[np.ndarray, "*own"]:
    """Arrivals in the cells of some axes, in their order."""
    others = tuple(n for n in range(arrivals.ndim) if n not in axes)
    summed = arrivals.sum(axis=others)
    rank = np.argsort(np.argsort(axes))
    return np.asarray(np.transpose(summed, rank))


@dataclass(frozen=True, eq=False)
class Band:
    """Several numbers of a posterior, with intervals that hold all of them at once.

    Attributes
    ----------
    mean, sd, lower, upper
        Of each; the intervals hold all numbers together with the probability asked for. Without a
        spread (one draw) they are NaN.
    probability
        That each is positive.
    """

    mean: Float[np.ndarray, " n"]
    sd: Float[np.ndarray, " n"]
    lower: Float[np.ndarray, " n"]
    upper: Float[np.ndarray, " n"]
    probability: Float[np.ndarray, " n"]

    @property
    def sign(self) -> Int[np.ndarray, " n"]:
        """1 where the whole interval is positive, −1 where it is negative, 0 where it holds 0."""
        return np.where(self.lower > 0, 1, np.where(self.upper < 0, -1, 0))

    @classmethod
    def of(cls, draws: Float[np.ndarray, "draws n"], level: float = 0.95) -> "Band":
        """Every interval is its mean and so many sds: as many as the largest deviation needs."""
        mean = draws.mean(axis=0)
        if len(draws) < 2 or not draws.shape[1]:
            none = np.full(mean.shape, np.nan)
            return cls(mean, none, none, none, none)
        sd = draws.std(axis=0, ddof=1)
        away = np.abs(draws - mean) / np.maximum(sd, 1e-12)
        width = float(np.quantile(away.max(axis=1), level)) * sd
        return cls(mean, sd, mean - width, mean + width, np.mean(draws > 0, axis=0))
