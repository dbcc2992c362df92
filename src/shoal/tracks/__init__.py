"""Where the animals were: tracks, their files, headings."""

from shoal.tracks.arena import Arena, Circle, Rectangle
from shoal.tracks.collection import Collection
from shoal.tracks.headings import headings, resting_until
from shoal.tracks.record import Tracks

__all__ = ["Arena", "Circle", "Collection", "Rectangle", "Tracks", "headings", "resting_until"]
