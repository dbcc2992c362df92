"""The paper: its simulated flock, a stand-in for its tank, its data, and its reproduction."""

from shoal.paper.spp import Flock, simulate_spp
from shoal.paper.tank import Tank, TankSettings, simulate_tank
from shoal.tracks.readers import read_guppies

__all__ = ["Flock", "Tank", "TankSettings", "read_guppies", "simulate_spp", "simulate_tank"]
