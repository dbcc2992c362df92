"""The result of a fit: draws of the cost-to-go, and how far to trust them."""

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from shoal.basis import ScaledBasis
from shoal.basis.identity import IdentityMap
from shoal.errors import InputError
from shoal.inputs import GIVEN, Number, Whole
from shoal.lmdp.log_space import log_apply
from shoal.moves import Decisions
from shoal.passive import LearnableDynamics, PassiveFamily, PassiveOperator
from shoal.passive.family import passive_at
from shoal.passive.operator import pair_logs
from shoal.posterior.convergence import convergence
from shoal.posterior.data_diagnostics import diagnose
from shoal.posterior.density import Density
from shoal.posterior.diagnostics import Diagnostics
from shoal.posterior.draws import Draws
from shoal.posterior.effects import Effects, effects_of
from shoal.posterior.headline import Headline, no_costs, wanted_states
from shoal.posterior.loo import LooScore, loo
from shoal.posterior.saving import save_fit
from shoal.posterior.scoring import Score, score
from shoal.posterior.specification import Unreadable, plain
from shoal.precision import as_jax
from shoal.results import Result, counted
from shoal.states import Headings, StateSpace, Transitions
from shoal.tracks.record import warn
from shoal.version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from shoal.posterior.model import Model

SAMPLING = ("chain", "draw")
ENGINES = ("jax", "blackjax", "numpy", "scipy", "xarray")
"""What a result was computed with."""


