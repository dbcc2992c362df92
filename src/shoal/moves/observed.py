"""Passive moves taken from tracks: of animals alone, of a control, or of the tracks themselves."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.moves.empirical import EmpiricalMoves
from shoal.moves.sampling import Sample, owners, paces_of
from shoal.moves.seen import Seen, Window, check_frames, moves_in
from shoal.moves.specification import Steps, log_follow
from shoal.states import Custom, Interval, StateSpace
from shoal.states.recipe import Counting
from shoal.tracks import Tracks
from shoal.tracks.record import warn

FEWEST = 100
"""Moves that a histogram is made of, at least."""

EACH = 40
"""Moves in a bin, on average, at least."""

REPEATED = 0.05
"""The share of turns of one size from which on it is said that they repeat."""

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
    _warn_of_repeats(turn)
    places, density = _smoothed(turn, bins, symmetric=symmetric)
    if places[0] < -180.0 and places[-1] > 180.0:  # turns all round the circle: no end
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
    paces = Sample.joined([Sample.of(group) for group in groups]).paces(Steps())
    pace = np.concatenate([paces_of(owners(group), paces) for group in groups])
    found = Steps().resolved(step, before, pace)
    typical = float(found.typical.median)
    usual = np.log(typical) - found.log_reference
    logs, earlier = np.log(step / pace), np.log(before / pace)
    known = np.isfinite(earlier)
    follow = log_follow(logs[known], earlier[known], usual)
    away = logs - (1 - follow) * usual - follow * np.where(known, earlier, usual)
    _check_count(away.size)
    places, density = _smoothed(away, bins)
    return EmpiricalMoves(places, density, typical, follow)


def _check_count(moves: int) -> None:
    if moves < FEWEST:
        raise InputError(
            f"a histogram of moves needs {FEWEST} moves, and these tracks have {moves}: give "
            'longer tracks, or a formula such as "cauchy"'
        )


def _warn_of_repeats(turn: Float[np.ndarray, " n"]) -> None:
    """Turns that repeat come from the tracker: a histogram of them is rough."""
    values, counts = np.unique(np.round(turn, 6), return_counts=True)
    most = int(np.argmax(counts))
    share = counts[most] / turn.size
    if share > REPEATED:
        warn(
            f"{share:.0%} of the turns are exactly {values[most]:g}°, as places in whole pixels or "
            "rest make them: thin the tracks or set minimum_step, or give a formula such as "
            '"cauchy"'
        )


def _smoothed(
    values: Float[np.ndarray, " n"], bins: int, *, symmetric: bool = False
) -> tuple[Float[np.ndarray, " places"], Float[np.ndarray, " places"]]:
    """A histogram as a line through the middles of its bins, which hold fewer towards the tails.

    It ends half a bin beyond the outermost values. A symmetric one is of sizes, and mirrored.
    """
    if bins < 4:
        raise InputError(f"a histogram of moves has 4 bins or more, got {bins}")
    if symmetric:
        sizes = np.abs(values)
        own = _edges(sizes, max(4, bins // 2))
        own[0] = 0.0
        half = np.histogram(sizes, own)[0] / np.diff(own) / 2
        edges, height = np.concatenate([-own[:0:-1], own]), np.concatenate([half[::-1], half])
    else:
        edges = _edges(values, bins)
        height = np.histogram(values, edges)[0] / np.diff(edges)
    widths, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    places = [edges[0] - widths[0] / 2, *middle, edges[-1] + widths[-1] / 2]
    return np.array(places), np.array([0.0, *height, 0.0])


def _edges(values: Float[np.ndarray, " n"], bins: int) -> Float[np.ndarray, " edges"]:
    """Quantiles, closer together in the tails; none so near the one before that a bin is a spike.

    Values that repeat would make bins of no width.
    """
    count = max(4, min(int(bins), values.size // EACH))
    levels = (1 + np.sin(np.linspace(-0.5, 0.5, count + 1) * np.pi)) / 2
    edges = np.quantile(values, levels)
    middle = float(np.quantile(values, 0.75) - np.quantile(values, 0.25))
    narrowest = (middle or float(np.ptp(values))) / count
    kept = [float(edges[0])]
    for edge in edges[1:]:
        if edge - kept[-1] >= narrowest:
            kept.append(float(edge))
    kept[-1] = max(kept[-1], float(edges[-1]))
    if len(kept) < 3:
        raise InputError("nearly all moves are the same: give a formula, or several given turns")
    return np.array(kept)


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
