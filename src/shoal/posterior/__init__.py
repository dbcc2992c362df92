"""What tracks say about costs: density, MAP, Laplace, ADVI, NUTS, diagnostics, Fit."""

from shoal.posterior.advi import ADVI
from shoal.posterior.decision_fit import DecisionFit, DecisionScore
from shoal.posterior.density import Density
from shoal.posterior.diagnostics import Diagnostics
from shoal.posterior.effects import Effect, Effects
from shoal.posterior.fit import Fit
from shoal.posterior.laplace import Laplace
from shoal.posterior.loo import LooScore
from shoal.posterior.map import MAP
from shoal.posterior.model import Model
from shoal.posterior.nuts import NUTS
from shoal.posterior.prior import Prior
from shoal.posterior.scoring import Score
from shoal.posterior.storage import load_fit

__all__ = [
    "ADVI",
    "MAP",
    "NUTS",
    "DecisionFit",
    "DecisionScore",
    "Density",
    "Diagnostics",
    "Effect",
    "Effects",
    "Fit",
    "Laplace",
    "LooScore",
    "Model",
    "Prior",
    "Score",
    "load_fit",
]