@dataclass(frozen=True, eq=False)
class Fit(Result):
    """Draws from the posterior of a model, in ArviZ groups.

    Attributes
    ----------
    model
        What was assumed.
    data
        An xarray DataTree: ``posterior`` (cost_to_go as sampled, level included; precision of
        the prior; coefficients), ``sample_stats``, ``observed_data``, ``transitions``, and where
        there are any ``optimisation`` traces and ``convergence`` figures. Its attributes hold the
        method's settings, the seed and the versions.
    centre
        Of the unknowns as they were searched for, where another search may begin; not stored.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace.discrete(3)
    >>> counts = shoal.count_transitions([[0, 1, 1, 2, 1, 1, 0, 1] * 10], space)
    >>> fit = shoal.Model(space, shoal.Uniform()).fit(counts, method="map")
    >>> fit
    Fit(map, 3 states, 1 chains × 1 draws, 79 transitions)
    >>> fit.headline()[0]
    'The most probable costs draw these animals to state 1.'
    >>> fit.table()["arrivals"].tolist()
    [19, 50, 10]
    """

    model: "Model"
    data: xr.DataTree
    centre: Any = None

    @classmethod
    def of(
        cls,
        model: "Model",
        transitions: Transitions | Decisions,
        density: Density,
        settings: Any,
        draws: Draws,
        seed: int,
    ) -> "Fit":
        """Assemble the groups from what a method drew."""
        space = model.space
        groups = {
            "posterior": _posterior(space, density, draws),
            "sample_stats": xr.Dataset(
                {name: (SAMPLING, values) for name, values in draws.statistics.items()}
            ),
            "observed_data": _observed(space, transitions),
            "transitions": _pairs(transitions),
        }
        if draws.traces:
            groups["optimisation"] = xr.Dataset(
                {name: ("iteration", values) for name, values in draws.traces.items()}
            )
        method = type(settings).__name__.lower()
        if method == "nuts":
            groups["convergence"] = convergence(groups["posterior"], groups["observed_data"])
        tree = xr.DataTree.from_dict(groups)
        tree.attrs = {
            "method": method,
            "settings": json.dumps(asdict(settings), default=plain),
            "seed": seed,
            "lag": transitions.lag,
            "headings": json.dumps(transitions.headings and asdict(transitions.headings)),
            "facts": json.dumps(draws.facts, default=plain),
            "versions": json.dumps(
                {"shoal": __version__} | {name: version(name) for name in ENGINES}
            ),
        }
        return cls(model, tree)

    @property
    def method(self) -> str:
        """nuts, laplace, advi or map."""
        return str(self.data.attrs["method"])

    @property
    def lag(self) -> int:
        """Frames between the two states of the transitions it was made from."""
        return int(self.data.attrs.get("lag", 1))

    @property
    def headings(self) -> Headings | None:
        """How headings were taken for the transitions it was made from, and the frame interval.

        None where no headings were taken, and where a file of an earlier version does not say.
        """
        found = json.loads(self.data.attrs.get("headings", "null"))
        return None if found is None else Headings(**found)

    def headings_with(
        self,
        heading_frames: Whole | None = None,
        minimum_step: Number | None = None,
        tracker_headings: Annotated[bool | None, GIVEN] = None,
    ) -> Headings:
        """How headings are taken from tracks that this fit is used with: as they were for the fit.

        Parameters
        ----------
        heading_frames, minimum_step, tracker_headings
            Another choice, with a warning; None for that of the fit.
        """
        own, given = self.headings or Headings(), (heading_frames, minimum_step, tracker_headings)
        chosen = own.chosen(*given)
        if "headings" not in self.data.attrs:
            if given == (None, None, None):
                warn(
                    "this fit was written by an earlier version and does not say how headings were "
                    f"taken: {chosen.words} are assumed; otherwise give heading_frames= and "
                    "minimum_step=, or on the command line the fit's TOML file with --fit-config"
                )
        elif self.headings is not None and chosen != own:
            warn(f"the fit was made with {own.words}, and {chosen.words} are used here")
        return chosen

    @property
    def facts(self) -> dict[str, Any]:
        """What the method says of itself: converged, iterations, pareto_k and so on."""
        return dict(json.loads(self.data.attrs["facts"]))

    @property
    def arrivals(self) -> xr.DataArray:
        """How often each state was entered."""
        return self.data["observed_data"].to_dataset()["arrivals"]

    @property
    def parameters(self) -> xr.DataArray:
        """Draws of the unknowns of passive dynamics and basis (chain, draw, parameter)."""
        posterior = self.data["posterior"].to_dataset()
        if "parameters" in posterior:
            return posterior["parameters"]
        shape = (*self.sampled.shape[:2], 0)
        return xr.DataArray(np.zeros(shape), dims=(*SAMPLING, "parameter"))

    @property
    def family(self) -> PassiveFamily:
        """The passive dynamics with what is unknown about them."""
        return self.model.family

    @property
    def passive_unknowns(self) -> Float[Array, "draws k"]:
        """Every draw of the passive dynamics' unknowns, in the coordinates of their family."""
        family = self.family
        draws = self.parameters.values
        flat = draws.reshape(draws.shape[0] * draws.shape[1], draws.shape[2])
        if not family.count:
            return as_jax(np.zeros((len(flat), 0)))
        return as_jax(family.coordinates(flat[:, flat.shape[1] - family.count :]))

    @cached_property
    def operator(self) -> PassiveOperator:
        """P̄, with unknowns at the centre of their posterior."""
        if not self.family.count:
            return self.model.operator()
        centre = np.asarray(self.passive_unknowns).mean(axis=0)
        return passive_at(self.family, as_jax(centre))

    @property
    def passive(self) -> Any:
        """The passive dynamics as a specification, with learned numbers for their unknowns."""
        if isinstance(self.model.passive, Unreadable):
            return self.model.passive
        family = self.family
        if not isinstance(family, LearnableDynamics):
            return self.model.passive
        return family.known(np.asarray(self.passive_unknowns).mean(axis=0))

    @cached_property
    def absorbing(self) -> xr.DataArray:
        """Which states the passive dynamics never leave."""
        states = np.arange(self.model.space.size)
        if isinstance(self.model.passive, Unreadable):
            return xr.zeros_like(self.arrivals, dtype=bool)
        stays = pair_logs(self.operator, states, states) > -1e-12
        return self.arrivals.copy(data=stays.reshape(self.model.space.shape))

    @property
    def level_weights(self) -> xr.DataArray:
        """Arrivals, less those of an absorbing state in itself, which say nothing of costs."""
        pairs = self.data["transitions"].to_dataset()
        stayed = np.zeros(self.model.space.size, dtype=int)
        same = pairs["origin"].values == pairs["destination"].values
        stayed[pairs["origin"].values[same]] = pairs["count"].values[same]
        idle = self.arrivals.copy(data=stayed.reshape(self.model.space.shape))
        weights = self.arrivals - idle.where(self.absorbing, 0)
        return weights if int(weights.sum()) else self.arrivals

    @property
    def sampled(self) -> xr.DataArray:
        """V as sampled (chain, draw, *axes), with the level that the prior alone places."""
        return self.data["posterior"].to_dataset()["cost_to_go"]

    @cached_property
    def cost_to_go(self) -> xr.DataArray:
        """V (chain, draw, *axes): level removed from every draw, posterior mean with minimum 0."""
        contrasts = without_level(self.sampled, self.level_weights)
        named = {"long_name": "cost-to-go", "units": "nats"}
        return from_zero(contrasts).rename("cost_to_go").assign_attrs(named)

    @cached_property
    def state_cost(self) -> xr.DataArray:
        """R (chain, draw, *axes), up to a constant: posterior mean with minimum 0."""
        v = without_level(self.sampled, self.arrivals)
        flat = v.values.reshape(-1, *self.model.space.shape)
        discount = as_jax(float(self.model.discount))
        costs = _state_costs(self.model.family, self.passive_unknowns, as_jax(flat), discount)
        r = v.copy(data=np.asarray(costs).reshape(v.shape)).where(~self.absorbing)
        named = {"long_name": "state cost", "units": "nats per step"}
        return from_zero(r).rename("state_cost").assign_attrs(named)

    def summary(self, what: str = "cost_to_go", interval: float = 0.95) -> "pd.DataFrame":
        """A row for each state: mean, sd, interval, R-hat, effective draws, arrivals.

        Where ``entered`` is False no animal was seen to arrive: the prior speaks there, and the
        absence.

        Parameters
        ----------
        what
            ``"cost_to_go"`` or ``"state_cost"``.
        interval
            The mass of the equal-tailed interval. ``map`` has none, nor an sd.
        """
        if what not in ("cost_to_go", "state_cost"):
            raise InputError(f"a summary is of 'cost_to_go' or 'state_cost', got {what!r}")
        if not 0 < interval < 1:
            raise InputError(f"the mass of an interval lies between 0 and 1, got {interval}")
        draws = self.state_cost if what == "state_cost" else self.cost_to_go
        values, tail = draws.values, (1 - interval) / 2
        # by NumPy: xarray would first compile reductions of its own, for many seconds
        columns = dict.fromkeys(("mean", "sd", "lower", "upper"), np.full(values.shape[2:], np.nan))
        columns["mean"] = values.mean(axis=(0, 1))
        if self.method != "map":  # one answer has no spread
            columns["sd"] = values.std(axis=(0, 1), ddof=1)
            columns["lower"], columns["upper"] = np.quantile(values, [tail, 1 - tail], axis=(0, 1))
        names = self.model.space.names
        table = xr.Dataset(
            {name: (names, column) for name, column in columns.items()}, labelled(self.model.space)
        )
        table = table.assign(self._convergence(draws, what))
        table = table.assign(arrivals=self.arrivals, entered=self.arrivals > 0)
        return table.to_dataframe()

    def _convergence(self, draws: xr.DataArray, what: str) -> dict[str, xr.DataArray]:
        if what == "cost_to_go" and "convergence" in self.data:
            figures = self.data["convergence"].to_dataset()
        else:
            figures = convergence(xr.Dataset({"cost_to_go": draws}), None)
        most = float(self.facts.get("importance_ess", np.inf))  # copies of a draw are one draw
        return {
            "r_hat": figures["r_hat"],
            "ess_bulk": figures["ess_bulk"].clip(max=most),
            "ess_tail": figures["ess_tail"].clip(max=most),
        }

    def score(self, transitions: Any, draws: Whole | None = None) -> Score:
        """How well the fit predicts transitions that it has not seen: their mean log₂ probability.

        Parameters
        ----------
        transitions
            Counted on the states of the model, with its lag; of a fit to decisions, what
            ``shoal.decisions`` gives. A list or dictionary, such as one for each group, gives the
            standard error from the differences between them.
        draws
            How many draws to average over; by default all, a thousand at most.

        Returns
        -------
        Score
            ``bits``, higher is better, and ``standard_error``.
        """
        found = score(self, transitions, draws)
        parts = transitions.values() if isinstance(transitions, dict) else transitions
        for part in [parts] if isinstance(parts, Transitions) else parts:
            if self.headings is None or part.headings is None:
                continue
            mine, theirs = self.headings, part.headings
            if mine.taken != theirs.taken or mine.other_interval(theirs):
                warn(
                    f"the fit was made with {mine.words} and {mine.interval_words}, and the "
                    f"scored transitions with {theirs.words} and {theirs.interval_words}: the "
                    "score compares different things"
                )
                break
        return found

    def loo(self) -> LooScore:
        """The leave-one-out score of its own transitions, from the draws at hand (PSIS-LOO)."""
        return loo(self)

    def effects(self) -> Effects:
        """The cost-to-go split into what each axis does by itself, and what they do together."""
        return effects_of(self)

    def diagnostics(self) -> Diagnostics:
        """What to worry about, in words; ``.trusted`` is False where the fit should not be used."""
        return diagnose(self)

    def save(self, path: str | Path) -> Path:
        """Write the fit as netCDF; the file appears whole or not at all."""
        return save_fit(self, Path(path))

    def table(self) -> "pd.DataFrame":
        """A row for each state: the bins, then what ``summary`` says of its cost-to-go."""
        return self.summary().reset_index()

    def headline(self) -> Headline:
        """What the animals do, in one sentence, and the sentences behind it."""
        return no_costs(self) or wanted_states(self)

    def __str__(self) -> str:
        said, behind = self.headline()
        claim = said.removeprefix("These animals ").removesuffix(".")
        if behind and behind[0].startswith(f"They {claim}:"):  # one claim alone says it once
            said, behind = behind[0].replace("They", "These animals", 1), behind[1:]
        return " ".join([said, *behind, f"This was {self.how}.", self._whether()])

    @property
    def how(self) -> str:
        """From what it was learned, and by which method, as the end of a sentence."""
        sizes = self.data["posterior"].sizes
        seen = counted(int(self.arrivals.sum()), self.data_unit)
        draws = counted(sizes["chain"] * sizes["draw"], "draw")
        drawn = "the most probable costs only" if self.method == "map" else draws
        return (
            f"learned from {seen} among {counted(self.model.space.size, 'state')} "
            f"by the method {self.method} ({drawn})"
        )

    def _whether(self) -> str:
        """Whether it can be used."""
        if self.diagnostics().trusted:
            return "No diagnostic speaks against using this fit."
        return "Do not trust this fit yet: print(fit.diagnostics()) says why."

    @property
    def data_unit(self) -> str:
        """What it was learned from, one of them: a transition or a decision."""
        return "transition"

    def __repr__(self) -> str:
        sizes = self.data["posterior"].sizes
        return (
            f"Fit({self.method}, {self.model.space.size} states, {sizes['chain']} chains × "
            f"{sizes['draw']} draws, {int(self.arrivals.sum())} transitions)"
        )


