"""From the cost-to-go back to the state costs (eq. estimatecosts, with its sign mended)."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from shoal.errors import InputError
from shoal.lmdp.forward import absorbing_mask, checked_discount
from shoal.lmdp.log_space import log_apply
from shoal.lmdp.policies import as_grid
from shoal.lmdp.solution import Solution
from shoal.passive import PassiveOperator, as_operator


def state_cost(
    cost_to_go: Solution | Float[np.ndarray, "..."],
    passive: Any = None,
    discount: float = 1.0,
    *,
    average_cost: float = 0.0,
    absorbing: Iterable[int] | Bool[np.ndarray, "*grid"] | None = None,
) -> Float[np.ndarray, "..."]:
    """r_i = v_i + log Σ_j p̄_ij e^{−γ v_j} + c: the inverse of ``solve``.

    Parameters
    ----------
    cost_to_go
        v, shaped like the grid or flat, or with a leading axis of steps for a finite horizon; or a
        whole ``Solution``, which knows all that follows.
    passive
        P̄, as for ``solve``.
    discount
        γ.
    average_cost
        c = −log λ, of an average-cost problem. Without it such costs come back up to that constant.
    absorbing
        States whose cost is paid once, on arrival: there r = v.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> P, cost = np.full((3, 3), 1 / 3), np.array([0.0, 1.0, 2.0])
    >>> shoal.state_cost(shoal.solve(P, cost)).round(9).tolist()
    [0.0, 1.0, 2.0]
    """
    if isinstance(cost_to_go, Solution):
        if passive is not None:
            raise InputError("a Solution knows its passive dynamics: pass it alone")
        return _of_solution(cost_to_go)
    if passive is None:
        raise InputError("state_cost needs the passive dynamics, or a whole Solution")
    operator, gamma = as_operator(passive), checked_discount(discount)
    array = np.asarray(cost_to_go, dtype=float)
    if array.ndim > 1 and array.shape[1:] in (operator.shape, (operator.size,)):
        return _finite(operator, array)
    v = as_grid(array, operator, "cost_to_go")
    r = v + log_apply(operator, -gamma * v) + average_cost
    if absorbing is not None:
        r = jnp.where(jnp.asarray(absorbing_mask(operator, absorbing)), v, r)
    return np.asarray(r).reshape(array.shape)


def _of_solution(solution: Solution) -> Float[np.ndarray, "..."]:
    return state_cost(
        solution.cost_to_go,
        solution.passive,
        solution.discount,
        average_cost=solution.average_cost or 0.0,
        absorbing=solution.absorbing or None,
    )


def _finite(
    passive: PassiveOperator, cost_to_go: Float[np.ndarray, "times ..."]
) -> Float[np.ndarray, "times ..."]:
    """r_t = v_t + log P̄ e^{−v_{t+1}}, and the terminal cost as it is."""
    v = [as_grid(row, passive, "cost_to_go") for row in cost_to_go]
    costs = [now + log_apply(passive, -ahead) for now, ahead in pairwise(v)]
    return np.asarray(jnp.stack([*costs, v[-1]])).reshape(cost_to_go.shape)
