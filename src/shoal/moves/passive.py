"""Passive moves as the mathematics sees them: the chances of the states they lead to."""

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jaxtyping import Array, Bool, Float, Int

import shoal.precision  # noqa: F401
from shoal.moves.densities import (
    after_step,
    expected_log_step,
    log_step,
    log_turn,
)
from shoal.moves.specification import Steps, Turns
from shoal.passive import PassiveOperator
from shoal.passive.family import Form, LearnableDynamics
from shoal.states import StateSpace

NOWHERE = StateSpace.discrete(1)
"""Stands for any state space where moves are looked at by themselves."""

ARC_POINTS = 9
"""Points of the rule by which the mass of an arc of turns is found."""


class Moved(eqx.Module):
    """The moves that animals made, and those before.

    Attributes
    ----------
    turn, log_step
        In degrees, and the logarithm of a length over the pace of the animal; the latter is None
        where steps are not chosen.
    turn_before, log_step_before
        Of the frame before; 0 and a typical step where there is none.
    level
        How long the step before was; see ``densities.level_of``. None where it does not matter.
    count
        How many moves each stands for; None for one.
    """

    turn: Float[Array, " n"]
    log_step: Float[Array, " n"] | None
    turn_before: Float[Array, " n"]
    log_step_before: Float[Array, " n"] | None
    level: Float[Array, " n"] | None = None
    count: Float[Array, " n"] | None = None

    def summed(self, each: Float[Array, " n"]) -> Float[Array, ""]:
        """The sum over all moves of a number for each."""
        return jnp.sum(each) if self.count is None else jnp.vdot(self.count, each)


class Lines(eqx.Module):
    """Angles in parts so narrow that a turn leads along a line, from part to part.

    Turns by the width of a part, and by multiples of it, are then all turns there are, and S is a
    convolution along each line.

    Attributes
    ----------
    states
        The decided state of every part of every line; a turn by one part leads one place back.
    place
        Where on the lines each row is, counted line by line.
    """

    states: Int[Array, "lines parts"]
    place: Int[Array, " rows"]

    def apply(
        self, log_chances: Float[Array, " parts"], there: Float[Array, " J"]
    ) -> Float[Array, " rows"]:
        """The mean over turns of an array over decided states, for each row."""
        count = self.states.shape[1]
        turns = jnp.fft.rfft(jax.nn.softmax(log_chances))
        along = jnp.fft.irfft(jnp.fft.rfft(there[self.states], axis=1) * turns, n=count, axis=1)
        return along.ravel()[self.place]

    @property
    def turns(self) -> Float[np.ndarray, " parts"]:
        """By how much the parts of a line are away, in degrees."""
        count = self.states.shape[1]
        return 360.0 * np.fft.fftfreq(count)


