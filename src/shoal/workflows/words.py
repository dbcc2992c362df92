"""What a user writes on the command line or in a TOML file, as specifications."""

from collections.abc import Callable, Iterable
from typing import Any

from shoal.basis import Bisquare, Flat, Fourier, Gaussian, Identity, Smooth, VonMises
from shoal.errors import InputError
from shoal.moves import Steps, Turns
from shoal.moves.densities import STEPS, TURNS
from shoal.moves.specification import OTHERS
from shoal.passive import RandomWalk, TurnCoupled, TurningMixture, Uniform, WalkMixture
from shoal.passive.unknown import Unknown
from shoal.selection.candidates import paper_walk
from shoal.states import (
    StateSpace,
)
from shoal.tracks import Arena, Circle, Periodic, Rectangle, Tracks
from shoal.workflows.vocabulary import PERSISTENCES


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
    numbers = numbers_of(rest, f"--arena {words}")
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
        given = numbers_of(rest, words) if rest else [10.0]
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
    given = numbers_of(sds, words) if sds else [90.0]
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


def point_of(words: str) -> tuple[float, float]:
    """``X,Y``."""
    numbers = numbers_of(words, f"--target {words}")
    if len(numbers) != 2:
        raise InputError(f"a target is X,Y or the name of an animal; got {words!r}")
    return numbers[0], numbers[1]


def numbers_of(words: str, where: str) -> list[float]:
    """``0,0.5,1``."""
    try:
        return [float(part) for part in words.split(",")]
    except ValueError:
        raise InputError(
            f"{where!r}: expected numbers with commas between, got {words!r}"
        ) from None
