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
        Fourier,
        Gaussian,
        Identity,
        Product,
        VonMises,
    )
    from shoal.lmdp import Solution, policy, solve, state_cost
    from shoal.passive import PassiveOperator, RandomWalk, TurningMixture, Uniform
    from shoal.posterior import (
        ADVI,
        MAP,
        NUTS,
        Fit,
        Laplace,
        Model,
        Prior,
        load_fit,
    )
    from shoal.simulation import simulate_decisions
    from shoal.states import (
        Bearing,
        Circular,
        Custom,
        Distance,
        Folded,
        Interval,
        LocalMisalignment,
        NeighboursWithin,
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
    "passive": ("PassiveOperator", "RandomWalk", "TurningMixture", "Uniform"),
    "lmdp": ("Solution", "policy", "solve", "state_cost"),
    "basis": (
        "BasisOperator",
        "Bisquare",
        "Fourier",
        "Gaussian",
        "Identity",
        "Product",
        "VonMises",
    ),
    "posterior": ("ADVI", "MAP", "NUTS", "Fit", "Laplace", "Model", "Prior", "load_fit"),
    "simulation": ("simulate_decisions",),
    "tracks.readers": (
        "open_tracks",
        "read_guppies",
        "read_tracks",
    ),
}
_WHERE = {name: package for package, names in _HOME.items() for name in names}

__all__ = [
    "ADVI",
    "MAP",
    "NUTS",
    "BasisOperator",
    "Bearing",
    "Bisquare",
    "Circle",
    "Circular",
    "Collection",
    "Custom",
    "Distance",
    "Fit",
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
    "Prior",
    "Product",
    "RandomWalk",
    "Rectangle",
    "Scene",
    "Solution",
    "Speed",
    "StateSpace",
    "TargetDistance",
    "TargetMisalignment",
    "Tracks",
    "Transitions",
    "TurningAngle",
    "TurningMixture",
    "Uniform",
    "VonMises",
    "WallDistance",
    "__version__",
    "count_transitions",
    "headings",
    "load_fit",
    "open_tracks",
    "policy",
    "read_guppies",
    "read_tracks",
    "simulate_decisions",
    "solve",
    "state_cost",
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
