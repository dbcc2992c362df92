"""What animals decided: every move, what was perceived before it, and what else they could do."""

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import equinox as eqx
import numpy as np
from jaxtyping import Bool, Float, Int

from shoal.errors import InputError
from shoal.moves.between import Grid
from shoal.moves.densities import LEVEL
from shoal.moves.passive import Candidates, Moved
from shoal.moves.quadrature import Quadrature
from shoal.moves.sharing import EXACT, condensed, lines_of, located
from shoal.moves.specification import Steps, Turns
from shoal.precision import as_jax
from shoal.results import counted, data_frame
from shoal.states import Headings, Records, StateSpace
from shoal.states.splits import Splits
from shoal.states.transitions import Pairs
from shoal.states.words import animals_of, left_out

if TYPE_CHECKING:
    import pandas as pd

EACH = ("perceived", "decided", "turn", "step", "turn_before", "step_before", "pace", "which")
"""What every decision has."""


@dataclass(frozen=True, eq=False)
class Decisions(Splits):
    """Moves of animals, each with what was perceived, what was decided and the other candidates.

    Attributes
    ----------
    space, moves
        The decided states, and what animals can choose; unknown numbers of steps have a prior
        around what the tracks show.
    records
        Perceived and decided state of every decision, whose it was and when.
    perceived, decided
        The values of every feature before the move, and after it with all others as they were seen.
    turn, step
        The move; steps are NaN where they are not chosen.
    turn_before, step_before
        The move before; 0 and NaN where there is none.
    pace
        The typical step of the animal, where each has its own; else 1.
    candidate_states, possible
        The decided state of every candidate move, for each row of candidates, and which of them can
        be made; None where all can. Numbers are those of ``places``.
    grid
        The narrower bins between which costs run in straight lines; None where there are none.
    which
        The set of candidates of each decision.
    row
        Which row of candidates each decision has; None where every decision has its own.
    quadrature
        The candidate moves.
    dropped
        How many animals in how many frames made no decision that could be read, by reason.
    fixes
        Animals times frames, all that were looked at.
    headings
        How headings were taken, and the frame interval.
    """

    space: StateSpace
    moves: Turns
    records: Records
    perceived: Float[np.ndarray, "n features"]
    decided: Float[np.ndarray, "n features"]
    turn: Float[np.ndarray, " n"]
    step: Float[np.ndarray, " n"]
    turn_before: Float[np.ndarray, " n"]
    step_before: Float[np.ndarray, " n"]
    pace: Float[np.ndarray, " n"]
    candidate_states: Int[np.ndarray, "rows k"]
    possible: Bool[np.ndarray, "rows k"] | None
    which: Int[np.ndarray, " n"]
    row: Int[np.ndarray, " n"] | None
    quadrature: Quadrature
    grid: Grid | None = None
    dropped: dict[str, int] = field(default_factory=dict)
    fixes: int = 0
    headings: Headings | None = None
    lag: int = 1

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.records)

    @property
    def places(self) -> StateSpace:
        """The states that moves are said to lead to: narrower ones where there is a grid."""
        return self.space if self.grid is None else self.grid.space

    @property
    def ends(self) -> Int[np.ndarray, " n"]:
        """Where every decision led to, among ``places``."""
        if self.grid is None:
            return self.records.destination
        return located(self.grid.space, list(self.decided.T))

    def on_places(self, values: Float[np.ndarray, "*any J"]) -> Float[np.ndarray, "*any places"]:
        """Numbers of states, such as costs, at every one of ``places``."""
        return values if self.grid is None else self.grid.fine(values, self.space.shape)

    @property
    def states(self) -> Int[np.ndarray, "n k"]:
        """Where every candidate of every decision leads to, among ``places``."""
        return self.candidate_states if self.row is None else self.candidate_states[self.row]

    @property
    def arrivals(self) -> Int[np.ndarray, "*grid"]:
        """How often each state was decided for."""
        return self._counted(self.records.destination)

    @property
    def departures(self) -> Int[np.ndarray, "*grid"]:
        """How often a decision was made in each perceived state."""
        return self._counted(self.records.origin)

    def _counted(self, states: Int[np.ndarray, " n"]) -> Int[np.ndarray, "*grid"]:
        counts = np.bincount(states, minlength=self.space.size)
        return counts.reshape(self.space.shape)

    @property
    def pairs(self) -> Pairs:
        """The distinct perceived and decided states that were seen together, with how often."""
        codes, counts = np.unique(self.records.codes(self.space.size), return_counts=True)
        origins, destinations = np.divmod(codes, self.space.size)
        return Pairs(origins, destinations, counts)

    @property
    def moved(self) -> Moved:
        """The moves, as passive moves see them."""
        return self.moved_for(self.moves)

    def moved_for(self, moves: Turns) -> Moved:
        """The same, for passive moves that were learned from other tracks."""
        made = (self.turn, self.step, self.turn_before, self.step_before)
        found = moved_of(self.moves, *made, self.pace)
        if found.level is None:
            return found
        return replace(found, level=found.level + self._away(moves))

    def _away(self, moves: Turns) -> float:
        """How many levels these animals are above those from which passive moves were learned."""
        if not (isinstance(moves, Steps) and isinstance(self.moves, Steps)):
            return 0.0
        return (self.moves.log_reference - moves.log_reference) / LEVEL

    @property
    def digest(self) -> Moved:
        """What the likelihood of all moves together needs of them: few turns where many are alike.

        Turns that differ by less than a two-hundredth of a typical turn are one, at their mean.
        """
        same = self.moves.persistence == 0 and self.possible is None
        if self.moves.steps or not same or self.total <= EXACT:
            return self.moved
        turn, count = condensed(self.turn)
        return Moved(as_jax(turn), None, as_jax(np.zeros(turn.size)), None, None, as_jax(count))

    @property
    def candidates(self) -> Candidates:
        """The moves that animals could have made, as passive moves see them."""
        return self.candidates_for(self.moves)

    def candidates_for(self, moves: Turns) -> Candidates:
        """The same, for passive moves that were learned from other tracks."""
        spread, steps = self.quadrature, self.quadrature.log_step
        expected = (moves.persistence, getattr(moves, "follow", 0.0))
        apart = expected != (spread.persistence, spread.follow)
        table, row = self.candidate_states, self.row
        if row is not None:
            used, row = np.unique(row, return_inverse=True)
            table, row = (self.states, None) if apart else (table[used], row)
        return Candidates(
            as_jax(table.T),
            None if self.possible is None else as_jax(self.possible.T),
            None if spread.sets == 1 else as_jax(self.which),
            None if row is None else as_jax(row),
            as_jax(spread.turn),
            None if steps is None else as_jax(steps),
            as_jax(spread.log_base),
            as_jax(spread.level + self._away(moves)),
            as_jax(spread.log_usual),
            as_jax(spread.persistence),
            as_jax(spread.log_typical),
            as_jax(spread.follow),
            as_jax(self.turn_before),
            None if steps is None else as_jax(np.log(self.step_before / self.pace)),
            apart=apart,
        )

    def rows(self) -> tuple[Candidates, Float[np.ndarray, " rows"]]:
        """Candidates without repetitions, and how often each of them stands for a decision.

        Decisions whose candidates all lead to the same states are one row: where animals turn and
        perceive few angles there are far fewer rows than decisions.
        """
        given = self.candidates
        alone = self.moves.steps or self.possible is not None or given.which is not None
        if alone or given.apart:
            return given, np.ones(self.total)
        if given.row is not None:
            rows = np.asarray(given.row)
            _, first = np.unique(rows, return_index=True)
            own = (self.perceived[first], self.turn_before[first])
            lines = None  # turns by multiples are few, and lead to the middles of other parts
            if self.moves.every is None:
                lines = lines_of(self.space, *own, self.quadrature)
            return replace(given, row=None, lines=lines), np.bincount(rows).astype(float)
        states, first, counts = np.unique(
            self.candidate_states, axis=0, return_index=True, return_counts=True
        )
        fewer = eqx.tree_at(
            lambda c: (c.states, c.turn_before),
            given,
            (as_jax(states.T), given.turn_before[first]),
        )
        return fewer, counts.astype(float)

    def _known(self) -> Records:
        if not len(self.records):
            raise InputError("there are no decisions to split")
        return self.records

    def take(self, rows: Any) -> "Decisions":
        """Some of them: where a mask is True, or by the numbers of their rows."""
        some: dict[str, Any] = {name: getattr(self, name)[rows] for name in EACH}
        own = self.row is None
        return replace(
            self,
            records=self.records.take(rows),
            candidate_states=self.candidate_states[rows] if own else self.candidate_states,
            row=None if self.row is None else self.row[rows],
            possible=None if self.possible is None else self.possible[rows],
            dropped={},
            fixes=0,
            **some,
        )

    def table(self) -> "pd.DataFrame":
        """A row for each decision: whose and when, what was perceived, the move, what was decided.

        Turns are in degrees, positive to the left, and steps in the unit of the tracks.
        """
        own = self.records
        names = self.space.names
        columns: dict[str, Any] = {
            "group": [own.groups[number] for number in own.group],
            "individual": [own.individuals[number][1] for number in own.individual],
            "frame": own.frame,
            **{f"{name}_perceived": self.perceived[:, n] for n, name in enumerate(names)},
            "turn": self.turn,
        }
        if self.moves.steps:
            columns["step"] = self.step
        columns |= {f"{name}_decided": self.decided[:, n] for n, name in enumerate(names)}
        return data_frame(columns)

    def __str__(self) -> str:
        kind = "step" if self.moves.steps else "turn"
        count = self.candidate_states.shape[1]
        entered = int((self.arrivals > 0).sum())
        return (
            f"{counted(self.total, 'decision')} of {animals_of(self.records)}. In each of them the "
            f"animal chose one {kind}, and {count:,} possible {kind}s stand for what it could have "
            f"chosen. The decisions led to {entered:,} of the {counted(self.space.size, 'state')}. "
            f"{left_out(self.dropped, self.fixes, 'decision')}"
        ).strip()

    def __repr__(self) -> str:
        entered = int((self.arrivals > 0).sum())
        return (
            f"Decisions({self.total} among {self.candidate_states.shape[1]} candidate "
            f"{'steps' if self.moves.steps else 'turns'} each, {entered} of {self.space.size} "
            "states decided for)"
        )


def moved_of(
    moves: Turns,
    turn: Float[np.ndarray, " n"],
    step: Float[np.ndarray, " n"],
    turn_before: Float[np.ndarray, " n"],
    step_before: Float[np.ndarray, " n"],
    pace: Float[np.ndarray, " n"],
) -> Moved:
    """Moves as passive moves see them: steps over the pace of the animal."""
    if not isinstance(moves, Steps):
        return Moved(as_jax(turn), None, as_jax(turn_before), None)
    return Moved(
        as_jax(turn),
        as_jax(np.log(step / pace)),
        as_jax(turn_before),
        as_jax(np.log(step_before / pace)),
        as_jax(moves.levels(step_before)) if moves.own_pace else None,
    )
