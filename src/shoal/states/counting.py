"""From tracks or plain sequences to counted transitions."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from shoal.errors import InputError
from shoal.progress import Report, reporting
from shoal.states.scene import Feature, Scene, needs_neighbours
from shoal.states.space import StateSpace
from shoal.states.targets import outside
from shoal.states.transitions import Transitions, checked_states
from shoal.tracks import Collection, Tracks

States = Int[np.ndarray, "time individuals"]
NOT_SEEN, NO_HEADING = "not seen", "no heading"


@dataclass(frozen=True)
class Counting:
    """How states are read off tracks.

    Parameters
    ----------
    space
        States made of features.
    lag
        Frames between the two states of a transition.
    heading_frames, minimum_step, tracker_headings
        How headings are taken, see ``shoal.headings``.
    """

    space: StateSpace
    lag: int = 1
    heading_frames: int = 1
    minimum_step: float = 0.0
    tracker_headings: bool = False

    def __post_init__(self) -> None:
        """Check the lag and that there are features."""
        if not hasattr(self.lag, "__index__") or self.lag < 1:
            raise InputError(f"a lag is a whole number of frames, 1 or more; got {self.lag!r}")

    def scene(self, tracks: Tracks) -> Scene:
        """What there was to perceive."""
        return Scene.of(tracks, self.heading_frames, self.minimum_step, self.tracker_headings)

    def check_features(self) -> None:
        """Every axis has a feature that says how it is measured."""
        for part in self.space.parts:
            if not isinstance(part, Feature):
                raise InputError(
                    f"states of tracks need features such as LocalMisalignment(), and {part!r} is "
                    "a bare axis"
                )


def count_transitions(  # noqa: PLR0913  (every choice a user has)
    tracks: Any,
    space: StateSpace,
    *,
    lag: int = 1,
    heading_frames: int = 1,
    minimum_step: float = 0.0,
    tracker_headings: bool = False,
    by: str | None = None,
    cluster: Any = None,
    progress: bool | Report | None = None,
) -> Any:
    """Which state followed which within each animal's track; none across gaps or between animals.

    Parameters
    ----------
    tracks
        Tracks, several Tracks, what ``shoal.open_tracks`` opened, or one sequence of state numbers
        for each animal.
    space
        The states; for tracks made of features such as ``LocalMisalignment()``.
    lag
        Frames between the two states of a transition.
    heading_frames, minimum_step, tracker_headings
        How headings are taken: from displacements over this many frames, see ``shoal.headings``,
        or as the tracker gave them.
    by
        ``"group"`` or ``"individual"`` for a dictionary of counts, by label or by (label, name).
    cluster
        For opened tracks: a number of worker processes, the address of a Dask scheduler, or a Dask
        client; None counts in this process.
    progress
        True for a bar, False for none, None for a bar on a terminal.

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
            return _settled(count_store(tracks, recipe, by, cluster, report), recipe, by)
    first, given = _peeked(tracks)
    if isinstance(first, Tracks):
        recipe.check_features()
        return _settled(_count_groups(given, recipe, by), recipe, by)
    return _counted_sequences(given, recipe, by)


def _count_groups(
    given: Iterable[Any], recipe: Counting, by: str | None
) -> Iterator[tuple[Any, Transitions]]:
    """One group after the other; of targets far away one warning is enough."""
    warned, rates = False, set()
    for tracks in given:
        yield from count_group(tracks, recipe, by)
        warned = warned or warn_of_target(recipe.scene(tracks), recipe)
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


def count_group(
    tracks: Any, recipe: Counting, by: str | None = None
) -> Iterator[tuple[Any, Transitions]]:
    """The transitions of one group, whole or for each animal, with their labels."""
    if not isinstance(tracks, Tracks):
        raise InputError("tracks and plain sequences of states cannot be counted together")
    perceived = perceive(recipe.scene(tracks), recipe)
    yield from labelled(perceived, recipe, tracks, slice(0, len(tracks.positions)), by)


def labelled(
    perceived: "Perceived", recipe: Counting, tracks: Tracks, own: slice, by: str | None
) -> Iterator[tuple[Any, Transitions]]:
    """The transitions that begin in some frames, of the group or of each animal."""
    if by != "individual":
        yield tracks.group, perceived.transitions(recipe, own)
        return
    for index, name in enumerate(tracks.members):
        yield (tracks.group, name), perceived.of(index).transitions(recipe, own)


