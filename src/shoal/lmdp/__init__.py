"""The decision process: forward solvers, policy, state costs."""

from shoal.lmdp.forward import solve
from shoal.lmdp.inverse import state_cost
from shoal.lmdp.policies import policy, stationary
from shoal.lmdp.solution import Solution

__all__ = ["Solution", "policy", "solve", "state_cost", "stationary"]
