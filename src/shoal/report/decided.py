"""What a page says and shows of a fit to decisions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.moves import EmpiricalMoves
from shoal.posterior import DecisionFit
from shoal.posterior.around import Around, around
from shoal.posterior.preferences import preferences
from shoal.report.packing import packed, plain
from shoal.states import Folded


def decided_marginals(fit: DecisionFit) -> list[dict[str, Any]]:
    """Costs along each axis with the others equal, for axes that moves lead along."""
    found = []
    parts = preferences(fit, [(n,) for n in range(len(fit.model.space.axes))])
    for place, part in enumerate(parts):
        if np.unique(part.compared()[part.known]).size > 1:  # no move leads from bin to bin
            continue
        draws = part.centred()
        mean = draws.mean(axis=0)
        draws = draws - np.nanmin(mean)
        band = {}
        if len(draws) > 1:
            lower, upper = np.quantile(draws, (0.025, 0.975), axis=0)
            band = {"lower": plain(lower), "upper": plain(upper)}
        found.append(
            {
                "axis": place,
                "mean": plain(draws.mean(axis=0)),
                **band,
                "arrivals": part.arrivals.tolist(),
            }
        )
    return found


def around_of(fit: DecisionFit) -> list[dict[str, Any]]:
    """Maps around an animal, as numbers for the page's script."""
    names = fit.model.space.names
    return [_map(one, names) for one in around(fit)]


def _map(found: Around, names: Sequence[str]) -> dict[str, Any]:
    shown = {
        name: packed(values)
        for name in ("mean", "sd", "lower", "upper")
        if (values := getattr(found, name)) is not None
    }
    distance, angle = found.distance, found.angle
    return {
        "thing": found.thing,
        "about": found.about,
        "apart": found.apart,
        "left_out": found.left_out,
        "distance": None if distance is None else names.index(distance.name),
        "angle": names.index(angle.name),
        "folded": isinstance(angle, Folded),
        "arrivals": packed(found.arrivals, "i4"),
        **shown,
    }


COSTS = (
    "The cost-to-go q of a decided state tells how much an animal avoids it: of two moves that are "
    "equally likely without preferences, the one to a state that costs 1 nat less is made 2.7 "
    "times as often. The lowest mean is 0. Hatched or grey: states nobody decided for."
)
LEVELS = (
    "A turn moves all angles together and changes no distance. States that no turn leads between "
    "are never compared: the level along each such line is taken off, and colours of different "
    "lines must not be compared."
)
MARGINALS = (
    "What each feature does with the others equal: posterior mean and 95 % interval of each bin by "
    "itself. Axes that these moves cannot change are left out."
)
AROUND = (
    "The animal is in the middle and heads up. Colour: how much more (orange) or less (purple) it "
    "likes to have it in a place than on average, other features equal, in nats: a move to a place "
    "1 nat higher is made 2.7 times as often. Pale: the 95 % interval holds 0. Hatched: nobody "
    "decided for it."
)
APART = "Rings are compared within themselves alone: no turn changes a distance."

MOVES = (
    "The panel of moves shows those that the followed animal could make in this frame, its heading "
    "up: a full dot is larger the likelier its costs make a move, an open circle the likelier it "
    "would be without preferences; the orange cross is the move it made."
)


TURNS = {
    "cauchy": "wrapped Cauchy turns, half of them smaller than {0:.3g}°",
    "normals": "turns from two normal distributions, the narrow one with an sd of {0:.3g}°",
    "von-mises": "von Mises turns with an sd of {0:.3g}°",
}


NOTABLE = 0.05
"""A power of the step before that is worth a word."""


def passive_words(fit: DecisionFit) -> str:
    """What an animal would do without preferences."""
    moves: Any = fit.passive
    if isinstance(moves.turn, EmpiricalMoves):
        turns = "turns as they were seen"
    elif isinstance(moves.turn, str) and isinstance(moves.spread, int | float):
        typical = _median_turn(moves.spread) if moves.turn == "cauchy" else moves.spread
        turns = TURNS[moves.turn].format(typical)
    else:
        turns = "several given turns"
    if not moves.steps:
        return turns
    seen = isinstance(moves.step, EmpiricalMoves)
    steps = "steps as they were seen" if seen else f"{moves.step} steps"
    less = moves.straightness
    smaller = ""
    if isinstance(less, int | float) and abs(less) > NOTABLE:
        kind = "smaller" if less > 0 else "larger"
        smaller = f"; after a step twice as long turns are {abs(1 - 2.0**-less):.0%} {kind}"
    return f"{turns}, and {steps} that follow the step before{smaller}"


def _median_turn(spread: float) -> float:
    """The size that half of all wrapped Cauchy turns are below, in degrees."""
    kept = np.exp(-np.deg2rad(spread))
    return float(np.rad2deg(2 * np.arctan((1 - kept) / (1 + kept))))


def caveat(fit: DecisionFit) -> str:
    """What to know before the sentences are read."""
    return (
        "An animal's own move is judged, with all others as it saw them. What it prefers is told "
        f"against what it would do without preferences ({passive_words(fit)}); other passive moves "
        "give other costs. Intervals in these sentences hold all together with probability "
        "95 % where the model is right. They take decisions as independent: animals of one "
        "group, and successive moves, are less so, and intervals may then be too short."
    )
