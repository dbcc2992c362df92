"""Gaussian-process priors on any product of axes, written in Fourier and cosine functions.

v is a sum of effects: one for each axis by itself, and one for each pair of axes (or more) together
that is none of the former. Every effect has a scale of its own, every axis a length over which
costs change; both are learned. Circular axes have sines and cosines, intervals the cosines of a
somewhat longer interval (the Hilbert-space form), each weighed by the kernel's spectral density.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import log_ndtr
from jaxtyping import Array, Float, Int

from shoal.basis.operator import BasisOperator
from shoal.basis.scaled import ScaledBasis, SomeColumnsMap, basis_at
from shoal.errors import InputError
from shoal.linear import PerAxisMap
from shoal.precision import as_jax
from shoal.states import Axis, Circular, Folded, Numbered, StateSpace

KERNELS = {"matern-3/2": 1.5, "matern-5/2": 2.5, "squared-exponential": math.inf}
"""ν of each kernel."""

MAIN_ORDER, JOINT_ORDER = 18, 6
"""Waves round a circle at the most, of an axis by itself and where axes act together."""

LOST_SHARE = 0.05
"""Of an effect's variance, that functions may lose at the shortest length."""

LONGER = 1.5
"""Cosines on an interval belong to one that is so much longer: their slope is free at its ends."""


@dataclass(frozen=True)
class Smooth:
    """Costs that change smoothly, over lengths and with scales that are learned from the tracks.

    Parameters
    ----------
    kernel
        How smooth: ``"matern-5/2"``, ``"matern-3/2"`` (rougher) or ``"squared-exponential"``
        (smoothest).
    order
        How much detail costs can have, as the most waves round a circle; most users leave it. By
        default as many as the bins can show (18 at the most) for each axis by itself, and 6 where
        axes act together. Intervals have twice as many half waves.
    interactions
        How many axes may interact: 1 for main effects alone, 2 for pairs as well.
    scale
        How strong effects are expected to be before tracks are seen: the prior mean of their
        standard deviation, in nats. The prior is exponential, so that an effect may be nothing.
    length
        Over what distance costs are expected to change, one number or one for each axis: by
        default 60° on circles, and a quarter of an interval. It is learned; two times in three it
        lies between half and twice this. Where bins differ in width it is a number of bins.

    Notes
    -----
    With few waves costs cannot change over very short lengths, so that shorter ones are left out:
    those below 24° with 6 waves, where a twentieth of an effect's variance would be lost, and none
    with as many waves as the bins can show. Where axes act together, detail finer than 6 waves is
    left out.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.Circular("local"), shoal.Circular("target"))
    >>> shoal.Smooth().on(space).count
    214
    """

    kernel: str = "matern-5/2"
    order: Any = None
    interactions: Any = 2
    scale: Any = 1.0
    length: Any = None

    def __post_init__(self) -> None:
        """Check the choices."""
        if self.kernel not in KERNELS:
            raise InputError(f"a kernel is one of {', '.join(KERNELS)}; got {self.kernel!r}")
        for name, value in (("order", self.order), ("interactions", self.interactions)):
            if value is None and name == "order":
                continue
            if not hasattr(value, "__index__") or value < 1:
                raise InputError(f"the {name} of smooth costs is 1 or more, got {value!r}")
        lengths = self.length if isinstance(self.length, tuple | list) else (self.length,)
        for value in (self.scale, *(given for given in lengths if given is not None)):
            number = isinstance(value, int | float | np.number) and math.isfinite(value)
            if not number or not value > 0:
                raise InputError(f"scales and lengths are positive numbers, got {value!r}")
        if isinstance(self.length, list):
            object.__setattr__(self, "length", tuple(self.length))

    def on(self, space: StateSpace) -> BasisOperator:
        """The operator with every unknown at its prior median."""
        basis = self.scaled(space)
        return basis_at(basis, as_jax(np.zeros(len(basis.names))))

    def scaled(self, space: StateSpace) -> "SmoothBasis":
        """The basis with its unknowns."""
        alone = MAIN_ORDER if self.order is None else int(self.order)
        joint = JOINT_ORDER if self.order is None else int(self.order)
        functions = [_functions(axis, alone) for axis in space.axes]
        with_one = [np.column_stack([np.ones(len(f)), f]) for f, _ in functions]
        count = len(space.axes)
        used = np.indices([matrix.shape[1] for matrix in with_one]).reshape(count, -1) > 0
        together = used.sum(axis=0)
        coarse = _all_coarse(space.axes, functions, joint)
        wanted = (together == 1) | ((together > 1) & coarse)
        kept = np.flatnonzero(wanted & (together <= int(self.interactions)))
        subsets = [
            subset
            for size in range(1, min(count, int(self.interactions)) + 1)
            for subset in itertools.combinations(range(count), size)
        ]
        code = {subset: place for place, subset in enumerate(subsets)}
        effect = [code[tuple(np.flatnonzero(used[:, place]).tolist())] for place in kept]
        lengths = self.length if isinstance(self.length, tuple) else (self.length,) * count
        if len(lengths) != count:
            raise InputError(f"{len(lengths)} lengths for {count} axes: give one for each")
        floors = [
            shortest_length(waves, (f**2).mean(axis=0), axis.size, KERNELS[self.kernel])
            for axis, (f, waves) in zip(space.axes, functions, strict=True)
        ]
        medians = [
            _length(axis, given, floor)
            for axis, given, floor in zip(space.axes, lengths, floors, strict=True)
        ]
        return SmoothBasis(
            map=SomeColumnsMap.of(PerAxisMap.of(*with_one), kept),
            effect=as_jax(effect),
            frequencies=tuple(as_jax(f) for _, f in functions),
            squares=tuple(as_jax((f**2).mean(axis=0)) for f, _ in functions),
            subsets=tuple(subsets),
            axes=space.names,
            medians=as_jax(medians, float),
            floors=as_jax(floors, float),
            mean_scale=as_jax(float(self.scale)),
            measured=tuple(not isinstance(axis, Numbered) for axis in space.axes),
            smoothness=KERNELS[self.kernel],
        )


