"""What methods ask of a density before they begin: its top, a Gaussian, draws near it, coordinates.

There are three ways to answer, and one place that chooses between them. Under the paper's prior one
precision is unknown at most, and is looked at along a line. Where scales, lengths or passive
dynamics are unknown, these are searched with the coefficients integrated out. Of decisions the log
likelihood is taken as quadratic in that search, since there are so many rows.
"""

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from shoal.basis.flat import LevelBasis
from shoal.passive.estimating import log_alone
from shoal.posterior.coordinates import Coordinates
from shoal.posterior.curvature import LARGEST_DENSE, diagonal_given, expected_curvature
from shoal.posterior.density import Density
from shoal.posterior.importance import FEWEST_PROPOSED, PROPOSED, resampled, weigh
from shoal.posterior.linear_coordinates import LinearCoordinates
from shoal.posterior.marginal import (
    bounds_of,
    gaussian_around,
    hyper_spread,
    marginal_top,
    root_of,
)
from shoal.posterior.nested import heights_of, nested_proposals, quadratic_proposals
from shoal.posterior.one_precision import (
    expected_bend,
    hyper_of,
    marginal_peak,
    node_proposals,
    one_precision,
    precision_at,
    rough_mode,
)
from shoal.posterior.prior import OnePrecision
from shoal.posterior.proposals import Proposals
from shoal.posterior.quadratic import Top, hyper_bend, started, summit
from shoal.posterior.whitening import whitening
from shoal.precision import as_jax
from shoal.system.progress import Report

if TYPE_CHECKING:
    from shoal.posterior.laplace import Laplace

FEWEST_DECIDED = 2048
"""Draws that are proposed for a fit to decisions, at the least."""

CENTRED_BY = 1024
"""Draws of the Laplace approximation by which the coordinates of decisions are made."""


class Place(NamedTuple):
    """The most probable point, its log posterior, and how it was found."""

    position: Float[np.ndarray, " unknowns"]
    height: float
    converged: bool
    iterations: int


class Normal(NamedTuple):
    """A Gaussian near the posterior."""

    mean: Float[np.ndarray, " unknowns"]
    precision: Float[np.ndarray, "unknowns unknowns"]


class Approach(ABC):
    """A way to find one's way about in a density.

    Attributes
    ----------
    target_acceptance
        Of NUTS, where a user gives none.
    pilot
        Whether NUTS has to look for the centre of the posterior first.
    """

    target_acceptance: ClassVar[float] = 0.8
    pilot: ClassVar[bool] = True

    def __init__(self, density: Density) -> None:
        self.density = density

    def proposed(self, wanted: int) -> int:
        """How many draws to propose for so many."""
        return max(PROPOSED * wanted, FEWEST_PROPOSED)

    @abstractmethod
    def top(self, report: Report) -> Place:
        """The coefficients' mode at the most probable other unknowns, ξ integrated out."""

    @abstractmethod
    def normal(self, report: Report) -> Normal:
        """The Laplace approximation."""

    @abstractmethod
    def spread(
        self, report: Report
    ) -> tuple[Float[np.ndarray, " unknowns"], Float[np.ndarray, " unknowns"]]:
        """A centre, and the sd of each unknown where all others are known; cheap."""

    @abstractmethod
    def proposals(
        self, settings: "Laplace", count: int, generator: np.random.Generator, report: Report
    ) -> Proposals:
        """Draws of the nested Laplace approximation."""

    @abstractmethod
    def coordinates(self, report: Report) -> Coordinates:
        """In which the posterior is nearly a standard normal."""

    @abstractmethod
    def recentred(
        self, before: Coordinates, places: Float[np.ndarray, "chain draw unknowns"]
    ) -> Coordinates:
        """The same, from what draws found."""


class AlongPrecision(Approach):
    """Under the paper's prior: from the precision, which is one number, to the coefficients."""

    def top(self, report: Report) -> Place:
        """The mode at the most probable precision."""
        density, prior = self.density, one_precision(self.density).prior
        mode, t, settled = rough_mode(density)
        if prior.unknowns and density.coefficients <= LARGEST_DENSE:
            peak = marginal_peak(density, report, tolerance=0.05)
            t, settled, mode = peak.t, peak.converged, peak.mode
        height = float(mode.height) + prior.log_constant(t, density.coefficients)
        return Place(
            np.append(mode.beta, hyper_of(density, t)),
            height,
            settled and bool(mode.converged),
            int(mode.steps),
        )

    def normal(self, report: Report) -> Normal:
        """The Gaussian at the most probable precision."""
        density = self.density
        if density.names:
            peak = marginal_peak(density, report)
            mean = np.append(peak.beta, peak.t)
        else:
            mean = np.asarray(rough_mode(density)[0].beta)
        return Normal(mean, expected_curvature(density, mean[None]))

    def spread(
        self, report: Report
    ) -> tuple[Float[np.ndarray, " unknowns"], Float[np.ndarray, " unknowns"]]:
        """The mode at a plausible precision, and sds from the curvature's diagonal."""
        density = self.density
        mode, t, _ = rough_mode(density)
        hyper = hyper_of(density, t)
        curvature = np.asarray(diagonal_given(density, as_jax(hyper), mode.beta))
        curvature = curvature + precision_at(density, t)
        bend = np.full(hyper.size, expected_bend(density, t))
        return np.append(mode.beta, hyper), np.append(curvature, bend) ** -0.5

    def proposals(
        self, settings: "Laplace", count: int, generator: np.random.Generator, report: Report
    ) -> Proposals:
        """From nodes along the precision."""
        return node_proposals(self.density, settings, count, generator, report)

    def coordinates(self, report: Report) -> Coordinates:
        """Whitened at a plausible precision."""
        mode, t, _ = rough_mode(self.density)
        return whitening(self.density, np.append(mode.beta, hyper_of(self.density, t)))

    def recentred(
        self, before: Coordinates, places: Float[np.ndarray, "chain draw unknowns"]
    ) -> Coordinates:
        """Whitened where the draws are."""
        spread = float(places[..., -1].std()) if self.density.names else None
        return whitening(self.density, places.mean(axis=(0, 1)), spread)


