"""Decisions alone: each agent draws its next state from the policy, and is there."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from shoal.errors import InputError
from shoal.lmdp import Solution, policy


def simulate_decisions(
    solution: Solution | Float[np.ndarray, "*grid"],
    *,
    agents: int,
    steps: int,
    seed: int,
    passive: Any = None,
    discount: float = 1.0,
    start: Int[np.ndarray, " agents"] | None = None,
) -> Int[np.ndarray, "agents times"]:
    """The states of agents that follow p*, one row each, the start included.

    Parameters
    ----------
    solution
        Of a forward problem, or a cost-to-go together with ``passive`` and ``discount``.
    agents, steps
        How many, and how many decisions each takes.
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
    if isinstance(solution, Solution):
        matrix = solution.policy()
    elif passive is None:
        raise InputError("a bare cost-to-go needs passive= to decide by")
    else:
        matrix = policy(solution, passive, discount)
    size = len(matrix)
    first_key, key = jax.random.split(jax.random.key(seed))
    first = (
        jax.random.randint(first_key, (agents,), 0, size)
        if start is None
        else jnp.asarray(_checked_start(start, agents, size))
    )
    return np.asarray(_decide(jnp.log(matrix), first, jax.random.split(key, steps)))


@eqx.filter_jit
def _decide(
    log_policy: Float[Array, "J J"], first: Int[Array, " agents"], keys: Key[Array, " steps"]
) -> Int[Array, "agents times"]:
    def step(state: Array, key: Key[Array, ""]) -> tuple[Array, Array]:
        chosen = jax.random.categorical(key, log_policy[state], axis=-1)
        return chosen, chosen

    _, later = jax.lax.scan(step, first, keys)
    return jnp.concatenate([first[None], later]).T


def _checked_start(
    start: Int[np.ndarray, " agents"], agents: int, size: int
) -> Int[np.ndarray, " agents"]:
    states = np.asarray(start)
    if states.shape != (agents,) or states.min() < 0 or states.max() >= size:
        raise InputError(f"start needs {agents} states between 0 and {size - 1}, got {states}")
    return states
