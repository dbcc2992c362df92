"""Moves that stand for all that an animal could have made, spread by passive moves."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from shoal.moves.densities import log_step, log_turn, quantiles
from shoal.moves.empirical import EmpiricalMoves
from shoal.moves.passive import Moved, MoveFamily, PassiveMoves
from shoal.moves.specification import Steps, Turns
from shoal.passive.estimating import most_probable
from shoal.states import StateSpace

WIDER = 1.3
"""Candidates are spread by so much wider moves than tracks show: costs may pull any way."""

ANYWHERE = 0.05
"""The share of candidates that go anywhere."""

TABLE = 4097
"""Places at which simulations look candidates up."""

GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Candidate moves, as differences from what an animal would be expected to do.

    Attributes
    ----------
    turn, log_step
        Of each candidate.
    log_base
        Minus the log density by which they were spread.
    persistence, log_typical, follow
        What is expected: so much of the turn before, and a step between the typical one and the
        one before.
    """

    turn: Float[np.ndarray, " k"]
    log_step: Float[np.ndarray, " k"] | None
    log_base: Float[np.ndarray, " k"]
    persistence: float
    log_typical: float
    follow: float

    def turns(self, before: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        """Candidate turns after the turns before."""
        return np.asarray(self.persistence * before[:, None] + self.turn)

    def step_lengths(self, log_before: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        """Candidate steps after the steps before."""
        assert self.log_step is not None
        expected = (1 - self.follow) * self.log_typical + self.follow * log_before
        return np.exp(expected[:, None] + self.log_step)


def fitted_moves(moves: Turns, moved: Moved, space: StateSpace) -> PassiveMoves:
    """The passive moves that describe these moves best, as far as they can be made."""
    family = MoveFamily.of(moves, space)
    can = np.isfinite(np.asarray(family.at(jnp.zeros(family.count)).log_density(moved)))
    some = moved if can.all() else jax.tree_util.tree_map(lambda each: each[can], moved)
    u = most_probable(family, some)
    found = {name: float(value) for (name, _), value in family.numbers(jnp.asarray(u)).items()}
    return PassiveMoves(space.shape, moves, found)


def quadrature(passive: PassiveMoves) -> Quadrature:
    """Candidates spread by passive moves, somewhat wider."""
    moves, found = passive.moves, passive.values
    turn, base = _turns(moves, found)
    log_steps = None
    if isinstance(moves, Steps):
        log_steps, more = _log_steps(moves, found)
        base = base + more
    return Quadrature(
        turn,
        log_steps,
        base,
        found["persistence"],
        float(np.log(found.get("typical", 1.0))),
        found.get("follow", 0.0),
    )


def _turns(
    moves: Turns, found: dict[str, float]
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    if moves.every is not None:
        turns = np.arange(round(360 / moves.every)) * float(moves.every)
        turns = np.where(turns >= 180.0, turns - 360.0, turns)
        return turns, np.zeros(turns.size)
    count = int(moves.candidates)
    turn, log_density = quantiles(*_turn_density(moves, found), (np.arange(count) + 0.5) / count)
    return turn, -log_density


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
        height = np.asarray(moves.turn.at(jnp.asarray(grid / WIDER)) / WIDER)
    else:
        centred = wider | {"bias": 0.0}
        height = np.exp(np.asarray(log_turn(moves.turn, centred, jnp.asarray(grid))))
    return np.log((1 - ANYWHERE) * height + ANYWHERE / 360.0), grid + found.get("bias", 0.0)


def turn_table(
    moves: Turns, found: dict[str, float]
) -> tuple[Float[np.ndarray, " table"], Float[np.ndarray, " table"]]:
    """Turns by the share of candidates below them, and their log density.

    Where turns are multiples of some degrees: these, and their log passive chances.
    """
    if moves.every is not None:
        turns, _ = _turns(moves, found)
        exact = PassiveMoves((1,), moves, found)
        return turns, np.asarray(exact.log_turn(jnp.asarray(turns)))
    return quantiles(*_turn_density(moves, found), np.linspace(0.0, 1.0, TABLE))


def _log_steps(
    moves: Steps, found: dict[str, float]
) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Steps in another order than turns, so that both together cover all moves evenly."""
    places = np.mod(0.5 + GOLDEN * np.arange(int(moves.candidates)), 1.0)
    step, log_density = quantiles(*_step_density(moves, found), places)
    return step, -log_density


def _step_density(
    moves: Steps, found: dict[str, float]
) -> tuple[Float[np.ndarray, " grid"], Float[np.ndarray, " grid"]]:
    """The log density by which candidate log steps are spread, on a fine grid."""
    if isinstance(moves.step, EmpiricalMoves):
        grid = np.linspace(WIDER * moves.step.places[0], WIDER * moves.step.places[-1], 8001)
        return np.asarray(log_step(moves.step, found, jnp.asarray(grid / WIDER))), grid
    wider = found | {"variation": WIDER * found["variation"]}
    reach = 12 * max(wider["variation"], 0.3)
    grid = np.linspace(-reach, min(reach, 6.0), 8001)
    return np.asarray(log_step(moves.step, wider, jnp.asarray(grid))), grid


def log_step_table(
    moves: Steps, found: dict[str, float]
) -> tuple[Float[np.ndarray, " table"], Float[np.ndarray, " table"]]:
    """Log steps by the share of candidates below them, and their log density."""
    inner = np.linspace(1e-4, 1 - 1e-4, TABLE)
    return quantiles(*_step_density(moves, found), inner)
