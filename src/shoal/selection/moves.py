"""From tracks to decisions: which moves, which frames, how others are seen, how many candidates."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from shoal.basis import Smooth
from shoal.errors import InputError
from shoal.moves import Decisions, Steps, Turns, decisions
from shoal.moves.specification import OTHERS
from shoal.posterior import Fit, Model
from shoal.posterior.decision_diagnostics import CORRELATED, ROUGH, thinning_against_noise
from shoal.posterior.decision_fit import DecisionScore
from shoal.states import Circular, StateSpace
from shoal.states.scene import needs_neighbours
from shoal.system.progress import Report
from shoal.tracks import Collection, Tracks

CANDIDATES, MOST_CANDIDATES = 64, 512
LARGEST = 20_000_000
"""Candidates of all decisions together, up to which more are taken to be more exact."""

ROUNDS = 3
"""How often frames are left out again where turns still go opposite ways."""

FEWEST = 400
"""Decisions that thinning leaves."""

LEARNED_FROM, SCORED_ON = 4000, 4000
"""Decisions of a quick fit, by which choices are made."""

JUDGED = 6000
"""Decisions by which candidates are judged; of more, so many drawn at random."""

COARSE = 12
"""Bins of an angle in a quick fit."""


@dataclass(frozen=True, eq=False)
class DecisionChoice:
    """What an animal can choose in these tracks, which frames are used, and why.

    Attributes
    ----------
    every, moves
        Every n-th frame, and the moves with their number of candidates.
    sentences
        Why, by what was chosen: ``moves``, ``frames``, ``others``, ``candidates``.
    scores
        Of held-out decisions, by how others are seen.
    data, fit
        Where they were made on the way.
    """

    every: int
    moves: Turns
    sentences: dict[str, str] = field(default_factory=dict)
    scores: dict[str, DecisionScore] = field(default_factory=dict)
    data: Decisions | None = None
    fit: Fit | None = None


@dataclass(frozen=True, eq=False)
class Chooser:
    """Makes the choices that are left to the tracks.

    Attributes
    ----------
    tracks
        All frames.
    space_of
        The states of tracks, whose bins may depend on them.
    headings
        How headings are taken: the options of ``shoal.decisions``.
    fitted
        A fit of decisions; its diagnostics decide.
    every, candidates, others, persistence
        0, 0, ``auto`` and ``auto`` where they are left to the tracks.
    """

    tracks: Any
    space_of: Callable[[Any], StateSpace]
    headings: dict[str, Any]
    fitted: Callable[[Decisions], Fit]
    every: int
    candidates: int
    others: str
    persistence: str
    report: Report
    tried: dict[Any, tuple[Fit, DecisionScore] | None] = field(default_factory=dict)

    def choose(self, moves: Turns, sentences: dict[str, str]) -> DecisionChoice:
        """Frames and others by quick fits, then candidates by a fit to all decisions."""
        choice = DecisionChoice(self.every or 1, moves, sentences)
        if not self.every:
            choice = self._thinned(choice)
        if isinstance(moves, Steps) and self.others == "auto":
            choice = self._seen(choice)
        if self.persistence == "auto":
            choice = self._persisting(choice)
        if self.every and self.candidates:
            return choice
        return self._settled(choice)

    def read(self, tracks: Any, moves: Turns, space: StateSpace | None = None) -> Decisions:
        """Decisions on the states of these tracks."""
        states = space or self.space_of(tracks)
        return decisions(tracks, states, moves, progress=False, **self.headings)

    def _thinned(self, choice: DecisionChoice) -> DecisionChoice:
        """Fewer frames, as long as errors of measurement show in the turns of a quick fit."""
        for number in range(ROUNDS):
            self.report("choosing frames", number, ROUNDS)
            pilot = self._pilot(choice.every, choice.moves)
            if pilot is None:
                break
            wanted = self._next(choice, pilot[0])
            if wanted is None:
                break
            choice = self._with_frames(choice, wanted, pilot[0])
        self.report("choosing frames", ROUNDS, ROUNDS)
        return choice

    def _next(self, choice: DecisionChoice, fit: Fit) -> int | None:
        """The thinning that errors of measurement ask for; None where they do not matter."""
        together = float(fit.facts["turn_correlation"])
        if choice.moves.persistence != 0 or not together < -CORRELATED:
            return None
        every = choice.every * thinning_against_noise(together)
        left = sum(part.positions.shape[0] // every * len(part.members) for part in self.tracks)
        return every if left >= FEWEST else None

    def _with_frames(self, choice: DecisionChoice, every: int, fit: Fit) -> DecisionChoice:
        together = float(fit.facts["turn_correlation"])
        before = "all frames" if choice.every == 1 else f"1 frame in {choice.every}"
        words = (
            f"1 in {every}: with {before} successive turns go opposite ways (correlation "
            f"{together:.2f}), as errors of measurement make them; --every 1 uses all frames"
        ).replace("-0.", "−0.")
        return replace(choice, every=every, sentences=choice.sentences | {"frames": words})

    def _seen(self, choice: DecisionChoice) -> DecisionChoice:
        """Others where they are, or where going straight on leads them: what scores better."""
        assert isinstance(choice.moves, Steps)
        parts: Any = self.space_of(self.tracks).parts
        names = {name for part in self.tracks for name in part.members}
        if not any(needs_neighbours(p) or getattr(p, "target", None) in names for p in parts):
            return choice
        found: dict[str, DecisionScore] = {}
        for number, word in enumerate(OTHERS):
            self.report("choosing how others are seen", number, len(OTHERS))
            pilot = self._pilot(choice.every, replace(choice.moves, others=word))
            if pilot is None:
                why = "still: there are too few decisions to hold some out"
                return replace(choice, sentences=choice.sentences | {"others": why})
            found[word] = pilot[1]
        self.report("choosing how others are seen", len(OTHERS), len(OTHERS))
        best, rest = sorted(OTHERS, key=lambda word: -found[word].gain[0])
        sentence = (
            f"{best}: {_gain(found[best])} per held-out decision, {rest} {_gain(found[rest])}"
        )
        moves = replace(choice.moves, others=best)
        told = choice.sentences | {"others": sentence}
        return replace(choice, moves=moves, sentences=told, scores=found)

    def _persisting(self, choice: DecisionChoice) -> DecisionChoice:
        """Turns that go on as they were, where costs do not explain that they do.

        How much is learned with the costs of a quick fit, once, so that decisions can share
        candidates.
        """
        pilot = self._pilot(choice.every, choice.moves)
        if pilot is None or choice.moves.every is not None:
            return choice
        together = float(pilot[0].facts["turn_correlation"])
        if not together > CORRELATED:
            return choice
        more = self._pilot(choice.every, replace(choice.moves, persistence=True))
        if more is None or more[1].bits <= pilot[1].bits:
            return choice
        kept = round(float(more[0].passive.persistence), 3)
        sentence = (
            f"{kept:g}: successive turns go the same way, more than costs explain (correlation "
            f"{together:.2f}); {more[1].bits - pilot[1].bits:.3f} bits better per held-out decision"
        )
        told = choice.sentences | {"persistence": sentence}
        return replace(choice, moves=replace(choice.moves, persistence=kept), sentences=told)

    def _pilot(self, every: int, moves: Turns) -> tuple[Fit, DecisionScore] | None:
        """What a quick fit finds, once."""
        if (every, moves) not in self.tried:
            self.tried[every, moves] = self._quick_fit(every, moves)
        return self.tried[every, moves]

    def _quick_fit(self, every: int, moves: Turns) -> tuple[Fit, DecisionScore] | None:
        """A quick fit to some decisions, in coarse bins, and its score on others.

        None where there are too few of them.
        """
        try:
            some = _part_of(list(self.tracks), every)
            found = self.read(some, moves, _coarse(self.space_of(some)))
            groups = len(found.records.groups) >= 3
            seen, held = found.split_groups(2 / 3) if groups else found.split_time(2 / 3)
            if min(seen.total, held.total) < FEWEST // 4:
                return None
            fit = _most_probable(_some(seen, LEARNED_FROM))
            score: Any = fit.score(_some(held, SCORED_ON))
        except InputError:  # all of the tracks will say it better
            return None
        return fit, score

    def _settled(self, choice: DecisionChoice) -> DecisionChoice:
        """Candidates and frames after which a fit has nothing against them.

        Of many decisions some are fitted, by map: errors of candidates are the same, and standard
        deviations are larger by the root of how many were left out.
        """
        for left in reversed(range(2 * ROUNDS)):
            tracks = thinned(self.tracks, choice.every)
            data = self.read(tracks, choice.moves)
            whole = data.total <= JUDGED
            fit = self.fitted(data) if whole else _most_probable(_some(data, JUDGED))
            choice = replace(choice, data=data, fit=fit if whole else None)
            if not left:  # what is chosen now would not be fitted again
                break
            wanted = None if self.every else self._next(choice, fit)
            if wanted is not None:
                choice = self._with_frames(choice, wanted, fit)
                continue
            more = None if self.candidates else self._more(choice, fit)
            if more is None:
                break
            moves = replace(choice.moves, candidates=more[0])
            choice = replace(
                choice, moves=moves, sentences=choice.sentences | {"candidates": more[1]}
            )
        return choice

    def _more(self, choice: DecisionChoice, fit: Fit) -> tuple[int, str] | None:
        """More candidates where costs would move with fewer; the error falls with their number."""
        assert choice.data is not None
        count, total = int(choice.moves.candidates), choice.data.total
        shift = float(fit.facts["quadrature_shift"]) * math.sqrt(max(1.0, total / JUDGED))
        if not shift > ROUGH or count >= MOST_CANDIDATES or choice.moves.every is not None:
            return None
        more = count * 2 ** math.ceil(math.log2(shift / ROUGH))
        while more > count and shift <= 1 and more * choice.data.total > LARGEST:
            more //= 2
        more = min(more, MOST_CANDIDATES)
        if more == count:
            return None
        words = (
            f"{more}: with half of {count} a cost would move by {shift:.2f} of its standard "
            "deviation"
        )
        return more, words


def thinned(tracks: Any, every: int) -> Any:
    """Every n-th frame."""
    return tracks if every == 1 else tracks.thin(every)


def _gain(score: DecisionScore) -> str:
    gain, error = score.gain
    spread = f" ± {error:.3f}" if np.isfinite(error) else ""
    return f"{gain:+.3f}{spread} bits over passive moves".replace("-", "−")


def _part_of(groups: Sequence[Tracks], every: int) -> Collection:
    """Enough of the tracks for a quick fit: some groups, and of each some frames in a row."""
    some = list(groups)[:: max(1, len(groups) // 12)][:12]
    animals = sum(len(part.members) for part in some)
    frames = max(30, math.ceil(3 * (LEARNED_FROM + SCORED_ON) / animals)) * every
    found = []
    for part in some:
        first = max(0, (len(part.positions) - frames) // 2)
        cut = Tracks(part.data.isel(time=slice(first, first + frames)))
        found.append(thinned(cut, every))
    return Collection([part for part in found if len(part.positions) >= 3])


def _some(found: Decisions, count: int) -> Decisions:
    """As many, drawn with seed 0."""
    if found.total <= count:
        return found
    rows = np.random.default_rng(0).choice(found.total, count, replace=False)
    return found.take(np.sort(rows))


def _most_probable(found: Decisions) -> Fit:
    """The quickest fit."""
    return Model(found.space, found.moves, Smooth()).fit(found, "map", progress=False)


def _coarse(space: StateSpace) -> StateSpace:
    """The same features, angles in few bins."""
    parts: Any = space.parts
    return StateSpace(
        *(
            replace(part, bins=COARSE)
            if isinstance(part.axis, Circular) and getattr(part, "bins", 0) > COARSE
            else part
            for part in parts
        )
    )
