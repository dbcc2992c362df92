"""Steps along one axis as a matrix p̄(j | i), with widths that JAX may trace.

An animal is known by its bin and may be anywhere in it. With F the integral of the steps'
distribution function, bins [a_i, b_i] of width w_i and a step of width s,

    p̄_ij = s / w_i · [F((b_j − a_i)/s) − F((b_j − b_i)/s) − F((a_j − a_i)/s) + F((a_j − b_i)/s)].

F(t) − t/2 is even. Near 0 its difference to F(0) is what counts, far away its difference to |t|/2:
each form keeps its digits where the other loses them. A wall is a mirror, so that every bin has
images behind it; at an end that is no wall, steps that leave are left out of the count, as animals
that leave are. The same functions serve NumPy and JAX.
"""

from typing import Any, NamedTuple

import jax.scipy.special
import numpy as np
import scipy.special
from jaxtyping import Float

from shoal.angles import namespace
from shoal.errors import InputError
from shoal.states import Axis, Circular, Folded, Interval, Numbered

STARTS = ("anywhere", "centre")
"""Where in its bin a step starts: anywhere with equal chance, or at its centre as in the paper."""

FLOOR = 1e-10
"""The share of learned steps that go anywhere with equal chance."""

FARTHEST = 1e15
"""Spans of an axis that stand for infinity, which itself would have no slope in a width."""

DEEPEST = 37.0
"""Standard deviations beyond which a normal tail is smaller than doubles can show."""

LAPS = (-1, 0, 1)
"""Times round a circle, or there and back between two walls, that a step is followed."""

WIDE = 1 / 8
"""Of a circle: normal steps of this sd and more would go farther, and are summed as waves."""

WAVES = np.arange(1, 12)


def check_start(start: Any) -> None:
    """Raise an error where a start is none of the words."""
    if start not in STARTS:
        raise InputError(
            f"a step starts {' or '.join(map(repr, STARTS))} of its bin, got {start!r}"
        )


def normal_steps(axis: Axis, sd: Any, start: str = "anywhere") -> Float[Any, "bins bins"]:
    """A normal step: wrapped on circles, sent back by walls, renormalised at other ends."""
    if isinstance(axis, Circular):
        return _turned(_normalised(_round(axis, sd, start)), axis.size)
    if isinstance(axis, Folded):
        _, one_of_each = np.unique(axis.fold, return_index=True)
        from_one = normal_steps(axis.circle, sd, start)[one_of_each]  # the same from either side
        return from_one @ (axis.fold[:, None] == np.arange(axis.size)).astype(float)
    line = _line(axis)
    parts = _normal_parts(sd) if start == "anywhere" else _normal_parts_from_points(sd)
    mass = _summed(line, sd, start, *parts)
    if line.walls == "both":
        wide = 2 * line.span * WIDE
        mass = namespace(sd).where(sd < wide, mass, _waves(line, sd, start))
    return _normalised(mass)


def mixed_steps(
    axis: Axis, sd: Any, wide: Any, share: Any, start: str = "anywhere"
) -> Float[Any, "bins bins"]:
    """A normal step, or with some chance a wider one."""
    return (1 - share) * normal_steps(axis, sd, start) + share * normal_steps(axis, wide, start)


def heavy_steps(axis: Axis, width: Any) -> Float[Any, "bins bins"]:
    """A Cauchy step from anywhere in the bin; numbered states stay, or jump anywhere."""
    if isinstance(axis, Numbered):
        stay = 1 / (1 + width)
        return stay * np.eye(axis.size) + (1 - stay) / axis.size
    line = _line(axis)
    mass = _summed(line, width, "anywhere", *_cauchy_parts(width))
    if line.walls == "both":
        mass = mass + _farther(line, width)
    return floored(_normalised(mass))


def floored(shares: Float[Any, "bins bins"]) -> Float[Any, "bins bins"]:
    """With a floor: where nothing is possible no search finds its way."""
    return (1 - FLOOR) * shares + FLOOR / shares.shape[1]


