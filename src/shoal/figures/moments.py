"""A moment that shows the two misalignments of an animal well, with its angles as counted."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from shoal.errors import InputError
from shoal.states import Distance, LocalMisalignment, Scene, TargetDistance, TargetMisalignment
from shoal.states.targets import checked_target, target_places
from shoal.tracks import Collection, Periodic, Tracks

PerAnimal = Float[np.ndarray, "time individuals"]

LEGIBLE = (25.0, 100.0)
"""Degrees of an arc that is neither too short for its label nor nearly a half turn."""
CLEAREST = 55.0
"""Degrees of the arc that is easiest to see."""
APART, AWAY, FROM_WALL = 0.08, 0.4, 0.15
"""How far from neighbours, the target and the wall; shares of the picture."""
FREE = 0.3
"""Around the chosen animal, where its arrows go; a share of the picture."""
ANY = (0.0, 1.0)
"""Edges of bins that nobody looks at: distances are taken as they are."""


@dataclass(frozen=True)
class Moment:
    """An animal in a frame, and its two angles in degrees, positive to the left.

    Attributes
    ----------
    frame
        Counted from 0.
    individual
        The animal's name.
    local
        Local misalignment: the turn that would align it with the group's mean heading.
    target
        Target misalignment: the turn that would make it face the target.
    """

    frame: int
    individual: str
    local: float
    target: float


def moment_at(tracks: Tracks | Collection, target: Any, frame: int, individual: str) -> Moment:
    """The angles of one animal in one frame, as they are counted.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> step = np.array([[1.0, 0.0], [0.0, 1.0]])  # one goes east, one north
    >>> pair = shoal.Tracks.from_arrays([0 * step, step, 2 * step], fps=10)
    >>> moment = moment_at(pair, (2, -1), frame=1, individual="0")
    >>> moment
    Moment(frame=1, individual='0', local=45.0, target=-45.0)
    >>> described(pair, moment)  # doctest: +NORMALIZE_WHITESPACE
    'at 0.1 s fish 0 would turn 45° right to face the target (1) and 45° left to swim with the
    group (2)'
    """
    scene = Scene.of(one_group(tracks))
    frames = len(scene.positions)
    if not (hasattr(frame, "__index__") and 0 <= frame < frames):
        raise InputError(f"there is no frame {frame!r}: they are counted from 0 to {frames - 1}")
    if individual not in scene.members:
        known = ", ".join(scene.members[:12]) + (" …" if len(scene.members) > 12 else "")
        raise InputError(f"no animal of the group is called {individual!r}; there are {known}")
    column = scene.members.index(individual)
    local, aside = (angles[frame, column] for angles in _angles(scene, target))
    if not np.isfinite(local + aside):
        raise InputError(
            f"animal {individual!r} has not both angles in frame {frame}: it has no heading there, "
            "as in the last frame, is at the target, or the headings of all cancel"
        )
    return Moment(int(frame), individual, float(local), float(aside))


def telling_moment(tracks: Tracks | Collection, target: Any) -> Moment:
    """The frame and animal that show the two angles best; the same every time.

    As in fig. stateexample the target is to the right and the group turns to the left, or at least
    the two turns differ in sign, both are legible, and the animal is away from others, from the
    wall and from the target. Where no two turns are legible, the smaller is as large as can be.
    """
    scene = Scene.of(one_group(tracks))
    local, aside = _angles(scene, target)
    known = np.isfinite(local) & np.isfinite(aside)
    if not known.any():
        raise InputError(
            f"no animal of group {scene.group!r} has both angles in any frame: two animals with "
            "headings are needed, and one of them away from the target"
        )
    smaller = np.minimum(np.abs(local), np.abs(aside))
    larger = np.maximum(np.abs(local), np.abs(aside))
    as_printed, opposite = (aside < 0) & (local > 0), local * aside < 0
    legible = known & (smaller >= LEGIBLE[0]) & (larger <= LEGIBLE[1])
    free, clarity = _view(scene, target)
    clarity -= 2 * (np.abs(smaller - CLEAREST) + np.abs(larger - CLEAREST)) / CLEAREST
    choices = [
        (legible & free & as_printed, clarity), (legible & free & opposite, clarity),
        (legible & as_printed, clarity), (legible & opposite, clarity),
    ]  # fmt: skip
    choices += [(known & opposite, smaller), (known, smaller)]
    score = next(np.where(pool, worth, -np.inf) for pool, worth in choices if pool.any())
    frame, column = np.unravel_index(int(np.argmax(score)), score.shape)
    return moment_at(tracks, target, int(frame), scene.members[column])


def described(tracks: Tracks | Collection, moment: Moment, animal: str = "fish") -> str:
    """A sentence for the caption, with the moment's numbers."""
    group = one_group(tracks)
    at, seconds = group.time[moment.frame], group.data.attrs["time_unit"] == "s"
    when = f"at {at:.4g} s" if seconds else f"in frame {at:.10g}"
    return (
        f"{when} {animal} {moment.individual} would turn {_turn(moment.target)} to face the "
        f"target (1) and {_turn(moment.local)} to swim with the group (2)"
    )


def one_group(tracks: Tracks | Collection) -> Tracks:
    """The group of which an example is taken."""
    groups = list(tracks)
    if len(groups) != 1:
        raise InputError(f"an example is of one group, got {len(groups)}: choose one of them")
    return groups[0]


def _angles(scene: Scene, target: Any) -> tuple[PerAnimal, PerAnimal]:
    """Local and target misalignment, from the features that states are made of."""
    return LocalMisalignment().values(scene), TargetMisalignment(target).values(scene)


def _turn(degrees: float) -> str:
    size = round(abs(degrees))
    side = "" if size == 0 else " left" if degrees > 0 else " right"
    return f"{size}°{side}"


def _view(scene: Scene, target: Any) -> tuple[Bool[np.ndarray, "time individuals"], PerAnimal]:
    """Which animals stand free of all else, and how uncluttered the picture would be."""
    points = np.concatenate([scene.positions, target_steps(scene, target)], axis=1)
    low, high = np.fmin.reduce(points, axis=1), np.fmax.reduce(points, axis=1)
    span = np.max(high - low, axis=1, keepdims=True)
    span = np.where(span > 0, span, np.nan)
    gap = Distance(ANY).values(scene) / span
    away = TargetDistance(target, ANY).values(scene) / span
    free = (gap >= APART) & (away >= AWAY) & (_from_wall(scene) >= FROM_WALL * span)
    gap = np.where(np.isfinite(gap), gap, 0.0)
    own, everybody = np.minimum(gap / FREE, 1.0), np.minimum(gap / APART, 1.0)
    shown = np.isfinite(scene.headings).astype(float)
    return free, 2 * own + np.mean(everybody + shown, axis=1, keepdims=True)


def target_steps(scene: Scene, target: Any) -> Float[np.ndarray, "time 1 2"]:
    """Where the target was in every frame."""
    places = target_places(checked_target(target), scene)
    return np.broadcast_to(places, (len(scene.positions), 1, 2))


def _from_wall(scene: Scene) -> PerAnimal:
    """How far the nearest wall is; where none is known none is drawn, and it hides nothing."""
    if scene.arena is None or isinstance(scene.arena, Periodic):
        return np.full(scene.headings.shape, np.inf)
    return scene.arena.distance(scene.positions)
