"""Passive dynamics, bases and data written out in plain NumPy, with nothing of shoal in them."""

import numpy as np
from scipy.stats import norm

IMAGES = 6
"""Turns of the circle either way that a normal step is followed for."""


def centres(bins: int) -> np.ndarray:
    """Angles of the bins of a circle, from −180° on."""
    return np.arange(bins) * 360.0 / bins - 180.0


def wrapped_normal(bins: int, turn: float, sd: float) -> np.ndarray:
    """The chance of going from bin to bin by Normal(turn, sd) round the circle."""
    angle, half = centres(bins), 180.0 / bins
    chance = np.zeros((bins, bins))
    for i in range(bins):
        for image in range(-IMAGES, IMAGES + 1):
            away = angle + 360.0 * image - angle[i] - turn
            chance[i] += norm.cdf(away + half, scale=sd) - norm.cdf(away - half, scale=sd)
    return chance / chance.sum(axis=1, keepdims=True)


def turning(bins: int, turns: list[float], sd: float) -> np.ndarray:
    """One of the turns with equal chance, and a normal error."""
    return np.asarray(np.mean([wrapped_normal(bins, turn, sd) for turn in turns], axis=0))


def torus_walk(bins: int, sd: float) -> np.ndarray:
    """Both angles of a torus walk, each by itself; the second runs fastest."""
    one = wrapped_normal(bins, 0.0, sd)
    size = bins * bins
    both = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            both[i, j] = one[i // bins, j // bins] * one[i % bins, j % bins]
    return both


def graph_edges(states: int, chords: int, seed: int) -> list[tuple[int, int]]:
    """A ring with a few chords across it: pairs (i, j) with i < j."""
    rng = np.random.default_rng(seed)
    edges = {tuple(sorted((i, (i + 1) % states))) for i in range(states)}
    while len(edges) < states + chords:
        i, j = (int(end) for end in rng.choice(states, size=2, replace=False))
        edges.add((min(i, j), max(i, j)))
    return sorted((i, j) for i, j in edges)


def graph_walk(states: int, edges: list[tuple[int, int]]) -> np.ndarray:
    """Staying, or going to a neighbour, with equal chances."""
    chance = np.eye(states)
    for i, j in edges:
        chance[i, j] = chance[j, i] = 1.0
    return chance / chance.sum(axis=1, keepdims=True)


def bumps(bins: int, every: int) -> np.ndarray:
    """Gaussians on every k-th bin whose full width at half height is their spacing."""
    angle = centres(bins)
    spacing = every * 360.0 / bins
    away = np.abs(angle[:, None] - angle[None, ::every])
    away = np.minimum(away, 360.0 - away)
    return np.asarray(0.5 ** ((2 * away / spacing) ** 2))


def policy(passive: np.ndarray, cost_to_go: np.ndarray, discount: float) -> np.ndarray:
    """p*(j | i) = p̄_ij e^{−γ v_j} / Σ_k p̄_ik e^{−γ v_k}."""
    weight = passive * np.exp(-discount * cost_to_go)[None, :]
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def simulated_counts(
    chance: np.ndarray, agents: int, steps: int, rng: np.random.Generator
) -> np.ndarray:
    """How often agents that start anywhere went from state to state."""
    states = len(chance)
    counts = np.zeros((states, states), dtype=int)
    here = rng.integers(states, size=agents)
    for _ in range(steps):
        after = np.array([rng.choice(states, p=chance[i]) for i in here])
        np.add.at(counts, (here, after), 1)
        here = after
    return counts
