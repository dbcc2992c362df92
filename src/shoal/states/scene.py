"""What there was to perceive: places and headings of a group's members, and of landmarks."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from shoal.angles import namespace
from shoal.errors import InputError
from shoal.states.axes import Axis
from shoal.tracks import Arena, Tracks, shortest

Positions = Float[Any, "time individuals 2"]
PerAnimal = Float[Any, "time individuals"]
"""NumPy's arrays, or JAX's inside a simulation, where every frame is that of another group."""
Places = Float[Any, "time deciding moves 2"]
PerMove = Float[Any, "time deciding moves"]
"""Where moves would lead the first few animals of a scene, which may be all."""
BLOCK = 1 << 21
"""Pairs of animals in memory at a time."""


@dataclass(frozen=True, eq=False)
class Scene:
    """Every frame of one group, as features see it.

    Attributes
    ----------
    positions, headings
        Of the members; NaN where there is none. Headings in degrees.
    fps
        Frames per second; None where it is not known.
    group
        The group's label.
    places
        Where others than the members were, and members by name: (time, 2) each.
    arena
        The walls or the periodic box, where known.
    members
        The names of those in ``positions``.
    centre
        Longitude and latitude of (0, 0), where places were projected.
    lengths
        How far each has moved since the frame before; NaN where that is unknown.
    """

    positions: Positions
    headings: PerAnimal
    fps: float | None = None
    group: str = ""
    places: Mapping[str, Float[Any, "time 2"]] = field(default_factory=dict)
    arena: Arena | None = None
    members: tuple[str, ...] = ()
    centre: tuple[float, float] | None = None
    lengths: PerAnimal | None = None

    @classmethod
    def of(
        cls,
        tracks: Tracks,
        heading_frames: int = 1,
        minimum_step: float = 0.0,
        tracker_headings: bool = False,
    ) -> "Scene":
        """The scene of tracks, with headings taken as asked."""
        angles = tracks.headings(heading_frames, minimum_step, tracker=tracker_headings)
        names = tracks.individuals
        who = [names.index(name) for name in tracks.members]
        if not who:
            raise InputError(f"group {tracks.group!r} has landmarks but no members")
        places = tracks.positions
        everybody = {name: places[:, index] for index, name in enumerate(names)}
        whole = len(who) == len(names)
        own = places if whole else places[:, who]
        moved = shortest(np.diff(own, axis=0, prepend=np.nan), tracks.arena)
        return cls(
            own,
            angles if whole else angles[:, who],
            tracks.fps,
            tracks.group,
            everybody,
            tracks.arena,
            tracks.members,
            tracks.centre,
            np.hypot(moved[..., 0], moved[..., 1]),
        )

    def shortest(self, step: Any) -> Any:
        """Displacements (…, 2), by the shortest way round where the arena is periodic."""
        return shortest(step, self.arena)

    def own(self) -> tuple[Places, PerMove]:
        """Where animals are and head, as the one move that changes nothing."""
        return self.positions[:, :, None], self.headings[:, :, None]

    def blocks(self, moves: int = 1) -> Iterator[slice]:
        """Runs of frames few enough to compare all animals with all."""
        frames, animals, _ = self.positions.shape
        step = max(1, BLOCK // max(1, animals * animals * moves))
        for start in range(0, frames, step):
            yield slice(start, min(start + step, frames))


@runtime_checkable
class Feature(Protocol):
    """Something an animal perceives, as a number for every animal in every frame."""

    @property
    def axis(self) -> Axis:
        """The axis it is measured on."""
        ...

    def values(self, scene: Scene) -> PerAnimal:
        """The values; NaN where there is none."""
        ...


@runtime_checkable
class MovableFeature(Feature, Protocol):
    """A feature that knows its value after a move of the animal, all others as it saw them."""

    def decided(self, scene: Scene, places: Places, headings: PerMove) -> PerMove:
        """The values if each of the first animals were there and headed so, one at a time."""
        ...


@runtime_checkable
class SpeedFeature(MovableFeature, Protocol):
    """A feature that follows from how far an animal goes."""

    def of_lengths(self, scene: Scene, lengths: PerMove) -> PerMove:
        """The values if each of the first animals went so far, one at a time."""
        ...


def needs_neighbours(feature: Any) -> bool:
    """Whether a feature is about other members of the group."""
    return bool(getattr(feature, "social", False))


def frames_before(feature: Any) -> int | None:
    """How many earlier frames a feature looks at; None where nobody knows."""
    return getattr(feature, "before", 0)


def frames_after(feature: Any) -> int:
    """How many later frames a feature looks at."""
    return int(getattr(feature, "after", 0))


def by_frames(scene: Scene, places: Places, compared: Any) -> PerMove:
    """A function of frames that compares all places with all animals, in runs of frames."""
    parts = [compared(run) for run in scene.blocks(places.shape[2])]
    return namespace(scene.headings).concatenate(parts)
