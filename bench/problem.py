"""A problem of the size of the paper's guppies: 36 × 36 states, a walk of 90°, a smooth truth."""

import numpy as np

import shoal

SPACE = shoal.StateSpace(
    shoal.Circular("local_misalignment"), shoal.Circular("target_misalignment")
)
PASSIVE = shoal.RandomWalk(90.0)


def truth() -> np.ndarray:
    """A cost-to-go with its minimum at local 0°, target −40°, deeper in the first."""
    local, target = (np.deg2rad(angle) for angle in SPACE.decode(np.arange(SPACE.size)))
    v = 4.0 * (1 - np.cos(local)) + 1.5 * (1 - np.cos(target + np.deg2rad(40)))
    return np.asarray(v).reshape(SPACE.shape)


def transitions(agents: int = 200, steps: int = 100, seed: int = 0) -> shoal.states.Transitions:
    """Decisions of 200 agents over 100 steps: 20,000 transitions."""
    states = shoal.simulation.simulate_decisions(
        truth(), passive=PASSIVE.on(SPACE), agents=agents, steps=steps, seed=seed
    )
    return shoal.count_transitions(list(states), SPACE)
