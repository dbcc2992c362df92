"""Small problems that tests share."""

import numpy as np

import shoal
from shoal.paper.spp import spp_costs

SPP = shoal.StateSpace(shoal.Circular("local"))


def spp_transitions(agents=200, steps=100, seed=5):
    """Decided transitions of the SPP flock, and its true solution."""
    solution = shoal.solve(shoal.TurningMixture().on(SPP), spp_costs(SPP.axes[0]))
    states = shoal.simulation.simulate_decisions(solution, agents=agents, steps=steps, seed=seed)
    return shoal.count_transitions(list(states), SPP), solution


def random_transitions(passive, space, seed=0, agents=40, steps=30, scale=2.0):
    """Decisions by a random cost-to-go on any passive dynamics."""
    v = np.random.default_rng(seed).uniform(0, scale, space.shape)
    states = shoal.simulation.simulate_decisions(
        v, passive=passive, agents=agents, steps=steps, seed=seed
    )
    return shoal.count_transitions(list(states), space)
