"""The zonal model of Couzin et al. (2002) in the plane: repulsion, orientation, attraction."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from shoal.angles import difference
from shoal.errors import InputError
from shoal.simulation.behaviour import Behaviour, Choice, View
from shoal.tracks import shortest


class Zonal(Behaviour):
    """Away from those too near; or else along with, and towards, those farther off."""

    repulsion: float
    orientation: float
    attraction: float
    vision: float
    most: float
    noise: float

    def decide(self, key: Key[Array, ""], view: View, group: Int[Array, ""]) -> Choice:
        """The turn to the wanted direction, blurred, and no larger than an animal can make."""
        wanted = self.wanted(view)
        length = jnp.hypot(wanted[:, 0], wanted[:, 1])
        aim = jnp.rad2deg(jnp.arctan2(wanted[:, 1], wanted[:, 0]))
        aim = jnp.where(length > 1e-12, aim, view.headings)
        error = self.noise * jax.random.normal(key, aim.shape)
        return Choice.of_turn(
            jnp.clip(difference(aim + error, view.headings), -self.most, self.most)
        )

    def wanted(self, view: View) -> Float[Array, "individuals 2"]:
        """The direction that each animal wants, of any length; 0 where it wants none."""
        gap = shortest(view.positions[None, :] - view.positions[:, None], view.arena)
        distance = jnp.hypot(gap[..., 0], gap[..., 1])
        apart = jnp.isfinite(distance) & ~np.eye(distance.shape[0], dtype=bool) & (distance > 0)
        angle = jnp.rad2deg(jnp.arctan2(gap[..., 1], gap[..., 0]))
        seen = apart & (jnp.abs(difference(angle, view.headings[:, None])) <= self.vision / 2)
        towards = gap / jnp.where(apart, distance, 1.0)[..., None]
        theta = jnp.deg2rad(view.headings)
        ways = jnp.stack([jnp.cos(theta), jnp.sin(theta)], axis=-1)[None]
        near = apart & (distance < self.repulsion)  # felt all round, seen or not
        middle = seen & (distance >= self.repulsion) & (distance < self.orientation)
        far = seen & (distance >= self.orientation) & (distance <= self.attraction)
        away, along, to = -_sum(near, towards), _sum(middle, ways), _sum(far, towards)
        return jnp.where(near.any(axis=1)[:, None], away, along + to)


def _sum(
    who: Bool[Array, "individuals others"], ways: Float[Array, "_ others 2"]
) -> Float[Array, "individuals 2"]:
    return jnp.where(who[..., None], ways, 0.0).sum(axis=1)


@dataclass(frozen=True)
class Couzin:
    """Animals keep their distance, align with those near, and stay with those in sight.

    Parameters
    ----------
    repulsion, orientation, attraction
        The outer radii of the three zones, in the unit of places, each at least the one before.
    vision
        The field of view in degrees, 360 all round; those too near are noticed in any case.
    most
        The largest turn in a frame, in degrees.
    noise
        The standard deviation of the error of the wanted direction, in degrees.
    """

    repulsion: Any = 1.0
    orientation: Any = 4.0
    attraction: Any = 15.0
    vision: Any = 270.0
    most: Any = 40.0
    noise: Any = 3.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        values = (
            self.repulsion,
            self.orientation,
            self.attraction,
            self.vision,
            self.most,
            self.noise,
        )
        if not all(np.isreal(value) and np.isfinite(value) and value >= 0 for value in values):
            raise InputError(f"radii and angles are finite numbers, 0 or more; got {self}")
        if not self.repulsion <= self.orientation <= self.attraction:
            raise InputError(f"the zones lie one around the other, got {self}")
        if not 0 < self.vision <= 360:
            raise InputError(
                f"the field of view is more than 0° and at most 360°, got {self.vision}"
            )

    @property
    def reach(self) -> float:
        """How far its animals look."""
        return float(self.attraction)

    def behaviour(self) -> Zonal:
        """What its animals do."""
        return Zonal(
            float(self.repulsion), float(self.orientation), float(self.attraction),
            float(self.vision), float(self.most), float(self.noise),
        )  # fmt: skip