def labelled(space: StateSpace) -> dict[str, xr.Variable]:
    """The bin centres of each axis, with the words and units that plots show."""
    return {
        axis.name: xr.Variable(
            axis.name,
            axis.centres,
            {"long_name": axis.name.replace("_", " "), "units": axis.unit},
        )
        for axis in space.axes
    }


def without_level(cost_to_go: xr.DataArray, arrivals: xr.DataArray) -> xr.DataArray:
    """V minus its mean weighted by arrivals, draw by draw: the part that tracks can tell."""
    axes = [name for name in cost_to_go.dims if name not in SAMPLING]
    return cost_to_go - cost_to_go.weighted(arrivals).mean(axes)


def from_zero(draws: xr.DataArray) -> xr.DataArray:
    """One constant added to all draws, so that their mean has minimum 0."""
    return draws - np.nanmin(draws.values.mean(axis=(0, 1)))


@eqx.filter_jit
def _state_costs(
    family: PassiveFamily,
    unknowns: Float[Array, "draws k"],
    cost_to_go: Float[Array, "draws *grid"],
    discount: Float[Array, ""],
) -> Float[Array, "draws *grid"]:
    """V + log P̄ e^{−γv} of many draws, one after the other, each with its own P̄."""

    def one(draw: tuple[Array, Array]) -> Array:
        u, v = draw
        return v + log_apply(family.at(u), -discount * v)

    return jax.lax.map(one, (unknowns, cost_to_go))


