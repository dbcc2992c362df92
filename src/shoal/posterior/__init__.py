"""What tracks say about costs: density, MAP, Laplace, ADVI, NUTS, diagnostics, Fit."""

from shoal.posterior.advi import ADVI
from shoal.posterior.density import Density
from shoal.posterior.fit import Fit
from shoal.posterior.laplace import Laplace
from shoal.posterior.map import MAP
from shoal.posterior.model import Model
from shoal.posterior.nuts import NUTS
from shoal.posterior.prior import Prior
from shoal.posterior.storage import load_fit

__all__ = ["ADVI", "MAP", "NUTS", "Density", "Fit", "Laplace", "Model", "Prior", "load_fit"]
