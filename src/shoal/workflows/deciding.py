"""What animals of these tracks can choose: turns, or turns and steps."""

from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.moves import Turns
from shoal.moves.reading import check_moves
from shoal.selection.moves import CANDIDATES
from shoal.states import Scene, StateSpace
from shoal.tracks import Tracks
from shoal.workflows.words import moves_of


def moves_for(
    words: str,
    tracks: Any,
    space: StateSpace,
    headings: dict[str, Any],
    *,
    others: str = "auto",
    candidates: int = 0,
    persistence: str = "auto",
) -> tuple[Turns, dict[str, str]]:
    """What animals choose, and why where that is left to the tracks.

    Turns where a turn changes every feature, steps where there are distances, walls or speeds;
    where no step can be chosen, turns as well, if a turn changes any feature.
    """
    options: dict[str, Any] = {"candidates": candidates or CANDIDATES, "persistence": persistence}
    parts: Any = space.parts
    if words != "auto":
        found = moves_of(words, others, **options)
        check_moves(found, space)
        why = _no_steps(tracks, headings) if found.steps else ""
        if why:
            raise InputError(f"{why}: use --moves turns")
        return found, {}
    steady = [part.axis.name for part in parts if not getattr(part, "turn", None)]
    if not steady:
        if others != "auto":
            raise InputError(
                "--others is for steps, and these features are angles, of which animals choose "
                "turns: add --moves steps, or leave it out"
            )
        found = moves_of("turns", "auto", **options)
        check_moves(found, space)
        return found, {}
    steps, names = moves_of("steps", others, **options), ", ".join(steady).replace("_", " ")
    check_moves(steps, space)
    why = _no_steps(tracks, headings)
    if not why:
        return steps, {}
    if len(steady) == len(parts):
        raise InputError(f"{why}, and a turn changes no {names}")
    turns = moves_of("turns", "auto", **options)
    return turns, {"moves": f"turns: {why}; what a turn cannot change ({names}) is not learned"}


def _no_steps(tracks: Any, headings: dict[str, Any]) -> str:
    """Why animals cannot be said to choose steps; nothing where they can."""
    if headings["tracker_headings"] or headings["heading_frames"] > 1:
        return "headings that are not those of single steps go with turns alone"
    lengths = np.concatenate([_lengths(part) for part in tracks])
    if lengths.size > 1 and np.ptp(np.log(lengths)) < 1e-9:
        return f"every step is {lengths[0]:.4g} long, so that animals do not choose how far they go"
    return ""


def _lengths(tracks: Tracks) -> Any:
    scene = Scene.of(tracks)
    moved = scene.shortest(scene.positions[1:] - scene.positions[:-1])
    length = np.hypot(moved[..., 0], moved[..., 1]).ravel()
    return length[np.isfinite(length) & (length > 0)]
