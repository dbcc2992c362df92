"""The reference problems: each as dense arrays for any engine, and as a model of shoal's."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

import shoal
from dense import (
    bumps,
    centres,
    graph_edges,
    graph_walk,
    policy,
    simulated_counts,
    torus_walk,
    turning,
)
from plain_model import Draws, Run

TURNS = [float(turn) for turn in range(-60, 61, 10)]
BINS, SIDE, NODES = 36, 12, 100
WALK_SD = 45.0

PRIORS = {"precision": (2.0, 4.0), "inverse-sd": (4.0, 4.0)}
"""Shape and rate: both expect coefficients of a few nats, loosely."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A posterior that several engines can compute.

    Attributes
    ----------
    passive, basis, counts
        P̄ (states × states), X (states × functions) and y (states × states), dense.
    form, shape, rate
        The prior: τ or α, by name, is Gamma(shape, rate).
    model
        The same in shoal's words.
    """

    passive: np.ndarray
    basis: np.ndarray
    counts: np.ndarray
    discount: float
    form: str
    shape: float
    rate: float
    model: shoal.Model

    @property
    def arrivals(self) -> np.ndarray:
        """How often each state was entered."""
        return np.asarray(self.counts.sum(axis=0))


def spp(form: str, discount: float = 1.0, every: int = 1) -> Problem:
    """The flock of section 3: 36 bins of 10°, turns up to 60°, and a bowl for its cost-to-go."""
    passive = turning(BINS, TURNS, 10.0)
    v = 3.0 * (1 - np.cos(np.deg2rad(centres(BINS))))
    counts = simulated_counts(policy(passive, v, discount), 60, 40, np.random.default_rng(11))
    whole = every == 1
    model = shoal.Model(
        shoal.StateSpace(shoal.Circular("local", bins=BINS)),
        shoal.TurningMixture(),
        shoal.Identity() if whole else shoal.Gaussian(every=every),
        discount,
        shoal.Prior(form, *PRIORS[form]),
    )
    basis = np.eye(BINS) if whole else bumps(BINS, every)
    return Problem(passive, basis, counts, discount, form, *PRIORS[form], model)


def graph(form: str) -> Problem:
    """A walk on a sparse graph of 100 states, which shoal has as a sparse matrix."""
    edges = graph_edges(NODES, 60, seed=3)
    passive = graph_walk(NODES, edges)
    rng = np.random.default_rng(12)
    counts = simulated_counts(policy(passive, rng.normal(size=NODES), 1.0), 200, 20, rng)
    ends = np.array([*edges, *((j, i) for i, j in edges), *((i, i) for i in range(NODES))]).T
    ways = np.bincount(ends[0])
    sparse = coo_array((1 / ways[ends[0]], (ends[0], ends[1])), shape=(NODES, NODES)).tocsr()
    space, prior = shoal.StateSpace.discrete(NODES), shoal.Prior(form, *PRIORS[form])
    model = shoal.Model(space, sparse, prior=prior)
    return Problem(passive, np.eye(NODES), counts, 1.0, form, *PRIORS[form], model)


def torus(form: str) -> Problem:
    """A walk of two angles, which shoal has as a small kernel for each."""
    passive = torus_walk(SIDE, WALK_SD)
    first, second = (
        np.deg2rad(np.repeat(centres(SIDE), SIDE)),
        np.deg2rad(np.tile(centres(SIDE), SIDE)),
    )
    v = 1.5 * (1 - np.cos(first)) + 0.8 * (1 - np.cos(second + 0.7))
    counts = simulated_counts(policy(passive, v, 1.0), 200, 100, np.random.default_rng(13))
    axes = (shoal.Circular(name, bins=SIDE) for name in ("local", "target"))
    space, prior = shoal.StateSpace(*axes), shoal.Prior(form, *PRIORS[form])
    model = shoal.Model(space, shoal.RandomWalk(WALK_SD, start="centre"), prior=prior)
    return Problem(passive, np.eye(SIDE**2), counts, 1.0, form, *PRIORS[form], model)


KINDS: dict[str, Callable[[str], Problem]] = {
    "SPP, identity": spp,
    "SPP, Gaussian basis": lambda form: spp(form, every=2),
    "SPP, discount 0.9": lambda form: spp(form, discount=0.9),
    "graph of 100 states": graph,
    "12 × 12 torus, walk": torus,
}
"""Each with either form of the prior."""


def shoal_draws(problem: Problem, run: Run, seed: int) -> Draws:
    """Draws by shoal's own NUTS."""
    space, (chains, warmup, draws) = problem.model.space, run
    transitions = shoal.states.Transitions.from_matrix(problem.counts, space)
    settings = shoal.NUTS(warmup=warmup)
    fit = problem.model.fit(transitions, settings, chains=chains, draws=draws, seed=seed)
    posterior = fit.data["posterior"].to_dataset()
    return Draws(
        posterior["cost_to_go"].values.reshape(chains, draws, space.size),
        posterior["precision"].values,
        int(fit.data["sample_stats"]["diverging"].sum()),
    )