class SmoothBasis(ScaledBasis):
    """Smooth functions with scales and lengths unknown.

    Attributes
    ----------
    effect
        The number of the effect that each coefficient belongs to.
    frequencies, squares
        Of each axis's functions: radians per unit, and the mean square over the bins.
    subsets
        The axes of each effect.
    medians, floors
        Of each axis's length: its prior median, and the shortest that the functions can follow.
    mean_scale
        The prior mean of every scale.
    """

    effect: Int[Array, " n"]
    frequencies: tuple[Float[Array, " _"], ...]
    squares: tuple[Float[Array, " _"], ...]
    subsets: tuple[tuple[int, ...], ...] = eqx.field(static=True)
    axes: tuple[str, ...] = eqx.field(static=True)
    medians: Float[Array, " axes"]
    floors: Float[Array, " axes"]
    mean_scale: Float[Array, ""]
    measured: tuple[bool, ...] = eqx.field(static=True)
    smoothness: float = eqx.field(static=True)

    @property
    def names(self) -> tuple[str, ...]:
        """A scale for each effect, a length for each axis that has one."""
        words = [name.replace("_", " ") for name in self.axes]
        scales = [" × ".join(words[n] for n in subset) for subset in self.subsets]
        lengths = [word for word, has in zip(words, self.measured, strict=True) if has]
        return (*(f"scale of {w}" for w in scales), *(f"length of {w}" for w in lengths))

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """Scales in nats (exponential), lengths in the axes' units (log-normal above a floor)."""
        count = len(self.subsets)
        scales = -self.mean_scale * log_ndtr(-u[:count])
        has = np.flatnonzero(self.measured)
        medians, floors = self.medians[has], self.floors[has]
        free = jnp.sqrt(medians**2 - floors**2) * jnp.exp(math.log(2.0) * u[count:])
        return jnp.concatenate([scales, jnp.sqrt(floors**2 + free**2)])

    def amplitude(self, u: Float[Array, " k"]) -> Float[Array, " n"]:
        """The scale of each effect times the root of each function's share of its variance."""
        values = self.values(u)
        scales, lengths = values[: len(self.subsets)], list(values[len(self.subsets) :])
        logs, square = jnp.zeros((1,) * len(self.axes)), jnp.ones((1,) * len(self.axes))
        for n, has in enumerate(self.measured):
            own = log_spectral_density(
                self.frequencies[n], lengths.pop(0) if has else 0.0, self.smoothness
            )
            shape = [-1 if m == n else 1 for m in range(len(self.axes))]
            logs = logs + jnp.concatenate([jnp.zeros(1), own]).reshape(shape)
            square = square * jnp.concatenate([jnp.ones(1), self.squares[n]]).reshape(shape)
        places = self.map.places  # type: ignore[attr-defined]
        logs, square = logs.ravel()[places], square.ravel()[places]
        highest = jnp.full(len(self.subsets), -jnp.inf).at[self.effect].max(logs)
        logs = logs - jax.lax.stop_gradient(highest)[self.effect]
        whole = jnp.zeros(len(self.subsets)).at[self.effect].add(jnp.exp(logs) * square)
        return scales[self.effect] * jnp.exp(0.5 * (logs - jnp.log(whole[self.effect])))


