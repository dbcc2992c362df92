"""Which model the tracks prefer: held-out scores, baselines, and choices made by them."""

from shoal.selection.candidates import Candidate, ladder
from shoal.selection.side_by_side import compare
from shoal.selection.verdict import Comparison

__all__ = ["Candidate", "Comparison", "compare", "ladder"]
