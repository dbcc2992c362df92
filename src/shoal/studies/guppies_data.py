"""The groups that section 4 is repeated on: a stand-in with a known truth, or the user's files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.lmdp import Solution
from shoal.passive import TurningMixture
from shoal.progress import Report
from shoal.simulation import simulate_decisions, simulate_tank
from shoal.simulation.tank import Tank, TankSettings, tank_truth
from shoal.states import (
    LocalMisalignment,
    Scene,
    StateSpace,
    TargetMisalignment,
    Transitions,
    count_transitions,
)
from shoal.tracks import Collection, Rectangle, Tracks
from shoal.tracks.readers import read_guppies, read_tracks

PAPER_EXPERIMENTS = 26


@dataclass(frozen=True, eq=False)
class Experiments:
    """Groups in a tank with a shelter.

    Attributes
    ----------
    kind
        ``stand-in``, ``one experiment`` or ``published``.
    words
        What they are, in a sentence.
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


def from_files(path: Path, target: tuple[float, float] | None) -> Experiments:
    """The user's copy of the experiments, or of one of them, with the walls of the tank around.

    Parameters
    ----------
    path
        As docs/data/guppies.md says: a folder or a table of all experiments, or the tracks of one.
    target
        The shelter, in the coordinates of the file.
    """
    if not path.exists():
        raise InputError(f"there is no {path}: --data takes a folder or a table of guppy tracks")
    if target is None:
        raise InputError("--data needs --target X,Y: where the shelter is, in the file's lengths")
    found: Any = read_tracks(path)
    parts = list(found) if isinstance(found, Collection) else [found]
    if len(parts) > 1:
        parts = list(read_guppies(path))
    walls = _walls(parts, target)
    tracks = Collection(part if part.arena else part.with_arena(walls) for part in parts)
    kind = "one experiment" if len(parts) == 1 else "published"
    return Experiments(kind, f"{len(parts)} experiments read from {path.name}", tracks, target)


def _walls(parts: list[Tracks], target: tuple[float, float]) -> Rectangle:
    """The unit square where all is within it, as in the paper; else what holds fish and shelter."""
    places = np.concatenate([part.positions.reshape(-1, 2) for part in parts])
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    reach = float(np.max(high - low))
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
