"""How much memory a fit will need, before it asks for any."""

from shoal.posterior.curvature import LARGEST_DENSE
from shoal.posterior.density import Density
from shoal.system.memory import free_memory, refuse_beyond_memory

NUMBER = 8
CANDIDATE = 60
"""Bytes for every candidate of every decision: its state, and S with its copies as a matrix."""

LAPLACE_NODES = 20
"""Factors of the curvature that nested Laplace holds at a time, as a rule."""


def refuse_what_does_not_fit(
    density: Density, method: str, shape: tuple[int, int], states: int
) -> None:
    """Raise an error if a fit of so many states needs more memory than is free."""
    chains, draws = (1, 1) if method == "map" else shape
    needed = needed_memory(density.dimension, states, method, chains * draws)
    if density.of_decisions:
        _refuse_candidates(density, method, needed)
    refuse_beyond_memory(
        needed,
        f"{method} with {chains} × {draws} draws of {states:,} states",
        "draw fewer, use coarser bins or a basis with fewer functions, or method map",
    )


def _refuse_candidates(density: Density, method: str, needed: float) -> None:
    """Raise where candidates do not fit beside all else; say how many decisions would."""
    rows = density.departures.size
    each = density.work // max(rows, 1)
    if density.work * CANDIDATE + needed < 1e8:  # not worth asking
        return
    free = free_memory()
    fit = decisions_that_fit(each, free - needed)
    refuse_beyond_memory(
        density.work * CANDIDATE + needed,
        f"{method} with {rows:,} decisions of {each} candidate moves each",
        f"about {fit:,} decisions fit; keep one frame in {-(-rows // max(fit, 1)):,} with "
        "tracks.thin(…), or use fewer candidates",
        free,
    )


def decisions_that_fit(candidates: int, free: float) -> int:
    """How many decisions with so many candidates each a fit has memory for."""
    return max(int(free / (CANDIDATE * candidates)), 0)


def needed_memory(unknowns: int, states: int, method: str, draws: int) -> float:
    """Bytes, roughly: draws with their copies on the way to a file, and matrices of the method."""
    kept = draws * (3 * unknowns + 5 * states)
    matrices = 0.0
    if method != "map" and unknowns <= LARGEST_DENSE:
        factors = LAPLACE_NODES if method == "laplace" else 5
        matrices = factors * unknowns**2 + 3.0 * unknowns * states
    return NUMBER * (kept + matrices)
