"""A model of what animals want: states, passive dynamics, basis, discount, prior."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import equinox as eqx
import numpy as np

from shoal.basis import Basis, BasisOperator, Identity, ScaledBasis, ThroughBasis
from shoal.errors import InputError, checked_seed
from shoal.inputs import GIVEN, SEED, Filename, Number, Whole
from shoal.lmdp.policies import checked_discount
from shoal.moves import AloneFamily, Decisions, MoveFamily, Turns, surroundings
from shoal.moves.padding import padded_moves, padded_rows, sorted_rows
from shoal.passive import Empirical, PassiveFamily, PassiveOperator, as_family, as_operator
from shoal.passive.estimating import most_probable
from shoal.passive.family import passive_at
from shoal.passive.narrowness import narrow_axes
from shoal.passive.operator import pair_logs
from shoal.posterior.advi import ADVI, advi_draws
from shoal.posterior.checkpoint import Checkpoint
from shoal.posterior.decision_checks import (
    beyond_bins,
    quadrature_shift,
    residual_correlations,
    too_flat,
)
from shoal.posterior.decision_costs import with_state_costs
from shoal.posterior.decision_fit import DecisionFit
from shoal.posterior.decision_likelihood import DecisionLikelihood
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.finite import NotFiniteError, check_draws
from shoal.posterior.fit import Fit
from shoal.posterior.laplace import Laplace, laplace_draws
from shoal.posterior.map import MAP, map_draws
from shoal.posterior.memory import refuse_what_does_not_fit
from shoal.posterior.nuts import NUTS, nuts_draws
from shoal.posterior.plan import plan_of
from shoal.posterior.prior import OnePrecision, Prior
from shoal.precision import as_jax
from shoal.states import StateSpace, Transitions
from shoal.system.files import make_folder
from shoal.system.progress import Report, reporting
from shoal.tracks.record import warn

Data = Annotated[Transitions | Decisions, GIVEN]
"""What a model is fitted to."""

Method = MAP | Laplace | ADVI | NUTS

METHODS: dict[str, tuple[type, Callable[..., Draws]]] = {
    "map": (MAP, map_draws),
    "laplace": (Laplace, laplace_draws),
    "advi": (ADVI, advi_draws),
    "nuts": (NUTS, nuts_draws),
}
"""Each method's settings and the function that draws."""


