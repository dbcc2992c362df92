"""Models of decisions to compare with: passive moves, rules of thumb, regressions, smooth costs."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from shoal.basis import Flat, Smooth, Term, Terms
from shoal.moves import Decisions, Turns
from shoal.moves.densities import TURNS
from shoal.posterior import Model
from shoal.selection.candidates import Candidate
from shoal.selection.matching import matched, with_passive
from shoal.selection.zones import HEADING, SOCIAL, alignment, zones
from shoal.states import Interval, StateSpace

PASSIVE = "passive moves"
NAMES = {"cauchy": "wrapped Cauchy turns", "normals": "turns of two normals"}
NAMES |= {"von-mises": "von Mises turns"}
Own = tuple[Decisions, Decisions]
"""Another reading of what is learned from and of what is scored."""


def move_ladder(like: Decisions, social: Own | None = None) -> list[Candidate]:
    """From moves without preferences to smooth costs, in the order of a table.

    Parameters
    ----------
    like
        The decisions that are compared.
    social
        The same decisions with the axes of ``SOCIAL``, for rules that need what ``like`` lacks.
    """
    space = like.space
    found = [_of(PASSIVE, like, Flat())]
    found += [
        _with_turn(f"{PASSIVE} ({NAMES[turn]})", like, turn, Flat()) for turn in _other_turns(like)
    ]
    for name, needs, terms in (
        ("alignment (Vicsek)", (HEADING,), lambda seen: alignment()),
        ("zones (Couzin)", SOCIAL, zones),
    ):
        if set(needs) <= set(space.names):
            found.append(_made(name, like, terms, None))
        elif social is not None:
            found.append(_made(name, like, terms, social))
    found.append(_of("linear terms (step selection)", like, linear_terms(space, like.moves)))
    if len(space.axes) > 1:
        found.append(_of("smooth costs without interactions", like, Smooth(interactions=1)))
    found.append(_of("smooth costs", like, Smooth()))
    found += [
        _with_turn(f"smooth costs ({NAMES[turn]})", like, turn, Smooth())
        for turn in _other_turns(like)
    ]
    return found


def lacks_social(space: StateSpace) -> bool:
    """Whether some of the rules need features that these states do not have."""
    return not set(SOCIAL) <= set(space.names)


def linear_terms(space: StateSpace, moves: Turns) -> Terms:
    """The cosine of every angle, every distance and its logarithm: what regressions begin with.

    How far animals turn and go (the cosine of the turn, the step and its logarithm) are numbers of
    the passive moves, which are learned beside these.
    """
    terms = []
    for axis, part in zip(space.axes, space.parts, strict=True):
        if not moves.steps and not getattr(part, "turn", 0):
            continue  # no turn can change it
        if not isinstance(axis, Interval):
            terms.append(Term(axis.name, "cos"))
            continue
        terms.append(Term(axis.name))
        if axis.size > 2 and np.min(axis.centres) > 0:
            terms.append(Term(axis.name, "log"))
    return Terms(tuple(terms))


def dynamics_of(moves: Turns) -> str:
    """The passive moves in words: what two models share that differ in their costs alone."""
    turn = moves.turn if isinstance(moves.turn, str) else "given turns"
    kept = "" if moves.persistence == 0 else ", persistent"
    return " ".join(filter(None, (turn, getattr(moves, "step", "")))) + kept


def given(name: str, model: Model, own: Own | None) -> Candidate:
    """A model of the user's, with decisions of its own where it has them."""
    costs = not isinstance(model.basis, Flat)
    read = partial(_own_part, own, partial(with_passive, moves=model.passive))
    return Candidate(
        name, lambda seen: replace(model, passive=seen.moves), costs, dynamics_of(model.passive),
        read,
    )  # fmt: skip


def _other_turns(like: Decisions) -> list[str]:
    """Distributions of turns besides the one given; none where turns are given or multiples."""
    if like.moves.turn not in TURNS or like.moves.every is not None:
        return []
    return [turn for turn in TURNS if turn != like.moves.turn]


def _of(name: str, like: Decisions, basis: Any) -> Candidate:
    return Candidate(
        name,
        lambda seen: Model(seen.space, seen.moves, basis),
        not isinstance(basis, Flat),
        dynamics_of(like.moves),
    )


def _with_turn(name: str, like: Decisions, turn: str, basis: Any) -> Candidate:
    moves = replace(like.moves, turn=turn)
    read = partial(_own_part, None, partial(with_passive, moves=moves))
    return replace(_of(name, like, basis), dynamics=dynamics_of(moves), read=read)


def _made(
    name: str, like: Decisions, terms: Callable[[Decisions], Terms], own: Own | None
) -> Candidate:
    read = partial(_own_part, own, _unchanged)
    return Candidate(
        name,
        lambda seen: Model(seen.space, seen.moves, terms(seen)),
        True,
        dynamics_of(like.moves),
        read,
    )


def _unchanged(part: Decisions) -> Decisions:
    return part


def _own_part(
    own: Own | None, change: Callable[[Decisions], Decisions], part: tuple[Decisions, Decisions]
) -> tuple[Decisions, Decisions]:
    """What to learn from and what to score, as one model reads them."""
    if own is not None:
        part = (matched(own[0], part[0]), matched(own[1], part[1]))
    return (change(part[0]), change(part[1]))
