"""Models to compare with: baselines, the paper's, and those whose dynamics are learned."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from shoal.basis import Bisquare, Flat, Smooth
from shoal.errors import InputError
from shoal.passive import Empirical, RandomWalk, TurnCoupled, Uniform, WalkMixture
from shoal.posterior import Model
from shoal.states import Circular, Folded, Numbered, StateSpace

LARGEST_BISQUARE = 3
"""Axes beyond which the paper's bisquare functions are too many."""


def _as_it_is(part: Any) -> Any:
    return part


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model by name, made when what it learns from is known.

    Attributes
    ----------
    make
        The model, from what it learns from.
    costs
        Whether it has preferences, or lives by passive dynamics alone.
    dynamics
        The name of its passive dynamics, to find the same model without costs.
    read
        A part (what to learn from, what to score) as this model reads it.
    """

    name: str
    make: Callable[[Any], Model]
    costs: bool = True
    dynamics: str = ""
    read: Callable[[Any], Any] = _as_it_is


def ladder(space: StateSpace, discount: float = 1.0) -> list[Candidate]:
    """From knowing nothing to turns and smooth costs, in the order of a table."""
    walk = paper_walk(space)
    found = [
        _of("uniform", space, Uniform(), Flat(), discount),
        Candidate(
            "Markov chain, smoothed",
            lambda seen: Model(space, Empirical(seen), Flat(), discount),
            costs=False,
            dynamics="Markov chain",
        ),
    ]
    if not any(isinstance(axis, Numbered) for axis in space.axes):
        found += _measured(space, walk, discount)
    found.insert(1, _of("uniform + costs (maximum entropy)", space, Uniform(), Smooth(), discount))
    return found


def _measured(space: StateSpace, walk: Any, discount: float) -> list[Candidate]:
    found = [_of("paper's walk", space, walk, Flat(), discount)]
    if len(space.axes) <= LARGEST_BISQUARE:
        paper = Bisquare(3 if len(space.axes) <= 2 else 2, circular=False)
        found.append(_of("paper's walk + bisquare costs (the paper)", space, walk, paper, discount))
    found.append(_of("paper's walk + smooth costs", space, walk, Smooth(), discount))
    found.append(_of("independent mixture", space, WalkMixture(), Flat(), discount))
    found.append(
        _of("independent mixture + smooth costs", space, WalkMixture(), Smooth(), discount)
    )
    if couples(space):
        found.append(_of("turn-coupled", space, TurnCoupled(), Flat(), discount))
        found.append(_of("turn-coupled + smooth costs", space, TurnCoupled(), Smooth(), discount))
    return found


def _of(name: str, space: StateSpace, passive: Any, basis: Any, discount: float) -> Candidate:
    model = Model(space, passive, basis, discount)
    dynamics = name.split(" + ", maxsplit=1)[0]
    return Candidate(name, lambda seen: model, not isinstance(basis, Flat), dynamics)


def couples(space: StateSpace) -> bool:
    """Whether a turn changes some of the angles, and all features say what it does."""
    try:
        TurnCoupled().parameters(space)
    except InputError:
        return False
    return True


def paper_walk(space: StateSpace, sd: float = 90.0, start: str = "centre") -> RandomWalk:
    """The paper's 90° on angles from the centres of bins, a quarter of the span on distances."""
    angles = [isinstance(axis, Circular | Folded) for axis in space.axes]
    if all(angles):
        return RandomWalk(sd, start)
    pairs = zip(space.axes, angles, strict=True)
    sds = tuple(sd if angle else float(a.widths.sum() / 4) for a, angle in pairs)
    return RandomWalk(sds, start)
