"""Features in words of behaviour: what animals turn to, move towards, or keep away from."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.states import (
    Axis,
    Bearing,
    Circular,
    Distance,
    Folded,
    LocalMisalignment,
    NeighboursWithin,
    Numbered,
    RelativeSpeed,
    Speed,
    StateSpace,
    TargetDistance,
    TargetMisalignment,
    TurningAngle,
    WallDistance,
)


@dataclass(frozen=True)
class AngleWords:
    """How to speak of an angle that is 0 where an animal faces something, or heads as others do.

    Attributes
    ----------
    key
        A short name of the question: ``align``, ``turn-towards``.
    about
        What the feature is, for "a preference for …".
    towards, beside, away, along
        What animals do that prefer small, middle or large angles, or small and large to middle.
    near, middle, far
        Where a move ends: within 30° of it, about 90° from it, or opposite.
    thing
        What is at the angle, where it is a thing in a place; angles and distances of one thing
        belong together.
    """

    key: str
    about: str
    towards: str
    beside: str
    away: str
    along: str
    near: str
    middle: str
    far: str
    thing: str = ""


@dataclass(frozen=True)
class ScaleWords:
    """How to speak of a number, such as a distance or a speed, of which there is more or less.

    Attributes
    ----------
    key
        A short name of the question: ``distance``, ``speed``.
    about
        What the feature is, for "a preference for …".
    less, more
        What animals do that prefer less, or more, of it: "move towards", "move away from".
    beyond, within, between
        Of what, with ``{0}`` (and ``{1}``) for the numbers: "neighbours farther than {0}".
    ends
        Where a move ends, with ``{0}`` for the bins.
    thing
        As in ``AngleWords``.
    """

    key: str
    about: str
    less: str
    more: str
    beyond: str
    within: str
    between: str
    ends: str
    thing: str = ""


def words_of(  # noqa: PLR0911  (one for each kind)
    space: StateSpace, place: int
) -> AngleWords | ScaleWords:
    """The words of one feature; features of one's own are called by their names."""
    part: Any = space.parts[place]
    axis = space.axes[place]
    angular = isinstance(axis, Circular | Folded)
    if isinstance(part, LocalMisalignment):
        return _ALIGN
    if isinstance(part, TurningAngle):
        return _STRAIGHT
    if isinstance(part, TargetMisalignment | TargetDistance):
        name = part.target if isinstance(part.target, str) else "target"
        thing = name if name.startswith("the ") else f"the {name}"
        return _facing(thing) if angular else _distance(thing)
    if isinstance(part, Bearing | Distance):
        if part.towards == "centroid":
            thing = "the middle of the group"
            return _facing(thing) if angular else _distance(thing)
        return _facing("their nearest neighbour") if angular else _NEIGHBOURS
    if isinstance(part, WallDistance):
        return _WALLS
    if isinstance(part, Speed):
        return _SPEED
    if isinstance(part, RelativeSpeed):
        return _BESIDE
    if isinstance(part, NeighboursWithin):
        return _CROWD
    name = axis.name.replace("_", " ")
    return _angle(name) if angular else _number(name)


def _facing(thing: str) -> AngleWords:
    return AngleWords(
        key="turn-towards",
        about=f"where {thing} is",
        towards=f"turn towards {thing}",
        beside=f"keep {thing} at their side",
        away=f"turn away from {thing}",
        along=f"keep {thing} ahead or behind rather than at their side",
        near=f"facing {thing} (within about 30°)",
        middle=f"with {thing} at one side (60–120°)",
        far=f"with {thing} behind (beyond 150°)",
        thing=thing,
    )


def _distance(thing: str) -> ScaleWords:
    return ScaleWords(
        key="distance",
        about=f"the distance to {thing}",
        less="move towards",
        more="move away from",
        beyond=f"{thing} when it is farther than {{0}}",
        within=f"{thing} when it is nearer than {{0}}",
        between=f"{thing} when it is {{0}} to {{1}} away",
        ends=f"{{0}} from {thing}",
        thing=thing,
    )


def _angle(name: str) -> AngleWords:
    return AngleWords(
        key=name,
        about=f"the {name}",
        towards=f"choose a {name} near 0°",
        beside=f"choose a {name} near 90° on either side",
        away=f"choose a {name} far from 0°",
        along=f"choose a {name} near 0° or opposite, rather than between",
        near=f"at a {name} of 0–30°",
        middle="at one of 60–120°, either sign",
        far="at one of 150–180°, either sign",
    )


