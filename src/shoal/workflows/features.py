"""What an animal perceives, as the words of ``--state`` name it; bins that fit the tracks."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.states import (
    Bearing,
    Distance,
    Feature,
    LocalMisalignment,
    NeighboursWithin,
    RelativeSpeed,
    Scene,
    Speed,
    TargetDistance,
    TargetMisalignment,
    TurningAngle,
    WallDistance,
)
from shoal.tracks import Arena
from shoal.tracks.arena import misfit
from shoal.workflows.vocabulary import FEATURES
from shoal.workflows.words import numbers_of

DEFAULT_BINS = 18
NEAREST, FARTHEST = 0.02, 0.99
"""Shares of values below the first edge after 0, and below the last edge."""

ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)


def feature_of(
    word: str,
    target: Any,
    arena: Arena | None,
    unit: str,
    scenes: Callable[[], Sequence[Scene]],
    angle_bins: int = 36,
) -> Any:
    """A feature such as ``local:bins=18:radius=0.1``; bins of distances fit what was seen.

    Parameters
    ----------
    word
        A name of ``FEATURES``, with options after colons.
    target, arena, unit
        What features refer to.
    scenes
        Gives the tracks where bins must be fitted to them.
    angle_bins
        Of an angle for which none are given.
    """
    name, *rest = word.strip().split(":")
    options = dict(_option(part, word) for part in rest)
    angles = {"bins": options.get("bins", angle_bins), "absolute": options.get("absolute", False)}
    allowed = {"bins", "absolute"}
    made: Any
    if name == "local":
        allowed |= {"radius", "nearest", "others"}
        made = LocalMisalignment(
            radius=options.get("radius"),
            nearest=options.get("nearest"),
            include_self=not options.get("others", False),
            **angles,
        )
    elif name == "target":
        made = TargetMisalignment(_needed(target, word), **angles)
    elif name in ("neighbour-bearing", "centroid-bearing"):
        made = Bearing(name.partition("-")[0], **angles)
    elif name == "turning":
        made = TurningAngle(**angles)
    elif name == "neighbours":
        allowed = {"radius", "most"}
        if "radius" not in options:
            raise InputError(f"{word!r} needs a radius, for example neighbours:radius=5")
        made = NeighboursWithin(options["radius"], options.get("most", 8))
    elif name in FEATURES:
        allowed = {"bins", "max", "edges", "walls"} | ({"frames"} if name == "speed" else set())
        made = _measured(name, word, options, target, arena, unit, scenes)
    else:
        raise InputError(f"there is no feature {name!r}; there are {', '.join(FEATURES)}")
    unknown = set(options) - allowed
    if unknown:
        raise InputError(
            f"{word!r}: there is no option {sorted(unknown)[0]!r}; {name} has "
            f"{', '.join(sorted(allowed))}"
        )
    return made


def _measured(
    name: str,
    word: str,
    options: dict[str, Any],
    target: Any,
    arena: Arena | None,
    unit: str,
    scenes: Callable[[], Sequence[Scene]],
) -> Any:
    """A feature on an interval."""
    walls = options.get("walls")
    makers: dict[str, Callable[[Any, bool], Any]] = {
        "neighbour-distance": lambda e, b: Distance(e, "neighbour", unit, b, walls),
        "centroid-distance": lambda e, b: Distance(e, "centroid", unit, b, walls),
        "target-distance": lambda e, b: TargetDistance(
            _needed(target, word), e, unit, b, walls=walls
        ),
        "wall-distance": lambda e, b: WallDistance(e, arena, unit, b, walls),
        "speed": lambda e, b: Speed(
            e, options.get("frames", 1), _speed_unit(unit, scenes), b, walls
        ),
        "relative-speed": lambda e, b: RelativeSpeed(e, b, walls),
    }
    if "edges" in options:
        return makers[name](options["edges"], False)
    if name != "speed" and not {"bins", "max"} & set(options):
        values = _values(makers[name]((0.0, 1.0), False), scenes())
        return makers[name](round_edges(values), True)
    count = options.get("bins", DEFAULT_BINS)
    if not isinstance(count, int) or count < 1:
        raise InputError(f"{word!r}: bins are a whole number, 1 or more")
    top = options.get("max")
    if top is None:
        values = _values(makers[name]((0.0, 1.0), False), scenes())
        top = round_up(float(np.quantile(values, FARTHEST)))
    edges = tuple(float(f"{edge:.10g}") for edge in np.linspace(0.0, float(top), count + 1))
    return makers[name](edges, True)


def _values(feature: Feature, scenes: Sequence[Scene]) -> Float[np.ndarray, " n"]:
    """All values of a feature, some of them above 0."""
    values = np.concatenate([feature.values(scene).ravel() for scene in scenes])
    values = values[np.isfinite(values)]
    if not values.size or not values.max() > 0:
        walls = [(getattr(feature, "arena", None) or scene.arena, scene) for scene in scenes]
        wrong = [misfit(arena, one.positions, one.group) for arena, one in walls if arena]
        first = next(filter(None, wrong), "")
        words = f"{feature.axis.name} has no value above 0 in these tracks"
        raise InputError(f"{words}: {first}" if first else words)
    return np.asarray(values)


def round_edges(values: Float[np.ndarray, " n"]) -> tuple[float, ...]:
    """Eighteen bins or fewer between round numbers, narrow where values are small.

    Each bin is wider than the one before by about the same factor, from the smallest values that
    are common to the largest.

    >>> round_edges(np.arange(1.0, 101.0))[:6]
    (0.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    """
    low, high = np.quantile(values[values > 0], [NEAREST, FARTHEST])
    top = round_up(float(high))
    inner = np.geomspace(min(max(low, top / 100), top / 2), top, DEFAULT_BINS)
    return tuple(sorted({0.0, *(nearest_round(float(edge)) for edge in inner)}))


def nearest_round(value: float) -> float:
    """The nearest of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 times a power of ten, by its factor.

    >>> nearest_round(37.2), nearest_round(0.0111)
    (40.0, 0.012)
    """
    power = 10.0 ** np.floor(np.log10(value))
    step = ROUND[int(np.argmin(np.abs(np.log(np.array(ROUND) * power / value))))]
    return float(f"{step * power:.6g}")


def round_up(value: float) -> float:
    """The next of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 times a power of ten.

    >>> round_up(37.2), round_up(0.011)
    (40.0, 0.012)
    """
    power = 10.0 ** np.floor(np.log10(value))
    return float(f"{next(s for s in ROUND if s * power >= value * (1 - 1e-12)) * power:.6g}")


def _speed_unit(unit: str, scenes: Callable[[], Sequence[Scene]]) -> str:
    timed = all(scene.fps is not None for scene in scenes())
    return f"{unit or 'lengths'} per {'s' if timed else 'frame'}"


def _option(part: str, word: str) -> tuple[str, Any]:
    name, sign, value = part.partition("=")
    if not sign:
        if name not in ("absolute", "others"):
            raise InputError(f"{word!r}: {name} needs a value, such as {name}=5")
        return name, True
    if name == "walls":
        return name, value
    if name == "edges":
        return name, tuple(numbers_of(value.replace("/", ","), word))
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"{word!r}: {name} is a number, got {value!r}") from None
    return name, int(number) if number.is_integer() and "." not in value else number


def _needed(target: Any, word: str) -> Any:
    if target is None:
        raise InputError(f"the feature {word!r} needs --target X,Y or the name of an animal")
    return target
