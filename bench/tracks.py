"""Reading and counting long Parquet: rows a second, memory, and what more workers bring.

    python bench/tracks.py                      10 million rows, one process
    python bench/tracks.py --rows 100e6         100 million rows, streamed
    python bench/tracks.py --rows 100e6 --workers 1 2 4 --kill

Groups of 10 animals with 1,000 frames each are made by this script; states are local and target
misalignment in 36 × 36 bins. Making the file is not timed. Memory is the largest resident set of
the process, imports and Parquet's buffers included.
"""

import argparse
import os
import resource
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

import shoal
from shoal.system.cluster import client_of

ANIMALS, FRAMES = 10, 1_000
SPACE = shoal.StateSpace(
    shoal.LocalMisalignment(bins=36), shoal.TargetMisalignment(target=(0.5, 0.5), bins=36)
)


def make(path: Path, rows: int) -> None:
    """A Parquet file of this many fixes: correlated random walks, a group after the other."""
    rng = np.random.default_rng(1)
    groups = max(1, rows // (ANIMALS * FRAMES))
    frame = np.repeat(np.arange(FRAMES, dtype=np.int32), ANIMALS)
    animal = np.tile(np.arange(ANIMALS, dtype=np.int16), FRAMES)
    writer = None
    for first in range(0, groups, 100):
        tables = []
        for group in range(first, min(first + 100, groups)):
            turn = rng.normal(0, 0.3, (FRAMES, ANIMALS)).cumsum(axis=0)
            step = 0.002 * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
            x, y = (0.5 + step.cumsum(axis=0)).reshape(-1, 2).T
            label = np.full(len(frame), group, dtype=np.int32)
            tables.append(
                pa.table({"group": label, "individual": animal, "frame": frame, "x": x, "y": y})
            )
        table = pa.concat_tables(tables)
        writer = writer or parquet.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table, row_group_size=1_000_000)
    if writer is not None:
        writer.close()


def measured(path: Path, cluster: Any = None) -> tuple[shoal.states.Transitions, float]:
    start = time.perf_counter()
    counts = shoal.count_transitions(shoal.open_tracks(path), SPACE, cluster=cluster)
    return counts, time.perf_counter() - start


def same(one: shoal.states.Transitions, other: shoal.states.Transitions) -> bool:
    pairs = ("origin", "destination", "count")
    equal = all(np.array_equal(getattr(one.pairs, n), getattr(other.pairs, n)) for n in pairs)
    return equal and one.dropped == other.dropped


def kill_one(client: Any, after: float) -> threading.Timer:
    """End one worker process in the middle of its work."""

    def strike() -> None:
        process = next(iter(client.run(os.getpid).values()))
        os.kill(process, signal.SIGKILL)
        print(f"    killed worker process {process}")

    timer = threading.Timer(after, strike)
    timer.start()
    return timer


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--rows", type=float, default=10e6)
    words.add_argument("--workers", type=int, nargs="*", default=[])
    words.add_argument("--kill", action="store_true", help="end a worker midway, too")
    words.add_argument("--folder", type=Path, default=None)
    chosen = words.parse_args()
    rows = int(chosen.rows)
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        path = Path(folder) / "tracks.parquet"
        make(path, rows)
        print(f"{rows:,} rows, {path.stat().st_size / 1e6:,.0f} MB of Parquet")
        alone, seconds = measured(path)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(
            f"one process: {seconds:.2f} s, {rows / seconds / 1e6:.2f} million rows a second, "
            f"peak {peak:.2f} GB, {alone.total:,} transitions"
        )
        times: dict[int, float] = {}
        for workers in chosen.workers:
            with client_of(workers) as client:
                client.submit(lambda: __import__("shoal").count_transitions).result()
                counts, times[workers] = measured(path, client)
            print(
                f"{workers} workers: {times[workers]:.2f} s, {rows / times[workers] / 1e6:.2f} "
                f"million rows a second, {times[min(times)] / times[workers]:.2f} times as fast as "
                f"{min(times)}, counts {'identical' if same(counts, alone) else 'DIFFERENT'}"
            )
        if chosen.kill:
            with client_of(2) as client:
                timer = kill_one(client, after=0.4 * min(times.values(), default=seconds))
                counts, spent = measured(path, client)
                timer.cancel()
            words_ = "identical" if same(counts, alone) else "DIFFERENT"
            print(f"2 workers, one killed midway: {spent:.2f} s, counts {words_}")


if __name__ == "__main__":
    main()
