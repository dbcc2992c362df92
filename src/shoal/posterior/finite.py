"""Raise an error that names the state where the log posterior is not finite."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.errors import InputError
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.precision import as_jax


class NotFiniteError(InputError):
    """A log posterior that is not finite.

    Attributes
    ----------
    state
        The flat number of the state that broke it, None where it is none.
    """

    def __init__(self, words: str, state: int | None = None) -> None:
        super().__init__(words)
        self.state = state


def check_finite(
    density: Density,
    position: Float[Array, " unknowns"],
    log_posterior: Float[Array, ""],
) -> None:
    """Raise where the log posterior at a point is not finite, saying in which state it breaks."""
    if not np.isfinite(log_posterior):
        raise _reason(density, position)


def check_draws(density: Density, draws: Draws) -> None:
    """Raise where a draw, or its log posterior, is no number."""
    flat = draws.positions.reshape(-1, draws.positions.shape[-1])
    broken = ~np.isfinite(flat).all(axis=1)
    if "log_posterior" in draws.statistics:
        broken |= np.isnan(draws.statistics["log_posterior"]).ravel()
    if broken.any():
        raise _reason(density, as_jax(flat[int(np.argmax(broken))]))


def _reason(density: Density, position: Float[Array, " unknowns"]) -> NotFiniteError:
    head = "the log posterior is not finite"
    lost = not np.all(np.isfinite(position))
    if lost:  # a search that ended nowhere met the cause near its beginning, too
        position = 0.01 * jnp.sin(jnp.arange(1.0, position.size + 1))
    v, given = density.cost_to_go(position), density.given(density.split(position)[1])
    _, _, reached = given.desirability(v)
    left = np.asarray(density.departures) > 0
    causes: list[tuple[str, Any]] = [
        ("the cost-to-go is no number in", ~np.isfinite(np.asarray(v))),
        ("the passive dynamics give no number from", left & ~np.isfinite(np.asarray(reached))),
        (
            "costs span more than numbers can hold: nothing can be reached from",
            left & ~(np.asarray(reached) > 0),
        ),
    ]
    for words, broken in causes:
        if broken.any():
            more = f" (and {int(broken.sum()) - 1} more)" if broken.sum() > 1 else ""
            return NotFiniteError(f"{head}{more}: {words}", int(np.argmax(broken)))
    if lost:
        return NotFiniteError(
            f"{head}: a coefficient is no number where the search ended; use a stronger prior"
        )
    if not np.isfinite(given.log_passive):
        return NotFiniteError(f"{head}: a transition that was seen has no passive probability")
    return NotFiniteError(f"{head}, though every state's part is: the prior gives no number")
