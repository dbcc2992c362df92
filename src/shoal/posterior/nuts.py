"""No-U-turn sampling in whitened coordinates, several chains in parallel."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Key

from shoal.errors import InputError
from shoal.posterior.approach import approach_to
from shoal.posterior.chains import Runner, Stage
from shoal.posterior.checkpoint import Checkpoint
from shoal.posterior.coordinates import Coordinates, inverses
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.finite import check_finite
from shoal.posterior.kernel import Chain, Visit, begin
from shoal.posterior.linear_coordinates import LinearCoordinates
from shoal.posterior.whitening import DenseWhitening, LowRankWhitening
from shoal.precision import as_jax
from shoal.system.progress import Report

OVERDISPERSED = 2.0
"""Chains that start farther apart than the posterior is wide can be seen to disagree."""

COORDINATES: dict[str, Any] = {
    kind.__name__: kind for kind in (DenseWhitening, LowRankWhitening, LinearCoordinates)
}


@dataclass(frozen=True)
class NUTS:
    """The no-U-turn sampler, exact up to Monte Carlo error.

    Parameters
    ----------
    warmup
        Draws per chain that adapt the sampler and are discarded.
    target_acceptance
        Raise it where divergences are reported. By default 0.8, or 0.95 where transitions are
        fitted and scales and passive dynamics are unknown, too.
    max_tree_depth
        At most 2^depth steps per draw.
    workers
        Chains run at a time; by default as many as there are cores.

    Examples
    --------
    >>> import shoal
    >>> space = shoal.StateSpace.discrete(2)
    >>> counts = shoal.count_transitions([[0, 1, 1, 0, 1, 1]], space)
    >>> careful = shoal.NUTS(warmup=200, target_acceptance=0.95)
    >>> model = shoal.Model(space, shoal.Uniform())
    >>> model.fit(counts, careful, chains=1, draws=20, progress=False).method
    'nuts'
    """

    warmup: int = 500
    target_acceptance: float | None = None
    max_tree_depth: int = 10
    workers: int | None = None

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.warmup < 50:
            raise InputError(f"NUTS needs a warm-up of 50 draws or more, got {self.warmup}")
        if self.target_acceptance is not None and not 0 < self.target_acceptance < 1:
            raise InputError(
                f"target acceptance lies between 0 and 1, got {self.target_acceptance}"
            )
        if self.workers is not None and self.workers < 1:
            raise InputError(f"at least 1 chain runs at a time, got workers={self.workers}")
        if not 1 <= self.max_tree_depth <= 20:
            raise InputError(f"a tree depth lies between 1 and 20, got {self.max_tree_depth}")


def nuts_draws(
    density: Density,
    settings: NUTS,
    shape: tuple[int, int],
    seed: int,
    report: Report,
    checkpoint: Checkpoint | None = None,
) -> Draws:
    """Draws (chains × draws) from the posterior.

    The first half of the warm-up runs in coordinates made from the Laplace approximation. The
    posterior's centre as it was found there makes better coordinates for the second half, which
    tunes the step size, and for the draws. Of decisions, draws of the Laplace approximation tell
    the centre at once, and half of the warm-up is all there is. What a checkpoint holds is not
    drawn again.
    """
    chains, draws = shape
    keys = jax.random.split(jax.random.key(seed), (3, chains))
    pilot, tuning = settings.warmup // 2, settings.warmup - settings.warmup // 2
    approach = approach_to(density)
    pilot = pilot if approach.pilot else 0
    accept = settings.target_acceptance or approach.target_acceptance
    runner = Runner(
        (accept, settings.max_tree_depth),
        settings.workers,
        chains * (pilot + tuning + draws),
        report,
        checkpoint,
    )

    def start(place: Float[Array, " unknowns"]) -> Chain:
        chain = begin(density, coordinates, place, accept)
        check_finite(density, coordinates.position(place), chain.state.logdensity)
        return chain

    coordinates = _kept(checkpoint, "first", density, lambda: approach.coordinates(report))
    starts = [start(_scatter(key, density)) for key in keys[0]]
    if pilot:
        stage = Stage("pilot", pilot, adapting=True)
        _, visits = runner.run(stage, density, coordinates, starts, keys[0])
        places = np.stack([visit.position[pilot // 2 :] for visit in visits])
        before = coordinates
        coordinates = _kept(
            checkpoint, "second", density, lambda: approach.recentred(before, places)
        )
        starts = [start(place) for place in inverses(coordinates, as_jax(places[:, -1]))]
    stage = Stage("tuning", tuning, adapting=True)
    adapted, _ = runner.run(stage, density, coordinates, starts, keys[1])
    stage = Stage("draws", draws, adapting=False)
    _, visits = runner.run(stage, density, coordinates, adapted, keys[2])
    return _collected(visits, adapted, settings)


def _kept(
    checkpoint: Checkpoint | None, name: str, density: Density, make: Callable[[], Coordinates]
) -> Coordinates:
    """Coordinates as a run began with them, in which alone its draws can go on."""
    if checkpoint is None:
        return make()
    given = {"basis": density.basis}
    arrays = checkpoint.read(f"coordinates-{name}")
    if arrays is not None:
        kind = COORDINATES[str(arrays.pop("kind"))]
        return kind(**given, **{key: as_jax(value) for key, value in arrays.items()})
    made = make()
    stored = {part.name: getattr(made, part.name) for part in fields(made)}
    arrays = {key: np.asarray(value) for key, value in stored.items() if key not in given}
    checkpoint.write(f"coordinates-{name}", {"kind": np.array(type(made).__name__), **arrays})
    return made


def _scatter(key: Key[Array, ""], density: Density) -> Float[Array, " unknowns"]:
    """A start for each chain, twice as spread out as the approximation says the posterior is."""
    return OVERDISPERSED * jax.random.normal(jax.random.fold_in(key, 2**31), (density.dimension,))


def _collected(visits: list[Visit], chains: list[Chain], settings: NUTS) -> Draws:
    together = jax.tree.map(lambda *parts: np.stack(parts), *visits)
    statistics = {name: values for name, values in together._asdict().items() if name != "position"}
    statistics["reached_max_tree_depth"] = together.tree_depth >= settings.max_tree_depth
    sizes = [float(jnp.exp(chain.step_size.log_step_size_avg)) for chain in chains]
    return Draws(
        positions=together.position,
        statistics=statistics,
        facts={"step_size": sizes, "warmup": settings.warmup},
    )
