"""What to worry about, in plain words, and the figures behind it."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shoal.posterior.importance import PARETO_K
from shoal.results import Result, counted, data_frame

if TYPE_CHECKING:
    import pandas as pd

R_HAT = 1.01

ESS = 400

E_BFMI = 0.3

RARE_SHARE = 0.01

SPOILT = 0.15
"""The same where it is negative, beyond which costs are not to be trusted."""

LIMITS = {
    "max_r_hat": ("at most", R_HAT),
    "min_ess_bulk": ("at least", ESS),
    "min_ess_tail": ("at least", ESS),
    "divergences": ("at most", 0),
    "min_e_bfmi": ("at least", E_BFMI),
    "pareto_k": ("at most", PARETO_K),
    "importance_ess": ("at least", ESS),
    "share_passively_rare": ("at most", RARE_SHARE),
    "quadrature_shift": ("at most", 1.0),
    "turn_correlation": ("at least", -SPOILT),
}
"""The figures by which a fit is judged, with the limit of each."""


@dataclass(frozen=True, repr=False)
class Diagnostics(Result):
    """Sentences about a fit, and the numbers behind them.

    Attributes
    ----------
    failures
        Reasons not to use this result.
    notes
        Things to know when reading it.
    numbers
        The figures, by name.
    """

    failures: tuple[str, ...]
    notes: tuple[str, ...]
    numbers: dict[str, float]

    @property
    def trusted(self) -> bool:
        """Whether nothing speaks against using the result."""
        return not self.failures

    def table(self) -> "pd.DataFrame":
        """A row for each figure: its value, its limit where it has one, whether it keeps it."""
        sides, limits, fine = [], [], []
        for name, value in self.numbers.items():
            side, limit = LIMITS.get(name, ("", math.nan))
            sides.append(side)
            limits.append(float(limit))
            fine.append(not side or (value <= limit if side == "at most" else value >= limit))
        return data_frame(
            {
                "quantity": list(self.numbers),
                "value": list(self.numbers.values()),
                "should_be": sides,
                "limit": limits,
                "fine": fine,
            }
        )

    def __str__(self) -> str:
        sound = (
            "The computation is sound. Whether the model describes these animals is another "
            "question: shoal predict compares simulated groups with them."
        )
        head = sound if self.trusted else "Do not trust this fit yet:"
        lines = [head, *(f"  ✗ {line}" for line in self.failures)]
        lines += [f"  • {line}" for line in self.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        trusted = "trusted" if self.trusted else "not trusted"
        found = f"{counted(len(self.failures), 'failure')}, {counted(len(self.notes), 'note')}"
        return f"Diagnostics({trusted}, {found})"


@dataclass(frozen=True)
class Findings:
    """What was found so far: failures, notes and figures."""

    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)

    def diagnostics(self) -> Diagnostics:
        """All of it, as users see it."""
        return Diagnostics(tuple(self.failures), tuple(self.notes), self.numbers)
