"""Groups in motion, as videos."""

from shoal.figures.video.animation import animate

__all__ = ["animate"]
