"""Passive moves taken from tracks: of animals alone, of a control, or of the tracks themselves."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.moves.empirical import EmpiricalMoves
from shoal.moves.seen import Seen, Window, check_frames, moves_in
from shoal.moves.specification import Steps
from shoal.states import Custom, Interval, StateSpace
from shoal.states.recipe import Counting
from shoal.tracks import Tracks

FEWEST = 100
"""Moves that a histogram is made of, at least."""

EACH = 40
"""Moves in a bin, on average, at least."""

ANYTHING = StateSpace(Custom(Interval("anything", (-1, 1)), lambda s: 0.0 * s.headings, turn=0))
"""A state that every animal with a heading is in."""


def observed_turns(
    tracks: Any,
    *,
    symmetric: bool = True,
    bins: int = 60,
    heading_frames: int = 1,
    minimum_step: float = 0.0,
    tracker_headings: bool = False,
) -> EmpiricalMoves:
    """How animals of tracks turn, for ``shoal.Turns(…)``.

    Parameters
    ----------
    tracks
        Tracks, or several Tracks, such as those of animals alone.
    symmetric
        Whether left and right turns are taken together; False for animals that circle.
    bins
        Of the histogram; fewer where there are few turns.
    heading_frames, minimum_step, tracker_headings
        As in ``shoal.decisions``.
    """
    recipe = Counting(ANYTHING, 1, heading_frames, minimum_step, tracker_headings)
    turn = np.concatenate([group.turn for group in _groups(tracks, recipe, steps=False)])
    _check_count(turn.size)
    places, density = _smoothed(np.concatenate([turn, -turn]) if symmetric else turn, bins)
    if places[0] < -180.0 or places[-1] > 180.0:  # turns all round the circle: no end
        density[[0, -1]] = (density[1] + density[-2]) / 2
    return EmpiricalMoves(np.clip(places, -180.0, 180.0), density)


def observed_steps(tracks: Any, *, bins: int = 60, minimum_step: float = 0.0) -> EmpiricalMoves:
    """How long the steps of tracks are beside what the step before lets expect.

    For ``shoal.Steps(step=…)``; parameters are those of ``observed_turns``. A step that is longer
    or shorter than all that were seen cannot be made.
    """
    recipe = Counting(ANYTHING, 1, 1, minimum_step)
    groups = _groups(tracks, recipe, steps=True)
    step, before = (
        np.concatenate([getattr(group, name) for group in groups])
        for name in ("step", "step_before")
    )
    found = Steps().resolved(step, before)
    typical, follow = float(found.typical.median), float(found.follow)
    known = np.isfinite(before)
    expected = (1 - follow) * np.log(typical) + follow * np.log(np.where(known, before, typical))
    away = np.log(step) - expected
    _check_count(away.size)
    places, density = _smoothed(away, bins)
    return EmpiricalMoves(places, density, typical, follow)


def _check_count(moves: int) -> None:
    if moves < FEWEST:
        raise InputError(
            f"a histogram of moves needs {FEWEST} moves, and these tracks have {moves}: give "
            'longer tracks, or a formula such as "cauchy"'
        )


def _smoothed(
    values: Float[np.ndarray, " n"], bins: int
) -> tuple[Float[np.ndarray, " places"], Float[np.ndarray, " places"]]:
    """A histogram as a line through the middles of its bins, which hold fewer towards the tails.

    It ends half a bin beyond the outermost values.
    """
    if bins < 4:
        raise InputError(f"a histogram of moves has 4 bins or more, got {bins}")
    count = max(4, min(int(bins), values.size // EACH))
    levels = (1 + np.sin(np.linspace(-0.5, 0.5, count + 1) * np.pi)) / 2
    edges = np.unique(np.quantile(values, levels))
    if edges.size < 3:
        raise InputError("nearly all moves are the same: give a formula, or several given turns")
    widths = np.diff(edges)
    height, middle = np.histogram(values, edges)[0] / widths, (edges[1:] + edges[:-1]) / 2
    places = [edges[0] - widths[0] / 2, *middle, edges[-1] + widths[-1] / 2]
    return np.array(places), np.array([0.0, *height, 0.0])


def _groups(tracks: Any, recipe: Counting, *, steps: bool) -> list[Seen]:
    if isinstance(tracks, str) or not isinstance(tracks, Iterable):
        raise InputError(f"expected tracks, got {tracks!r:.60}; read a file with shoal.read_tracks")
    found = []
    for one in tracks:
        if not isinstance(one, Tracks):
            raise InputError(f"moves are read off tracks, got {type(one).__name__}")
        scene = recipe.scene(one)
        check_frames(scene)
        found.append(moves_in(Window.whole(one), scene, recipe, steps=steps))
    if not found:
        raise InputError("there are no tracks to read moves from")
    return found
