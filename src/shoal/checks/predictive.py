"""Do simulated groups move like the observed ones? Posterior predictive checks, with baselines."""

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shoal.checks.comparison import (
    LEARNED,
    MODELS,
    PASSIVE,
    VICSEK,
    Measure,
    PredictiveCheck,
)
from shoal.checks.motion import Motion
from shoal.checks.summarising import SUMMARIES, summaries
from shoal.errors import InputError, checked_seed
from shoal.posterior import Fit
from shoal.progress import Report, reporting
from shoal.simulation import Vicsek
from shoal.simulation.batches import Outcome
from shoal.simulation.designs import Surroundings
from shoal.simulation.groups import simulated
from shoal.tracks import Tracks, headings


def predictive_check(  # noqa: PLR0913  (every choice a user has)
    fit: Any,
    tracks: Any,
    *,
    replicates: Any = 200,
    seed: Any = 0,
    draws: Any = "each",
    speed: Any = "observed",
    arena: Any = None,
    walls: Any = "reflect",
    stop: Any = None,
    target: Any = None,
    reach: Any = None,
    space: Any = None,
    heading_frames: Any = 1,
    minimum_step: Any = 0.0,
    tracker_headings: Any = False,
    progress: bool | Report | None = None,
) -> PredictiveCheck:
    """Simulate the observed design again and again, and see where the observed groups lie.

    Every replicate has the groups, animals, starts, speeds, walls and lengths of the data. It is
    made under the learned policy (each replicate's groups live by draws of their own), under the
    passive dynamics alone, and under Vicsek's rule with a noise fitted to the tracks.

    Parameters
    ----------
    fit, tracks
        A fit, and the tracks it is to be compared with: those it was made from, or others.
    replicates
        Of the whole design.
    draws
        ``"each"`` for the posterior predictive distribution, ``"mean"`` for the posterior mean.
    speed, arena, walls, stop, target, reach, space
        As in ``shoal.simulate``. With a fixed target, of the policy or given, the time until it is
        first reached is a measure, too; groups that do not get there count with their whole length.
    heading_frames, minimum_step, tracker_headings
        How headings at the start are taken, and those that are measured, observed and simulated
        ones alike; measured ones are always taken from displacements.

    Examples
    --------
    >>> import numpy as np, shoal
    >>> space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    >>> tracks = shoal.simulate(
    ...     shoal.Vicsek(noise=20), start=shoal.Release(6, place=(0, 0), spread=1.0), steps=80,
    ...     speed=0.1, fps=10.0, seed=1,
    ... )
    >>> counts = shoal.count_transitions(tracks, space)
    >>> fit = shoal.Model(space, shoal.RandomWalk(60.0)).fit(counts, method="laplace", seed=1)
    >>> check = shoal.predictive_check(fit, tracks, replicates=50, seed=1)
    >>> errors = check.errors()
    >>> errors["learned policy"] < errors["passive only"]
    True
    """
    if not isinstance(fit, Fit):
        raise InputError(f"a predictive check is made of a Fit, got {type(fit).__name__}")
    groups = list(tracks) if isinstance(tracks, Iterable) else []
    if not groups or not all(isinstance(group, Tracks) for group in groups):
        raise InputError("a predictive check compares with Tracks, one group or several")
    if not hasattr(replicates, "__index__") or replicates < 20:
        raise InputError(f"replicates are a whole number, 20 or more; got {replicates!r}")
    given = Surroundings(
        None, speed, arena, walls, stop, target, reach, None, "", heading_frames, minimum_step,
        tracker_headings,
    )  # fmt: skip
    reading = _Reading(groups, _goals(fit, groups, given, space), int(heading_frames), minimum_step)
    rules: dict[str, tuple[Any, dict[str, Any]]] = {
        LEARNED: (fit, {"draws": draws, "space": space}),
        PASSIVE: (fit, {"draws": "mean", "rule": "passive", "space": space}),
        VICSEK: (Vicsek.fitted(groups, heading_frames, minimum_step), {}),
    }
    found: dict[str, dict[str, np.ndarray]] = {}
    with reporting(progress) as report:
        for number, (name, (policy, options)) in enumerate(rules.items()):
            outcomes = simulated(
                policy,
                _towards(given, reading) if name == VICSEK else given,
                groups,
                checked_seed(seed) + number,
                replicates=int(replicates),
                report=lambda _, done, total, name=name: report(name, done, total),  # type: ignore[misc]
                **options,
            )
            found[name] = reading.of_outcomes(outcomes, int(replicates))
    observed = reading.of_tracks()
    fps, unit = groups[0].fps, groups[0].length_unit
    measures = {
        name: Measure(
            SUMMARIES[name],
            SUMMARIES[name].unit(unit, fps),
            _mean(np.asarray(list(values.values()))),
            values,
            {model: found[model][name] for model in found},
        )
        for name, values in observed.items()
    }
    noise = float(rules[VICSEK][0].noise)
    return PredictiveCheck(measures, MODELS, int(replicates), len(groups), noise, int(seed))


