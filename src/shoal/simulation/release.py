"""Where simulated groups start: as observed ones did, or let go somewhere."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from shoal.errors import InputError
from shoal.inputs import Number, Place, Whole
from shoal.states.targets import checked_point
from shoal.tracks import Arena, Circle, Rectangle, Tracks

Start = tuple[Float[np.ndarray, "individuals 2"], Float[np.ndarray, " individuals"]]


@dataclass(frozen=True)
class Release:
    """A number of animals let go together.

    Parameters
    ----------
    animals
        How many.
    place
        Of the centre (x, y); None spreads them evenly over the arena.
    spread
        The standard deviation of their places around it, along x and along y.
    heading
        In degrees, for all of them; None: each its own, at random.
    heading_spread
        The standard deviation of headings around it, in degrees.

    Examples
    --------
    >>> import shoal
    >>> shoal.Release(10, place=(0.9, 0.1), spread=0.03, heading=135.0, heading_spread=20.0)
    Release(animals=10, place=(0.9, 0.1), spread=0.03, heading=135.0, heading_spread=20.0)
    """

    animals: Whole
    place: Place | None = None
    spread: Number = 0.0
    heading: Number | None = None
    heading_spread: Number = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if not hasattr(self.animals, "__index__") or self.animals < 1:
            raise InputError(f"a group has 1 animal or more, got {self.animals!r}")
        if self.place is not None:
            object.__setattr__(self, "place", checked_point(self.place))
        for name in ("spread", "heading_spread"):
            value = getattr(self, name)
            if not (np.isreal(value) and np.isfinite(value) and value >= 0):
                raise InputError(f"the {name.replace('_', ' ')} is 0 or more, got {value!r}")
        if self.heading is not None and not (np.isreal(self.heading) and np.isfinite(self.heading)):
            raise InputError(f"a heading is a number of degrees, got {self.heading!r}")

    def drawn(self, rng: np.random.Generator, arena: Arena | None) -> Start:
        """Places and headings of one group; who would be outside the arena is placed again."""
        if self.place is None:
            positions = _anywhere(rng, arena, self.animals)
        else:
            positions = self._around(rng, arena)
        if self.heading is None:
            return positions, rng.uniform(-180.0, 180.0, self.animals)
        return positions, self.heading + rng.normal(0.0, self.heading_spread, self.animals)

    def _around(
        self, rng: np.random.Generator, arena: Arena | None
    ) -> Float[np.ndarray, "individuals 2"]:
        centre = np.asarray(self.place)
        if arena is not None and not arena.holds(centre):
            raise InputError(f"the place of release {self.place} lies outside the arena {arena}")
        positions = centre + rng.normal(0.0, self.spread, (self.animals, 2))
        for _ in range(1000):
            outside = np.zeros(self.animals, bool) if arena is None else ~arena.holds(positions)
            if not outside.any():
                return positions
            positions[outside] = centre + rng.normal(0.0, self.spread, (int(outside.sum()), 2))
        raise InputError(
            f"a spread of {self.spread} leaves the arena {arena}: choose a smaller one"
        )


def _anywhere(
    rng: np.random.Generator, arena: Arena | None, animals: int
) -> Float[np.ndarray, "individuals 2"]:
    if arena is None:
        raise InputError("animals cannot be spread over an unbounded plane: give place= or arena=")
    if isinstance(arena, Circle):
        radius, angle = (
            arena.radius * np.sqrt(rng.random(animals)),
            rng.uniform(0, 2 * np.pi, animals),
        )
        return np.stack(
            [arena.x + radius * np.cos(angle), arena.y + radius * np.sin(angle)], axis=1
        )
    low, high = (arena.left, arena.bottom), (arena.right, arena.top)
    return rng.uniform(low, high, (animals, 2))


@dataclass(frozen=True, eq=False)
class Window:
    """The frames and animals of an observed group that a simulation repeats.

    Attributes
    ----------
    start
        Places and headings of the members in the first frame; NaN for those that are left out.
    first, last
        The first frame, and the one after the last.
    rested
        How many of the animals have not moved yet in the first frame: they start with the first
        heading that they show later.
    """

    start: Start
    first: int
    last: int
    rested: int = 0

    @property
    def steps(self) -> int:
        """Frames after the first."""
        return self.last - 1 - self.first

    @property
    def repeated(self) -> Bool[np.ndarray, " individuals"]:
        """Which of the members are simulated."""
        return np.isfinite(self.start[1])

    def of(self, tracks: Tracks) -> Tracks:
        """These frames of the tracks, with nobody seen but the landmarks and these animals."""
        out = np.zeros(len(tracks.individuals), dtype=bool)
        out[[tracks.individuals.index(name) for name in tracks.members]] = ~self.repeated
        data = tracks.data.isel(time=slice(self.first, self.last))
        places = np.where(out[:, None], np.nan, data["position"].values)
        return Tracks(data.assign(position=(data["position"].dims, places)))

    def at_most(self, steps: int | None) -> "Window":
        """Cut short after so many steps."""
        if steps is None or self.steps <= steps:
            return self
        return replace(self, last=self.first + 1 + int(steps))


def observed_window(
    tracks: Tracks, heading_frames: int = 1, minimum_step: float = 0.0, tracker: bool = False
) -> Window:
    """The start that leaves most to compare: animals in view then, times frames they are seen in.

    Those who are not in view at the start are left out. An animal that has not moved yet starts
    with the first heading that it shows later. The window ends when, for good, fewer than half of
    its animals are in view.
    """
    who = [tracks.individuals.index(name) for name in tracks.members]
    if not who:
        raise InputError(f"group {tracks.group!r} has landmarks but no members to simulate")
    places = tracks.positions[:, who]
    angles = tracks.headings(heading_frames, minimum_step, tracker=tracker)[:, who]
    seen = np.isfinite(places[..., 0])
    shown = seen & np.isfinite(angles)
    if not shown.any():
        raise InputError(
            f"no animal of group {tracks.group!r} has a place and a heading to start from"
        )
    earliest = np.argmax(shown, axis=0)
    own = np.arange(len(who))
    before = (np.arange(len(seen))[:, None] < earliest) & seen & shown.any(axis=0)
    angles = np.where(before, angles[earliest, own], angles)
    known = shown | before
    left = np.cumsum(seen[::-1], axis=0)[::-1]  # frames from here on in which an animal is seen
    first = int(np.argmax((known * left).sum(axis=1)))
    there = known[first]
    in_view = 2 * seen[first:, there].sum(axis=1) >= there.sum()
    last = first + 1 + int(np.flatnonzero(in_view)[-1])
    start = np.where(there[:, None], places[first], np.nan), np.where(there, angles[first], np.nan)
    return Window(start, first, last, int((before[first] & there).sum()))


def hull(tracks: Tracks) -> Rectangle:
    """The rectangle around all places of the members."""
    who = [tracks.individuals.index(name) for name in tracks.members]
    places = tracks.positions[:, who].reshape(-1, 2)
    if not np.isfinite(places).any():
        raise InputError(f"no animal of group {tracks.group!r} was ever seen")
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    span = float((high - low).max()) or 1.0
    margin = np.where(high > low, 0.0, span / 2)  # a line is no rectangle
    return Rectangle(*(low - margin), *(high + margin))


def travels(tracks: Tracks) -> bool:
    """Whether a group crosses the rectangle around it once, rather than staying in it.

    Then most animals end far from where they began (0.6 of its longer side), and their paths are
    less than twice as long as that side.
    """
    who = [tracks.individuals.index(name) for name in tracks.members]
    box, net, path = hull(tracks), [], []
    side = max(box.right - box.left, box.top - box.bottom)
    for animal in who:
        places = tracks.positions[:, animal]
        places = places[np.isfinite(places[:, 0])]
        if len(places) > 1:
            net.append(np.hypot(*(places[-1] - places[0])))
            path.append(np.hypot(*np.diff(places, axis=0).T).sum())
    return bool(net) and bool(np.median(net) > 0.6 * side and np.median(path) < 2 * side)
