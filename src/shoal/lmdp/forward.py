"""Forward problems: from state costs to the cost-to-go."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from shoal.errors import InputError
from shoal.inputs import Numbers, Whole
from shoal.lmdp.average import z_iteration
from shoal.lmdp.discounted import discounted_iteration
from shoal.lmdp.finite import backward_recursion
from shoal.lmdp.first_exit import exit_iteration
from shoal.lmdp.policies import as_grid, as_numbers, checked_discount
from shoal.lmdp.solution import Solution
from shoal.passive import Operable, PassiveOperator, as_operator

HORIZONS = ("average", "first-exit", "discounted", "finite")


def solve(
    passive: Operable,
    cost: Numbers,
    horizon: str = "average",
    *,
    discount: float | None = None,
    absorbing: Numbers | None = None,
    steps: Whole | None = None,
    tolerance: float = 1e-12,
    max_iterations: int = 100_000,
) -> Solution:
    """The cost-to-go of every state under the best policy.

    Parameters
    ----------
    passive
        P̄: an array, a SciPy sparse matrix, or a passive object bound to a space by ``on``.
    cost
        r, shaped like the grid or flat. For a finite horizon also one per step, terminal cost last.
    horizon
        ``"average"``: cost per step for ever; ``"first-exit"``: until an absorbing state;
        ``"discounted"``: the future counts γ per step; ``"finite"``: a number of steps.
    discount
        γ in [0, 1), for discounted problems.
    absorbing
        State numbers, or a mask shaped like the grid, for first-exit problems. By default the
        states that the passive dynamics never leave. Their cost is paid once, on arrival.
    steps
        The number of decisions, for a finite horizon with one cost for all steps.
    tolerance, max_iterations
        When to stop: the error bound of v (of log λ for average cost), and at the latest.

    Returns
    -------
    Solution
        ``cost_to_go``, ``policy()``, ``average_cost`` and whether it ``converged``.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> solution = shoal.solve(np.full((3, 3), 1 / 3), np.array([0.0, 1.0, 2.0]))
    >>> solution.converged, round(solution.average_cost, 4)
    (True, 0.691)
    """
    operator = as_operator(passive)
    if horizon not in HORIZONS:
        raise InputError(f"horizon is one of {', '.join(HORIZONS)}; got {horizon!r}")
    _refuse_strangers(horizon, discount=discount, absorbing=absorbing, steps=steps)
    if horizon == "finite":
        return _finite(operator, cost, steps)
    r = as_grid(cost, operator, "cost")
    average_cost, ends, gamma = None, np.zeros(operator.shape, dtype=bool), 1.0
    if horizon == "average":
        v, average_cost, converged, count = z_iteration(operator, r, tolerance, max_iterations)
    elif horizon == "discounted":
        gamma = checked_discount(discount)
        if gamma == 1:
            raise InputError("a discount of 1 never ends: use horizon='average' or 'first-exit'")
        v, converged, count = discounted_iteration(operator, r, gamma, tolerance, max_iterations)
    else:
        ends = absorbing_mask(operator, absorbing)
        marks = jnp.asarray(ends)
        v, converged, count = exit_iteration(operator, r, marks, tolerance, max_iterations)
    converged = converged and bool(jnp.all(jnp.isfinite(v)))
    return Solution(
        cost_to_go=np.asarray(v).reshape(np.shape(cost)),
        horizon=horizon,
        cost=np.asarray(r).reshape(np.shape(cost)),
        discount=gamma,
        converged=converged,
        iterations=count,
        message=_words(horizon, converged, count),
        passive=operator,
        average_cost=average_cost,
        absorbing=tuple(np.flatnonzero(ends).tolist()),
    )


def absorbing_mask(passive: PassiveOperator, absorbing: Any) -> Bool[np.ndarray, "*grid"]:
    """Which states are absorbing, shaped like the grid."""
    if absorbing is None:
        numbers = jnp.arange(passive.size)
        mask = np.asarray(jnp.exp(passive.log_probability(numbers, numbers))) >= 1 - 1e-12
    else:
        given = np.atleast_1d(as_numbers(absorbing, "absorbing"))
        if np.asarray(absorbing).dtype == bool:
            given = given.astype(bool)
        mask = np.zeros(passive.size, dtype=bool)
        if given.dtype == bool:
            if given.size != passive.size:
                raise InputError(f"{given.size} absorbing marks do not fit {passive.size} states")
            mask = given.ravel().copy()
        elif np.any(wrong := ~np.isin(given, np.arange(passive.size))):
            raise InputError(f"absorbing state {given[wrong][0]:g} is not one of {passive.size}")
        else:
            mask[given.astype(int)] = True
    if not mask.any():
        raise InputError("a first-exit problem needs at least one absorbing state, got none")
    return mask.reshape(passive.shape)


def _refuse_strangers(horizon: str, **options: Any) -> None:
    """An option that this horizon does not use is a misunderstanding worth a word."""
    owner = {"discount": "discounted", "absorbing": "first-exit", "steps": "finite"}
    for name, value in options.items():
        harmless = name == "discount" and value == 1
        if value is not None and owner[name] != horizon and not harmless:
            raise InputError(f"{name} goes with horizon={owner[name]!r}, not with {horizon!r}")


def _finite(passive: PassiveOperator, cost: Any, steps: Any) -> Solution:
    array = as_numbers(cost, "cost")
    if steps is not None and steps != int(steps):
        raise InputError(f"a finite horizon has a whole number of steps, got {steps}")
    single = array.shape in (passive.shape, (passive.size,))
    if single and steps is None:
        raise InputError(
            "give steps=, or costs with a row for each step and a last row for the end"
        )
    if steps is not None and steps < 1:
        raise InputError(f"a finite horizon has at least 1 step, got {steps}")
    if single:
        assert steps is not None
        array = np.broadcast_to(array, (steps + 1, *array.shape))
    elif steps is not None and array.shape[0] != steps + 1:
        raise InputError(f"{steps} steps need {steps + 1} costs per state, got {array.shape[0]}")
    if array.shape[0] < 2:
        raise InputError(
            "costs of a fixed number of steps have a row for each step and a last row for the end, "
            f"2 rows or more; got {array.shape[0]}"
        )
    costs = jnp.stack([as_grid(row, passive, "cost") for row in array])
    v = np.asarray(backward_recursion(passive, costs)).reshape(array.shape)
    count = array.shape[0] - 1
    words = f"solved exactly, backwards over {count} steps"
    return Solution(v, "finite", np.array(array), 1.0, True, count, words, passive)


def _words(horizon: str, converged: bool, iterations: int) -> str:
    if converged:
        return f"converged after {iterations} iterations"
    reason = {
        "average": "the passive dynamics may fall apart into sets of states that do not reach each "
        "other, or mix very slowly",
        "first-exit": "negative costs may make it pay never to leave, or the exit is very far",
        "discounted": "the tolerance may be finer than the size of the costs allows",
    }[horizon]
    return (
        f"did not converge in {iterations} iterations: {reason}; "
        "raise max_iterations or the tolerance"
    )
