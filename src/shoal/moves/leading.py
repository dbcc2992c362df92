"""What every move that an animal could have made would have led to, all others as it saw them."""

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from shoal.angles import difference
from shoal.moves.record import Decisions
from shoal.moves.sampling import Spread
from shoal.moves.seen import Seen
from shoal.moves.sharing import located, shares
from shoal.moves.specification import Steps, Turns
from shoal.states import Records, Scene, SpeedFeature
from shoal.states.recipe import Counting
from shoal.tracks import Circle, Rectangle
from shoal.tracks.splitting import group_facts

BLOCK = 1 << 20
"""Candidate moves that are looked at together."""


def with_candidates(group: Seen, recipe: Counting, found: Spread) -> Decisions:
    """The decisions of one group, each with what its candidates lead to.

    Where that follows from what was perceived, there is no table yet: see ``sharing.py``.
    """
    moves, spread, grid = found.moves, found.quadrature, found.grid
    leads = recipe.space if grid is None else grid.space
    count, kinds = len(group.turn), len(recipe.space.parts)
    later = shares(recipe.space, steps=moves.steps)
    k, level, log_before = len(spread.turn), np.zeros(count), np.zeros(count)
    if isinstance(moves, Steps):
        level, log_before = moves.levels(group.step_before), np.log(group.step_before / group.pace)
    which = spread.set_of(group.frame + group.first, group.animal, level)
    states = np.empty((0 if later else count, k), dtype=np.int32)
    possible = np.ones(states.shape, dtype=bool)
    decided = np.empty((count, kinds))
    end = np.empty(count, dtype=np.int32)
    seen = _others(group, moves)
    rows_each = max(1, BLOCK // (k * max(1, seen.positions.shape[1])))
    for start in range(0, count, rows_each):
        rows = slice(start, min(start + rows_each, count))
        turns, lengths = group.turn[rows, None], group.step[rows, None]
        if not later:
            turns = np.column_stack([turns, spread.turns(group.turn_before[rows], which[rows])])
        if moves.steps:
            more = spread.step_lengths(log_before[rows], which[rows])
            lengths = np.column_stack([lengths, group.pace[rows, None] * more])
        else:
            lengths = np.zeros_like(turns)
        values, allowed = _decided(group, seen, recipe, rows, turns, lengths, steps=moves.steps)
        decided[rows], end[rows] = values[:, 0], located(recipe.space, list(values[:, 0].T))
        if not later:
            where = located(leads, list(np.moveaxis(values[:, 1:], 2, 0)))
            states[rows] = np.maximum(where, 0)
            possible[rows] = (where >= 0) & allowed[:, 1:]
    fine = end >= 0 if later else (end >= 0) & possible.any(axis=1)
    dropped = group.dropped | {"decided state undefined": int((~fine).sum())}
    names = group.tracks.members
    records = Records.of_group(
        (group.origin, end), group.frame + group.first, group.animal, group.tracks.group, names
    )
    records = replace(records, facts={group.tracks.group: group_facts(group.tracks.data)})
    whole = Decisions(
        space=recipe.space,
        moves=moves,
        records=records,
        perceived=group.perceived,
        decided=decided,
        turn=group.turn,
        step=group.step,
        turn_before=group.turn_before,
        step_before=group.step_before,
        pace=group.pace,
        candidate_states=states,
        possible=None if possible.all() else possible,
        which=which,
        row=np.zeros(count, dtype=np.int32) if later else None,
        quadrature=spread,
        grid=grid,
        headings=recipe.headings.of(group.tracks),
    )
    if not fine.all():
        whole = whole.take(fine)
    if whole.possible is not None and whole.possible.all():
        whole = replace(whole, possible=None)
    return replace(whole, dropped=dropped, fixes=group.fixes)


def _others(group: Seen, moves: Turns) -> Scene:
    """Everybody as an animal sees them when it decides."""
    scene = group.scene
    if not isinstance(moves, Steps) or moves.others == "still":
        return scene
    names = group.tracks.individuals
    places = group.tracks.positions[:, [names.index(name) for name in scene.members]]
    ahead = scene.positions + _known(scene.shortest(places[1:-1] - places[:-2]))
    members = {name: ahead[:, n] for n, name in enumerate(scene.members)}
    return replace(scene, positions=ahead, places={**scene.places, **members})


def _known(steps: np.ndarray) -> np.ndarray:
    """Steps, none where there is none."""
    return np.nan_to_num(steps, nan=0.0)


def _decided(
    group: Seen,
    seen: Scene,
    recipe: Counting,
    rows: slice,
    turns: Float[np.ndarray, "n moves"],
    lengths: Float[np.ndarray, "n moves"],
    *,
    steps: bool,
) -> tuple[Float[np.ndarray, "n moves features"], Bool[np.ndarray, "n moves"]]:
    """The value of every feature after each move, and which moves stay within the walls."""
    frame, animal = group.frame[rows], group.animal[rows]
    own = group.scene.headings[frame, animal]
    headings = np.asarray(difference(own[:, None] + turns, 0.0))
    place = group.scene.positions[frame, animal]
    angle = np.deg2rad(headings)
    places = place[:, None] + lengths[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=2)
    parts: Any = recipe.space.parts
    values = np.empty((*turns.shape, len(parts)))
    for number, part in enumerate(parts):
        if not steps and part.turn in (-1, 0):
            value = group.perceived[rows, number]
            values[..., number] = difference(value[:, None], turns) if part.turn else value[:, None]
        elif isinstance(part, SpeedFeature):
            one = _first_in_rows(seen, frame, animal)
            values[..., number] = part.of_lengths(one, lengths[:, None])[:, 0]
        else:
            values[..., number] = _of_one(part, seen, frame, animal, places, headings)
    allowed = np.ones(turns.shape, dtype=bool)
    if steps and isinstance(seen.arena, Rectangle | Circle):
        allowed = seen.arena.holds(places)
    return values, allowed


def _of_one(
    part: Any,
    scene: Scene,
    frame: Int[np.ndarray, " n"],
    animal: Int[np.ndarray, " n"],
    places: Float[np.ndarray, "n moves 2"],
    headings: Float[np.ndarray, "n moves"],
) -> Float[np.ndarray, "n moves"]:
    """A feature of one animal in each of several frames, after each of its moves."""
    small, members = _first_in_rows(scene, frame, animal), scene.members
    target = getattr(part, "target", None)
    found = np.asarray(part.decided(small, places[:, None], headings[:, None]))[:, 0]
    if isinstance(target, str) and target in members:  # nobody is its own goal
        found = np.where((animal == members.index(target))[:, None], np.nan, found)
    return found


def _first_in_rows(
    scene: Scene, frame: Int[np.ndarray, " n"], animal: Int[np.ndarray, " n"]
) -> Scene:
    """Every row becomes a frame of its own in which the deciding animal comes first."""
    count = scene.positions.shape[1]
    order = np.argsort(np.arange(count)[None] != animal[:, None], axis=1, kind="stable")
    rows = np.arange(len(frame))[:, None]
    return replace(
        scene,
        positions=scene.positions[frame][rows, order],
        headings=scene.headings[frame][rows, order],
        lengths=None if scene.lengths is None else scene.lengths[frame][rows, order],
        places={name: path[frame] for name, path in scene.places.items()},
        members=(),
    )
