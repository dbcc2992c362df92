"""Models side by side on transitions that none of them has seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.basis import Flat
from shoal.checks.candidates import Candidate, ladder
from shoal.cluster import run_jobs
from shoal.errors import InputError
from shoal.posterior import Fit, Model
from shoal.posterior.scoring import Score, blocks_of, log_predictive
from shoal.progress import Report, reporting
from shoal.states import StateSpace, Transitions
from shoal.tracks.record import warn

ALONE = "Standard errors take every transition for independent of the others and are too small."
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
    pareto_k
        How far draws are from the posterior, where they approximate it: the worst of its fits.
    """

    name: str
    costs: bool
    dynamics: str
    score: Score
    logs: Float[np.ndarray, " pairs"]
    trained: float
    converged: bool
    pareto_k: float = float("nan")

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
                    "model": entry.name + ("" if entry.converged else " (not converged)"),
                    "held out (bits)": f"{_signed(entry.score.bits)} ± "
                    f"{entry.score.standard_error:.3f}",
                    "difference to the best": behind,
                    "learned from (bits)": _signed(entry.trained),
                    "stacking weight": f"{weights[entry.name]:.2f}",
                }
            )
        return rows

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
        gaps = sorted((best.score.minus(rival.score), rival) for rival in _ranked(rivals)[:1])
        (gap, error), second = gaps[0]
        sure = "by more than two standard errors" if gap > 2 * error else "which could be chance"
        words = [
            f"{head}), {gap:.3f} ± {error:.3f} better than {second.name}, {sure}.",
            self._costs_sentence(best),
            ALONE if best.score.independent else "",
        ]
        return " ".join(word for word in words if word)

    def _costs_sentence(self, best: Entry) -> str:
        paid = {name: (gain, error) for name, gain, error in self.costs_pay()}
        same = [e for e in self.entries if e.costs and e.dynamics == best.dynamics]
        known = [e for e in same if e.name in paid]
        if not known:
            return ""
        gain, error = paid.get(best.name, paid[known[-1].name])
        if gain > 2 * error:
            return f"Its costs pay for themselves: {gain:.3f} ± {error:.3f} bits per transition."
        if gain < -2 * error:
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
        groups in their order), ``"individual:0.7"``, ``"5-fold"`` by time, ``"5-fold:group"``,
        ``"leave-one-group-out"``.
    method
        How models are fitted: laplace is exact enough for scores and quick.
    draws, seed
        Of each fit, in 4 chains.
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
    parts, words = parts_of(transitions, split)
    space = parts[0][0].space
    candidates = ladder(space)
    for name, model in (models or {}).items():
        _check_model(name, model, space, candidates)
        costs = not isinstance(model.basis, Flat)
        candidates.append(Candidate(name, lambda seen, own=model: own, costs))  # type: ignore[misc]
    apart = isinstance(transitions, Transitions) and "group" in split
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
    scores, logs, trained, converged, shapes = [], [], [], True, [float("nan")]
    fit: Fit | None = None
    for seen, held in parts:
        model = candidate.make(seen)
        again = fit if fit is not None and model.hierarchical else None
        fit = model.fit(seen, method, chains=4, draws=draws, seed=seed, progress=False, start=again)
        scores.append(fit.score(by_group(held) if apart else held))
        logs.append(log_predictive(fit, _together(held)) / np.log(2))
        trained.append(fit.score(Transitions(seen.space, seen.pairs, lag=seen.lag)).bits)
        converged &= bool(fit.facts.get("converged", True))
        shapes.append(float(fit.facts.get("pareto_k", "nan")))
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
        converged,
        float(np.fmax.reduce(shapes)),
    )


def by_group(held: Transitions) -> list[Transitions]:
    """A block for each group: where groups were held out, it is groups that differ."""
    records = held.records
    if records is None or len(records.groups) < 2:
        return [held]
    return [held.split_groups([label])[0] for label in records.groups]


def _together(held: Any) -> Transitions:
    blocks, _ = blocks_of(held)
    return Transitions.summed(blocks, blocks[0].space)


def parts_of(transitions: Any, split: Any) -> tuple[list[Part], str]:
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
    if kind.endswith("-fold") and kind[:-5].isdecimal():
        by: Any = rest or "time"
        if by not in ("time", "group", "individual"):
            raise InputError(f"{split!r}: folds are by time, group or individual")
        if by == "individual":
            _warn_of_company(transitions)
        return transitions.folds(int(kind[:-5]), by), f"each of {kind[:-5]} parts by {by} in turn"
    if kind == "leave-one-group-out" and not rest:
        return transitions.folds(None, "group"), "each group in turn"
    share = _share(rest, split)
    if kind == "time":
        return [transitions.split_time(share)], f"the last {1 - share:.0%} of the frames"
    if kind == "group":
        return [transitions.split_groups(share)], f"the last {1 - share:.0%} of the groups"
    if kind == "individual":
        _warn_of_company(transitions)
        return [transitions.split_individuals(share)], f"{1 - share:.0%} of the animals"
    raise InputError(
        "a split is time:SHARE, group:SHARE, individual:SHARE, K-fold, K-fold:group, "
        f"K-fold:individual or leave-one-group-out; got {split!r}"
    )


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
