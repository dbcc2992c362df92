"""Fixes, one a row: who was where when, as every long table says it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

PER_ROW = ("group", "animal", "x", "y", "frame", "time", "heading", "fps", "arena", "row")
Numbers = Float[np.ndarray, " fixes"]
Codes = Int[np.ndarray, " fixes"]


@dataclass(frozen=True, eq=False)
class Fixes:
    """Rows of a long table: who was where when.

    Attributes
    ----------
    group, animal
        Numbers into ``groups`` and ``animals``.
    frame, time
        At least one of them; time in seconds.
    covariates
        By name: for each animal, or with ``per_group`` for each group, one value a row.
    logged
        Whether loggers on the animals wrote the rows: these repeat and swap fixes, which is noted
        and no error, since every fix has its own time.
    fps, arena
        What rows say of their group.
    row, file, first_row
        What rows are called in messages.
    """

    group: Codes
    groups: tuple[str, ...]
    animal: Codes
    animals: tuple[str, ...]
    x: Numbers
    y: Numbers
    frame: Codes | None = None
    time: Numbers | None = None
    heading: Numbers | None = None
    geographic: bool = False
    timestamps: bool = False
    logged: bool = False
    centre: tuple[float, float] | None = None
    length_unit: str = ""
    fps: Numbers | None = None
    arena: Any = None
    row: Codes | None = None
    covariates: Mapping[str, np.ndarray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    file: str = ""
    first_row: int = 2

    def take(self, rows: Any) -> "Fixes":
        """Some of the rows."""
        arrays = {
            name: getattr(self, name)[rows] for name in PER_ROW if getattr(self, name) is not None
        }
        covariates = {name: values[rows] for name, values in self.covariates.items()}
        return replace(self, **arrays, covariates=covariates)

    def row_words(self, index: int) -> str:
        """The number of a row in its file."""
        number = index if self.row is None else int(self.row[index])
        return f"row {number + self.first_row}"

    def place(self, index: int) -> str:
        """What to call a row in a message."""
        return f"{self.file}, {self.row_words(index)}"


def by_group(fixes: Fixes) -> Iterator[tuple[int, Fixes]]:
    """Each group's rows, in the order of its first."""
    starts = np.flatnonzero(np.diff(fixes.group, prepend=-1))
    labels = fixes.group[starts]
    if len(set(labels.tolist())) == len(labels):
        for label, start, stop in zip(labels, starts, [*starts[1:], len(fixes.group)], strict=True):
            yield int(label), fixes.take(slice(start, stop))
    else:
        for label in dict.fromkeys(labels.tolist()):
            yield label, fixes.take(np.flatnonzero(fixes.group == label))
