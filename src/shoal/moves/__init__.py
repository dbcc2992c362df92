"""What animals decided: moves that they chose, and those they could have chosen."""

from shoal.moves.empirical import EmpiricalMoves
from shoal.moves.observed import observed_steps, observed_turns
from shoal.moves.passive import AloneFamily, Candidates, Moved, MoveFamily, PassiveMoves
from shoal.moves.quadrature import Quadrature
from shoal.moves.reading import decisions
from shoal.moves.record import Decisions
from shoal.moves.specification import Steps, Turns
from shoal.moves.surroundings import surroundings

__all__ = [
    "AloneFamily",
    "Candidates",
    "Decisions",
    "EmpiricalMoves",
    "MoveFamily",
    "Moved",
    "PassiveMoves",
    "Quadrature",
    "Steps",
    "Turns",
    "decisions",
    "observed_steps",
    "observed_turns",
    "surroundings",
]
