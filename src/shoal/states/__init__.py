"""What an animal perceives: axes, features, state spaces, counted transitions."""

from shoal.states.axes import Axis, Circular, Folded, Interval, Numbered
from shoal.states.counting import count_transitions
from shoal.states.crowding import NeighboursWithin
from shoal.states.custom import Custom
from shoal.states.distances import Bearing, Distance, TargetDistance, WallDistance
from shoal.states.misalignment import LocalMisalignment, TargetMisalignment
from shoal.states.motion import RelativeSpeed, Speed, TurningAngle
from shoal.states.perceiving import track_states
from shoal.states.recipe import Headings
from shoal.states.records import Records
from shoal.states.scene import Feature, MovableFeature, Scene, SpeedFeature
from shoal.states.space import StateSpace
from shoal.states.transitions import Transitions

__all__ = [
    "Axis",
    "Bearing",
    "Circular",
    "Custom",
    "Distance",
    "Feature",
    "Folded",
    "Headings",
    "Interval",
    "LocalMisalignment",
    "MovableFeature",
    "NeighboursWithin",
    "Numbered",
    "Records",
    "RelativeSpeed",
    "Scene",
    "Speed",
    "SpeedFeature",
    "StateSpace",
    "TargetDistance",
    "TargetMisalignment",
    "Transitions",
    "TurningAngle",
    "WallDistance",
    "count_transitions",
    "track_states",
]
