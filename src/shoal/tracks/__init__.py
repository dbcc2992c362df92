"""Tracks: where each animal was in each frame, their files, and headings."""

from shoal.tracks.arena import Arena, Circle, Periodic, Rectangle, Walls, shortest
from shoal.tracks.collection import Collection, Groups
from shoal.tracks.headings import headings, resting_until
from shoal.tracks.record import Tracks

__all__ = [
    "Arena",
    "Circle",
    "Collection",
    "Groups",
    "Periodic",
    "Rectangle",
    "Tracks",
    "Walls",
    "headings",
    "resting_until",
    "shortest",
]
