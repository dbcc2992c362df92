"""Does the model hold: measures and summaries of groups, observed and simulated."""

from shoal.checks.arrival import target_distance, time_to_target
from shoal.checks.calibration import Calibration, calibrate
from shoal.checks.candidates import Candidate, ladder
from shoal.checks.comparison import Measure, PredictiveCheck
from shoal.checks.measures import (
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
from shoal.checks.motion import Motion
from shoal.checks.predictive import predictive_check
from shoal.checks.side_by_side import compare
from shoal.checks.summarising import SUMMARIES, Summary, group_measures, summaries
from shoal.checks.turning import autocorrelation, pooled_autocorrelation, turning_angles
from shoal.checks.verdict import Comparison

__all__ = [
    "SUMMARIES",
    "Calibration",
    "Candidate",
    "Comparison",
    "Measure",
    "Motion",
    "PredictiveCheck",
    "Summary",
    "autocorrelation",
    "calibrate",
    "centroid",
    "cohesion",
    "compare",
    "group_measures",
    "group_speed",
    "ladder",
    "median_speed",
    "misalignment_spread",
    "nearest_distance",
    "polarisation",
    "pooled_autocorrelation",
    "predictive_check",
    "rotation",
    "speeds",
    "straightness",
    "summaries",
    "target_distance",
    "time_to_target",
    "turning_angles",
]
