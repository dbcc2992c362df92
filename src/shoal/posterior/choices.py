"""What animals choose, in sentences with numbers: nothing that the draws do not support.

Every sentence rests on differences of q that decisions can tell, other features equal. All of them
are looked at together: intervals are so wide that they hold all differences at once with a
probability of 95 %. A place on an axis may then be named after looking at all places.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float, Int

from shoal.basis import Flat
from shoal.posterior.choice_words import (
    AngleWords,
    ScaleWords,
    bin_ends,
    edge_words,
    range_words,
    words_of,
)
from shoal.posterior.preferences import Band, Preference, preferences
from shoal.states import Axis

if TYPE_CHECKING:
    from shoal.posterior.decision_fit import DecisionFit

ZONES = ((0.0, 30.0), (60.0, 120.0), (150.0, 180.0))
"""Degrees from straight ahead, on either side: near, middle and far."""

Weights = Float[np.ndarray, "n cells"]


@dataclass(frozen=True)
class Statement:
    """One thing that animals do, or are not shown to do.

    Attributes
    ----------
    key
        The question: ``align``, ``turn-towards``, ``distance`` and so on.
    axes
        The names of the axes it is about.
    estimate
        In nats, positive where animals do what ``claim`` says, or would say.
    interval
        Its 95 % interval, which holds together with those of all other sentences; None where there
        is one answer only.
    probability
        That the estimate is positive, by itself; None where there is one answer only.
    supported
        Whether the whole interval lies on one side of 0.
    claim
        What animals do, to follow "they"; empty where nothing is shown.
    sentence
        The same with its numbers.
    """

    key: str
    axes: tuple[str, ...]
    estimate: float
    interval: tuple[float, float] | None
    probability: float | None
    supported: bool
    claim: str
    sentence: str


@dataclass(frozen=True, eq=False)
class _Question:
    """Differences of one preference, and how to speak of them when their band is known."""

    part: Preference
    weights: Weights
    say: Callable[[Band], list[Statement]]


def statements(fit: "DecisionFit") -> list[Statement]:
    """What animals choose, feature by feature."""
    if isinstance(fit.model.basis, Flat):
        return []
    space = fit.model.space
    count = len(space.axes)
    words = [words_of(space, place) for place in range(count)]
    singles = preferences(fit, [(place,) for place in range(count)])
    asked: list[_Question] = []
    for place, (part, word) in enumerate(zip(singles, words, strict=True)):
        if isinstance(word, AngleWords):
            asked.append(_angle_question(fit, place, part, word))
        else:
            asked.append(_scale_question(fit, place, part, word))
    for distance, angle in places_around(fit):
        asked.append(_turning_question(fit, distance, angle))
    bands = _bands([question.part.summed(question.weights) for question in asked])
    return [
        said
        for question, band in zip(asked, bands, strict=True)
        for said in question.say(band)
    ]  # fmt: skip


def places_around(fit: "DecisionFit") -> list[tuple[int, int]]:
    """Pairs of axes that say where one thing is: its distance, and its angle."""
    space = fit.model.space
    words = [words_of(space, place) for place in range(len(space.axes))]
    return [
        (far, angle)
        for far, one in enumerate(words)
        for angle, other in enumerate(words)
        if isinstance(one, ScaleWords) and isinstance(other, AngleWords)
        and one.thing and one.thing == other.thing
    ]  # fmt: skip


def _bands(draws: Sequence[Float[np.ndarray, "draws _"]]) -> list[Band]:
    """One band over all differences, taken apart again."""
    whole = Band.of(np.concatenate(draws, axis=1))
    ends = np.cumsum([part.shape[1] for part in draws])[:-1]
    columns = [
        np.split(getattr(whole, name), ends)
        for name in ("mean", "sd", "lower", "upper", "probability")
    ]
    return [Band(*each) for each in zip(*columns, strict=True)]


# --- angles -------------------------------------------------------------------------------------


def _zones(axis: Axis, known: Bool[np.ndarray, " bins"]) -> Float[np.ndarray, "3 bins"]:
    """Means over the bins near, middle and far from 0°; NaN where nobody decided for one."""
    away = np.abs(axis.centres)
    inside = np.stack([(away >= low - 1e-6) & (away <= high + 1e-6) for low, high in ZONES]) & known
    with np.errstate(invalid="ignore"):
        return np.asarray(inside / inside.sum(axis=1, keepdims=True))


def _angle_question(
    fit: "DecisionFit", place: int, part: Preference, words: AngleWords
) -> _Question:
    near, middle, far = _zones(fit.model.space.axes[place], part.known)
    each = np.stack([middle - near, far - near, far - middle])
    told = np.isfinite(each).all(axis=1)
    told[told] = part.can_tell(each[told])
    which = np.flatnonzero(told)
    pairs = ((words.near, words.middle), (words.near, words.far), (words.middle, words.far))

    def say(band: Band) -> list[Statement]:
        name = fit.model.space.names[place]
        if not which.size:
            return [_unknown(fit, words, (name,))]
        sign = np.zeros(3, dtype=int)
        sign[which] = band.sign
        claim, shown = _angle_claim(words, sign)
        at = int(np.flatnonzero(which == shown)[0]) if shown in which else 0
        sentence = _against(fit, *pairs[which[at]], band, at)
        return [_statement(words, (name,), band, at, claim, sentence)]

    return _Question(part, each[told], say)


def _angle_claim(words: AngleWords, sign: Int[np.ndarray, " 3"]) -> tuple[str, int]:
    """What is preferred, and which difference shows it: middle − near, far − near, far − middle."""
    beside, behind, rest = (int(one) for one in sign)
    if beside > 0 and (rest < 0 or behind < 0):  # both ends may be liked better than the middle
        if behind:
            return (words.towards if behind > 0 else words.away), 1
        return words.along, 0
    if beside > 0 or (beside == 0 and behind > 0):
        return words.towards, 0 if beside else 1
    if beside < 0 and rest > 0:
        return words.beside, 0
    if beside < 0 or behind < 0:
        return words.away, 0 if beside else 1
    return "", 0


# --- distances and other numbers ----------------------------------------------------------------


def _thirds(counts: Int[np.ndarray, " bins"]) -> list[Int[np.ndarray, " own"]]:
    """Bins with the lowest, middle and highest third of all decisions, as nearly as bins allow."""
    share = (np.cumsum(counts) - counts / 2) / counts.sum()
    there = counts > 0
    return [np.flatnonzero(there & (share > n / 3) & (share <= (n + 1) / 3)) for n in range(3)]


def _scale_question(
    fit: "DecisionFit", place: int, part: Preference, words: ScaleWords
) -> _Question:
    axis, name = fit.model.space.axes[place], fit.model.space.names[place]
    known = np.flatnonzero(part.known)
    one, other = np.triu_indices(known.size, 1)
    pairs = np.zeros((one.size, axis.size))
    pairs[np.arange(one.size), known[other]] = 1.0
    pairs[np.arange(one.size), known[one]] = -1.0
    thirds = [bins for bins in _thirds(part.arrivals) if bins.size]
    zones = np.zeros((len(thirds), axis.size))
    for row, bins in zip(zones, thirds, strict=True):
        row[bins] = part.arrivals[bins] / part.arrivals[bins].sum()
    low, high = np.triu_indices(len(thirds), 1)
    each = np.concatenate([zones[high] - zones[low], pairs])
    # from, to: the bins that are compared
    ends = [(thirds[a], thirds[b]) for a, b in zip(low, high, strict=True)]
    ends += [(known[[a]], known[[b]]) for a, b in zip(one, other, strict=True)]
    told = part.can_tell(each)
    ends = [pair for pair, fine in zip(ends, told, strict=True) if fine]

    def say(band: Band) -> list[Statement]:
        if not ends:
            return [_unknown(fit, words, (name,))]
        nearer, farther = _wanted(axis.size, ends, band)
        found = []
        for claimed, verb, sign in ((nearer, words.less, 1), (farther, words.more, -1)):
            if claimed.any():
                at = _clearest(ends, band, sign)
                claim = f"{verb} {_where(words, axis, claimed, part.known)}"
                sentence = _ends_against(fit, words, axis, ends[at], band, at)
                found.append(_statement(words, (name,), band, at, claim, sentence, sign))
        if not found:
            at = _widest(ends)
            sentence = _ends_against(fit, words, axis, ends[at], band, at)
            return [_statement(words, (name,), band, at, "", sentence)]
        return found

    return _Question(part, each[told], say)


def _wanted(
    size: int, ends: Sequence[tuple[Any, Any]], band: Band
) -> tuple[Bool[np.ndarray, " bins"], Bool[np.ndarray, " bins"]]:
    """Bins from which animals would rather have less, and those from which they want more.

    From a bin that is dearer than some lower one an animal prefers less; from one that is dearer
    than some higher one, more. Where both hold the bin is a ridge, and nothing is said of it.
    """
    less, more = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    for (low, high), sign in zip(ends, band.sign, strict=True):
        if low.size == high.size == 1:
            less[high] |= sign > 0
            more[low] |= sign < 0
    return less & ~more, more & ~less


def _clearest(ends: Sequence[tuple[Any, Any]], band: Band, sign: int) -> int:
    """The difference that shows a claim best: one of thirds if any does, else one of bins."""
    clear = np.where(band.sign == sign, np.abs(band.mean) / np.maximum(band.sd, 1e-12), -1.0)
    thirds = np.array([low.size + high.size > 2 for low, high in ends])
    among = thirds if (clear[thirds] > 0).any() else np.ones(len(ends), dtype=bool)
    return int(np.argmax(np.where(among, clear, -2.0)))


def _widest(ends: Sequence[tuple[Any, Any]]) -> int:
    """The lowest against the highest bins."""
    apart = [high.mean() - low.mean() if low.size + high.size > 2 else 0.0 for low, high in ends]
    if not any(apart):
        apart = [high.mean() - low.mean() for low, high in ends]
    return int(np.argmax(apart))


def _where(
    words: ScaleWords,
    axis: Axis,
    claimed: Bool[np.ndarray, " bins"],
    known: Bool[np.ndarray, " bins"],
) -> str:
    """Bins in words, run by run."""
    seen = np.flatnonzero(known)
    runs: list[list[int]] = []
    for place, which in enumerate(seen):
        if not claimed[which]:
            continue
        if runs and place and seen[place - 1] == runs[-1][-1]:
            runs[-1].append(int(which))
        else:
            runs.append([int(which)])
    parts = []
    for run in runs:
        low, high = bin_ends(axis, run[0])[0], bin_ends(axis, run[-1])[1]
        first, last = run[0] == seen[0], run[-1] == seen[-1]
        form = words.within if first and not last else words.beyond if last else words.between
        if form is words.between:
            parts.append(form.format(f"{low:.6g}", edge_words(axis, high)))
        else:
            parts.append(form.format(edge_words(axis, low if form is words.beyond else high)))
    return " and ".join(parts)


def _ends_against(
    fit: "DecisionFit", words: ScaleWords, axis: Axis, pair: tuple[Any, Any], band: Band, at: int
) -> str:
    low, high = (words.ends.format(range_words(axis, int(bins[0]), int(bins[-1]))) for bins in pair)
    return _against(fit, low, high, band, at)


# --- turning towards something, by its distance ---------------------------------------------------


def _turning_question(fit: "DecisionFit", distance: int, angle: int) -> _Question:
    """Whether animals turn to have something ahead rather than behind, at every distance."""
    space = fit.model.space
    far, round_ = space.axes[distance], space.axes[angle]
    others = [(n,) for n in range(len(space.axes)) if n not in (distance, angle)]
    part = preferences(fit, [(distance, angle), *others])[0]
    away = np.abs(round_.centres)
    known = part.arrivals > 0
    ahead, behind = known & (away < 90 - 1e-6), known & (away > 90 + 1e-6)
    both = ahead.any(axis=1) & behind.any(axis=1)
    rows = np.flatnonzero(both)
    each = np.zeros((rows.size, *part.shape))
    for row, bin_ in enumerate(rows):
        each[row, bin_] = behind[bin_] / behind[bin_].sum() - ahead[bin_] / ahead[bin_].sum()
    flat = each.reshape(rows.size, known.size)
    told = part.can_tell(flat)
    rows = rows[told]
    words, facing = words_of(space, distance), words_of(space, angle)
    assert isinstance(words, ScaleWords) and isinstance(facing, AngleWords)
    thing = facing.thing

    def say(band: Band) -> list[Statement]:
        sign = np.zeros(far.size, dtype=int)
        sign[rows] = band.sign
        if rows.size < 2 or (sign[rows] == sign[rows][0]).all():
            return []  # the same at every distance: the angle's own sentence says it
        found = []
        for claimed, verb, way in ((sign > 0, "turn towards", 1), (sign < 0, "turn away from", -1)):
            if not claimed.any():
                continue
            some = np.isin(rows, np.flatnonzero(claimed))
            clear = np.where(some, np.abs(band.mean) / np.maximum(band.sd, 1e-12), -1.0)
            at = int(np.argmax(clear))
            where = range_words(far, int(rows[at]), int(rows[at]))
            seen = np.isin(np.arange(far.size), rows)
            ends = (f"with {thing} ahead", f"with {thing} behind")
            numbers = f"where it is {where} away, {_against(fit, *ends, band, at)}"
            claim = f"{verb} {_where(words, far, claimed, seen)}"
            names = (space.names[angle], space.names[distance])
            found.append(_statement(facing, names, band, at, claim, numbers, way))
        return found

    return _Question(part, flat[told], say)


# --- words --------------------------------------------------------------------------------------


def _statement(
    words: AngleWords | ScaleWords,
    axes: tuple[str, ...],
    band: Band,
    at: int,
    claim: str,
    numbers: str,
    sign: int = 1,
) -> Statement:
    """From a difference and what it shows; an estimate is positive where animals do as claimed."""
    several = bool(np.isfinite(band.lower[at]))
    if claim and isinstance(words, AngleWords) and len(axes) == 1:
        sign = 1 if band.mean[at] > 0 else -1
    estimate = sign * float(band.mean[at])
    ends = sorted((sign * float(band.lower[at]), sign * float(band.upper[at])))
    chance = float(band.probability[at])
    if claim:
        sentence = f"They {claim}: {numbers}"
    elif several:
        sentence = f"These tracks do not show a preference for {words.about}: {numbers}"
    else:
        sentence = f"At the most probable costs, {numbers}"
    return Statement(
        words.key,
        axes,
        estimate,
        (ends[0], ends[1]) if several else None,
        (chance if sign > 0 else 1 - chance) if several else None,
        bool(claim),
        claim,
        sentence,
    )


def _against(fit: "DecisionFit", one: str, other: str, band: Band, at: int) -> str:
    """How often one of two equally likely moves is made, from the difference of their costs."""
    kind = "moves" if fit.model.passive.steps else "turns"
    share = [f"{_percent(v)}" for v in (band.mean[at], band.lower[at], band.upper[at])]
    spread = f" [{share[1]}, {share[2]}]" if np.isfinite(band.lower[at]) else ""
    return (
        f"of two equally likely {kind}, one that ends {one} is made {share[0]} %{spread} of the "
        f"time against one that ends {other}."
    )


def _percent(difference: float) -> str:
    if not np.isfinite(difference):
        return "–"
    share = 100 / (1 + np.exp(-np.clip(difference, -700, 700)))
    return f"{share:.0f}" if 1 <= share <= 99 else ("> 99" if share > 99 else "< 1")


def _unknown(
    fit: "DecisionFit", words: AngleWords | ScaleWords, axes: tuple[str, ...]
) -> Statement:
    """Where no decision compares anything of a feature."""
    because = "no turn changes it" if not fit.model.passive.steps else "no decisions compare it"
    sentence = f"Nothing can be known of a preference for {words.about}: {because}."
    return Statement(words.key, axes, float("nan"), None, None, False, "", sentence)
