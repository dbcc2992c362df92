"""State costs behind decisions: r(x) = v(x) + log Σ_m p̄(m) e^{−q(y(x, m))}, up to a constant.

The sum depends on where within a perceived state an animal is, and, where steps are chosen, on
everybody's places: r of a state is the mean over the decisions that were made in it.
"""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float, Int

from shoal.basis import ThroughBasis
from shoal.moves import Decisions, MoveFamily
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.fit import SAMPLING, Fit
from shoal.precision import as_jax


def with_state_costs(fit: Fit, decisions: Decisions, density: Density, drawn: Draws) -> Fit:
    """The fit, with every draw of v and r beside q."""
    chains, count, size = drawn.positions.shape
    family = MoveFamily.of(decisions.moves, decisions.places, decisions.candidates)
    whole = eqx.tree_at(lambda model: model.family, density, family)
    origin = as_jax(decisions.records.origin.astype(np.int32))
    made = np.bincount(decisions.records.origin, minlength=decisions.space.size)
    positions = as_jax(drawn.positions.reshape(chains * count, size))
    v, sums = (np.asarray(part) for part in _both(whole, positions, origin))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = v + sums / np.where(made > 0, made, np.nan)
    shape = (chains, count, *decisions.space.shape)
    names = (*SAMPLING, *decisions.space.names)
    posterior: Any = fit.data["posterior"].to_dataset()
    found = {
        "perceived_cost_to_go": (names, v.reshape(shape)),
        "state_cost": (names, r.reshape(shape)),
    }
    tree = fit.data.copy()
    tree["posterior"] = xr.DataTree(posterior.assign(found))
    return replace(fit, data=tree)


@eqx.filter_jit
def _both(
    model: Density, positions: Float[Array, "draws unknowns"], origin: Int[Array, " n"]
) -> tuple[Float[Array, "draws J"], Float[Array, "draws J"]]:
    """V of every state, and the sum of log Σ p̄ e^{−q} over the decisions made in it."""
    assert isinstance(model.basis, ThroughBasis)
    inner: Any = model.basis.inner
    inner = getattr(inner, "inner", inner)  # q of narrower bins comes from q, and that from v

    def one(position: Float[Array, " unknowns"]) -> tuple[Array, Array]:
        xi, hyper = model.split(position)
        v = inner.apply(xi, model.parts(hyper)[0]).ravel()
        q = model.cost_to_go(position)
        lowest = jnp.min(q)
        norm = jnp.log(model.passive(hyper).apply(jnp.exp(lowest - q))) - lowest
        return v, jnp.zeros(v.size).at[origin].add(norm)

    return jax.lax.map(one, positions)