@dataclass(frozen=True, eq=False)
class _Reading:
    """How observed and simulated groups are measured: in the same way."""

    groups: Sequence[Tracks]
    goals: dict[str, tuple[Any, float]]
    heading_frames: int
    minimum_step: float

    def of_tracks(self) -> dict[str, dict[str, float]]:
        """Per measure the value of every group."""
        found: dict[str, dict[str, float]] = {}
        for tracks in self.groups:
            who = [tracks.individuals.index(name) for name in tracks.members]
            for name, value in self._measured(tracks, tracks.positions[None, :, who]).items():
                found.setdefault(name, {})[tracks.group] = float(value[0])
        return found

    def of_outcomes(self, outcomes: Sequence[Outcome], replicates: int) -> dict[str, np.ndarray]:
        """Per measure the mean over groups, for every replicate."""

        def one(number: int) -> dict[str, np.ndarray]:
            mine = outcomes[number :: len(self.groups)]
            frames = max(len(outcome.positions) for outcome in mine)
            stack = np.full((replicates, frames, *mine[0].positions.shape[1:]), np.nan)
            for row, outcome in enumerate(mine):
                stack[row, : len(outcome.positions)] = outcome.positions
            return self._measured(self.groups[number], stack)

        with ThreadPoolExecutor() as pool:  # NumPy lets other threads work meanwhile
            found = list(pool.map(one, range(len(self.groups))))
        return {name: _mean(np.stack([part[name] for part in found])) for name in found[0]}

    def _measured(self, tracks: Tracks, stack: np.ndarray) -> dict[str, np.ndarray]:
        count, frames, animals, _ = stack.shape
        flat = np.moveaxis(stack, 1, 0).reshape(frames, count * animals, 2)
        angles = headings(flat, self.heading_frames, self.minimum_step, tracks.arena)
        angle = np.moveaxis(angles.reshape(frames, count, animals), 0, 1)
        goal, reach = self.goals.get(tracks.group, (None, None))
        motion = Motion(stack, angle, tracks.fps, tracks.arena, goal, reach)
        found = {name: np.asarray(value) for name, value in summaries(motion).items()}
        if "time_to_target" in found:
            length = (len(tracks.positions) - 1) / (tracks.fps or 1.0)
            late = np.isnan(found["time_to_target"])
            found["time_to_target"] = np.where(late, length, found["time_to_target"])
        return found


def _goals(
    fit: Fit, groups: Sequence[Tracks], given: Surroundings, space: Any
) -> dict[str, tuple[Any, float]]:
    """Where each group may want to go, and how near is there; none where nothing stands still."""
    parts = (fit.model.space if space is None else space).parts
    fixed = [getattr(part, "target", None) for part in parts]
    goal = next((t for t in fixed if t is not None and not isinstance(t, str)), None)
    wanted = goal if given.target is None else given.target
    if wanted is None:
        return {}
    return {tracks.group: given.goal_of(tracks, wanted) for tracks in groups}


def _towards(given: Surroundings, reading: _Reading) -> Surroundings:
    """Vicsek's particles want nothing: where they stop must be told."""
    if given.stop is None:
        return given
    return replace(given, target={label: goal for label, (goal, _) in reading.goals.items()})


def _mean(values: np.ndarray) -> Any:
    """Over the first axis, of those that are numbers; NaN where there is none."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return float(mean) if mean.ndim == 0 else mean