class _Line(NamedTuple):
    """An interval, and the images of its bins' edges behind its walls, its own first."""

    edges: Float[np.ndarray, " edges"]
    images: Float[np.ndarray, "images edges"]
    signs: Float[np.ndarray, " images"]
    walls: str

    @property
    def span(self) -> float:
        return float(self.edges[-1] - self.edges[0])

    @property
    def widths(self) -> Float[np.ndarray, " bins"]:
        return np.diff(self.edges)

    @property
    def centres(self) -> Float[np.ndarray, " bins"]:
        return (self.edges[:-1] + self.edges[1:]) / 2


def _line(axis: Axis) -> _Line:
    if not isinstance(axis, Interval):
        raise InputError(
            f"steps need a distance between states, and axis {axis.name!r} has none: pass a matrix "
            "of passive probabilities instead"
        )
    edges = np.asarray(axis.edges)
    low, high = edges[0], edges[-1]
    own = edges.copy()
    if axis.beyond:
        own[-1] = high + FARTHEST * (high - low)  # the last bin holds all that is farther
    mirrors = {"both": (low,), "low": (low,), "high": (high,), "none": ()}[axis.walls]
    images = [own, *(2 * mirror - own for mirror in mirrors)]
    laps = [2 * lap * (high - low) for lap in LAPS] if axis.walls == "both" else [0.0]
    signs = np.tile([1.0, -1.0][: len(images)], len(laps))
    images = [image + lap for lap in laps for image in images]
    return _Line(edges, np.stack(images), signs, axis.walls)


def _summed(line: _Line, width: Any, start: str, near: Any, far: Any) -> Float[Any, "bins bins"]:
    """The mass that goes from each bin into each, over all images.

    ``near`` and ``far`` are two forms of F, of which each is right in its own place.
    """
    begin = line.edges if start == "anywhere" else line.centres
    gap = line.images[:, None, :] - begin[:, None]

    def masses(table: Any) -> Any:
        between = table[..., 1:] - table[..., :-1]
        if start == "anywhere":
            between = -(between[:, 1:] - between[:, :-1]) * (width / line.widths[:, None])
        return between * line.signs[:, None, None]

    stayed = np.eye(line.widths.size)  # what the far form has taken away of what never left
    scaled = gap / width
    parts = masses(far(scaled))
    if line.walls == "both":  # such wide steps as the near form is for are summed otherwise
        return parts.sum(axis=0) + stayed
    size = np.maximum(np.abs(gap[..., 1:]), np.abs(gap[..., :-1]))
    if start == "anywhere":
        size = np.maximum(size[:, 1:], size[:, :-1])
    parts = parts + stayed * (np.arange(len(gap)) == 0)[:, None, None]
    return namespace(width).where(size < width, masses(near(scaled)), parts).sum(axis=0)


def _normal_parts(sd: Any) -> tuple[Any, Any]:
    """F of a normal step less t/2, as what it adds to F(0) and as what it adds to |t|/2."""
    xp, special = namespace(sd), _special(sd)

    def near(t: Any) -> Any:
        return t * special.erf(t / np.sqrt(2)) / 2 + xp.expm1(-t * t / 2) / _ROOT

    return near, lambda t: _normal_tail(xp.abs(t), sd)


_ROOT = float(np.sqrt(2 * np.pi))


def _normal_tail(t: Any, sd: Any) -> Any:
    """φ(t) − t Φ(−t), of t ≥ 0."""
    xp = namespace(sd)
    t = xp.minimum(t, DEEPEST)
    return xp.exp(-t * t / 2) / _ROOT - t * _special(sd).ndtr(-t)


def _normal_parts_from_points(sd: Any) -> tuple[Any, Any]:
    """The distribution function itself, less ½ and less a step at 0."""
    xp, special = namespace(sd), _special(sd)

    def far(t: Any) -> Any:
        return -xp.sign(t) * special.ndtr(-xp.abs(t))

    return lambda t: special.erf(t / np.sqrt(2)) / 2, far


