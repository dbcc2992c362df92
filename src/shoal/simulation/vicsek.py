"""The self-propelled particles of Vicsek et al. (1995), as in eq. vicsek of the paper."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Key

from shoal.angles import difference
from shoal.errors import InputError
from shoal.simulation.behaviour import Behaviour, Choice, View
from shoal.states import LocalMisalignment, Scene
from shoal.tracks import Tracks


class Aligning(Behaviour):
    """θ_{t+1} = ⟨θ_t⟩_ρ + ε."""

    misalignment: LocalMisalignment = eqx.field(static=True)
    noise: float

    def decide(self, key: Key[Array, ""], view: View, group: Int[Array, ""]) -> Choice:
        """The turn to the mean heading of the neighbours, self included, and an error."""
        turn = self.misalignment.values(view.scene())[0]
        error = self.noise * jax.random.normal(key, turn.shape)
        return Choice.of_turn(jnp.where(jnp.isfinite(turn), turn, 0.0) + error)


@dataclass(frozen=True)
class Vicsek:
    """Every animal takes the mean heading of those within a radius, and errs.

    Parameters
    ----------
    radius
        ρ, in the unit of places; None: all animals.
    noise
        σ, the standard deviation of the error in degrees.
    """

    radius: Any = None
    noise: Any = 10.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        LocalMisalignment(radius=self.radius)
        if not (np.isreal(self.noise) and np.isfinite(self.noise) and self.noise >= 0):
            raise InputError(f"the noise of headings is 0° or more, got {self.noise!r}")

    @property
    def reach(self) -> float | None:
        """How far its animals look."""
        return self.radius

    @classmethod
    def fitted(
        cls,
        groups: Iterable[Tracks],
        heading_frames: int = 1,
        minimum_step: float = 0.0,
        radius: Any = None,
    ) -> "Vicsek":
        """With the noise that tracks show: the root mean square of θ_{t+1} − ⟨θ_t⟩."""
        feature = LocalMisalignment(radius=radius)
        errors = []
        for tracks in groups:
            scene = Scene.of(tracks, heading_frames, minimum_step)
            mean = scene.headings[:-1] + feature.values(scene)[:-1]
            errors.append(difference(scene.headings[1:], mean).ravel())
        known = np.concatenate(errors)
        known = known[np.isfinite(known)]
        if not known.size:
            raise InputError("no animal has neighbours and a heading in two frames running")
        return cls(radius, float(np.sqrt(np.mean(known**2))))

    def behaviour(self) -> Aligning:
        """What its animals do."""
        return Aligning(LocalMisalignment(radius=self.radius), float(self.noise))
