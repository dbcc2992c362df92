"""Animals that follow a policy: among turns, each weighted by p* of the joint state it leads to."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from shoal.errors import InputError
from shoal.passive import MatrixDynamics, PassiveOperator, PerAxisDynamics, SparseDynamics
from shoal.passive.uniform import UniformDynamics
from shoal.precision import as_jax
from shoal.simulation.behaviour import Behaviour, Choice, View
from shoal.simulation.lines import Circles, Lines, Located, slices
from shoal.states import Custom, Interval, Speed, SpeedFeature, StateSpace, TurningAngle

RULES = ("stochastic", "least-cost", "passive")
LARGEST_MATRIX = 5000
FOLDED = (
    "a turn changes the angle behind {0!r}, left or right, and these passive dynamics know its "
    "absolute value only: pass the cost-to-go with passive=RandomWalk(…) or another specification"
)


class ChooseTurns(Behaviour):
    """One turn changes every angle at once, so an animal chooses among turns.

    The turns lie a step apart, all round; under the stochastic rule each animal's grid of turns is
    shifted at random by up to half a step every time. An animal that has no state, as it sees
    nobody, has no preference either and turns by the passive dynamics; one that has no turn it
    could make by them goes straight on.

    Attributes
    ----------
    lines
        Which states the turns from any state lead to.
    draw
        Which draw each group of a batch lives by.
    rule
        ``"stochastic"``, ``"least-cost"`` or ``"passive"``.
    between
        Whether turns are shifted at random, or are always multiples of a step.
    """

    lines: Circles
    draw: Int[Array, " groups"]
    rule: str = eqx.field(static=True)
    between: bool = eqx.field(static=True)

    @abstractmethod
    def log_chances(self, found: Located, group: Int[Array, ""]) -> Float[Array, "n turns"]:
        """Log weights of turns without preferences, up to a number for each animal."""

    @abstractmethod
    def log_preferences(
        self, found: Located, ends: Int[Array, "n turns"], group: Int[Array, ""]
    ) -> Float[Array, "n turns"]:
        """How much more each turn is wanted, as a logarithm."""

    def decide(self, key: Key[Array, ""], view: View, group: Int[Array, ""]) -> Choice:
        """A turn for every animal, with the state it is in and the one that the turn leads to."""
        # a row for each animal: its numbers do not depend on how many others there are
        shift, pick = jax.random.uniform(key, (view.headings.shape[0], 2)).T
        offset = shift - 0.5 if self.between else jnp.zeros_like(shift)
        log_weight, turns, ends, origin = self.weighed(view, offset, group)
        stuck = jnp.isneginf(log_weight.max(axis=1))  # P̄ has no turn: straight on, without a state
        ahead = jnp.arange(turns.shape[1]) == turns.shape[1] // 2
        log_weight = jnp.where(stuck[:, None], jnp.where(ahead, 0.0, -jnp.inf), log_weight)
        origin = jnp.where(stuck, -1, origin)
        if self.rule == "least-cost":
            best = log_weight >= log_weight.max(axis=1, keepdims=True) - 1e-9
            log_weight = jnp.where(best, 0.0, -jnp.inf)  # ties at random
        chosen = sampled(log_weight, pick)[:, None]
        turn = jnp.where(stuck, 0.0, jnp.take_along_axis(turns, chosen, axis=1)[:, 0])
        state = jnp.take_along_axis(ends, chosen, axis=1)[:, 0]
        return Choice(turn, origin, jnp.where(origin >= 0, state, -1))

    def weighed(
        self, view: View, offset: Float[Array, " n"], group: Int[Array, ""]
    ) -> tuple[Float[Array, "n turns"], Float[Array, "n turns"], Int[Array, "n turns"], Array]:
        """Log weights of turns, the turns, the states they lead to, and each animal's own state.

        The weights are right up to a factor for each animal.
        """
        values, known = _defined(self.lines.space, view)
        found = self.lines.located(values, offset)
        ends = self.lines.ends(found)
        log_weight = self.log_chances(found, group)
        if self.rule != "passive":
            preference = self.log_preferences(found, ends, group)
            log_weight = log_weight + jnp.where(known[:, None], preference, 0.0)
        count = self.lines.count
        turns = self.lines.step * (jnp.arange(count) - count // 2 + offset[:, None])
        origin = _code(found.here, self.lines.space.shape)
        return log_weight, turns, ends, jnp.where(known, origin, -1)


class FollowPolicy(ChooseTurns):
    """Turns a bin apart, each weighted by p* of the joint state it leads to.

    Attributes
    ----------
    log_z
        −γ v along the lines, one array for each draw.
    log_passive
        Log p̄ of going from a bin along the line, for each axis that turns; empty where P̄ is
        uniform.
    whole
        P̄ where it has no such form.
    """

    lines: Lines
    log_z: Float[Array, "draws lines places"]
    log_passive: tuple[Float[Array, "_ places"], ...]
    whole: PassiveOperator | None

    @classmethod
    def of(
        cls,
        space: StateSpace,
        passive: PassiveOperator,
        log_z: Float[np.ndarray, "draws J"],
        draw: Int[np.ndarray, " groups"],
        rule: str = "stochastic",
        between: bool = True,
    ) -> "FollowPolicy":
        """From states, P̄ on them with absolute angles unfolded, and −γ v."""
        lines = Lines.of(space)
        kernels, whole = _kernels(passive)
        bins = [np.asarray(part) for part in lines.bins]
        for place, number in enumerate(lines.turning):
            size = bins[place].max() + 1
            if (kernels and kernels[number].shape[0] != size) or (whole and lines.folded):
                raise InputError(FOLDED.format(space.axes[number].name))
        with np.errstate(divide="ignore"):  # what cannot happen has the log chance −inf
            tables = tuple(
                as_jax(np.log(np.asarray(kernels[number]))[:, bins[place]])
                for place, number in enumerate(lines.turning)
                if kernels
            )
        along = as_jax(np.asarray(log_z)[:, np.asarray(lines.states)])
        shifted = between and rule != "least-cost"
        return cls(lines, as_jax(draw), rule, shifted, along, tables, whole)

    def log_chances(self, found: Located, group: Int[Array, ""]) -> Float[Array, "n turns"]:
        """Log p̄ of the state that each turn leads to, but for what is the same for all turns."""
        count = self.lines.count
        if self.whole is not None:
            ends = self.lines.ends(found)
            origins = jnp.broadcast_to(_code(found.here, self.whole.shape)[:, None], ends.shape)
            return self.whole.log_probability(origins.ravel(), ends.ravel()).reshape(ends.shape)
        total = jnp.zeros((found.line.shape[0], count))
        for place, table in enumerate(self.log_passive):
            now = found.round_[place]
            total = total + slices(table, (now,), found.begin[place], count)
        return total

    def log_preferences(
        self, found: Located, ends: Int[Array, "n turns"], group: Int[Array, ""]
    ) -> Float[Array, "n turns"]:
        """−γ v of the state that each turn leads to."""
        draw = jnp.broadcast_to(self.draw[group], found.line.shape)
        wanted: Float[Array, "n turns"] = slices(
            self.log_z, (draw, found.line), found.begin[0], self.lines.count
        )
        return wanted


def perceived(space: StateSpace, view: View) -> list[Float[Array, " individuals"]]:
    """The value of every feature for every animal."""
    scene = view.scene()
    found: list[Any] = []
    for part in space.parts:
        if isinstance(part, SpeedFeature):
            found.append(part.of_lengths(scene, view.lengths[None, :, None])[0, :, 0])
        elif isinstance(part, TurningAngle):
            found.append(view.turned)
        elif isinstance(part, Custom):
            found.append(_called(part, view))
        else:
            found.append(part.values(scene)[0])  # type: ignore[union-attr]
    return found


def _called(part: Custom, view: View) -> Float[Array, " individuals"]:
    """What a user's function of NumPy arrays says."""

    def values(now: View) -> np.ndarray:
        plain = jax.tree.map(np.asarray, now)
        return np.asarray(part.values(plain.scene())[0], dtype=float)

    shape = jax.ShapeDtypeStruct(view.headings.shape, view.headings.dtype)
    return jax.pure_callback(values, shape, view, vmap_method="sequential")


