"""What an animal can choose, and how likely it would choose it without preferences."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.moves.densities import STEPS, TURNS, level_of
from shoal.moves.empirical import EmpiricalMoves
from shoal.passive.turn_coupled import SPREAD, WIDE, WIDE_SHARE
from shoal.passive.unknown import ANGLE, CORRELATION, POWER, SHARE, Parameter, Unknown, parameter

PERSISTENCE = Unknown(1.0, 3.0)
"""Half of all guesses lie between −0.33 and 0.33."""

BIAS = Unknown(1.0, 1.2)
"""Two times in three a mean turn lies between −16° and 16°."""

VARIATION = Unknown(0.5, 3.0)
"""What is known of steps before tracks are seen."""

FOLLOW = Unknown(0.7, 3.0)
"""How much of a longer step is kept, before tracks are seen."""

AFTER = Unknown(1.0, 2.0)
"""Two times in three a power lies between −1 and 1."""

OTHERS = ("still", "ahead")

BETWEEN = ("lines", "bins")

OPEN = {"typical": None, "follow": None, "pace": True}
"""What is taken from the tracks where nobody said otherwise."""


@dataclass(frozen=True)
class Turns:
    """An animal chooses its heading; how far it goes is not its choice.

    Parameters
    ----------
    turn
        The distribution of turns without preferences: ``"cauchy"``, wrapped and heavy-tailed;
        ``"normals"``, a mixture of a narrow and a wide wrapped normal; ``"von-mises"``; several
        turns in degrees, equally likely, each with a normal error; or as they were seen, in these
        or other tracks: ``shoal.moves.observed_turns(tracks)``.
    spread
        How far animals turn, in degrees: the half width of the Cauchy distribution (half of all
        turns are smaller), the sd of the narrow normal, or that of the von Mises distribution.
    wide, share
        Of ``"normals"``: the sd of the wide one, and its share.
    persistence
        How much of a turn is repeated in the next one: a number between −1 and 1, or True to learn
        it. Animals that are turning go on turning; errors of measurement make it negative.
    bias
        The mean turn in degrees, positive to the left, or True to learn it: animals that circle.
        By default 0, left and right alike.
    every
        Animals turn by multiples of so many degrees, as those of the paper do; None for any turn.
    candidates
        How many moves stand for all that an animal could have made.

    Examples
    --------
    >>> import shoal
    >>> shoal.Turns().turn
    'cauchy'
    """

    turn: Any = "cauchy"
    spread: Any = SPREAD
    wide: Any = WIDE
    share: Any = WIDE_SHARE
    persistence: Any = 0.0
    bias: Any = 0.0
    every: Any = None
    candidates: Any = 64
    steps: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check the words and numbers."""
        if isinstance(self.turn, list | tuple | np.ndarray):
            turns = tuple(float(turn) for turn in self.turn)
            if not turns or not np.all(np.isfinite(turns)):
                raise InputError(f"turns are one or more finite numbers of degrees, got {turns}")
            object.__setattr__(self, "turn", turns)
        elif not isinstance(self.turn, EmpiricalMoves) and self.turn not in TURNS:
            raise InputError(
                f"a turn is one of {', '.join(TURNS)}, or several numbers of degrees; got "
                f"{self.turn!r}"
            )
        if self.persistence is True:
            object.__setattr__(self, "persistence", PERSISTENCE)
        elif not isinstance(self.persistence, Unknown):
            number = isinstance(self.persistence, int | float | np.number)
            if not number or not -1 < self.persistence < 1:
                raise InputError(
                    "persistence is a number above −1 and below 1, or True to learn it from the "
                    f"tracks; got {self.persistence!r}"
                )
        if self.bias is True:
            object.__setattr__(self, "bias", BIAS)
        elif not isinstance(self.bias, Unknown):
            number = isinstance(self.bias, int | float | np.number) and self.bias is not False
            if not number or not -180 < self.bias < 180:
                raise InputError(
                    "bias is a number of degrees between −180 and 180, or True to learn it; got "
                    f"{self.bias!r}"
                )
        if self.every is not None and (
            not 0 < self.every <= 180 or abs(360 / self.every - round(360 / self.every)) > 1e-9
        ):
            raise InputError(
                f"every is a number of degrees that divides the circle, got {self.every!r}"
            )
        if self.every is not None and self.persistence != 0:
            raise InputError("turns that are multiples have no persistence: leave out one of them")
        count = self.candidates
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 8:
            raise InputError(f"candidates are a whole number of moves, 8 or more; got {count!r}")

    def parameters(self, space: Any = None) -> tuple[Parameter, ...]:
        """The numbers of the passive moves, known and unknown."""
        found = []
        if not isinstance(self.turn, EmpiricalMoves):
            found.append(parameter("turn spread", "spread", self.spread))
        if self.turn == "normals":
            found.append(parameter("wide turn sd", "wide", self.wide))
            found.append(parameter("share of wide turns", "share", self.share, SHARE))
        for name, field, given, kind in (
            ("persistence of turns", "persistence", self.persistence, CORRELATION),
            ("mean turn", "bias", self.bias, ANGLE),
        ):
            known = given if isinstance(given, Unknown) else float(given)
            found.append(Parameter(name, field, None, known, kind))
        return tuple(found)

    def differences(self, other: "Turns") -> list[str]:
        """Fields in which another specification differs; None stands for anything here."""
        names = [field.name for field in fields(self) if field.name != "candidates"]
        pairs = {name: (getattr(self, name), getattr(other, name)) for name in names}
        return [
            name for name, (one, two) in pairs.items()
            if one != two and not (name in OPEN and one is OPEN[name] and two is not False)
        ]  # fmt: skip

    def known(self, space: Any, values: dict[Any, float]) -> "Turns":
        """With numbers for its unknowns."""
        names = {field.name for field in fields(self)}
        return replace(self, **{key[0]: value for key, value in values.items() if key[0] in names})