def track_states(
    tracks: Tracks,
    space: StateSpace,
    heading_frames: int = 1,
    minimum_step: float = 0.0,
    *,
    tracker_headings: bool = False,
) -> tuple[States, dict[str, int]]:
    """The state of every member in every frame, −1 where it has none, and why they have none."""
    recipe = Counting(space, 1, heading_frames, minimum_step, tracker_headings)
    recipe.check_features()
    found = perceive(recipe.scene(tracks), recipe)
    return found.states, found.dropped(slice(0, len(found.states)))


@dataclass(frozen=True, eq=False)
class Perceived:
    """The state of every member in every frame, −1 where it has none, and what was missing."""

    states: States
    missing: dict[str, Bool[np.ndarray, "time individuals"]]

    def of(self, animal: int) -> "Perceived":
        """One member's."""
        missing = {reason: gone[:, [animal]] for reason, gone in self.missing.items()}
        return Perceived(self.states[:, [animal]], missing)

    def dropped(self, own: slice) -> dict[str, int]:
        """Each animal in each of these frames without a state, under the first reason for it."""
        left = self.states[own] < 0
        found: dict[str, int] = {}
        for reason, gone in self.missing.items():
            found[reason] = int((left & gone[own]).sum())
            left = left & ~gone[own]
        return found

    def transitions(self, recipe: Counting, own: slice) -> Transitions:
        """Pairs of states a lag apart, both known, the first in these frames."""
        last = min(own.stop, len(self.states) - recipe.lag)
        start = self.states[own.start : max(last, own.start)].ravel()
        end = self.states[own.start + recipe.lag : max(last, own.start) + recipe.lag].ravel()
        both = (start >= 0) & (end >= 0)
        code = start[both] * recipe.space.size + end[both]
        fixes = (own.stop - own.start) * self.states.shape[1]
        return Transitions.from_codes(code, recipe.space, dropped=self.dropped(own), fixes=fixes)


def perceive(scene: Scene, recipe: Counting) -> Perceived:
    """The state of every member in every frame."""
    check_scene(scene, recipe)
    values = [part.values(scene) for part in recipe.space.parts]  # type: ignore[union-attr]
    states, lost = recipe.space.locate(*values)
    missing = {NOT_SEEN: np.isnan(scene.positions[..., 0]), NO_HEADING: np.isnan(scene.headings)}
    for name, gone, value in zip(recipe.space.names, lost, values, strict=True):
        missing[f"{name}: undefined"] = gone & ~np.isfinite(value)
        missing[f"{name}: outside its bins"] = gone
    return Perceived(states, missing)


def check_scene(scene: Scene, recipe: Counting) -> None:
    """What cannot be counted is said before it is tried; what looks odd is warned about."""
    frames, animals = scene.headings.shape
    for part in recipe.space.parts:
        if animals < 2 and needs_neighbours(part):
            raise InputError(
                f"group {scene.group!r} has a single animal, and {part.axis.name} needs neighbours"  # type: ignore[union-attr]
            )
    if frames < 2:
        raise InputError(f"group {scene.group!r} has {frames} frame, and a transition needs two")


def warn_of_target(scene: Scene, recipe: Counting) -> bool:
    """Warn of a target that lies elsewhere than the animals."""
    targets = [getattr(part, "target", None) for part in recipe.space.parts]
    sentences = [outside(target, scene) for target in targets if target is not None]
    for sentence in filter(None, sentences):
        warnings.warn(sentence, UserWarning, stacklevel=2)
    return any(sentences)


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


def _counted_sequences(given: Iterable[Any], recipe: Counting, by: str | None) -> Transitions:
    if by is not None:
        raise InputError("plain sequences of states have no groups to count by")
    rows = []
    for sequence in given:
        if isinstance(sequence, Tracks | Collection):
            raise InputError("tracks and plain sequences of states cannot be counted together")
        if not hasattr(sequence, "__iter__") or isinstance(sequence, str):
            raise InputError(
                "expected one sequence of states for each animal, such as [[0, 2, 5], [1, 1]]; "
                f"got {sequence!r} where a sequence should be"
            )
        rows.append(checked_states(sequence, recipe.space))
    empty, lag = np.empty(0, dtype=int), recipe.lag
    start = np.concatenate([empty, *(row[:-lag] for row in rows)])
    end = np.concatenate([empty, *(row[lag:] for row in rows)])
    return replace(Transitions.from_pairs(start, end, recipe.space), lag=int(recipe.lag))
