"""Choices that the tracks can make better than their reader: passive dynamics, and the lag."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.basis import Flat, Smooth
from shoal.checks.candidates import couples, paper_walk
from shoal.checks.side_by_side import by_group, parts_of
from shoal.errors import InputError
from shoal.passive import RandomWalk, TurnCoupled, Uniform, Unknown, WalkMixture
from shoal.posterior import Model, Score
from shoal.progress import Report
from shoal.states import Circular, Folded, Numbered, StateSpace, Transitions

LAGS = (1, 2, 3, 5, 8, 13, 21)
FEWEST = 200
"""Transitions that are needed to compare lags or dynamics."""


@dataclass(frozen=True, eq=False)
class PassiveChoice:
    """Passive dynamics and why."""

    passive: Any
    sentence: str
    scores: dict[str, Score]


def split_of(counts: Transitions) -> str:
    """Whole groups where there are several, otherwise the last third of the time."""
    groups = 0 if counts.records is None else len(counts.records.groups)
    return "group:0.67" if groups >= 3 else "time:0.67"


def choose_passive(counts: Transitions, report: Report) -> PassiveChoice:
    """The candidate that foretells held-out transitions best, by itself."""
    space = counts.space
    if counts.records is None:
        raise InputError(
            "--passive auto needs tracks in memory to hold some of them out: name the passive "
            "dynamics, such as turn-coupled or random-walk:90"
        )
    candidates = candidates_on(space)
    if counts.total < FEWEST:
        name, passive = list(candidates.items())[-1]
        return PassiveChoice(
            passive, f"{name}: {counts.total} transitions are too few to hold some out", {}
        )
    split = split_of(counts)
    try:
        ((seen, held),), _ = parts_of(counts, split)
    except InputError:
        name, passive = list(candidates.items())[-1]
        return PassiveChoice(passive, f"{name}: the tracks are too short to hold some out", {})
    scores = {}
    for number, (name, passive) in enumerate(candidates.items()):
        report("choosing passive dynamics", number, len(candidates))
        try:
            fit = Model(space, passive, Flat()).fit(seen, "map", progress=False)
        except InputError:  # what was seen cannot happen by it
            continue
        scores[name] = fit.score(by_group(held) if split.startswith("group") else held)
    report("choosing passive dynamics", len(candidates), len(candidates))
    ranked = sorted(scores, key=lambda name: -scores[name].bits)
    if len(ranked) == 1:
        return PassiveChoice(
            candidates[ranked[0]], f"{ranked[0]}: no other fits these states", scores
        )
    best, second = ranked[0], ranked[1]
    gap, error = scores[best].minus(scores[second])
    part = (
        "two thirds of the groups, drawn with seed 0"
        if split.startswith("group")
        else "the first two thirds of the frames"
    )
    spread = f" ± {error:.3f}" if np.isfinite(error) else ""  # one group alone has none
    sentence = (
        f"{best}: {_minus(scores[best].bits)} bits per held-out transition without any costs, "
        f"{gap:.3f}{spread} better than {second} (learned from {part}, "
        "scored on the rest)"
    )
    return PassiveChoice(candidates[best], sentence, scores)


def candidates_on(space: StateSpace) -> dict[str, Any]:
    """Passive dynamics to choose from, the most general last."""
    found: dict[str, Any] = {"uniform": Uniform()}
    if any(isinstance(axis, Numbered) for axis in space.axes):
        return found
    found["the paper's walk"] = paper_walk(space)
    found["a walk of learned sd"] = RandomWalk(tuple(_guess(axis) for axis in space.axes))
    found["a walk of two learned sds"] = WalkMixture()
    if couples(space):
        found["turn-coupled"] = TurnCoupled()
    return found


def _guess(axis: Any) -> Unknown:
    if isinstance(axis, Circular | Folded):
        return Unknown(20.0, 4.0)
    return Unknown(float(axis.widths.sum()) / 10, 4.0)


@dataclass(frozen=True, eq=False)
class LagChoice:
    """A lag in frames, why, and a row of figures for each that was tried."""

    lag: int
    sentence: str
    rows: list[dict[str, str]]


def choose_lag(
    counting: Callable[[int], Transitions], fps: float | None, report: Report
) -> LagChoice:
    """The lag at which costs gain most per second on held-out transitions.

    Short lags see each decision but little of its outcome; long ones blur several decisions into
    one step. Bits per transition cannot be compared between lags, since states farther apart are
    harder to foretell: what costs add to the passive dynamics, per second, can.
    """
    rows, gains = [], {}
    for number, lag in enumerate(LAGS):
        report("comparing lags", number, len(LAGS))
        found = _enough(counting, lag)
        if found is None:
            break
        counts, seen, held = found
        blocks = by_group(held) if split_of(counts).startswith("group") else held
        passive: Any = TurnCoupled() if couples(counts.space) else WalkMixture()
        plain = Model(counts.space, passive, Flat()).fit(seen, "map", progress=False).score(blocks)
        costs = (
            Model(counts.space, passive, Smooth()).fit(seen, "map", progress=False).score(blocks)
        )
        gain, error = costs.minus(plain)
        seconds = lag / fps if fps else float(lag)
        gains[lag] = (gain / seconds, error / seconds)
        unit = "s" if fps else "frame"
        rows.append(
            {
                "lag (frames)": str(lag),
                f"lag ({unit})": f"{seconds:.3g}",
                "held-out transitions": f"{held.total:,}",
                "passive (bits)": _minus(plain.bits),
                "with costs (bits)": _minus(costs.bits),
                "gain": f"{_minus(gain)} ± {error:.3f}",
                f"gain per {unit}": f"{_minus(gain / seconds)} ± {error / seconds:.3f}",
            }
        )
    report("comparing lags", len(LAGS), len(LAGS))
    return _chosen_lag(gains, rows, "second" if fps else "frame")


def _enough(
    counting: Callable[[int], Transitions], lag: int
) -> tuple[Transitions, Transitions, Transitions] | None:
    """All transitions, those to learn from and those to score; None where there are too few."""
    try:
        counts = counting(lag)
        ((seen, held),), _ = parts_of(counts, split_of(counts))
    except InputError:
        if lag == LAGS[0]:
            raise
        return None
    return (counts, seen, held) if counts.total >= FEWEST or lag == LAGS[0] else None


def _chosen_lag(
    gains: dict[int, tuple[float, float]], rows: Sequence[dict[str, str]], unit: str
) -> LagChoice:
    sure = {lag: gain for lag, (gain, error) in gains.items() if gain > 2 * error}
    if not sure:
        why = "at no lag do costs gain more than two standard errors on held-out transitions"
        if not any(math.isfinite(error) for _, error in gains.values()):
            why = "there are too few blocks to tell by"
        return LagChoice(1, f"lag 1: {why}", list(rows))
    best = max(sure, key=lambda lag: sure[lag])
    gain, error = gains[best]
    sentence = (
        f"lag {best}: of the lags at which costs gain more than two standard errors they gain most "
        f"there, {gain:.2f} ± {error:.2f} bits per {unit} on held-out transitions"
    )
    return LagChoice(best, sentence, list(rows))


def _minus(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")