@dataclass(frozen=True, eq=False)
class Model:
    """What is assumed before the tracks are seen.

    Parameters
    ----------
    space
        The states.
    passive
        What animals do without preferences: ``Uniform()``, ``RandomWalk(sd)``,
        ``TurningMixture(turns, sd)``, ``TurnCoupled()``, whose numbers are learned, a matrix, a
        SciPy sparse matrix or an object of your own.
    basis
        How the cost-to-go is written down: ``Smooth()`` with scales and lengths that are learned,
        ``Identity()``, ``Gaussian(every)``, ``Bisquare()``, …
    discount
        γ in [0, 1]; the paper has 1.
    prior
        Of the coefficients; by default as in the paper's text.
    state_costs
        Of decisions: whether to learn the costs r of states as well. The basis then describes v,
        the cost-to-go of perceived states, and q = N v, with N what others do between a decision
        and the next, estimated from the same tracks. Transitions always tell r.

    Examples
    --------
    >>> import numpy as np
    >>> import shoal
    >>> space = shoal.StateSpace.discrete(3)
    >>> counts = shoal.count_transitions([[0, 1, 1, 2, 1, 1, 0, 1]], space)
    >>> model = shoal.Model(space, passive=np.full((3, 3), 1 / 3))
    >>> fit = model.fit(counts, method="laplace", draws=500, seed=1)
    >>> int(fit.summary()["mean"].idxmin())
    1
    """

    space: Annotated[StateSpace, GIVEN]
    passive: Any
    basis: Any = field(default_factory=Identity)
    discount: Number = 1.0
    prior: Annotated[Prior, GIVEN] = field(default_factory=Prior)
    state_costs: bool = False

    def __post_init__(self) -> None:
        """Check what can be checked before there is data."""
        object.__setattr__(self, "discount", checked_discount(self.discount))
        if not isinstance(self.space, StateSpace):
            raise InputError(f"a model needs a StateSpace, got {type(self.space).__name__}")
        if not isinstance(self.prior, Prior):
            raise InputError(f"a prior is Prior(...), got {self.prior!r}")
        if not isinstance(self.basis, Basis) or isinstance(self.basis, type):
            raise InputError(
                "a basis is Identity(), Gaussian(...), Bisquare(...), Fourier(...), VonMises(...), "
                "Smooth(), Flat(), Product(...) or an object with on(space); got "
                f"{type(self.basis).__name__}"
            )

    def operator(self) -> PassiveOperator:
        """The passive dynamics on this model's states."""
        return as_operator(self.passive, self.space)

    @cached_property
    def family(self) -> PassiveFamily:
        """The passive dynamics with what is unknown about them."""
        return as_family(self.passive, self.space)

    @property
    def hierarchical(self) -> bool:
        """Whether more is unknown than coefficients and their precision."""
        return isinstance(self.passive, Turns) or (
            hasattr(self.basis, "scaled") or self.family.count > 0
        )

    def density(self, transitions: Data, warm: Any = None) -> Density:
        """The posterior density, after checking that model and transitions fit together."""
        if isinstance(transitions, Decisions):
            return self._of_decisions(transitions, warm)
        if isinstance(self.passive, Turns):
            raise InputError(
                f"a model of {type(self.passive).__name__} is fitted to what "
                f"shoal.decisions(…) returns, got {type(transitions).__name__}"
            )
        if not isinstance(transitions, Transitions):
            raise InputError(
                "a model is fitted to what count_transitions(...) returns, got "
                f"{type(transitions).__name__}"
            )
        if transitions.space.axes != self.space.axes:
            raise InputError(
                f"transitions counted on {transitions.space.axes} do not fit a model on "
                f"{self.space.axes}"
            )
        if transitions.total == 0:
            raise InputError(
                "there are no transitions to learn from: give sequences of two or more"
            )
        if isinstance(self.passive, Empirical) and self.passive.transitions.lag != transitions.lag:
            warn(
                f"the passive dynamics were counted at a lag of {self.passive.transitions.lag} "
                f"frames, the transitions at {transitions.lag}"
            )
        for sentence in narrow_axes(self.passive, self.space):
            warn(sentence)
        typical = _typical(self.family)
        log_passive = _checked_log_passive(typical, transitions, self.space)
        return Density(
            family=self.family,
            basis=self._scaled_basis(transitions),
            arrivals=as_jax(transitions.arrivals, dtype=float),
            departures=as_jax(transitions.departures, dtype=float),
            discount=as_jax(float(self.discount)),
            digest=typical.digest(transitions) if self.family.count else as_jax(log_passive),
            warm=None if warm is None else as_jax(warm),
        )

    def _of_decisions(self, decisions: Decisions, warm: Any) -> Density:
        """The density of costs and passive moves, a row for every decision."""
        if not isinstance(self.passive, Turns):
            raise InputError(
                "decisions are fitted by a model with moves, such as "
                f"shoal.Model(space, shoal.Turns()), got {type(self.passive).__name__}"
            )
        if type(self.passive) is not type(decisions.moves):
            raise InputError(
                f"a model of {type(self.passive).__name__} does not fit decisions that are "
                f"{type(decisions.moves).__name__}"
            )
        other = self.passive.differences(decisions.moves)
        if other:
            words = ", ".join(f"{n}={getattr(decisions.moves, n)!r}" for n in other)
            raise InputError(
                f"decisions were read with {words}, and the model has other moves: read them "
                "with the model's, or give the model decisions.moves"
            )
        if decisions.space != self.space:
            raise InputError(
                f"decisions on {decisions.space.parts} do not fit a model on {self.space.parts}"
            )
        if self.discount != 1:
            raise InputError(f"decisions have no discount: leave it 1, got {self.discount}")
        if not decisions.total:
            raise InputError("there are no decisions to learn from")
        candidates, counts = sorted_rows(*decisions.rows())
        basis = self._scaled_basis(decisions)
        if self.state_costs:
            basis = ThroughBasis.of(basis, surroundings(decisions))
        places = decisions.places
        if decisions.grid is not None:
            basis = ThroughBasis.then(basis, decisions.grid.maps(self.space.shape))
        arrivals = np.bincount(decisions.ends, minlength=places.size).reshape(places.shape)
        return Density(
            family=MoveFamily.of(decisions.moves, places, candidates),
            basis=basis,
            arrivals=as_jax(arrivals, dtype=float),
            departures=as_jax(counts),
            discount=as_jax(1.0),
            digest=padded_moves(decisions.digest),
            warm=None if warm is None else as_jax(warm),
        )

    def _scaled_basis(self, transitions: Transitions | Decisions) -> ScaledBasis:
        if hasattr(self.basis, "scaled"):
            scaled: ScaledBasis = self.basis.scaled(self.space)
            return scaled
        basis = self.basis.on(self.space)
        if not isinstance(basis, BasisOperator):
            raise InputError(f"{self.basis!r} is no basis: on(space) gave no operator of X")
        _check_support(basis.support(), transitions, self.space)
        return OnePrecision(basis.map, self.prior.as_arrays(), centred=not self.hierarchical)

    def fit(
        self,
        transitions: Data,
        method: str | Method = "nuts",
        *,
        chains: Whole = 4,
        draws: Whole = 1000,
        seed: Whole = SEED,
        progress: bool | Report | None = None,
        start: Fit | None = None,
        checkpoint: Filename | None = None,
    ) -> Fit:
        """The posterior of the cost-to-go given counted transitions.

        Parameters
        ----------
        transitions
            From ``count_transitions``.
        method
            ``"nuts"``, ``"laplace"``, ``"advi"``, ``"map"``, or one of them with settings such as
            ``shoal.NUTS(warmup=1000)``.
        chains, draws
            How many, per chain; ``map`` has one.
        seed
            The same seed gives the same result.
        progress
            Whether to show a bar; by default only on a terminal.
        start
            A fit of the same model to similar transitions, from which searches begin.
        checkpoint
            A folder where ``nuts`` keeps its draws while it runs. Where one of an unfinished run
            of the same model, transitions, settings and seed is given, that run goes on, and ends
            with the draws it would have had. Give each run its own; remove it afterwards.
        """
        settings, drawing = resolved(method)
        for count in (chains, draws):
            if not hasattr(count, "__index__") or count < 1:
                raise InputError(
                    "chains and draws are whole numbers, at least 1 chain and 1 draw are needed; "
                    f"got {chains!r} and {draws!r}"
                )
        seed = checked_seed(seed)
        if isinstance(settings, ADVI) and isinstance(transitions, Decisions):
            raise InputError("advi is not offered for decisions: use laplace, which is as quick")
        density = self.density(transitions, None if start is None else start.centre)
        shape = (chains, draws)
        refuse_what_does_not_fit(density, type(settings).__name__.lower(), shape, self.space.size)
        kept = (
            {}
            if checkpoint is None
            else self._kept(transitions, settings, chains, seed, checkpoint)
        )
        try:
            with reporting(progress) as report:
                drawn = drawing(density, settings, (chains, draws), seed, report, **kept)
            check_draws(density, drawn)
        except NotFiniteError as error:
            where = "" if error.state is None else f" {self.space.describe(error.state)}"
            raise InputError(f"{error}{where}") from error
        fit = self._fitted(transitions, density, settings, drawn, seed)
        return replace(fit, centre=drawn.centre)

    def _fitted(
        self, data: Transitions | Decisions, density: Any, settings: Method, drawn: Draws, seed: int
    ) -> Fit:
        """The result, of transitions or of decisions."""
        if not isinstance(data, Decisions):
            return Fit.of(self, data, density, settings, drawn, seed)
        alone = passive_alone(data)
        flat = drawn.positions.reshape(-1, drawn.positions.shape[-1])
        likelihood = DecisionLikelihood.of(density)
        facts = {
            "passive_alone": alone.tolist(),
            "quadrature_shift": quadrature_shift(likelihood, drawn.centre),
            "beyond_bins": beyond_bins(data),
            "too_flat": too_flat(data),
            **residual_correlations(data, likelihood, flat),
        }
        told = replace(drawn, facts=drawn.facts | facts)
        model = replace(self, passive=data.moves)
        coarse = density
        if data.grid is not None:
            coarse = eqx.tree_at(lambda d: d.basis, density, density.basis.inner)
        fit = DecisionFit.of(model, data, coarse, settings, told, seed)
        return with_state_costs(fit, data, density, drawn) if self.state_costs else fit

    def _kept(
        self,
        transitions: Transitions | Decisions,
        settings: Method,
        chains: int,
        seed: int,
        place: Any,
    ) -> dict[str, Checkpoint]:
        """Where the draws of a run are kept."""
        if not isinstance(settings, NUTS):
            raise InputError("only nuts keeps draws while it runs: leave out checkpoint=")
        folder = make_folder(Path(place))
        return {
            "checkpoint": Checkpoint(folder, plan_of(self, transitions, settings, chains, seed))
        }


