"""Specifications to plain dictionaries and back, without executing anything a file contains."""

from dataclasses import fields, is_dataclass
from typing import Any

from shoal.basis import (
    Bisquare,
    Flat,
    Fourier,
    Gaussian,
    Identity,
    Product,
    Smooth,
    Term,
    Terms,
    VonMises,
)
from shoal.errors import InputError
from shoal.moves import EmpiricalMoves, Steps, Turns
from shoal.passive import (
    RandomWalk,
    TurnCoupled,
    TurningMixture,
    Uniform,
    Unknown,
    WalkMixture,
)
from shoal.posterior.prior import Prior
from shoal.states import (
    Bearing,
    Circular,
    Custom,
    Distance,
    Folded,
    Interval,
    LocalMisalignment,
    NeighboursWithin,
    Numbered,
    RelativeSpeed,
    Speed,
    TargetDistance,
    TargetMisalignment,
    TurningAngle,
    WallDistance,
)
from shoal.tracks import Circle, Periodic, Rectangle

KNOWN: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Circular,
        Folded,
        Interval,
        Numbered,
        LocalMisalignment,
        TargetMisalignment,
        Bearing,
        Distance,
        TargetDistance,
        WallDistance,
        Speed,
        RelativeSpeed,
        TurningAngle,
        NeighboursWithin,
        Rectangle,
        Circle,
        Periodic,
        Uniform,
        RandomWalk,
        TurningMixture,
        TurnCoupled,
        WalkMixture,
        Unknown,
        Turns,
        Steps,
        EmpiricalMoves,
        Identity,
        Gaussian,
        Bisquare,
        Fourier,
        VonMises,
        Smooth,
        Term,
        Terms,
        Flat,
        Prior,
    )
}


MEASURED = ("Interval", "Distance", "TargetDistance", "WallDistance", "Speed")
BEFORE: dict[str, dict[str, Any]] = {
    **{kind: {"walls": "none"} for kind in MEASURED},
    "RandomWalk": {"start": "centre"},
    "WalkMixture": {"start": "centre"},
    "Uniform": {"measure": "bins"},
    "Steps": {"pace": False, "between": "bins"},
}
"""What files meant that were written before they could say so."""

INSIDE = (Rectangle, Circle, Periodic, Unknown, Term, EmpiricalMoves)
"""Specifications that stand inside others."""


class Unreadable:
    """Stands for a specification of the user's own that a file can name but not hold."""

    def __init__(self, words: str) -> None:
        self.words = words

    def on(self, space: Any) -> Any:
        """Say what is missing."""
        raise InputError(f"this fit was made with {self.words}, which a file cannot hold")

    def __repr__(self) -> str:
        return f"Unreadable({self.words!r})"


def plain(value: Any) -> Any:
    """NumPy's numbers as Python's, for JSON."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be stored")


def described(specification: Any) -> dict[str, Any]:
    """A specification as a dictionary of its kind and fields."""
    kind = type(specification).__name__
    if isinstance(specification, Product):
        return {"kind": "Product", "factors": [described(part) for part in specification.factors]}
    if KNOWN.get(kind) is type(specification) and is_dataclass(specification):
        values = {part.name: getattr(specification, part.name) for part in fields(specification)}
        return {"kind": kind, **{name: _nested(value) for name, value in values.items()}}
    if isinstance(specification, Custom):  # a file keeps the axis, not the function
        return described(specification.axis)
    return {"kind": "Unreadable", "words": repr(specification)[:200]}


def _nested(value: Any) -> Any:
    """Specifications inside specifications described, too."""
    if isinstance(value, tuple):
        return [_nested(part) for part in value]
    return described(value) if type(value) in INSIDE else value


def _tidy(value: Any) -> Any:
    """Lists as tuples, and specifications inside specifications restored."""
    if isinstance(value, dict):
        return restored(value)
    return tuple(_tidy(part) for part in value) if isinstance(value, list) else value


def restored(description: Any) -> Any:
    """The specification that a dictionary describes."""
    if not isinstance(description, dict) or "kind" not in description:
        raise InputError(f"expected the description of a specification, got {description!r:.80}")
    kind = description["kind"]
    values = {name: value for name, value in description.items() if name != "kind"}
    if kind == "Product":
        return Product(*(restored(part) for part in values.get("factors", [])))
    if kind == "Unreadable":
        return Unreadable(str(values.get("words")))
    if kind not in KNOWN:
        raise InputError(f"unknown kind of specification {kind!r}")
    tidy = BEFORE.get(kind, {}) | {name: _tidy(value) for name, value in values.items()}
    try:
        return KNOWN[kind](**tidy)
    except TypeError as error:
        raise InputError(f"the description of {kind} does not fit: {error}") from error
