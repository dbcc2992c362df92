"""Transitions of tracks too many for memory, block by block: counts add up, in any order."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from shoal.states.groups import count_group, labelled
from shoal.states.perceiving import perceive, warn_of_arena, warn_of_target
from shoal.states.recipe import Counting
from shoal.states.scene import Scene, frames_after, frames_before
from shoal.states.transitions import Transitions
from shoal.system.cluster import run_jobs
from shoal.system.progress import Report
from shoal.tracks import resting_until
from shoal.tracks.readers import Block, OpenTracks

Parts = list[tuple[Any, Transitions]]


def count_store(
    store: OpenTracks, recipe: Counting, by: str | None, cluster: Any, report: Report
) -> Iterator[tuple[Any, Transitions]]:
    """The transitions of every block, with their labels where they are wanted apart."""
    if any(frames_before(part) is None for part in recipe.space.parts):
        store = store.uncut()  # nobody knows how far a user's function looks around
    blocks = store.blocks()
    scene = overview(blocks, recipe)
    warn_of_target(scene, recipe)
    warn_of_arena(scene, recipe)
    job = partial(count_block, recipe=recipe, by=by)
    for parts in run_jobs(job, blocks, cluster, report, "counting"):
        yield from parts


def overview(blocks: list[Block], recipe: Counting) -> Scene:
    """Some frames of the first group, from all over it: enough to see where its animals were."""
    first = [block for block in blocks if block.groups == blocks[0].groups]
    some = first[:: max(1, len(first) // 8)]
    scenes = [recipe.scene(next(iter(block.read()))[0]) for block in some]
    return replace(
        scenes[0],
        positions=np.concatenate([scene.positions for scene in scenes]),
        headings=np.concatenate([scene.headings for scene in scenes]),
        lengths=None,
        places={},
    )


def count_block(block: Block, recipe: Counting, by: str | None = None) -> Parts:
    """The transitions that begin in a block: whole groups, or a run of frames of one."""
    if block.frames is None:
        parts = [part for tracks, _ in block.read() for part in count_group(tracks, recipe, by)]
    else:
        parts = _count_run(block, recipe, by)
    if by is None:
        return [(None, Transitions.summed((counted for _, counted in parts), recipe.space))]
    return parts


def _count_run(block: Block, recipe: Counting, by: str | None) -> Parts:
    """As if the whole group had been read: with as many frames around as states depend on."""
    features = recipe.space.parts
    memory = max((frames_before(part) or 0 for part in features), default=0)
    reach = max((frames_after(part) for part in features), default=0)
    before = memory + 1
    after = recipe.lag + max(recipe.heading_frames, reach)
    while True:
        ((tracks, own),) = block.read(before, after)
        first = max(own.start - memory, 0)
        unknown = resting_until(tracks.positions, first, recipe.heading_frames, recipe.minimum_step)
        if recipe.tracker_headings or block.begins(before) or not unknown.any():
            break
        before *= 8  # an animal rests: its heading is from before the block
    perceived = perceive(recipe.scene(tracks), recipe)
    perceived = replace(perceived, first=block.first - own.start)
    return list(labelled(perceived, recipe, tracks, own, by))