def log_spectral_density(waves: Any, length: Any, smoothness: float) -> Any:
    """How much variance a kernel of this length gives to each frequency, up to a factor."""
    if math.isinf(smoothness):
        return -0.5 * (waves * length) ** 2
    return (-smoothness - 0.5) * jnp.log1p((waves * length) ** 2 / (2 * smoothness))


def shortest_length(
    waves: Float[np.ndarray, " functions"],
    squares: Float[np.ndarray, " functions"],
    bins: int,
    smoothness: float,
) -> float:
    """The length below which functions of these frequencies lose too much of a kernel's variance.

    The functions would go on at the same spacing; what the missing ones would add may be a
    twentieth of the whole. Where there are as many functions as bins can tell apart, none are
    missing, and costs may change over any length.
    """
    if not np.any(waves) or len(waves) >= bins - 1:
        return 0.0
    spacing = float(np.max(waves)) / len(np.unique(waves))
    further = np.max(waves) + spacing * np.arange(1, 400)
    per_wave = float(squares.sum()) / len(np.unique(waves))
    low, high = 1e-2 / float(np.max(waves)), 1e2 / float(np.max(waves))
    for _ in range(40):
        middle = math.sqrt(low * high)
        own = float(squares @ np.exp(log_spectral_density(waves, middle, smoothness)))
        lost = per_wave * float(np.exp(log_spectral_density(further, middle, smoothness)).sum())
        low, high = (middle, high) if lost > LOST_SHARE * (own + lost) else (low, middle)
    return high


def _all_coarse(
    axes: tuple[Axis, ...], functions: list[tuple[np.ndarray, np.ndarray]], order: int
) -> np.ndarray:
    """Which products of functions have only waves up to this order."""
    coarse = []
    for axis, (_, waves) in zip(axes, functions, strict=True):
        distinct, rank = np.unique(waves, return_inverse=True)
        highest = order if isinstance(axis, Circular | Folded) else 2 * order
        few = rank < highest if distinct.size > 1 else np.ones(len(waves), dtype=bool)
        coarse.append(np.concatenate([[True], few]))
    return np.asarray(np.all(np.meshgrid(*coarse, indexing="ij"), axis=0).ravel())


def _functions(
    axis: Axis, order: int
) -> tuple[Float[np.ndarray, "bins functions"], Float[np.ndarray, " functions"]]:
    """Functions of one axis, each of mean 0 over its bins, and their frequencies."""
    if axis.size < 2:
        raise InputError(f"smooth costs need 2 bins or more, and axis {axis.name!r} has 1")
    if isinstance(axis, Circular | Folded):
        angle = np.deg2rad(axis.centres)
        columns, waves = [], []
        bins = axis.size if isinstance(axis, Circular) else axis.bins
        for k in range(1, min(order, bins // 2) + 1):
            columns.append(np.cos(k * angle))
            waves.append(k)
            if 2 * k < bins and isinstance(axis, Circular):
                columns.append(np.sin(k * angle))
                waves.append(k)
        matrix, frequency = np.stack(columns, axis=1), np.deg2rad(np.array(waves, dtype=float))
    elif isinstance(axis, Numbered):
        deviations = np.eye(axis.size) - 1 / axis.size
        vectors, sizes, _ = np.linalg.svd(deviations)
        matrix, frequency = vectors[:, sizes > 0.5], np.zeros(axis.size - 1)
    else:
        centres, span = _line(axis)
        start = -(LONGER - 1) / 2 * span
        halves = np.arange(1, min(2 * order, axis.size - 1) + 1)
        frequency = halves * np.pi / (LONGER * span)
        matrix = np.cos(frequency[None, :] * (centres[:, None] - start))
    return matrix - matrix.mean(axis=0), frequency


def _line(axis: Axis) -> tuple[Float[np.ndarray, " bins"], float]:
    """Where the bins of an interval lie along it from its start, and how long it is.

    Bins of different widths count as equally wide: costs are to change as much from one bin to the
    next wherever these are, finely near an animal and coarsely far away.
    """
    widths = axis.widths
    if np.ptp(widths) > 1e-6 * widths.mean():
        return np.arange(axis.size) + 0.5, float(axis.size)
    return axis.centres - axis.centres[0] + widths[0] / 2, float(widths.sum())


def _length(axis: Axis, given: float | None, floor: float) -> float:
    """The prior median of an axis's length, well above the shortest that can be followed."""
    if given is None:
        usual = 60.0 if isinstance(axis, Circular | Folded) else _line(axis)[1] / 4
        return max(usual, 1.5 * floor)
    if given <= floor:
        raise InputError(
            f"smooth costs of {axis.name!r} have too low an order for a length of {given:g} "
            f"{axis.unit}: the shortest that they can follow is {floor:.3g}; give a longer length "
            "or a higher order"
        )
    return float(given)
