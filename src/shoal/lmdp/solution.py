"""What a forward problem returns: the cost-to-go, and whether it can be trusted."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.lmdp.policies import control_cost, policy, policy_row, stationary
from shoal.passive import PassiveOperator
from shoal.results import Result, counted, data_frame, spoken

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Solution(Result):
    """The solution of a forward problem.

    Attributes
    ----------
    cost_to_go
        v, shaped like the costs; for a finite horizon one per step, the last one terminal. For an
        average-cost problem its minimum is 0: only differences mean something there.
    average_cost
        c = −log λ per step, for average-cost problems; None otherwise.
    converged, iterations, message
        Whether the tolerance was reached, after how many steps, and in words.
    """

    cost_to_go: Float[np.ndarray, "..."]
    horizon: str
    cost: Float[np.ndarray, "..."]
    discount: float
    converged: bool
    iterations: int
    message: str
    passive: PassiveOperator = field(repr=False)
    average_cost: float | None = None
    absorbing: tuple[int, ...] = ()

    @property
    def eigenvalue(self) -> float:
        """λ = e^{−c}, the principal eigenvalue of diag(e^{−r}) P̄ (eq. ziter)."""
        if self.average_cost is None:
            raise InputError(f"a {self.horizon} problem has no eigenvalue, only an average one has")
        return float(np.exp(-self.average_cost))

    def policy(self, origin: int | None = None, step: int = 0) -> Float[np.ndarray, "..."]:
        """p* as a matrix, or the row of one origin shaped like the grid; absorbing states stay.

        Parameters
        ----------
        origin
            The state to start from; None for the whole matrix.
        step
            For a finite horizon, the step at which the decision is taken.
        """
        ahead = self._ahead(step)
        if origin is None:
            matrix = policy(ahead, self.passive, self.discount).copy()
            ends = list(self.absorbing)
            matrix[ends] = np.eye(self.passive.size)[ends]
            return matrix
        if origin in self.absorbing:
            return np.eye(self.passive.size)[origin].reshape(self.passive.shape)
        return policy_row(ahead, self.passive, origin, self.discount)

    def stationary(self) -> Float[np.ndarray, "*grid"]:
        """How often each state is visited in the long run by an animal that follows the policy."""
        self._needs_long_run("a stationary distribution")
        mass, converged, steps = stationary(self.cost_to_go, self.passive, self.discount)
        if not converged:
            raise InputError(
                f"the stationary distribution did not settle in {steps} steps: the policy mixes "
                "too slowly, or falls apart into sets of states that do not reach each other"
            )
        return mass.reshape(self.cost_to_go.shape)

    def expected_cost(self) -> float:
        """The state and control cost an animal pays per step in the long run.

        For an average-cost problem this is ``average_cost``.
        """
        self._needs_long_run("an expected cost per step")
        v = jnp.asarray(self.cost_to_go).reshape(self.passive.shape)
        control = np.asarray(control_cost(v, self.passive, self.discount))
        return float(np.sum(self.stationary().ravel() * (self.cost.ravel() + control.ravel())))

    def table(self) -> "pd.DataFrame":
        """A row for each state, of a finite horizon for each step and state: costs, cost-to-go."""
        ahead, size = self.cost_to_go, self.passive.size
        columns: dict[str, Any] = {}
        if self.horizon == "finite":
            columns["step"] = np.repeat(np.arange(len(ahead)), size)
        columns["state"] = np.tile(np.arange(size), ahead.size // size)
        columns["cost"] = self.cost.ravel()
        columns["cost_to_go"] = ahead.ravel()
        return data_frame(columns)

    def __str__(self) -> str:
        v = self.cost_to_go if self.horizon != "finite" else self.cost_to_go[0]
        flat = v.ravel()
        states = counted(flat.size, "state")
        words = [f"The solver of this {self.horizon} problem with {states} {self.message}."]
        if self.horizon == "finite":
            words = [f"This finite problem with {states} was {self.message}."]
        if self.average_cost is not None:
            words.append(
                f"In the long run an animal pays {spoken(self.average_cost)} nats per step."
            )
        known = np.isfinite(flat)
        if known.any():
            low, high = int(np.nanargmin(flat)), int(np.argmax(np.where(known, flat, -np.inf)))
            apart = spoken(float(flat[high] - flat[low]))
            words.append(
                f"The cost-to-go is lowest in state {low} and highest in state {high}: "
                f"{apart} nats apart."
            )
        return " ".join(words)

    def __repr__(self) -> str:
        average = "" if self.average_cost is None else f", average cost {self.average_cost:.4g}"
        state = "converged" if self.converged else "not converged"
        return f"Solution({self.horizon}, {self.passive.size} states{average}, {state})"

    def _ahead(self, step: int) -> Float[np.ndarray, "..."]:
        """The cost-to-go of the next state, when deciding at this step."""
        if self.horizon != "finite":
            return self.cost_to_go
        steps = self.cost_to_go.shape[0] - 1
        if not 0 <= step < steps:
            raise InputError(f"decisions are taken at steps 0 to {steps - 1}, got {step}")
        return np.asarray(self.cost_to_go[step + 1])

    def _needs_long_run(self, what: str) -> None:
        if self.horizon not in ("average", "discounted"):
            raise InputError(f"a {self.horizon} problem ends, so it has no long run and not {what}")
