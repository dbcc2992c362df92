"""How likely animals without preferences turn and step: densities of turns and of log steps.

Turns are in degrees, and steps enter by their logarithm, so that a density does not depend on the
unit of the tracks.
"""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import digamma, gammaln, i0e
from jaxtyping import Array, Float

from shoal.moves.empirical import EmpiricalMoves

TURNS = ("cauchy", "normals", "von-mises")
STEPS = ("gamma", "log-normal")

FLOOR = 1e-6
"""The share of turns that go anywhere with equal chance, so that nothing is impossible."""

ODD = 1e-3
"""The share of steps that no such distribution gives, as errors of tracking are: a step over the
expected one is then a log-Cauchy number. Simulated animals make none."""

LEVEL, LEVELS = 0.5, 5
"""Steps before, over a typical one, are rounded to so much in their logarithm, and to so many of
these at most, where turns and steps are said to depend on them."""

IMAGES = 2
"""Times round the circle that a normal turn may go, either way."""

Values = dict[str, Any]


def log_turn(kind: Any, values: Values, degrees: Float[Array, "*any"]) -> Float[Array, "*any"]:
    """The log density of turns, per degree.

    Parameters
    ----------
    kind
        One of ``TURNS``, or several turns in degrees that are equally likely, each with a normal
        error of sd ``spread``, or empirical moves.
    values
        ``spread``; of two normals also ``wide`` and ``share``; ``bias``, the mean turn.
    """
    spread: Any = values.get("spread")
    degrees = degrees - values.get("bias", 0.0)
    if isinstance(kind, EmpiricalMoves):
        density = kind.at(jnp.mod(degrees + 180.0, 360.0) - 180.0)
    elif kind == "cauchy":
        kept = jnp.exp(-jnp.deg2rad(spread))
        lost = -jnp.expm1(-2 * jnp.deg2rad(spread))  # 1 − kept², right for small spreads
        half = jnp.sin(jnp.deg2rad(degrees) / 2)
        density = lost / ((1 - kept) ** 2 + 4 * kept * half**2) / 360.0
    elif kind == "von-mises":
        kappa = jnp.deg2rad(spread) ** -2
        height = jnp.exp(kappa * (jnp.cos(jnp.deg2rad(degrees)) - 1.0))
        density = height / (i0e(kappa) * 360.0)
    elif kind == "normals":
        share = values["share"]
        density = (1 - share) * _wrapped_normal(degrees, spread)
        density = density + share * _wrapped_normal(degrees, values["wide"])
    else:
        parts, often = np.unique(kind, return_counts=True)
        lobes = [
            share * _wrapped_normal(degrees - part, spread)
            for part, share in zip(parts, often / len(kind), strict=True)
        ]
        density = jnp.sum(jnp.stack(lobes), axis=0)
    return jnp.log((1 - FLOOR) * density + FLOOR / 360.0)


def _wrapped_normal(degrees: Float[Array, "*any"], sd: Any) -> Float[Array, "*any"]:
    near, sd = jnp.mod(degrees + 180.0, 360.0) - 180.0, jnp.asarray(sd)
    laps = 360.0 * jnp.arange(-IMAGES, IMAGES + 1)
    heights = jnp.exp(-0.5 * ((near[..., None] + laps) / sd[..., None]) ** 2)
    return jnp.sum(heights, axis=-1) / (sd * math.sqrt(2 * math.pi))


def log_step(
    kind: Any, values: Values, residual: Float[Array, "*any"], *, plain: bool, odd: float = ODD
) -> Float[Array, "*any"]:
    """The log density of log steps, by how far they lie above the expected log step.

    ``variation`` is the sd of a log-normal step's logarithm, and of a gamma step its sd over its
    mean.

    Parameters
    ----------
    plain
        Whether the expected step is the mean of a gamma step and the median of a log-normal one,
        and some steps are odd; otherwise it is the geometric mean of either.
    odd
        The share of odd steps.
    """
    if isinstance(kind, EmpiricalMoves):
        density = kind.at(residual)
        possible = density > 0
        return jnp.where(possible, jnp.log(jnp.where(possible, density, 1.0)), -jnp.inf)
    variation = values["variation"]
    if kind == "gamma":
        shape = variation**-2
        above = residual if plain else residual + digamma(shape) - jnp.log(shape)
        height = shape * jnp.log(shape) - gammaln(shape) + shape * (above - jnp.exp(above))
    else:
        scaled = residual / variation
        height = -0.5 * scaled**2 - jnp.log(variation) - 0.5 * math.log(2 * math.pi)
    if not plain or not odd:
        return height
    far = math.log(odd / math.pi) - jnp.log1p(residual**2)
    return jnp.logaddexp(math.log1p(-odd) + height, far)


def level_of(log_before: Any, xp: Any = jnp) -> Any:
    """The level of a step before: 0 for a typical one, above 0 for longer ones."""
    return xp.clip(xp.round(log_before / LEVEL), -LEVELS, LEVELS)


def after_step(values: Values, level: Any, xp: Any = jnp) -> Values:
    """Values of moves after a step of some level: turns are narrower and steps more even."""
    away = LEVEL * level
    changed = dict(values)
    for name, power in (("spread", "straightness"), ("wide", "straightness")):
        if name in values:
            changed[name] = values[name] * xp.exp(-values[power] * away)
    if "variation" in values:
        changed["variation"] = values["variation"] * xp.exp(-values["evenness"] / 2 * away)
    return changed


def expected_log_step(
    log_typical: Any, follow: Any, log_before: Any, *, plain: bool, xp: Any = jnp
) -> Any:
    """The log of the step that is expected after another one.

    It lies between a typical step and the one before: as a number where ``plain``, else in logs.
    """
    if not plain:
        return (1 - follow) * log_typical + follow * log_before
    return xp.log((1 - follow) * xp.exp(log_typical) + follow * xp.exp(log_before))


def turn_heights(
    kind: Any, values: Values, degrees: Float[np.ndarray, "*any"]
) -> Float[np.ndarray, "*any"]:
    """``log_turn`` of arrays, by one program."""
    return np.asarray(_compiled(log_turn, kind, _arrays(values), degrees))


def step_heights(
    kind: Any, values: Values, residual: Float[np.ndarray, "*any"], *, plain: bool
) -> Float[np.ndarray, "*any"]:
    """``log_step`` of arrays, without odd ones, by one program."""
    height = _plain_step if plain else _geometric_step
    return np.asarray(_compiled(height, kind, _arrays(values), residual))


_plain_step = partial(log_step, plain=True, odd=0.0)
_geometric_step = partial(log_step, plain=False)


@partial(jax.jit, static_argnums=(0, 1))
def _compiled(height: Any, kind: Any, values: Values, places: Array) -> Array:
    found: Array = height(kind, values, places)
    return found


def _arrays(values: Values) -> Values:
    """Numbers that programs take as arguments: another value needs no other program."""
    return {name: np.asarray(value, dtype=float) for name, value in values.items()}


def quantiles(
    log_density: Float[np.ndarray, " grid"],
    grid: Float[np.ndarray, " grid"],
    places: Float[np.ndarray, "*points"],
) -> tuple[Float[np.ndarray, "*points"], Float[np.ndarray, "*points"]]:
    """Points below which these shares of a tabulated density lie, and its log density there."""
    density = np.exp(log_density - log_density.max())
    widths = np.diff(grid)
    mass = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * widths)])
    points = np.interp(places * mass[-1], mass, grid)
    return points, np.log(np.interp(points, grid, density) / mass[-1])
