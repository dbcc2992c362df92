"""From the cost-to-go back to the state costs (eq. estimatecosts, with its sign mended)."""

from itertools import pairwise

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.inputs import Numbers
from shoal.lmdp.forward import HORIZONS, absorbing_mask
from shoal.lmdp.log_space import log_apply
from shoal.lmdp.policies import as_grid, as_numbers, checked_discount
from shoal.lmdp.solution import Solution
from shoal.passive import Operable, PassiveOperator, as_operator


def state_cost(
    cost_to_go: Solution | Numbers,
    passive: Operable | None = None,
    discount: float = 1.0,
    *,
    horizon: str | None = None,
    average_cost: float = 0.0,
    absorbing: Numbers | None = None,
) -> Float[np.ndarray, "..."]:
    """r_i = v_i + log Σ_j p̄_ij e^{−γ v_j} + c: the inverse of ``solve``.

    Parameters
    ----------
    cost_to_go
        v, shaped like the grid or flat; or a whole ``Solution``, which knows all that follows.
    passive
        P̄, as for ``solve``.
    discount
        γ.
    horizon
        ``"finite"`` where v has a leading axis of steps, the last one terminal.
    average_cost
        c = −log λ, of an average-cost problem. Without it such costs come back up to that constant.
    absorbing
        States whose cost is paid once, on arrival: there r = v.

    Returns
    -------
    numpy.ndarray
        r, shaped like the cost-to-go.

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
    if horizon == "finite":
        if gamma != 1 or average_cost != 0 or absorbing is not None:
            raise InputError("a finite horizon has no discount, average cost or absorbing states")
        return _finite(operator, as_numbers(cost_to_go, "cost_to_go"))
    if horizon not in (None, *HORIZONS):
        raise InputError(f"horizon is one of {', '.join(HORIZONS)}; got {horizon!r}")
    if not np.isfinite(average_cost):
        raise InputError(f"an average cost is a finite number, got {average_cost}")
    v = as_grid(cost_to_go, operator, "cost_to_go")
    r = v + log_apply(operator, -gamma * v) + average_cost
    if absorbing is not None:
        r = jnp.where(jnp.asarray(absorbing_mask(operator, absorbing)), v, r)
    return np.asarray(r).reshape(np.shape(cost_to_go))


def _of_solution(solution: Solution) -> Float[np.ndarray, "..."]:
    return state_cost(
        solution.cost_to_go,
        solution.passive,
        solution.discount,
        horizon=solution.horizon,
        average_cost=solution.average_cost or 0.0,
        absorbing=solution.absorbing or None,
    )


def _finite(
    passive: PassiveOperator, cost_to_go: Float[np.ndarray, "times ..."]
) -> Float[np.ndarray, "times ..."]:
    """r_t = v_t + log P̄ e^{−v_{t+1}}, and the terminal cost as it is."""
    if cost_to_go.ndim < 2:
        raise InputError("a finite horizon has a cost-to-go for every step, got a single one")
    v = [as_grid(row, passive, "cost_to_go") for row in cost_to_go]
    costs = [now + log_apply(passive, -ahead) for now, ahead in pairwise(v)]
    return np.asarray(jnp.stack([*costs, v[-1]])).reshape(cost_to_go.shape)
