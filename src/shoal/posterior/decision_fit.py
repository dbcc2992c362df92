"""The result of a fit to decisions: the cost-to-go of what animals decide for."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int

from shoal.errors import InputError
from shoal.inputs import Whole
from shoal.moves import Decisions, MoveFamily
from shoal.posterior.decision_diagnostics import diagnose_decisions
from shoal.posterior.diagnostics import Diagnostics
from shoal.posterior.fit import Fit, from_zero
from shoal.posterior.headline import Headline, chosen_moves, no_costs
from shoal.posterior.loo import LooScore
from shoal.posterior.scoring import MOST_DRAWS, Score, drawn
from shoal.states import Circular, Folded, StateSpace

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class DecisionScore(Score):
    """Bits per decision: the mean log₂ density of a move, in degrees and log steps.

    Attributes
    ----------
    passive
        The same of passive moves alone, learned from what the fit was made from.
    """

    passive: Score | None = None

    @property
    def gain(self) -> tuple[float, float]:
        """How much better than passive moves alone, and its standard error."""
        assert self.passive is not None
        return self.minus(self.passive)

    @property
    def unit(self) -> str:
        """What a score is per."""
        return "decision"

    def table(self) -> "pd.DataFrame":
        """A row for each block: decisions, bits per decision, and those of passive moves alone."""
        assert self.passive is not None
        table = super().table()
        table["passive_bits"] = self.passive.sums / self.passive.counts
        table["gain"] = table["bits"] - table["passive_bits"]
        return table

    def __str__(self) -> str:
        gain, error = self.gain
        spread = f" ± {error:.3f}" if np.isfinite(error) else ""
        size = f"{gain:.3f}".replace("-", "−")
        if not np.isfinite(error) or abs(gain) <= 2 * error:
            told = (
                "Whether preferences predict these moves better than passive moves cannot be told"
            )
        elif gain > 0:
            told = "Preferences predict these moves better than passive moves alone"
        else:
            told = "Preferences predict these moves worse than passive moves alone"
        words = f"{told}: the difference is {size}{spread} bits per decision."
        return " ".join(filter(None, [self._sentence(), words, self._block_sentence()]))

    def __repr__(self) -> str:
        gain, error = self.gain
        return (
            f"DecisionScore({self.bits:.3f} ± {self.standard_error:.3f} bits per decision, "
            f"{gain:+.3f} ± {error:.3f} over passive moves, {int(self.counts.sum())} decisions)"
        )


class DecisionFit(Fit):
    """Draws of q, the cost-to-go of decided states, from moves that animals chose.

    It is a ``Fit`` whose ``cost_to_go`` has no level along any line that no move can leave.
    """

    @cached_property
    def family(self) -> MoveFamily:
        """The passive moves with what is unknown about them."""
        return MoveFamily.of(self.model.passive, self.model.space)

    @cached_property
    def lines(self) -> Int[np.ndarray, "*grid"]:
        """The number of the line of states that moves can lead along, for every state."""
        return lines_of(self.model.space, steps=self.model.passive.steps)

    @cached_property
    def cost_to_go(self) -> xr.DataArray:
        """Q (chain, draw, *axes): level removed along lines, posterior mean with minimum 0."""
        contrasts = self.sampled.copy(
            data=without_levels(self.sampled.values, self.lines, self.arrivals.values)
        )
        named = {"long_name": "cost-to-go of decided states", "units": "nats"}
        return from_zero(contrasts).rename("cost_to_go").assign_attrs(named)

    @cached_property
    def state_cost(self) -> xr.DataArray:
        """R (chain, draw, *axes) of perceived states, up to a constant; NaN where none was made.

        Only of a model with ``state_costs=True``.
        """
        posterior = self.data["posterior"].to_dataset()
        if "state_cost" not in posterior:
            raise InputError(
                "this fit tells the cost-to-go of decided states, fit.cost_to_go; to learn state "
                "costs as well, fit shoal.Model(space, moves, basis, state_costs=True)"
            )
        named = {"long_name": "state cost", "units": "nats per step"}
        return from_zero(posterior["state_cost"]).rename("state_cost").assign_attrs(named)

    @property
    def absorbing(self) -> xr.DataArray:
        """No state: every decision could have been another."""
        return xr.zeros_like(self.arrivals, dtype=bool)

    def headline(self) -> Headline:
        """What the animals do, in one sentence, and the sentences behind it."""
        return no_costs(self) or chosen_moves(self)

    @property
    def data_unit(self) -> str:
        """What it was learned from, one of them: a transition or a decision."""
        return "decision"

    def __repr__(self) -> str:
        return (
            super().__repr__().replace("Fit(", "DecisionFit(").replace("transitions", "decisions")
        )

    def loo(self) -> LooScore:
        """Not there yet."""
        raise InputError("leave-one-out scores are of transitions: score decisions held out")

    def diagnostics(self) -> Diagnostics:
        """What to worry about, in words; ``.trusted`` is False where the fit should not be used."""
        return diagnose_decisions(self)

    def score(self, decisions: Any, draws: Whole | None = None) -> DecisionScore:
        """Bits per decision on decisions that the fit has not seen, with a standard error.

        Parameters
        ----------
        decisions
            Read with the same features and kind of moves.
        draws
            How many draws to average over; by default all, or a thousand of them.
        """
        check_decisions(self, decisions)
        each, alone = log_densities(self, decisions, draws)
        rows = decisions.block_rows()
        counts = np.array([float(len(block)) for block in rows])
        sums, base = (
            np.array([logs[block].sum() for block in rows]) / np.log(2) for logs in (each, alone)
        )
        return DecisionScore(sums, counts, passive=Score(base, counts))


def check_decisions(fit: Fit, decisions: Any) -> None:
    """Decisions on the states that a fit knows, by moves of the same kind."""
    if not isinstance(decisions, Decisions):
        raise InputError(
            f"this fit is of decisions: give what shoal.decisions(…) returns, got "
            f"{type(decisions).__name__}"
        )
    if decisions.space.axes != fit.model.space.axes:
        raise InputError(
            f"this model knows the states {fit.model.space.names}, and the decisions are on "
            f"{decisions.space.names}, or on other bins: read them with the model's space"
        )
    if type(decisions.moves) is not type(fit.model.passive):
        raise InputError(
            f"this model is of {type(fit.model.passive).__name__}, and the decisions are "
            f"{type(decisions.moves).__name__}"
        )
    known = [part for part in fit.model.space.parts if hasattr(part, "values")]
    if len(known) == len(fit.model.space.parts) and decisions.space != fit.model.space:
        raise InputError(
            f"this model perceives {fit.model.space.parts}, and the decisions were read with "
            f"{decisions.space.parts}: read them with the model's space"
        )
    others = [getattr(moves, "others", None) for moves in (fit.model.passive, decisions.moves)]
    if others[0] != others[1]:
        raise InputError(
            f"this model sees others {others[0]!r}, and the decisions were read with {others[1]!r}"
        )
    own = [getattr(moves, "own_pace", False) for moves in (fit.model.passive, decisions.moves)]
    if own[0] != own[1]:
        raise InputError(
            f"this model was learned with pace={own[0]}, and the decisions were read with "
            f"pace={own[1]}: read them with shoal.Steps(pace={own[0]}, …)"
        )
    if not decisions.total:
        raise InputError("there are no decisions to score")


def log_densities(
    fit: "DecisionFit", decisions: Decisions, draws: int | None = None
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """The log density of every move: the mean over draws, and by passive moves alone."""
    q, unknowns = drawn(fit, MOST_DRAWS if draws is None else draws)
    candidates = decisions.candidates_for(fit.model.passive)
    family = MoveFamily.of(fit.model.passive, decisions.places, candidates)
    maps = [] if decisions.grid is None else decisions.grid.maps(decisions.space.shape)
    moved = decisions.moved_for(fit.model.passive)
    alone = np.asarray(fit.facts["passive_alone"], dtype=float)
    found = _log_means(family, unknowns, q, maps, moved, decisions.ends, alone)
    return np.asarray(found[0]), np.asarray(found[1])


@jax.jit
def _log_means(
    family: MoveFamily, unknowns: Array, q: Array, maps: Any, moved: Any, ends: Array, alone: Array
) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    """Log mean over draws, one draw at a time; and by passive moves alone."""

    def add(total: Array, draw: tuple[Array, Array]) -> tuple[Array, None]:
        fine = draw[1]
        for part in maps:
            fine = part.apply(fine)
        return jnp.logaddexp(total, move_logs(family, draw[0], fine, moved, ends)), None

    start = jnp.full(ends.shape, -jnp.inf)
    total, _ = jax.lax.scan(add, start, (unknowns, q))
    return total - jnp.log(q.shape[0]), family.at(alone).log_density_alone(moved)


def move_logs(
    family: MoveFamily, u: Array, q: Float[Array, "*grid"], moved: Any, ends: Int[Array, " n"]
) -> Float[Array, " n"]:
    """Log π(m | x) of every decision in one draw: log p̄(m) − q(y) − log Σ p̄(m′) e^{−q(y′)}."""
    passive = family.at(u)
    lowest = jnp.min(q)
    log_norm = jnp.log(passive.apply(jnp.exp(lowest - q))) - lowest
    return passive.log_density(moved) - q.ravel()[ends] - log_norm


def lines_of(space: StateSpace, *, steps: bool) -> Int[np.ndarray, "*grid"]:
    """Numbers of lines: a turn moves all angles together and leaves everything else as it is.

    With steps an animal can come from any state to any other.
    """
    if steps:
        return np.zeros(space.shape, dtype=int)
    parts: Any = space.parts
    turning = [n for n, part in enumerate(parts) if getattr(part, "turn", 0)]
    index = np.indices(space.shape)
    key = [index[n] for n in range(len(space.axes)) if n not in turning]
    lead, *others = turning
    # of absolute angles a turn changes the sum or the difference: it leads from any to any
    if not any(isinstance(space.axes[n], Folded) for n in turning):
        key += [_apart(space, lead, n, index) for n in others]
    if not key:
        return np.zeros(space.shape, dtype=int)
    flat = np.stack([part.ravel() for part in key], axis=1)
    _, number = np.unique(flat, axis=0, return_inverse=True)
    return number.reshape(space.shape)


def _apart(
    space: StateSpace, one: int, other: int, index: Int[np.ndarray, "axes *grid"]
) -> Int[np.ndarray, "*grid"]:
    """How far two angles lie apart, in bins of the coarser one; signs as the features turn."""
    first, second = space.axes[one], space.axes[other]
    assert isinstance(first, Circular) and isinstance(second, Circular)
    parts: Any = space.parts
    step = 360.0 / min(first.bins, second.bins)
    sign = parts[one].turn * parts[other].turn
    gap = first.centres[index[one]] - sign * second.centres[index[other]]
    return np.rint(np.mod(gap, 360.0) / step).astype(int) % min(first.bins, second.bins)


def without_levels(
    draws: Float[np.ndarray, "chain draw *grid"],
    lines: Int[np.ndarray, "*grid"],
    arrivals: Any,
) -> Float[np.ndarray, "chain draw *grid"]:
    """Q minus its mean along each line weighted by arrivals, draw by draw.

    A line that nobody was seen on has its plain mean taken off.
    """
    number = lines.ravel()
    weight = np.asarray(arrivals, dtype=float).ravel()
    count = number.max() + 1
    empty = np.bincount(number, weight, count) == 0
    weight = np.where(empty[number], 1.0, weight)
    share = weight / np.bincount(number, weight, count)[number]
    flat = draws.reshape(-1, number.size)
    levels = np.stack([np.bincount(number, share * row, count) for row in flat])
    return (flat - levels[:, number]).reshape(draws.shape)
