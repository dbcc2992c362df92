"""How the cost-to-go is written down: v = X β."""

from shoal.basis.bisquare import Bisquare
from shoal.basis.circular import Fourier, VonMises
from shoal.basis.flat import Flat
from shoal.basis.gaussian import Gaussian
from shoal.basis.identity import Identity
from shoal.basis.operator import Basis, BasisOperator
from shoal.basis.product import Product
from shoal.basis.scaled import ScaledBasis, ThroughBasis
from shoal.basis.smooth import Smooth
from shoal.basis.terms import Term, Terms

__all__ = [
    "Basis",
    "BasisOperator",
    "Bisquare",
    "Flat",
    "Fourier",
    "Gaussian",
    "Identity",
    "Product",
    "ScaledBasis",
    "Smooth",
    "Term",
    "Terms",
    "ThroughBasis",
    "VonMises",
]
