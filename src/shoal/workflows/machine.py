"""What this machine has, and how fast it is: what ``shoal doctor`` tells."""

import os
import platform
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np

from shoal.system.memory import free_memory

NEEDED = {
    "jax": ("jax", "the mathematics"),
    "jaxlib": ("jaxlib", "its compiler"),
    "equinox": ("equinox", "models as functions"),
    "jaxtyping": ("jaxtyping", "shapes in signatures"),
    "blackjax": ("blackjax", "NUTS"),
    "optax": ("optax", "stochastic ADVI"),
    "numpy": ("numpy", "arrays"),
    "scipy": ("scipy", "sparse matrices, optimisers"),
    "xarray": ("xarray", "results with named axes"),
    "h5netcdf": ("h5netcdf", "fits on disk"),
    "h5py": ("h5py", "HDF5 files"),
    "arviz-stats": ("arviz_stats", "R-hat, effective draws, Pareto k̂"),
    "pandas": ("pandas", "tables"),
    "pyarrow": ("pyarrow", "Parquet, tables larger than memory"),
    "pyproj": ("pyproj", "longitude and latitude"),
    "dask": ("dask", "work on several processes"),
    "distributed": ("distributed", "work on several machines"),
    "matplotlib": ("matplotlib", "figures"),
    "imageio-ffmpeg": ("imageio_ffmpeg", "MP4 videos"),
    "pillow": ("PIL", "GIF videos"),
    "filelock": ("filelock", "one process at a time"),
    "psutil": ("psutil", "free memory"),
    "threadpoolctl": ("threadpoolctl", "one thread for each small job"),
    "typer": ("typer", "the command line"),
    "rich": ("rich", "tables and progress"),
}
"""What shoal cannot do without: how it is imported, and what for."""

OPTIONAL = {
    "jax-cuda13-plugin": ("fits on an NVIDIA GPU", "pip install 'jax[cuda13]'"),
    "jax-cuda12-plugin": ("the same, with older drivers", "pip install 'jax[cuda12]'"),
    "movement": ("label files of SLEAP (.slp), boxes of VIA", "pip install 'shoal[poses]'"),
    "shellingham": ("shoal --install-completion", "pip install shellingham"),
}
"""What some work needs: for what, and how to get it."""

KNOWN = 2.3451226479
"""The average cost of the flock of section 3, to ten digits."""

REFERENCE = "two cores of an AMD EPYC cloud server of 2023"
REFERENCE_MS = {"36 × 36": 0.07, "36 × 36 × 36": 1.1}
REFERENCE_COMPILING = 0.38
REFERENCE_FIT = (6.0, 12.0)
"""Seconds of NUTS, 4 chains of 1,000 draws, on 36 × 36 states there: compilation and drawing."""


@dataclass(frozen=True)
class Speed:
    """How long one value and gradient of the log posterior takes.

    Attributes
    ----------
    milliseconds
        By grid: the median over a good many.
    compiling
        Seconds until the first of them was compiled.
    fit
        Seconds that NUTS would take on the smaller grid, 4 chains of 1,000 draws, as a guess.
    """

    milliseconds: dict[str, float]
    compiling: float
    fit: float


def installed() -> dict[str, str | None]:
    """The version of each part that is needed; None where it is not there."""
    return {name: _version(name, module) for name, (module, _) in NEEDED.items()}


def missing_options() -> dict[str, tuple[str, str]]:
    """What is not there: for what it would be, and how to get it."""
    gpu = [name for name in OPTIONAL if name.startswith("jax-cuda")]
    has_gpu = any(_version(name) for name in gpu)
    return {
        name: words
        for name, words in OPTIONAL.items()
        if _version(name) is None and not (has_gpu and name in gpu)
    }


def _version(name: str, module: str | None = None) -> str | None:
    try:
        found = version(name)
    except PackageNotFoundError:
        return None
    return found if module is None or find_spec(module) is not None else None


