"""What is given before a simulation begins: who, where, how fast, for how long."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.simulation.release import Release, Start, Window, hull, observed_window, travels
from shoal.simulation.speeds import Lengths, Speeds, speeds_of
from shoal.simulation.walls import WALLS
from shoal.states import Headings
from shoal.states.targets import checked_point
from shoal.tracks import Arena, Collection, Tracks, shortest

STOPS = ("one", "all")
NO_WALLS = ("none", "unbounded")
HULL = "hull"
"""The rectangle around the observed places, where tracks know no walls of their own."""
AUTO = "auto"
"""The same, but nothing around groups that travel."""
Point = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Design:
    """One group to be: its members, start, speeds, scenario and length.

    ``places`` are those of landmarks that its behaviour needs, ``company`` of all it has.
    """

    label: str
    members: tuple[str, ...]
    steps: int
    start: Release | Start
    speeds: Speeds
    fps: float | None = None
    length_unit: str = ""
    arena: Arena | None = None
    places: dict[str, Float[np.ndarray, "steps 2"]] = field(default_factory=dict)
    company: dict[str, Float[np.ndarray, "moments 2"]] = field(default_factory=dict)
    goal: Point | None = None
    reach: float = 0.0
    covariates: dict[str, Any] = field(default_factory=dict)

    def drawn(self, rng: np.random.Generator) -> tuple[Start, Lengths]:
        """Places and headings to start from, and how far each animal moves in every frame."""
        start = self.start.drawn(rng, self.arena) if isinstance(self.start, Release) else self.start
        return start, self.speeds.drawn(rng, self.steps, len(self.members))


@dataclass(frozen=True)
class Scenario:
    """What a user chooses for all groups: how long, how fast, in which walls, up to where.

    Parameters
    ----------
    steps
        Frames after the start; None: as many as the tracks have for these animals.
    speed
        See ``speeds_of``.
    arena
        Walls or a periodic box; None: those that the tracks know; ``"hull"``: those, or else the
        rectangle around the tracks; ``"auto"``: that too, but nothing around groups that travel;
        ``"none"`` or ``"unbounded"``: none.
    walls
        ``"reflect"`` or ``"slide"``.
    stop
        ``"one"`` or ``"all"``: a group ends when one of its members, or all, are at the target.
    target, reach
        The point to stop at, for all or by group, and how near is there. None: the target of the
        policy, and as near as an observed animal came, a twentieth of their range at least.
    fps
        Frames per second of a release; tracks know their own.
    headings
        How headings are taken from tracks; those with another frame interval are refused, if it is
        known. None: as for the fit that is followed, or from one frame to the next.
    lag
        Frames between decisions: tracks are thinned to one frame for each.
    most
        Of steps, where the tracks decide how many there are.
    """

    steps: Any = None
    speed: Any = None
    arena: Any = None
    walls: Any = "reflect"
    stop: Any = None
    target: Any = None
    reach: Any = None
    fps: Any = None
    length_unit: str = ""
    headings: Headings | None = None
    lag: int = 1
    most: int | None = None

    def __post_init__(self) -> None:
        """Check the words and numbers."""
        if self.steps is not None and not (hasattr(self.steps, "__index__") and self.steps >= 1):
            raise InputError(f"steps are a whole number, 1 or more; got {self.steps!r}")
        if self.walls not in WALLS:
            raise InputError(f"walls are one of {', '.join(WALLS)}; got {self.walls!r}")
        if self.stop not in (None, *STOPS):
            raise InputError(f"stop is None, 'one' or 'all'; got {self.stop!r}")
        if isinstance(self.arena, str) and self.arena not in (*NO_WALLS, HULL, AUTO):
            raise InputError(
                "an arena is Rectangle(…), Circle(…), Periodic(…), 'hull' or 'none'; got "
                f"{self.arena!r}"
            )
        if self.reach is not None and not (
            np.isreal(self.reach) and np.isfinite(self.reach) and self.reach > 0
        ):
            raise InputError(f"the reach of a target is positive, got {self.reach!r}")
        if self.fps is not None and not (
            np.isreal(self.fps) and np.isfinite(self.fps) and self.fps > 0
        ):
            raise InputError(f"frames per second must be positive, got {self.fps!r}")

    def designs(self, start: Any, landmarks: Sequence[str] = (), goal: Any = None) -> list[Design]:
        """One design for each group to start from.

        Parameters
        ----------
        start
            Tracks, several Tracks or a Release.
        landmarks
            Whose places the behaviour needs, and that do not follow it.
        goal
            A target of the behaviour, where ``target`` is not given.
        """
        if isinstance(start, Release):
            return [self._released(start, landmarks, goal)]
        if start is None or isinstance(start, str) or not hasattr(start, "__iter__"):
            raise InputError(
                "a simulation starts from tracks, or from a rule such as shoal.Release(10, "
                f"place=(0, 0)); got {start!r:.60}"
            )
        groups = list(start)
        if not groups or not all(isinstance(group, Tracks) for group in groups):
            raise InputError("a simulation starts from Tracks or from shoal.Release(…)")
        Collection(groups)  # every group has a label of its own
        placed = [self.around(tracks) for tracks in groups]
        self._check_landmarks(placed, landmarks)
        return [self._observed(tracks, landmarks, goal) for tracks in placed]

    def _check_landmarks(self, groups: Sequence[Tracks], landmarks: Sequence[str]) -> None:
        """A landmark is followed for as long as it is needed, in every group."""
        if not landmarks or self.steps is None:
            return
        shortest_group = min(groups, key=lambda tracks: len(tracks.positions))
        known = len(shortest_group.positions)
        if known < self.steps:
            raise InputError(
                f"{landmarks[0]!r} of group {shortest_group.group!r} was followed for {known} "
                f"frames, so that {self.steps} steps cannot be simulated: ask for {known} at most, "
                "or for another group"
            )

    def around(self, tracks: Tracks) -> Tracks:
        """Tracks with the walls and the rate that were chosen, a frame for each decision."""
        if self.fps is not None and tracks.fps is not None and self.fps != tracks.fps:
            raise InputError(
                f"fps={self.fps:g} is for a release or tracks without a rate; group "
                f"{tracks.group!r} has {tracks.fps:g} frames a second"
            )
        if self.fps is not None and tracks.fps is None:
            tracks = tracks.with_fps(float(self.fps))
        self.headings_or_default.check_interval(tracks)
        if isinstance(self.arena, str) and self.arena in (HULL, AUTO):
            if tracks.arena is None and not (self.arena == AUTO and travels(tracks)):
                tracks = tracks.with_arena(hull(tracks))
        elif self.arena is not None:
            tracks = tracks.with_arena(None if isinstance(self.arena, str) else self.arena)
        return tracks if self.lag == 1 else tracks.thin(self.lag)

    def window(self, around: Tracks) -> Window:
        """The frames and animals that are simulated, of tracks that ``around`` gave."""
        taken = self.thinned().headings_or_default
        found = observed_window(
            around, taken.heading_frames, taken.minimum_step, taken.tracker_headings
        )
        return found.at_most(self.most)

    @property
    def headings_or_default(self) -> Headings:
        """How headings are taken."""
        return self.headings or Headings()

    def thinned(self) -> "Scenario":
        """The same for tracks that ``around`` gave: their walls and their frames are as chosen."""
        frames = max(1, round(self.headings_or_default.heading_frames / self.lag))
        headings = replace(self.headings_or_default, heading_frames=frames, interval=None)
        return replace(self, lag=1, arena=None, headings=headings)

    def _released(self, release: Release, landmarks: Sequence[str], goal: Any) -> Design:
        if landmarks:
            raise InputError(
                f"where {landmarks[0]!r} is in every frame must come from tracks: start from them"
            )
        if self.steps is None:
            raise InputError("a release needs steps, the number of frames to simulate")
        if isinstance(self.arena, str) and self.arena in (HULL, AUTO):
            raise InputError("a release has no tracks to draw walls around: give arena=")
        arena = None if isinstance(self.arena, str) else self.arena
        members = tuple(str(number) for number in range(release.animals))
        speeds = speeds_of(self.speed, None, self.fps)
        point = None if self.stop is None else self._point("", goal)
        if point is not None and self.reach is None:
            raise InputError("to stop at the target, give reach: how near is there")
        fps = None if self.fps is None else float(self.fps)
        return Design(
            "", members, int(self.steps), release, speeds, fps, self.length_unit, arena,
            goal=point, reach=float(self.reach or 0.0),
        )  # fmt: skip

    def _observed(self, tracks: Tracks, landmarks: Sequence[str], goal: Any) -> Design:
        window = self.window(tracks)
        start, frame, arena, seen = window.start, window.first, tracks.arena, window.of(tracks)
        steps = window.steps if self.steps is None else int(self.steps)
        if steps < 1:
            raise InputError(f"group {tracks.group!r} has no frame after its start: give steps=")
        if arena is not None:
            there = np.isfinite(start[0][:, 0])
            outside = there & ~arena.holds(np.where(there[:, None], start[0], 0.0))
            if outside.any():
                first = int(np.argmax(outside))
                whose = f" of group {tracks.group!r}" if tracks.group else ""
                x, y = start[0][first].tolist()
                raise InputError(
                    f"animal {tracks.members[first]!r}{whose} starts at ({x:.4g}, {y:.4g}), "
                    f"outside {arena}: give a larger arena, or check that arena and tracks have "
                    "the same unit"
                )
        point, reach = (None, 0.0) if self.stop is None else self.goal_of(seen, goal)
        return Design(
            tracks.group, tracks.members, steps, start,
            speeds_of(self.speed, seen, tracks.fps, self.headings_or_default.minimum_step),
            tracks.fps, tracks.length_unit, arena,
            {name: _followed(tracks, name, frame, steps) for name in landmarks},
            _company(tracks, frame, steps), point, reach, _covariates(tracks),
        )  # fmt: skip

    def goal_of(self, tracks: Tracks, goal: Any) -> tuple[Point, float]:
        """Where a group stops, and how near is there: as asked, or as near as an animal came."""
        point = self._point(tracks.group, goal)
        if self.reach is not None:
            return point, float(self.reach)
        who = [tracks.individuals.index(name) for name in tracks.members]
        gap = shortest(tracks.positions[:, who] - np.asarray(point), tracks.arena)
        nearest = float(np.nanmin(np.hypot(gap[..., 0], gap[..., 1])))
        places = tracks.positions[:, who].reshape(-1, 2)
        span = float(np.max(np.nanmax(places, axis=0) - np.nanmin(places, axis=0)))
        return point, max(nearest, span / 20)

    def _point(self, group: str, goal: Any) -> Point:
        found = goal if self.target is None else self.target
        if isinstance(found, tuple) and found and isinstance(found[0], tuple):
            found = dict(found)
        if isinstance(found, dict):
            found = found.get(group)
        if found is None or isinstance(found, str):
            words = f" for group {group!r}" if group else ""
            raise InputError(
                f"a fixed target is needed{words}, to stop there or to time the way to it: give "
                "target=(x, y)"
            )
        return checked_point(found)


def _followed(tracks: Tracks, name: str, frame: int, steps: int) -> Float[np.ndarray, "steps 2"]:
    """Where a landmark was, from the start on."""
    path = tracks.place_of(name)[frame : frame + steps]
    if len(path) < steps:
        raise InputError(
            f"{name!r} of group {tracks.group!r} was followed for {len(path)} frames from the "
            f"start, so that {steps} steps cannot be simulated: ask for {len(path)} at most"
        )
    return path


def _company(tracks: Tracks, frame: int, steps: int) -> dict[str, Float[np.ndarray, "moments 2"]]:
    """Where all landmarks were, the start included; unknown after the last frame."""
    found = {}
    for name in tracks.individuals:
        if name not in tracks.members:
            path = np.full((steps + 1, 2), np.nan)
            known = tracks.place_of(name)[frame : frame + steps + 1]
            path[: len(known)] = known
            found[name] = path
    return found


def _covariates(tracks: Tracks) -> dict[str, Any]:
    """Of the group, and of its members and landmarks in that order; roles apart."""
    found: dict[str, Any] = {}
    who = [*tracks.members, *(n for n in tracks.individuals if n not in tracks.members)]
    for name, value in tracks.covariates.items():
        if name != "role":
            found[name] = [value[one] for one in who] if isinstance(value, dict) else value
    return found
