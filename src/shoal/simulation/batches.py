"""Many groups at once: designs put side by side, run in batches, and taken apart again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import jax
import numpy as np
from jaxtyping import Float, Int

from shoal.precision import as_jax
from shoal.simulation.behaviour import Behaviour
from shoal.simulation.designs import Design
from shoal.simulation.program import Batch, Setting, run_groups
from shoal.system.progress import Report

MOST = 4_000_000
"""Animals times frames in a batch: 64 MB of places."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one group; ``origin`` and ``destination`` where decisions were recorded."""

    design: Design
    replicate: int
    positions: Float[np.ndarray, "moments individuals 2"]
    headings: Float[np.ndarray, "moments individuals"]
    stateless: int
    origin: Int[np.ndarray, "_ individuals"] | None = None
    destination: Int[np.ndarray, "_ individuals"] | None = None


@dataclass(frozen=True)
class Course:
    """How groups are run: what happens at walls, when they end, and whether decisions are kept.

    With ``apart``, every group runs in a program of its own, under its own names; with ``steps``
    animals choose how far they go.
    """

    walls: str = "reflect"
    stop: str = ""
    decisions: bool = False
    apart: bool = False
    steps: bool = False


def run_designs(
    behaviour: Behaviour,
    designs: Sequence[Design],
    replicates: int,
    seed: int,
    course: Course,
    report: Report,
) -> Iterator[Outcome]:
    """Every design as often as asked, in any order.

    A group's randomness is its own, whoever runs beside it: it comes from its label and the number
    of the replicate.
    """
    jobs = [
        (replicate * len(designs) + number, replicate, design)
        for replicate in range(replicates)
        for number, design in enumerate(designs)
    ]
    jobs.sort(key=lambda job: job[2].steps)  # a batch ends with its longest group
    names = _shared_names(designs)
    done = 0
    report("simulating", 0, len(jobs))
    for kind, mine in _alike(jobs, course.apart).items():
        animals = max(len(job[2].members) for job in mine)
        steps = _program_steps(max(job[2].steps for job in mine))
        size = max(1, min(len(mine), MOST // (animals * (steps + 1))))
        arena, fps = mine[0][2].arena, mine[0][2].fps
        members = names if names is not None else tuple(str(n) for n in range(animals))
        if course.apart:
            members = mine[0][2].members
        setting = Setting(
            members, fps, arena, kind[3], course.walls, course.stop, course.decisions, course.steps
        )
        for first in range(0, len(mine), size):
            part = mine[first : first + size]
            padded = part + [part[-1]] * (size - len(part))  # one shape, one compilation
            batch = _batch(padded, animals, steps, kind[2], seed)
            run = run_groups(behaviour, setting, batch, jax.random.key(seed))
            yield from _apart(part, jax.tree.map(np.asarray, run), course)
            done += len(part)
            report("simulating", done, len(jobs))


def _program_steps(steps: int) -> int:
    """Steps that a program has room for, so that lengths that are near each other share one.

    It stops after those that are needed.

    >>> [_program_steps(steps) for steps in (1, 40, 100, 1000)]
    [16, 48, 128, 1024]
    """
    room = 16
    while room < steps:
        room = room * 3 // 2 if room & (room - 1) == 0 else room // 3 * 4
    return room


def _shared_names(designs: Sequence[Design]) -> tuple[str, ...] | None:
    """The members' names, where all groups have the same."""
    names = {design.members for design in designs}
    return names.pop() if len(names) == 1 else None


def _alike(jobs: Sequence[Any], apart: bool) -> dict[Any, list[Any]]:
    """Groups that one program can run: of one arena, frame rate and set of landmarks."""
    kinds: dict[Any, list[Any]] = {}
    for job in jobs:
        design = job[2]
        label = design.label if apart else ""
        kinds.setdefault((design.arena, design.fps, tuple(design.places), label), []).append(job)
    return kinds


def _batch(
    jobs: Sequence[Any], animals: int, steps: int, landmarks: Sequence[str], seed: int
) -> Batch:
    """Groups side by side; those with fewer animals or frames are filled up with nobody."""
    count = len(jobs)
    positions = np.full((count, animals, 2), np.nan)
    headings = np.full((count, animals), np.nan)
    lengths, pace = np.zeros((steps, count, animals)), np.ones((count, animals))
    places = {name: np.full((steps, count, 2), np.nan) for name in landmarks}
    goal, reach = np.zeros((count, 2)), np.zeros(count)
    stamp, replicate = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for row, (_, copy, design) in enumerate(jobs):
        own = len(design.members)
        stamp[row], replicate[row] = crc32(design.label.encode()), copy
        start, moved = design.drawn(np.random.default_rng([seed, stamp[row], copy]))
        positions[row, :own], headings[row, :own] = start
        lengths[: design.steps, row, :own] = moved
        pace[row, :own] = design.speeds.typical(own)
        for name in landmarks:
            places[name][: design.steps, row] = design.places[name]
        if design.goal is not None:
            goal[row], reach[row] = design.goal, design.reach
    return Batch(
        as_jax(positions), as_jax(headings), as_jax(lengths), as_jax(pace),
        {name: as_jax(path) for name, path in places.items()},
        as_jax(goal), as_jax(reach), as_jax([job[0] for job in jobs]),
        as_jax(stamp), as_jax(replicate),
        as_jax(max(job[2].steps for job in jobs)),
    )  # fmt: skip


def _apart(jobs: Sequence[Any], run: Any, course: Course) -> Iterator[Outcome]:
    for row, (_, replicate, design) in enumerate(jobs):
        own = len(design.members)
        last = min(int(run.going[:, row].sum()), design.steps + 1)
        decided = [
            None if part is None else part[1:last, row, :own]
            for part in (run.origin, run.destination)
        ]
        angles = run.headings[:last, row, :own]
        if course.steps:
            angles = _onward(angles)
        yield Outcome(
            design,
            replicate,
            run.positions[:last, row, :own],
            angles,
            int(run.stateless[:last, row].sum()),
            *decided,
        )


def _onward(arriving: Float[np.ndarray, "moments individuals"]) -> Float[np.ndarray, "moments _"]:
    """Headings of the steps that follow each frame, from those of the steps that led there."""
    return np.concatenate([arriving[1:], np.full_like(arriving[-1:], np.nan)])
