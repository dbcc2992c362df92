"""What every analysis returns: a table, a paragraph of plain words and a figure."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

FIGURES = "shoal.figures.results"
"""The module that draws results. It is loaded when a figure is asked for, and only then."""


class Result(ABC):
    """What an analysis returns: ``print`` says it, ``table`` lists it and ``plot`` draws it."""

    @abstractmethod
    def table(self) -> "pd.DataFrame":
        """The numbers behind the result, a row for each thing that was found."""

    @abstractmethod
    def __str__(self) -> str: ...

    def plot(self) -> "Figure":
        """The figure of this result, with units on its axes and uncertainty where it has any.

        Returns
        -------
        Figure
            A Matplotlib figure that belongs to no window: ``figure.savefig("result.png")``.
        """
        figure: Figure = import_module(FIGURES).figure_of(self)
        return figure


def data_frame(columns: Mapping[str, Any]) -> "pd.DataFrame":
    """A pandas DataFrame with these columns, in this order."""
    from pandas import DataFrame  # noqa: PLC0415  (slow to load)

    return DataFrame(dict(columns))


def share(part: float, whole: float) -> str:
    """A share in words of whole percents: "12 %", "less than 1 %".

    >>> share(1, 8), share(0, 8), share(1, 800), share(799, 800)
    ('12 %', 'none', 'less than 1 %', 'more than 99 %')
    """
    if not part:
        return "none"
    percent = 100 * part / whole
    if percent < 1:
        return "less than 1 %"
    return "more than 99 %" if 99 < percent < 100 else f"{percent:.0f} %"


def spoken(value: float, digits: int = 3) -> str:
    """A number as it is printed in text: few digits, and a minus sign instead of a hyphen.

    >>> spoken(-0.12345), spoken(1234567), spoken(20.0)
    ('−0.123', '1,234,567', '20')
    """
    words = f"{value:,.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"
    return words.replace("-", "−")


def counted(number: int, thing: str, things: str = "") -> str:
    """A number with its noun: "1 animal", "3,000 animals".

    >>> counted(1, "animal"), counted(3000, "animal"), counted(2, "axis", "axes")
    ('1 animal', '3,000 animals', '2 axes')
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
