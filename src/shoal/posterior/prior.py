"""How far coefficients may lie from zero before the tracks are seen (eq. lmdpprior)."""

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import gammaln
from jaxtyping import Array, Float

from shoal.angles import namespace
from shoal.basis import BasisOperator, ScaledBasis
from shoal.errors import InputError
from shoal.inputs import Number

FORMS = ("precision", "inverse-sd", "fixed")


@dataclass(frozen=True)
class Prior:
    """β ~ Normal(0, 1/precision), the precision unknown.

    Parameters
    ----------
    form
        ``"precision"``, the paper's text: β has variance 1/τ and τ ~ Gamma(shape, rate).
        ``"inverse-sd"``, the paper's Stan program: β has standard deviation 1/α and
        α ~ Gamma(shape, rate). ``"fixed"``: β has variance 1/value.
    shape, rate
        Of the Gamma distribution; the paper has 0.1 and 0.1.
    value
        The precision, for the fixed form.

    Notes
    -----
    The unknown is handled as its logarithm t, with the Jacobian: t = log τ or t = log α.

    Examples
    --------
    >>> import shoal
    >>> shoal.Prior(shape=5, rate=5).unknowns
    1
    >>> shoal.Prior("fixed", value=2.0).unknowns
    0
    """

    form: str = "precision"
    shape: Number = 0.1
    rate: Number = 0.1
    value: Number | None = None

    def __post_init__(self) -> None:
        """Check the form and its numbers."""
        if self.form not in FORMS:
            raise InputError(f"the form of a prior is one of {', '.join(FORMS)}; got {self.form!r}")
        if (self.form == "fixed") != (self.value is not None):
            raise InputError("value= is the precision of a prior of form 'fixed', and of no other")
        for name, number in (("shape", self.shape), ("rate", self.rate), ("value", self.value)):
            usable = isinstance(number, int | float | np.number) and number > 0
            if number is not None and not (usable and math.isfinite(number)):
                raise InputError(f"the {name} of a prior must be positive and finite, got {number}")

    @property
    def unknowns(self) -> int:
        """How many numbers besides the coefficients are unknown: 1, or 0 where it is fixed."""
        return 0 if self.form == "fixed" else 1

    @property
    def start(self) -> float | Array:
        """A value of t to start from."""
        return 0.0 if self.value is None else namespace(self.value).log(self.value)

    def as_arrays(self) -> "Prior":
        """The same with numbers that programs take as arguments: others need no other program."""
        return jax.tree.map(lambda number: np.asarray(number, dtype=float), self)

    @property
    def power(self) -> int:
        """The precision is e^{power · t}."""
        return 2 if self.form == "inverse-sd" else 1

    def precision(self, t: Float[Array, ""] | float) -> Float[Array, ""]:
        """1 / Var(β)."""
        return jnp.exp(self.power * jnp.asarray(t))

    def draw(self, rng: np.random.Generator) -> float:
        """A t from the prior."""
        if self.form == "fixed":
            return float(self.start)
        return math.log(max(rng.gamma(self.shape, 1 / self.rate), 1e-300))

    def log_constant(self, t: float, count: int) -> float:
        """Log p(β, t) where all coefficients are zero."""
        normal = 0.5 * count * (self.power * t - math.log(2 * math.pi))
        if self.form == "fixed":
            return normal
        norm = self.shape * math.log(self.rate) - math.lgamma(self.shape)
        return normal + norm + self.shape * t - self.rate * math.exp(t)

    def log_hyperprior(self, t: Float[Array, ""]) -> Float[Array, ""]:
        """Log p(t): a Gamma density of e^t with the Jacobian of the logarithm."""
        if self.form == "fixed":
            return jnp.asarray(0.0)
        norm = self.shape * jnp.log(self.rate) - gammaln(self.shape)
        return norm + self.shape * t - self.rate * jnp.exp(t)

    def mode_given(self, squares: float, count: int) -> float:
        """The most probable t where Σ β² is known."""
        if self.form == "fixed":
            return float(self.start)
        a, b = self.shape, self.rate
        if self.form == "precision":
            return math.log((count / 2 + a) / (b + squares / 2))
        # n + a − bα − Sα² = 0, written so that nothing cancels
        root = math.sqrt(b * b + 4 * squares * (count + a))
        return math.log(2 * (count + a) / (b + root))


def _with_numbers(form: str, numbers: Any) -> Prior:
    """A prior whose numbers may be traced, and were checked before."""
    made = object.__new__(Prior)
    for name, value in zip(("form", "shape", "rate", "value"), (form, *numbers), strict=True):
        object.__setattr__(made, name, value)
    return made


jax.tree_util.register_pytree_node(
    Prior, lambda prior: ((prior.shape, prior.rate, prior.value), prior.form), _with_numbers
)


class OnePrecision(ScaledBasis):
    """Any basis with the paper's prior: one precision for all coefficients.

    Attributes
    ----------
    centred
        Whether ξ are the functions' own coefficients, with this precision. Otherwise they are those
        over their prior sd.
    """

    prior: Prior
    centred: bool = eqx.field(static=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The precision, where it is unknown."""
        return ("precision",) if self.prior.unknowns else ()

    @property
    def start(self) -> Float[np.ndarray, " k"]:
        """Where a search begins."""
        return np.full(self.prior.unknowns, float(self.prior.start))

    def logarithm(self, u: Any) -> Any:
        """Of the precision or of the inverse sd, as the prior has it."""
        return u[0] if self.prior.unknowns else self.prior.start

    def amplitude(self, u: Float[Array, " k"]) -> Float[Array, " n"]:
        """1/√precision for all, unless ξ are the functions' own coefficients."""
        sd = 1.0 if self.centred else self.prior.precision(self.logarithm(u)) ** -0.5
        return jnp.full(self.size, sd)

    def precision(self, u: Float[Array, " k"]) -> Float[Array, ""]:
        """Of ξ, before the tracks are seen."""
        return self.prior.precision(self.logarithm(u)) if self.centred else jnp.asarray(1.0)

    def at(self, u: Float[Array, " k"]) -> BasisOperator:
        """X, with amplitudes where there are any."""
        return BasisOperator(self.map) if self.centred else super().at(u)

    def values(self, u: Float[Array, " k"]) -> Float[Array, " k"]:
        """The precision."""
        return jnp.exp(self.prior.power * u)

    def draw(self, rng: np.random.Generator) -> Float[np.ndarray, " k"]:
        """Its logarithm from the prior."""
        return np.full(self.prior.unknowns, self.prior.draw(rng))

    def log_prior(self, u: Float[Array, " k"]) -> Float[Array, ""]:
        """Of its logarithm."""
        return self.prior.log_hyperprior(u[0]) if self.prior.unknowns else jnp.asarray(0.0)
