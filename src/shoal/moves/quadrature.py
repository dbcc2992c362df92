"""Moves that stand for all that an animal could have made, spread by passive moves."""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float, Int

from shoal.moves.densities import (
    LEVEL,
    LEVELS,
    after_step,
    expected_log_step,
    quantiles,
    step_heights,
    turn_heights,
)
from shoal.moves.empirical import EmpiricalMoves
from shoal.moves.padding import padded_moves
from shoal.moves.passive import Moved, MoveFamily, PassiveMoves, form_of, log_densities
from shoal.moves.specification import Steps, Turns
from shoal.passive.estimating import most_probable
from shoal.passive.family import numbers_at
from shoal.precision import as_jax
from shoal.states import StateSpace

WIDER = 1.3
"""Candidates are spread by so much wider moves than tracks show: costs may pull any way."""

ANYWHERE = 0.05
"""The share of candidates that go anywhere."""

TABLE = 4097
"""Places at which simulations look candidates up."""

GOLDEN = (np.sqrt(5) - 1) / 2

PLASTIC = 1.32471795724474602596
"""The root of x³ = x + 1, whose powers spread points evenly over a square."""

SETS, MORE_SETS = 16, 40
"""Sets of candidates. Decisions have different ones, so that their errors average out. There are
more where what animals do depends on the step before."""


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Candidate moves, as differences from what an animal would be expected to do.

    There are several sets of them, each spread evenly and each at other places.

    Attributes
    ----------
    turn, log_step
        Of each candidate of each set.
    log_base
        Minus the log density by which they were spread.
    level
        Of each set, in rising order: how long a step its decisions have before them.
    log_usual
        Of each set: the mean log of the step before, over the pace of the animal.
    persistence, log_typical, follow
        What is expected: so much of the turn before, and a step between the typical one and the
        one before.
    """

    turn: Float[np.ndarray, "k sets"]
    log_step: Float[np.ndarray, "k sets"] | None
    log_base: Float[np.ndarray, "k sets"]
    level: Float[np.ndarray, " sets"]
    log_usual: Float[np.ndarray, " sets"]
    persistence: float
    log_typical: float
    follow: float
    plain: bool

    @property
    def sets(self) -> int:
        """How many sets there are."""
        return self.turn.shape[1]

    def set_of(
        self,
        frame: Int[np.ndarray, " n"],
        animal: Int[np.ndarray, " n"],
        level: Float[np.ndarray, " n"],
    ) -> Int[np.ndarray, " n"]:
        """The set that an animal has in a frame: another one in each frame that follows."""
        place = np.mod(GOLDEN * frame + animal / PLASTIC, 1.0)
        if self.level[0] == self.level[-1]:  # a step before changes nothing
            return (self.sets * place).astype(np.int32)
        first = np.searchsorted(self.level, level)
        count = np.searchsorted(self.level, level, side="right") - first
        return (first + count * place).astype(np.int32)

    def turns(
        self, before: Float[np.ndarray, " n"], which: Int[np.ndarray, " n"]
    ) -> Float[np.ndarray, "n k"]:
        """Candidate turns of decisions with these sets, after the turns before."""
        return np.asarray(self.persistence * before[:, None] + self.turn.T[which])

    def step_lengths(
        self, log_before: Float[np.ndarray, " n"], which: Int[np.ndarray, " n"]
    ) -> Float[np.ndarray, "n k"]:
        """Candidate steps of decisions with these sets, after the steps before.

        All steps are over the pace of the animal.
        """
        assert self.log_step is not None
        return np.exp(self.expected_log_step(log_before)[:, None] + self.log_step.T[which])

    def expected_log_step(self, log_before: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The logarithm of the step that is expected after the steps before."""
        return np.asarray(
            expected_log_step(self.log_typical, self.follow, log_before, plain=self.plain, xp=np)
        )


def fitted_moves(moves: Turns, moved: Moved, space: StateSpace) -> PassiveMoves:
    """The passive moves that describe these moves best, as far as they can be made."""
    family = MoveFamily.of(moves, space).bare
    moved = padded_moves(moved)
    can = np.isfinite(np.asarray(log_densities(_moves_at(family, np.zeros(family.count)), moved)))
    if not can.all():
        moved = jax.tree_util.tree_map(lambda each: as_jax(np.asarray(each)[can]), moved)
    found = _moves_at(family, most_probable(family, moved))
    return PassiveMoves(space.shape, found.form, found.values)


def _moves_at(family: MoveFamily, u: Float[np.ndarray, " k"]) -> PassiveMoves:
    """The passive moves at these unknowns."""
    numbers = numbers_at(family, as_jax(u[None]))
    found = {name: np.float64(np.ravel(value)[0]) for (name, _), value in numbers.items()}
    return PassiveMoves(family.space.shape, family.form, found)


def quadrature(passive: PassiveMoves, sets: int, moved: Moved | None = None) -> Quadrature:
    """Candidates spread by passive moves, somewhat wider.

    Parameters
    ----------
    sets
        How many sets of candidates, where the step before changes nothing.
    moved
        Many moves, by which sets are shared out where the step before matters.
    """
    moves, found = passive.moves, passive.values
    parts, usual = {0: sets}, np.zeros(1)
    if moved is not None and moved.level is not None and depends(moves):
        assert moved.log_step_before is not None
        parts, usual = _by_level(
            np.asarray(moved.level).astype(int), np.asarray(moved.log_step_before)
        )
    turns, bases, steps = [], [], []
    for level, count in parts.items():
        values = after_step(found, level, np) if isinstance(moves, Steps) else found
        turn, base = _turns(moves, values, count)
        if isinstance(moves, Steps):
            log_step, more = _log_steps(moves, values, count)
            base = base + more
            steps.append(log_step)
        turns.append(turn)
        bases.append(base)
    return Quadrature(
        np.concatenate(turns, axis=1),
        np.concatenate(steps, axis=1) if steps else None,
        np.concatenate(bases, axis=1),
        np.repeat(np.array(list(parts), dtype=float), list(parts.values())),
        np.repeat(usual, list(parts.values())),
        found["persistence"],
        float(passive.log_typical) if isinstance(moves, Steps) else 0.0,
        found.get("follow", 0.0),
        getattr(moves, "plain", False),
    )


