"""Learn what moving animals want.

Names are loaded when they are first used, so that ``import shoal`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError, OutputError
from shoal.version import __version__

if TYPE_CHECKING:
    from shoal.basis import (
        BasisOperator,
        Bisquare,
        Flat,
        Fourier,
        Gaussian,
        Identity,
        Product,
        Smooth,
        Term,
        Terms,
        VonMises,
    )
    from shoal.checks import Calibration, PredictiveCheck, calibrate, predictive_check
    from shoal.figures.video import (
        animate,
    )
    from shoal.lmdp import Solution, policy, solve, state_cost
    from shoal.measures import group_measures, summaries
    from shoal.moves import (
        Decisions,
        EmpiricalMoves,
        Steps,
        Turns,
        decisions,
        observed_steps,
        observed_turns,
    )
    from shoal.passive import (
        Empirical,
        PassiveOperator,
        RandomWalk,
        TurnCoupled,
        TurningMixture,
        Uniform,
        Unknown,
        WalkMixture,
    )
    from shoal.posterior import (
        ADVI,
        MAP,
        NUTS,
        Effects,
        Fit,
        Laplace,
        Model,
        Prior,
        Score,
        load_fit,
    )
    from shoal.report import write_report
    from shoal.selection import Comparison, compare
    from shoal.simulation import (
        Couzin,
        Flock,
        Release,
        Tank,
        TankSettings,
        Vicsek,
        simulate,
        simulate_decisions,
        simulate_spp,
        simulate_tank,
    )
    from shoal.states import (
        Bearing,
        Circular,
        Custom,
        Distance,
        Folded,
        Interval,
        LocalMisalignment,
        NeighboursWithin,
        RelativeSpeed,
        Scene,
        Speed,
        StateSpace,
        TargetDistance,
        TargetMisalignment,
        Transitions,
        TurningAngle,
        WallDistance,
        count_transitions,
    )
    from shoal.tracks import (
        Circle,
        Collection,
        Periodic,
        Rectangle,
        Tracks,
        headings,
    )
    from shoal.tracks.readers import (
        open_tracks,
        read_guppies,
        read_tracks,
    )

_HOME = {
    "tracks": (
        "Circle",
        "Collection",
        "Periodic",
        "Rectangle",
        "Tracks",
        "headings",
    ),
    "states": (
        "Bearing",
        "Circular",
        "Custom",
        "Distance",
        "Folded",
        "Interval",
        "LocalMisalignment",
        "NeighboursWithin",
        "RelativeSpeed",
        "Scene",
        "Speed",
        "StateSpace",
        "TargetDistance",
        "TargetMisalignment",
        "Transitions",
        "TurningAngle",
        "WallDistance",
        "count_transitions",
    ),
    "passive": (
        "Empirical",
        "PassiveOperator",
        "RandomWalk",
        "TurnCoupled",
        "TurningMixture",
        "Uniform",
        "Unknown",
        "WalkMixture",
    ),
    "moves": (
        "Decisions",
        "EmpiricalMoves",
        "Steps",
        "Turns",
        "decisions",
        "observed_steps",
        "observed_turns",
    ),
    "lmdp": ("Solution", "policy", "solve", "state_cost"),
    "basis": (
        "BasisOperator",
        "Bisquare",
        "Flat",
        "Fourier",
        "Gaussian",
        "Identity",
        "Product",
        "Smooth",
        "Term",
        "Terms",
        "VonMises",
    ),
    "posterior": (
        "ADVI",
        "MAP",
        "NUTS",
        "Effects",
        "Fit",
        "Laplace",
        "Model",
        "Prior",
        "Score",
        "load_fit",
    ),
    "simulation": (
        "Couzin",
        "Flock",
        "Release",
        "Tank",
        "TankSettings",
        "Vicsek",
        "simulate",
        "simulate_decisions",
        "simulate_spp",
        "simulate_tank",
    ),
    "tracks.readers": (
        "open_tracks",
        "read_guppies",
        "read_tracks",
    ),
    "figures.video": ("animate",),
    "report": ("write_report",),
    "checks": ("Calibration", "PredictiveCheck", "calibrate", "predictive_check"),
    "measures": ("group_measures", "summaries"),
    "selection": ("Comparison", "compare"),
}
_WHERE = {name: package for package, names in _HOME.items() for name in names}

__all__ = [
    "ADVI",
    "MAP",
    "NUTS",
    "BasisOperator",
    "Bearing",
    "Bisquare",
    "Calibration",
    "Circle",
    "Circular",
    "Collection",
    "Comparison",
    "Couzin",
    "Custom",
    "Decisions",
    "Distance",
    "Effects",
    "Empirical",
    "EmpiricalMoves",
    "Fit",
    "Flat",
    "Flock",
    "Folded",
    "Fourier",
    "Gaussian",
    "Identity",
    "InputError",
    "Interval",
    "Laplace",
    "LocalMisalignment",
    "Model",
    "NeighboursWithin",
    "OutputError",
    "PassiveOperator",
    "Periodic",
    "PredictiveCheck",
    "Prior",
    "Product",
    "RandomWalk",
    "Rectangle",
    "RelativeSpeed",
    "Release",
    "Scene",
    "Score",
    "Smooth",
    "Solution",
    "Speed",
    "StateSpace",
    "Steps",
    "Tank",
    "TankSettings",
    "TargetDistance",
    "TargetMisalignment",
    "Term",
    "Terms",
    "Tracks",
    "Transitions",
    "TurnCoupled",
    "TurningAngle",
    "TurningMixture",
    "Turns",
    "Uniform",
    "Unknown",
    "Vicsek",
    "VonMises",
    "WalkMixture",
    "WallDistance",
    "__version__",
    "animate",
    "calibrate",
    "compare",
    "count_transitions",
    "decisions",
    "group_measures",
    "headings",
    "load_fit",
    "observed_steps",
    "observed_turns",
    "open_tracks",
    "policy",
    "predictive_check",
    "read_guppies",
    "read_tracks",
    "simulate",
    "simulate_decisions",
    "simulate_spp",
    "simulate_tank",
    "solve",
    "state_cost",
    "summaries",
    "write_report",
]


def __getattr__(name: str) -> Any:
    """The public name, from the package that holds it."""
    if name not in _WHERE:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    value = getattr(import_module(f"shoal.{_WHERE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