@dataclass(frozen=True)
class Steps(Turns):
    """An animal chooses its heading and how far it goes: distances and walls become choices.

    Parameters
    ----------
    turn, spread, wide, share, persistence, bias, candidates
        As in ``Turns``.
    step
        The distribution of steps without preferences: ``"gamma"``, ``"log-normal"``, or as they
        were seen: ``shoal.moves.observed_steps(tracks)``.
    typical
        The step that is expected after one as long, in the unit of the tracks: the mean of gamma
        steps, the median of log-normal ones. By default learned, around what the tracks show.
    variation
        The sd of a gamma step over its mean, or that of a log-normal step's logarithm.
    follow
        How much of a step that was longer than usual is kept in the next one: 0 for none, 1 for
        all. By default taken from the tracks once, before costs are learned.
    pace
        True: every animal has a typical step of its own, the geometric mean of its steps in the
        tracks, and ``typical`` is that of all. False, as fits of earlier versions have it: all
        animals have the same typical step, a geometric mean; logarithms of steps follow those of
        the steps before, and ``evenness`` and ``straightness`` are 0.
    evenness
        How much more even steps are after long steps: the squared ``variation`` falls with this
        power of the step before, over a typical one of all animals. 0 for not at all, True to learn
        it.
    straightness
        How much smaller turns are after long steps: ``spread`` falls with this power of the step
        before, over a typical one of all animals. 0 for not at all, True to learn it.
    between
        Costs of distances and speeds between the middles of bins: ``"lines"``, straight lines from
        one to the next, or ``"bins"``, the same all over a bin, as fits of earlier versions have
        it. Where bins are wider than steps, costs by ``"bins"`` come out too flat.
    others
        How an animal sees the others when it decides: ``"still"``, where they are, or ``"ahead"``,
        where they will be if they go straight on.

    Examples
    --------
    >>> import shoal
    >>> shoal.Steps(others="ahead").step
    'gamma'
    """

    step: Any = "gamma"
    typical: Any = None
    variation: Any = VARIATION
    follow: Any = None
    pace: Any = True
    evenness: Any = True
    straightness: Any = True
    between: Any = "lines"
    others: Any = "still"
    steps: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check the words and numbers."""
        super().__post_init__()
        if isinstance(self.step, EmpiricalMoves):
            if self.step.typical is None or self.step.follow is None:
                raise InputError(
                    "these are turns: take steps from shoal.moves.observed_steps(tracks)"
                )
        elif self.step not in STEPS:
            raise InputError(f"a step is one of {', '.join(STEPS)}; got {self.step!r}")
        if self.others not in OTHERS:
            raise InputError(f"others are one of {', '.join(OTHERS)}; got {self.others!r}")
        if self.between not in BETWEEN:
            raise InputError(f"between is one of {', '.join(BETWEEN)}; got {self.between!r}")
        if not isinstance(self.pace, bool) and not (
            isinstance(self.pace, int | float | np.number) and 0 < self.pace < math.inf
        ):
            raise InputError(
                "pace is True where every animal has a typical step of its own, or False; got "
                f"{self.pace!r}"
            )
        if self.every is not None:
            raise InputError("steps go in any direction: leave out every")
        if not (
            self.follow is None
            or isinstance(self.follow, Unknown)
            or (isinstance(self.follow, int | float | np.number) and -1 <= self.follow <= 1.5)
        ):
            raise InputError(f"follow is a number, 0 for none and 1 for all; got {self.follow!r}")
        for name, given in (("evenness", self.step), ("straightness", self.turn)):
            able = self.own_pace and not isinstance(given, EmpiricalMoves)
            object.__setattr__(self, name, _power(name, getattr(self, name), able=able))

    def parameters(self, space: Any = None) -> tuple[Parameter, ...]:
        """The numbers of the passive moves, known and unknown."""
        if self.typical is None or self.follow is None:
            raise InputError("steps are known only after tracks were seen: take decisions.moves")
        seen = isinstance(self.step, EmpiricalMoves)
        pace = () if isinstance(self.pace, bool) else (parameter("pace", "pace", self.pace),)
        variation = () if seen else (parameter("variation of steps", "variation", self.variation),)
        return (
            *super().parameters(space),
            *pace,
            parameter("typical step", "typical", self.typical),
            *variation,
            Parameter("follow of steps", "follow", None, self.follow, SHARE),
            Parameter("evenness of steps", "evenness", None, self.evenness, POWER),
            Parameter("straightness of turns", "straightness", None, self.straightness, POWER),
        )

    @property
    def plain(self) -> bool:
        """Whether steps follow the step before as numbers, not in logs."""
        return self.own_pace and not isinstance(self.step, EmpiricalMoves)

    @property
    def own_pace(self) -> bool:
        """Whether animals differ in their typical step."""
        return self.pace is not False

    @property
    def log_reference(self) -> float:
        """The log of the typical step of all animals, where each has its own; else 0."""
        return 0.0 if isinstance(self.pace, bool) else math.log(self.pace)

    def levels(self, step_before: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """How long steps before were, beside the typical one of all animals."""
        return np.asarray(level_of(np.log(step_before) - self.log_reference, np))

    def resolved(self, step: Any, before: Any, pace: Any) -> "Steps":
        """With a prior around the steps that tracks show, beside each animal's own pace."""
        reference = 0.0
        if self.own_pace:
            reference = float(np.mean(np.log(pace)))
            self = replace(self, pace=math.exp(reference))  # noqa: PLW0642
        logs, earlier = (np.log(part / pace) + reference for part in (step, before))
        both = np.isfinite(earlier) & np.isfinite(logs)
        if len(logs) < 2:
            raise InputError("there is one step in these tracks: too few to learn from")
        if np.ptp(logs) < 1e-9:
            raise InputError(
                f"every step is {step[0]:g} long: animals that cannot choose how far they go are "
                "read with shoal.Turns()"
            )
        middle = float(np.median(logs))
        if isinstance(self.step, EmpiricalMoves):
            typical = self.step.typical if self.typical is None else self.typical
            follow = self.step.follow if self.follow is None else self.follow
            return replace(self, follow=follow, typical=typical)
        follow = self.follow
        if follow is None:
            follow = FOLLOW if self.plain else log_follow(logs[both], earlier[both], middle)
        typical = self.typical
        if typical is None:
            typical = Unknown(math.exp(middle), 3.0)
        return replace(self, follow=follow, typical=typical)


def log_follow(
    logs: Float[np.ndarray, " n"], earlier: Float[np.ndarray, " n"], middle: float
) -> float:
    """How much of a log step above the middle is kept in the next one."""
    x, y = earlier - middle, logs - middle
    square = float(x @ x)
    return float(np.clip(float(x @ y) / square, 0.0, 0.98)) if square > 0 else 0.0


def _power(name: str, given: Any, *, able: bool) -> Any:
    """A power of the step before: a number, or what is known of it."""
    if given is True or given == AFTER:
        return AFTER if able else 0.0
    if isinstance(given, Unknown):
        number = able
    else:
        number = isinstance(given, int | float | np.number) and given is not False
        number = number and -3 < given < 3 and (able or given == 0)
    if not number:
        raise InputError(
            f"{name} is a number between −3 and 3, or True to learn it, where every animal has a "
            f"pace and moves are not as they were seen; got {given!r}"
        )
    return given
