"""Rows of candidates that many decisions share, so that turns cost the same however many there are.

A turn takes as much off every angle that is seen from the animal. Where candidates lead depends
only on where in their bins these angles lie, which is one of few cases once every bin is cut into
equal parts. An angle counts as the middle of its part: bin edges are off by half a part at most.
"""

from typing import Any

import numpy as np
from jaxtyping import Float, Int

from shoal.angles import difference
from shoal.moves.passive import Lines
from shoal.moves.quadrature import Quadrature
from shoal.precision import as_jax
from shoal.states import Circular, Folded, Interval, StateSpace

EXACT = 1 << 10
"""Decisions up to which every one has the candidates of its own angles."""

PARTS = (4, 8, 16, 32)
"""Parts of a bin: the fewest that are narrow enough, or the last."""

NARROW = 1 / 3
"""How wide a part may be, over the typical turn of candidates.

Measured on 100,000 simulated decisions on two angles of 36 bins, turns of 6°: with 4, 8 and 16
parts posterior means lie 0.07, 0.09 and 0.05 posterior sds (rms over 849 states) from those of a
row for each decision, of which 0.045 is the noise of 1,000 draws.
"""

CELLS = 200
"""Cells of turns per typical turn."""


def shares(space: StateSpace, *, steps: bool) -> bool:
    """Whether what candidates lead to follows from the perceived values and the turn alone."""
    parts: Any = space.parts
    return not steps and all(part.turn in (-1, 0) for part in parts)


def shared_rows(
    space: StateSpace,
    perceived: Float[np.ndarray, "n features"],
    turn_before: Float[np.ndarray, " n"],
    spread: Quadrature,
) -> tuple[Int[np.ndarray, "rows k"], Int[np.ndarray, " n"] | None]:
    """The rows of candidates, and which one each decision has; None where each has its own."""
    expected = _after(space, perceived, spread.persistence * turn_before)
    if len(expected) <= EXACT:
        return _states(space, expected, spread), None
    parts = _parts(space, spread)
    number, first = _numbers(space, expected, parts)
    return _states(space, _middles(space, expected[first], parts), spread), number


WORTH = 32
"""Places on lines for each row, beyond which rows are looked up one by one."""


def lines_of(
    space: StateSpace,
    perceived: Float[np.ndarray, "rows features"],
    turn_before: Float[np.ndarray, " rows"],
    spread: Quadrature,
) -> Lines | None:
    """Lines along which turns lead, and where on them rows are.

    None where angles have different bins, or bins would have to be cut into too many parts.
    """
    kinds: Any = space.parts
    parts, angles = _parts(space, spread), [n for n, part in enumerate(kinds) if part.turn]
    circles = [_fine(space, n, parts) for n in angles]
    first = circles[0]
    assert first is not None
    sizes = [first.size if n in angles else axis.size for n, axis in enumerate(space.axes)]
    fine_enough = first.step <= NARROW * _typical(spread)
    alike = all(circle is not None and circle.size == first.size for circle in circles)
    if not (fine_enough and alike and np.prod(sizes, dtype=float) <= WORTH * len(perceived)):
        return None
    code = _codes(space, _after(space, perceived, spread.persistence * turn_before), parts)
    place = np.stack(np.unravel_index(code, sizes))
    along = place[angles[0]].copy()
    place[angles] = (place[angles] - along) % first.size
    place[angles[0]] = 0
    start = np.indices([1 if n == angles[0] else size for n, size in enumerate(sizes)])
    start = start.reshape(len(sizes), -1)
    columns = []
    for n, axis in enumerate(space.axes):
        if n in angles:
            fine = first.centres - _shift(space, n, first)
            columns.append(fine[(start[n][:, None] + np.arange(first.size)) % first.size])
        else:
            columns.append(np.broadcast_to(axis.centres[start[n]][:, None], (start.shape[1], 1)))
    states = located(space, list(np.broadcast_arrays(*columns)))
    line = np.ravel_multi_index(
        tuple(place), [1 if n == angles[0] else size for n, size in enumerate(sizes)]
    )
    return Lines(as_jax(states), as_jax(line * first.size + along))


def _parts(space: StateSpace, spread: Quadrature) -> int:
    """Into how many parts bins are cut: these are narrow beside the turns of animals."""
    kinds: Any = space.parts
    angles: list[Any] = [axis for axis, k in zip(space.axes, kinds, strict=True) if k.turn]
    widest = max(360.0 / axis.bins for axis in angles)
    fine = [parts for parts in PARTS if widest / parts <= NARROW * _typical(spread)]
    return fine[0] if fine else PARTS[-1]