class Candidates(eqx.Module):
    """A fixed quadrature of the moves that each animal could have made.

    Attributes
    ----------
    states
        The decided state of every candidate move, for each row of candidates.
    possible
        Which candidates can be made at all; None where all can.
    which
        The set of candidates that each row has; None where rows of one set follow each other, as
        many of each.
    row
        Which row each decision has; None where every decision has its own.
    turn, log_step
        Of each candidate of each set, from where turns and steps were expected when they were
        spread.
    log_base
        Minus the log density they were spread by.
    level
        Of each set: how long a step its decisions have before them. See ``densities.level_of``.
    log_usual
        Of each set: the log of the step that its decisions usually have before them, over the pace
        of the animal.
    persistence, log_typical, follow
        The passive moves they were spread by.
    turn_before, log_step_before
        Of each decision.
    apart
        Whether every decision needs weights of its own, since they depend on the move before in
        another way than candidates do.
    lines
        In the place of all these, where animals turn and rows lie on few lines.
    """

    states: Int[Array, "k rows"]
    possible: Bool[Array, "k rows"] | None
    which: Int[Array, " rows"] | None
    row: Int[Array, " n"] | None
    turn: Float[Array, "k sets"]
    log_step: Float[Array, "k sets"] | None
    log_base: Float[Array, "k sets"]
    level: Float[Array, " sets"]
    log_usual: Float[Array, " sets"]
    persistence: Float[Array, ""]
    log_typical: Float[Array, ""]
    follow: Float[Array, ""]
    turn_before: Float[Array, " n"]
    log_step_before: Float[Array, " n"] | None
    apart: bool = eqx.field(static=True)
    lines: Lines | None = None

    def of_rows(self, numbers: Float[Array, "*any sets"]) -> Float[Array, "*any #rows"]:
        """A number for every row, from one for every set."""
        if self.which is not None:
            return numbers[..., self.which]
        sets = numbers.shape[-1]
        return numbers if sets == 1 else jnp.repeat(numbers, self.states.shape[1] // sets, axis=-1)


class PassiveMoves(PassiveOperator):
    """S: the passive chances of the states that each decision's moves lead to.

    It stands where P̄ stands for transitions, with a row for every decision instead of one for every
    state. ``shape`` is that of the grid of decided states.
    """

    form: Form = eqx.field(static=True)
    values: dict[str, Any]
    candidates: Candidates | None = None

    @property
    def moves(self) -> Turns:
        """The kind of moves; the numbers are in ``values``."""
        moves: Turns = self.form.specification
        return moves

    def log_density(self, moved: Moved) -> Float[Array, " n"]:
        """The log density of moves: turns per degree, steps by their logarithm."""
        turn = moved.turn - self.values["persistence"] * moved.turn_before
        if not isinstance(self.moves, Steps):
            return self.log_turn(turn, self.values)
        assert moved.log_step is not None and moved.log_step_before is not None
        values = self.values if moved.level is None else after_step(self.values, moved.level)
        residual = moved.log_step - self.expected_log_step(moved.log_step_before)
        return self.log_turn(turn, values) + self.log_step(residual, values)

    def expected_log_step(self, log_before: Float[Array, "*any"]) -> Float[Array, "*any"]:
        """The log of the step that is expected after another, both over the animal's pace."""
        assert isinstance(self.moves, Steps)
        follow, plain = self.values["follow"], self.moves.plain
        expected: Array = expected_log_step(self.log_typical, follow, log_before, plain=plain)
        return expected

    @property
    def log_typical(self) -> Float[Array, ""]:
        """The log of a typical step, over the pace of the animal."""
        assert isinstance(self.moves, Steps)
        return jnp.log(self.values["typical"]) - jnp.log(self.values.get("pace", 1.0))

    def log_step(
        self, residual: Float[Array, "*any"], values: dict[str, Any]
    ) -> Float[Array, "*any"]:
        """The log density of log steps, by how far they are from what is expected."""
        assert isinstance(self.moves, Steps)
        return log_step(self.moves.step, values, residual, plain=self.moves.plain)

    def log_turn(
        self, degrees: Float[Array, "*any"], values: dict[str, Any]
    ) -> Float[Array, "*any"]:
        """The log density of turns, or where they are multiples the density of each one's arc."""
        if self.moves.every is None:
            return log_turn(self.moves.turn, values, degrees)
        return self._log_arc(degrees, values, self.moves.every)

    def _log_arc(
        self, degrees: Float[Array, "*any"], values: dict[str, Any], width: float
    ) -> Float[Array, "*any"]:
        """The log of the mean density over an arc around each turn."""
        places, weights = np.polynomial.legendre.leggauss(ARC_POINTS)
        heights = log_turn(self.moves.turn, values, degrees[..., None] + places * width / 2)
        return jax.scipy.special.logsumexp(heights, axis=-1, b=weights / 2)

    def log_density_alone(self, moved: Moved) -> Float[Array, " n"]:
        """The log density of moves where nothing is preferred, of those that can be made."""
        density = self.log_density(moved)
        if self.candidates is None or self.candidates.possible is None:
            return density
        return density - jnp.log(self.apply(jnp.ones(self.shape)))

    def log_weight(self, digest: Moved) -> Float[Array, ""]:
        """The log likelihood of moves where nothing is preferred."""
        return digest.summed(self.log_density(digest))

    @property
    def weights(self) -> Float[Array, "k #n"]:
        """The passive chance of every candidate, for all decisions or for each.

        Candidates that cannot be made have none, and what they would have is nobody's: the chances
        of all others add up to less than 1, and moves that were made are that much likelier.
        """
        given, chances = self.candidates, self.chances()
        assert given is not None
        if not given.apart:
            chances = given.of_rows(chances)
        return chances if given.possible is None else jnp.where(given.possible, chances, 0.0)

    def chances(self) -> Float[Array, "k any"]:
        """The passive chance of every candidate of every set, or of every row."""
        given = self.candidates
        assert given is not None
        turn, log_base, log_steps = given.turn, given.log_base, given.log_step
        level, before = given.level, given.log_usual
        if given.apart:
            more = given.persistence - self.values["persistence"]
            turn, log_base = given.of_rows(turn) + more * given.turn_before, given.of_rows(log_base)
            if given.log_step_before is not None:
                level, before = given.of_rows(level), given.log_step_before
        if not isinstance(self.moves, Steps):
            return jax.nn.softmax(self.log_turn(turn, self.values) + log_base, axis=0)
        assert log_steps is not None
        log_steps = given.of_rows(log_steps) if given.apart else log_steps
        values, plain = after_step(self.values, level), self.moves.plain
        spread = expected_log_step(given.log_typical, given.follow, before, plain=plain)
        residual = log_steps + spread - self.expected_log_step(before)
        log = self.log_turn(turn, values) + self.log_step(residual, values) + log_base
        return jax.nn.softmax(log, axis=0)

    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, " n"]:
        """The mean over each decision's moves of an array over decided states: S x."""
        given, there = self.candidates, values.ravel()
        assert given is not None
        if given.lines is not None:
            turns = given.lines.turns
            arcs = self._log_arc(jnp.asarray(turns), self.values, 360.0 / turns.size)
            return given.lines.apply(arcs, there)

        def add(total: Array, one: tuple[Array, Array, Array | None]) -> tuple[Array, None]:
            states, weight, possible = one
            gained = (weight if given.apart else given.of_rows(weight)) * there[states]
            return total + (gained if possible is None else jnp.where(possible, gained, 0.0)), None

        none = jnp.zeros(given.states.shape[1], there.dtype)
        total, _ = jax.lax.scan(add, none, (given.states, self.chances(), given.possible))
        return total if given.row is None else total[given.row]

    def apply_positive(self, values: Float[Array, "*grid"]) -> Float[Array, " n"]:
        """The same: nothing is lost where S x is small."""
        return self.apply(values)

    def adjoint(self, values: Float[Array, " n"]) -> Float[Array, "*grid"]:
        """Where mass at each decision goes passively: Sᵀ x."""
        assert self.candidates is not None
        if self.candidates.lines is not None:
            there = jnp.zeros(self.shape, values.dtype)
            (mass,) = jax.linear_transpose(self.apply, there)(values)
            return jnp.asarray(mass)
        if self.candidates.row is not None:
            none = jnp.zeros(self.candidates.states.shape[1], values.dtype)
            values = none.at[self.candidates.row].add(values)
        spread = self.weights * values
        mass = jnp.zeros(math.prod(self.shape), values.dtype)
        return mass.at[self.candidates.states].add(spread).reshape(self.shape)

    def matrix(self) -> Any:
        """S as a SciPy sparse array, decisions × states."""
        assert self.candidates is not None
        states = np.asarray(self.candidates.states).T
        rows, count = states.shape
        weights = np.broadcast_to(np.asarray(self.weights).T, states.shape)
        ends = np.arange(0, rows * count + 1, count)
        whole = sp.csr_array(
            (weights.ravel(), states.ravel(), ends), shape=(rows, math.prod(self.shape))
        )
        whole.sum_duplicates()
        return whole if self.candidates.row is None else whole[np.asarray(self.candidates.row)]


