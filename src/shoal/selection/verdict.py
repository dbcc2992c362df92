"""The verdict on several models: scores on what none of them has seen, errors, doubts, words."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.posterior.diagnostics import ESS, R_HAT
from shoal.posterior.importance import PARETO_K
from shoal.posterior.scoring import Score
from shoal.results import Result, data_frame
from shoal.selection.best_models import LEVEL, confidence_set
from shoal.tracks.splitting import listed

if TYPE_CHECKING:
    import pandas as pd

ALONE = "Standard errors take every {unit} for independent of the others and are too small."
FEW_BLOCKS = 8
"""Blocks below which it is said that standard errors are poorly known."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, eq=False)
class Entry:
    """One model in a comparison.

    Attributes
    ----------
    score
        On what was held out of all parts.
    logs
        Log₂ p of every distinct held-out transition, or the log₂ density of every held-out move;
        part after part.
    trained
        Bits per transition or decision on what it learned from.
    converged
        Whether all of its fits did.
    pareto_k, importance_ess
        How far draws are from the posterior, and how many they are worth, where they approximate
        it: the worst of its fits.
    r_hat, effective_draws, divergences
        Of chains: the worst of its fits.
    unknowns
        How many numbers it learns.
    method
        By which it was fitted.
    """

    name: str
    costs: bool
    dynamics: str
    score: Score
    logs: Float[np.ndarray, " pairs"]
    trained: float
    converged: bool
    pareto_k: float = float("nan")
    importance_ess: float = float("nan")
    r_hat: float = float("nan")
    effective_draws: float = float("nan")
    divergences: int = 0
    unknowns: int = 0
    method: str = ""

    @property
    def doubts(self) -> tuple[str, ...]:
        """What speaks against its fits, in a few words each; nothing where they can be used."""
        found = {
            "not converged": not self.converged,
            f"k̂ {self.pareto_k:.2f}": self.pareto_k > PARETO_K,
            f"worth {self.importance_ess:.0f} draws": self.importance_ess < ESS,
            f"R-hat {self.r_hat:.3f}": self.r_hat > R_HAT,
            f"{self.effective_draws:.0f} effective draws": self.effective_draws < ESS,
            f"{self.divergences} divergences": self.divergences > 0,
        }
        return tuple(words for words, fails in found.items() if fails)

    @property
    def remedy(self) -> str:
        """What to do about doubts, on the command line and in Python."""
        if self.method == "nuts":
            return "run again with more draws (--draws 1000; in Python draws=1000)"
        return 'run again with --method nuts (in Python method="nuts")'

    def __repr__(self) -> str:
        return f"Entry({self.name!r}, {self.score.bits:.3f} ± {self.score.standard_error:.3f} bits)"