class Integrated(Approach):
    """Unknowns besides the coefficients first, these being integrated out by Laplace's method."""

    target_acceptance = 0.95  # scales and coefficients bend away from each other

    def found(self, report: Report) -> Top:
        """The most probable unknowns besides the coefficients."""
        return marginal_top(self.density, report)

    def width(self, top: Top, report: Report) -> Float[np.ndarray, "hyper hyper"]:
        """A square root of their covariance."""
        if not top.hyper.size:
            return np.zeros((0, 0))
        return hyper_spread(self.density, top, report)

    def top(self, report: Report) -> Place:
        """The mode at the most probable other unknowns."""
        if isinstance(self.density.basis, LevelBasis):
            return self._without_costs()
        top = self.found(report)
        xi, hyper = np.asarray(top.xi), np.asarray(top.hyper)
        height = heights_of(self.density, top)(hyper[None], xi[None, None])[0, 0]
        return Place(np.append(xi, hyper), float(height), top.converged, top.iterations)

    def _without_costs(self) -> Place:
        """The same where costs are alike everywhere, so that passive dynamics are all there is."""
        model, hyper, xi = started(self.density)
        position = np.append(xi, hyper)
        passive, count = hyper[len(model.basis.names) :], position.size
        fit = log_alone(model.family.bare, model.digest, passive)
        return Place(position, fit - 0.5 * count * math.log(2 * math.pi), True, 0)

    def normal(self, report: Report) -> Normal:
        """The Gaussian around them."""
        top = self.found(report)
        around = gaussian_around(self.density, top, self.width(top, report))
        inverse = np.linalg.inv(around.matrix)
        return Normal(around.centre, inverse.T @ inverse)

    def spread(
        self, report: Report
    ) -> tuple[Float[np.ndarray, " unknowns"], Float[np.ndarray, " unknowns"]]:
        """The same Gaussian's sds."""
        mean, precision = self.normal(report)
        return mean, np.diag(precision) ** -0.5

    def proposals(
        self, settings: "Laplace", count: int, generator: np.random.Generator, report: Report
    ) -> Proposals:
        """Unknowns from a skewed Student t, coefficients from their own Gaussian."""
        top = self.found(report)
        width = self.width(top, report)
        proposed = nested_proposals(self.density, top, width, count, generator, report)
        return Proposals(proposed, {"converged": top.converged, "iterations": top.iterations})

    def coordinates(self, report: Report) -> Coordinates:
        """Linear in that Gaussian."""
        top = self.found(report)
        around = gaussian_around(self.density, top, self.width(top, report))
        return LinearCoordinates.of(self.density, around)

    def recentred(
        self, before: Coordinates, places: Float[np.ndarray, "chain draw unknowns"]
    ) -> Coordinates:
        """Centred on the draws, as wide as they are."""
        assert isinstance(before, LinearCoordinates)
        return before.adapted(places)


class Quadratic(Integrated):
    """The same of decisions, whose log likelihood is taken as quadratic in the search."""

    target_acceptance, pilot = 0.8, False

    def proposed(self, wanted: int) -> int:
        """Nearly all proposals are used."""
        return max(wanted, FEWEST_DECIDED)

    def found(self, report: Report) -> Top:
        """The top of the quadratic, made again until it settles."""
        return summit(self.density, bounds_of(self.density), report)

    def width(self, top: Top, report: Report) -> Float[np.ndarray, "hyper hyper"]:
        """From its curvature, which is known in closed form."""
        assert top.around is not None
        return root_of(hyper_bend(self.density.basis, top.around, np.asarray(top.hyper)))

    def proposals(
        self, settings: "Laplace", count: int, generator: np.random.Generator, report: Report
    ) -> Proposals:
        """Unknowns from the closed form, coefficients from their own Gaussian."""
        return self._around(self.found(report), count, generator, report)

    def _around(
        self, top: Top, count: int, generator: np.random.Generator, report: Report
    ) -> Proposals:
        width = self.width(top, report)
        found = quadratic_proposals(self.density, top, width, count, generator, report)
        facts = {"converged": top.converged, "iterations": top.iterations}
        return Proposals(found[0], facts, found[1])

    def coordinates(self, report: Report) -> Coordinates:
        """Centred on draws of the Laplace approximation, which are near the posterior's."""
        generator = np.random.default_rng(len(self.density.names))
        top = self.found(report)
        proposed, _, _ = self._around(top, CENTRED_BY, generator, report)
        weights = weigh(proposed.log_posterior, proposed.log_approximation).weights
        kept = resampled(weights, CENTRED_BY, generator)
        around = gaussian_around(self.density, top, self.width(top, report))
        made = LinearCoordinates.of(self.density, around)
        return made.adapted(proposed.positions[None, kept])


def approach_to(density: Density) -> Approach:
    """How to find one's way about in a density, by what is unknown in it."""
    if density.of_decisions:
        return Quadratic(density)
    if isinstance(density.basis, OnePrecision) and density.basis.centred:
        return AlongPrecision(density)
    return Integrated(density)
