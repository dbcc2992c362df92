"""Does the model hold: simulated groups against observed ones, intervals against known truths."""

from shoal.checks.calibration import Calibration, calibrate
from shoal.checks.comparison import Measure, PredictiveCheck
from shoal.checks.predictive import predictive_check

__all__ = ["Calibration", "Measure", "PredictiveCheck", "calibrate", "predictive_check"]
