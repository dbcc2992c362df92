"""From tracks or plain sequences to counted transitions."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Any, Protocol, overload

import numpy as np

from shoal.errors import InputError
from shoal.inputs import GIVEN
from shoal.states.groups import count_group
from shoal.states.perceiving import (
    NO_HEADING,
    NOT_SEEN,
    warn_of_arena,
    warn_of_mirrored_pairs,
    warn_of_target,
)
from shoal.states.recipe import Counting
from shoal.states.sequences import counted_sequences
from shoal.states.space import StateSpace
from shoal.states.transitions import Transitions
from shoal.system.cluster import Cluster
from shoal.system.progress import Report, reporting
from shoal.tracks import Collection, Tracks

Label = str | int | tuple[str, str]
"""Of a group, or of an animal of it."""


class Opened(Protocol):
    """What ``shoal.open_tracks`` returns: groups that are read one after the other."""

    @property
    def groups(self) -> tuple[str, ...]:
        """Their labels."""
        ...

    def __iter__(self) -> Iterator[Tracks]: ...


Countable = Annotated[
    Tracks | Collection | Opened | Iterable[Tracks] | Iterable[Iterable[int]] | np.ndarray, GIVEN
]
"""Tracks of one group or of several, opened tracks, or sequences of state numbers."""


@overload
def count_transitions(
    tracks: Countable,
    space: StateSpace,
    *,
    lag: int = ...,
    heading_frames: int = ...,
    minimum_step: float = ...,
    tracker_headings: bool = ...,
    by: None = ...,
    cluster: Cluster | None = ...,
    progress: bool | Report | None = ...,
) -> Transitions: ...


@overload
def count_transitions(
    tracks: Countable,
    space: StateSpace,
    *,
    lag: int = ...,
    heading_frames: int = ...,
    minimum_step: float = ...,
    tracker_headings: bool = ...,
    by: str,
    cluster: Cluster | None = ...,
    progress: bool | Report | None = ...,
) -> dict[Label, Transitions]: ...


def count_transitions(  # noqa: PLR0913  (every choice a user has)
    tracks: Countable,
    space: StateSpace,
    *,
    lag: int = 1,
    heading_frames: int = 1,
    minimum_step: float = 0.0,
    tracker_headings: bool = False,
    by: str | None = None,
    cluster: Cluster | None = None,
    progress: bool | Report | None = None,
) -> Transitions | dict[Label, Transitions]:
    """Which state followed which within each animal's track; none across gaps or between animals.

    Parameters
    ----------
    tracks
        Tracks, several Tracks, what ``shoal.open_tracks`` opened, or one sequence of state numbers
        for each animal.
    space
        The states; for tracks made of features such as ``LocalMisalignment()``.
    lag
        Frames between the two states of a transition. The next one begins where it ends: at a lag
        of 5 every fifth frame of a group begins one. Transitions that overlap would tell nearly the
        same several times, and make intervals too short.
    heading_frames, minimum_step, tracker_headings
        How headings are taken: from displacements over this many frames, see
        ``shoal.tracks.headings``, or as the tracker gave them.
    by
        ``"group"`` or ``"individual"`` for a dictionary of counts, by label or by (label, name).
    cluster
        For opened tracks: a number of worker processes, the address of a Dask scheduler, or a Dask
        client; None counts in this process.
    progress
        True for a bar, False for none, None for a bar on a terminal.

    Returns
    -------
    Transitions
        ``arrivals``, ``departures`` and ``pairs``, and what was left out, ``dropped``. With ``by``
        a dictionary of them.

    Examples
    --------
    >>> import shoal
    >>> counts = shoal.count_transitions([[0, 2, 5, 2], [0, 1]], shoal.StateSpace.discrete(6))
    >>> counts.total, counts.arrivals.tolist()
    (4, [0, 1, 2, 0, 0, 1])
    """
    recipe = Counting(space, lag, heading_frames, minimum_step, tracker_headings)
    if by not in (None, "group", "individual"):
        raise InputError(f"by is None, 'group' or 'individual'; got {by!r}")
    if hasattr(tracks, "blocks") and hasattr(tracks, "index"):
        from shoal.states.store import count_store  # noqa: PLC0415  (loads pyarrow)

        recipe.check_features()
        with reporting(progress) as report:
            opened: Any = tracks
            return _settled(count_store(opened, recipe, by, cluster, report), recipe, by)
    first, given = _peeked(tracks)
    if isinstance(first, Tracks):
        recipe.check_features()
        return _settled(_count_groups(given, recipe, by), recipe, by)
    return counted_sequences(given, recipe, by)


def _peeked(tracks: Any) -> tuple[Any, Iterator[Any]]:
    """The first of several, and all of them."""
    if isinstance(tracks, str) or not hasattr(tracks, "__iter__"):
        raise InputError(
            "expected tracks, several tracks, or a sequence of states for each animal; got "
            f"{tracks!r:.60}; read a file with shoal.read_tracks or shoal.open_tracks"
        )
    given = iter(tracks)
    first = next(given, None)

    def everything() -> Iterator[Any]:
        if first is not None:
            yield first
        yield from given

    return first, everything()


def _count_groups(
    given: Iterable[Any], recipe: Counting, by: str | None
) -> Iterator[tuple[Any, Transitions]]:
    """One group after the other; of targets far away and wrong arenas one warning is enough."""
    warned, misplaced, mirrored, rates = False, False, False, set()
    for tracks in given:
        yield from count_group(tracks, recipe, by, records=True)
        scene = recipe.scene(tracks)
        warned = warned or warn_of_target(scene, recipe)
        misplaced = misplaced or warn_of_arena(scene, recipe)
        mirrored = mirrored or warn_of_mirrored_pairs(tracks, recipe)
        rates.add(tracks.fps)
    if len(rates) > 1:
        words = ", ".join("unknown" if rate is None else f"{rate:g}" for rate in rates)
        if None in rates and any(part.axis.name == "speed" for part in recipe.space.parts):  # type: ignore[union-attr]
            raise InputError(f"speeds need the frame rate of every group; they are {words}")
        warnings.warn(
            f"groups have different frame rates ({words}): a transition takes different times",
            UserWarning,
            stacklevel=2,
        )


def _settled(
    parts: Iterable[tuple[Any, Transitions]], recipe: Counting, by: str | None
) -> Transitions | dict[Any, Transitions]:
    """The sum, or a dictionary; nothing at all is an error that says why."""
    apart: dict[Any, Transitions] = {}
    total = Transitions.summed(_kept(parts, apart, by), recipe.space)
    if not total.total:
        _explain_nothing(total, recipe)
    if by is None:
        return replace(total, lag=int(recipe.lag))
    return {label: replace(part, lag=int(recipe.lag)) for label, part in apart.items()}


def _kept(
    parts: Iterable[tuple[Any, Transitions]], apart: dict[Any, Transitions], by: str | None
) -> Iterator[Transitions]:
    for label, counted in parts:
        if by is not None:
            apart[label] = apart[label] + counted if label in apart else counted
        yield counted


def _explain_nothing(total: Transitions, recipe: Counting) -> None:
    seen = total.fixes - total.dropped.get(NOT_SEEN, 0)
    if seen and total.dropped.get(NO_HEADING, 0) >= seen:
        raise InputError(
            f"all headings are undefined: no animal moves more than {recipe.minimum_step:g} in "
            f"{recipe.heading_frames} frame(s) while it is seen; lower the minimum step or thin "
            "the tracks"
        )
    lost = ", ".join(f"{count} {reason}" for reason, count in total.dropped.items() if count)
    raise InputError(
        f"there is no transition at a lag of {recipe.lag} among {total.fixes} fixes ({lost})"
    )
