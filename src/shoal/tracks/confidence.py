"""Doubtful positions: with a low score, or estimated while an animal was hidden."""

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from shoal.errors import InputError, warn


def without_doubtful(
    places: Float[np.ndarray, "*shape 2"],
    scores: Float[np.ndarray, "*shape"] | None,
    estimated: Bool[np.ndarray, "*shape"] | None,
    *,
    file: Any,
    how: str,
    confidence: float,
    drop_estimated: bool,
) -> tuple[Float[np.ndarray, "*shape 2"], list[str]]:
    """Positions with NaN for the doubtful ones, and sentences on them.

    Parameters
    ----------
    scores
        How sure the tracker is of each position; None if the file has no scores.
    estimated
        Positions that were estimated, not seen; None if the file does not mark them.
    file, how
        For the sentences: "2 of 9 positions in {file} {how}".
    confidence
        Positions with a lower score, or with none, count as not seen; 0 keeps all.
    drop_estimated
        Whether estimated positions count as not seen. If they count as seen, shoal warns.
    """
    seen = np.isfinite(places).all(axis=-1)
    gone = np.zeros_like(seen)
    notes = []
    if confidence > 0:
        if scores is None or not np.isfinite(scores[seen]).any():
            raise no_scores(confidence)
        gone |= seen & ~(scores >= confidence)
        notes.append(
            f"{_share(gone, seen)} in {file} have a score below {confidence:g}, or none, and were "
            "left out"
        )
    if estimated is not None and (seen & estimated & ~gone).any():
        guessed = seen & estimated & ~gone
        words = f"{_share(guessed, seen)} in {file} {how}"
        if drop_estimated:
            gone |= guessed
            notes.append(f"{words}, and were left out")
        else:
            advice = "drop_estimated=True or --drop-estimated leaves them out"
            notes.append(f"{words}, and count as seen: {advice}")
            warn(notes[-1])
    elif estimated is None and drop_estimated:
        warn(not_marked(file))
    return np.where(gone[..., None], np.nan, places), notes


def _share(some: Bool[np.ndarray, "*shape"], seen: Bool[np.ndarray, "*shape"]) -> str:
    """``2 of 9 positions (22.2%)``."""
    part, whole = int(some.sum()), int(seen.sum())
    return f"{part:,} of {whole:,} positions ({part / max(1, whole):.1%})"


def no_scores(confidence: float) -> InputError:
    """The error if a file has no scores."""
    return InputError(
        f"confidence={confidence:g} needs a score for each position, and this file has none: leave "
        "confidence out"
    )


def not_marked(file: Any) -> str:
    """The warning if a file does not mark estimated positions."""
    return f"{file} does not mark positions that the tracker estimated: none were left out"
