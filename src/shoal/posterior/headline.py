"""What a fit says, in a sentence a supervisor reads first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from shoal.basis import Flat
from shoal.posterior.along import marginal
from shoal.posterior.choice_words import bin_words
from shoal.posterior.choices import Statement, statements
from shoal.posterior.effects import Effects
from shoal.states import Axis, Circular, Numbered

if TYPE_CHECKING:
    from shoal.posterior.decision_fit import DecisionFit
    from shoal.posterior.fit import Fit

Headline = tuple[str, list[str]]
"""A sentence, and the sentences behind it."""

SURE = 0.95
"""The probability from which on one axis is said to matter more than another."""
VALUED = {
    "local_misalignment": "alignment with their neighbours",
    "target_misalignment": "heading for the target",
    "neighbour_bearing": "where their nearest neighbour is",
    "centroid_bearing": "where the group is",
    "neighbour_distance": "the distance to their nearest neighbour",
    "centroid_distance": "the distance to the group",
    "target_distance": "the distance to the target",
    "wall_distance": "the distance to the wall",
    "speed": "their speed",
    "turning_angle": "how they turn",
    "neighbours_within": "how many neighbours are near",
}
"""Axes in words of behaviour; others are called by their names."""


@dataclass(frozen=True, eq=False)
class Span:
    """What one axis does to the cost-to-go, from its cheapest entered bin to its dearest.

    Attributes
    ----------
    axis
        The axis.
    cheapest, dearest
        Bins by posterior mean, among those entered.
    difference
        Dearest minus cheapest, in every draw.
    near
        The share of draws whose cheapest bin is that one or a neighbour of it.
    """

    axis: Axis
    cheapest: int
    dearest: int
    difference: Float[np.ndarray, " draws"]
    near: float

    def where(self, which: int) -> str:
        """A bin in words."""
        return bin_words(self.axis, which)

    def sentence(self, discount: float) -> str:
        """How much is at stake along this axis, and how sure that is."""
        mean = float(self.difference.mean())
        size = f"{mean:.2f} nats"
        if self.difference.size > 1:
            low, high = np.quantile(self.difference, (0.025, 0.975))
            size += f" (95 % interval {low:.2f} to {high:.2f})".replace("-", "−")
        times = np.exp(min(discount * mean, 700.0))
        likelier = f"{times:,.0f}" if times >= 10 else f"{times:.2g}"
        return (
            f"Along {self.axis.name.replace('_', ' ')} the cost-to-go is lowest at "
            f"{self.where(self.cheapest)} and highest at {self.where(self.dearest)}, {size} apart: "
            f"other things equal, the first is entered {likelier} times as often as the second, "
            "measured against what passive movement alone would do."
        )


def spans(fit: "Fit") -> list[Span]:
    """What every axis does, the others averaged over with the arrivals as weights."""
    found = []
    for place, axis in enumerate(fit.model.space.axes):
        others = tuple(n for n in range(len(fit.model.space.axes)) if n != place)
        entered = fit.arrivals.values.sum(axis=others) > 0
        along = marginal(fit.cost_to_go, axis.name, fit.arrivals).values
        draws = along.reshape(-1, axis.size)
        mean = draws.mean(axis=0)
        cheapest = int(np.argmin(np.where(entered, mean, np.inf)))
        dearest = int(np.argmax(np.where(entered, mean, -np.inf)))
        lowest = np.argmin(np.where(entered, draws, np.inf), axis=1)
        apart = np.abs(lowest - cheapest)
        if isinstance(axis, Circular):
            apart = np.minimum(apart, axis.size - apart)
        near = float(np.mean(apart <= (0 if isinstance(axis, Numbered) else 1)))
        found.append(Span(axis, cheapest, dearest, draws[:, dearest] - draws[:, cheapest], near))
    return found


def no_costs(fit: "Fit") -> Headline | None:
    """What a model without costs says; None for the others."""
    if not isinstance(fit.model.basis, Flat):
        return None
    return (
        "No costs were learned: this model has none, only passive movement.",
        ["It is a baseline for models with costs to be compared with (shoal compare)."],
    )


def wanted_states(fit: "Fit") -> Headline:
    """What these animals value, from a fit to transitions."""
    parts = spans(fit)
    discount = float(fit.model.discount)
    behind = [part.sentence(discount) for part in parts]
    if len(parts) == 1:
        return _one(parts[0]), behind
    effects = fit.effects()
    if not any(effect.share.any() for effect in effects.effects):
        return "These tracks show no preference: costs cannot be told from none.", behind
    main = [effect for effect in effects.effects if len(effect.axes) == 1]
    first, second, *_ = sorted(main, key=lambda effect: -float(effect.share.mean()))
    behind.append(effects.sentence())
    if not first.clear:
        return _none(effects), behind
    chance = effects.probability(first.name, second.name)
    return _two(first.axes[0], second.axes[0], chance, fit), behind


def chosen_moves(fit: "DecisionFit") -> Headline:
    """What these animals choose, from a fit to decisions."""
    said = statements(fit)
    behind = [statement.sentence for statement in said]
    if fit.method == "map":
        return (
            "The most probable costs alone do not tell what these animals prefer: draws do "
            "(method laplace or nuts).",
            behind,
        )
    claims = _claims(said)
    if claims:
        return f"These animals {_listed(claims)}.", behind
    about = [statement for statement in said if statement.interval is not None]
    if not about:
        return "Nothing can be known of what these animals prefer from these moves.", behind
    return "These tracks do not show a preference for anything that was looked at.", behind


def _claims(said: Sequence[Statement]) -> list[str]:
    """What is supported; where turning depends on distance, only the sentence that says how."""
    found = [statement for statement in said if statement.supported]
    finer = {statement.axes[0] for statement in found if len(statement.axes) > 1}
    return [s.claim for s in found if len(s.axes) > 1 or s.axes[0] not in finer]


def _listed(parts: Sequence[str]) -> str:
    *most, last = parts
    return f"{', '.join(most)}, and {last}" if most else last


def _one(part: Span) -> str:
    where = part.where(part.cheapest)
    what = part.axis.name.replace("_", " ")
    towards = where if isinstance(part.axis, Numbered) else f"a {what} of {where}"
    if part.difference.size == 1:
        return f"The most probable costs draw these animals to {towards}."
    if float(np.mean(part.difference > 0)) < SURE:
        return f"These tracks do not tell which {what} these animals prefer."
    return (
        f"These animals steer towards {towards} (probability {_chance(part.near)} that "
        "the cheapest bin is this one or one beside it)."
    )


def _none(effects: Effects) -> str:
    """Where no axis by itself is more than noise."""
    joint = [effect for effect in effects.effects if len(effect.axes) > 1 and effect.clear]
    if not joint:
        return "These tracks do not tell what these animals prefer."
    largest = max(joint, key=lambda effect: float(effect.share.mean()))
    one, *others = (VALUED.get(name, name.replace("_", " ")) for name in largest.axes)
    return (
        f"What these animals prefer depends on {one} together with {' and '.join(others)}; no axis "
        "by itself matters clearly."
    )


def _two(first: str, second: str, chance: float, fit: "Fit") -> str:
    one, other = (VALUED.get(name, name.replace("_", " ")) for name in (first, second))
    if fit.method == "map":
        return f"At the most probable costs these animals value {one} over {other}."
    if chance >= SURE:
        return f"These animals value {one} over {other} (probability {_chance(chance)})."
    return (
        f"Whether these animals value {one} more than {other} cannot be told: the probability is "
        f"{_chance(chance)}."
    )


def _chance(probability: float) -> str:
    return "> 0.99" if probability > 0.99 else f"{probability:.2f}"
