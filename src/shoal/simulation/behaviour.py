"""What an animal sees, and what it does about it: the interface of everything that moves."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key

import shoal.precision  # noqa: F401
from shoal.states import Scene
from shoal.tracks import Arena


class View(eqx.Module):
    """One group at one moment.

    Attributes
    ----------
    positions, headings
        Of the members; NaN for those that are not there. Headings in degrees.
    lengths
        How far each is going to move in this frame; where that is its choice, how far it has moved
        in the last one.
    pace
        The typical distance that each moves in a frame.
    turned
        The turn that each has just made, in degrees.
    places
        Where landmarks are, by name.
    members, fps, arena, group
        As in Tracks.
    """

    positions: Float[Array, "individuals 2"]
    headings: Float[Array, " individuals"]
    lengths: Float[Array, " individuals"]
    pace: Float[Array, " individuals"]
    turned: Float[Array, " individuals"]
    places: dict[str, Float[Array, " 2"]]
    members: tuple[str, ...] = eqx.field(static=True)
    fps: float | None = eqx.field(static=True)
    arena: Arena | None = eqx.field(static=True)
    group: str = eqx.field(static=True, default="")

    def scene(self) -> Scene:
        """As features see it: a single frame."""
        everybody = {name: self.positions[None, i] for i, name in enumerate(self.members)}
        return Scene(
            self.positions[None],
            self.headings[None],
            self.fps,
            self.group,
            everybody | {name: place[None] for name, place in self.places.items()},
            self.arena,
            self.members,
            lengths=self.lengths[None],
        )


class Choice(eqx.Module):
    """What each animal does: a turn in degrees, and how far it goes where that is its choice.

    Of those that follow a policy also the state it was in and the one it chose, −1 for none.
    """

    turn: Float[Array, " individuals"]
    origin: Int[Array, " individuals"]
    destination: Int[Array, " individuals"]
    length: Float[Array, " individuals"] | None = None

    @classmethod
    def of_turn(cls, turn: Float[Array, " individuals"]) -> "Choice":
        """A turn that no state stands behind."""
        nowhere = jnp.full(turn.shape, -1)
        return cls(turn, nowhere, nowhere)


class Behaviour(eqx.Module):
    """Turns that follow from what an animal sees; all animals decide at once."""

    @abstractmethod
    def decide(self, key: Key[Array, ""], view: View, group: Int[Array, ""]) -> Choice:
        """What each animal does.

        Parameters
        ----------
        key
            Of this moment's randomness.
        view
            The group as it is.
        group
            Its number in a batch, where groups differ in what they live by.
        """
