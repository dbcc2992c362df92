"""What an animal would do without preferences."""

from shoal.passive.binding import Passive, as_operator
from shoal.passive.matrix import MatrixDynamics, SparseDynamics
from shoal.passive.operator import PassiveOperator
from shoal.passive.per_axis import PerAxisDynamics
from shoal.passive.random_walk import RandomWalk
from shoal.passive.turning_mixture import TurningMixture
from shoal.passive.uniform import Uniform

__all__ = [
    "MatrixDynamics",
    "Passive",
    "PassiveOperator",
    "PerAxisDynamics",
    "RandomWalk",
    "SparseDynamics",
    "TurningMixture",
    "Uniform",
    "as_operator",
]
