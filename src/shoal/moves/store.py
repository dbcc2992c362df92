"""Decisions of tracks too many for memory, block by block, in this process or on workers.

Tracks are read twice: for the moves, by which candidates are spread, and for what these lead to.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from shoal.moves.joining import decided, joined
from shoal.moves.record import Decisions
from shoal.moves.sampling import Sample, Spread, spread_by
from shoal.moves.seen import AROUND, Seen, Window, check_frames, moves_in
from shoal.moves.specification import Turns
from shoal.states.perceiving import check_scene, warn_of_arena, warn_of_target
from shoal.states.recipe import Counting
from shoal.states.scene import frames_after, frames_before
from shoal.states.store import overview
from shoal.system.cluster import client_of, run_jobs
from shoal.system.progress import Report
from shoal.tracks import resting_until
from shoal.tracks.readers import Block, OpenTracks

EARLIER = 2
"""Frames before a decision whose headings it may need: that of the turn before, and its step."""


class Numbered(NamedTuple):
    """A block and its place among all: workers end in any order."""

    place: int
    block: Block


def decisions_of_store(
    store: OpenTracks, recipe: Counting, moves: Turns, cluster: Any, report: Report
) -> Decisions:
    """The same as of the tracks read whole."""
    if any(frames_before(part) is None for part in recipe.space.parts):
        store = store.uncut()  # nobody knows how far a user's function looks around
    blocks = [Numbered(place, block) for place, block in enumerate(store.blocks())]
    first = overview([block for _, block in blocks], recipe)
    warn_of_target(first, recipe)
    warn_of_arena(first, recipe)
    with client_of(cluster) as client:  # the same workers for both readings
        sampling = partial(_sampled, recipe=recipe, steps=moves.steps)
        samples = list(run_jobs(sampling, blocks, client, report, "moves"))
        spread = spread_by(moves, samples, recipe.space)
        reading = partial(_decided, recipe=recipe, spread=spread)
        found = dict(run_jobs(reading, blocks, client, report, "decisions"))
    return joined([part for place in sorted(found) for part in found[place]])


def _sampled(item: Numbered, recipe: Counting, *, steps: bool) -> Sample:
    return Sample.joined([Sample.of(seen) for seen in _seen(item.block, recipe, steps=steps)])


def _decided(item: Numbered, recipe: Counting, spread: Spread) -> tuple[int, list[Decisions]]:
    seen = _seen(item.block, recipe, steps=spread.moves.steps)
    return item.place, [decided(group, recipe, spread) for group in seen]


def _seen(block: Block, recipe: Counting, *, steps: bool) -> Iterator[Seen]:
    """The moves of a block: of whole groups, or of a run of frames of one."""
    for window in _windows(block, recipe):
        scene = recipe.scene(window.tracks)
        check_frames(scene)
        check_scene(scene, recipe)
        yield moves_in(window, scene, recipe, steps=steps)


def _windows(block: Block, recipe: Counting) -> Iterator[Window]:
    """With as many frames around as a decision depends on, and those in which an animal rested."""
    if block.frames is None:
        yield from (Window.whole(tracks) for tracks, _ in block.read())
        return
    parts = recipe.space.parts
    earlier = EARLIER + max((frames_before(part) or 0 for part in parts), default=0)
    later = max((frames_after(part) for part in parts), default=0)
    before = max(earlier + 1, AROUND + 1)
    after = 1 + max(recipe.heading_frames, later, 1 + AROUND)
    while True:
        ((tracks, own),) = block.read(before, after)
        first = max(own.start - earlier, 0)
        unknown = resting_until(tracks.positions, first, recipe.heading_frames, recipe.minimum_step)
        if recipe.tracker_headings or block.begins(before) or not np.any(unknown):
            break
        before *= 8  # an animal rests: its heading is from before the block
    yield Window(tracks, own, block.first - own.start)