def _cauchy_parts(width: Any) -> tuple[Any, Any]:
    """F of a Cauchy step less t/2, and less |t|/2 besides."""
    xp = namespace(width)

    def near(t: Any) -> Any:
        return (t * xp.arctan(t) - xp.log1p(t * t) / 2) / np.pi

    def far(t: Any) -> Any:
        return -(xp.abs(t) * xp.arctan2(1.0, xp.abs(t)) + xp.log1p(t * t) / 2) / np.pi

    return near, far


def _waves(line: _Line, sd: Any, start: str) -> Float[Any, "bins bins"]:
    """Normal steps between two walls, as a sum of the cosines that walls allow."""
    turns = WAVES[:, None] * np.pi / line.span
    arrive = np.diff(np.sin(turns * (line.edges - line.edges[0])), axis=1) / turns
    leave = arrive / line.widths
    if start == "centre":
        leave = np.cos(turns * (line.centres - line.edges[0]))
    fade = namespace(sd).exp(-((turns * sd) ** 2) / 2)
    return line.widths / line.span + (2 / line.span) * (leave * fade).T @ arrive


def _farther(line: _Line, width: Any) -> Float[Any, "bins bins"]:
    """Cauchy steps by more than a lap between two walls: so smooth that two starts are enough."""
    xp, period = namespace(width), 2 * line.span
    rho = xp.exp(-2 * np.pi * width / period)

    def beyond(x: Any) -> Any:
        angle = x * (2 * np.pi / period)
        around = xp.arctan2(rho * np.sin(angle), 1 - rho * np.cos(angle)) / np.pi
        followed = sum(xp.arctan((x + lap * period) / width) for lap in LAPS) / np.pi
        return x / period + around - followed

    starts = line.centres[:, None] + line.widths[:, None] * np.array([-0.5, 0.5]) / np.sqrt(3)
    ahead = beyond(line.edges - starts[..., None])
    behind = -beyond(2 * line.edges[0] - line.edges - starts[..., None])
    return (ahead + behind)[..., 1:].mean(axis=1) - (ahead + behind)[..., :-1].mean(axis=1)


def _round(axis: Circular, sd: Any, start: str) -> Float[Any, "1 bins"]:
    """Where a normal step leads from the first bin of a circle.

    Left and right are alike, so the tail is looked up once for every edge on one side.
    """
    xp, bins, step = namespace(sd), axis.size, axis.step
    if start == "anywhere":
        tail = _normal_tail(np.arange(bins + 2) * (step / sd), sd) * (sd / step)
        first = 1 - 2 * (tail[:1] - tail[1:2])
        away = xp.concatenate([first, tail[:-2] - 2 * tail[1:-1] + tail[2:]])
    else:
        tail = _special(sd).ndtr(-(np.arange(bins + 1) + 0.5) * (step / sd))
        away = xp.concatenate([1 - 2 * tail[:1], tail[:-1] - tail[1:]])
    followed = away[:-1] + away[:0:-1]
    blur = np.sinc(WAVES / bins) ** (2 if start == "anywhere" else 1)
    fade = xp.exp(-((np.deg2rad(WAVES) * sd) ** 2) / 2) * blur
    shape = np.cos(2 * np.pi * np.arange(bins) * WAVES[:, None] / bins)
    return xp.where(sd < 360.0 * WIDE, followed, (1 + 2 * fade @ shape) / bins)[None]


def _turned(row: Float[Any, "1 bins"], bins: int) -> Float[Any, "bins bins"]:
    """p̄(j | i) is row[j − i]; by reshaping, whose slope costs less than that of looking it up."""
    xp = namespace(row)
    tiled = xp.tile(xp.roll(row[0], -1), bins + 1)
    return tiled.reshape(bins, bins + 1)[::-1, :bins]


def _special(value: Any) -> Any:
    return scipy.special if namespace(value) is np else jax.scipy.special


def _normalised(mass: Float[Any, "rows bins"]) -> Float[Any, "rows bins"]:
    """Rows that sum to one."""
    return mass / mass.sum(axis=1, keepdims=True)