def _defined(space: StateSpace, view: View) -> tuple[list[Float[Array, " n"]], Bool[Array, " n"]]:
    """The value of every feature, 0 where it has none, and who has all of them.

    What lies beyond the bins of an interval counts as its nearest bin.
    """
    known, found = jnp.isfinite(view.headings), []
    for axis, value in zip(space.axes, perceived(space, view), strict=True):
        known &= jnp.isfinite(value)
        whole = jnp.where(jnp.isfinite(value), value, 0.0)
        if isinstance(axis, Interval):
            whole = jnp.clip(whole, axis.edges[0], axis.edges[-1])
        found.append(whole)
    return found, known


def state_number(space: StateSpace, values: list[Any]) -> Int[Array, "*n"]:
    """The number of the state with these values, −1 where one of them is in no bin."""
    bins = [axis.locate(value) for axis, value in zip(space.axes, values, strict=True)]
    known = jnp.stack([index >= 0 for index in bins]).all(axis=0)
    return jnp.where(known, _code([jnp.maximum(index, 0) for index in bins], space.shape), -1)


def _code(bins: list[Array], shape: tuple[int, ...]) -> Int[Array, "*n"]:
    """The number of a state from its bins, last axis fastest."""
    code = jnp.zeros((), dtype=int)
    for index, size in zip(bins, shape, strict=True):
        code = code * size + index
    return code


