"""Which state followed which, how often: all that the likelihood needs of the tracks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Int

from shoal.errors import InputError
from shoal.results import counted, data_frame
from shoal.states.recipe import Headings
from shoal.states.records import Records
from shoal.states.space import StateSpace
from shoal.states.splits import Splits
from shoal.states.words import animals_of, left_out

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Pairs:
    """The distinct transitions i → j that were seen, with how often."""

    origin: Int[np.ndarray, " pairs"]
    destination: Int[np.ndarray, " pairs"]
    count: Int[np.ndarray, " pairs"]

    def __len__(self) -> int:
        return len(self.count)


@dataclass(frozen=True, eq=False)
class Transitions(Splits):
    """Counted transitions on a state space: y_ij as its pairs, their row and column sums.

    Attributes
    ----------
    dropped
        Of tracks: how many animals in how many frames had no state, under the first reason that
        held for them: not seen, no heading, a value undefined (headings that cancel, no neighbour
        seen) or outside its bins.
    fixes
        Of tracks: animals times frames, all that were looked at.
    lag
        Frames between the two states of a transition.
    records
        Every transition on its own, with whose it was and when: what splits need. None where
        nobody knows: of opened tracks, of pairs and of a matrix.
    headings
        Of tracks: how headings were taken, and the frame interval. None for sequences, pairs and
        a matrix.
    """

    space: StateSpace
    pairs: Pairs
    dropped: dict[str, int] = field(default_factory=dict)
    fixes: int = 0
    lag: int = 1
    records: Records | None = None
    headings: Headings | None = None

    @classmethod
    def from_pairs(
        cls,
        origin: Iterable[Any],
        destination: Iterable[Any],
        space: StateSpace,
        count: Iterable[Any] | None = None,
    ) -> "Transitions":
        """From one origin and one destination per transition, and optionally a count."""
        start, end = checked_states(origin, space), checked_states(destination, space)
        if start.shape != end.shape:
            raise InputError(f"{start.size} origins do not pair with {end.size} destinations")
        number = np.ones(start.size, dtype=int) if count is None else np.asarray(count)
        if number.shape != start.shape:
            raise InputError(f"{number.size} counts do not fit {start.size} pairs")
        if not np.issubdtype(number.dtype, np.number):
            raise InputError(f"counts are whole numbers, got {number.dtype}")
        wrong = ~(np.isfinite(number) & (number >= 0) & (number == np.floor(number)))
        if np.any(wrong):
            raise InputError(f"counts are whole and not negative, got {number[wrong][0]}")
        return cls.from_codes(start * space.size + end, space, number)

    @classmethod
    def from_codes(
        cls,
        code: Int[np.ndarray, " transitions"],
        space: StateSpace,
        count: np.ndarray | None = None,
        *,
        dropped: dict[str, int] | None = None,
        fixes: int = 0,
        records: Records | None = None,
    ) -> "Transitions":
        """From numbers origin · J + destination that are known to be in the space."""
        if count is None:
            codes, total = np.unique(code, return_counts=True)
        else:
            codes, position = np.unique(code, return_inverse=True)
            total = np.zeros(codes.size, dtype=int)
            np.add.at(total, position, count.astype(int))
        seen = total > 0
        origins, destinations = np.divmod(codes[seen], space.size)
        pairs = Pairs(origins, destinations, total[seen])
        return cls(space, pairs, dropped or {}, fixes, records=records)

    @classmethod
    def summed(cls, parts: Iterable["Transitions"], space: StateSpace) -> "Transitions":
        """All together; the order does not matter. Records are kept if every part has them."""
        codes, counts, held = [], [], 0
        records: list[Records | None] = []
        taken: list[Headings | None] = []
        lag: int | None = None
        dropped: dict[str, int] = {}
        fixes = 0
        total = cls(space, Pairs(*(np.empty(0, dtype=int) for _ in range(3))))
        for part in parts:
            if part.space != space:
                raise InputError("transitions on different state spaces cannot be added")
            if lag not in (None, part.lag):
                raise InputError(f"transitions at lags of {lag} and {part.lag} cannot be added")
            lag = part.lag
            codes.append(part.pairs.origin * space.size + part.pairs.destination)
            counts.append(part.pairs.count)
            held += len(part.pairs)
            fixes += part.fixes
            records.append(part.records)
            taken.append(part.headings)
            for name, number in part.dropped.items():
                dropped[name] = dropped.get(name, 0) + number
            if held > 4_000_000:  # many parts are merged on the way
                total = cls.from_codes(np.concatenate(codes), space, np.concatenate(counts))
                codes = [total.pairs.origin * space.size + total.pairs.destination]
                counts, held = [total.pairs.count], len(total.pairs)
        if not codes:
            return total
        code, count = np.concatenate(codes), np.concatenate(counts)
        known = [part for part in records if part is not None]
        every = Records.joined(known) if len(known) == len(records) else None
        total = cls.from_codes(code, space, count, dropped=dropped, fixes=fixes, records=every)
        return replace(total, lag=lag or 1, headings=_joined(taken))

    @classmethod
    def from_matrix(cls, counts: Int[np.ndarray, "J J"], space: StateSpace) -> "Transitions":
        """From a matrix y_ij of counts, row i the origin, column j the destination."""
        matrix = np.asarray(counts)
        if matrix.shape != (space.size, space.size):
            raise InputError(
                f"expected a {space.size} × {space.size} matrix of counts for this space, "
                f"got {' × '.join(map(str, matrix.shape))}"
            )
        if not np.all(np.isfinite(matrix)):
            raise InputError("the matrix of counts holds a value that is not a number")
        origin, destination = np.nonzero(matrix)
        return cls.from_pairs(origin, destination, space, matrix[origin, destination])

    @property
    def total(self) -> int:
        """How many transitions were seen."""
        return int(self.pairs.count.sum())

    @property
    def arrivals(self) -> Int[np.ndarray, "*grid"]:
        """How often each state was entered: a_j = Σ_i y_ij."""
        return self._summed(self.pairs.destination)

    @property
    def departures(self) -> Int[np.ndarray, "*grid"]:
        """How often each state was left: d_i = Σ_j y_ij."""
        return self._summed(self.pairs.origin)

    def _summed(self, states: Int[np.ndarray, " pairs"]) -> Int[np.ndarray, "*grid"]:
        sums = np.bincount(states, weights=self.pairs.count, minlength=self.space.size)
        return sums.astype(int).reshape(self.space.shape)

    def matrix(self) -> Int[np.ndarray, "J J"]:
        """The counts y_ij written out."""
        counts = np.zeros((self.space.size, self.space.size), dtype=int)
        counts[self.pairs.origin, self.pairs.destination] = self.pairs.count
        return counts

    def _known(self) -> Records:
        if self.records is None:
            raise InputError(
                "splits need to know when and whose each transition was, and counts of opened "
                "tracks, pairs or a matrix do not: count the parts apart, as with by='group'"
            )
        if not len(self.records):
            raise InputError("there are no transitions to split")
        return self.records

    def take(self, rows: Any) -> "Transitions":
        """Some of them: where a mask is True, or by the numbers of their rows."""
        return self._of(self._known().take(rows))

    def _of(self, records: Records) -> "Transitions":
        """Some of the transitions, at the same lag; nobody knows what of the dropped is theirs."""
        code = records.codes(self.space.size)
        some = Transitions.from_codes(code, self.space, records=records)
        return replace(some, lag=self.lag, headings=self.headings)

    def __add__(self, other: "Transitions") -> "Transitions":
        return Transitions.summed([self, other], self.space)

    def table(self) -> "pd.DataFrame":
        """A row for each distinct transition: the two states, their bins, and how often."""
        start, end = (
            self.space.decode(states) for states in (self.pairs.origin, self.pairs.destination)
        )
        names = self.space.names
        return data_frame(
            {
                "origin": self.pairs.origin,
                "destination": self.pairs.destination,
                **{f"{name}_before": values for name, values in zip(names, start, strict=True)},
                **{f"{name}_after": values for name, values in zip(names, end, strict=True)},
                "count": self.pairs.count,
            }
        )

    def __str__(self) -> str:
        visited = int((self.arrivals > 0).sum())
        whose = f" of {animals_of(self.records)}" if self.records else ""
        apart = "from one frame to the next" if self.lag == 1 else f"over {self.lag} frames"
        made = f", {apart}," if self.headings is not None else ""
        return (
            f"{counted(self.total, 'transition')}{whose}{made} between "
            f"{counted(self.space.size, 'state')}. "
            f"{len(self.pairs):,} of them are distinct, and "
            f"{counted(visited, 'state was', 'states were')} entered. "
            f"{left_out(self.dropped, self.fixes, 'state')}"
        ).strip()

    def __repr__(self) -> str:
        visited = int((self.arrivals > 0).sum())
        return (
            f"Transitions({self.total} in all, {len(self.pairs)} distinct, "
            f"{visited} of {self.space.size} states entered)"
        )


def _joined(parts: Sequence[Headings | None]) -> Headings | None:
    """How headings were taken for all parts; None where that is unknown of one."""
    first, *others = parts
    for other in others:
        if first is None or other is None:
            return None
        first = first.joined(other)
    return first


def checked_states(values: Iterable[Any], space: StateSpace) -> Int[np.ndarray, " states"]:
    """A plain sequence of state numbers, all of them in this space."""
    if np.ma.is_masked(values):
        raise InputError("masked states were not seen: end a sequence there and begin another")
    array = np.asarray(list(values) if not isinstance(values, np.ndarray) else values)
    if array.size == 0:
        return np.empty(0, dtype=int)
    if array.ndim != 1:
        raise InputError(f"expected a plain sequence of states, got {array.ndim} dimensions")
    if not (np.issubdtype(array.dtype, np.integer)):
        if not np.issubdtype(array.dtype, np.floating):
            odd = [value for value in array.tolist() if not isinstance(value, int | float)]
            raise InputError(f"states are whole numbers, got {odd[0] if odd else array[0]!r}")
        broken = array != np.floor(array)  # True for NaN
        if np.any(broken):
            raise InputError(f"states are whole numbers, got {array[broken][0]}")
        array = array.astype(int)
    space.check_states(array)
    return array.astype(int)
