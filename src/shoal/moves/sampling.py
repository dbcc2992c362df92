"""The moves by which candidates are spread: all of them, or a sample where there are many.

The sample does not depend on how tracks are cut into blocks, nor on their order: every move has a
number that follows from its group, animal and frame, and the moves with the lowest are taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
from jaxtyping import Float, UInt64

from shoal.errors import InputError
from shoal.moves.passive import Moved, PassiveMoves
from shoal.moves.quadrature import SETS, Quadrature, fitted_moves, quadrature
from shoal.moves.record import moved_of
from shoal.moves.seen import Seen, summed
from shoal.moves.sharing import shares
from shoal.moves.specification import Steps, Turns
from shoal.room import free_memory, refuse_beyond_memory
from shoal.states import StateSpace

SAMPLE = 100_000
"""Moves that candidates are spread by."""

COPIES = 2
"""Of everything, while the parts of a reading are put together."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Some moves, with the numbers by which they were drawn, and how many they stand for."""

    priority: UInt64[np.ndarray, " n"]
    moves: Float[np.ndarray, "n 4"]
    total: int
    dropped: dict[str, int]
    units: frozenset[str]

    @classmethod
    def of(cls, group: Seen) -> "Sample":
        """Of one group, or of a run of its frames."""
        moves = np.column_stack([group.turn, group.step, group.turn_before, group.step_before])
        names = [f"{group.tracks.group}\n{name}" for name in group.tracks.members]
        seeds = [int.from_bytes(sha256(name.encode()).digest()[:8], "little") for name in names]
        each = np.array(seeds, dtype=np.uint64)[group.animal]
        frame = (group.frame + group.first).astype(np.uint64)
        units = frozenset([group.tracks.length_unit])
        return cls(_mixed(each ^ _mixed(frame)), moves, len(moves), group.dropped, units).fewer()

    @classmethod
    def joined(cls, parts: Sequence["Sample"]) -> "Sample":
        """Of all together."""
        dropped = summed(part.dropped for part in parts)
        priority = np.concatenate([part.priority for part in parts])
        moves = np.concatenate([part.moves for part in parts])
        units = frozenset().union(*(part.units for part in parts))
        return cls(priority, moves, sum(part.total for part in parts), dropped, units).fewer()

    def fewer(self) -> "Sample":
        """The moves with the lowest numbers, in their order."""
        order = np.argsort(self.priority, kind="stable")[:SAMPLE]
        return replace(self, priority=self.priority[order], moves=self.moves[order])

    def moved(self, moves: Turns, usual: float) -> Moved:
        """As passive moves see them; a typical step where there is none before."""
        turn, step, turn_before, step_before = self.moves.T
        step_before = np.where(np.isnan(step_before), usual, step_before)
        return moved_of(moves, turn, step, turn_before, step_before)


def _mixed(numbers: UInt64[np.ndarray, " n"]) -> UInt64[np.ndarray, " n"]:
    """Numbers that look random: the last steps of splitmix64 (Steele, Lea and Flood, 2014)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class Spread:
    """What all decisions have in common: what tracks say of moves, and the candidates.

    ``passive`` are the passive moves that describe all moves best; ``usual`` stands for the step
    before where there is none.
    """

    passive: PassiveMoves
    quadrature: Quadrature
    usual: float

    @property
    def moves(self) -> Turns:
        """What animals can choose."""
        return self.passive.moves

    def filled(self, group: Seen) -> Seen:
        """With a step before for every decision."""
        if not self.moves.steps:
            return group
        before = np.where(np.isnan(group.step_before), self.usual, group.step_before)
        return replace(group, step_before=before)


def spread_by(moves: Turns, samples: Sequence[Sample], space: StateSpace) -> Spread:
    """Candidates from the moves of all groups."""
    sample = Sample.joined(samples)
    if not sample.total:
        lost = ", ".join(f"{count} {reason}" for reason, count in sample.dropped.items() if count)
        raise InputError(f"there is no decision in these tracks ({lost or 'too few frames'})")
    usual = 1.0
    if isinstance(moves, Steps):
        if len(sample.units) > 1:
            words = ", ".join(sorted(unit or "none" for unit in sample.units))
            raise InputError(
                f"groups have different units of length ({words}), and steps need one: read them "
                "with the same unit, shoal.read_tracks(…, unit=…)"
            )
        step, before = sample.moves[:, 1], sample.moves[:, 3]
        moves = moves.resolved(step, before)
        usual = float(np.exp(np.median(np.log(step))))
    refuse_too_many(sample.total, moves, space)
    passive = fitted_moves(moves, sample.moved(moves, usual), space)
    exact = moves.every is not None or shares(space, steps=moves.steps)
    return Spread(passive, quadrature(passive, 1 if exact else SETS), usual)


def refuse_too_many(count: int, moves: Turns, space: StateSpace, free: int | None = None) -> None:
    """Raise where there is too little memory for so many decisions; say how many would fit."""
    each = bytes_each(moves, space)
    if count * each < 1e8:  # not worth asking
        return
    room = free_memory() if free is None else free
    fit = int(room / each)
    refuse_beyond_memory(
        count * each,
        f"{count:,} decisions with {int(moves.candidates)} candidate moves each",
        f"about {fit:,} decisions fit; keep one frame in {-(-count // max(fit, 1)):,} with "
        "tracks.thin(…), or read fewer groups",
        room,
    )


def bytes_each(moves: Turns, space: StateSpace) -> int:
    """Memory that one decision takes while it is read: values, moves, records and candidates."""
    values = 8 * (2 * len(space.axes) + 4) + 4 * 6
    table = 0 if shares(space, steps=moves.steps) else 5 * int(moves.candidates)
    return COPIES * (values + table)
