"""Groups in motion: by a policy, or by the rules of a known model."""

from shoal.simulation.couzin import Couzin
from shoal.simulation.decisions import simulate_decisions
from shoal.simulation.groups import simulate
from shoal.simulation.release import Release
from shoal.simulation.vicsek import Vicsek

__all__ = [
    "Couzin",
    "Release",
    "Vicsek",
    "simulate",
    "simulate_decisions",
]
