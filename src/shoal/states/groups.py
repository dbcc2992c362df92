"""The transitions of one group, whole or for each animal."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from shoal.errors import InputError
from shoal.states.perceiving import Perceived, perceive
from shoal.states.recipe import Counting
from shoal.states.transitions import Transitions
from shoal.tracks import Tracks
from shoal.tracks.splitting import group_facts


def count_group(
    tracks: Any, recipe: Counting, by: str | None = None, *, records: bool = False
) -> Iterator[tuple[Any, Transitions]]:
    """The transitions of one group, whole or for each animal, with their labels."""
    if not isinstance(tracks, Tracks):
        raise InputError("tracks and plain sequences of states cannot be counted together")
    perceived = perceive(recipe.scene(tracks), recipe)
    own = slice(0, len(tracks.positions))
    yield from labelled(perceived, recipe, tracks, own, by, records=records)


def labelled(
    perceived: Perceived,
    recipe: Counting,
    tracks: Tracks,
    own: slice,
    by: str | None,
    *,
    records: bool = False,
) -> Iterator[tuple[Any, Transitions]]:
    """The transitions that begin in some frames, of the group or of each animal."""
    taken = recipe.headings.of(tracks)
    facts = {tracks.group: group_facts(tracks.data)}
    parts = (
        [((tracks.group, name), perceived.of(n)) for n, name in enumerate(tracks.members)]
        if by == "individual"
        else [(tracks.group, perceived)]
    )
    for label, part in parts:
        counted = part.transitions(recipe, own, records=records)
        if counted.records is not None:
            counted = replace(counted, records=replace(counted.records, facts=facts))
        yield label, replace(counted, headings=taken)
