"""Observed and simulated groups, frame by frame, with the state that every animal was in."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.checks.scope import default_arena, walls_in_words
from shoal.errors import InputError
from shoal.posterior import DecisionFit, Fit
from shoal.report.fans import BYTES, fans_of
from shoal.report.packing import packed
from shoal.simulation.designs import AUTO, Scenario
from shoal.simulation.groups import simulate_scenario
from shoal.simulation.release import Window
from shoal.states import Scene, SpeedFeature
from shoal.states.scene import Feature
from shoal.states.targets import target_places
from shoal.tracks import Circle, Periodic, Tracks

FRAMES = 1500
"""Of a group that a page replays at most."""
GROUPS = 4
FIXES = 120_000
"""Places in a page, of observed groups; simulated ones have as many again."""


@dataclass(frozen=True, eq=False)
class Stage:
    """The observed groups that a page replays, and what simulated ones start from.

    Attributes
    ----------
    given
        How groups move, and how headings are taken.
    seed
        Of the simulations.
    starts
        The tracks that simulations begin from, with the steps of the replay.
    seen
        The same groups from that beginning on, a frame for each decision.
    whole
        The same groups with all their frames, from which headings and states are read, and which of
        these frames are shown.
    omitted
        What was left out, in words.
    """

    fit: Fit
    given: Scenario
    seed: int
    starts: tuple[tuple[Tracks, int], ...]
    seen: tuple[Tracks, ...]
    whole: tuple[tuple[Tracks, slice], ...]
    omitted: str = ""

    @classmethod
    def of(cls, fit: Fit, tracks: Any, scenario: Scenario, seed: int = 1) -> "Stage":
        """As many groups and frames as fit into a page."""
        groups = list(tracks)
        given = replace(
            scenario,
            arena=default_arena(fit, scenario.arena),
            headings=scenario.headings or fit.headings_with(),
            lag=fit.lag,
        )
        starts, seen, whole, left, words = [], [], [], FIXES, []
        for group in groups[:GROUPS]:
            around = given.around(group)
            frames = min(FRAMES, left // max(1, len(around.members)))
            if frames < 2:
                break
            full = given.window(around)
            window = full.at_most(frames - 1)
            first, last = window.first, window.last
            shown = Tracks(around.data.isel(time=slice(first, last)))
            left -= shown.positions.shape[0] * len(around.members)
            starts.append((group, max(1, window.steps)))
            seen.append(shown)
            every = slice(first * fit.lag, (last - 1) * fit.lag + 1, fit.lag)
            whole.append((replace(given, lag=1).around(group), every))
            if last - first < len(around.positions) or not window.repeated.all():
                words.append(_part(around, window, full))
        if len(seen) < len(groups):
            words.insert(0, f"{len(seen)} of {len(groups)} groups are shown")
        bare = [group.arena is None and given.arena == AUTO for group in groups[: len(seen)]]
        words += [note[0].lower() + note[1:-1] for note in walls_in_words(seen, bare)]
        found = (tuple(starts), tuple(seen), tuple(whole), "; ".join(words))
        return cls(fit, given, seed, *found)

    def observed(self) -> list[dict[str, Any]]:
        """A panel for each group, with the states that were counted."""
        taken = self.given.headings_or_default.taken
        return [_panel(self.fit, tracks, *taken, every) for tracks, every in self.whole]

    def simulated(
        self, fit: Fit | None = None, rule: str = "stochastic", seed: Any = None, **changed: Any
    ) -> Any:
        """Groups that live by the fit from the same starts."""
        given, policy = replace(self.given, **changed), fit or self.fit
        seed = self.seed if seed is None else seed
        with warnings.catch_warnings():  # the page says who is not simulated
            warnings.filterwarnings("ignore", ".*are not simulated")
            return [
                simulate_scenario(
                    policy, replace(given, steps=steps), group, seed, rule=rule, progress=False
                )
                for group, steps in self.starts
            ]

    def panels(self, groups: Sequence[Tracks]) -> list[dict[str, Any]]:
        """Simulated groups as panels: they have a frame for each decision."""
        return [_panel(self.fit, tracks) for tracks in groups]

    def fans(self) -> list[dict[str, Any] | None]:
        """The moves that animals had, group by group; None where a fit is not of decisions."""
        fit, given = self.fit, self.given
        if not isinstance(fit, DecisionFit):
            return [None] * len(self.whole)
        frames, step, tracker = given.headings_or_default.taken
        reading: dict[str, Any] = {"minimum_step": step}
        if not fit.model.passive.steps:
            reading |= {"heading_frames": frames, "tracker_headings": tracker}
        found = [fans_of(fit, tracks, every, **reading) for tracks, every in self.whole]
        return [None if fan is None else fan.contents(BYTES // len(found)) for fan in found]

    def contents(self) -> dict[str, Any]:
        """Everything that the page replays."""
        words = self.omitted
        try:
            simulated: Sequence[Any] = self.panels(self.simulated())
        except InputError as error:
            simulated = [None] * len(self.seen)
            words = "; ".join(filter(None, [words, f"nothing was simulated: {error}"]))
        fans = self.fans()
        groups = [
            {
                "label": tracks.group,
                "fans": fan,
                "fps": tracks.fps,
                "unit": tracks.length_unit,
                "arena": _arena(tracks),
                "members": list(tracks.members),
                "observed": panel,
                "simulated": double,
            }
            for tracks, panel, double, fan in zip(
                self.seen, self.observed(), simulated, fans, strict=True
            )
        ]
        return {"groups": groups, "omitted": words, "lag": self.fit.lag}


def _part(around: Tracks, window: Window, full: Window) -> str:
    """Which frames and animals of a group are replayed."""
    frames, who = len(around.positions), len(around.members)
    label = f"group {around.group}: " if around.group else ""
    words = f"{label}frames {window.first + 1} to {window.last} of {frames} are shown"
    if window.last < full.last:
        words += " (as many as a page holds)"
    absent = int((~window.repeated).sum())
    if absent:
        words += (
            f", and {absent} of {who} animals are not simulated, as they are not in view at that "
            "start or never have a heading"
        )
    return words


def _panel(
    fit: Fit,
    tracks: Tracks,
    frames: int = 1,
    step: float = 0.0,
    tracker: bool = False,
    every: slice = slice(None),
) -> dict[str, Any]:
    """Places, headings, perceived values and states of the members of one group."""
    space = fit.model.space
    scene = _as_perceived(fit, Scene.of(tracks, frames, step, tracker))
    values = [_values(fit, part, scene) for part in space.parts]
    states, _ = space.locate(*values)
    targets = [getattr(part, "target", None) for part in space.parts]
    target = next((t for t in targets if t is not None), None)
    landmarks = [name for name in tracks.individuals if name not in tracks.members]
    path = None if target is None else target_places(target, scene)[:, 0]
    if path is not None and len(path) > 1:
        path = path[every]
    return {
        "places": packed(scene.positions[every]),
        "headings": packed(scene.headings[every]),
        "states": packed(states[every], "i4"),
        "values": packed(np.stack(values)[:, every]),
        "target": None if path is None else packed(path),
        "landmarks": {name: packed(scene.places[name][every]) for name in landmarks},
    }


def _values(fit: Fit, part: Any, scene: Scene) -> np.ndarray:
    """What animals perceived of a feature; of a speed, where steps are chosen, the one before."""
    if not isinstance(part, Feature):
        return np.full(scene.headings.shape, np.nan)
    if isinstance(part, SpeedFeature) and isinstance(fit, DecisionFit) and fit.model.passive.steps:
        assert scene.lengths is not None
        return np.asarray(part.of_lengths(scene, scene.lengths[..., None])[..., 0])
    return np.asarray(part.values(scene))


def _as_perceived(fit: Fit, scene: Scene) -> Scene:
    """With headings as animals had them when they decided: of steps, those that led to a frame."""
    if not isinstance(fit, DecisionFit) or not fit.model.passive.steps:
        return scene
    before = np.full(scene.headings.shape, np.nan)
    before[1:] = scene.headings[:-1]
    return replace(scene, headings=before)


def _arena(tracks: Tracks) -> dict[str, Any] | None:
    arena = tracks.arena
    if arena is None:
        return None
    if isinstance(arena, Circle):
        return {"kind": "circle", "x": arena.x, "y": arena.y, "radius": arena.radius}
    kind = "periodic" if isinstance(arena, Periodic) else "rectangle"
    sides = {name: getattr(arena, name) for name in ("left", "bottom", "right", "top")}
    return {"kind": kind, **sides}