def form_of(moves: Turns) -> Form:
    """Moves as compiled programs know them, which no number of theirs changes."""
    return Form.of(moves, moves.parameters(), "candidates")


def log_densities(passive: PassiveMoves, moved: Moved) -> Float[Array, " n"]:
    """The log density of moves, by one program for all state spaces."""
    return _log_densities(PassiveMoves(NOWHERE.shape, passive.form, passive.values), moved)


@eqx.filter_jit
def _log_densities(passive: PassiveMoves, moved: Moved) -> Float[Array, " n"]:
    return passive.log_density(moved)


@eqx.filter_jit
def weights_at(family: "MoveFamily", u: Float[Array, " unknowns"]) -> Float[Array, "moves _"]:
    """The passive chance of every candidate, by one program."""
    return family.at(u).weights


class MovesAlone(PassiveMoves):
    """Passive moves of animals that prefer nothing: their own likelihood is all there is."""

    def log_weight(self, digest: Moved) -> Float[Array, ""]:
        """The log likelihood of moves, of those that can be made."""
        return digest.summed(self.log_density_alone(digest))


class MoveFamily(LearnableDynamics):
    """Passive moves as a function of their unknowns, each with a standard normal prior."""

    candidates: Candidates | None = None

    @classmethod
    def of(cls, moves: Turns, space: Any, candidates: Candidates | None = None) -> "MoveFamily":
        """From a specification, and the candidate moves of decisions where there are any."""
        places, given = cls.parts(moves.parameters(space))
        return cls(form_of(moves), space, places, given, candidates)

    @property
    def bare(self) -> "MoveFamily":
        """Without candidates and states: how moves are made by themselves needs none."""
        return MoveFamily(self.form, NOWHERE, self.places, self.given)

    @property
    def work(self) -> int:
        """How many states one evaluation looks up."""
        return 0 if self.candidates is None else int(self.candidates.states.size)

    def at(self, u: Float[Array, " k"]) -> PassiveMoves:
        """The passive moves there."""
        values = {name: value for (name, _), value in self.numbers(u).items()}
        return PassiveMoves(self.space.shape, self.form, values, self.candidates)


class AloneFamily(MoveFamily):
    """The same for animals that prefer nothing."""

    def at(self, u: Float[Array, " k"]) -> MovesAlone:
        """The passive moves there."""
        values = {name: value for (name, _), value in self.numbers(u).items()}
        return MovesAlone(self.space.shape, self.form, values, self.candidates)
