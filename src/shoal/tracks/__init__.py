"""Where the animals were: tracks, headings, speeds."""

from shoal.tracks.headings import headings
from shoal.tracks.record import Tracks

__all__ = ["Tracks", "headings"]
