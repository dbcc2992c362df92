"""How animals turn, and for how long a series remembers."""

from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.angles import difference
from shoal.errors import InputError
from shoal.measures.shape import PerAnimal


def turning_angles(headings: PerAnimal) -> PerAnimal:
    """Heading now minus heading the frame before, degrees in [−180, 180); NaN at a gap."""
    turn = np.full(headings.shape, np.nan)
    now, then = headings[..., 1:, :], headings[..., :-1, :]
    known = np.isfinite(now) & np.isfinite(then)
    angle = difference(np.where(known, now, 0.0), np.where(known, then, 0.0))
    turn[..., 1:, :] = np.where(known, angle, np.nan)
    return turn


def autocorrelation(series: Float[np.ndarray, "*batch time"], lags: Any) -> np.ndarray:
    """Of a series with itself some frames later: (…, lags), or (…) for a single lag.

    With the deviations d from the mean of what is known, ρ_k = mean(d_t d_{t+k}) / mean(d_t²). The
    first mean is over pairs of frames without a gap between them; NaN where there is no such pair,
    or the series is constant.
    """
    return pooled_autocorrelation(series[..., None], lags)


def pooled_autocorrelation(series: PerAnimal, lags: Any) -> np.ndarray:
    """As ``autocorrelation``, of each animal's own series around its own mean.

    Products and squares are pooled over animals before they are divided: an animal counts for as
    long as it was seen, and as much as it varies.
    """
    chosen = checked_lags(lags)
    known = np.isfinite(series)
    value = np.where(known, series, 0.0)
    mean = value.sum(axis=-2, keepdims=True) / np.maximum(known.sum(axis=-2, keepdims=True), 1)
    d = np.where(known, value - mean, 0.0)
    gaps = np.cumsum(~known, axis=-2)  # equal in two frames with no gap between them
    count = known.sum(axis=(-2, -1))
    square, whole = (d * d).sum(axis=(-2, -1)), (value * value).sum(axis=(-2, -1))
    varies = square > 1e-20 * whole  # what is less is rounding
    variance = np.where(varies, square, 1.0) / np.maximum(count, 1)
    columns = []
    frames = series.shape[-2]
    for lag in chosen.ravel():
        later, earlier = slice(lag, None), slice(0, max(frames - lag, 0))
        pair = known[..., earlier, :] & known[..., later, :]
        pair &= gaps[..., earlier, :] == gaps[..., later, :]
        product = np.where(pair, d[..., earlier, :] * d[..., later, :], 0.0).sum(axis=(-2, -1))
        pairs = pair.sum(axis=(-2, -1))
        ratio = product / np.maximum(pairs, 1) / variance
        columns.append(np.where(varies & (pairs > 0), ratio, np.nan))
    shape = (*series.shape[:-2], *chosen.shape)
    return np.stack(columns, axis=-1).reshape(shape)


def checked_lags(lags: Any) -> np.ndarray:
    """Whole numbers of frames, 0 or more: one, or a list of them."""
    try:
        chosen = np.asarray(lags)
    except ValueError:
        chosen = np.empty(0)
    whole = np.issubdtype(chosen.dtype, np.integer)
    if not whole or chosen.ndim > 1 or chosen.size == 0 or chosen.min() < 0:
        raise InputError(f"lags are whole numbers of frames, 0 or more; got {lags!r}")
    return chosen
