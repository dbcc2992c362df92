"""Learn what moving animals want.

The names that most analyses need are here. The others are in packages by what they are for, which
are loaded when they are first used: ``shoal.states.Speed`` is there after ``import shoal``.
Nothing heavy is loaded before, so that ``import shoal`` is quick.
"""

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, OutputError
from shoal.version import __version__

if TYPE_CHECKING:
    from shoal.basis import Bisquare, Gaussian, Identity, Smooth
    from shoal.checks import calibrate, predictive_check
    from shoal.figures.video import animate
    from shoal.lmdp import solve, state_cost
    from shoal.moves import Steps, Turns, decisions
    from shoal.passive import RandomWalk, TurnCoupled, TurningMixture, Uniform
    from shoal.posterior import NUTS, Fit, Model, Prior, load_fit
    from shoal.report import write_report
    from shoal.selection import compare
    from shoal.simulation import Release, simulate
    from shoal.states import (
        Bearing,
        Circular,
        Distance,
        LocalMisalignment,
        StateSpace,
        TargetMisalignment,
        count_transitions,
    )
    from shoal.tracks import Collection, Tracks
    from shoal.tracks.readers import open_tracks, read_tracks

_HOME = {
    "basis": ("Bisquare", "Gaussian", "Identity", "Smooth"),
    "checks": ("calibrate", "predictive_check"),
    "figures.video": ("animate",),
    "lmdp": ("solve", "state_cost"),
    "moves": ("Steps", "Turns", "decisions"),
    "passive": ("RandomWalk", "TurnCoupled", "TurningMixture", "Uniform"),
    "posterior": ("NUTS", "Fit", "Model", "Prior", "load_fit"),
    "report": ("write_report",),
    "selection": ("compare",),
    "simulation": ("Release", "simulate"),
    "states": (
        "Bearing",
        "Circular",
        "Distance",
        "LocalMisalignment",
        "StateSpace",
        "TargetMisalignment",
        "count_transitions",
    ),
    "tracks": ("Collection", "Tracks"),
    "tracks.readers": ("open_tracks", "read_tracks"),
}
_MOVED = {
    "basis": ("BasisOperator", "Flat", "Fourier", "Product", "Term", "Terms", "VonMises"),
    "checks": ("Calibration", "PredictiveCheck"),
    "lmdp": ("Solution", "policy"),
    "measures": ("group_measures", "summaries"),
    "moves": ("Decisions", "EmpiricalMoves", "observed_steps", "observed_turns"),
    "paper": ("Flock", "Tank", "TankSettings", "read_guppies", "simulate_spp", "simulate_tank"),
    "passive": ("Empirical", "PassiveOperator", "Unknown", "WalkMixture"),
    "posterior": ("ADVI", "MAP", "Effects", "Laplace", "Score"),
    "selection": ("Comparison",),
    "simulation": ("Couzin", "Vicsek", "simulate_decisions"),
    "states": (
        "Custom",
        "Folded",
        "Interval",
        "NeighboursWithin",
        "RelativeSpeed",
        "Scene",
        "Speed",
        "TargetDistance",
        "Transitions",
        "TurningAngle",
        "WallDistance",
    ),
    "tracks": ("Circle", "Periodic", "Rectangle", "headings"),
}
"""Names that were here before: they still are for one version, with a warning."""

_PACKAGES = (
    "basis",
    "checks",
    "figures",
    "lmdp",
    "measures",
    "moves",
    "paper",
    "passive",
    "posterior",
    "report",
    "selection",
    "simulation",
    "states",
    "tracks",
)
_WHERE = {name: package for package, names in _HOME.items() for name in names}
_WHERE_NOW = {name: package for package, names in _MOVED.items() for name in names}

__all__ = [
    "NUTS",
    "Bearing",
    "Bisquare",
    "Circular",
    "Collection",
    "Distance",
    "Fit",
    "Gaussian",
    "Identity",
    "InputError",
    "LocalMisalignment",
    "Model",
    "OutputError",
    "Prior",
    "RandomWalk",
    "Release",
    "Smooth",
    "StateSpace",
    "Steps",
    "TargetMisalignment",
    "Tracks",
    "TurnCoupled",
    "TurningMixture",
    "Turns",
    "Uniform",
    "__version__",
    "animate",
    "calibrate",
    "compare",
    "count_transitions",
    "decisions",
    "load_fit",
    "open_tracks",
    "predictive_check",
    "read_tracks",
    "simulate",
    "solve",
    "state_cost",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """The public name, from the package that holds it, or the package itself."""
    if name in _PACKAGES:
        return import_module(f"shoal.{name}")
    if name in _WHERE_NOW:
        place = f"shoal.{_WHERE_NOW[name]}"
        warnings.warn(
            f"shoal.{name} is now {place}.{name}; the old name goes with the next version",
            DeprecationWarning,
            stacklevel=2,
        )
        return getattr(import_module(place), name)
    if name not in _WHERE:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    value = getattr(import_module(f"shoal.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, and the packages with the others."""
    return sorted([*__all__, *_PACKAGES])
