"""One turn changes every angle at once."""

from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from shoal.errors import InputError
from shoal.passive.convolution import ConvolutionDynamics
from shoal.passive.estimating import estimated
from shoal.passive.family import built
from shoal.passive.per_axis import PerAxisDynamics
from shoal.passive.steps import heavy_steps
from shoal.passive.turns import TURNS, Arcs, arcs, bin_chances, turn_masses
from shoal.passive.unknown import SHARE, Parameter, Unknown, parameter, per_axis
from shoal.states import (
    Circular,
    Folded,
    Interval,
    Numbered,
    StateSpace,
    TurningAngle,
)

FLOOR = 1e-6
"""The share of turns that go anywhere with equal chance, so that nothing is impossible."""

SPREAD, WIDE, WIDE_SHARE = Unknown(5.0, 4.0), Unknown(40.0, 3.0), Unknown(0.15, 4.0)
NOISE, TAILS = Unknown(3.0, 3.0), Unknown(0.5, 4.0)
"""What is known of turns and angles before tracks are seen."""

NEGLIGIBLE = 1e-6
"""Degrees that stand for none."""


@dataclass(frozen=True)
class TurnCoupled:
    """A turn that moves all angles together, and noise of each angle's own.

    Directions seen from the animal fall by a degree for every degree it turns. Besides, each angle
    moves a little for reasons of its own: neighbours turn, targets are passed. Distances and speeds
    change by steps of their own, which a turn does not touch.

    Parameters
    ----------
    turn
        The distribution of turns: ``"cauchy"``, wrapped and heavy-tailed; ``"normals"``, a mixture
        of a narrow and a wide wrapped normal; ``"von-mises"``.
    spread
        How far animals turn, in degrees: the half width of the Cauchy distribution (half of all
        turns are smaller), the sd of the narrow normal, or that of the von Mises distribution.
    wide, share
        Of ``"normals"``: the sd of the wide one, and its share.
    noise, tails
        Of each angle: the sd of a normal error in degrees, and the half width of a Cauchy error
        that is added to it. One for all or one for each angle. By default both are learned. Where
        a single angle follows the turns nobody could tell turns from an error of the same kind, so
        that it has no Cauchy error beside Cauchy turns, and no normal one beside the others.
    follow
        How far each angle follows a turn: 1 for directions. In a mean heading with the animal's own
        in it, of n animals, turning moves the mean as well, and (n − 1)/n is left; by default that
        is learned where it may be below 1.
    step
        Of every axis that does not turn: the half width of its steps, in the axis's unit; of plain
        numbers, the odds of leaving. By default learned, around a twentieth of the axis.
    effects
        What a turn by one degree adds to each axis, −1 or 0; by default as the features say.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace(shoal.LocalMisalignment(), shoal.TargetMisalignment((0.2, 0.8)))
    >>> known = shoal.TurnCoupled(spread=5.0, noise=3.0, tails=0.5, follow=1.0)
    >>> known.on(space).kernel.shape
    (36, 36)
    """

    turn: str = "cauchy"
    spread: Any = SPREAD
    wide: Any = WIDE
    share: Any = WIDE_SHARE
    noise: Any = None
    tails: Any = None
    follow: Any = None
    step: Any = None
    effects: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Check the kind of turn."""
        if self.turn not in TURNS:
            raise InputError(f"a turn is one of {', '.join(TURNS)}; got {self.turn!r}")

    def on(self, space: StateSpace) -> ConvolutionDynamics:
        """The operator on a state space, where all numbers are known."""
        operator = built(self, space)
        assert isinstance(operator, ConvolutionDynamics)
        return operator

    def parameters(self, space: StateSpace) -> tuple[Parameter, ...]:
        """The numbers of the turn, of each angle's noise, and of the other axes' steps."""
        effects = turn_effects(space, self.effects)
        found = [parameter("turn spread", "spread", self.spread)]
        if self.turn == "normals":
            found.append(parameter("wide turn sd", "wide", self.wide))
            found.append(parameter("share of wide turns", "share", self.share, SHARE))
        circles = _circles(space)
        others = [n for n in range(len(space.axes)) if n not in circles]
        noise = per_axis(self.noise, len(circles), "noise")
        tails = per_axis(self.tails, len(circles), "tails")
        alone = sum(effect != 0 for effect in effects) == 1
        heavy = self.turn == "cauchy"
        follow = per_axis(self.follow, len(circles), "follow")
        for place, n in enumerate(circles):
            name = space.names[n].replace("_", " ")
            same = alone and effects[n] != 0  # an error like the turns themselves
            error = (
                NEGLIGIBLE if same and not heavy else NOISE,
                NEGLIGIBLE if same and heavy else TAILS,
            )
            for field, guess, own in zip(
                ("noise", "tails"), error, (noise[place], tails[place]), strict=True
            ):
                known = guess if own is None else own
                found.append(parameter(f"{field} of {name}", field, known, axis=n))
            given = follow[place]
            if given is None:
                own = getattr(space.parts[n], "include_self", False)
                given = Unknown(0.9, 4.0) if own and effects[n] else 1.0
            found.append(parameter(f"follow of {name}", "follow", given, SHARE, n))
        for place, n in enumerate(others):
            given = per_axis(self.step, len(others), "step")[place]
            axis = space.axes[n]
            if given is None:
                wide = 1.0 if isinstance(axis, Numbered) else float(axis.widths.sum())
                given = Unknown(wide / 20, 4.0)
            found.append(parameter(f"step of {axis.name.replace('_', ' ')}", "step", given, axis=n))
        return tuple(found)

    def turn_chances(self, values: dict[Any, Any], over: Arcs) -> Float[Array, " turns"]:
        """The chance of a turn into each arc."""
        own = {field: jnp.asarray(value) for (field, axis), value in values.items() if axis is None}
        return turn_masses(self.turn, own, over)

    def build(self, space: StateSpace, values: dict[Any, Any]) -> ConvolutionDynamics:
        """The operator with these values."""
        effects, circles = turn_effects(space, self.effects), _circles(space)
        over = arcs(min(float(space.axes[n].widths[0]) for n in circles))
        turns = self.turn_chances(values, over)
        tables = [
            bin_chances(
                space.axes[n].size,
                effects[n] * jnp.asarray(values["follow", n]),
                jnp.asarray(values["noise", n]),
                jnp.asarray(values["tails", n]),
                over.turns,
            )
            for n in circles
        ]
        tables[0] = turns[:, None] * tables[0]
        kernel = tables[0].sum(axis=0) if len(tables) == 1 else _joined(tables)
        kernel = (1 - FLOOR) * kernel + FLOOR / kernel.size
        others = [n for n in range(len(space.axes)) if n not in circles]
        steps = tuple(heavy_steps(space.axes[n], jnp.asarray(values["step", n])) for n in others)
        return ConvolutionDynamics.of(space.shape, circles, kernel, steps)

    def estimate(self, transitions: Any) -> "TurnCoupled":
        """With its unknowns learned from transitions in which nothing is preferred.

        For a second data set, of single animals or another treatment; a model with unknowns learns
        them together with its costs.
        """
        return estimated(self, transitions)

    def straight_on(self, space: StateSpace, values: dict[Any, Any]) -> PerAxisDynamics:
        """What becomes of an animal that does not turn: noise of angles, steps of other axes."""
        kernels = []
        for n, axis in enumerate(space.axes):
            if isinstance(axis, Circular):
                noise, tails = (jnp.asarray(values[field, n]) for field in ("noise", "tails"))
                change = bin_chances(axis.size, jnp.zeros(()), noise, tails, np.zeros(1))[0]
                bins = np.arange(axis.size)
                kernels.append(change[(bins[None, :] - bins[:, None]) % axis.size])
            else:
                kernels.append(heavy_steps(axis, jnp.asarray(values["step", n])))
        return PerAxisDynamics.of(*kernels)

    def known(self, space: StateSpace, values: dict[Any, float]) -> "TurnCoupled":
        """The same with these numbers."""
        circles = _circles(space)
        others = [n for n in range(len(space.axes)) if n not in circles]
        numbers: dict[str, Any] = {field: v for (field, axis), v in values.items() if axis is None}
        for field in ("noise", "tails", "follow"):
            numbers[field] = tuple(values[field, n] for n in circles)
        if others:
            numbers["step"] = tuple(values["step", n] for n in others)
        return replace(self, effects=turn_effects(space, self.effects), **numbers)


def _joined(tables: list[Float[Array, "fine _"]]) -> Float[Array, "..."]:
    """Σ over turns of the product of all tables: the chance of every joint change."""
    rest = tables[-1]
    for table in tables[-2:0:-1]:
        rest = (table[:, :, None] * rest[:, None, :]).reshape(table.shape[0], -1)
    return (tables[0].T @ rest).reshape([table.shape[1] for table in tables])


def _circles(space: StateSpace) -> tuple[int, ...]:
    return tuple(n for n, axis in enumerate(space.axes) if isinstance(axis, Circular))


def turn_effects(space: StateSpace, given: Any = None) -> tuple[int, ...]:
    """What a turn by one degree adds to each axis, checked."""
    if given is not None:
        if len(given) != len(space.axes) or any(effect not in (-1, 0) for effect in given):
            raise InputError(f"effects are −1 or 0 for each of {list(space.names)}; got {given}")
        effects = tuple(int(effect) for effect in given)
    else:
        effects = tuple(
            _effect(part, axis) for part, axis in zip(space.parts, space.axes, strict=True)
        )
    turned = [axis for axis, effect in zip(space.axes, effects, strict=True) if effect]
    if any(not isinstance(axis, Circular) for axis in turned):
        raise InputError("a turn changes circular axes only: effects of the others are 0")
    if not turned:
        raise InputError(
            f"a turn changes nothing about {', '.join(space.names)}: use RandomWalk or WalkMixture"
        )
    return effects


def _effect(part: Any, axis: Any) -> int:
    if isinstance(axis, Folded):
        raise InputError(
            f"{axis.name!r} is an absolute angle, and a turn makes it larger or smaller depending "
            "on the side: leave out absolute=True, or use RandomWalk"
        )
    if isinstance(part, TurningAngle):
        raise InputError(
            f"{axis.name!r} is the last turn itself, not an angle that a turn moves: leave it out, "
            "or use RandomWalk"
        )
    effect = getattr(part, "turn", None)
    if effect is None:
        if isinstance(axis, Interval | Numbered):
            return 0
        raise InputError(
            f"unknown effect of turning on {axis.name!r}: use a feature such as "
            "LocalMisalignment(), Custom(axis, function, turn=-1), or TurnCoupled(effects=(-1, …))"
        )
    return int(effect)
