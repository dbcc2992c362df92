"""Models side by side on transitions that none of them has seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.basis import Flat
from shoal.checks.best_models import LEVEL, confidence_set
from shoal.checks.candidates import Candidate, ladder
from shoal.cluster import run_jobs
from shoal.errors import InputError
from shoal.passive import Empirical
from shoal.posterior import Fit, Model
from shoal.posterior.diagnostics import ESS, R_HAT
from shoal.posterior.importance import PARETO_K
from shoal.posterior.scoring import Score, blocks_of, log_predictive
from shoal.progress import Report, reporting
from shoal.states import StateSpace, Transitions
from shoal.tracks.record import warn
from shoal.tracks.splitting import listed

ALONE = "Standard errors take every transition for independent of the others and are too small."
FEW_BLOCKS = 8
"""Blocks below which it is said that standard errors are poorly known."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
Part = tuple[Transitions, Any]
"""What to learn from, and what to score: transitions, or several as blocks."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One model in a comparison.

    Attributes
    ----------
    score
        On the held-out transitions of all parts.
    logs
        Log₂ p of every distinct held-out transition, part after part.
    trained
        Bits per transition on what it learned from.
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
        return f"Entry({self.name!r}, {self.score!r})"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of several models on the same held-out transitions.

    Attributes
    ----------
    entries
        In the order given.
    counts
        How often every distinct held-out transition was seen.
    split
        In words: what was held out.
    """

    entries: tuple[Entry, ...]
    counts: Float[np.ndarray, " pairs"]
    split: str = ""

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
        """Stacking weights: the mixture of models that foretells the held-out transitions best."""
        logs = np.stack([entry.logs for entry in self.entries])
        return dict(
            zip((e.name for e in self.entries), stacking(logs, self.counts).tolist(), strict=True)
        )

    def gain(self, name: str, other: str) -> tuple[float, float]:
        """How many bits one model is better than another, and the standard error of that."""
        return self[name].score.minus(self[other].score)

    def costs_pay(self) -> list[tuple[str, float, float]]:
        """For each passive dynamics with and without costs: what costs gain, and its error."""
        found = []
        for entry in self.entries:
            plain = [e for e in self.entries if not e.costs and e.dynamics == entry.dynamics]
            if entry.costs and plain and entry.dynamics:
                found.append((entry.name, *entry.score.minus(plain[0].score)))
        return found

    def table(self) -> list[dict[str, str]]:
        """A row for each model."""
        weights, best = self.weights(), self.best
        rows = []
        for entry in self.entries:
            gap, error = entry.score.minus(best.score)
            behind = "best" if entry is best else f"{_signed(gap)} ± {error:.3f}"
            rows.append(
                {
                    "model": entry.name,
                    "held out (bits)": f"{_signed(entry.score.bits)} ± "
                    f"{entry.score.standard_error:.3f}",
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

    def sentence(self) -> str:
        """Which model to believe, and whether costs pay."""
        best = self.best
        head = (
            f"{best.name[0].upper()}{best.name[1:]} foretells held-out transitions best "
            f"({_signed(best.score.bits)} bits per transition"
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

    @staticmethod
    def _blocks_sentence(score: Score) -> str:
        """How well the errors themselves are known."""
        if score.independent:
            return ALONE
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
        gain, error = paid.get(best.name, paid[known[-1].name])
        costly = best.name if best.name in paid else known[-1].name
        plain = next(e.name for e in self.entries if not e.costs and e.dynamics == best.dynamics)
        clear = (
            len(best.score.counts) > 1 and min(self.p_values[n] for n in (costly, plain)) < LEVEL
        )
        if clear and gain > 0:
            return f"Its costs pay for themselves: {gain:.3f} ± {error:.3f} bits per transition."
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


def compare(
    transitions: Any,
    models: Mapping[str, Any] | None = None,
    *,
    split: Any = "time",
    method: Any = "laplace",
    draws: int = 250,
    seed: int = 0,
    cluster: Any = None,
    progress: bool | Report | None = None,
) -> Comparison:
    """Fit models to one part of the transitions and score them on the rest.

    Parameters
    ----------
    transitions
        From ``count_transitions``; or two of them (to learn from, to score), whatever the split.
    models
        Models by name. The baselines are always there: uniform, a Markov chain, the paper's walk
        with and without costs, maximum entropy (uniform with costs), and walks and turns that are
        learned, with and without costs.
    split
        ``"time"`` (the first two thirds to learn from), ``"time:0.5"``, ``"group:0.7"`` (whole
        groups, drawn by the seed), ``"individual:0.7"``, ``"5-fold"`` by time, ``"5-fold:group"``,
        ``"leave-one-group-out"``. A covariate of the tracks may follow, by which groups or
        animals are stratified: ``"group:0.7:sex"``, ``"5-fold:group:sex"``.
    method
        How models are fitted: laplace is exact enough for scores and quick.
    draws, seed
        Of each fit, in 4 chains; the seed also draws what is held out.
    cluster
        Workers to share the fits: a number, the address of a Dask scheduler, or a Dask client.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace.discrete(3)
    >>> counts = shoal.count_transitions([[0, 1, 1, 2, 1, 1, 0, 1] * 10], space)
    >>> shoal.compare(counts, method="map").best.name
    'Markov chain, smoothed'
    """
    parts, words = parts_of(transitions, split, seed)
    space = parts[0][0].space
    candidates = ladder(space)
    for name, model in (models or {}).items():
        _check_model(name, model, space, candidates)
        costs = not isinstance(model.basis, Flat)
        candidates.append(Candidate(name, lambda seen, own=model: own, costs))  # type: ignore[misc]
    apart = isinstance(transitions, Transitions) and holds_groups_out(split)
    job = partial(_entry, parts=parts, method=method, draws=draws, seed=seed, apart=apart)
    with reporting(progress) as report:
        found = dict(run_jobs(job, list(enumerate(candidates)), cluster, report, "comparing"))
    counts = np.concatenate([_together(held).pairs.count for _, held in parts]).astype(float)
    return Comparison(tuple(found[n] for n in range(len(candidates))), counts, words)


def _check_model(name: str, model: Any, space: StateSpace, others: Sequence[Candidate]) -> None:
    if not isinstance(model, Model):
        raise InputError(f"models are shoal.Model(…) by name; {name!r} is {model!r:.60}")
    if model.space.axes != space.axes:
        raise InputError(
            f"the model {name!r} is on the states {model.space.names}, and the transitions are on "
            f"{space.names} or in other bins"
        )
    if name in [other.name for other in others]:
        raise InputError(f"there is a model {name!r} already: choose another name")


def _entry(
    numbered: tuple[int, Candidate],
    parts: list[Part],
    method: Any,
    draws: int,
    seed: int,
    apart: bool,
) -> tuple[int, Entry]:
    """A model fitted to every part, each fit beginning where the one before it ended."""
    number, candidate = numbered
    scores, logs, trained, figures = [], [], [], []
    fit: Fit | None = None
    for seen, held in parts:
        model = candidate.make(seen)
        again = fit if fit is not None and model.hierarchical else None
        fit = model.fit(seen, method, chains=4, draws=draws, seed=seed, progress=False, start=again)
        scores.append(fit.score(by_group(held) if apart else held))
        logs.append(log_predictive(fit, _together(held)) / np.log(2))
        trained.append(fit.score(Transitions(seen.space, seen.pairs, lag=seen.lag)).bits)
        figures.append(_figures(fit))
    pooled = Score(
        np.concatenate([score.sums for score in scores]),
        np.concatenate([score.counts for score in scores]),
        scores[0].independent,
    )
    return number, Entry(
        candidate.name,
        candidate.costs,
        candidate.dynamics,
        pooled,
        np.concatenate(logs),
        float(np.mean(trained)),
        all(one["converged"] for one in figures),
        **{
            name: worst([one[name] for one in figures])
            for name, worst in (
                *(("pareto_k", np.fmax.reduce), ("importance_ess", np.fmin.reduce)),
                *(("r_hat", np.fmax.reduce), ("effective_draws", np.fmin.reduce)),
                *(("divergences", sum), ("unknowns", max)),
            )
        },
        method=fit.method if fit is not None else "",
    )


def _figures(fit: Fit) -> dict[str, Any]:
    """How far its draws can be trusted, and how many numbers it has learned."""
    facts, posterior = fit.facts, fit.data["posterior"].to_dataset()
    found = {
        "converged": bool(facts.get("converged", True)),
        "pareto_k": float(facts.get("pareto_k", "nan")),
        "importance_ess": float(facts.get("importance_ess", "nan")),
        "r_hat": float("nan"),
        "effective_draws": float("nan"),
        "divergences": 0,
    }
    if fit.method == "nuts":
        chains = fit.data["convergence"].to_dataset()
        r_hats = [chains[n].values.max() for n in chains if str(n).endswith("r_hat")]
        draws = [chains[n].values.min() for n in chains if "ess" in str(n)]
        found["r_hat"] = float(np.fmax.reduce(r_hats))
        found["effective_draws"] = float(np.fmin.reduce(draws))
        found["divergences"] = int(fit.data["sample_stats"].to_dataset()["diverging"].sum())
    learned = posterior["parameters"].sizes["parameter"] if "parameters" in posterior else 0
    if isinstance(fit.model.passive, Empirical):
        learned += len(fit.model.passive.transitions.pairs)
    if not isinstance(fit.model.basis, Flat):
        learned += posterior.sizes.get("coefficient", fit.model.space.size)
        learned += "precision" in posterior
    return found | {"unknowns": int(learned)}


def by_group(held: Transitions) -> list[Transitions]:
    """A block for each group: where groups were held out, it is groups that differ."""
    records = held.records
    if records is None or len(records.groups) < 2:
        return [held]
    return [held.split_groups([label])[0] for label in records.groups]


def _together(held: Any) -> Transitions:
    blocks, _ = blocks_of(held)
    return Transitions.summed(blocks, blocks[0].space)


def holds_groups_out(split: str) -> bool:
    """Whether whole groups are held out, so that it is groups that are blocks."""
    kind, _, rest = split.partition(":")
    return kind in ("group", "leave-one-group-out") or rest.partition(":")[0] == "group"


def parts_of(transitions: Any, split: Any, seed: int = 0) -> tuple[list[Part], str]:
    """What to learn from and what to score, and that in words."""
    if isinstance(transitions, tuple) and len(transitions) == 2:
        seen, held = transitions
        if not isinstance(seen, Transitions):
            raise InputError("two parts are Transitions to learn from and Transitions to score")
        blocks_of(held)
        return [(seen, held)], "given"
    if not isinstance(transitions, Transitions):
        raise InputError(
            "models are compared on what count_transitions(...) returns, got "
            f"{type(transitions).__name__}"
        )
    if not isinstance(split, str):
        raise InputError(f"a split is in words, such as time:0.67 or 5-fold:group; got {split!r}")
    kind, _, rest = split.partition(":")
    rest, _, stratify = rest.partition(":")
    strata: dict[str, Any] = {"seed": seed, "stratify": stratify or None}
    how = f"drawn with seed {seed}" + (f", stratified by {stratify}" if stratify else "")
    if stratify and (kind == "time" or (kind.endswith("-fold") and rest in ("", "time"))):
        raise InputError(f"{split!r}: times have no strata: hold out groups or individuals")
    if kind.endswith("-fold") and kind[:-5].isdecimal():
        by: Any = rest or "time"
        if by not in ("time", "group", "individual"):
            raise InputError(f"{split!r}: folds are by time, group or individual")
        if by == "individual":
            _warn_of_company(transitions)
        words = f"each of {kind[:-5]} parts by {by} in turn"
        return transitions.folds(int(kind[:-5]), by, **strata), (
            words if by == "time" else f"{words}, {how}"
        )
    if kind == "leave-one-group-out" and not rest + stratify:
        return transitions.folds(None, "group"), "each group in turn"
    share = _share(rest, split)
    if kind == "time":
        return [transitions.split_time(share)], f"the last {1 - share:.0%} of the frames"
    if kind == "group":
        parts = transitions.split_groups(share, **strata)
        return [parts], _part_words(share, "groups", parts, how)
    if kind == "individual":
        _warn_of_company(transitions)
        parts = transitions.split_individuals(share, **strata)
        return [parts], _part_words(share, "individuals", parts, how)
    raise InputError(
        "a split is time:SHARE, group:SHARE, individual:SHARE, K-fold, K-fold:group, "
        "K-fold:individual or leave-one-group-out, with a covariate to stratify by after "
        f"group:SHARE or K-fold:group, as in group:0.7:sex; got {split!r}"
    )


def _part_words(share: float, what: str, parts: Part, how: str) -> str:
    """What was held out: 30% of the groups (8 of 26), drawn with seed 1, stratified by sex."""
    seen, held = (len(getattr(part.records, what)) for part in parts)
    name = what.replace("individuals", "animals")
    return f"{1 - share:.0%} of the {name} ({held} of {seen + held}), {how}"


def _warn_of_company(transitions: Transitions) -> None:
    social = [p.axis.name for p in transitions.space.parts if getattr(p, "social", False)]  # type: ignore[union-attr]
    if social:
        warn(
            f"{', '.join(social)} of an animal says much about its neighbours, which are learned "
            "from: hold out times or groups instead of animals"
        )


def _share(words: str, split: str) -> float:
    if not words:
        return 2 / 3
    top, sign, bottom = words.partition("/")
    try:
        share = float(top) / float(bottom) if sign else float(top)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{split!r}: a share is a number below 1, such as 2/3 or 0.7") from None
    return share


def stacking(
    logs: Float[np.ndarray, "models pairs"], counts: Float[np.ndarray, " pairs"]
) -> Float[np.ndarray, " models"]:
    """Weights of a mixture of models under which the transitions are most probable (by EM)."""
    chance = np.exp2(np.maximum(logs - logs.max(axis=0), -1000.0))
    weights = np.full(len(logs), 1 / len(logs))
    for _ in range(2000):
        share = weights[:, None] * chance
        new = (share / share.sum(axis=0)) @ counts / counts.sum()
        if np.abs(new - weights).max() < 1e-7:
            break
        weights = new
    return np.asarray(new)
