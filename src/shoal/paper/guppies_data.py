"""The groups that section 4 is repeated on: a stand-in with a known truth, or the user's files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.lmdp import Solution
from shoal.paper.tank import Tank, TankSettings, simulate_tank, tank_truth
from shoal.passive import TurningMixture
from shoal.simulation import simulate_decisions
from shoal.states import (
    LocalMisalignment,
    Scene,
    StateSpace,
    TargetMisalignment,
    Transitions,
    count_transitions,
)
from shoal.system.progress import Report
from shoal.tracks import Collection, Rectangle, Tracks
from shoal.tracks.readers import read_guppies, read_tracks
from shoal.tracks.record import warn

PIXELS = 50.0
"""Places beyond this are hardly in tank widths or metres."""


@dataclass(frozen=True, eq=False)
class Experiments:
    """Groups in a tank with a shelter.

    Attributes
    ----------
    kind
        ``stand-in``, ``one experiment``, ``published`` (12 groups of females and 14 of males, ten
        fish each) or ``experiments``, where they are others.
    words
        What they are.
    tracks, target
        Where the fish were, and where the shelter is.
    truth
        What they wanted, where it is known.
    """

    kind: str
    words: str
    tracks: Collection
    target: tuple[float, float]
    truth: "Truth | None" = None

    @property
    def notes(self) -> list[str]:
        """What reading had to say, each sentence once."""
        return list(dict.fromkeys(note for part in self.tracks for note in part.notes))

    def space(self, bins: int) -> StateSpace:
        """Local and target misalignment, the states of section 4."""
        return StateSpace(LocalMisalignment(bins=bins), TargetMisalignment(self.target, bins=bins))

    @property
    def example(self) -> Tracks:
        """The group that the animations show: of males, and as near 120 frames as there is."""
        males = [part for part in self.tracks if part.covariates.get("sex") == "male"]
        return min(males or list(self.tracks), key=lambda part: abs(len(part.positions) - 120))


@dataclass(frozen=True, eq=False)
class Truth:
    """Costs of the stand-in's fish on the states of a fit, and their true passive dynamics."""

    settings: TankSettings
    solution: Solution

    def words(self) -> str:
        """What was given to the fish, in words."""
        s = self.settings
        return (
            f"up to {s.together:g} a step for pointing away from the group and up to {s.goal:g} "
            f"for pointing away from a direction with the shelter at {s.side:+.0f}°"
        ).replace("-", "−")

    @property
    def passive(self) -> TurningMixture:
        """What the fish would do without preferences."""
        return TurningMixture(self.settings.turns, self.settings.turn)


def stand_in(
    females: int, males: int, bins: int, seed: int, report: bool | Report | None = None
) -> Experiments:
    """Simulated experiments of the paper's design."""
    settings = TankSettings(females=females, males=males)
    tank: Tank = simulate_tank(seed=seed, settings=settings, progress=report)
    _, solution = tank_truth(settings, bins)
    return Experiments(
        "stand-in",
        f"{females + males} simulated experiments of the paper's design, {females} of females and "
        f"{males} of males, ten fish each, whose costs are known",
        tank.tracks,
        tank.target,
        Truth(settings, solution),
    )


def from_files(
    path: Path, target: tuple[float, float] | None, *, flip_y: bool = False
) -> Experiments:
    """The user's copy of the experiments, or of some of them, with the walls of the tank around.

    Parameters
    ----------
    path
        As docs/data/guppies.md says: a folder or a table of all experiments, or the tracks of one.
    target
        The shelter, in the coordinates of the file.
    flip_y
        Whether y counts downwards in the file, as in images.
    """
    if not path.exists():
        raise InputError(f"there is no {path}: --data takes a folder or a table of guppy tracks")
    if target is None:
        raise InputError("--data needs --target X,Y: where the shelter is, as the file counts")
    if not np.all(np.isfinite(target)):
        raise InputError(f"a target is two numbers X,Y; got {target}")
    parts = _groups(path)
    _warn_of_pixels(parts, target, flip_y)
    if flip_y:
        parts, target = [part.flip_y() for part in parts], (target[0], -target[1])
    walls = _walls(parts, target)
    tracks = Collection(part if part.arena else part.with_arena(walls) for part in parts)
    count = "one experiment" if len(parts) == 1 else f"{len(parts)} experiments"
    return Experiments(_kind(parts), f"{count} read from {path.name}", tracks, target)


def _groups(path: Path) -> list[Tracks]:
    """Every experiment with its sex; of a single one the sex need not be told."""
    found: Any = read_tracks(path)
    parts = list(found) if isinstance(found, Collection) else [found]
    try:
        return list(read_guppies(path))
    except InputError:
        if len(parts) > 1:
            raise
        return parts


def _kind(parts: list[Tracks]) -> str:
    if len(parts) == 1:
        return "one experiment"
    sexes = [part.covariates.get("sex") for part in parts]
    whole = sexes.count("female") == 12 and sexes.count("male") == 14
    return "published" if whole and all(len(p.members) == 10 for p in parts) else "experiments"


def _warn_of_pixels(parts: list[Tracks], target: tuple[float, float], flip_y: bool) -> None:
    most = max(float(np.nanmax(np.abs(part.positions))) for part in parts)
    if most <= PIXELS:
        return
    if not flip_y:
        warn(
            f"places go up to {most:.4g}, as in pixels, whose y mostly counts downwards: left and "
            "right turns are then exchanged; say --flip-y if it does"
        )
    if max(map(abs, target)) <= 1:
        warn(f"the target {target} lies in the unit square, but places go up to {most:.4g}")


def _walls(parts: list[Tracks], target: tuple[float, float]) -> Rectangle:
    """The unit square where all is within it, as in the paper; else what holds fish and shelter."""
    places = np.concatenate([part.positions.reshape(-1, 2) for part in parts])
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    reach = float(np.max(high - low)) / 2
    if np.any(np.asarray(target) < low - reach) or np.any(np.asarray(target) > high + reach):
        raise InputError(
            f"the target {target} lies far from the fish, which are at x {low[0]:.3g} to "
            f"{high[0]:.3g} and y {low[1]:.3g} to {high[1]:.3g}"
        )
    low, high = np.minimum(low, target), np.maximum(high, target)
    if low.min() >= 0 and high.max() <= 1:
        return Rectangle(0.0, 0.0, 1.0, 1.0)
    return Rectangle(*map(float, (*low, *high)))


def decided(data: Experiments, space: StateSpace, seed: int) -> Transitions:
    """Decisions by p* on the joint grid, from the fish's first states and as many as they took."""
    assert data.truth is not None
    starts, lengths = [], []
    for part in data.tracks:
        scene = Scene.of(part)
        features: Any = space.parts
        states, missing = space.locate(*(feature.values(scene) for feature in features))
        known = ~np.any(missing, axis=0)
        for fish in range(known.shape[1]):
            moments = np.flatnonzero(known[:, fish])
            starts.append(int(states[moments[0], fish]))
            lengths.append(len(moments) - 1)
    made = simulate_decisions(
        data.truth.solution, agents=len(starts), steps=max(lengths), seed=seed, start=starts
    )
    return count_transitions(
        [row[: length + 1] for row, length in zip(made, lengths, strict=True)], space
    )
