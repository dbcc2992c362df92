"""Anywhere, with equal chance."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Key

from shoal.errors import InputError
from shoal.inputs import Words
from shoal.passive.operator import PassiveOperator
from shoal.precision import as_jax
from shoal.states import Axis, Interval, StateSpace, Transitions

MEASURES = ("length", "area", "bins")
"""What places are counted by."""


class UniformDynamics(PassiveOperator):
    """p̄_ij is the share of state j in all places: applying it is taking a weighted mean.

    Attributes
    ----------
    shares
        Of the bins of each axis; empty where all states have the same.
    """

    shares: tuple[Float[Array, " _"], ...] = ()

    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """The mean, everywhere."""
        if not self.shares:
            return jnp.broadcast_to(values.mean(), self.shape)
        for share in reversed(self.shares):
            values = values @ share
        return jnp.broadcast_to(values, self.shape)

    def log_probability(
        self, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
    ) -> Float[Array, " pairs"]:
        """The logarithm of the destination's share."""
        if not self.shares:
            return jnp.full(origin.shape, -jnp.log(float(self.size)))
        ends = jnp.unravel_index(destination, self.shape)
        parts = zip(self.shares, ends, strict=True)
        return jnp.stack([jnp.log(share[end]) for share, end in parts]).sum(axis=0)

    def digest(self, transitions: Transitions) -> Any:
        """How many arrivals there are in each bin of each axis; in all, where these are alike."""
        if not self.shares:
            return as_jax(float(transitions.total))
        axes = range(len(self.shape))
        others = [tuple(other for other in axes if other != axis) for axis in axes]
        return tuple(as_jax(transitions.arrivals.sum(axis=o), dtype=float) for o in others)

    def log_weight(self, digest: Any) -> Float[Array, ""]:
        """The logarithm of its share for each arrival."""
        if not self.shares:
            return -digest * jnp.log(float(self.size))
        parts = zip(digest, self.shares, strict=True)
        return jnp.stack([jnp.vdot(count, jnp.log(share)) for count, share in parts]).sum()

    def sample(self, key: Key[Array, ""], origin: Int[Array, " n"]) -> Int[Array, " n"]:
        """Any place."""
        if not self.shares:
            return jax.random.randint(key, origin.shape, 0, self.size)
        keys = jax.random.split(key, len(self.shares))
        pairs = zip(keys, self.shares, strict=True)
        ends = [jax.random.categorical(one, jnp.log(p), shape=origin.shape) for one, p in pairs]
        return jnp.ravel_multi_index(tuple(ends), self.shape, mode="clip")


@dataclass(frozen=True)
class Uniform:
    """Every place may follow every place, with equal chance.

    A bin that is twice as wide holds twice as many places. With the identity basis the estimate is
    nothing but shrunken −log of arrivals per width of a bin.

    Parameters
    ----------
    measure
        What places are counted by, one for all axes or one for each. ``"length"``: the width of a
        bin, for angles, speeds and distances to a wall. ``"area"``: of a distance to a point or a
        neighbour, the area of the ring of places that far away, which grows with its radius; of an
        angle the width. ``"bins"``: every bin alike, however wide. Numbered states count 1 each,
        and an open last bin as far as its upper edge.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.Distance((0, 1, 2, 4)))
    >>> [round(float(p), 3) for p in shoal.Uniform().on(space).row(0)]
    [0.25, 0.25, 0.5]
    >>> [round(float(p), 3) for p in shoal.Uniform("area").on(space).row(0)]
    [0.062, 0.188, 0.75]
    """

    measure: Words = "length"

    def __post_init__(self) -> None:
        """Check the words."""
        several = isinstance(self.measure, tuple | list)
        words = tuple(self.measure) if several else (self.measure,)
        wrong = [word for word in words if word not in MEASURES]
        if wrong or not words:
            raise InputError(
                f"the measure of uniform dynamics is one of {', '.join(MEASURES)}, for all axes or "
                f"for each; got {self.measure!r}"
            )
        if several:
            object.__setattr__(self, "measure", words)

    def on(self, space: StateSpace) -> UniformDynamics:
        """The operator on a state space."""
        count = len(space.axes)
        words = self.measure if isinstance(self.measure, tuple) else (self.measure,) * count
        if len(words) != count:
            raise InputError(
                f"{len(words)} measures do not fit the {count} axes {list(space.names)}: give one "
                "for all or one for each"
            )
        sizes = [measured(axis, word) for axis, word in zip(space.axes, words, strict=True)]
        if all(np.allclose(size, size[0], rtol=1e-12) for size in sizes):
            return UniformDynamics(space.shape)
        return UniformDynamics(space.shape, tuple(as_jax(s / s.sum()) for s in sizes))


def measured(axis: Axis, measure: str) -> Float[np.ndarray, " bins"]:
    """How much of an axis each of its bins holds."""
    if measure == "bins":
        return np.ones(axis.size)
    if measure == "length" or not isinstance(axis, Interval):
        return axis.widths
    edges = np.asarray(axis.edges)
    if edges[0] < 0:
        raise InputError(
            f"areas are those of rings around a point, and axis {axis.name!r} begins at "
            f"{edges[0]:g}, below 0: use measure='length' for it"
        )
    return np.diff(edges**2)