@dataclass(frozen=True, eq=False)
class Comparison(Result):
    """Scores of several models on the same held-out transitions or decisions.

    Attributes
    ----------
    entries
        In the order given.
    counts
        How often every distinct held-out transition was seen; 1 for every held-out decision.
    split
        In words: what was held out.
    unit
        What a score is per: ``"transition"`` or ``"decision"``.
    remarks
        What a reader must know besides, a sentence each.
    """

    entries: tuple[Entry, ...]
    counts: Float[np.ndarray, " pairs"]
    split: str = ""
    unit: str = "transition"
    remarks: tuple[str, ...] = ()

    @property
    def best(self) -> Entry:
        """The one with the highest score."""
        return max(self.entries, key=lambda entry: entry.score.bits)

    @cached_property
    def p_values(self) -> dict[str, float]:
        """For each model, how well the scores agree with its being as good as any other.

        Corrected for choosing among all of them: see ``confidence_set``.
        """
        sums = np.stack([entry.score.sums for entry in self.entries])
        found = confidence_set(sums, self.entries[0].score.counts)
        return {entry.name: float(p) for entry, p in zip(self.entries, found, strict=True)}

    @property
    def contenders(self) -> tuple[Entry, ...]:
        """The best, and those that cannot be told from it at 5 %, corrected; best first."""
        return tuple(e for e in _ranked(self.entries) if self.p_values[e.name] >= LEVEL)

    @property
    def simplest(self) -> Entry:
        """The contender with the fewest unknowns: the simplest that is not clearly worse."""
        return min(self.contenders, key=lambda entry: (entry.unknowns, -entry.score.bits))

    def __getitem__(self, name: str) -> Entry:
        for entry in self.entries:
            if entry.name == name:
                return entry
        names = ", ".join(entry.name for entry in self.entries)
        raise InputError(f"there is no model {name!r} in this comparison; there are {names}")

    def weights(self) -> dict[str, float]:
        """Stacking weights: the mixture of models that predicts what was held out best."""
        logs = np.stack([entry.logs for entry in self.entries])
        return dict(
            zip((e.name for e in self.entries), stacking(logs, self.counts).tolist(), strict=True)
        )

    def gain(self, name: str, other: str) -> tuple[float, float]:
        """How many bits one model is better than another, and the standard error of that."""
        return self[name].score.minus(self[other].score)

    def costs_pay(self) -> list[tuple[str, float, float]]:
        """For each model with costs: what they gain over the same passive moves or dynamics."""
        found = []
        for entry in self.entries:
            plain = [e for e in self.entries if not e.costs and e.dynamics == entry.dynamics]
            if entry.costs and plain and entry.dynamics:
                found.append((entry.name, *entry.score.minus(plain[0].score)))
        return found

    def table(self) -> "pd.DataFrame":
        """A row for each model: its score, how far it is from the best, its stacking weight.

        Scores are bits per held-out transition or decision, each with its standard error.
        """
        weights, contenders = self.weights(), self.contenders
        gaps = [entry.score.minus(self.best.score) for entry in self.entries]
        found: dict[str, Any] = {
            "model": [entry.name for entry in self.entries],
            "bits": [entry.score.bits for entry in self.entries],
            "bits_error": [entry.score.standard_error for entry in self.entries],
        }
        if self.unit == "decision":
            gains = [entry.score.minus(self.entries[0].score) for entry in self.entries]
            found |= {"gain": [gain for gain, _ in gains], "gain_error": [e for _, e in gains]}
        return data_frame(
            found
            | {
                "difference": [gap for gap, _ in gaps],
                "difference_error": [error for _, error in gaps],
                "can_be_best": [entry in contenders for entry in self.entries],
                "p_value": [self.p_values[entry.name] for entry in self.entries],
                "trained_bits": [entry.trained for entry in self.entries],
                "weight": [weights[entry.name] for entry in self.entries],
                "unknowns": [entry.unknowns for entry in self.entries],
                "warning": [", ".join(entry.doubts) for entry in self.entries],
            }
        )

    def rows(self) -> list[dict[str, str]]:
        """The table as it is printed: a row for each model, numbers with their errors."""
        weights, best = self.weights(), self.best
        rows = []
        for entry in self.entries:
            gap, error = entry.score.minus(best.score)
            behind = "best" if entry is best else f"{_signed(gap)} ± {error:.3f}"
            over = {}
            if self.unit == "decision":
                more, off = entry.score.minus(self.entries[0].score)
                base = entry is self.entries[0]
                over = {"gain over passive moves": "" if base else f"{_signed(more)} ± {off:.3f}"}
            rows.append(
                {
                    "model": entry.name,
                    "held out (bits)": f"{_signed(entry.score.bits)} ± "
                    f"{entry.score.standard_error:.3f}",
                    **over,
                    "difference to the best": behind,
                    "can be the best": "yes" if entry in self.contenders else "no",
                    "learned from (bits)": _signed(entry.trained),
                    "stacking weight": f"{weights[entry.name]:.2f}",
                }
            )
        if any(entry.doubts for entry in self.entries):
            for row, entry in zip(rows, self.entries, strict=True):
                row["warning"] = ", ".join(entry.doubts)
        return rows

    def warnings(self) -> list[str]:
        """Which scores may be wrong, why, and what to do: a sentence for each remedy."""
        found = []
        for remedy in dict.fromkeys(entry.remedy for entry in self.entries if entry.doubts):
            marked = [e for e in self.entries if e.doubts and e.remedy == remedy]
            names = listed([f"{e.name} ({', '.join(e.doubts)})" for e in marked])
            vital = [e for e in marked if e in self.contenders]
            head = "This verdict is not safe" if vital else "Warning"
            found.append(
                f"{head}: {_number(len(marked))} of the {_number(len(self.entries))} fits cannot "
                f"be trusted, and their scores may be wrong by more than their errors: {names}; "
                f"{remedy}."
            )
        return found

    def __str__(self) -> str:
        return self.sentence()

    def sentence(self) -> str:
        """Which model to believe, and whether costs pay."""
        best = self.best
        head = (
            f"Best on held-out {self.unit}s: {best.name} "
            f"({_signed(best.score.bits)} bits per {self.unit}"
        )
        rivals = [e for e in self.entries if e is not best]
        if not rivals:
            return head + ")."
        second = _ranked(rivals)[0]
        gap, error = best.score.minus(second.score)
        words = [
            f"{head}), {gap:.3f} ± {error:.3f} better than {second.name}.",
            self._choice_sentence(best),
            self._costs_sentence(best),
            self._blocks_sentence(best.score),
            *self.remarks,
            *self.warnings(),
        ]
        return " ".join(word for word in words if word)

    def _choice_sentence(self, best: Entry) -> str:
        """What is left of the best once it is corrected for having been chosen."""
        total = len(self.entries)
        chosen = f"Corrected for choosing among {_number(total)}"
        if len(best.score.counts) < 2:
            return "With one block to score on, it cannot be told from any other."
        rivals = [entry.name for entry in self.contenders if entry is not best]
        beaten = total - 1 - len(rivals)
        others = "the other" if total == 2 else f"each of the other {_number(total - 1)}"
        if not rivals:
            return f"{chosen}, it is better than {others}."
        some = f"it is better than {_number(beaten)} of the others but" if beaten else "it"
        told = f"{chosen}, {some} cannot be told from {listed(rivals)}."
        if self.simplest is best:
            return f"{told} It is itself the simplest that is not clearly worse."
        return (
            f"{told} The simplest that is not clearly worse is {self.simplest.name} "
            f"(unknowns: {self.simplest.unknowns} instead of {best.unknowns})."
        )

    def _blocks_sentence(self, score: Score) -> str:
        """How well the errors themselves are known."""
        if score.independent:
            return ALONE.format(unit=self.unit)
        if 2 <= len(score.counts) < FEW_BLOCKS:
            return (
                f"With {len(score.counts)} blocks the standard errors themselves are poorly known: "
                "hold out more groups or longer times."
            )
        return ""

    def _costs_sentence(self, best: Entry) -> str:
        paid = {name: (gain, error) for name, gain, error in self.costs_pay()}
        same = [e for e in self.entries if e.costs and e.dynamics == best.dynamics]
        known = [e for e in same if e.name in paid]
        if not known:
            return ""
        costly = best.name if best.name in paid else _ranked(known)[0].name
        gain, error = paid[costly]
        plain = next(e.name for e in self.entries if not e.costs and e.dynamics == best.dynamics)
        clear = (
            len(best.score.counts) > 1 and min(self.p_values[n] for n in (costly, plain)) < LEVEL
        )
        if clear and gain > 0:
            return f"Its costs pay for themselves: {gain:.3f} ± {error:.3f} bits per {self.unit}."
        if clear:
            return (
                f"Costs make it worse, by {-gain:.3f} ± {error:.3f} bits: they do not carry over "
                "to what was held out."
            )
        return (
            f"Whether animals prefer anything cannot be told: costs change the score by "
            f"{_signed(gain)} ± {error:.3f} bits."
        )

    def __repr__(self) -> str:
        words = ", ".join(f"{e.name} {e.score.bits:.3f}" for e in self.entries)
        return f"Comparison({words})"


def _ranked(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: -entry.score.bits)


def _signed(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _number(value: int) -> str:
    return NUMBERS[value] if value < len(NUMBERS) else str(value)


def stacking(
    logs: Float[np.ndarray, "models pairs"], counts: Float[np.ndarray, " pairs"]
) -> Float[np.ndarray, " models"]:
    """Weights of a mixture of models under which what was held out is most probable (by EM)."""
    chance = np.exp2(np.maximum(logs - logs.max(axis=0), -1000.0))
    weights = np.full(len(logs), 1 / len(logs))
    for _ in range(2000):
        share = weights[:, None] * chance
        new = (share / share.sum(axis=0)) @ counts / counts.sum()
        if np.abs(new - weights).max() < 1e-7:
            break
        weights = new
    return np.asarray(new)
