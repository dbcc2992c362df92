"""What an animal perceives: axes, state spaces, counted transitions."""

from shoal.states.axes import Axis, Circular, Interval, Numbered
from shoal.states.space import StateSpace
from shoal.states.transitions import Transitions, count_transitions

__all__ = [
    "Axis",
    "Circular",
    "Interval",
    "Numbered",
    "StateSpace",
    "Transitions",
    "count_transitions",
]
