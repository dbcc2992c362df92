"""Groups that live by a policy."""

from shoal.simulation.decisions import simulate_decisions

__all__ = ["simulate_decisions"]
