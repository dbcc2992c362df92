"""A record in, a Matplotlib figure out."""

from shoal.figures.lines import Curve, cost_lines
from shoal.figures.style import save_figure

__all__ = ["Curve", "cost_lines", "save_figure"]
