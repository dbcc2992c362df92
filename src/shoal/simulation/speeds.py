"""How far simulated animals move in a frame: always as far, as observed ones did, or by a law."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.signal import lfilter
from scipy.special import digamma
from scipy.stats import gamma

from shoal.errors import InputError
from shoal.tracks import Tracks, shortest

Lengths = Float[np.ndarray, "steps individuals"]
Typical = Float[np.ndarray, " individuals"]
BLOCK = 50
"""Frames, on average, that an observed animal's speeds are played in the order they came."""


@dataclass(frozen=True)
class Constant:
    """Every animal moves ``length`` in every frame."""

    length: float

    def drawn(self, rng: np.random.Generator, steps: int, animals: int) -> Lengths:
        """The lengths of one group."""
        return np.full((steps, animals), self.length)

    def typical(self, animals: int) -> Typical:
        """The geometric mean of each animal's lengths."""
        return np.full(animals, self.length)


@dataclass(frozen=True)
class Gamma:
    """Independent lengths from a gamma law, and rests as often as they were seen."""

    shape: float
    scale: float
    rest: float = 0.0

    @classmethod
    def fitted(cls, lengths: Float[np.ndarray, " n"]) -> "Gamma":
        """By maximum likelihood to the lengths above 0."""
        moving = lengths[lengths > 0]
        if moving.size < 2 or np.ptp(moving) <= 1e-9 * moving.max():
            raise InputError("a gamma law needs observed speeds that vary: take a constant one")
        shape, _, scale = gamma.fit(moving, floc=0.0)
        return cls(float(shape), float(scale), float(1 - moving.size / lengths.size))

    def drawn(self, rng: np.random.Generator, steps: int, animals: int) -> Lengths:
        """The lengths of one group."""
        lengths = rng.gamma(self.shape, self.scale, (steps, animals))
        return np.where(rng.random((steps, animals)) < self.rest, 0.0, lengths)

    def typical(self, animals: int) -> Typical:
        """The geometric mean of each animal's lengths, of those above 0."""
        return np.full(animals, self.scale * np.exp(digamma(self.shape)))


@dataclass(frozen=True)
class Wandering:
    """Log-normal lengths whose logarithm is correlated from frame to frame (an AR(1) process)."""

    median: float
    variation: float
    persistence: float

    def drawn(self, rng: np.random.Generator, steps: int, animals: int) -> Lengths:
        """The lengths of one group, from the stationary law on."""
        kicks = rng.normal(size=(steps, animals))
        kicks[1:] *= np.sqrt(1 - self.persistence**2)
        wander = lfilter([1.0], [1.0, -self.persistence], kicks, axis=0)
        return self.median * np.exp(self.variation * wander)

    def typical(self, animals: int) -> Typical:
        """The geometric mean of each animal's lengths."""
        return np.full(animals, self.median)


@dataclass(frozen=True, eq=False)
class Observed:
    """Each animal's own lengths, played again in runs: the stationary bootstrap.

    A run begins at a random frame of the animal's record and goes on, round its end, for 50 frames
    on average, so that slow and fast spells last as long as they did. Lengths of at most ``rest``
    are rest.
    """

    series: tuple[Float[np.ndarray, " _"], ...]
    rest: float = 0.0

    def drawn(self, rng: np.random.Generator, steps: int, animals: int) -> Lengths:
        """The lengths of one group; animal i has those of observed animal i, taken in turn."""
        begins = rng.random((steps, animals)) < 1 / BLOCK
        begins[0] = True
        frames = np.arange(steps)[:, None]
        since = np.maximum.accumulate(np.where(begins, frames, 0), axis=0)
        entry = np.take_along_axis(rng.random((steps, animals)), since, axis=0)
        lengths = np.empty((steps, animals))
        for animal in range(animals):
            own = self.series[animal % len(self.series)]
            first = (entry[:, animal] * own.size).astype(int)
            lengths[:, animal] = own[(first + frames[:, 0] - since[:, animal]) % own.size]
        return lengths

    def typical(self, animals: int) -> Typical:
        """The geometric mean of each animal's lengths while it moves."""
        moving = [np.log(own[own > self.rest]) for own in self.series]
        logs = np.concatenate(moving)
        usual = logs.mean() if logs.size else 0.0
        means = np.array([own.mean() if own.size else usual for own in moving])
        return np.exp(means[np.arange(animals) % len(means)])


Speeds = Constant | Gamma | Wandering | Observed


def observed_lengths(tracks: Tracks) -> tuple[Float[np.ndarray, " _"], ...]:
    """Per member the lengths of its steps from frame to frame, where it was seen in both."""
    who = [tracks.individuals.index(name) for name in tracks.members]
    steps = shortest(np.diff(tracks.positions[:, who], axis=0), tracks.arena)
    lengths = np.hypot(steps[..., 0], steps[..., 1])
    series = tuple(column[np.isfinite(column)] for column in lengths.T)
    pooled = np.concatenate(series) if series else np.empty(0)
    if not pooled.size:
        raise InputError(
            f"no animal of group {tracks.group!r} was seen in two frames running, so there are no "
            "observed speeds: give a number"
        )
    return tuple(own if own.size else pooled for own in series)


def speeds_of(speed: Any, tracks: Tracks | None, fps: float | None, rest: float = 0.0) -> Speeds:
    """What a user's word or number means.

    Parameters
    ----------
    speed
        A number: per second, or per frame where the rate is unknown; ``"constant"``: the mean of
        the observed ones; ``"observed"``; ``"gamma"``. None is ``"observed"`` where there are
        tracks.
    tracks
        The observed animals.
    rest
        Steps of at most this length are rest.
    """
    if speed is None and tracks is not None:
        speed = "observed"
    if speed is None:
        raise InputError("without tracks to start from, a speed is needed: a number")
    if not isinstance(speed, str):
        try:
            value = float(speed)
        except (TypeError, ValueError):
            value = float("nan")
        if not (np.isfinite(value) and value >= 0):
            raise InputError(f"a speed is a number, 0 or more; got {speed!r}")
        return Constant(value / (fps or 1.0))
    if speed not in ("constant", "observed", "gamma"):
        raise InputError(f"speed is a number, 'constant', 'observed' or 'gamma'; got {speed!r}")
    if tracks is None:
        raise InputError(f"speed={speed!r} is taken from observed animals: start from tracks")
    series = observed_lengths(tracks)
    if speed == "observed":
        return Observed(series, rest)
    pooled = np.concatenate(series)
    return Constant(float(pooled.mean())) if speed == "constant" else Gamma.fitted(pooled)
