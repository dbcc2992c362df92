"""The log likelihood of decisions in NumPy: of many points, and to second order around one.

S, the passive chances of the states that each decision's moves lead to, is sparse. SciPy multiplies
it with the e^{−q} of several draws at once; nothing here is compiled but the small functions that
give amplitudes and passive chances.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, Int
from scipy import sparse as sp

from shoal.basis.scaled import prior_at
from shoal.linear import AlongAxis, LinearMap
from shoal.linear.maps import ChainedMap, written_out
from shoal.moves import MoveFamily
from shoal.passive import PassiveFamily
from shoal.posterior.density import Density
from shoal.precision import as_jax

BLOCK = 8192
"""Decisions that are in memory at a time."""

NUMBERS = 4_000_000
"""Costs of places that are in memory at a time."""

STEP, WIDE_STEP = 1e-3, 1e-2
"""Between passive unknowns (of prior sd 1) whose difference gives a first or second derivative."""


class Given(NamedTuple):
    """What is the same for all coefficients where the other unknowns are known.

    Attributes
    ----------
    amplitude
        The sd of each coefficient.
    entries
        Of S: passive chances of the states that moves lead to.
    log_passive
        The log likelihood of the moves where nothing is preferred.
    log_prior
        Of the other unknowns.
    """

    amplitude: Float[np.ndarray, " n"]
    entries: Float[np.ndarray, " entries"]
    log_passive: float
    log_prior: float


class Quadratic(NamedTuple):
    """The log likelihood around costs c and passive unknowns p, to second order.

    ``slope`` and ``bend`` are in (c, p) together; ``bend`` is minus the second derivative.
    """

    costs: Float[np.ndarray, " n"]
    passive: Float[np.ndarray, " p"]
    slope: Float[np.ndarray, " both"]
    bend: Float[np.ndarray, "both both"]


@dataclass(frozen=True, eq=False)
class DecisionLikelihood:
    """Decisions, their candidates, and the functions that costs are written in.

    Attributes
    ----------
    adding
        Adds passive chances of candidates up to the entries of S: many lead to the same state.
    places, ends
        The place (a state, or a narrow bin) of every entry of S, and where the entries of each row
        end (CSR).
    arrivals, departures
        How often each place was decided for, and how many decisions each row stands for.
    functions
        Values of the basis, state by state.
    between
        Costs of narrow bins from those of states, where there are narrow bins; else None.
    """

    model: Density
    adding: Any
    places: Int[np.ndarray, " entries"]
    ends: Int[np.ndarray, " rows_and_1"]
    arrivals: Float[np.ndarray, " places"]
    departures: Float[np.ndarray, " rows"]
    functions: Float[np.ndarray, "J n"]
    between: Any = None

    @classmethod
    def of(cls, model: Density) -> "DecisionLikelihood":
        """From the density of a fit to decisions."""
        assert isinstance(model.family, MoveFamily) and model.family.candidates is not None
        given = model.family.candidates
        assert given.row is None and given.which is None
        states = np.asarray(given.states).T
        rows, k = states.shape
        tables = rows if given.apart else given.turn.shape[1]
        table = np.arange(rows) // (rows // tables)  # rows of one set follow each other
        order = np.argsort(states, axis=1, kind="stable")
        chances = (table[:, None] * k + order).astype(np.int32)
        states = np.take_along_axis(states, order, axis=1)
        new = np.diff(states, axis=1, prepend=-1) != 0
        starts, count = np.flatnonzero(new), states.size
        if given.possible is None:
            ones = np.ones(count)
        else:
            ones = np.take_along_axis(np.asarray(given.possible).T, order, axis=1).ravel() * 1.0
        ends = np.append(starts, count).astype(np.int32)
        functions, between = _taken_apart(model.basis.map)
        adding = sp.csr_array((ones, chances.ravel(), ends), shape=(starts.size, tables * k))
        places, arrivals = states.ravel()[starts], np.asarray(model.arrivals).ravel()
        if between is not None:  # of narrow bins, those that some move leads to
            reached = arrivals > 0
            reached[places] = True
            places = (np.cumsum(reached) - 1)[places].astype(np.int32)
            arrivals, between = arrivals[reached], between[reached]
        return cls(
            model,
            adding,
            places,
            np.append(0, np.cumsum(new.sum(axis=1))).astype(np.int32),
            arrivals,
            np.asarray(model.departures),
            functions,
            between,
        )

    def costs(self, c: Float[np.ndarray, "n *any"]) -> Float[np.ndarray, "places *any"]:
        """Costs of all places that moves lead to, from coefficients."""
        numbers = self.functions @ c
        return numbers if self.between is None else np.asarray(self.between @ numbers)

    def by_state(self, numbers: Float[np.ndarray, "places *any"]) -> Float[np.ndarray, "J *any"]:
        """Numbers of places, such as how often each was decided for, gathered state by state."""
        return numbers if self.between is None else np.asarray(self.between.T @ numbers)

    def given(self, hyper: Float[np.ndarray, " hyper"]) -> Given:
        """All that does not depend on coefficients."""
        count = len(self.model.basis.names)
        amplitude, log_prior, _ = prior_at(self.model.basis, as_jax(hyper[:count]))
        passive = hyper[count:]
        normal = -0.5 * passive @ passive - 0.5 * passive.size * np.log(2 * np.pi)
        entries, log_passive = self._moves_at(passive)
        return Given(np.asarray(amplitude), entries, log_passive, float(log_prior) + normal)

    def _moves_at(
        self, passive: Float[np.ndarray, " p"]
    ) -> tuple[Float[np.ndarray, " entries"], float]:
        """Entries of S, and the log likelihood of the moves where nothing is preferred."""
        return self._known_moves if not passive.size else self._moves_anew(passive)

    @cached_property
    def _known_moves(self) -> tuple[Float[np.ndarray, " entries"], float]:
        """The same where nothing about passive moves is unknown: always alike."""
        return self._moves_anew(np.zeros(0))

    def _moves_anew(
        self, passive: Float[np.ndarray, " p"]
    ) -> tuple[Float[np.ndarray, " entries"], float]:
        chances, log_passive = _passive_at(self.model.family, self.model.digest, as_jax(passive))
        return self.adding @ np.asarray(chances).T.ravel(), float(log_passive)

    def log_likelihoods(
        self, given: Given, c: Float[np.ndarray, "draws n"]
    ) -> Float[np.ndarray, " draws"]:
        """ℓ of several sets of coefficients: −⟨a, q⟩ − Σ log S e^{−q}, and that of the moves."""
        room = max(1, NUMBERS // self.arrivals.size)
        some = [self._log_likelihoods(given, c[n : n + room]) for n in range(0, len(c), room)]
        return np.concatenate(some)

    def _log_likelihoods(
        self, given: Given, c: Float[np.ndarray, "draws n"]
    ) -> Float[np.ndarray, " draws"]:
        q = self.costs(c.T)
        lowest = q.min(axis=0)
        reached = self._matrix(given.entries) @ np.exp(lowest - q)
        left = self.departures > 0
        with np.errstate(divide="ignore"):  # a row that vanishes gives −inf, not a wrong number
            log_norm = self.departures[left] @ np.log(reached[left])
        total = self.departures.sum()
        return np.asarray(given.log_passive - self.arrivals @ q - log_norm + lowest * total)

    def log_posteriors(
        self, hyper: Float[np.ndarray, "each hyper"], xi: Float[np.ndarray, "each share n"]
    ) -> Float[np.ndarray, "each share"]:
        """Log p(y, all unknowns), of points of which several share all but the coefficients."""
        heights = -0.5 * np.sum(xi**2, axis=2) - 0.5 * xi.shape[2] * np.log(2 * np.pi)
        for n, coefficients in enumerate(xi):
            given = self.given(hyper[n])
            fit = self.log_likelihoods(given, given.amplitude * coefficients)
            heights[n] += fit + given.log_prior
        return np.asarray(heights)

    def quadratic(self, c: Float[np.ndarray, " n"], passive: Float[np.ndarray, " p"]) -> Quadratic:
        """The log likelihood around a point."""
        here, tables, passive_slope = self._passive_slopes(passive)
        times, places = self.departures, self.places
        z, often, pressed = self._pressed(c, here)
        chosen = here * pressed  # how often decisions of each row are expected to lead there
        entered = np.bincount(places, chosen, z.size)
        shifts, across = np.zeros((passive.size, times.size)), np.zeros((passive.size, z.size))
        for n, table in enumerate(tables):
            shifts[n] = self._matrix(table) @ z * often / np.maximum(times, 1e-300)
            moved = table * pressed - chosen * np.repeat(shifts[n], np.diff(self.ends))
            across[n] = np.bincount(places, moved, z.size)
        along = (shifts * times) @ shifts.T + self._passive_bend(passive, pressed)
        bend = self._bend(chosen, entered)
        corner = self.functions.T @ self.by_state(across.T)
        slope = self.functions.T @ self.by_state(entered - self.arrivals)
        slopes = [slope, passive_slope - shifts @ times]
        whole = np.block([[bend, -corner], [-corner.T, -along]])
        return Quadratic(c, passive, np.concatenate(slopes), whole)

    def curvature(
        self, c: Float[np.ndarray, " n"], hyper: Float[np.ndarray, " hyper"]
    ) -> Float[np.ndarray, "n n"]:
        """Minus the second derivative of the log likelihood in the costs' coefficients."""
        entries, _ = self._moves_at(hyper[len(self.model.basis.names) :])
        chosen = entries * self._pressed(c, entries)[2]
        return self._bend(chosen, np.bincount(self.places, chosen, self.arrivals.size))

    def slopes_by_halves(
        self, c: Float[np.ndarray, " n"], hyper: Float[np.ndarray, " hyper"]
    ) -> Float[np.ndarray, "3 n"]:
        """The slope in the costs' coefficients, and the same by each half of the candidates."""
        passive = hyper[len(self.model.basis.names) :]
        chances = np.asarray(
            _passive_at(self.model.family, self.model.digest, as_jax(passive))[0]
        ).T
        found = []
        for part in (slice(None), slice(0, None, 2), slice(1, None, 2)):
            some = np.zeros_like(chances)
            some[:, part] = chances[:, part] / chances[:, part].sum(axis=1, keepdims=True)
            entries = self.adding @ some.ravel()
            chosen = entries * self._pressed(c, entries)[2]
            entered = np.bincount(self.places, chosen, self.arrivals.size)
            found.append(self.functions.T @ self.by_state(entered - self.arrivals))
        return np.stack(found)

    def _pressed(
        self, c: Float[np.ndarray, " n"], entries: Float[np.ndarray, " entries"]
    ) -> tuple[
        Float[np.ndarray, " places"], Float[np.ndarray, " rows"], Float[np.ndarray, " entries"]
    ]:
        """e^{−q} of every state, decisions of each row by their norm, and both for each entry."""
        q = self.costs(c)
        z = np.exp(q.min() - q)
        often = self.departures / np.maximum(self._matrix(entries) @ z, 1e-300)
        return z, often, z[self.places] * np.repeat(often, np.diff(self.ends))

    def _bend(
        self, chosen: Float[np.ndarray, " entries"], entered: Float[np.ndarray, " places"]
    ) -> Float[np.ndarray, "n n"]:
        """From how often decisions are expected to lead to each state."""
        if self.between is None:
            whole = (self.functions.T * entered) @ self.functions
        else:
            near = self.between.T @ sp.diags_array(entered) @ self.between
            whole = self.functions.T @ (near @ self.functions)
        return np.asarray(whole - self._outer(chosen))

    def _matrix(self, entries: Float[np.ndarray, " entries"]) -> Any:
        """S, or another matrix with entries where S has them."""
        shape = (self.departures.size, self.arrivals.size)
        return sp.csr_array((entries, self.places, self.ends), shape=shape)

    def _outer(self, chosen: Float[np.ndarray, " entries"]) -> Float[np.ndarray, "n n"]:
        """Σ over decisions of the outer product of the functions that they are expected to have."""
        times = np.sqrt(np.maximum(self.departures, 1e-300))
        expected = self._matrix(chosen / np.repeat(times, np.diff(self.ends)))
        total = np.zeros((self.functions.shape[1],) * 2)
        for start in range(0, times.size, BLOCK):
            some = expected[start : start + BLOCK]
            some = (some if self.between is None else some @ self.between) @ self.functions
            total += some.T @ some
        return total

    def _passive_slopes(
        self, passive: Float[np.ndarray, " p"]
    ) -> tuple[Float[np.ndarray, " entries"], list[Any], Float[np.ndarray, " p"]]:
        """Entries of S, how they change with each unknown, and how the moves' likelihood does."""
        tables, heights = [], []
        for away in STEP * np.eye(passive.size):
            ahead, back = self._moves_at(passive + away), self._moves_at(passive - away)
            tables.append((ahead[0] - back[0]) / (2 * STEP))
            heights.append((ahead[1] - back[1]) / (2 * STEP))
        return self._moves_at(passive)[0], tables, np.array(heights)

    def _passive_bend(
        self, passive: Float[np.ndarray, " p"], pressed: Float[np.ndarray, " entries"]
    ) -> Float[np.ndarray, "p p"]:
        """The second derivative of the moves' likelihood less what costs press on the chances."""

        def height(away: Float[np.ndarray, " p"]) -> float:
            entries, log_passive = self._moves_at(passive + WIDE_STEP * away)
            return log_passive - float(entries @ pressed)

        count = passive.size
        bend, eye, here = np.zeros((count, count)), np.eye(count), height(np.zeros(count))
        for i in range(count):
            bend[i, i] = height(eye[i]) - 2 * here + height(-eye[i])
            for j in range(i):
                one, other = eye[i] + eye[j], eye[i] - eye[j]
                cross = height(one) - height(other) - height(-other) + height(-one)
                bend[i, j] = bend[j, i] = cross / 4
        return bend / WIDE_STEP**2


def _taken_apart(linear: LinearMap) -> tuple[Float[np.ndarray, "J n"], Any]:
    """Functions of states, and the sparse matrix from these to narrow bins, where there are any."""
    first, along = [linear], None
    if isinstance(linear, ChainedMap):
        first = [part for part in linear.maps if not isinstance(part, AlongAxis)]
        for part in linear.maps[len(first) :]:
            assert isinstance(part, AlongAxis)
            before, after = np.split(part.in_shape, [part.axis])
            sides = [sp.eye_array(math.prod(side.tolist())) for side in (before, after[1:])]
            step = sp.kron(sp.kron(sides[0], sp.csr_array(np.asarray(part.matrix))), sides[1])
            along = step if along is None else step @ along
    functions = written_out(first[0] if len(first) == 1 else ChainedMap.of(*first))
    return np.ascontiguousarray(functions), None if along is None else sp.csr_array(along)


@eqx.filter_jit
def _passive_at(
    family: PassiveFamily, digest: Any, passive: Float[Array, " p"]
) -> tuple[Float[Array, "k any"], Float[Array, ""]]:
    moves: Any = family.at(passive)
    return moves.chances(), moves.log_weight(digest)
