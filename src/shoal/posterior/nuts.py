"""No-U-turn sampling in whitened coordinates, several chains in parallel."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event, Lock
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key

from shoal.errors import InputError
from shoal.posterior.density import Density
from shoal.posterior.draws import Draws
from shoal.posterior.hierarchy import Hierarchy
from shoal.posterior.linear_coordinates import LinearCoordinates
from shoal.posterior.marginal import gaussian_around, marginal_top
from shoal.posterior.mode import rough_mode
from shoal.posterior.whitening import Whitening, whitening
from shoal.progress import Report

Target = Density | Hierarchy
Coordinates = Whitening | LinearCoordinates

CHUNK = 25
"""Draws between two reports of progress; one compiled program runs them all."""


@dataclass(frozen=True)
class NUTS:
    """The no-U-turn sampler, exact up to Monte Carlo error.

    Parameters
    ----------
    warmup
        Draws per chain that adapt the sampler and are discarded.
    target_acceptance
        Raise it where divergences are reported. By default 0.8, or 0.95 where scales and passive
        dynamics are unknown, too.
    max_tree_depth
        At most 2^depth steps per draw.
    workers
        Chains run at a time; by default as many as there are cores.
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


def acceptance(settings: NUTS, density: Target) -> float:
    """The target acceptance, chosen by what is unknown where it is not given."""
    if settings.target_acceptance is not None:
        return settings.target_acceptance
    return 0.95 if isinstance(density, Hierarchy) else 0.8


class Chain(NamedTuple):
    """What the next draw of a chain needs."""

    state: Any
    step_size: Any


class Visit(NamedTuple):
    """What is kept of one draw."""

    position: Float[Array, " unknowns"]
    log_posterior: Float[Array, ""]
    energy: Float[Array, ""]
    acceptance_rate: Float[Array, ""]
    diverging: Bool[Array, ""]
    n_steps: Int[Array, ""]
    tree_depth: Int[Array, ""]


