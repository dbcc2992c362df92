"""What an animal perceives: axes, features, state spaces, counted transitions."""

from shoal.states.axes import Axis, Circular, Interval, Numbered
from shoal.states.counting import Feature, count_transitions, track_states
from shoal.states.distances import Bearing, Distance, TargetDistance
from shoal.states.misalignment import LocalMisalignment, TargetMisalignment
from shoal.states.space import StateSpace
from shoal.states.transitions import Transitions

__all__ = [
    "Axis",
    "Bearing",
    "Circular",
    "Distance",
    "Feature",
    "Interval",
    "LocalMisalignment",
    "Numbered",
    "StateSpace",
    "TargetDistance",
    "TargetMisalignment",
    "Transitions",
    "count_transitions",
    "track_states",
]