def passive_alone(data: Decisions) -> Any:
    """The most probable passive moves of animals that prefer nothing."""
    if data.possible is None:  # where every candidate can be made, they do not matter
        return most_probable(MoveFamily.of(data.moves, data.space), padded_moves(data.digest))
    within, _ = padded_rows(data.candidates, np.ones(data.total))
    family = AloneFamily.of(data.moves, data.places, within)
    return most_probable(family, padded_moves(data.digest))


def resolved(method: str | Method) -> tuple[Method, Callable[..., Draws]]:
    """A method's settings, and the function that draws."""
    if isinstance(method, str):
        if method.lower() not in METHODS:
            raise InputError(f"method is one of {', '.join(METHODS)}; got {method!r}")
        kind, drawing = METHODS[method.lower()]
        return kind(), drawing
    for kind, drawing in METHODS.values():
        if isinstance(method, kind):
            return method, drawing
    raise InputError(f"method is one of {', '.join(METHODS)} or its settings; got {method!r}")


def _typical(family: PassiveFamily) -> PassiveOperator:
    """P̄ where every unknown has its prior median, by one program where there are unknowns."""
    nothing = as_jax(np.zeros(family.count))
    return passive_at(family, nothing) if family.count else family.at(nothing)


def _checked_log_passive(
    passive: PassiveOperator, transitions: Transitions, space: StateSpace
) -> float:
    """Σ y_ij log p̄_ij; a transition that was seen but cannot happen passively is an error."""
    pairs = transitions.pairs
    logs = pair_logs(passive, pairs.origin, pairs.destination)
    impossible = ~np.isfinite(logs)
    if np.any(impossible):
        first = int(np.argmax(impossible))
        raise InputError(
            f"the transition from {space.describe(int(pairs.origin[first]))} to "
            f"{space.describe(int(pairs.destination[first]))} was seen {pairs.count[first]} times "
            f"but has passive probability 0 ({int(impossible.sum())} such pairs, "
            f"{int(pairs.count[impossible].sum())} transitions): use wider passive dynamics"
        )
    return float(logs @ pairs.count)


def _check_support(support: Any, transitions: Transitions | Decisions, space: StateSpace) -> None:
    seen = (transitions.arrivals > 0) | (transitions.departures > 0)
    missing = np.flatnonzero((seen & ~support).ravel())
    if missing.size:
        count = int(transitions.arrivals.ravel()[missing[0]])
        raise InputError(
            f"no function of the basis reaches {space.describe(int(missing[0]))}, which was "
            f"entered {count} times ({missing.size} such states): use a wider or denser basis"
        )
