"""From tracks or plain sequences to counted transitions."""

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from shoal.errors import InputError
from shoal.states.space import StateSpace
from shoal.states.transitions import Transitions, checked_states
from shoal.tracks import Tracks


@runtime_checkable
class Feature(Protocol):
    """Something an animal perceives, as a number for every animal in every frame."""

    def values(
        self,
        positions: Float[np.ndarray, "time individuals 2"],
        headings: Float[np.ndarray, "time individuals"],
    ) -> Float[np.ndarray, "time individuals"]:
        """The values; NaN where there is none."""
        ...


def count_transitions(
    tracks: Tracks | Iterable[Any],
    space: StateSpace,
    *,
    lag: int = 1,
    heading_frames: int = 1,
    minimum_step: float = 0.0,
) -> Transitions:
    """Which state followed which within each animal's track; none across gaps or between animals.

    Parameters
    ----------
    tracks
        Tracks, several Tracks, or one sequence of state numbers per animal.
    space
        The states; for tracks made of features such as ``LocalMisalignment()``.
    lag
        Frames between the two states of a transition.
    heading_frames, minimum_step
        How headings are taken from displacements, see ``shoal.headings``; for tracks alone.

    Examples
    --------
    >>> import shoal
    >>> counts = shoal.count_transitions([[0, 2, 5, 2], [0, 1]], shoal.StateSpace.discrete(6))
    >>> counts.total, counts.arrivals.tolist()
    (4, [0, 1, 2, 0, 0, 1])
    """
    if not hasattr(lag, "__index__") or lag < 1:
        raise InputError(f"a lag is a whole number of frames, 1 or more; got {lag!r}")
    given: list[Any] = [tracks] if isinstance(tracks, Tracks) else list(tracks)
    if any(isinstance(part, Tracks) for part in given):
        if not all(isinstance(part, Tracks) for part in given):
            raise InputError("tracks and plain sequences of states cannot be counted together")
        rows: list[Any] = []
        dropped = dict.fromkeys(space.names, 0)
        for part in given:
            states, lost = track_states(part, space, heading_frames, minimum_step)
            rows.extend(states.T)
            dropped = {name: dropped[name] + lost[name] for name in dropped}
        return _counted(rows, space, lag, dropped)
    for sequence in given:
        if not hasattr(sequence, "__iter__") or isinstance(sequence, str):
            raise InputError(
                "expected one sequence of states for each animal, such as [[0, 2, 5], [1, 1]]; "
                f"got {sequence!r} where a sequence should be"
            )
    return _counted([checked_states(sequence, space) for sequence in given], space, lag, {})


def track_states(
    tracks: Tracks, space: StateSpace, heading_frames: int = 1, minimum_step: float = 0.0
) -> tuple[Int[np.ndarray, "time individuals"], dict[str, int]]:
    """The state of every animal in every frame, −1 where it has none; how many lack each value."""
    for part in space.parts:
        if not isinstance(part, Feature):
            raise InputError(
                f"states of tracks need features such as LocalMisalignment(), and {part!r} is a "
                "bare axis"
            )
    angles = tracks.headings(heading_frames, minimum_step)
    values = [part.values(tracks.positions, angles) for part in space.parts]  # type: ignore[union-attr]
    states, missing = space.locate(*values)
    lost = {name: int(gone.sum()) for name, gone in zip(space.names, missing, strict=True)}
    return states, lost


def _counted(
    rows: list[Int[np.ndarray, " _"]], space: StateSpace, lag: int, dropped: dict[str, int]
) -> Transitions:
    """Pairs at this lag, both states known."""
    empty = np.empty(0, dtype=int)
    start = np.concatenate([empty, *(row[:-lag] for row in rows)])
    end = np.concatenate([empty, *(row[lag:] for row in rows)])
    both = (start >= 0) & (end >= 0)
    return Transitions.from_pairs(start[both], end[both], space, dropped=dropped)
