"""The moves that replayed animals had: where each would lead, and how likely it was.

Moves, decided states and chances come from the code that fits use: ``shoal.decisions`` and the
weights of passive moves, with costs and passive moves at their posterior means.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from shoal.errors import InputError
from shoal.moves import Decisions, MoveFamily, decisions
from shoal.moves.passive import weights_at
from shoal.posterior import DecisionFit
from shoal.report.packing import packed
from shoal.tracks import Tracks

BYTES = 1_200_000
"""Of all moves in a page, before they are written as text."""
READ = 24_000
"""Decisions that are read for a page at most."""


@dataclass(frozen=True, eq=False)
class Fans:
    """Decisions of one group, with the chance of each candidate move.

    Attributes
    ----------
    read
        The decisions.
    animal, frame
        Whose each was, by its place among the members, and when, in the frames shown.
    chance, passive
        Of every candidate, with costs and by passive moves alone; either adds up to 1.
    """

    read: Decisions
    animal: Int[np.ndarray, " n"]
    frame: Int[np.ndarray, " n"]
    chance: Float[np.ndarray, "n k"]
    passive: Float[np.ndarray, "n k"]

    def contents(self, budget: int) -> dict[str, Any]:
        """For the page: the animals with most decisions, as many as the budget of bytes allows."""
        each = 2 * self.chance.shape[1] + 40
        budget -= 8 * self.read.quadrature.turn.size
        counts = np.bincount(self.animal)
        kept = np.zeros(len(self.animal), dtype=bool)
        for animal in np.argsort(-counts, kind="stable"):
            left = budget // each - int(kept.sum())
            rows = np.flatnonzero(self.animal == animal)[: max(left, 0)]
            kept[rows] = True
        read = self.read.take(kept)
        spread = read.quadrature
        steps = expected = None
        if spread.log_step is not None:
            steps = packed(spread.log_step.T)
            before = np.log(read.step_before / read.pace)
            expected = packed(spread.expected_log_step(before) + np.log(read.pace))
        return {
            "turn": packed(spread.turn.T),
            "set": packed(read.which, "i4"),
            "persistence": spread.persistence,
            "animal": packed(self.animal[kept], "i4"),
            "frame": packed(self.frame[kept], "i4"),
            "before": packed(read.turn_before),
            "made": packed(np.stack([read.turn, read.step], axis=1)),
            "steps": steps,
            "expected": expected,
            **_bytes("chance", self.chance[kept]),
            **_bytes("passive", self.passive[kept]),
        }


def _bytes(name: str, chance: Float[np.ndarray, "n k"]) -> dict[str, Any]:
    """Chances as bytes: the square root of each over the largest of its row."""
    most = chance.max(axis=1, initial=1e-300)
    share = np.rint(255 * np.sqrt(chance / most[:, None]))
    return {name: packed(share, "u1"), f"{name}_most": packed(most)}


def fans_of(fit: DecisionFit, tracks: Tracks, shown: slice, **reading: Any) -> Fans | None:
    """The decisions in the frames that a page shows; None where there is none.

    Parameters
    ----------
    fit, tracks
        The fit, and one group with all its frames.
    shown
        Which frames the page shows.
    reading
        How headings are taken, as in ``shoal.decisions``.
    """
    first = max(0, shown.start - 2)
    most = max(3, READ // max(1, len(tracks.members)))
    cut = Tracks(tracks.data.isel(time=slice(first, min(shown.stop + 2, first + most))))
    try:
        read = decisions(cut, fit.model.space, fit.model.passive, progress=False, **reading)
    except InputError:
        return None
    frame = read.records.frame + first - shown.start
    inside = (frame >= 0) & (frame < shown.stop - shown.start)
    if not inside.any():
        return None
    read, frame = read.take(inside), frame[inside]
    names = list(tracks.members)
    who = np.array([names.index(name) for _, name in read.records.individuals])
    return Fans(read, who[read.records.individual], frame, *chances(fit, read))


def chances(
    fit: DecisionFit, read: Decisions
) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "n k"]]:
    """The chance of every candidate, p̄ e^{−q} over its sum, and that of passive moves alone."""
    family = MoveFamily.of(fit.model.passive, read.places, read.candidates_for(fit.model.passive))
    u = np.asarray(fit.passive_unknowns).mean(axis=0)
    weights = np.asarray(weights_at(family, u)).T
    weights = np.broadcast_to(weights, read.states.shape)
    passive = weights / weights.sum(axis=1, keepdims=True)
    q = read.on_places(fit.sampled.values.mean(axis=(0, 1)).ravel())
    wanted = passive * np.exp(q[read.states].min(axis=1, keepdims=True) - q[read.states])
    return wanted / wanted.sum(axis=1, keepdims=True), passive
