"""What each axis does by itself, and what axes do together: the functional analysis of variance."""

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.results import Result, data_frame

if TYPE_CHECKING:
    import pandas as pd

    from shoal.posterior.fit import Fit


@dataclass(frozen=True, eq=False)
class Effect:
    """One part of the cost-to-go: a main effect of an axis, or what some axes do together.

    Attributes
    ----------
    axes
        The names of its axes.
    draws
        Its values (draws, *its own axes), each draw with mean 0 along every axis.
    share
        Of the variance of the cost-to-go over all states, in every draw, posterior noise taken off.
    """

    axes: tuple[str, ...]
    draws: Float[np.ndarray, "draws *own"]
    share: Float[np.ndarray, " draws"]

    @property
    def name(self) -> str:
        """In words."""
        return " × ".join(axis.replace("_", " ") for axis in self.axes)

    @property
    def range(self) -> Float[np.ndarray, " draws"]:
        """From the cheapest to the dearest state of its mean, in nats, in every draw."""
        flat = self.draws.reshape(len(self.draws), -1)
        mean = flat.mean(axis=0)
        return np.asarray(flat[:, mean.argmax()] - flat[:, mean.argmin()])

    @property
    def clear(self) -> bool:
        """Whether its share is more than nothing, with a probability of 97.5 %."""
        return bool(np.quantile(self.share, 0.025) > 0)

    @property
    def sd(self) -> Float[np.ndarray, " draws"]:
        """Over the states, in nats, in every draw."""
        return np.asarray(np.sqrt((self.draws.reshape(len(self.draws), -1) ** 2).mean(axis=1)))


@dataclass(frozen=True, eq=False)
class Effects(Result):
    """All effects; they add up to the cost-to-go less its mean, and their shares to one.

    Where the tracks leave nothing but noise, all shares of a draw are 0.
    """

    effects: tuple[Effect, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the effects, main effects first."""
        return tuple(effect.name for effect in self.effects)

    def __getitem__(self, name: str) -> Effect:
        for effect in self.effects:
            if name in (effect.name, "_".join(effect.axes), *effect.axes[: len(effect.axes) == 1]):
                return effect
        raise InputError(f"there is no effect {name!r}; there are {', '.join(self.names)}")

    def probability(self, one: str, other: str) -> float:
        """The posterior probability that one effect explains more of the costs than another."""
        first, second = self[one].share, self[other].share
        return float(np.mean(first > second) + 0.5 * np.mean(first == second))

    def table(self, interval: float = 0.95) -> "pd.DataFrame":
        """A row for each effect: its share of the variance, its range in nats, their intervals.

        Parameters
        ----------
        interval
            The mass of the equal-tailed intervals.
        """
        tails = [(1 - interval) / 2, (1 + interval) / 2]
        share = np.stack([effect.share for effect in self.effects])
        reach = np.stack([effect.range for effect in self.effects])
        found: dict[str, Any] = {"effect": list(self.names)}
        for name, draws in (("share", share), ("range", reach)):
            lower, upper = np.quantile(draws, tails, axis=1)
            found |= {name: draws.mean(axis=1), f"{name}_lower": lower, f"{name}_upper": upper}
        return data_frame(found)

    def rows(self, interval: float = 0.95) -> list[dict[str, str]]:
        """The table as it is printed: a row for each effect, numbers with their intervals."""
        tails = [(1 - interval) / 2, (1 + interval) / 2]
        return [
            {
                "effect": effect.name,
                "share of variance": _words(effect.share, tails, "{:.0%}"),
                "range (nats)": _words(effect.range, tails, "{:.2f}"),
            }
            for effect in self.effects
        ]

    def __str__(self) -> str:
        return self.sentence()

    def __repr__(self) -> str:
        shares = (f"{effect.name} {effect.share.mean():.0%}" for effect in self.effects)
        return f"Effects({', '.join(shares)})"

    def sentence(self) -> str:
        """Which main effect matters more, and how sure that is."""
        main = [effect for effect in self.effects if len(effect.axes) == 1]
        if len(main) < 2:
            return f"{main[0].name} is the only axis."
        if not any(effect.share.any() for effect in self.effects):
            return "All states cost the same: no axis matters."
        first, second, *_ = sorted(main, key=lambda effect: -float(effect.share.mean()))
        several = first.share.size > 1
        sure = f"with probability {self.probability(first.name, second.name):.2f}"
        how = sure if several else "at the most probable costs"
        joint = [effect for effect in self.effects if len(effect.axes) > 1]
        together = sum(float(effect.share.mean()) for effect in joint)
        rest = f"{together:.0%} is what axes do together"
        if several and not any(effect.clear for effect in joint):
            rest = "what axes do together cannot be told from nothing"
        if not first.clear:
            return f"No axis by itself can be told from nothing; {rest}."
        return (
            f"{first.name[0].upper()}{first.name[1:]} matters more than {second.name} {how}: it "
            f"explains {first.share.mean():.0%} of the variance of the cost-to-go over all states, "
            f"rare ones counting as much as common ones, {second.name} "
            f"{second.share.mean():.0%}; {rest}."
        )


def _words(draws: Float[np.ndarray, " draws"], tails: list[float], form: str) -> str:
    low, high = (form.format(value) for value in np.quantile(draws, tails))
    middle = form.format(float(draws.mean()))
    return f"{middle} [{low}, {high}]" if draws.size > 1 else middle


def effects_of(fit: "Fit") -> Effects:
    """The cost-to-go split into main effects and interactions, all states counting alike.

    Draws scatter about their mean, and the mean about the truth: either adds about the posterior
    variance to the mean square of an effect, so twice that variance is taken off. An effect that is
    not there has a share of 0 then, whatever the basis; without it most of the posterior's noise
    would count as an interaction, which has the most numbers to be uncertain about.
    """
    names = fit.model.space.names
    v = fit.sampled.values.reshape(-1, *fit.model.space.shape)
    total = v.reshape(len(v), -1).var(axis=1)
    parts: dict[tuple[int, ...], Any] = {(): v.reshape(len(v), -1).mean(axis=1)}
    squares: dict[tuple[int, ...], Any] = {}
    for size in range(1, len(names) + 1):
        for own in itertools.combinations(range(len(names)), size):
            others = tuple(1 + n for n in range(len(names)) if n not in own)
            part = v.mean(axis=others) if others else v.copy()
            for smaller in range(size):
                for less in itertools.combinations(own, smaller):
                    part = part - _spread(parts[less], less, own)
            parts[own] = part
            noise = 2 * float(part.var(axis=0, ddof=1).mean()) if len(v) > 1 else 0.0
            squares[own] = np.maximum((part.reshape(len(v), -1) ** 2).mean(axis=1) - noise, 0.0)
    varies = total > 1e-20 * np.maximum(1.0, (v.reshape(len(v), -1) ** 2).mean(axis=1))
    whole = sum(squares.values())
    varies &= whole > 0
    return Effects(
        tuple(
            Effect(
                tuple(names[n] for n in own),
                parts[own],
                np.divide(square, whole, out=np.zeros_like(total), where=varies),
            )
            for own, square in squares.items()
        )
    )


def _spread(part: Any, less: tuple[int, ...], own: tuple[int, ...]) -> Any:
    """An effect of fewer axes, constant along the others."""
    shape = [part.shape[0]] + [part.shape[1 + less.index(n)] if n in less else 1 for n in own]
    return part.reshape(shape)
