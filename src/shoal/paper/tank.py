"""A stand-in for the guppy experiment of the paper's section 4: its design, with a known truth."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from shoal.errors import InputError, checked_seed
from shoal.figures.trajectories import trajectories
from shoal.lmdp import Solution, solve
from shoal.moves import Turns
from shoal.passive import TurningMixture
from shoal.results import Result, counted
from shoal.simulation.designs import Design, Scenario
from shoal.simulation.groups import as_tracks, simulated_designs
from shoal.simulation.policy import Policy
from shoal.simulation.release import Release
from shoal.simulation.speeds import Wandering
from shoal.states import LocalMisalignment, StateSpace, TargetMisalignment
from shoal.system.progress import Report, reporting
from shoal.tracks import Collection, Rectangle
from shoal.version import __version__

if TYPE_CHECKING:
    import pandas as pd

TARGET = (0.2, 0.8)
FPS = 10.0
SHORTEST, LONGEST = 20, 285
ATTEMPTS = (2, 8)
"""How often every experiment is run: more often where one was too short each time."""


@dataclass(frozen=True)
class TankSettings:
    """The design of the experiment, and what its fish want.

    The defaults of speeds, turns and wants were chosen so that groups resemble the one experiment
    that can be seen (polarisation, straightness, speeds, turns; docs/decisions/010).

    Parameters
    ----------
    females, males, animals
        Groups of either sex, and fish in a group.
    together, goal
        The state costs of pointing away from the group, and from the preferred direction, by 180°.
    side
        The preferred target misalignment in degrees: to approach with the shelter on one side.
    turns, turn
        The passive dynamics of each angle: mostly straight on, at times a swerve, with a normal
        error. One turn moves both angles, so a fish turns by the square of it, see
        ``passive_turns``.
    speed, variation, persistence, between
        The median speed per second in tank widths, the sd of its logarithm within a group, the
        correlation of the logarithm from frame to frame, and the sd between groups.
    reach
        How near the shelter a fish has reached it.
    """

    females: int = 12
    males: int = 14
    animals: int = 10
    together: float = 0.55
    goal: float = 0.1
    side: float = -50.0
    turns: tuple[float, ...] = (0.0,) * 7 + (-45.0,) * 2 + (45.0,) * 2
    turn: float = 8.5
    speed: float = 0.066
    variation: float = 0.6
    persistence: float = 0.63
    between: float = 0.35
    reach: float = 0.16

    @property
    def passive_turns(self) -> Turns:
        """What fish turn without preferences: normal turns, their parts as often as squares say.

        Products of two different parts are left out: they have less than a thousandth.
        """
        parts, counts = np.unique(self.turns, return_counts=True)
        often = np.repeat(parts, counts**2)
        return Turns(tuple(float(part) for part in often), spread=self.turn / np.sqrt(2))


@dataclass(frozen=True, eq=False)
class Tank(Result):
    """Simulated experiments, and the truth behind them.

    Attributes
    ----------
    tracks
        A group for each experiment, with its sex.
    solution
        The costs of the fish, and the cost-to-go that follows.
    space, target
        What they perceive.
    """

    tracks: Collection
    solution: Solution
    space: StateSpace
    target: tuple[float, float]
    settings: TankSettings

    def table(self) -> "pd.DataFrame":
        """A row for each fish in each frame, as ``Collection.table`` has it."""
        return self.tracks.table()

    def plot(self) -> Figure:
        """Where the fish went, a panel for each group, with the shelter."""
        return trajectories(list(self.tracks), self.target)

    def __str__(self) -> str:
        fish = sum(len(group.members) for group in self.tracks)
        x, y = self.target
        return (
            f"A simulated experiment: {counted(len(self.tracks), 'group')} with {fish:,} fish in "
            f"all, let go in a square tank with a shelter at ({x:g}, {y:g}). The costs that the "
            "fish follow are known."
        )

    def __repr__(self) -> str:
        return f"Tank({self.tracks!r})"


def tank_truth(settings: TankSettings, bins: int = 36) -> tuple[StateSpace, Solution]:
    """What the fish perceive and want: r = a (1 − cos local)/2 + b (1 − cos(target − side))/2."""
    space = StateSpace(LocalMisalignment(bins=bins), TargetMisalignment(TARGET, bins=bins))
    local, target = (axis.centres for axis in space.axes)
    cost = settings.together * _away(local)[:, None] + settings.goal * _away(target - settings.side)
    return space, solve(TurningMixture(settings.turns, settings.turn).on(space), cost)


def _away(degrees: Float[np.ndarray, " bins"]) -> Float[np.ndarray, " bins"]:
    return (1 - np.cos(np.deg2rad(degrees))) / 2


def simulate_tank(
    *, seed: Any = 0, settings: TankSettings | None = None, progress: bool | Report | None = None
) -> Tank:
    """Groups of fish let go in one corner of a square tank, until one reaches the shelter.

    The design is that of the paper's section 4: 12 groups of females and 14 of males, 10 fish each,
    10 frames a second, 20 to 285 frames. Groups that arrive in fewer are let go again, as the
    published ones are at least as long.

    Parameters
    ----------
    seed
        The same seed gives the same experiments.
    settings
        Another design or other wants.
    """
    chosen = settings or TankSettings()
    if chosen.females + chosen.males < 1:
        raise InputError("a tank needs at least one group")
    space, solution = tank_truth(chosen)
    release = Release(chosen.animals, (0.7, 0.2), 0.06, 150.0, 35.0)
    scenario = Scenario(LONGEST - 1, 1.0, Rectangle(0, 0, 1, 1), stop="one", reach=chosen.reach)
    (plain,) = scenario.designs(release, (), TARGET)
    paces = np.random.default_rng([checked_seed(seed), 2**31 + 1]).normal(
        0.0, chosen.between, chosen.females + chosen.males
    )
    sexes = ["female"] * chosen.females + ["male"] * chosen.males
    numbers = [*range(1, chosen.females + 1), *range(1, chosen.males + 1)]
    designs = [
        replace(
            plain, label=f"{'fm' if sex == 'female' else 'ml'}{number}", fps=FPS,
            speeds=Wandering(
                chosen.speed * float(np.exp(pace)) / FPS, chosen.variation, chosen.persistence
            ),
            length_unit="tank widths", covariates={"sex": sex},
        )
        for sex, number, pace in zip(sexes, numbers, paces, strict=True)
    ]  # fmt: skip
    told = f"simulated by shoal {__version__}: the tank, a stand-in for the guppies, seed {seed}"
    policy = Policy.of(solution.cost_to_go, chosen.passive_turns, space, 1.0, "mean")
    with reporting(progress) as report:
        found = _long_enough(policy, designs, scenario, checked_seed(seed), report)
    tracks = Collection(as_tracks(outcome, told, several=False) for outcome in found)
    return Tank(tracks, solution, space, TARGET, chosen)


def _long_enough(
    policy: Policy,
    designs: list[Design],
    scenario: Scenario,
    seed: int,
    report: Report,
) -> list[Any]:
    """Every experiment, the first of its attempts that lasts long enough."""
    kept: dict[str, Any] = {}
    for attempts in ATTEMPTS:  # more give the same first ones
        outcomes = simulated_designs(
            policy, designs, scenario, seed, replicates=attempts, report=report
        )
        for outcome in outcomes:
            if len(outcome.positions) >= SHORTEST:
                kept.setdefault(outcome.design.label, outcome)
        if len(kept) == len(designs):
            break
    if len(kept) < len(designs):
        raise InputError(f"fish reach the shelter within {SHORTEST} frames: let them swim slower")
    return [kept[design.label] for design in designs]
