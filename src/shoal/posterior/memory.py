"""How much memory a fit will need, before it asks for any."""

from shoal.posterior.curvature import LARGEST_DENSE
from shoal.posterior.density import Density
from shoal.posterior.hierarchy import Hierarchy
from shoal.room import refuse_beyond_memory

NUMBER = 8
LAPLACE_NODES = 20
"""Factors of the curvature that nested Laplace holds at a time, as a rule."""


def refuse_what_does_not_fit(
    density: Density | Hierarchy, method: str, shape: tuple[int, int]
) -> None:
    """Raise where this machine has not the memory for a fit."""
    chains, draws = (1, 1) if method == "map" else shape
    states = density.arrivals.size
    refuse_beyond_memory(
        needed_memory(density.dimension, states, method, chains * draws),
        f"{method} with {chains} × {draws} draws of {states:,} states",
        "draw fewer, use coarser bins or a basis with fewer functions, or method map",
    )


def needed_memory(unknowns: int, states: int, method: str, draws: int) -> float:
    """Bytes, roughly: draws with their copies on the way to a file, and matrices of the method."""
    kept = draws * (3 * unknowns + 5 * states)
    matrices = 0.0
    if method != "map" and unknowns <= LARGEST_DENSE:
        factors = LAPLACE_NODES if method == "laplace" else 5
        matrices = factors * unknowns**2 + 3.0 * unknowns * states
    return NUMBER * (kept + matrices)
