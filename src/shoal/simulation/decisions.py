"""Decisions alone: each agent draws its next state from the policy, and is there."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from shoal.errors import InputError, checked_seed
from shoal.lmdp import Solution, policy
from shoal.precision import as_jax


def simulate_decisions(
    solution: Any,
    *,
    agents: int,
    steps: int,
    seed: int,
    passive: Any = None,
    discount: float = 1.0,
    start: Any = None,
) -> Int[np.ndarray, "agents moments"]:
    """The states of agents that follow p*, one row each, the start included.

    Parameters
    ----------
    solution
        Of a forward problem, or a cost-to-go together with ``passive`` and ``discount``.
    agents, steps
        How many, and how many decisions each takes: as many as a finite horizon has.
    seed
        The same seed gives the same decisions.
    start
        The first state of each agent; by default spread evenly at random.

    Notes
    -----
    These are *decided* transitions: they follow p* exactly, as no neighbour moves meanwhile.
    """
    if agents < 1 or steps < 1:
        raise InputError(f"at least 1 agent and 1 step are needed, got {agents} and {steps}")
    matrices = _policies(solution, steps, passive, discount)
    size = matrices.shape[-1]
    first_key, key = jax.random.split(jax.random.key(checked_seed(seed)))
    first = (
        jax.random.randint(first_key, (agents,), 0, size)
        if start is None
        else as_jax(_checked_start(start, agents, size))
    )
    return np.asarray(_decide(jnp.log(matrices), first, jax.random.split(key, steps)))


def _policies(
    solution: Solution | Any, steps: int, passive: Any, discount: float
) -> Float[np.ndarray, "times J J"]:
    """One policy for all steps, or for a finite horizon one for each."""
    if not isinstance(solution, Solution):
        if passive is None:
            raise InputError("a bare cost-to-go needs passive= to decide by")
        return policy(solution, passive, discount)[None]
    if passive is not None:
        raise InputError("a Solution knows its passive dynamics: pass it alone")
    if solution.horizon != "finite":
        return solution.policy()[None]
    decisions = solution.cost_to_go.shape[0] - 1
    if steps != decisions:
        raise InputError(f"this finite horizon has {decisions} decisions, got steps={steps}")
    return np.stack([solution.policy(step=step) for step in range(steps)])


@eqx.filter_jit
def _decide(
    log_policies: Float[Array, "times J J"],
    first: Int[Array, " agents"],
    keys: Key[Array, " steps"],
) -> Int[Array, "agents moments"]:
    last = log_policies.shape[0] - 1

    def step(state: Array, item: tuple[Array, Array]) -> tuple[Array, Array]:
        number, key = item
        rows = log_policies[jnp.minimum(number, last), state]
        chosen = jax.random.categorical(key, rows, axis=-1)
        return chosen, chosen

    _, later = jax.lax.scan(step, first, (jnp.arange(keys.shape[0]), keys))
    return jnp.concatenate([first[None], later]).T


def _checked_start(start: Any, agents: int, size: int) -> Int[np.ndarray, " agents"]:
    states = np.asarray(start)
    if not np.issubdtype(states.dtype, np.integer):
        raise InputError(f"start needs whole numbers of states, got {states.ravel()[:1]}")
    if states.shape != (agents,) or states.min() < 0 or states.max() >= size:
        raise InputError(f"start needs {agents} states between 0 and {size - 1}, got {states}")
    return states
