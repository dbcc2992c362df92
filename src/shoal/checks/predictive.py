"""Do simulated groups move like the observed ones? Posterior predictive checks, with baselines."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from shoal.checks.comparison import (
    LEARNED,
    PASSIVE,
    VICSEK,
    Measure,
    PredictiveCheck,
)
from shoal.checks.scope import REPLICATES, affordable, default_arena, scope
from shoal.errors import InputError, checked_seed
from shoal.inputs import GIVEN, SEED, Number, Places, Whole, Word
from shoal.measures.motion import Motion
from shoal.measures.summaries import SUMMARIES, summaries
from shoal.posterior import Fit
from shoal.simulation import Vicsek
from shoal.simulation.batches import Outcome
from shoal.simulation.designs import AUTO, Scenario
from shoal.simulation.groups import simulated
from shoal.states import StateSpace
from shoal.system.progress import Report, reporting
from shoal.tracks import Arena, Collection, Groups, Tracks, headings, shortest


def predictive_check(  # noqa: PLR0913  (every choice a user has)
    fit: Annotated[Fit, GIVEN],
    tracks: Groups,
    *,
    replicates: Whole | None = None,
    seed: Whole = SEED,
    draws: Word = "each",
    speed: Number | Word = "observed",
    arena: Arena | Word | None = None,
    walls: Word = "reflect",
    stop: Word | None = None,
    target: Places | None = None,
    reach: Number | None = None,
    space: Annotated[StateSpace | None, GIVEN] = None,
    heading_frames: Whole | None = None,
    minimum_step: Number | None = None,
    tracker_headings: Annotated[bool | None, GIVEN] = None,
    progress: bool | Report | None = None,
) -> PredictiveCheck:
    """Simulate the observed groups many times by the fit, and compare them with the real ones.

    Simulated groups have the animals, starts, speeds, walls, lengths and gaps of the real ones.
    They begin in the frame from which most animals can be followed for longest, with the animals
    that are seen in it, and end when fewer than half of these are still seen; ``words()`` of the
    result says what was left out. Three models are simulated: the fitted one (all groups of a
    replicate by one posterior draw), animals without preferences, and, where animals are not
    alone, Vicsek's rule of alignment with a noise that is fitted to the tracks.

    Parameters
    ----------
    fit, tracks
        A fit, and the tracks it is to be compared with: those it was made from, or others.
    replicates
        How many times all groups are simulated, 40 or more. By default 200, fewer where groups are
        large; of long tracks the first part alone, so that a check takes a minute or two.
    seed
        The same seed gives the same result.
    draws
        ``"each"``: every replicate lives by a posterior draw of its own, so that what is not known
        of the costs is included. ``"mean"``: all live by the posterior mean.
    speed, arena, walls, stop, target, reach, space
        As in ``shoal.simulate``. Where the tracks know no walls, the arena is the rectangle around
        them, unless the group moves on through the landscape; ``arena="none"`` for no walls. With a
        fixed target, the share of groups that reach it is compared as well, and when they do.
    heading_frames, minimum_step, tracker_headings
        How headings are taken, by default as for the fit. Where real and simulated groups are
        compared, headings of both are taken from positions.
    progress
        True for a bar, False for none, None for a bar on a terminal.

    Returns
    -------
    PredictiveCheck
        ``print`` says where the model holds and where it fails; ``table`` has every measure.

    Examples
    --------
    >>> import numpy as np, shoal
    >>> space = shoal.StateSpace(shoal.LocalMisalignment(bins=12))
    >>> tracks = shoal.simulate(
    ...     shoal.simulation.Vicsek(noise=20), start=shoal.Release(6, (0, 0), spread=1.0), steps=80,
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
    groups = list(tracks) if hasattr(tracks, "__iter__") else []
    if not groups or not all(isinstance(group, Tracks) for group in groups):
        got = (
            "no group" if hasattr(tracks, "__len__") and not len(tracks) else type(tracks).__name__
        )
        raise InputError(
            "a predictive check needs the observed tracks, one group or several; got "
            f'{got}: read them with shoal.read_tracks("file.csv")'
        )
    Collection(groups)  # every group has a label of its own
    if replicates is not None and not (hasattr(replicates, "__index__") and replicates >= 40):
        raise InputError(f"replicates are a whole number, 40 or more; got {replicates!r}")
    taken = fit.headings_with(heading_frames, minimum_step, tracker_headings)
    given = Scenario(
        None, speed, default_arena(fit, arena, space), walls, stop, target, reach,
        headings=taken, lag=fit.lag,
    )  # fmt: skip
    bare = [group.arena is None and given.arena == AUTO for group in groups]
    groups = [given.around(group) for group in groups]
    given = given.thinned()
    windows = [given.window(group) for group in groups]
    asked = replicates
    replicates, given = affordable(windows, given, asked)
    sampled = replicates if asked is None and replicates < REPLICATES else 0
    notes = scope(groups, [window.at_most(given.most) for window in windows], sampled, bare)
    reading = _Reading(groups, _goals(fit, groups, given, space), given)
    rules: dict[str, tuple[Any, dict[str, Any]]] = {
        LEARNED: (fit, {"draws": draws, "space": space, "together": True}),
        PASSIVE: (fit, {"draws": "mean", "rule": "passive", "space": space}),
    }
    flock = _vicsek(fit, groups, given)
    if flock is not None:
        rules[VICSEK] = (flock, {})
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
    noise = float("nan") if flock is None else float(flock.noise)
    reaches = {label: reach for label, (_, reach) in reading.goals.items()}
    return PredictiveCheck(
        measures, tuple(rules), int(replicates), len(groups), noise, int(seed), reaches, notes
    )


def _vicsek(fit: Fit, groups: Sequence[Tracks], given: Scenario) -> Vicsek | None:
    """Vicsek's rule with the fit's neighbourhood and the tracks' noise; None for lone animals."""
    if any(len(tracks.members) < 2 for tracks in groups):
        return None
    radii = [getattr(part, "radius", None) for part in fit.model.space.parts]
    radius = next((r for r in radii if r is not None), None)
    return Vicsek.fitted(
        groups,
        given.headings_or_default.heading_frames,
        given.headings_or_default.minimum_step,
        radius,
    )


@dataclass(frozen=True, eq=False)
class _Reading:
    """How observed and simulated groups are measured: in the same way.

    Both have the frames and animals of the window that is simulated. Where an observed animal was
    not seen, its simulated double is not looked at either. With a rule that stops groups at the
    target, observed ones are measured up to there, too.
    """

    groups: Sequence[Tracks]
    goals: dict[str, tuple[Any, float]]
    given: Scenario

    def of_tracks(self) -> dict[str, dict[str, float]]:
        """Per measure the value of every group."""
        found: dict[str, dict[str, float]] = {}
        for tracks in self.groups:
            places = self._observed(tracks)
            goal, reach = self.goals.get(tracks.group, (None, 0.0))
            if self.given.stop is not None:
                gap = shortest(places - np.asarray(goal), tracks.arena)
                near = np.hypot(gap[..., 0], gap[..., 1]) <= reach
                absent = np.isnan(places[..., 0])
                there = near.any(1) if self.given.stop == "one" else (near | absent).all(1)
                if there.any():
                    places = places[: int(np.argmax(there)) + 1]
            for name, value in self._measured(tracks, places[None]).items():
                found.setdefault(name, {})[tracks.group] = float(value[0])
        return found

    def of_outcomes(self, outcomes: Sequence[Outcome], replicates: int) -> dict[str, np.ndarray]:
        """Per measure the mean over groups, for every replicate."""

        def one(number: int) -> dict[str, np.ndarray]:
            mine = outcomes[number :: len(self.groups)]
            seen = np.isfinite(self._observed(self.groups[number]))
            stack = np.full((replicates, *seen.shape), np.nan)
            for row, outcome in enumerate(mine):
                stack[row, : len(outcome.positions)] = outcome.positions
            return self._measured(self.groups[number], np.where(seen, stack, np.nan))

        with ThreadPoolExecutor() as pool:  # NumPy lets other threads work meanwhile
            found = list(pool.map(one, range(len(self.groups))))
        return {name: _mean(np.stack([part[name] for part in found])) for name in found[0]}

    def _observed(self, tracks: Tracks) -> np.ndarray:
        """Places of the members in the window that is simulated."""
        who = [tracks.individuals.index(name) for name in tracks.members]
        return self.given.window(tracks).of(tracks).positions[:, who]

    def _measured(self, tracks: Tracks, stack: np.ndarray) -> dict[str, np.ndarray]:
        count, frames, animals, _ = stack.shape
        flat = np.moveaxis(stack, 1, 0).reshape(frames, count * animals, 2)
        given = self.given
        angles = headings(
            flat,
            given.headings_or_default.heading_frames,
            given.headings_or_default.minimum_step,
            tracks.arena,
        )
        angle = np.moveaxis(angles.reshape(frames, count, animals), 0, 1)
        goal, reach = self.goals.get(tracks.group, (None, None))
        motion = Motion(stack, angle, tracks.fps, tracks.arena, goal, reach)
        return {name: np.asarray(value) for name, value in summaries(motion).items()}


def _goals(
    fit: Fit, groups: Sequence[Tracks], given: Scenario, space: Any
) -> dict[str, tuple[Any, float]]:
    """Target and arrival radius of each group, or None where nothing stands still."""
    parts = (fit.model.space if space is None else space).parts
    fixed = [getattr(part, "target", None) for part in parts]
    goal = next((t for t in fixed if t is not None and not isinstance(t, str)), None)
    wanted = goal if given.target is None else given.target
    if wanted is None:
        return {}
    return {
        tracks.group: given.goal_of(given.window(tracks).of(tracks), wanted) for tracks in groups
    }


def _towards(given: Scenario, reading: _Reading) -> Scenario:
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
