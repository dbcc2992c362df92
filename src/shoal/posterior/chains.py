"""Chains in threads, chunk by chunk: progress is reported, draws are kept, Ctrl-C is heeded."""

import os
import time
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from threading import Event, Lock
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key

from shoal.posterior.checkpoint import Arrays, Checkpoint, part_name
from shoal.posterior.coordinates import Coordinates
from shoal.posterior.density import Density
from shoal.posterior.kernel import Chain, Visit, advance
from shoal.precision import as_jax
from shoal.system.progress import Report

CHUNK = 25
"""Draws in one call of the compiled program, at most."""

PAUSE = 0.4
"""Seconds that a call should take, so that a user who stops the work does not wait."""

SAVE_EVERY = 1.0
"""Seconds between two parts of a chain on disk, at least."""

PATIENCE = 1.2
"""Seconds that chains have to finish their chunk and save it when the work is stopped."""


def usable_cores() -> int:
    """The cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Stage(NamedTuple):
    """A stretch of draws with the same coordinates.

    Attributes
    ----------
    name
        Under which its parts are kept.
    length
        Draws of each chain.
    adapting
        Whether the step size is being learned.
    """

    name: str
    length: int
    adapting: bool


class Runner:
    """Moves all chains on, as many at a time as there are workers.

    Parameters
    ----------
    limits
        The target acceptance and the largest tree depth.
    total
        Draws of all stages and chains, for the report.
    checkpoint
        Where draws are kept, and found again; None keeps them in memory only.
    clock
        Seconds, as a function.
    """

    def __init__(
        self,
        limits: tuple[float, int],
        workers: int | None,
        total: int,
        report: Report,
        checkpoint: Checkpoint | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limits, self.workers = limits, workers or usable_cores()
        self.total, self.report = total, report
        self.checkpoint, self.clock = checkpoint, clock
        self.done, self.lock = 0, Lock()
        self.stopped = Event()

    def run(
        self,
        stage: Stage,
        density: Density,
        coordinates: Coordinates,
        chains: list[Chain],
        keys: Key[Array, " chain"],
    ) -> tuple[list[Chain], list[Visit]]:
        """Every chain after the stage, and what it visited."""

        def move(chain: Chain, keys: Key[Array, " chunk"], size: int) -> tuple[Chain, Visit]:
            adapting = as_jax(stage.adapting)
            return advance(density, coordinates, chain, keys, as_jax(size), adapting, *self.limits)

        def one(record: "_Record", key: Key[Array, ""]) -> None:
            size = 1
            while record.count < stage.length:
                if self.stopped.is_set():
                    break
                size = min(size, stage.length - record.count)
                begun = self.clock()
                chain, visit = move(record.chain, _draw_keys(key, record.count), size)
                record.add(chain, jax.tree.map(lambda x, n=size: np.asarray(x)[:n], visit))
                self._count(size)
                seconds = max(self.clock() - begun, 1e-6)
                size = int(np.clip(size * PAUSE / seconds, 1, CHUNK))
            record.save()

        records = [
            _Record(f"{stage.name}-{number}", chain, self.checkpoint, self.clock)
            for number, chain in enumerate(chains)
        ]
        self._count(sum(record.count for record in records))
        if any(record.count < stage.length for record in records):
            move(chains[0], _draw_keys(keys[0], 0), 0)  # compile once, not once in every thread
            self._in_threads(one, records, list(keys))
        return [record.chain for record in records], [record.visits() for record in records]

    def _in_threads(
        self, one: Callable[..., None], records: list["_Record"], keys: list[Key[Array, ""]]
    ) -> None:
        pool = ThreadPoolExecutor(self.workers)
        futures = [pool.submit(one, *pair) for pair in zip(records, keys, strict=True)]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
            for future in futures:
                if future.done():
                    future.result()
        except BaseException:
            self.stopped.set()  # the threads end, and save, after the chunk they are at
            pool.shutdown(wait=False, cancel_futures=True)
            with suppress(KeyboardInterrupt):  # a second Ctrl-C does not wait for that
                wait(futures, timeout=PATIENCE)
            raise
        pool.shutdown()

    def _count(self, size: int) -> None:
        with self.lock:
            self.done += size
            self.report("NUTS", self.done, self.total)


class _Record:
    """What one chain has visited in one stage, and which of it is on disk."""

    def __init__(
        self,
        name: str,
        start: Chain,
        checkpoint: Checkpoint | None,
        clock: Callable[[], float],
    ) -> None:
        self.name, self.chain, self.checkpoint, self.clock = name, start, checkpoint, clock
        self.count, self.kept, self.saved = 0, list[Visit](), clock()
        leaves, form = jax.tree.flatten(start)
        for part in checkpoint.parts(name) if checkpoint else ():
            visited: list[Any] = [part[name] for name in Visit._fields]
            self.kept.append(Visit(*visited))
            self.count += int(part["count"])
            places = [as_jax(part[f"chain{n}"]) for n in range(len(leaves))]
            self.chain = jax.tree.unflatten(form, places)
        self.on_disk, self.waiting = self.count, list[Visit]()

    def add(self, chain: Chain, visit: Visit) -> None:
        """Keep what was visited, and write it down from time to time."""
        self.chain = chain
        self.kept.append(visit)
        self.waiting.append(visit)
        self.count += visit.position.shape[0]
        if self.clock() - self.saved >= SAVE_EVERY:
            self.save()

    def save(self) -> None:
        """All draws so far are on disk when this returns."""
        if self.checkpoint is None or not self.waiting:
            self.waiting = []
            return
        arrays: Arrays = _joined(self.waiting)._asdict()
        arrays |= {
            f"chain{number}": np.asarray(leaf)
            for number, leaf in enumerate(jax.tree.leaves(self.chain))
        }
        arrays["count"] = np.asarray(self.count - self.on_disk)
        self.checkpoint.write(part_name(self.name, self.on_disk), arrays)
        self.on_disk, self.waiting, self.saved = self.count, [], self.clock()

    def visits(self) -> Visit:
        """All that was visited."""
        return _joined(self.kept)


def _joined(visits: list[Visit]) -> Visit:
    return jax.tree.map(lambda *parts: np.concatenate(parts), *visits)


def _draw_keys(key: Key[Array, ""], first: int) -> Key[Array, " chunk"]:
    """A key for every draw of a chunk, the same however draws are cut into chunks."""
    return jax.vmap(jax.random.fold_in, (None, 0))(key, first + jnp.arange(CHUNK))
