"""Every transition on its own: between which states, whose it was, and when."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Int

Label = TypeVar("Label", bound=Hashable)
Numbers = Int[np.ndarray, " transitions"]


@dataclass(frozen=True, eq=False)
class Records:
    """One row for each transition; every label has at least one of them.

    Attributes
    ----------
    origin, destination
        The two states.
    group, individual
        The places of their labels in ``groups`` and ``individuals``.
    frame
        The number of the frame of the origin, in the tracks of its group as they were counted.
    groups
        The labels of the groups, in the order they were counted.
    individuals
        The animals, each as (group, name).
    facts
        Covariates of the groups and their members, by the label of the group.
    """

    origin: Numbers
    destination: Numbers
    group: Numbers
    individual: Numbers
    frame: Numbers
    groups: tuple[str, ...]
    individuals: tuple[tuple[str, str], ...]
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def of_group(
        cls,
        states: tuple[Numbers, Numbers],
        frame: Numbers,
        animal: Numbers,
        group: str,
        names: Sequence[str],
    ) -> "Records":
        """Of one group, from the number and the names of its animals."""
        individual, who = _with_labels(compact(animal), tuple((group, str(name)) for name in names))
        return cls(
            compact(states[0]),
            compact(states[1]),
            np.zeros(len(frame), dtype=np.int32),
            individual,
            compact(frame),
            (group,) if len(frame) else (),
            who,
        )

    @classmethod
    def joined(cls, parts: Sequence["Records"]) -> "Records":
        """All together; what has the same label in several parts is the same group or animal."""
        if len(parts) == 1:
            return parts[0]
        groups: dict[str, int] = {}
        individuals: dict[tuple[str, str], int] = {}
        return cls(
            _chained(part.origin for part in parts),
            _chained(part.destination for part in parts),
            _chained(_numbered(part.group, part.groups, groups) for part in parts),
            _chained(_numbered(part.individual, part.individuals, individuals) for part in parts),
            _chained(part.frame for part in parts),
            tuple(groups),
            tuple(individuals),
            {label: known for part in parts for label, known in part.facts.items()},
        )

    def take(self, rows: Bool[np.ndarray, " transitions"] | Int[np.ndarray, " rows"]) -> "Records":
        """Some of them: where a mask is True, or by the numbers of their rows."""
        group, groups = _with_labels(self.group[rows], self.groups)
        individual, individuals = _with_labels(self.individual[rows], self.individuals)
        origin, destination, frame = self.origin[rows], self.destination[rows], self.frame[rows]
        numbers = (origin, destination, group, individual, frame)
        return Records(*numbers, groups, individuals, self.facts)

    def apart(self, part: Numbers) -> list["Records"]:
        """Cut into parts, from the number of each transition's part; none is empty."""
        order = np.argsort(part, kind="stable")
        edges = np.flatnonzero(np.diff(part[order])) + 1
        return [self.take(rows) for rows in np.split(order, edges) if rows.size]

    def spans(self) -> tuple[Int[np.ndarray, " groups"], Int[np.ndarray, " groups"]]:
        """The first and the last frame of an origin in each group."""
        first = np.full(len(self.groups), np.iinfo(np.int64).max)
        last = np.full(len(self.groups), -1)
        np.minimum.at(first, self.group, self.frame)
        np.maximum.at(last, self.group, self.frame)
        return first, last

    def codes(self, size: int) -> Numbers:
        """Numbers origin · J + destination."""
        return self.origin.astype(np.int64) * size + self.destination

    def __len__(self) -> int:
        return len(self.origin)


def compact(numbers: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Half the memory, where the numbers allow it."""
    fits = not numbers.size or numbers.max() <= np.iinfo(np.int32).max
    return numbers.astype(np.int32) if fits else numbers


def _chained(parts: Iterable[Int[np.ndarray, " _"]]) -> Numbers:
    return np.concatenate([np.empty(0, dtype=np.int32), *parts])


def _numbered(numbers: Numbers, labels: tuple[Label, ...], known: dict[Label, int]) -> Numbers:
    """Numbers of labels as numbers of those known so far, which learn what is new."""
    places = [known.setdefault(label, len(known)) for label in labels]
    return np.asarray(places, dtype=np.int32)[numbers]


def _with_labels(
    numbers: Int[np.ndarray, " n"], labels: tuple[Label, ...]
) -> tuple[Int[np.ndarray, " n"], tuple[Label, ...]]:
    """Only the labels that occur, and the numbers that go with them."""
    seen = np.bincount(numbers, minlength=len(labels)) > 0
    if seen.all():
        return numbers, labels
    places = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return places[numbers], tuple(labels[place] for place in np.flatnonzero(seen))