def nuts_draws(
    density: Target, settings: NUTS, shape: tuple[int, int], seed: int, report: Report
) -> Draws:
    """Draws (chains × draws) from the posterior.

    The first half of the warm-up runs in coordinates made from the Laplace approximation. The
    posterior's centre as it was found there makes better coordinates for the second half, which
    tunes the step size, and for the draws.
    """
    chains, draws = shape
    keys = jax.random.split(jax.random.key(seed), (3, chains))
    pilot, tuning = settings.warmup // 2, settings.warmup - settings.warmup // 2
    runner = _Runner(settings, chains * (settings.warmup + draws), report)

    coordinates = _first_coordinates(density, report)
    starts = [begin(density, coordinates, _scatter(key, density), settings) for key in keys[0]]
    _, visits = runner.run(density, coordinates, starts, keys[0], pilot, adapting=True)
    places = np.stack([visit.position[pilot // 2 :] for visit in visits])

    coordinates = _recentred(density, coordinates, places)
    starts = [
        begin(density, coordinates, coordinates.inverse(jnp.asarray(place[-1])), settings)
        for place in places
    ]
    adapted, _ = runner.run(density, coordinates, starts, keys[1], tuning, adapting=True)
    _, visits = runner.run(density, coordinates, adapted, keys[2], draws, adapting=False)
    return _collected(visits, adapted, settings)


def _first_coordinates(density: Target, report: Report) -> Coordinates:
    """From the mode of the coefficients at the most probable other unknowns."""
    if isinstance(density, Hierarchy):
        top = marginal_top(density, report)
        return LinearCoordinates.of(density, gaussian_around(density, top, report))
    mode, t, _ = rough_mode(density)
    return whitening(density, density.join(mode.beta, jnp.asarray(np.float64(t))))


def _recentred(
    density: Target, before: Coordinates, places: Float[np.ndarray, "chain draw unknowns"]
) -> Coordinates:
    """From the means of what the pilot draws found."""
    if isinstance(density, Hierarchy):
        assert isinstance(before, LinearCoordinates)
        return before.adapted(places)
    spread = float(places[..., -1].std()) if density.prior.unknowns else None
    return whitening(density, jnp.asarray(places.mean(axis=(0, 1))), spread)


def _scatter(key: Key[Array, ""], density: Target) -> Float[Array, " unknowns"]:
    """A start for each chain, as spread out as the approximation says the posterior is."""
    return jax.random.normal(jax.random.fold_in(key, 2**31), (density.dimension,))


def usable_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Runner:
    """Runs chains in threads, chunk by chunk, and reports how far they are."""

    def __init__(self, settings: NUTS, total: int, report: Report) -> None:
        self.settings, self.total, self.report = settings, total, report
        self.done, self.lock = 0, Lock()
        self.workers = settings.workers or usable_cores()
        self.stopped = Event()

    def run(
        self,
        density: Target,
        coordinates: Coordinates,
        chains: list[Chain],
        keys: Key[Array, " chain"],
        count: int,
        *,
        adapting: bool,
    ) -> tuple[list[Chain], list[Visit]]:
        """Every chain moved on by ``count`` draws, and what it visited."""

        def move(chain: Chain, keys: Key[Array, " chunk"], size: int) -> tuple[Chain, Visit]:
            return advance(
                density,
                coordinates,
                chain,
                keys,
                jnp.asarray(size),
                jnp.asarray(adapting),
                acceptance(self.settings, density),
                self.settings.max_tree_depth,
            )

        def one(chain: Chain, key: Key[Array, ""]) -> tuple[Chain, Visit]:
            kept = []
            for first in range(0, count, CHUNK):
                if self.stopped.is_set():
                    raise KeyboardInterrupt
                size = min(CHUNK, count - first)
                chain, visit = move(chain, _draw_keys(key, first), size)
                kept.append(jax.tree.map(lambda x, n=size: np.asarray(x)[:n], visit))
                self._count(size)
            return chain, jax.tree.map(lambda *parts: np.concatenate(parts), *kept)

        move(chains[0], _draw_keys(keys[0], 0), 0)  # compile once, not once in every thread
        with ThreadPoolExecutor(self.workers) as pool:
            try:
                results = list(pool.map(one, chains, list(keys)))
            except BaseException:
                self.stopped.set()  # the threads end after the chunk they are at
                raise
        return [chain for chain, _ in results], [visit for _, visit in results]

    def _count(self, size: int) -> None:
        with self.lock:
            self.done += size
            self.report("NUTS", self.done, self.total)


def _draw_keys(key: Key[Array, ""], first: int) -> Key[Array, " chunk"]:
    """A key for every draw of a chunk, the same however draws are cut into chunks."""
    return jax.vmap(jax.random.fold_in, (None, 0))(key, first + jnp.arange(CHUNK))


def _target(density: Target, coordinates: Coordinates) -> Callable[[Array], Array]:
    """The log posterior as a function of u."""
    return lambda u: density.log_posterior(coordinates.position(u)) + coordinates.log_volume(u)


@eqx.filter_jit
def begin(
    density: Target, coordinates: Coordinates, u: Float[Array, " unknowns"], settings: NUTS
) -> Chain:
    """A chain at u, with a first guess of the step size."""
    import blackjax  # noqa: PLC0415  (slow to load, and only needed here)
    from blackjax.adaptation.step_size import dual_averaging_adaptation  # noqa: PLC0415

    state = blackjax.nuts.init(u, _target(density, coordinates))
    start, _, _ = dual_averaging_adaptation(acceptance(settings, density))
    chain = Chain(state, start(1.2 * u.size**-0.25))
    # types that do not change from draw to draw, or the sampler would be compiled twice
    return jax.tree.map(
        lambda leaf: jax.lax.convert_element_type(leaf, jnp.asarray(leaf).dtype), chain
    )


@eqx.filter_jit
def advance(
    density: Target,
    coordinates: Coordinates,
    chain: Chain,
    keys: Key[Array, " chunk"],
    count: Int[Array, ""],
    adapting: Bool[Array, ""],
    target_acceptance: float,
    max_tree_depth: int,
) -> tuple[Chain, Visit]:
    """The chain after ``count`` draws, one for each key, and what it visited.

    While adapting, the step size of each draw is learned from the one before; afterwards it is
    the average that the adaptation arrived at.
    """
    import blackjax  # noqa: PLC0415  (slow to load, and only needed here)
    from blackjax.adaptation.step_size import dual_averaging_adaptation  # noqa: PLC0415

    target = _target(density, coordinates)
    kernel = blackjax.nuts.build_kernel()
    _, learn, _ = dual_averaging_adaptation(target_acceptance)
    metric = jnp.ones(density.dimension)

    def draw(chain: Chain, key: Key[Array, ""]) -> tuple[Chain, Visit]:
        tuner = chain.step_size
        step_size = jnp.exp(jnp.where(adapting, tuner.log_step_size, tuner.log_step_size_avg))
        state, info = kernel(key, chain.state, target, step_size, metric, max_tree_depth)
        learned = learn(tuner, info.acceptance_rate)
        tuner = jax.tree.map(lambda new, old: jnp.where(adapting, new, old), learned, tuner)
        visit = Visit(
            coordinates.position(state.position),
            state.logdensity - coordinates.log_volume(state.position),
            info.energy,
            info.acceptance_rate,
            info.is_divergent,
            jnp.asarray(info.num_integration_steps),
            jnp.asarray(info.num_trajectory_expansions),
        )
        return Chain(state, tuner), visit

    def maybe(chain: Chain, item: tuple[Array, Array]) -> tuple[Chain, Visit]:
        number, key = item
        _, blank = jax.eval_shape(draw, chain, key)
        rest = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), blank)
        return jax.lax.cond(number < count, lambda: draw(chain, key), lambda: (chain, rest))

    return jax.lax.scan(maybe, chain, (jnp.arange(keys.shape[0]), keys))


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