def _posterior(space: StateSpace, density: Density, draws: Draws) -> xr.Dataset:
    chains, count, _ = draws.positions.shape
    positions = as_jax(draws.positions.reshape(chains * count, -1))
    coordinates = {"chain": np.arange(chains), "draw": np.arange(count), **labelled(space)}
    v, betas, values = _of_draws(density.basis, density.family.bare, positions)
    grid = np.asarray(v).reshape(chains, count, *space.shape)
    variables: dict[str, Any] = {"cost_to_go": ((*SAMPLING, *space.names), grid)}
    if density.names == ("precision",) and not density.of_decisions:
        variables["precision"] = (SAMPLING, np.asarray(values).reshape(chains, count))
    elif density.names:
        shaped = np.asarray(values).reshape(chains, count, -1)
        variables["parameters"] = ((*SAMPLING, "parameter"), shaped)
        coordinates["parameter"] = np.array(density.names)
    if not isinstance(density.basis.map, IdentityMap):
        shaped = np.asarray(betas).reshape(chains, count, -1)
        variables["coefficients"] = ((*SAMPLING, "coefficient"), shaped)
    return xr.Dataset(variables, coordinates)


@eqx.filter_jit
def _of_draws(
    basis: ScaledBasis, family: PassiveFamily, positions: Float[Array, "draws unknowns"]
) -> tuple[Float[Array, "draws *grid"], Float[Array, "draws n"], Float[Array, "draws hyper"]]:
    """V, the coefficients and the other unknowns in their own units."""

    def one(position: Float[Array, " unknowns"]) -> tuple[Array, Array]:
        xi, u, passive = jnp.split(position, [basis.size, basis.size + len(basis.names)])
        return basis.amplitude(u) * xi, jnp.append(basis.values(u), family.values(passive))

    betas, values = jax.lax.map(one, positions)
    shape = basis.map.in_shape
    v = jax.lax.map(lambda beta: basis.map.apply(beta.reshape(shape)), betas, batch_size=64)
    return v, betas, values


def _observed(space: StateSpace, transitions: Transitions | Decisions) -> xr.Dataset:
    return xr.Dataset(
        {
            "arrivals": (space.names, transitions.arrivals),
            "departures": (space.names, transitions.departures),
        },
        labelled(space),
    )


def _pairs(transitions: Transitions | Decisions) -> xr.Dataset:
    pairs = transitions.pairs
    return xr.Dataset(
        {
            "origin": ("pair", pairs.origin),
            "destination": ("pair", pairs.destination),
            "count": ("pair", pairs.count),
        }
    )
