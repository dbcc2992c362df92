"""The paper: its simulated flock, a stand-in for its tank, its data, and its reproduction.

Names are loaded when they are first used: the command line lists options without them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.paper.spp import Flock, simulate_spp
    from shoal.paper.tank import Tank, TankSettings, simulate_tank
    from shoal.tracks.readers import read_guppies

__all__ = ["Flock", "Tank", "TankSettings", "read_guppies", "simulate_spp", "simulate_tank"]

_HOME = {
    "Flock": "paper.spp",
    "simulate_spp": "paper.spp",
    "Tank": "paper.tank",
    "TankSettings": "paper.tank",
    "simulate_tank": "paper.tank",
    "read_guppies": "tracks.readers",
}


def __getattr__(name: str) -> Any:
    """The name, from the module that holds it."""
    if name not in _HOME:
        raise AttributeError(f"module 'shoal.paper' has no attribute {name!r}")
    return getattr(import_module(f"shoal.{_HOME[name]}"), name)
