"""How states are read off tracks, as one record."""

from dataclasses import dataclass

from shoal.errors import InputError
from shoal.states.scene import Feature, Scene
from shoal.states.space import StateSpace
from shoal.tracks import Tracks


@dataclass(frozen=True)
class Counting:
    """How states are read off tracks.

    Parameters
    ----------
    space
        States made of features.
    lag
        Frames between the two states of a transition.
    heading_frames, minimum_step, tracker_headings
        How headings are taken, see ``shoal.headings``.
    """

    space: StateSpace
    lag: int = 1
    heading_frames: int = 1
    minimum_step: float = 0.0
    tracker_headings: bool = False

    def __post_init__(self) -> None:
        """Check the lag and that there are features."""
        if not hasattr(self.lag, "__index__") or self.lag < 1:
            raise InputError(f"a lag is a whole number of frames, 1 or more; got {self.lag!r}")

    def scene(self, tracks: Tracks) -> Scene:
        """What there was to perceive."""
        return Scene.of(tracks, self.heading_frames, self.minimum_step, self.tracker_headings)

    def check_features(self) -> None:
        """Every axis has a feature that says how it is measured."""
        for part in self.space.parts:
            if not isinstance(part, Feature):
                raise InputError(
                    f"states of tracks need features such as LocalMisalignment(), and {part!r} is "
                    "a bare axis"
                )