def _number(name: str) -> ScaleWords:
    return ScaleWords(
        key=name,
        about=f"the {name}",
        less=f"choose a smaller {name}",
        more=f"choose a larger {name}",
        beyond="where it is above {0}",
        within="where it is below {0}",
        between="where it is {0} to {1}",
        ends=f"at a {name} of {{0}}",
    )


_ALIGN = AngleWords(
    key="align",
    about="alignment with their neighbours",
    towards="turn to align with their neighbours",
    beside="turn across their neighbours' heading",
    away="turn away from their neighbours' heading",
    along="head along the line of their neighbours' heading, with or against it",
    near="within about 30° of the neighbours' heading",
    middle="about 90° from it (60–120°)",
    far="against it (beyond 150°)",
)
_STRAIGHT = AngleWords(
    key="straight",
    about="how far they turn",
    towards="turn less than passive moves alone would",
    beside="turn sharply more often than passive moves alone would",
    away="turn round more often than passive moves alone would",
    along="go straight on or turn round rather than turn aside",
    near="with a turn of 0–30°",
    middle="with one of 60–120°",
    far="with one of 150–180°",
)
_NEIGHBOURS = ScaleWords(
    key="distance",
    about="the distance to their nearest neighbour",
    less="move towards",
    more="move away from",
    beyond="neighbours farther than {0}",
    within="neighbours nearer than {0}",
    between="neighbours {0} to {1} away",
    ends="{0} from the nearest neighbour",
    thing="their nearest neighbour",
)
_WALLS = ScaleWords(
    key="walls",
    about="the distance to the wall",
    less="move towards",
    more="move away from",
    beyond="walls farther than {0}",
    within="walls nearer than {0}",
    between="walls {0} to {1} away",
    ends="{0} from the wall",
    thing="the wall",
)
_SPEED = ScaleWords(
    key="speed",
    about="their speed",
    less="slow down",
    more="speed up",
    beyond="above {0}",
    within="below {0}",
    between="from {0} to {1}",
    ends="at {0}",
)
_BESIDE = ScaleWords(
    key="relative-speed",
    about="their speed beside that of the others",
    less="slow down",
    more="speed up",
    beyond="above {0}",
    within="below {0}",
    between="from {0} to {1}",
    ends="at {0}",
)
_CROWD = ScaleWords(
    key="crowding",
    about="how many neighbours are near",
    less="move to where fewer neighbours are near,",
    more="move to where more neighbours are near,",
    beyond="from more than {0}",
    within="from fewer than {0}",
    between="from {0} to {1}",
    ends="with {0}",
)


def bin_words(axis: Axis, which: int) -> str:
    """A bin of an axis in words: ``0°``, ``2.5 to 5 cm``."""
    centre = float(axis.centres[which])
    if isinstance(axis, Numbered):
        return f"state {which}"
    if isinstance(axis, Circular | Folded):
        text = "±180" if abs(abs(centre) - 180) < 1e-9 else f"{centre:.4g}"
        return f"{text}°".replace("-", "−")
    return range_words(axis, which, which)


def range_words(axis: Axis, first: int, last: int) -> str:
    """Some bins of an interval beside each other, in words."""
    low, _ = bin_ends(axis, first)
    _, high = bin_ends(axis, last)
    unit = f" {axis.unit}" if axis.unit else ""
    if axis.name == "neighbours":  # a bin for each number
        low, high, unit = low + 0.5, high - 0.5, " near"
    if getattr(axis, "beyond", False) and last == axis.size - 1:
        return f"{low:.6g}{unit} or more"
    if axis.name == "neighbours" and low == high:
        return f"{low:.6g}{unit}"
    return f"{low:.6g} to {high:.6g}{unit}"


def edge_words(axis: Axis, place: float) -> str:
    """An end of a bin with its unit."""
    if axis.name == "neighbours":
        return f"{int(np.ceil(place))}"
    return f"{place:.6g}{f' {axis.unit}' if axis.unit else ''}"


def bin_ends(axis: Axis, which: int) -> tuple[float, float]:
    """Where a bin of an interval begins and ends."""
    centre, width = float(axis.centres[which]), float(axis.widths[which])
    return centre - width / 2, centre + width / 2
