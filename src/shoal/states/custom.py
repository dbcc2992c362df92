"""A feature of the user's own."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from shoal.errors import InputError
from shoal.states.axes import Axis
from shoal.states.scene import PerAnimal, Scene


@dataclass(frozen=True)
class Custom:
    """Whatever a function makes of a scene, on an axis that says how it is cut into bins.

    Parameters
    ----------
    axis
        ``shoal.Circular(name, bins)`` for degrees or ``shoal.states.Interval(name, edges, unit)``.
    function
        Takes a Scene with ``positions`` (time, individuals, 2), ``headings`` (time, individuals)
        in degrees, ``fps`` and ``group``; gives an array (time, individuals), NaN for no value.
    turn
        What a turn by one degree adds to it: −1 for directions seen from the animal, 0 for what
        turning leaves alone. None where that is not known: then groups cannot be simulated from
        it. In a simulation the function gets one frame of many groups, one after the other.

    Examples
    --------
    >>> import shoal
    >>> axis = shoal.states.Interval("north", (0, 1, 2))
    >>> north = shoal.states.Custom(axis, lambda scene: scene.positions[..., 1])
    >>> shoal.StateSpace(north).size
    2
    """

    axis: Any
    function: Any
    turn: Any = None
    before: ClassVar[None] = None

    def __post_init__(self) -> None:
        """Check that the parts are what they should be."""
        if not isinstance(self.axis, Axis) or not callable(self.function):
            raise InputError("a custom feature is an axis and a function of a scene")
        if self.turn not in (None, -1, 0):
            raise InputError(f"a turn adds −1 or 0 to a feature, or nobody knows; got {self.turn}")

    def values(self, scene: Scene) -> PerAnimal:
        """What the function gives, checked."""
        found = np.asarray(self.function(scene), dtype=float)
        if found.shape != scene.headings.shape:
            raise InputError(
                f"the function for {self.axis.name!r} gave an array of shape {found.shape}; "
                f"expected one value for every animal in every frame, {scene.headings.shape}"
            )
        return found
