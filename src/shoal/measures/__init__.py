"""How groups move, in numbers: order, distances, speeds, turns, arrival at a target."""

from shoal.measures.arrival import target_distance, time_to_target
from shoal.measures.motion import Motion
from shoal.measures.shape import (
    centroid,
    cohesion,
    group_speed,
    median_speed,
    misalignment_spread,
    nearest_distance,
    polarisation,
    rotation,
    speeds,
    straightness,
)
from shoal.measures.summaries import SUMMARIES, Summary, group_measures, summaries
from shoal.measures.turning import autocorrelation, pooled_autocorrelation, turning_angles

__all__ = [
    "SUMMARIES",
    "Motion",
    "Summary",
    "autocorrelation",
    "centroid",
    "cohesion",
    "group_measures",
    "group_speed",
    "median_speed",
    "misalignment_spread",
    "nearest_distance",
    "polarisation",
    "pooled_autocorrelation",
    "rotation",
    "speeds",
    "straightness",
    "summaries",
    "target_distance",
    "time_to_target",
    "turning_angles",
]
