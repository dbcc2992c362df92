"""What users hand over: types of arguments that functions check themselves, with a sentence."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Annotated

import numpy as np

GIVEN = "checked"
"""Marks types that tests do not enforce: they hand over wrong ones, to read the sentence."""

SEED = 1
"""Where random numbers begin if nobody says: in Python and on the command line."""

Whole = Annotated[int, GIVEN]
"""A whole number, of NumPy or not: of frames, animals, draws; a seed."""

Number = Annotated[float, GIVEN]
"""A number, of NumPy or not."""

Numbers = Annotated[Sequence[float] | Sequence[Sequence[float]] | np.ndarray, GIVEN]
"""An array, or lists of numbers that make one."""

Place = Annotated[Sequence[float] | np.ndarray, GIVEN]
"""A point (x, y)."""

Places = Annotated[Sequence[float] | np.ndarray | Mapping[str, Sequence[float]], GIVEN]
"""A point (x, y), or one for each group by its label."""

Targets = Annotated[str | Sequence[float] | np.ndarray | Mapping[str, Sequence[float]], GIVEN]
"""A point (x, y), the name of an animal or landmark, or a point for each group by its label."""

Limits = Annotated[tuple[float | None, float | None], GIVEN]
"""The lowest and the highest value; None leaves a side open."""

Word = Annotated[str, GIVEN]
"""One of a few words, which the documentation of the argument names."""

Words = Annotated[str | tuple[str, ...], GIVEN]
"""One of a few words, or one for each axis."""

Filename = Annotated[str | PathLike[str], GIVEN]
"""Where a file or folder is."""
