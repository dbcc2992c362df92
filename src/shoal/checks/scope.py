"""What part of the tracks a predictive check repeats, and within which walls."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from shoal.posterior import Fit
from shoal.simulation.designs import AUTO, Scenario
from shoal.simulation.release import Window
from shoal.tracks import Tracks

REPLICATES, FEWEST = 200, 40
WORK = 2e6
"""Animals in all frames of all replicates: about a minute on two cores, for all models."""
CROWD = 1000
"""Neighbours that take an animal as long as its own choice among turns."""
FEWEST_STEPS = 100
"""Frames of a group that are compared in any case."""


def default_arena(fit: Fit, arena: Any, space: Any = None) -> Any:
    """What was asked for; else the walls that a feature of the fit knows; else what tracks show."""
    if arena is not None:
        return arena
    parts = (fit.model.space if space is None else space).parts
    known = (getattr(part, "arena", None) for part in parts)
    return next((walls for walls in known if walls is not None), AUTO)


def affordable(windows: Sequence[Window], given: Scenario, replicates: Any) -> tuple[int, Scenario]:
    """As many replicates as were asked for; else fewer, and fewer frames, of large groups."""
    if replicates is not None:
        return int(replicates), given
    costs = [(cost_of(window), window.steps) for window in windows]
    count = WORK / max(1.0, sum(cost * steps for cost, steps in costs))
    if count >= FEWEST:
        return min(REPLICATES, int(count)), given
    least, most = FEWEST_STEPS, max(steps for _, steps in costs)
    while least < most:  # the longest that can be afforded
        steps = (least + most + 1) // 2
        work = FEWEST * sum(cost * min(own, steps) for cost, own in costs)
        least, most = (steps, most) if work <= WORK else (least, steps - 1)
    return FEWEST, replace(given, most=least)


def cost_of(window: Window) -> float:
    """The work of one frame: every animal by itself, and with every other."""
    animals = int(window.repeated.sum())
    return animals * (1 + animals / CROWD)


def scope(
    groups: Sequence[Tracks], windows: Sequence[Window], sampled: int, bare: Sequence[bool]
) -> tuple[str, ...]:
    """What is compared where it is not everything, and the walls that nobody gave, in sentences.

    Parameters
    ----------
    groups, windows
        What is observed, and which part of it is compared.
    sampled
        How many replicates there are where fewer were simulated to save time; else 0.
    bare
        Which groups came without walls, and were not given any.
    """
    notes = []
    partial = [
        (tracks, window)
        for tracks, window in zip(groups, windows, strict=True)
        if not window.repeated.all() or window.last - window.first < len(tracks.positions)
    ]
    if partial and len(groups) == 1:
        notes.append(f"Compared are {_part(*partial[0])}, observed and simulated alike.")
    elif partial:
        listed = "; ".join(
            f"{tracks.group}: {_part(tracks, window)}" for tracks, window in partial[:3]
        )
        more = f"; and {len(partial) - 3} more" if len(partial) > 3 else ""
        notes.append(
            f"{len(partial)} of {len(groups)} groups are compared in part, observed and simulated "
            f"alike ({listed}{more})."
        )
    rested = sum(window.rested for window in windows)
    if rested:
        notes.append(
            f"{rested} animal{'s have' if rested > 1 else ' has'} not moved yet at the start and "
            "begin with the first heading shown later."
        )
    if sampled:
        notes.append(
            f"To save time {sampled} replicates of this were simulated (--replicates {REPLICATES}, "
            f"or replicates={REPLICATES}, repeats all that can be compared)."
        )
    return (*notes, *walls_in_words(groups, bare))


def walls_in_words(groups: Sequence[Tracks], bare: Sequence[bool]) -> tuple[str, ...]:
    """The walls that nobody gave, and that there are none.

    Parameters
    ----------
    groups
        With the walls that are used.
    bare
        Which of them came without walls, and were not given any.
    """
    drawn = sum(one and tracks.arena is not None for tracks, one in zip(groups, bare, strict=True))
    notes = []
    if drawn:
        which = "" if drawn == len(groups) else f" of {drawn} of {len(groups)} groups"
        notes.append(
            f"The tracks{which} name no arena: simulated animals stay within the rectangle around "
            "the observed places (--arena none, or arena='none', lets them leave it)."
        )
    if drawn < sum(bare):
        which = "" if not drawn else f" of {sum(bare) - drawn} of {len(groups)} groups"
        notes.append(
            f"The tracks{which} name no arena and the animals travel: simulated animals may go "
            "anywhere (where there are walls, give them with --arena or arena=)."
        )
    return tuple(notes)


def _part(tracks: Tracks, window: Window) -> str:
    who, frames = len(tracks.members), len(tracks.positions)
    return (
        f"{int(window.repeated.sum())} of {who} animals in frames {window.first + 1} to "
        f"{window.last} of {frames}"
    )
