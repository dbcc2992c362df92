"""A density of moves as it was seen, in place of a formula."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.errors import InputError


@dataclass(frozen=True)
class EmpiricalMoves:
    """A smoothed histogram of turns or of steps, from ``shoal.moves.observed_turns`` or ``_steps``.

    Parameters
    ----------
    places, density
        Turns in degrees, or log steps from what was expected, and the density there; between two
        places it is a straight line, beyond the last ones zero.
    typical, follow
        Of steps: the typical step of these tracks, and how much of the step before is kept.

    Examples
    --------
    >>> import shoal
    >>> alone = shoal.paper.simulate_tank(seed=1, progress=False).tracks
    >>> shoal.Turns(shoal.moves.observed_turns(alone)).turn
    EmpiricalMoves(54 places)
    """

    places: Any
    density: Any
    typical: Any = None
    follow: Any = None

    def __post_init__(self) -> None:
        """Check the numbers, which may come from a file, and make their integral 1."""
        places, density = (np.asarray(part, dtype=float) for part in (self.places, self.density))
        good = places.ndim == 1 and places.shape == density.shape and places.size > 1
        if not good or not np.all(np.diff(places) > 0) or not np.all(density >= 0):
            raise InputError(
                "empirical moves are increasing places with a density of 0 or more at each: take "
                "them from shoal.moves.observed_turns(tracks) or shoal.moves.observed_steps(tracks)"
            )
        mass = float(np.sum((density[1:] + density[:-1]) / 2 * np.diff(places)))
        if not (np.isfinite(mass) and mass > 0):
            raise InputError("empirical moves have a density that is zero everywhere")
        if abs(mass - 1) > 1e-12:
            density = density / mass
        object.__setattr__(self, "places", tuple(places.tolist()))
        object.__setattr__(self, "density", tuple(density.tolist()))

    def at(self, values: Float[Array, "*any"]) -> Float[Array, "*any"]:
        """The density there."""
        places, density = jnp.asarray(self.places), jnp.asarray(self.density)
        return jnp.interp(values, places, density, left=0.0, right=0.0)

    def __repr__(self) -> str:
        return f"EmpiricalMoves({len(self.places)} places)"