def sampled(log_weight: Float[Array, "n turns"], pick: Float[Array, " n"]) -> Int[Array, " n"]:
    """One of each row by its weight, from a number between 0 and 1."""
    weight = jnp.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    count = weight.shape[1]
    mass = weight @ jnp.triu(jnp.ones((count, count)))  # cumulative sums
    wanted = pick[:, None] * mass[:, -1:]
    return jnp.minimum((mass <= wanted).sum(axis=1), count - 1)


def _kernels(
    operator: PassiveOperator,
) -> tuple[tuple[Float[Array, "_ _"], ...], PassiveOperator | None]:
    """P̄ as a kernel for each axis, none where it is uniform; or else as an operator."""
    if isinstance(operator, UniformDynamics):
        return (), None
    if isinstance(operator, PerAxisDynamics):
        return operator.kernels.matrices, None
    if isinstance(operator, MatrixDynamics | SparseDynamics):
        return (), operator
    if operator.size > LARGEST_MATRIX:
        raise InputError(
            f"{type(operator).__name__} on {operator.size} states would have to be written out "
            f"as a matrix to simulate from it, and {LARGEST_MATRIX} is the most"
        )
    return (), MatrixDynamics.of(np.asarray(operator.dense()), operator.shape)


def checked_space(space: StateSpace) -> None:
    """Every axis has a feature that a simulation can perceive and turn, and a turn changes some."""
    for part, axis in zip(space.parts, space.axes, strict=True):
        if not hasattr(part, "values"):
            raise InputError(
                f"the axis {axis.name!r} has no feature that says what an animal perceives: pass "
                "space=shoal.StateSpace(…) with the features it was counted with"
            )
        if isinstance(part, Speed) and part.frames > 1:
            raise InputError(
                "a simulated animal knows how far it moves in one frame, and "
                f"{axis.name!r} is taken over {part.frames}: fit with Speed(edges, frames=1)"
            )
        if getattr(part, "turn", None) is None:
            raise InputError(
                f"groups cannot be simulated from {axis.name!r}, since the effect of turning on it "
                "is unknown: pass space= with Custom(axis, function, turn=-1) for a direction "
                "seen from the animal, or turn=0 for what turning leaves alone"
            )
    if not Lines.turning_axes(space):
        names = ", ".join(space.names)
        raise InputError(
            f"turning changes nothing about {names}, so this policy does not say where to turn: "
            "fit it together with a direction, such as local or target misalignment, or "
            "neighbour-bearing"
        )
