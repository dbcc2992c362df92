"""The state of every animal in every frame, and why some have none."""

import warnings
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from shoal.errors import InputError
from shoal.states.misalignment import LocalMisalignment
from shoal.states.recipe import Counting
from shoal.states.records import Records
from shoal.states.scene import Scene, needs_neighbours
from shoal.states.space import StateSpace
from shoal.states.targets import outside
from shoal.states.transitions import Transitions
from shoal.tracks import Tracks
from shoal.tracks.arena import misfit

States = Int[np.ndarray, "time individuals"]
NOT_SEEN, NO_HEADING = "not seen", "no heading"


def track_states(
    tracks: Tracks,
    space: StateSpace,
    heading_frames: int = 1,
    minimum_step: float = 0.0,
    *,
    tracker_headings: bool = False,
) -> tuple[States, dict[str, int]]:
    """The state of every member in every frame, −1 where it has none, and why they have none."""
    recipe = Counting(space, 1, heading_frames, minimum_step, tracker_headings)
    recipe.check_features()
    found = perceive(recipe.scene(tracks), recipe)
    return found.states, found.dropped(slice(0, len(found.states)))


@dataclass(frozen=True, eq=False)
class Perceived:
    """The state of every member in every frame, −1 where it has none, and what was missing.

    ``first`` is the number of the first of these frames among all of the group.
    """

    states: States
    missing: dict[str, Bool[np.ndarray, "time individuals"]]
    group: str = ""
    members: tuple[str, ...] = ()
    first: int = 0

    def of(self, animal: int) -> "Perceived":
        """One member's."""
        missing = {reason: gone[:, [animal]] for reason, gone in self.missing.items()}
        members = self.members[animal : animal + 1]
        return Perceived(self.states[:, [animal]], missing, self.group, members, self.first)

    def dropped(self, own: slice) -> dict[str, int]:
        """Each animal in each of these frames without a state, under the first reason for it."""
        left = self.states[own] < 0
        found: dict[str, int] = {}
        for reason, gone in self.missing.items():
            found[reason] = int((left & gone[own]).sum())
            left = left & ~gone[own]
        return found

    def transitions(self, recipe: Counting, own: slice, *, records: bool = False) -> Transitions:
        """Pairs of states a lag apart, both known, the first in these frames.

        A transition begins where the last one ended: at a lag of 5 in every fifth frame of the
        group. Those that begin in between overlap with it and tell nearly the same again.
        """
        lag = recipe.lag
        opening = own.start + (-(own.start + self.first)) % lag
        last = max(min(own.stop, len(self.states) - lag), opening)
        start = self.states[opening:last:lag]
        end = self.states[opening + lag : last + lag : lag]
        both = (start >= 0) & (end >= 0)
        states = (start[both], end[both])
        kept = None
        if records:
            frame, animal = np.nonzero(both)
            kept = Records.of_group(states, lag * frame + opening, animal, self.group, self.members)
        return Transitions.from_codes(
            states[0] * recipe.space.size + states[1],
            recipe.space,
            dropped=self.dropped(own),
            fixes=(own.stop - own.start) * self.states.shape[1],
            records=kept,
        )


def perceive(scene: Scene, recipe: Counting) -> Perceived:
    """The state of every member in every frame."""
    check_scene(scene, recipe)
    values = [part.values(scene) for part in recipe.space.parts]  # type: ignore[union-attr]
    states, lost = recipe.space.locate(*values)
    missing = {NOT_SEEN: np.isnan(scene.positions[..., 0]), NO_HEADING: np.isnan(scene.headings)}
    for name, gone, value in zip(recipe.space.names, lost, values, strict=True):
        missing[f"{name}: undefined"] = gone & ~np.isfinite(value)
        missing[f"{name}: outside its bins"] = gone
    return Perceived(states, missing, scene.group, scene.members)


def check_scene(scene: Scene, recipe: Counting) -> None:
    """What cannot be counted is said before it is tried; what looks odd is warned about."""
    frames, animals = scene.headings.shape
    for part in recipe.space.parts:
        if animals < 2 and needs_neighbours(part):
            raise InputError(
                f"group {scene.group!r} has a single animal, and {part.axis.name} needs neighbours"  # type: ignore[union-attr]
            )
    if frames < 2:
        raise InputError(f"group {scene.group!r} has {frames} frame, and a transition needs two")


def warn_of_target(scene: Scene, recipe: Counting) -> bool:
    """Warn of a target that lies elsewhere than the animals."""
    targets = [getattr(part, "target", None) for part in recipe.space.parts]
    sentences = [outside(target, scene) for target in targets if target is not None]
    for sentence in filter(None, sentences):
        warnings.warn(sentence, UserWarning, stacklevel=2)
    return any(sentences)


def warn_of_arena(scene: Scene, recipe: Counting) -> bool:
    """Warn of walls, of features or of the tracks, that many places lie outside of."""
    parts = recipe.space.parts
    arenas = dict.fromkeys([scene.arena, *(getattr(part, "arena", None) for part in parts)])
    sentences = [misfit(one, scene.positions, scene.group) for one in arenas if one is not None]
    for sentence in filter(None, sentences):
        warnings.warn(sentence, UserWarning, stacklevel=2)
    return any(sentences)


def warn_of_mirrored_pairs(tracks: Tracks, recipe: Counting) -> bool:
    """Warn where one animal's states are the mirror image of the other's, and tell nothing new."""
    alone = all(isinstance(part, LocalMisalignment) for part in recipe.space.parts)
    if not alone or len(tracks.members) != 2:
        return False
    warnings.warn(
        f"group {tracks.group!r} is a pair, in which one animal's misalignment is minus the "
        "other's: every transition is counted twice, so that intervals are up to √2 too short; "
        "add another feature, such as neighbour-bearing",
        UserWarning,
        stacklevel=2,
    )
    return True