def hardware() -> dict[str, Any]:
    """Of this machine, as JAX and the system see it."""
    import jax  # noqa: PLC0415  (slow to load)

    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "executable": sys.executable,
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count() or 1,
        "free_memory": free_memory(),
        "devices": [f"{one.platform}: {one.device_kind}" for one in jax.devices()],
        "gpu": any(one.platform == "gpu" for one in jax.devices()),
        "unused_gpu": shutil.which("nvidia-smi") is not None
        and all(one.platform != "gpu" for one in jax.devices()),
    }


def trouble() -> list[str]:
    """What is broken, a sentence each, found by trying it."""
    said = [
        f"{name} is not installed ({NEEDED[name][1]}): pip install {name}"
        for name, found in installed().items()
        if found is None
    ]
    for what, attempt in TRIED.items():
        try:
            wrong = attempt()
        except Exception as error:
            wrong = " ".join(f"{type(error).__name__}: {error}".split())
        if wrong:
            said.append(f"{what}: {wrong}")
    return said


def _double_precision() -> str:
    import jax.numpy as jnp  # noqa: PLC0415

    import shoal.precision  # noqa: F401, PLC0415

    kind = jnp.zeros(1).dtype
    return "" if kind == "float64" else f"JAX computes with {kind} instead of float64"


def _known_answer() -> str:
    from shoal.lmdp import solve  # noqa: PLC0415
    from shoal.passive import TurningMixture  # noqa: PLC0415
    from shoal.states import Circular, StateSpace  # noqa: PLC0415

    space = StateSpace(Circular("local_misalignment", bins=36))
    away = np.abs(space.axes[0].centres)
    cost = np.select([away < 5, away < 15, away < 25], [0.0, 2.5, 4.0], 5.0)
    found: Any = solve(TurningMixture().on(space), cost).average_cost
    close = abs(found - KNOWN) < 1e-9
    return "" if close else f"the flock's average cost is {KNOWN}, here {found:.10f}"


def _encoder() -> str:
    from imageio_ffmpeg import get_ffmpeg_exe  # noqa: PLC0415

    get_ffmpeg_exe()
    return ""


TRIED: dict[str, Callable[[], str]] = {
    "double precision": _double_precision,
    "a problem whose answer is known": _known_answer,
    "the video encoder": _encoder,
}
"""Each gives what is wrong, or nothing."""


def speed(seconds: float = 0.6) -> Speed:
    """Measure this machine, for so many seconds on each grid."""
    first, small = _timed(2, seconds)
    _, large = _timed(3, seconds)
    found = dict(zip(REFERENCE_MS, (small, large), strict=True))
    compiling, drawing = REFERENCE_FIT
    share = 2 / min(4, hardware()["cores"])  # chains run side by side
    guess = compiling * first / REFERENCE_COMPILING
    guess += drawing * share * small / REFERENCE_MS["36 × 36"]
    return Speed(found, first, guess)


def _timed(axes: int, seconds: float) -> tuple[float, float]:
    """Seconds to compile the gradient on 36 to the power of ``axes`` states, and its ms."""
    import jax  # noqa: PLC0415

    from shoal.basis import Identity  # noqa: PLC0415
    from shoal.passive import RandomWalk  # noqa: PLC0415
    from shoal.posterior import Model  # noqa: PLC0415
    from shoal.states import Circular, StateSpace, Transitions  # noqa: PLC0415

    space = StateSpace(*(Circular(f"axis{n}", bins=36) for n in range(axes)))
    rng = np.random.default_rng(1)
    pairs = rng.integers(space.size, size=(2, 20_000))
    density: Any = Model(space, RandomWalk(90.0), Identity()).density(
        Transitions.from_pairs(pairs[0], pairs[1], space)
    )
    place = jax.numpy.asarray(rng.normal(size=density.dimension))
    gradient = jax.jit(jax.value_and_grad(density.log_posterior))
    begun = time.perf_counter()
    compiled = gradient.lower(place).compile()
    first = time.perf_counter() - begun
    jax.block_until_ready(compiled(place))
    times: list[float] = []
    begun = time.perf_counter()
    while time.perf_counter() - begun < seconds or len(times) < 5:
        start = time.perf_counter()
        jax.block_until_ready(compiled(place))
        times.append(time.perf_counter() - start)
    return first, 1e3 * float(np.median(times))
