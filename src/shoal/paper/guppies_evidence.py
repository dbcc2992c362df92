"""What the claims of section 4 are judged by: fits, marginal costs, and what one group can show."""

from dataclasses import dataclass, replace

import numpy as np
import xarray as xr
from jaxtyping import Float

from shoal.angles import difference
from shoal.basis import Bisquare
from shoal.figures.fits import curve_of
from shoal.figures.lines import Curve
from shoal.paper.estimates import Estimate
from shoal.paper.guppies_data import Experiments
from shoal.paper.tank import TankSettings, simulate_tank
from shoal.passive import RandomWalk
from shoal.posterior import Model
from shoal.posterior.along import marginal
from shoal.states import Transitions, count_transitions
from shoal.system.progress import Report
from shoal.tracks import Collection, Tracks

LOCAL, TARGET = "local_misalignment", "target_misalignment"
NEAR = 20.0
"""Degrees, two bins of the paper: a minimum found within is found."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """The groups, their transitions, and every fit by name: method-basis-passive."""

    data: Experiments
    counts: Transitions
    estimates: dict[str, Estimate]
    power: "Power | None" = None

    @property
    def paper_names(self) -> list[str]:
        """The fits of the paper's models."""
        return [name for name in self.estimates if name.endswith(("-uniform", "-walk"))]

    @property
    def main(self) -> Estimate:
        """Of figures 6 and 7: bisquare functions and the walk, by NUTS."""
        return self.estimates["nuts-bisquare-walk"]

    @property
    def extent(self) -> tuple[Float[np.ndarray, " 2"], Float[np.ndarray, " 2"]]:
        """The corners of all places."""
        places = np.concatenate([part.positions.reshape(-1, 2) for part in self.data.tracks])
        return np.nanmin(places, axis=0), np.nanmax(places, axis=0)

    def marginal(self, axis: str, *, weighted: bool = False) -> xr.DataArray:
        """Draws of the marginal cost-to-go of the main fit, bin by bin."""
        fit = self.main.fit
        return marginal(fit.cost_to_go, axis, fit.arrivals if weighted else None)

    def flat(self, axis: str, *, weighted: bool = False) -> Float[np.ndarray, "draw bins"]:
        """The same with chains in one; bins without arrivals are infinitely dear if weighted."""
        values = self.marginal(axis, weighted=weighted).values
        return np.nan_to_num(values.reshape(-1, values.shape[-1]), nan=np.inf)

    def centres(self, axis: str) -> Float[np.ndarray, " bins"]:
        """Of the bins of an axis."""
        return dict(zip(self.counts.space.names, self.counts.space.axes, strict=True))[axis].centres

    def minimum(self, axis: str, *, weighted: bool = False) -> float:
        """Where the mean marginal cost-to-go is lowest."""
        mean = self.flat(axis, weighted=weighted).mean(axis=0)
        return float(self.centres(axis)[np.argmin(mean)])

    def truly(self, axis: str) -> float | None:
        """Where the true marginal cost-to-go is lowest, where that is known."""
        curve = self.true_marginal(axis)
        return None if curve is None else float(self.centres(axis)[np.argmin(curve)])

    def true_marginal(self, axis: str) -> Float[np.ndarray, " bins"] | None:
        """The true cost-to-go, averaged over the other axis, with minimum 0."""
        if self.data.truth is None:
            return None
        v = self.data.truth.solution.cost_to_go.reshape(self.counts.space.shape)
        along = v.mean(axis=1 - self.counts.space.names.index(axis))
        return np.asarray(along - along.min())

    def curve(self, draws: xr.DataArray, label: str) -> Curve:
        """Mean and interval, the mean with minimum 0."""
        lowest = float(np.nanmin(draws.values.mean(axis=(0, 1))))
        return curve_of(draws - lowest, label)


@dataclass(frozen=True)
class Power:
    """How often the minima were found in simulated experiments of the size of the real one."""

    experiments: int
    frames: int
    fish: int
    local: int
    target: int

    def words(self) -> str:
        """In a sentence."""
        return (
            f"What one group can show: of {self.experiments} simulated experiments of {self.fish} "
            f"fish and at most {self.frames} frames, each fitted alone (most probable costs), the "
            f"minimum of local misalignment came out within {NEAR:g}° of the truth in {self.local} "
            f"and that of target misalignment in {self.target} (marginals weighted by arrivals). "
            "These shares limit how far one group can decide a claim about a minimum."
        )


def one_experiment_at_a_time(
    experiments: int,
    bins: int,
    resolutions: int,
    walk: float,
    size: tuple[int, int],
    seed: int,
    report: Report,
) -> Power:
    """Simulated groups of this size (frames, fish), fitted one by one with the paper's model."""
    frames, fish = size
    settings = replace(TankSettings(), females=0, males=experiments, animals=fish, reach=0.02)
    tank = simulate_tank(seed=seed, settings=settings, progress=report)
    found = {LOCAL: 0, TARGET: 0}
    aims = {LOCAL: 0.0, TARGET: settings.side}
    data = Experiments("stand-in", "", tank.tracks, tank.target)
    space = data.space(bins)
    for number, part in enumerate(tank.tracks, 1):
        report("one experiment at a time", number, experiments)
        counts = count_transitions(_first(part, frames), space)
        passive = RandomWalk(walk, start="centre")
        model = Model(space, passive, Bisquare(resolutions, circular=False))
        fit = model.fit(counts, "map", chains=1, draws=1, seed=seed, progress=False)
        for axis, aim in aims.items():
            curve = marginal(fit.cost_to_go, axis, fit.arrivals).values.ravel()
            centres = space.coordinates[axis]
            best = centres[np.argmin(np.nan_to_num(curve, nan=np.inf))]
            found[axis] += int(abs(float(difference(best, aim))) <= NEAR)
    return Power(experiments, frames, fish, found[LOCAL], found[TARGET])


def _first(tracks: Tracks, frames: int) -> Collection:
    return Collection([Tracks(tracks.data.isel(time=slice(0, frames)))])
