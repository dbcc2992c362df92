"""Whether chains agree: R-hat and effective draws, of the contrasts and of the level."""

from typing import Any

import numpy as np
import xarray as xr
from jaxtyping import Float

TAIL = (0.05, 0.95)


def convergence(posterior: xr.Dataset, observed: xr.Dataset | None) -> xr.Dataset:
    """R-hat and effective draws of every state's contrast, of the level, of other unknowns.

    Parameters
    ----------
    posterior
        With ``cost_to_go`` (chain, draw, *axes).
    observed
        With ``arrivals``, to take the level out; None where that has been done.
    """
    v = posterior["cost_to_go"]
    axes = [name for name in v.dims if name not in ("chain", "draw")]
    figures: dict[str, Any] = {}
    if observed is not None:
        level = v.weighted(observed["arrivals"]).mean(axes)
        figures |= {f"level_{name}": value for name, value in _figures(level.values).items()}
        v = v - level
    for name, values in _figures(v.values).items():
        figures[name] = (axes, values)
    if "precision" in posterior:
        logs = np.log(posterior["precision"].values)
        figures |= {f"precision_{name}": value for name, value in _figures(logs).items()}
    if "parameters" in posterior:
        logs = np.log(posterior["parameters"].values)
        for name, values in _figures(logs).items():
            figures[f"parameters_{name}"] = ("parameter", values)
    coordinates = {name: v.coords[name] for name in axes if name in v.coords}
    if "parameters" in posterior:
        coordinates["parameter"] = posterior.coords["parameter"]
    return xr.Dataset(figures, coordinates)


def _figures(draws: Float[np.ndarray, "chain draw *grid"]) -> dict[str, Any]:
    """R-hat and effective draws along the first two axes; NaN where there are too few draws."""
    if draws.shape[1] < 4:
        empty = np.full(draws.shape[2:], np.nan)
        return {"r_hat": empty, "ess_bulk": empty, "ess_tail": empty}
    from arviz_stats.base.array import array_stats  # noqa: PLC0415  (slow to load, and only needed here)

    axes = {"chain_axis": 0, "draw_axis": 1}
    return {
        "r_hat": array_stats.rhat(draws, **axes),
        "ess_bulk": array_stats.ess(draws, method="bulk", **axes),
        "ess_tail": array_stats.ess(draws, method="tail", prob=TAIL, **axes),
    }
