"""What the paper says, what was measured, and whether it holds."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

HOLDS = "holds"
FAILS = "does not hold"
UNTESTABLE = "cannot be tested here"
MARKS = {HOLDS: "✓", FAILS: "✗", UNTESTABLE: "–"}


@dataclass(frozen=True)
class Claim:
    """One statement of the paper with our finding.

    Attributes
    ----------
    key
        A short name, for files and tests.
    paper
        The statement, in our words.
    test
        What is measured and what decides.
    found
        The finding as a sentence with its numbers.
    verdict
        ``holds``, ``does not hold`` or ``cannot be tested here``.
    numbers
        The figures behind the sentence.
    """

    key: str
    paper: str
    test: str
    found: str
    verdict: str
    numbers: Mapping[str, Any]

    def __post_init__(self) -> None:
        """A finding is a sentence, with proper signs."""
        minus = re.sub(r"(?<![\w.])-(?=\d)", "−", self.found)
        object.__setattr__(self, "found", minus[:1].upper() + minus[1:])

    def record(self) -> dict[str, Any]:
        """For claims.json, with six significant digits."""
        return {
            "claim": self.key,
            "paper": self.paper,
            "test": self.test,
            "found": self.found,
            "verdict": self.verdict,
            "numbers": {name: rounded(value) for name, value in self.numbers.items()},
        }

    def row(self) -> dict[str, str]:
        """For a table on a terminal."""
        return {"claim": self.paper, "verdict": self.verdict, "what we found": self.found}


def judged(holds: Any) -> str:
    """The verdict of a test that decides."""
    return HOLDS if bool(holds) else FAILS


def rounded(value: Any) -> Any:
    """A number as JSON can hold it; lists and dictionaries are rounded within.

    >>> rounded(0.123456789), rounded(float("inf")), rounded([1, 2.00000001])
    (0.123457, None, [1, 2.0])
    """
    if isinstance(value, Mapping):
        return {str(name): rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    if isinstance(value, bool | str) or value is None:
        return value
    number = float(value)
    if not math.isfinite(number):
        return None
    return int(number) if isinstance(value, int) else float(f"{number:.6g}")
