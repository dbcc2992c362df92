"""The moves by which candidates are spread: all of them, or a sample where there are many.

The sample does not depend on how tracks are cut into blocks, nor on their order: every move has a
number that follows from its group, animal and frame, and the moves with the lowest are taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt64

from shoal.errors import InputError
from shoal.moves.between import Grid, grid_of
from shoal.moves.passive import Moved, PassiveMoves, form_of
from shoal.moves.quadrature import SETS, Quadrature, fitted_moves, quadrature
from shoal.moves.record import moved_of
from shoal.moves.seen import Seen, summed
from shoal.moves.sharing import shares
from shoal.moves.specification import Steps, Turns
from shoal.states import StateSpace
from shoal.system.memory import free_memory, refuse_beyond_memory

SAMPLE = 100_000
"""Moves that candidates are spread by."""

UNIT = 2.0**-24
"""Log steps and their squares are added up as whole multiples of this: sums do not depend on the
order of blocks."""

ALIKE = 10
"""So many steps of an animal say as much of its pace as one that is independent of the rest: steps
that keep 0.8 of the one before say (1 + 0.8) / (1 − 0.8) = 9 times less than independent ones."""

COPIES = 2
"""Of everything, while the parts of a reading are put together."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Some moves, with the numbers by which they were drawn, and how many they stand for.

    ``owner`` is a number for each animal; ``logs`` has the sums of all log steps of each and of
    their squares, and how many they are.
    """

    priority: UInt64[np.ndarray, " n"]
    owner: UInt64[np.ndarray, " n"]
    moves: Float[np.ndarray, "n 4"]
    logs: dict[int, Int[np.ndarray, " 3"]]
    total: int
    dropped: dict[str, int]
    units: frozenset[str]

    @classmethod
    def of(cls, group: Seen) -> "Sample":
        """Of one group, or of a run of its frames."""
        moves = np.column_stack([group.turn, group.step, group.turn_before, group.step_before])
        own = owners(group)
        frame = (group.frame + group.first).astype(np.uint64)
        units = frozenset([group.tracks.length_unit])
        priority = _mixed(own ^ _mixed(frame))
        return cls(
            priority, own, moves, _log_sums(own, group.step), len(moves), group.dropped, units
        ).fewer()

    @classmethod
    def joined(cls, parts: Sequence["Sample"]) -> "Sample":
        """Of all together."""
        dropped = summed(part.dropped for part in parts)
        priority = np.concatenate([part.priority for part in parts])
        owner = np.concatenate([part.owner for part in parts])
        moves = np.concatenate([part.moves for part in parts])
        logs: dict[int, Any] = {}
        for part in parts:
            for one, sums in part.logs.items():
                logs[one] = logs.get(one, 0) + sums
        units = frozenset().union(*(part.units for part in parts))
        total = sum(part.total for part in parts)
        return cls(priority, owner, moves, logs, total, dropped, units).fewer()

    def fewer(self) -> "Sample":
        """The moves with the lowest numbers, in their order."""
        order = np.argsort(self.priority, kind="stable")[:SAMPLE]
        some = {name: getattr(self, name)[order] for name in ("priority", "owner", "moves")}
        return replace(self, **some)

    def paces(self, moves: Turns) -> dict[int, float]:
        """The typical step of every animal, where animals differ.

        Means of few steps are pulled towards that of all, as far as animals are alike: by the
        variance within animals over that between them.
        """
        if not (isinstance(moves, Steps) and moves.own_pace):
            return {}
        sums = np.array(list(self.logs.values()), dtype=float)
        own, squares, count = sums[:, 0] * UNIT, sums[:, 1] * UNIT, sums[:, 2]
        means, mean = own / count, own.sum() / count.sum()
        within = ALIKE * (squares - own * means).sum() / max(count.sum() - len(count), 1)
        between = np.mean((means - mean) ** 2 - within / count) if len(count) > 1 else 0.0
        weight = count / (count + within / between) if between > 0 else np.zeros_like(count)
        logs = mean + weight * (means - mean)
        return dict(zip(self.logs, np.exp(logs).tolist(), strict=True))

    def moved(self, moves: Turns, usual: float, pace: Float[np.ndarray, " n"]) -> Moved:
        """As passive moves see them; a typical step where there is none before."""
        turn, step, turn_before, step_before = self.moves.T
        step_before = np.where(np.isnan(step_before), usual * pace, step_before)
        return moved_of(moves, turn, step, turn_before, step_before, pace)


def owners(group: Seen) -> UInt64[np.ndarray, " n"]:
    """A number for the animal of every decision, made from the names of its group and itself."""
    names = [f"{group.tracks.group}\n{name}" for name in group.tracks.members]
    seeds = [int.from_bytes(sha256(name.encode()).digest()[:8], "little") for name in names]
    return np.array(seeds, dtype=np.uint64)[group.animal]


def _log_sums(
    owner: UInt64[np.ndarray, " n"], step: Float[np.ndarray, " n"]
) -> dict[int, Int[np.ndarray, " 3"]]:
    """For every animal the sums of log steps and of their squares, in units, and their number."""
    known = np.isfinite(step) & (step > 0)
    logs = np.log(step[known])
    ones, which = np.unique(owner[known], return_inverse=True)
    parts = np.stack([logs / UNIT, logs**2 / UNIT, np.ones_like(logs)], axis=1)
    sums = np.zeros((len(ones), 3), dtype=np.int64)
    np.add.at(sums, which, np.rint(parts).astype(np.int64))
    return dict(zip(ones.tolist(), sums, strict=True))


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
    before where there is none, over the pace of the animal; ``paces`` are those of animals that
    differ; ``grid`` has narrower bins where costs run between those of the states.
    """

    passive: PassiveMoves
    quadrature: Quadrature
    usual: float
    paces: dict[int, float]
    grid: Grid | None

    @property
    def moves(self) -> Turns:
        """What animals can choose."""
        return self.passive.moves

    def filled(self, group: Seen) -> Seen:
        """With a pace and a step before for every decision."""
        if not self.moves.steps:
            return group
        pace = paces_of(owners(group), self.paces)
        before = np.where(np.isnan(group.step_before), self.usual * pace, group.step_before)
        return replace(group, step_before=before, pace=pace)


