"""What a user writes on the command line or in a TOML file, as specifications."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.basis import Bisquare, Flat, Fourier, Gaussian, Identity, Smooth, VonMises
from shoal.errors import InputError
from shoal.moves import Steps, Turns
from shoal.moves.densities import STEPS, TURNS
from shoal.moves.specification import OTHERS
from shoal.passive import RandomWalk, TurnCoupled, TurningMixture, Uniform, WalkMixture
from shoal.passive.unknown import Unknown
from shoal.selection.candidates import paper_walk
from shoal.states import (
    Bearing,
    Distance,
    Feature,
    LocalMisalignment,
    NeighboursWithin,
    RelativeSpeed,
    Scene,
    Speed,
    StateSpace,
    TargetDistance,
    TargetMisalignment,
    TurningAngle,
    WallDistance,
)
from shoal.tracks import Arena, Circle, Periodic, Rectangle, Tracks
from shoal.tracks.arena import misfit
from shoal.workflows.vocabulary import FEATURES, PERSISTENCES

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


def target_of(words: str, tracks: Iterable[Tracks] = ()) -> Any:
    """``X,Y``, the name of an animal or landmark, or ``GROUP=X,Y;GROUP=X,Y``.

    Parameters
    ----------
    tracks
        Where these were projected from longitude and latitude, points are longitude and latitude
        as well, and are projected in the same way; ``xy:X,Y`` is a point as the tracks have it.
    """
    if not words:
        return None
    if "=" in words:
        pairs = [part.partition("=") for part in words.split(";") if part.strip()]
        groups = list(tracks)
        return {
            group.strip(): _placed(
                place, [part for part in groups if part.group == group.strip()] or groups
            )
            for group, _, place in pairs
        }
    if "," in words:
        return _placed(words, tracks)
    return words.strip()


def _placed(words: str, tracks: Iterable[Tracks]) -> tuple[float, float]:
    """A point as the tracks have it."""
    kind, _, rest = words.strip().rpartition(":")
    projected = next((part for part in tracks if part.centre is not None), None)
    if kind == "xy" or projected is None:
        return point_of(rest if kind == "xy" else words)
    longitude, latitude = point_of(words)
    if not (abs(longitude) <= 360 and abs(latitude) <= 90):
        raise InputError(
            f"--target {words}: these tracks have longitude and latitude, so a target is "
            "LONGITUDE,LATITUDE in degrees; a point in metres from their centre is xy:X,Y"
        )
    return projected.place_at(longitude, latitude)


def target_note(words: str, tracks: Iterable[Tracks]) -> list[str]:
    """A sentence where a target was given as longitude and latitude."""
    groups = list(tracks)
    placed = target_of(words, groups)
    if isinstance(placed, str) or placed is None or placed == target_of(words):
        return []
    points = placed if isinstance(placed, dict) else {"": placed}
    where = ", ".join(
        f"{f'{name}: ' if name else ''}({x:.6g}, {y:.6g}) {groups[0].length_unit}".rstrip()
        for name, (x, y) in points.items()
    )
    return [
        f"the target {words} was taken as longitude and latitude and projected like the tracks, to "
        f"{where}"
    ]


def arena_of_words(words: str) -> Arena | None:
    """``left,bottom,right,top``, ``circle:x,y,radius`` or ``periodic:left,bottom,right,top``."""
    if not words:
        return None
    kind, _, rest = words.rpartition(":")
    numbers = _numbers(rest, f"--arena {words}")
    if kind == "circle" and len(numbers) == 3:
        return Circle(*numbers)
    if kind in ("", "rectangle") and len(numbers) == 4:
        return Rectangle(*numbers)
    if kind == "periodic" and len(numbers) == 4:
        return Periodic(*numbers)
    raise InputError(
        "an arena is left,bottom,right,top, circle:x,y,radius or periodic:left,bottom,right,top; "
        f"got {words!r}"
    )


def passive_of(words: str, space: StateSpace) -> Any:
    """Passive dynamics such as ``turn-coupled``, ``walk-mixture`` or ``random-walk:90,5``.

    Others are ``turn-coupled:normals``, ``turn-coupled:von-mises``, ``uniform``, ``uniform:area``,
    ``uniform:length,area``, ``random-walk:90:centre`` as in the paper, ``walk-mixture:centre`` and
    ``turning-mixture:10``.
    """
    kind, _, rest = words.partition(":")
    if kind == "uniform":
        measures = tuple(rest.split(",")) if rest else ("length",)
        return Uniform(measures if len(measures) > 1 else measures[0])
    if kind == "turn-coupled":
        return TurnCoupled(rest or "cauchy")
    if kind == "walk-mixture":
        return WalkMixture(start=rest or "anywhere")
    if kind == "turning-mixture":
        given = _numbers(rest, words) if rest else [10.0]
        if len(given) > 1:
            raise InputError(f"{words!r}: a turning mixture has one sd")
        return TurningMixture(sd=given[0])
    if kind != "random-walk":
        raise InputError(
            "passive dynamics are auto, turn-coupled, walk-mixture, uniform, random-walk:SD or "
            f"turning-mixture; got {words!r}"
        )
    sds, _, start = rest.partition(":")
    start = start or "anywhere"
    given = _numbers(sds, words) if sds else [90.0]
    if sds and len(given) == len(space.axes):
        return RandomWalk(tuple(given) if len(given) > 1 else given[0], start)
    if len(given) > 1:
        raise InputError(
            f"{words!r} has {len(given)} standard deviations for the axes {list(space.names)}"
        )
    return paper_walk(space, given[0], start)


def moves_of(words: str, others: str, candidates: int, persistence: str) -> Turns:
    """Moves such as ``turns``, ``turns:normals``, ``steps`` or ``steps:normals:log-normal``.

    Parameters
    ----------
    others
        ``still``, ``ahead`` or ``auto``, of steps alone.
    candidates
        As of ``shoal.Turns``.
    persistence
        ``learned``, or a number; ``none`` and ``auto`` are 0.
    """
    kind, *shapes = words.split(":")
    if kind not in ("turns", "steps"):
        raise InputError(
            "moves are auto, turns or steps, with shapes such as turns:normals or "
            f"steps:log-normal; got {words!r}"
        )
    if others not in ("auto", *OTHERS):
        raise InputError(f"--others is auto, {' or '.join(OTHERS)}; got {others!r}")
    given: dict[str, Any] = {
        "candidates": candidates,
        "persistence": _persistence(persistence),
    }
    for shape in shapes:
        name = "turn" if shape in TURNS else "step" if shape in STEPS and kind == "steps" else ""
        known = (*TURNS, *(STEPS if kind == "steps" else ()))
        if not name or name in given:
            raise InputError(f"{words!r}: after {kind} stand shapes such as {', '.join(known)}")
        given[name] = shape
    if kind == "steps":
        return Steps(**given, others=OTHERS[0] if others == "auto" else others)
    if others != "auto":
        raise InputError(f"--others is for steps, and --moves is {words}: leave one of them out")
    return Turns(**given)


def words_of_moves(moves: Turns) -> dict[str, Any]:
    """The choices that give such moves."""
    shapes = [moves.turn, moves.step] if isinstance(moves, Steps) else [moves.turn]
    return {
        "moves": ":".join(["steps" if moves.steps else "turns", *shapes]),
        "others": getattr(moves, "others", "auto"),
        "candidates": int(moves.candidates),
        "persistence": _words_of_persistence(moves.persistence),
    }


def _persistence(words: str) -> float | bool:
    """A number, or True where it is to be learned."""
    if words in PERSISTENCES:
        return words == "learned" or 0.0
    try:
        return float(words)
    except ValueError:
        raise InputError(
            f"--persistence is {', '.join(PERSISTENCES)} or a number; got {words!r}"
        ) from None


def _words_of_persistence(given: Any) -> str:
    if isinstance(given, Unknown):
        return "learned"
    return f"{given:g}" if given else "none"


def basis_of(words: str) -> Any:
    """A basis such as ``smooth``, ``flat``, ``identity``, ``bisquare:2`` or ``fourier:6``.

    Others are ``smooth:8``, ``bisquare``, ``gaussian:2`` and ``von-mises:18``;
    ``bisquare-planar`` and ``gaussian-planar`` do not go round circles, as in the paper.
    """
    kind, _, rest = words.partition(":")
    plain, _, planar = kind.partition("-planar")
    circular = "-planar" not in kind
    makers: dict[str, Callable[[int | None], Any]] = {
        "identity": lambda n: Identity(),
        "bisquare": lambda n: Bisquare(3 if n is None else n, circular),
        "gaussian": lambda n: Gaussian(every=2 if n is None else n, circular=circular),
        "fourier": lambda n: Fourier(6 if n is None else n),
        "von-mises": lambda n: VonMises(18 if n is None else n),
        "smooth": lambda n: Smooth(order=n),
        "flat": lambda n: Flat(),
    }
    if plain not in makers or planar:
        raise InputError(f"a basis is one of {', '.join(makers)}; got {words!r}")
    if rest and not rest.isdecimal():
        raise InputError(f"{words!r}: after the colon stands a whole number")
    return makers[plain](int(rest) if rest else None)


def pairs_of(words: str, what: str) -> dict[str, str]:
    """``role=column,role=column``."""
    pairs = [part.partition("=") for part in words.split(",") if part.strip()]
    wrong = [name for name, sign, value in pairs if not sign or not value.strip()]
    if wrong:
        raise InputError(f"{what} are written role=column,role=column; got {words!r}")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _option(part: str, word: str) -> tuple[str, Any]:
    name, sign, value = part.partition("=")
    if not sign:
        if name not in ("absolute", "others"):
            raise InputError(f"{word!r}: {name} needs a value, such as {name}=5")
        return name, True
    if name == "walls":
        return name, value
    if name == "edges":
        return name, tuple(_numbers(value.replace("/", ","), word))
    try:
        number = float(value)
    except ValueError:
        raise InputError(f"{word!r}: {name} is a number, got {value!r}") from None
    return name, int(number) if number.is_integer() and "." not in value else number


def _needed(target: Any, word: str) -> Any:
    if target is None:
        raise InputError(f"the feature {word!r} needs --target X,Y or the name of an animal")
    return target


def point_of(words: str) -> tuple[float, float]:
    """``X,Y``."""
    numbers = _numbers(words, f"--target {words}")
    if len(numbers) != 2:
        raise InputError(f"a target is X,Y or the name of an animal; got {words!r}")
    return numbers[0], numbers[1]


def _numbers(words: str, where: str) -> list[float]:
    try:
        return [float(part) for part in words.split(",")]
    except ValueError:
        raise InputError(
            f"{where!r}: expected numbers with commas between, got {words!r}"
        ) from None
