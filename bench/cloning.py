"""Behavioural cloning of decisions: a small neural network in the place of the costs.

It has the inputs that costs have (the decided state of every candidate, at the centre of its bin)
and what was perceived besides, and the same passive moves; it says nothing about uncertainty.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from shoal.moves import AloneFamily, MoveFamily
from shoal.passive.estimating import most_probable
from shoal.selection.zones import passive_weights
from shoal.states import Circular, Folded

WIDTH, BATCH, EPOCHS, PATIENCE = 32, 512, 60, 6


def cloned(seen: Any, held: Any, seed: int = 1) -> np.ndarray:
    """The log density of every held-out move, learned from other decisions.

    The last fifth of every group's decisions to learn from says when to stop.
    """
    train, check = seen.split_time(0.8)
    u = most_probable(AloneFamily.of(seen.moves, seen.places, seen.candidates), seen.moved)
    centre, scale = _ruler(train)

    def batch_of(part: Any) -> tuple[Any, ...]:
        weights = np.log(np.maximum(passive_weights(part, u), 1e-300)).astype(np.float32)
        states = np.column_stack([part.ends, part.states])
        perceived = ((_features(part.space, part.perceived) - centre) / scale).astype(np.float32)
        return states, perceived, weights

    values = np.stack(
        [
            grid.ravel()
            for grid in np.meshgrid(*(a.centres for a in seen.places.axes), indexing="ij")
        ],
        axis=1,
    )
    table = jnp.asarray((_features(seen.places, values) - centre) / scale, dtype=jnp.float32)

    def logs(weights: Any, states: Any, perceived: Any, log_weights: Any) -> Any:
        around = jnp.broadcast_to(perceived[:, None], (*states.shape, perceived.shape[1]))
        wanted = _network(weights, jnp.concatenate([table[states], around], axis=-1))
        spread = jax.scipy.special.logsumexp(wanted[:, 1:] + log_weights, axis=1)
        return wanted[:, 0] - spread

    @jax.jit
    def step(weights: Any, memory: Any, *batch: Any) -> tuple[Any, Any]:
        slope = jax.grad(lambda w: -jnp.mean(logs(w, *batch)))(weights)
        change, memory = rule.update(slope, memory, weights)
        return optax.apply_updates(weights, change), memory

    several = jax.jit(logs)

    def mean(weights: Any, part: tuple[Any, ...]) -> np.ndarray:
        """Log gain over passive moves of every decision, some at a time."""
        rows = len(part[0])
        found = [
            several(weights, *(each[i : i + BATCH] for each in part)) for i in range(0, rows, BATCH)
        ]
        return np.concatenate([np.asarray(each) for each in found])

    rule = optax.adamw(3e-3, weight_decay=1e-3)
    rng = np.random.default_rng(seed)
    weights = _start(rng, 2 * table.shape[1])
    memory = rule.init(weights)
    learned, watched = batch_of(train), batch_of(check)
    best, kept, waited = float(mean(weights, watched).mean()), weights, 0
    for _ in range(EPOCHS):
        order = rng.permutation(train.total)
        size = min(BATCH, train.total)
        for i in range(0, train.total - size + 1, size):
            some = order[i : i + size]
            weights, memory = step(weights, memory, *(each[some] for each in learned))
        now = float(mean(weights, watched).mean())
        best, kept, waited = (now, weights, 0) if now > best else (best, kept, waited + 1)
        if waited >= PATIENCE:
            break
    family = MoveFamily.of(held.moves, held.places, held.candidates_for(seen.moves))
    passive = np.asarray(family.at(jnp.asarray(u)).log_density(held.moved))
    return passive + mean(kept, batch_of(held))


def _features(space: Any, values: np.ndarray) -> np.ndarray:
    """Sine and cosine of angles, lengths and their logarithms."""
    columns = []
    for number, axis in enumerate(space.axes):
        value = values[:, number]
        if isinstance(axis, Circular | Folded):
            columns += [np.cos(np.deg2rad(value)), np.sin(np.deg2rad(value))]
        else:
            value = np.clip(value, axis.centres[0], axis.centres[-1])
            columns += [value, np.log(value)]
    return np.stack(columns, axis=1)


def _ruler(part: Any) -> tuple[np.ndarray, np.ndarray]:
    found = _features(part.space, part.perceived)
    return found.mean(axis=0), np.maximum(found.std(axis=0), 1e-6)


def _start(rng: np.random.Generator, inputs: int) -> list[tuple[Any, Any]]:
    """He's initial weights; the last layer begins at nothing, so that the start is passive."""
    found = []
    for before, after in ((inputs, WIDTH), (WIDTH, WIDTH)):
        matrix = rng.normal(0, np.sqrt(2 / before), (before, after))
        found.append((jnp.asarray(matrix, jnp.float32), jnp.zeros(after, jnp.float32)))
    return [*found, (jnp.zeros((WIDTH, 1), jnp.float32), jnp.zeros(1, jnp.float32))]


def _network(weights: list[tuple[Any, Any]], inputs: Any) -> Any:
    for matrix, shift in weights[:-1]:
        inputs = jax.nn.relu(inputs @ matrix + shift)
    return (inputs @ weights[-1][0] + weights[-1][1])[..., 0]