def depends(moves: Turns) -> bool:
    """Whether what animals do depends on the step before, besides that steps follow it."""
    return isinstance(moves, Steps) and (moves.evenness != 0 or moves.straightness != 0)


def _by_level(
    level: Int[np.ndarray, " n"], log_before: Float[np.ndarray, " n"]
) -> tuple[dict[int, int], Float[np.ndarray, " levels"]]:
    """How many sets each level has, and the step that is usual before its decisions.

    There is one set or more, and otherwise as many as there are decisions.
    """
    often = np.bincount(level + LEVELS, minlength=2 * LEVELS + 1)
    total = np.bincount(level + LEVELS, log_before, minlength=2 * LEVELS + 1)
    counts = np.ones(often.size, dtype=int)
    while counts.sum() < MORE_SETS:
        counts[np.argmax(often / counts)] += 1
    levels = np.arange(-LEVELS, LEVELS + 1)
    usual = np.where(often > 0, total / np.maximum(often, 1), LEVEL * levels)
    return dict(zip(levels.tolist(), counts.tolist(), strict=True)), usual


def _shifts(sets: int, power: int) -> Float[np.ndarray, " sets"]:
    """By how much each set is shifted along one of two directions; the first is not."""
    return np.mod(0.5 + np.arange(sets) / PLASTIC**power, 1.0)


def _turns(
    moves: Turns, found: dict[str, float], sets: int
) -> tuple[Float[np.ndarray, "k sets"], Float[np.ndarray, "k sets"]]:
    if moves.every is not None:
        turns = _multiples(float(moves.every))[:, None]
        return turns, np.zeros(turns.shape)
    count = int(moves.candidates)
    places = (np.arange(count)[:, None] + _shifts(sets, 1)) / count
    turn, log_density = quantiles(*_turn_density(moves, found), places)
    return turn, -log_density


def _multiples(every: float) -> Float[np.ndarray, " k"]:
    """All multiples of some degrees."""
    turns = np.arange(round(360 / every)) * every
    return np.where(turns >= 180.0, turns - 360.0, turns)


def _turn_density(
    moves: Turns, found: dict[str, float]
) -> tuple[Float[np.ndarray, " grid"], Float[np.ndarray, " grid"]]:
    """The log density by which candidate turns are spread, on a fine grid."""
    wider = found | {name: WIDER * found[name] for name in ("spread", "wide") if name in found}
    finest = max(1e-3, min(0.02, found.get("spread", 1.0) / 50))
    inner = np.arange(0.0, min(180.0, 3000 * finest), finest)
    grid = np.unique(np.concatenate([inner, np.linspace(0.0, 180.0, 3601)]))
    grid = np.concatenate([-grid[:0:-1], grid])
    if isinstance(moves.turn, EmpiricalMoves):
        height = np.asarray(moves.turn.at(as_jax(grid / WIDER)) / WIDER)
    else:
        height = np.exp(turn_heights(moves.turn, wider | {"bias": 0.0}, grid))
    return np.log((1 - ANYWHERE) * height + ANYWHERE / 360.0), grid + found.get("bias", 0.0)


def turn_table(
    moves: Turns, found: dict[str, float]
) -> tuple[Float[np.ndarray, " table"], Float[np.ndarray, " table"]]:
    """Turns by the share of candidates below them, and their log density.

    Where turns are multiples of some degrees: these, and their log passive chances.
    """
    if moves.every is not None:
        turns = _multiples(float(moves.every))
        exact = PassiveMoves((1,), form_of(moves), found)
        return turns, np.asarray(exact.log_turn(as_jax(turns), exact.values))
    return quantiles(*_turn_density(moves, found), np.linspace(0.0, 1.0, TABLE))


def _log_steps(
    moves: Steps, found: dict[str, float], sets: int
) -> tuple[Float[np.ndarray, "k sets"], Float[np.ndarray, "k sets"]]:
    """Steps in another order than turns, so that both together cover all moves evenly."""
    along = GOLDEN * np.arange(int(moves.candidates))
    places = np.mod(along[:, None] + _shifts(sets, 2), 1.0)
    step, log_density = quantiles(*_step_density(moves, found), places)
    return step, -log_density


def _step_density(
    moves: Steps, found: dict[str, float]
) -> tuple[Float[np.ndarray, " grid"], Float[np.ndarray, " grid"]]:
    """The log density by which candidate log steps are spread, on a fine grid."""
    if isinstance(moves.step, EmpiricalMoves):
        grid = np.linspace(WIDER * moves.step.places[0], WIDER * moves.step.places[-1], 8001)
        return step_heights(moves.step, found, grid / WIDER, plain=moves.plain), grid
    wider = found | {"variation": WIDER * found["variation"]}
    reach = 12 * max(wider["variation"], 0.3)
    grid = np.linspace(-reach, min(reach, 6.0), 8001)
    return step_heights(moves.step, wider, grid, plain=moves.plain), grid


def log_step_table(
    moves: Steps, found: dict[str, float]
) -> tuple[Float[np.ndarray, " table"], Float[np.ndarray, " table"]]:
    """Log steps by the share of candidates below them, and their log density."""
    inner = np.linspace(1e-4, 1 - 1e-4, TABLE)
    return quantiles(*_step_density(moves, found), inner)
