"""Choices that the tracks can make better than their reader: passive dynamics, and the lag."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.angles import difference
from shoal.basis import Flat, Smooth
from shoal.errors import InputError
from shoal.passive import RandomWalk, TurnCoupled, Uniform, Unknown, WalkMixture, as_family
from shoal.posterior import Model, Score
from shoal.selection.candidates import couples, paper_walk
from shoal.selection.holding_out import by_group, parts_of
from shoal.states import Circular, Folded, Numbered, StateSpace, Transitions
from shoal.states.recipe import Counting
from shoal.system.progress import Report
from shoal.tracks import Tracks

THINNED_GROUPS = 20
"""Groups that are looked at to choose the thinning."""

LEAST_STEP = 0.5
"""The median change of an angle, in bins, at which frames are far enough apart."""

LAGS = (1, 2, 3, 5, 8, 13, 21)
LEARNED = "a walk of learned sd"
"""The simplest dynamics that learn how far animals go."""

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
        name = LEARNED if LEARNED in candidates else list(candidates)[-1]
        why = f"{counts.total} transitions are too few to hold some out"
        return PassiveChoice(candidates[name], f"{name}: {why}", {})
    split = split_of(counts)
    try:
        ((seen, held),), _ = parts_of(counts, split)
    except InputError:
        name = LEARNED if LEARNED in candidates else list(candidates)[-1]
        why = "the tracks are too short to hold some out"
        return PassiveChoice(candidates[name], f"{name}: {why}", {})
    scores = {}
    for number, (name, passive) in enumerate(candidates.items()):
        report("choosing passive dynamics", number, len(candidates))
        try:
            fit = Model(space, passive, Flat()).fit(seen, "map", progress=False)
        except InputError:  # what was seen cannot happen by it
            continue
        scores[name] = fit.score(by_group(held) if split.startswith("group") else held)
    report("choosing passive dynamics", len(candidates), len(candidates))
    if len(scores) == 1:
        (name,) = scores
        return PassiveChoice(candidates[name], f"{name}: no other fits these states", scores)
    part = (
        "two thirds of the groups, drawn with seed 0"
        if split.startswith("group")
        else "the first two thirds of the frames"
    )
    return PassiveChoice(*_simplest(candidates, scores, space, part), scores)


def _simplest(
    candidates: dict[str, Any], scores: dict[str, Score], space: StateSpace, part: str
) -> tuple[Any, str]:
    """The best, or the one with the fewest unknowns of those that could as well be the best.

    Dynamics without unknowns are taken only where they are the best: the others learn how far
    animals go, and cost little.
    """
    ranked = sorted(scores, key=lambda name: -scores[name].bits)
    best = ranked[0]
    unknowns = {name: as_family(candidates[name], space).count for name in ranked}
    alike = [best]
    for name in ranked[1:]:
        gap, error = scores[best].minus(scores[name])
        if unknowns[name] and np.isfinite(error) and gap < 2 * error:
            alike.append(name)
    chosen = min(alike, key=lambda name: unknowns[name]) if unknowns[best] else best
    bits = f"{_minus(scores[chosen].bits)} bits per held-out transition without any costs"
    how = f"learned from {part}, scored on the rest"
    rival = best if chosen != best else ranked[1]
    gap, error = scores[best].minus(scores[rival if chosen == best else chosen])
    spread = f" ± {error:.3f}" if np.isfinite(error) else ""  # one group alone has none
    if chosen == best:
        words = f"{gap:.3f}{spread} better than {rival}"
    else:
        words = f"simpler than {rival}, which is better by {gap:.3f}{spread}: that could be chance"
    return candidates[chosen], f"{chosen}: {bits}, {words} ({how})"


def candidates_on(space: StateSpace) -> dict[str, Any]:
    """Passive dynamics to choose from, the most general last."""
    found: dict[str, Any] = {"uniform": Uniform()}
    if any(isinstance(axis, Numbered) for axis in space.axes):
        return found
    found["the paper's walk"] = paper_walk(space)
    found[LEARNED] = RandomWalk(tuple(_guess(axis) for axis in space.axes))
    found["a walk of two learned sds"] = WalkMixture()
    if couples(space):
        found["turn-coupled"] = TurnCoupled()
    return found


def _guess(axis: Any) -> Unknown:
    if isinstance(axis, Circular | Folded):
        return Unknown(20.0, 4.0)
    return Unknown(float(axis.widths.sum()) / 10, 4.0)


@dataclass(frozen=True, eq=False)
class Thinning:
    """Which frames are used, every n-th, and why."""

    every: int
    sentence: str


def choose_thinning(tracks: Sequence[Tracks], recipe: Counting) -> Thinning:
    """The least thinning at which a typical step of every angle is half a bin or more.

    Where steps are much smaller than bins, most transitions stay where they were; where in its bin
    an animal is then matters for many frames, and transitions are not independent. Fixes enough
    for a fit are left.
    """
    angles = [part for part in recipe.space.parts if isinstance(part.axis, Circular | Folded)]  # type: ignore[union-attr]
    if not angles:
        return Thinning(1, "")
    some = list(tracks)[:: max(1, len(tracks) // THINNED_GROUPS)]
    for every in LAGS:
        steps = _typical_steps(some, every, replace(recipe, space=StateSpace(*angles)))
        if steps is None or (every > 1 and steps[1] * len(tracks) / len(some) < 2 * FEWEST):
            break
        narrow = steps[0] < LEAST_STEP
        if not narrow:
            if every == 1:
                return Thinning(1, "")
            return Thinning(
                every,
                f"1 in {every}: from one to the next the angles change by {steps[0]:.1f} bins "
                "(median), from frame to frame by less than half a bin; --every 1 uses all frames",
            )
    return Thinning(1, "")


def _typical_steps(
    tracks: Sequence[Tracks], every: int, recipe: Counting
) -> tuple[float, int] | None:
    """The median change of the angle that changes least, in bins, and how many changes there are.

    None where nothing changes at all.
    """
    found: dict[str, list[Any]] = {}
    for whole in tracks:
        group = whole if every == 1 else whole.thin(every)
        if len(group.positions) < 3:
            continue
        scene = recipe.scene(group)
        for part in recipe.space.parts:
            change = np.diff(part.values(scene), axis=0)  # type: ignore[union-attr]
            turned = np.abs(difference(change, 0.0))
            found.setdefault(part.axis.name, []).append(turned[np.isfinite(turned)])  # type: ignore[union-attr]
    sizes = {name: np.concatenate(parts) for name, parts in found.items()}
    if not sizes or min(size.size for size in sizes.values()) == 0:
        return None
    widths = {axis.name: float(axis.widths.max()) for axis in recipe.space.axes}
    typical = [float(np.median(size)) / widths[name] for name, size in sizes.items()]
    return min(typical), min(size.size for size in sizes.values())


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
