"""From tracks to decisions: what an animal perceived, how it moved, and how else it could have.

``seen.py`` has the rules by which moves are read, ``leading.py`` what candidates lead to.
"""

from collections.abc import Iterable
from typing import Annotated, Any

from shoal.errors import InputError
from shoal.inputs import GIVEN
from shoal.moves.joining import decided, joined
from shoal.moves.record import Decisions
from shoal.moves.sampling import Sample, spread_by
from shoal.moves.seen import Seen, Window, check_frames, moves_in
from shoal.moves.specification import Turns
from shoal.states import Custom, MovableFeature, Speed, StateSpace
from shoal.states.counting import Opened
from shoal.states.perceiving import check_scene, warn_of_arena, warn_of_target
from shoal.states.recipe import Counting
from shoal.system.cluster import Cluster
from shoal.system.progress import Report, reporting
from shoal.tracks import Collection, Tracks

Readable = Annotated[Tracks | Collection | Opened | Iterable[Tracks], GIVEN]
"""Tracks of one group or of several, or opened tracks."""


def decisions(
    tracks: Readable,
    space: StateSpace,
    moves: Turns | None = None,
    *,
    heading_frames: int = 1,
    minimum_step: float = 0.0,
    tracker_headings: bool = False,
    cluster: Cluster | None = None,
    progress: bool | Report | None = None,
) -> Decisions:
    """Read off tracks what every animal chose at every move, and what else it could have chosen.

    The other moves that an animal could have made are those that step selection calls available.

    Parameters
    ----------
    tracks
        Tracks, several Tracks, or what ``shoal.open_tracks`` opened.
    space
        What animals respond to, such as ``shoal.StateSpace(shoal.LocalMisalignment())``.
    moves
        What an animal can choose: ``shoal.Turns()``, the default, or ``shoal.Steps()``.
    heading_frames
        Over how many frames a heading is measured; with ``Steps`` always one.
    minimum_step
        An animal that goes no farther than this rests, and makes no decision.
    tracker_headings
        True to take headings from the file; with ``Steps`` they are taken from positions.
    cluster
        For opened tracks: a number of worker processes, the address of a Dask scheduler, or a Dask
        client; None reads in this process.
    progress
        True for a bar, False for none, None for a bar on a terminal.

    Returns
    -------
    Decisions
        A row for each move: what was perceived, what was decided, and what else could have been.

    Examples
    --------
    >>> import shoal
    >>> tank = shoal.paper.simulate_tank(seed=1, progress=False)
    >>> found = shoal.decisions(tank.tracks, tank.space, shoal.Turns())
    >>> found
    Decisions(28342 among 64 candidate turns each, 774 of 1296 states decided for)
    """
    chosen = Turns() if moves is None else moves
    if not isinstance(chosen, Turns):
        raise InputError(f"moves are shoal.Turns() or shoal.Steps(), got {chosen!r}")
    recipe = Counting(space, 1, heading_frames, minimum_step, tracker_headings)
    recipe.check_features()
    check_moves(chosen, space)
    if chosen.steps and (recipe.heading_frames > 1 or recipe.tracker_headings):
        raise InputError(
            "steps go from frame to frame: leave out heading_frames and tracker_headings; to take "
            "longer steps thin the tracks, tracks.thin(5)"
        )
    with reporting(progress) as report:
        if hasattr(tracks, "blocks") and hasattr(tracks, "index"):
            from shoal.moves.store import decisions_of_store  # noqa: PLC0415  (loads pyarrow)

            opened: Any = tracks
            return decisions_of_store(opened, recipe, chosen, cluster, report)
        groups = _read(tracks, recipe, chosen)
        spread = spread_by(chosen, [Sample.of(group) for group in groups], recipe.space)
        parts = []
        for number, group in enumerate(groups):
            report("decisions", number, len(groups))
            parts.append(decided(group, recipe, spread))
        report("decisions", len(groups), len(groups))
        return joined(parts)


def check_moves(moves: Turns, space: StateSpace) -> None:
    """A move must be able to change some feature, and every feature must say how."""
    parts: Any = space.parts
    for part in parts:
        if isinstance(part, Custom) and (moves.steps or part.turn is None):
            raise InputError(
                f"unknown effect of a move on {part.axis.name!r}: a feature of your own needs "
                "Custom(axis, function, turn=-1) and shoal.Turns()"
            )
        if not isinstance(part, MovableFeature | Custom):
            raise InputError(f"{part!r} does not say what a move does to it")
        if isinstance(part, Speed) and part.frames > 1:
            raise InputError("a decided speed is that of one step: use Speed(edges, frames=1)")
    if not moves.steps and not any(part.turn for part in parts):
        names = ", ".join(space.names)
        raise InputError(
            f"a turn changes nothing of {names}: use shoal.Steps(), with which animals choose how "
            "far they go as well, or add an angle such as neighbour-bearing"
        )


def _read(tracks: Any, recipe: Counting, moves: Turns) -> list[Seen]:
    if isinstance(tracks, str) or not isinstance(tracks, Iterable):
        raise InputError(f"expected tracks, got {tracks!r:.60}; read a file with shoal.read_tracks")
    groups, warned, misplaced = [], False, False
    for one in tracks:
        if not isinstance(one, Tracks):
            raise InputError(f"decisions are read off tracks, got {type(one).__name__}")
        scene = recipe.scene(one)
        check_frames(scene)
        check_scene(scene, recipe)
        warned = warned or warn_of_target(scene, recipe)
        misplaced = misplaced or warn_of_arena(scene, recipe)
        groups.append(moves_in(Window.whole(one), scene, recipe, steps=moves.steps))
    if not groups:
        raise InputError("there are no tracks to read decisions from")
    return groups