def paces_of(owner: UInt64[np.ndarray, " n"], paces: dict[int, float]) -> Float[np.ndarray, " n"]:
    """The pace of everybody's animal; 1 where animals do not differ."""
    ones, which = np.unique(owner, return_inverse=True)
    return np.array([paces.get(one, 1.0) for one in ones.tolist()])[which]


def spread_by(moves: Turns, samples: Sequence[Sample], space: StateSpace) -> Spread:
    """Candidates from the moves of all groups."""
    sample = Sample.joined(samples)
    if not sample.total:
        lost = ", ".join(f"{count} {reason}" for reason, count in sample.dropped.items() if count)
        raise InputError(f"there is no decision in these tracks ({lost or 'too few frames'})")
    usual, paces = 1.0, sample.paces(moves)
    pace = paces_of(sample.owner, paces)
    if isinstance(moves, Steps):
        if len(sample.units) > 1:
            words = ", ".join(sorted(unit or "none" for unit in sample.units))
            raise InputError(
                f"groups have different units of length ({words}), and steps need one: read them "
                "with the same unit, shoal.read_tracks(…, unit=…)"
            )
        step, before = sample.moves[:, 1], sample.moves[:, 3]
        moves = moves.resolved(step, before, pace)
        usual = float(np.exp(np.median(np.log(step / pace))))
    refuse_too_many(sample.total, moves, space)
    moved = sample.moved(moves, usual, pace)
    passive = fitted_moves(moves, moved, space)
    if isinstance(moves, Steps):
        moves = replace(moves, follow=float(passive.values["follow"]))
        passive = PassiveMoves(passive.shape, form_of(moves), passive.values)
    exact = moves.every is not None or shares(space, steps=moves.steps)
    spread = quadrature(passive, 1 if exact else SETS, moved)
    grid = grid_of(space, moves, float(passive.values.get("typical", 1.0)))
    return Spread(passive, spread, usual, paces, grid)


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
