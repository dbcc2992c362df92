"""Costs along one axis, the others averaged over, draw by draw."""

import numpy as np
import xarray as xr
from jaxtyping import Float

SAMPLING = ("chain", "draw")


def marginal(draws: xr.DataArray, axis: str, weights: xr.DataArray | None = None) -> xr.DataArray:
    """Costs along one axis, averaged over the others, draw by draw.

    Parameters
    ----------
    draws
        (chain, draw, *axes).
    axis
        The one to keep.
    weights
        Arrivals, say; by default all states of the other axes count alike, as in the paper.
    """
    others = [str(name) for name in draws.dims if name not in (*SAMPLING, axis)]
    if not others:
        return draws
    ordered = draws.transpose(*SAMPLING, axis, *others)
    values = ordered.values.reshape(*ordered.shape[:3], -1)
    if weights is None:
        along = values.mean(axis=-1)
    else:
        share = weights.transpose(axis, *others).values.reshape(values.shape[2], -1).astype(float)
        there = np.isfinite(values).all(axis=(0, 1))  # absorbing states have no state cost
        share, values = np.where(there, share, 0.0), np.where(there, values, 0.0)
        total = share.sum(axis=1)
        summed = np.einsum("cdik,ik->cdi", values, share)
        along = np.where(total > 0, summed / np.maximum(total, 1e-300), np.nan)
    return xr.DataArray(along, {axis: draws[axis]}, (*SAMPLING, axis))


def interval(draws: xr.DataArray) -> Float[np.ndarray, "2 *axes"]:
    """The ends of the 95 % intervals; NaN where draws are."""
    values = draws.transpose(*SAMPLING, ...).values
    return np.quantile(values.reshape(-1, *values.shape[2:]), (0.025, 0.975), axis=0)
