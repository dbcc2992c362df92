"""What animals prefer around them: where they like to have a neighbour, the group or a target."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from shoal.basis import Flat
from shoal.posterior.choice_words import AngleWords, words_of
from shoal.posterior.choices import places_around
from shoal.posterior.decision_fit import DecisionFit
from shoal.posterior.preferences import preferences
from shoal.states import Axis, TurningAngle

SHOWN = 0.95
"""The share of decisions that the rings of a map hold at least."""


@dataclass(frozen=True, eq=False)
class Around:
    """Preferences over directions seen by an animal, and over distances where they are chosen.

    Directions are turns from the animal's own heading: 0° is ahead, positive angles lie to its
    left, negative ones to its right, as ``Bearing`` measures them.

    Attributes
    ----------
    thing
        What is there: "their nearest neighbour"; empty where the direction is one that others head
        in (``LocalMisalignment``).
    about
        What the preference is for, in words.
    distance, angle
        The axes; no distance where directions alone are known.
    mean, sd
        Of the preference −q, other features equal, over the mean of all cells that a cell can be
        compared with. NaN where nobody decided for; no sd where there is one answer only.
    lower, upper
        Ends of its 95 % interval.
    arrivals
        How often animals decided for each cell.
    left_out
        The share of decisions beyond the last ring: a few far ones would fill most of the map.
    apart
        Whether rings cannot be compared with each other, since no move leads between distances.
    """

    thing: str
    about: str
    distance: Axis | None
    angle: Axis
    mean: Float[np.ndarray, "rings angles"]
    sd: Float[np.ndarray, "rings angles"] | None
    lower: Float[np.ndarray, "rings angles"] | None
    upper: Float[np.ndarray, "rings angles"] | None
    arrivals: Int[np.ndarray, "rings angles"]
    apart: bool
    left_out: float = 0.0


def around(fit: DecisionFit) -> list[Around]:
    """A map for everything that has a place or a direction around an animal."""
    if isinstance(fit.model.basis, Flat):
        return []
    space = fit.model.space
    paired = places_around(fit)
    terms: list[tuple[int, ...]] = list(paired)
    for place, part in enumerate(space.parts):
        angular = isinstance(words_of(space, place), AngleWords)
        if angular and not isinstance(part, TurningAngle) and place not in [a for _, a in paired]:
            terms.append((place,))
    return [_map(fit, term) for term in terms]


def _map(fit: DecisionFit, term: tuple[int, ...]) -> Around:
    space = fit.model.space
    others = [(n,) for n in range(len(space.axes)) if n not in term]
    part = preferences(fit, [term, *others])[0]
    groups = part.compared()
    shape = part.shape if len(term) == 2 else (1, *part.shape)
    draws = -part.centred().reshape(len(part.draws), *shape)
    words = words_of(space, term[-1])
    assert isinstance(words, AngleWords)
    several = len(draws) > 1
    held = np.cumsum(part.arrivals.reshape(shape).sum(axis=1)) / part.arrivals.sum()
    rings = int(np.searchsorted(held, SHOWN)) + 1
    draws = draws[:, :rings]
    ends = np.quantile(draws, (0.025, 0.975), axis=0) if several else (None, None)
    return Around(
        words.thing,
        words.about,
        space.axes[term[0]] if len(term) == 2 else None,
        space.axes[term[-1]],
        draws.mean(axis=0),
        draws.std(axis=0, ddof=1) if several else None,
        ends[0],
        ends[1],
        part.arrivals.reshape(shape)[:rings],
        bool(groups.max() > 0),
        float(1 - held[rings - 1]),
    )
