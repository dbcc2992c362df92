"""One draw of a fit, or the same policy under another discount, as fits of their own."""

from typing import Any

import numpy as np
import xarray as xr

from shoal.errors import InputError
from shoal.posterior.fit import SAMPLING, Fit


def one_draw(fit: Fit, number: Any) -> Fit:
    """A fit that has a single draw, numbered through all chains from 0."""
    chains, draws = (fit.sampled.sizes[name] for name in SAMPLING)
    if not hasattr(number, "__index__") or not 0 <= number < chains * draws:
        raise InputError(
            f"a draw is a number from 0 to {chains * draws - 1}, counted through all chains; got "
            f"{number!r}"
        )
    chain, draw = divmod(int(number), draws)
    groups = {name: node.to_dataset() for name, node in fit.data.children.items()}
    for name in ("posterior", "sample_stats"):
        if name in groups and set(SAMPLING) <= set(groups[name].dims):
            groups[name] = groups[name].isel(chain=[chain], draw=[draw])
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = fit.data.attrs | {"method": "map"}  # one answer has no spread
    return Fit(fit.model, tree)


def costs_under(fit: Fit, discount: float) -> tuple[np.ndarray, np.ndarray]:
    """Draws of v and r (draws, *grid) that give the same policy under another discount.

    Tracks tell γ v alone: with γ′ for γ the same animals have v′ = γ v / γ′, and other state costs.
    """
    if not 0 < discount <= 1:
        raise InputError(f"a discount to read costs by lies in (0, 1], got {discount!r}")
    shape = fit.model.space.shape
    own = float(fit.model.discount)
    v = fit.cost_to_go.values.reshape(-1, *shape)
    r = fit.state_cost.values.reshape(-1, *shape)
    # r = v + log P̄ e^{−γ v}, and the second part stays as it is
    other = v * (own / discount)
    cost = other + (r - v)
    return other - np.nanmin(other.mean(axis=0)), cost - np.nanmin(cost.mean(axis=0))
