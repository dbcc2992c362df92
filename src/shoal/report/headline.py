"""What a fit says, in a sentence a supervisor reads first."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from shoal.basis import Flat
from shoal.posterior import DecisionFit, Fit
from shoal.posterior.along import marginal
from shoal.posterior.choice_words import bin_words
from shoal.posterior.effects import Effects
from shoal.report.decided import choices_in_words
from shoal.states import Axis, Circular, Numbered

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


def spans(fit: Fit) -> list[Span]:
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


def headline(fit: Fit) -> tuple[str, list[str]]:
    """One sentence that says what these animals value, and the sentences behind it."""
    if isinstance(fit.model.basis, Flat):
        return (
            "No costs were learned: this model has none, only passive movement.",
            ["It is a baseline for models with costs to be compared with (shoal compare)."],
        )
    if isinstance(fit, DecisionFit):
        return choices_in_words(fit)
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


def _one(part: Span) -> str:
    where = part.where(part.cheapest)
    what = part.axis.name.replace("_", " ")
    if part.difference.size == 1:
        return f"The most probable costs draw these animals to a {what} of {where}."
    if float(np.mean(part.difference > 0)) < SURE:
        return f"These tracks do not tell which {what} these animals prefer."
    return (
        f"These animals steer towards a {what} of {where} (probability {_chance(part.near)} that "
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


def _two(first: str, second: str, chance: float, fit: Fit) -> str:
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
