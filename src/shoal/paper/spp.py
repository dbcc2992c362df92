"""The paper's algorithm of section 3: particles that follow the optimal policy, places included."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure

from shoal.errors import checked_seed
from shoal.lmdp import Solution, solve
from shoal.passive import TurningMixture
from shoal.results import Result
from shoal.simulation.designs import Scenario
from shoal.simulation.groups import as_tracks, simulated
from shoal.simulation.release import Release
from shoal.states import Circular, LocalMisalignment, StateSpace, Transitions, count_transitions
from shoal.system.progress import silent
from shoal.tracks import Periodic, Tracks
from shoal.version import __version__

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Flock(Result):
    """Particles on their way, with both ways of counting what they did.

    Attributes
    ----------
    tracks
        Where they went; headings are part of it.
    space
        Local misalignment.
    decided
        From the state before to the state that was sampled: these transitions follow p*.
    """

    tracks: Tracks
    space: StateSpace
    decided: Transitions

    @property
    def observed(self) -> Transitions:
        """From the state before to the misalignment after all have turned, as tracks show it.

        The neighbours turned, too, so these transitions do not follow p*.
        """
        return count_transitions(self.tracks, self.space, tracker_headings=True)

    def table(self) -> "pd.DataFrame":
        """A row for each particle in each frame, as ``Tracks.table`` has it."""
        return self.tracks.table()

    def plot(self) -> Figure:
        """Where the particles went."""
        return self.tracks.plot()

    def __str__(self) -> str:
        return (
            f"A simulated flock of {len(self.tracks.members)} particles over "
            f"{len(self.tracks.positions)} frames. They follow the optimal policy of a known cost: "
            f"{self.decided.total:,} decisions, each of them exactly by that policy."
        )

    def __repr__(self) -> str:
        return f"Flock({self.tracks!r}, {self.decided.total} decisions)"


def simulate_spp(
    solution: Solution,
    *,
    agents: Any = 200,
    steps: Any = 100,
    seed: Any = 0,
    radius: Any = 0.1,
    speed: Any = 1.0,
    side: Any = 1.0,
) -> Flock:
    """Steps 1 to 2c of the paper's algorithm: sample a state, turn by the difference, move.

    Parameters
    ----------
    solution
        Of a forward problem on the bins of local misalignment.
    agents, steps
        As in the paper.
    radius, speed
        ρ and v of eq. vicsek; v is a distance per step.
    side
        Of the periodic box, which the paper does not mention: in the open, particles that move ten
        radii in a step would never meet again.
    """
    bins = solution.passive.size
    space = StateSpace(LocalMisalignment(bins=bins, radius=radius))
    scenario = Scenario(steps, speed, Periodic(0.0, 0.0, side, side))
    (outcome,) = simulated(
        solution, scenario, Release(agents), checked_seed(seed), space=space, report=silent,
        decisions=True, between=False,
    )  # fmt: skip
    told = f"simulated by shoal {__version__}: the paper's SPP-LMDP algorithm, seed {seed}"
    assert outcome.origin is not None and outcome.destination is not None
    start, end = outcome.origin.ravel(), outcome.destination.ravel()
    both = (start >= 0) & (end >= 0)
    decided = Transitions.from_pairs(start[both], end[both], space)
    return Flock(as_tracks(outcome, told, several=False), space, decided)


def spp_costs(axis: Circular) -> Float[np.ndarray, " bins"]:
    """The state costs of eq. SPPcosts: 0, 2.5, 4, 5 as misalignment grows."""
    angle = np.abs(axis.centres)
    return np.select([angle == 0, angle <= 15, angle <= 25], [0.0, 2.5, 4.0], 5.0)


def spp_truth(bins: int = 36) -> Solution:
    """Costs-to-go by Z-iteration (eq. ziter) under the passive dynamics of eq. pbar."""
    axis = Circular("local_misalignment", bins)
    return solve(TurningMixture().on(StateSpace(axis)), spp_costs(axis))
