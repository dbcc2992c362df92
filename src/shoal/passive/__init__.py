"""What an animal would do without preferences."""

from shoal.passive.binding import Operable, Passive, as_operator
from shoal.passive.convolution import ConvolutionDynamics
from shoal.passive.empirical import Empirical
from shoal.passive.family import LearnableDynamics, PassiveFamily, as_family
from shoal.passive.matrix import MatrixDynamics, SparseDynamics
from shoal.passive.operator import PassiveOperator
from shoal.passive.per_axis import PerAxisDynamics
from shoal.passive.random_walk import RandomWalk
from shoal.passive.turn_coupled import TurnCoupled
from shoal.passive.turning_mixture import TurningMixture
from shoal.passive.uniform import Uniform
from shoal.passive.unknown import Unknown
from shoal.passive.walk_mixture import WalkMixture

__all__ = [
    "ConvolutionDynamics",
    "Empirical",
    "LearnableDynamics",
    "MatrixDynamics",
    "Operable",
    "Passive",
    "PassiveFamily",
    "PassiveOperator",
    "PerAxisDynamics",
    "RandomWalk",
    "SparseDynamics",
    "TurnCoupled",
    "TurningMixture",
    "Uniform",
    "Unknown",
    "WalkMixture",
    "as_family",
    "as_operator",
]
