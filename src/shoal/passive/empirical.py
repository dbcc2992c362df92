"""What animals did in another data set, taken as what they do without preferences."""

from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jaxtyping import Array, Float, Int
from scipy.optimize import minimize_scalar
from scipy.special import gammaln

from shoal.errors import InputError
from shoal.linear import SparseMap
from shoal.passive.operator import PassiveOperator
from shoal.precision import as_jax
from shoal.states import StateSpace, Transitions


class EmpiricalDynamics(PassiveOperator):
    """Counts and a share of everywhere: P̄ = (Y + strength 1 qᵀ) / (d + strength)."""

    counts: SparseMap
    departures: Float[Array, "*grid"]
    everywhere: Float[Array, "*grid"]
    strength: Float[Array, ""]

    def apply(self, values: Float[Array, "*grid"]) -> Float[Array, "*grid"]:
        """P̄ x."""
        anywhere = self.strength * jnp.vdot(self.everywhere, values)
        return (self.counts.apply(values) + anywhere) / (self.departures + self.strength)

    def log_probability(
        self, origin: Int[Array, " pairs"], destination: Int[Array, " pairs"]
    ) -> Float[Array, " pairs"]:
        """Of the entries, seen or not."""
        codes = self.counts.rows * self.size + self.counts.columns
        wanted = origin * self.size + destination
        place = jnp.clip(jnp.searchsorted(codes, wanted), 0, codes.size - 1)
        seen = jnp.where(codes[place] == wanted, self.counts.entries[place], 0.0)
        mass = seen + self.strength * self.everywhere.ravel()[destination]
        return jnp.log(mass) - jnp.log(self.departures.ravel()[origin] + self.strength)


@dataclass(frozen=True, eq=False)
class Empirical:
    """The shares of transitions seen elsewhere, smoothed by a Dirichlet prior.

    From single animals, or from another treatment: p̄(j | i) = (y_ij + strength · q_j) / (d_i +
    strength), where q is how often each state was entered in all, itself smoothed.

    Parameters
    ----------
    transitions
        Counted on the same states.
    strength
        How many transitions the prior counts for, in every row; by default the most probable.
    """

    transitions: Any
    strength: Any = None

    def __post_init__(self) -> None:
        """Check both parts."""
        if not isinstance(self.transitions, Transitions) or not self.transitions.total:
            raise InputError("an empirical kernel is made from counted transitions, one or more")
        given = self.strength
        if given is None:
            object.__setattr__(self, "strength", most_probable_strength(self.transitions))
        elif not (np.isreal(given) and np.isfinite(given) and given > 0):
            raise InputError(f"the strength of smoothing is positive, got {given!r}")

    def on(self, space: StateSpace) -> EmpiricalDynamics:
        """The operator on a state space."""
        counts = self.transitions
        if counts.space.axes != space.axes:
            raise InputError(
                "the transitions given to Empirical were counted on other states "
                f"({_axes(counts.space)}) than those of the model ({_axes(space)}): count them "
                "again on the states of the model"
            )
        pairs, size = counts.pairs, space.size
        index = (pairs.origin, pairs.destination)
        matrix = sp.csr_array((pairs.count.astype(float), index), shape=(size, size))
        return EmpiricalDynamics(
            space.shape,
            SparseMap.of(matrix, space.shape, space.shape),
            as_jax(counts.departures, dtype=float),
            as_jax(_everywhere(counts)),
            as_jax(float(self.strength)),
        )

    def __repr__(self) -> str:
        return f"Empirical({self.transitions.total} transitions, strength={self.strength:.3g})"


def _everywhere(counts: Transitions) -> Float[np.ndarray, "*grid"]:
    arrivals = counts.arrivals + 0.5
    return np.asarray(arrivals / arrivals.sum())


def most_probable_strength(counts: Transitions) -> float:
    """Where the Dirichlet-multinomial probability of the counts is highest."""
    pairs, q = counts.pairs, _everywhere(counts).ravel()
    left = counts.departures.ravel()
    left = left[left > 0]
    share = q[pairs.destination]

    def loss(log_strength: float) -> float:
        s = np.exp(log_strength)
        rows = gammaln(s) - gammaln(s + left)
        entries = gammaln(s * share + pairs.count) - gammaln(s * share)
        return -float(rows.sum() + entries.sum())

    return float(np.exp(minimize_scalar(loss, bounds=(-7.0, 12.0), method="bounded").x))


def _axes(space: StateSpace) -> str:
    """The axes with their bins, to tell two spaces apart."""
    return ", ".join(f"{axis.size} bins of {axis.name.replace('_', ' ')}" for axis in space.axes)
