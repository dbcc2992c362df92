"""How far an animal turns, and how far an angle moves besides: masses on a fine circle.

A turn φ moves an angle by −φ. What an animal sees moves for other reasons, too: its neighbours turn
and it passes by its target. That is the noise of an angle: a normal and a Cauchy error added up, so
that it can be narrow, heavy-tailed or both. An angle is known by its bin only and may lie anywhere
in it; the bin it is in after a change has a chance that falls off like a triangle.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import ndtr
from jaxtyping import Array, Float

TURNS = ("cauchy", "normals", "von-mises")
IMAGES = 2
"""Times round the circle that a normal turn may go, either way."""


class Arcs(NamedTuple):
    """Arcs of turns, the same to the right and to the left.

    ``edges`` are those of turns to one side, the first arc lying on both sides of 0, and ``sizes``
    the turns in the arcs' middles. The last arc reaches 180, or lies on both sides of it.
    """

    edges: Float[np.ndarray, " edges"]
    sizes: Float[np.ndarray, " sizes"]

    @property
    def closed(self) -> bool:
        """Whether one arc lies on both sides of 180."""
        return bool(self.sizes[-1] == 180.0)

    @property
    def turns(self) -> Float[np.ndarray, " turns"]:
        """The turn of every arc, from the farthest right to the farthest left."""
        left = self.sizes[:-1] if self.closed else self.sizes
        return np.concatenate([-self.sizes[:0:-1], left])

    def both_sides(self, half: Float[Array, " sizes"]) -> Float[Array, " turns"]:
        """Of every arc, from what holds for every size."""
        return jnp.concatenate([half[:0:-1], half[:-1] if self.closed else half])

    @property
    def widths(self) -> Float[np.ndarray, " sizes"]:
        """Of the arcs of every size, in degrees."""
        end = 360.0 - self.edges[-1] if self.closed else 180.0
        return np.diff(self.edges, prepend=-self.edges[0], append=end)


def arcs(width: float) -> Arcs:
    """A tenth of a bin wide up to three bins, a third of a bin from there."""
    inner = (np.arange(30) + 0.5) * width / 10
    inner = inner[inner < 180.0 - width / 4]
    count = max(1, int(np.ceil((180.0 - inner[-1]) / (width / 3))))
    outer = np.linspace(inner[-1], 180.0, count + 1)
    edges = np.concatenate([inner, outer[1:-1]])
    return Arcs(edges, np.concatenate([[0.0], (edges[1:] + edges[:-1]) / 2, [outer[-2:].mean()]]))


def even_arcs(count: int) -> Arcs:
    """An even number of equal arcs round the circle, the first centred on −180°."""
    step = 360.0 / count
    return Arcs((np.arange(count // 2) + 0.5) * step, np.arange(count // 2 + 1) * step)


def turn_masses(
    kind: str, values: dict[str, Float[Array, ""]], over: Arcs
) -> Float[Array, " turns"]:
    """The chance of a turn into each arc."""
    edges = jnp.asarray(over.edges)
    if kind == "cauchy":
        below = _cauchy_below(edges, values["spread"])
    elif kind == "normals":
        share = values["share"]
        below = (1 - share) * _normal_below(edges, values["spread"])
        below = below + share * _normal_below(edges, values["wide"])
    else:
        kappa = jnp.deg2rad(values["spread"]) ** -2
        height = jnp.exp(kappa * (jnp.cos(jnp.deg2rad(over.sizes)) - 1.0)) * over.widths
        mass = over.both_sides(height)
        return mass / mass.sum()
    inner = jnp.diff(below)
    last = (1 - 2 * below[-1:]) / (1 if over.closed else 2)
    return over.both_sides(jnp.concatenate([2 * below[:1], inner, last]))


def _cauchy_below(x: Float[Array, " n"], spread: Float[Array, ""]) -> Float[Array, " n"]:
    """The chance that a wrapped Cauchy turn lies between 0 and x."""
    slope = 1 / jnp.tanh(jnp.deg2rad(spread) / 2)
    return jnp.arctan(slope * jnp.tan(jnp.deg2rad(x) / 2)) / jnp.pi


def _normal_below(x: Float[Array, " n"], sd: Float[Array, ""]) -> Float[Array, " n"]:
    """The chance that a wrapped normal turn lies between 0 and x."""
    laps = 360.0 * jnp.arange(-IMAGES, IMAGES + 1)
    ends = jnp.append(x, 180.0)
    inside = (ndtr((ends[:, None] + laps) / sd) - ndtr(laps / sd)).sum(axis=1)
    return 0.5 * inside[:-1] / inside[-1]  # what goes round more often is spread like the rest


def bin_chances(
    bins: int,
    gain: Float[Array, ""],
    noise: Float[Array, ""],
    tails: Float[Array, ""],
    turns: Float[np.ndarray, " turns"],
) -> Float[Array, "turns bins"]:
    """The chance that an angle has gone up by so many bins, for every turn.

    Parameters
    ----------
    bins
        Of the angle's circle.
    gain
        What a turn of one degree adds to the angle, −1 for directions seen from the animal.
    noise, tails
        The sd of its normal error, and the half width of its Cauchy error, in degrees.
    turns
        In degrees.
    """
    fine = 360 if bins <= 90 else 4 * bins
    waves = jnp.arange(fine // 2 + 1)
    radians = jnp.deg2rad(waves)
    envelope = np.sinc(np.arange(fine // 2 + 1) / bins) ** 2
    transform = jnp.exp(-0.5 * (radians * noise) ** 2 - radians * tails) * envelope
    chance = jnp.maximum(jnp.fft.irfft(transform.astype(complex), fine), 1e-15)
    place = (jnp.arange(bins) * (360.0 / bins) - gain * turns[:, None]) * (fine / 360.0)
    low = jnp.floor(place)
    part = place - low
    index = low.astype(int) % fine
    table = chance[index] * (1 - part) + chance[(index + 1) % fine] * part
    return table / table.sum(axis=1, keepdims=True)
