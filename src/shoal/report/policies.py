"""Where an animal goes next from each state, small enough for a page."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from shoal.passive import PassiveOperator
from shoal.posterior import Fit
from shoal.posterior.specification import Unreadable
from shoal.precision import as_jax
from shoal.report.packing import packed

BUDGET = 360_000
"""Entries of the policy in a page, six bytes each."""
ORIGINS = 4096
"""States whose policy is in a page at most: those left most often."""
COVERED = 0.999
"""Of the probability of a row; the rest is not shown."""
PER_NAT = 2048.0
"""Steps per nat of a logarithm written as a whole number of 16 bits."""
CHUNK = 1 << 22
"""Probabilities in memory at a time."""


def policy_of(fit: Fit) -> dict[str, Any] | None:
    """The policy at the posterior mean: exact factors where P̄ has them, else the likeliest states.

    None where the passive dynamics could not be read back from a file.
    """
    if isinstance(fit.model.passive, Unreadable):
        return None
    operator, discount = fit.operator, float(fit.model.discount)
    factors = None if bool(fit.absorbing.any()) else factors_of(operator)
    if factors is not None:
        return {"discount": discount, "factors": [packed(factor) for factor in factors]}
    cost = as_jax(fit.cost_to_go.values.mean(axis=(0, 1)))
    left = fit.data["observed_data"].to_dataset()["departures"].values.ravel()
    origins = np.sort(np.argsort(-left, kind="stable")[: min(ORIGINS, operator.size)])
    return {"discount": discount, "rows": _rows(operator, cost, discount, origins)}


def factors_of(operator: PassiveOperator) -> list[Float[np.ndarray, "n n"]] | None:
    """A matrix for each axis whose product P̄ is, or None where axes move together.

    Tried on every row, or of large grids on rows from all over: a product has each row as the
    product of its margins, and margins that depend on their own axis alone.
    """
    shape = operator.shape
    if len(shape) == 1 and operator.size > 600:
        return None
    middle = [size // 2 for size in shape]
    factors = []
    for axis, size in enumerate(shape):
        starts = [np.ravel_multi_index([*middle[:axis], n, *middle[axis + 1 :]], shape)
                  for n in range(size)]  # fmt: skip
        rows = np.asarray(_passive_rows(operator, as_jax(starts)))
        others = tuple(1 + n for n in range(len(shape)) if n != axis)
        factors.append(rows.sum(axis=others))
    some = np.unique(np.linspace(0, operator.size - 1, min(operator.size, 2048)).astype(int))
    for start, row in zip(some, np.asarray(_passive_rows(operator, as_jax(some))), strict=True):
        product = np.ones(())
        for factor, place in zip(factors, np.unravel_index(start, shape), strict=True):
            product = np.multiply.outer(product, factor[place])
        if not np.allclose(product, row, rtol=1e-6, atol=1e-12):
            return None
    return factors


@eqx.filter_jit
def _passive_rows(operator: PassiveOperator, origins: Int[Array, " n"]) -> Float[Array, "n *grid"]:
    return jax.lax.map(lambda origin: jnp.maximum(operator.row(origin), 0.0), origins)


def _rows(
    operator: PassiveOperator,
    cost: Float[Array, "*grid"],
    discount: float,
    origins: Int[np.ndarray, " n"],
) -> dict[str, Any]:
    """The likeliest next states of each origin, with and without costs."""
    most = max(8, BUDGET // len(origins))
    steps = max(1, CHUNK // operator.size)
    ends, index, with_costs, without = [], [], [], []
    weight = np.exp(-discount * (np.asarray(cost) - np.asarray(cost).min())).ravel()
    for first in range(0, len(origins), steps):
        chunk = as_jax(origins[first : first + steps])
        passive = np.asarray(_passive_rows(operator, chunk)).reshape(len(chunk), -1)
        chosen = passive * weight
        chosen /= chosen.sum(axis=1, keepdims=True)
        for p, q in zip(chosen, passive, strict=True):
            best = np.argsort(-np.maximum(p, q), kind="stable")[:most]
            covered = [np.searchsorted(np.cumsum(x[best]), COVERED) for x in (p, q)]
            kept = np.sort(best[: int(max(covered)) + 1])
            index.append(kept)
            with_costs.append(p[kept])
            without.append(q[kept])
            ends.append(len(kept))
    return {
        "origins": packed(origins, "i4"),
        "ends": packed(np.cumsum(ends), "i4"),
        "index": packed(np.concatenate(index), "u2" if operator.size <= 65_536 else "i4"),
        "policy": packed(_logs(np.concatenate(with_costs)), "u2"),
        "passive": packed(_logs(np.concatenate(without)), "u2"),
        "per_nat": PER_NAT,
    }


def _logs(probability: Float[np.ndarray, " n"]) -> Any:
    with np.errstate(divide="ignore"):
        return np.clip(np.rint(-np.log(probability) * PER_NAT), 0, 65_535)
