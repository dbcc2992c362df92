"""The paper's algorithm of section 3: particles that follow the optimal policy, places included."""

from dataclasses import dataclass
from typing import Any

from shoal.errors import checked_seed
from shoal.lmdp import Solution
from shoal.simulation.designs import Scenario
from shoal.simulation.groups import as_tracks, simulated
from shoal.simulation.release import Release
from shoal.states import LocalMisalignment, StateSpace, Transitions, count_transitions
from shoal.system.progress import silent
from shoal.tracks import Periodic, Tracks
from shoal.version import __version__


@dataclass(frozen=True, eq=False)
class Flock:
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
