"""One draw after the other: the no-U-turn kernel as a compiled program."""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from shoal.posterior.coordinates import Coordinates
from shoal.posterior.density import Density


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


def _target(density: Density, coordinates: Coordinates) -> Callable[[Array], Array]:
    """The log posterior as a function of u."""
    return lambda u: density.log_posterior(coordinates.position(u)) + coordinates.log_volume(u)


@eqx.filter_jit
def begin(
    density: Density,
    coordinates: Coordinates,
    u: Float[Array, " unknowns"],
    target_acceptance: float,
) -> Chain:
    """A chain at u, with a first guess of the step size."""
    import blackjax  # noqa: PLC0415  (slow to load, and only needed here)
    from blackjax.adaptation.step_size import dual_averaging_adaptation  # noqa: PLC0415

    state = blackjax.nuts.init(u, _target(density, coordinates))
    start, _, _ = dual_averaging_adaptation(target_acceptance)
    chain = Chain(state, start(1.2 * u.size**-0.25))
    # types that do not change from draw to draw, or the sampler would be compiled twice
    return jax.tree.map(
        lambda leaf: jax.lax.convert_element_type(leaf, jnp.asarray(leaf).dtype), chain
    )


@eqx.filter_jit
def advance(
    density: Density,
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
