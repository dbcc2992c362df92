"""How states are read off tracks, as one record."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.states.scene import Feature, Scene
from shoal.states.space import StateSpace
from shoal.tracks import Tracks


@dataclass(frozen=True)
class Headings:
    """How headings were taken from tracks, and how far apart the frames of these tracks were.

    Parameters
    ----------
    heading_frames, minimum_step, tracker_headings
        As in ``shoal.count_transitions``.
    interval
        Between two frames; None where it is unknown or differs between groups.
    interval_unit
        ``"s"``, or ``"frames"`` where the frame rate is unknown.
    """

    heading_frames: Any = 1
    minimum_step: Any = 0.0
    tracker_headings: Any = False
    interval: Any = None
    interval_unit: str = "s"

    def __post_init__(self) -> None:
        """Check the numbers: they may come from a file."""
        frames, step = self.heading_frames, self.minimum_step
        if isinstance(frames, bool) or not hasattr(frames, "__index__") or frames < 1:
            raise InputError(
                f"headings are taken over a whole number of frames, 1 or more; got {frames!r}"
            )
        for name, value in (("minimum step", step), ("frame interval", self.interval or 0.0)):
            if not (np.isreal(value) and np.isfinite(value) and value >= 0):
                raise InputError(f"a {name} is a number, 0 or more; got {value!r}")
        object.__setattr__(self, "heading_frames", int(frames))
        object.__setattr__(self, "minimum_step", float(step))
        object.__setattr__(self, "tracker_headings", bool(self.tracker_headings))

    def chosen(
        self, heading_frames: Any = None, minimum_step: Any = None, tracker_headings: Any = None
    ) -> "Headings":
        """With other choices, where they are not None."""
        given = {
            "heading_frames": heading_frames,
            "minimum_step": minimum_step,
            "tracker_headings": tracker_headings,
        }
        return replace(self, **{name: one for name, one in given.items() if one is not None})

    def of(self, tracks: Tracks) -> "Headings":
        """With the frame interval of these tracks."""
        if tracks.fps is not None:
            return replace(self, interval=1 / tracks.fps, interval_unit="s")
        if len(tracks.time) < 2:
            return replace(self, interval=None)
        interval = float(np.median(np.diff(tracks.time)))
        return replace(self, interval=interval, interval_unit="frames")

    def joined(self, other: "Headings") -> "Headings":
        """Of transitions that are added up; headings must have been taken in the same way."""
        if self.taken != other.taken:
            raise InputError(
                f"transitions with {self.words} and with {other.words} cannot be added: count "
                "them in the same way"
            )
        same = self.interval_unit == other.interval_unit and not self.other_interval(other)
        known = same and None not in (self.interval, other.interval)
        return self if known else replace(self, interval=None)

    @property
    def taken(self) -> tuple[int, float, bool]:
        """How headings were taken, frame intervals apart."""
        return self.heading_frames, self.minimum_step, self.tracker_headings

    @property
    def words(self) -> str:
        """In words, for messages."""
        if self.tracker_headings:
            return "headings from the tracker"
        return (
            f"headings over {self.heading_frames} frame{'s' if self.heading_frames > 1 else ''} "
            f"(minimum step {self.minimum_step:g})"
        )

    @property
    def interval_words(self) -> str:
        """The frame interval in words."""
        if self.interval is None:
            return "unknown or different frame intervals"
        return f"a frame every {self.interval:.4g} {self.interval_unit}"

    def other_interval(self, other: "Headings") -> bool:
        """Whether frames are known to be more than two percent nearer or farther apart."""
        if None in (self.interval, other.interval) or self.interval_unit != other.interval_unit:
            return False
        return not np.isclose(self.interval, other.interval, rtol=0.02, atol=0.0)

    def check_interval(self, tracks: Tracks) -> None:
        """Refuse tracks whose frames are not as far apart as those that a fit was made from."""
        found = self.of(tracks)
        if not self.other_interval(found):
            return
        every = self.interval / found.interval
        whole = round(every)
        thinned = whole > 1 and abs(every - whole) < 0.02 * whole
        advice = (
            f"thin them with tracks.thin({whole}), or on the command line with every = {whole} in "
            "the TOML file that --fit-config names"
            if thinned
            else "give tracks with the frame interval of the fit"
        )
        raise InputError(
            f"the fit was made from tracks with {self.interval_words}, and group "
            f"{tracks.group!r} has {found.interval_words}: {advice}"
        )


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
        How headings are taken, see ``shoal.tracks.headings``.
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

    @property
    def headings(self) -> Headings:
        """How headings are taken."""
        return Headings(self.heading_frames, self.minimum_step, self.tracker_headings)

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
