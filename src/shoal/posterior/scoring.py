"""How well a fit foretells transitions it has not seen, in bits per transition."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from shoal.errors import InputError
from shoal.lmdp.log_space import log_apply
from shoal.passive import PassiveFamily
from shoal.precision import as_jax
from shoal.results import Result, counted, data_frame
from shoal.states import StateSpace, Transitions
from shoal.tracks.record import warn

if TYPE_CHECKING:
    import pandas as pd

    from shoal.posterior.fit import Fit

MOST_DRAWS = 1000
"""Draws that a score is averaged over, at most."""


@dataclass(frozen=True, eq=False)
class Score(Result):
    """Bits per transition: the mean of log₂ p(next state | state), over all draws of a fit.

    Attributes
    ----------
    sums, counts
        Of every block: the bits of its transitions together, and how many there are.
    independent
        Whether every transition was taken for a block of its own, since nobody knows when and by
        whom they were made; the standard error is then too small.
    """

    sums: Float[np.ndarray, " blocks"]
    counts: Float[np.ndarray, " blocks"]
    independent: bool = False

    @property
    def bits(self) -> float:
        """Per transition or decision; higher is better, and of transitions 0 is the best."""
        return float(self.sums.sum() / self.counts.sum())

    @property
    def transitions(self) -> int:
        """How many were scored."""
        return int(self.counts.sum())

    @property
    def standard_error(self) -> float:
        """Of the bits, from how blocks differ; NaN where there is one block only."""
        return _ratio_error(self.sums, self.counts)

    def minus(self, other: "Score") -> tuple[float, float]:
        """How much better this is than another on the same transitions, and its standard error."""
        if self.counts.shape != other.counts.shape or np.any(self.counts != other.counts):
            raise InputError("scores of different transitions cannot be compared")
        with np.errstate(invalid="ignore"):  # −∞ less −∞ is nothing to compare
            difference = self.sums - other.sums
        return float(difference.sum() / self.counts.sum()), _ratio_error(difference, self.counts)

    @property
    def unit(self) -> str:
        """What a score is per."""
        return "transition"

    def table(self) -> "pd.DataFrame":
        """A row for each block: how many transitions it has, and bits per transition."""
        return data_frame(
            {
                "block": np.arange(len(self.counts)),
                f"{self.unit}s": self.counts.astype(int),
                "bits": self.sums / self.counts,
            }
        )

    def __str__(self) -> str:
        return " ".join(filter(None, [self._sentence(), self._block_sentence()]))

    def _sentence(self) -> str:
        """The score in words."""
        error = self.standard_error
        spread = f" ± {error:.3f}" if np.isfinite(error) else ""
        bits = f"{self.bits:.3f}".replace("-", "−")
        return (
            f"The model gives {counted(self.transitions, self.unit)} a score of "
            f"{bits}{spread} bits per {self.unit}; higher is better."
        )

    def _block_sentence(self) -> str:
        """How far the standard error can be trusted."""
        if self.independent:
            return (
                f"The standard error takes every {self.unit} for independent of the others, "
                "so it is too small."
            )
        if len(self.counts) < 2:
            return "There is one block only, so no standard error is known."
        return f"The standard error comes from the differences between {len(self.counts)} blocks."

    def __repr__(self) -> str:
        blocks = "" if self.independent else f", {len(self.counts)} blocks"
        return (
            f"Score({self.bits:.3f} ± {self.standard_error:.3f} bits per transition, "
            f"{self.transitions} transitions{blocks})"
        )


def _ratio_error(sums: Float[np.ndarray, " blocks"], counts: Float[np.ndarray, " blocks"]) -> float:
    """The standard error of Σ sums / Σ counts over blocks of different sizes."""
    if len(sums) < 2 or not np.all(np.isfinite(sums)):
        return float("nan")
    rest = sums - counts * sums.sum() / counts.sum()
    return float(np.sqrt(len(sums) / (len(sums) - 1) * np.sum(rest**2)) / counts.sum())


def score(fit: "Fit", transitions: Any, draws: Any = None) -> Score:
    """The score of a fit on transitions, or on several that are blocks.

    Parameters
    ----------
    transitions
        Counted on the states of the fit. Those that know their times are cut into blocks; a list or
        dictionary of Transitions has one block each.
    draws
        How many draws to average over; by default all, or a thousand of them.
    """
    if draws is not None and (not hasattr(draws, "__index__") or draws < 1):
        raise InputError(f"a score is averaged over a whole number of draws, got {draws!r}")
    blocks, independent = blocks_of(transitions)
    for block in blocks:
        check_states(fit, block)
    space = fit.model.space
    together = Transitions.summed([_bare(block, space) for block in blocks], space)
    logs = log_predictive(fit, together, draws) / np.log(2)
    if not np.all(np.isfinite(logs)):
        lost = int(together.pairs.count[~np.isfinite(logs)].sum())
        warn(f"{lost} of {together.total} transitions cannot happen under this model: −∞ bits")
    if independent:
        each = np.repeat(logs, together.pairs.count)
        return Score(each, np.ones(each.size), independent=True)
    size = fit.model.space.size
    codes = together.pairs.origin * size + together.pairs.destination
    sums = []
    for block in blocks:
        place = np.searchsorted(codes, block.pairs.origin * size + block.pairs.destination)
        sums.append(float(logs[place] @ block.pairs.count))
    return Score(np.array(sums), np.array([float(block.total) for block in blocks]))


def blocks_of(transitions: Any) -> tuple[list[Transitions], bool]:
    """Blocks that differ independently, and whether there is nothing to tell them by."""
    if isinstance(transitions, dict):
        transitions = list(transitions.values())
    if isinstance(transitions, Transitions):
        if not transitions.total:
            raise InputError("there are no transitions to score")
        known = transitions.records is not None
        return (transitions.blocks() if known else [transitions]), not known
    if not isinstance(transitions, Iterable):
        raise InputError(
            f"a score is of counted transitions or a list of them; got {type(transitions).__name__}"
        )
    parts = list(transitions)
    if not parts or not all(isinstance(part, Transitions) for part in parts):
        raise InputError("a score is of counted transitions or a list of them")
    if not any(part.total for part in parts):
        raise InputError("there are no transitions to score")
    return [part for part in parts if part.total], False


def check_states(fit: "Fit", transitions: Transitions) -> None:
    """Transitions on the states that a fit knows, at its lag."""
    if transitions.space.axes != fit.model.space.axes:
        raise InputError(
            f"this model knows the states {fit.model.space.names} with "
            f"{' × '.join(map(str, fit.model.space.shape))} bins, and the transitions to score are "
            f"on {transitions.space.names} with {' × '.join(map(str, transitions.space.shape))}: "
            "count them on the model's space"
        )
    if transitions.lag != fit.lag:
        raise InputError(
            f"this model was fitted at a lag of {fit.lag}, the transitions have {transitions.lag}"
        )


def _bare(transitions: Transitions, space: StateSpace) -> Transitions:
    return Transitions(space, transitions.pairs, lag=transitions.lag)


def log_predictive(
    fit: "Fit", transitions: Transitions, draws: int | None = None
) -> Float[np.ndarray, " pairs"]:
    """Log of the mean over draws of p*(j | i), for each distinct pair."""
    v, unknowns = drawn(fit, MOST_DRAWS if draws is None else draws)
    pairs = transitions.pairs
    found = _log_means(
        fit.model.family,
        unknowns,
        v,
        as_jax(float(fit.model.discount)),
        as_jax(pairs.origin),
        as_jax(pairs.destination),
    )
    return np.asarray(found)


def drawn(fit: "Fit", most: int) -> tuple[Float[Array, "draws *grid"], Float[Array, "draws k"]]:
    """Costs-to-go and passive unknowns of at most so many draws, evenly spread."""
    v = fit.sampled.values.reshape(-1, *fit.model.space.shape)
    some = np.unique(np.linspace(0, len(v) - 1, min(most, len(v))).astype(int))
    return as_jax(v[some]), as_jax(np.asarray(fit.passive_unknowns)[some])


def pair_logs(
    family: PassiveFamily,
    u: Float[Array, " k"],
    v: Float[Array, "*grid"],
    discount: Float[Array, ""],
    origin: Int[Array, " pairs"],
    destination: Int[Array, " pairs"],
) -> Float[Array, " pairs"]:
    """Log p*(j | i) of each pair in one draw (eq. pstar)."""
    passive, log_z = family.at(u), -discount * v
    log_norm = log_apply(passive, log_z).ravel()
    log_bar = passive.log_probability(origin, destination)
    return log_bar + log_z.ravel()[destination] - log_norm[origin]


@eqx.filter_jit
def _log_means(family, unknowns, v, discount, origin, destination):  # type: ignore[no-untyped-def]
    """Log mean over draws, one draw at a time."""

    def add(total: Array, draw: tuple[Array, Array]) -> tuple[Array, None]:
        logs = pair_logs(family, draw[0], draw[1], discount, origin, destination)
        return jnp.logaddexp(total, logs), None

    start = jnp.full(origin.shape, -jnp.inf)
    total, _ = jax.lax.scan(add, start, (unknowns, v))
    return total - jnp.log(v.shape[0])