def _typical(spread: Quadrature) -> float:
    """How far candidates turn."""
    return float(np.median(np.abs(spread.turn)))


def _after(
    space: StateSpace, values: Float[np.ndarray, "n features"], turned: Float[np.ndarray, " n"]
) -> Float[np.ndarray, "n features"]:
    """Perceived values after the turn that an animal is expected to make."""
    if not turned.any():
        return values
    kinds: Any = space.parts
    angles = [part.turn == -1 for part in kinds]
    return np.where(angles, np.asarray(difference(values, turned[:, None])), values)


def _states(
    space: StateSpace, values: Float[np.ndarray, "rows features"], spread: Quadrature
) -> Int[np.ndarray, "rows k"]:
    """The state that every candidate leads to."""
    kinds: Any = space.parts
    (turns,) = spread.turn.T  # one set: angles lie anywhere in their bins, which averages as well
    found = np.empty((len(values), len(turns)), dtype=np.int32)
    block = max(1, (1 << 20) // len(turns))
    for start in range(0, len(values), block):
        rows = slice(start, start + block)
        some = values[rows, None]
        columns = [
            np.asarray(difference(some[..., n], turns))
            if part.turn
            else np.broadcast_to(some[..., n], (len(some), len(turns)))
            for n, part in enumerate(kinds)
        ]
        found[rows] = located(space, columns)
    return found


def located(space: StateSpace, columns: list[np.ndarray]) -> Int[np.ndarray, "*any"]:
    """Decided states; beyond an end of an interval its last bin, −1 where there is no value."""
    inside = [
        np.clip(value, axis.edges[0], axis.edges[-1]) if isinstance(axis, Interval) else value
        for axis, value in zip(space.axes, columns, strict=True)
    ]
    return np.asarray(space.locate(*inside)[0])


def _fine(space: StateSpace, feature: int, parts: int) -> Circular | None:
    """The circle of an angle that turns change, in parts of its bins whose edges are edges too."""
    kinds: Any = space.parts
    if not kinds[feature].turn:
        return None
    axis = space.axes[feature]
    assert isinstance(axis, Circular | Folded)
    return Circular(axis.name, axis.bins * parts)


def _shift(space: StateSpace, feature: int, fine: Circular) -> float:
    """From the edges of fine bins to those of coarse ones: bins of a circle begin at half a bin."""
    axis: Any = space.axes[feature]
    return (360.0 / axis.bins - fine.step) / 2


def _numbers(
    space: StateSpace, values: Float[np.ndarray, "n features"], parts: int
) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " rows"]]:
    """The number of the row of every decision, and a decision that has it."""
    _, first, number = np.unique(
        _codes(space, values, parts), return_index=True, return_inverse=True
    )
    return number.astype(np.int32), first


def _codes(
    space: StateSpace, values: Float[np.ndarray, "n features"], parts: int
) -> Int[np.ndarray, " n"]:
    """A number for every combination of parts of angles and bins of all else."""
    code = np.zeros(len(values), dtype=np.int64)
    for n, axis in enumerate(space.axes):
        fine = _fine(space, n, parts)
        if fine is None:
            size, place = axis.size, axis.locate(values[:, n])
        else:
            size, place = fine.size, fine.locate(values[:, n] + _shift(space, n, fine))
        code = code * size + place
    return code


def _middles(
    space: StateSpace, values: Float[np.ndarray, "rows features"], parts: int
) -> Float[np.ndarray, "rows features"]:
    """Every angle at the middle of its part."""
    found = values.copy()
    for n in range(len(space.axes)):
        fine = _fine(space, n, parts)
        if fine is not None:
            shift = _shift(space, n, fine)
            found[:, n] = fine.centres[fine.locate(values[:, n] + shift)] - shift
    return found


def condensed(
    turn: Float[np.ndarray, " n"],
) -> tuple[Float[np.ndarray, " cells"], Float[np.ndarray, " cells"]]:
    """Turns that differ by little as one, at their mean, with how many they are.

    Cells are a two-hundredth of a typical turn wide, and wider for large turns in proportion.
    """
    typical = max(float(np.median(np.abs(turn))), 1e-3)
    cell = np.rint(CELLS * np.arcsinh(turn / typical)).astype(int)
    _, number, count = np.unique(cell, return_inverse=True, return_counts=True)
    return np.bincount(number, turn) / count, count.astype(float)
