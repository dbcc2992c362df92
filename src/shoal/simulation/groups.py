"""Groups that live by a fit, a solution, a cost-to-go, or the rules of a model."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Protocol, runtime_checkable

import numpy as np

from shoal.errors import InputError, checked_seed
from shoal.inputs import GIVEN, SEED, Number, Places, Whole, Word
from shoal.lmdp import Solution
from shoal.moves import Turns
from shoal.passive import Operable
from shoal.posterior import Fit
from shoal.simulation.batches import Course, Outcome, run_designs
from shoal.simulation.behaviour import Behaviour
from shoal.simulation.designs import Design, Scenario
from shoal.simulation.following import RULES, checked_space
from shoal.simulation.policy import Policy, warn_of_radius
from shoal.simulation.release import Release
from shoal.states import Custom, Headings, StateSpace
from shoal.system.progress import Report, reporting
from shoal.tracks import Arena, Collection, Groups, Periodic, Tracks
from shoal.tracks.record import warn
from shoal.version import __version__

DRAWS = ("mean", "each")


@runtime_checkable
class Rules(Protocol):
    """A model whose rules are known, such as ``Vicsek()``: it says how its animals behave."""

    def behaviour(self) -> Behaviour:
        """What its animals do."""
        ...


Policies = Annotated[Fit | Solution | np.ndarray | Rules, GIVEN]
"""What animals can live by."""


def simulate(  # noqa: PLR0913  (every choice a user has)
    policy: Policies,
    *,
    start: Groups | Release | None = None,
    steps: Whole | None = None,
    seed: Whole = SEED,
    rule: Word = "stochastic",
    draws: Word = "mean",
    replicates: Whole | None = None,
    speed: Number | Word | None = None,
    arena: Arena | Word | None = None,
    walls: Word = "reflect",
    stop: Word | None = None,
    target: Places | None = None,
    reach: Number | None = None,
    space: Annotated[StateSpace | None, GIVEN] = None,
    passive: Operable | Turns | None = None,
    discount: Number = 1.0,
    fps: Number | None = None,
    length_unit: str = "",
    heading_frames: Whole | None = None,
    minimum_step: Number | None = None,
    tracker_headings: Annotated[bool | None, GIVEN] = None,
    progress: bool | Report | None = None,
) -> Tracks | Collection:
    """Animals that perceive their group, choose among turns, and move; as Tracks.

    Parameters
    ----------
    policy
        A Fit; a Solution, with ``space``; a cost-to-go, with ``space``, ``passive`` and
        ``discount``; or a model with known rules, ``Vicsek(…)`` or ``Couzin(…)``.
    start
        Tracks, from the frame that leaves most to compare: animals in view then, times frames they
        are seen in. Who is not in view then is left out, with a warning; who has not moved yet
        starts with its first heading. Several Tracks, for a simulated group each; or
        ``shoal.Release(…)``.
    steps
        Frames after the start; by default as many as the tracks have until fewer than half of
        these animals are in view. With a fit at a lag of
        several frames a step takes as many: tracks are thinned to one frame for each decision.
    seed
        The same seed gives the same groups.
    rule
        ``"stochastic"``: a turn with the probability of the state it leads to; ``"least-cost"``:
        the most probable turn, ties at random; ``"passive"``: without preferences.
    draws
        Of a fit: ``"mean"`` lives by the posterior mean, ``"each"`` gives every group a draw of
        its own, so that groups differ as the posterior is uncertain.
    replicates
        How many groups from each start; None for one.
    speed
        A number per second (per frame where the rate is unknown); ``"observed"``: each animal's
        own speeds, replayed in runs; ``"constant"``: their mean; ``"gamma"``: a gamma law fitted
        to them. By default observed.
    arena
        ``Rectangle(…)``, ``Circle(…)``, ``Periodic(…)``; ``"none"``; None: that of the tracks;
        ``"hull"``: that of the tracks, or else the rectangle around their places.
    walls
        ``"reflect"`` or ``"slide"``.
    stop
        ``"one"`` or ``"all"``: the group ends when one of its members, or all, are at the target.
    target, reach
        Of ``stop``: a point, or a dictionary with one for each group, and how near is there. By
        default the policy's target, and as near as an observed animal came, but a twentieth of
        the range of their places at least.
    space
        Features, for a policy that has none; for a fit with a function of your own that a file
        could not hold.
    fps, length_unit
        Of a release; tracks know theirs.
    heading_frames, minimum_step, tracker_headings
        How headings at the start are read off tracks, see ``shoal.tracks.headings``. By default as
        for the fit; for other policies over 1 frame, from any step, from displacements.
    progress
        True for a bar, False for none, None for a bar on a terminal.

    Returns
    -------
    Tracks for one group, a Collection for several. In a periodic box places go on beyond its edge,
    so that paths stay whole. Headings are part of the Tracks.

    Examples
    --------
    >>> import shoal
    >>> box = shoal.tracks.Periodic(0, 0, 1, 1)
    >>> flock = shoal.simulate(
    ...     shoal.simulation.Vicsek(radius=0.1, noise=10), start=shoal.Release(50), steps=20,
    ...     speed=0.03, arena=box, seed=1,
    ... )
    >>> flock
    Tracks(50 animals, 21 frames, 0 of 1050 fixes missing)
    """
    choices = (heading_frames, minimum_step, tracker_headings)
    fitted = isinstance(policy, Fit) and not isinstance(start, Release)
    known = policy.headings_with if isinstance(policy, Fit) and fitted else Headings().chosen
    taken = known(*choices)
    scenario = Scenario(
        steps, speed, arena, walls, stop, target, reach, fps, length_unit, taken,
        policy.lag if isinstance(policy, Fit) else 1,
    )  # fmt: skip
    return simulate_scenario(
        policy, scenario, start, seed, rule=rule, draws=draws, replicates=replicates, space=space,
        passive=passive, discount=discount, progress=progress,
    )  # fmt: skip


def simulate_scenario(  # noqa: PLR0913  (what simulate takes, the scenario made)
    policy: Any,
    scenario: Scenario,
    start: Any,
    seed: Any,
    *,
    rule: Any = "stochastic",
    draws: Any = "mean",
    replicates: Any = None,
    space: Any = None,
    passive: Any = None,
    discount: Any = 1.0,
    progress: bool | Report | None = None,
) -> Any:
    """Groups in a scenario, as Tracks."""
    several = replicates is not None
    count = _checked_count(replicates) if several else 1
    with reporting(progress) as report:
        outcomes = simulated(
            policy, scenario, start, checked_seed(seed), rule=rule, draws=draws,
            replicates=count, space=space, passive=passive, discount=discount, report=report,
        )  # fmt: skip
        told = f"simulated by shoal {__version__}: {_words(policy, rule, draws)}, seed {seed}"
        warn_of_strides(outcomes)
        _warn_of_absent(outcomes)
        tracks = [as_tracks(outcome, told, several) for outcome in outcomes]
    return tracks[0] if len(tracks) == 1 and not several else Collection(tracks)


def simulated(  # noqa: PLR0913  (what simulate takes, resolved)
    policy: Any,
    scenario: Scenario,
    start: Any,
    seed: int,
    *,
    report: Report,
    rule: Any = "stochastic",
    draws: Any = "mean",
    replicates: int = 1,
    space: Any = None,
    passive: Any = None,
    discount: Any = 1.0,
    decisions: bool = False,
    between: bool = True,
    together: bool = False,
) -> list[Outcome]:
    """What became of every group, as arrays."""
    if rule not in RULES:
        raise InputError(f"rule is one of {', '.join(RULES)}; got {rule!r}")
    if draws not in DRAWS:
        raise InputError(f"draws is 'mean' or 'each'; got {draws!r}")
    course = Course(scenario.walls, scenario.stop or "", decisions)
    if isinstance(policy, Rules) and not isinstance(policy, type):
        designs = scenario.designs(start)
        warn_of_radius(getattr(policy, "reach", None), designs)
        outcomes = run_designs(policy.behaviour(), designs, replicates, seed, course, report)
        return _in_order(outcomes, designs)
    found = Policy.of(policy, passive, space, discount, draws)
    if found.moves is None:
        checked_space(found.space)
    designs = found.designs(scenario, start)
    apart = any(isinstance(part, Custom) for part in found.space.parts)
    steps = found.moves is not None and found.moves.moves.steps
    course = replace(course, apart=apart, steps=steps)
    behaviour, placed = found.followed(designs, replicates, seed, rule, between, together)
    return _run(behaviour, placed, replicates, seed, course, report)


def simulated_designs(
    policy: Policy,
    designs: Sequence[Design],
    scenario: Scenario,
    seed: int,
    *,
    replicates: int,
    report: Report,
) -> list[Outcome]:
    """What became of groups whose designs were made by hand, under the stochastic rule."""
    course = Course(scenario.walls, scenario.stop or "")
    behaviour, placed = policy.followed(designs, replicates, seed)
    return _run(behaviour, placed, replicates, seed, course, report)


def _run(
    behaviour: Behaviour,
    designs: Sequence[Design],
    replicates: int,
    seed: int,
    course: Course,
    report: Report,
) -> list[Outcome]:
    outcomes = run_designs(behaviour, designs, replicates, seed, course, report)
    ordered = _in_order(outcomes, designs)
    _warn_of_stateless(ordered)
    return ordered


def _in_order(outcomes: Iterable[Outcome], designs: Sequence[Design]) -> list[Outcome]:
    """Replicate by replicate, each in the order of the designs."""
    place = {id(design): number for number, design in enumerate(designs)}
    return sorted(outcomes, key=lambda outcome: (outcome.replicate, place[id(outcome.design)]))


def as_tracks(outcome: Outcome, told: str, several: bool) -> Tracks:
    """One group's tracks, with a label of its own where there are several from one start.

    Landmarks go where they went, for as long as they were followed.
    """
    design, frames = outcome.design, len(outcome.positions)
    label = f"{design.label} {outcome.replicate + 1}".strip() if several else design.label
    positions, angles = outcome.positions, outcome.headings
    if design.company:
        paths = np.stack([path[:frames] for path in design.company.values()], axis=1)
        positions = np.concatenate([positions, paths], axis=1)
        angles = np.concatenate([angles, np.full(paths.shape[:2], np.nan)], axis=1)
    made = Tracks.from_arrays(
        positions,
        fps=design.fps,
        individuals=[*design.members, *design.company],
        group=label,
        length_unit=design.length_unit,
        heading=angles,
        covariates=design.covariates,
        arena=design.arena,
        notes=[told],
    )
    return made.with_landmarks(*design.company) if design.company else made


def _checked_count(replicates: Any) -> int:
    if not hasattr(replicates, "__index__") or replicates < 1:
        raise InputError(f"replicates are a whole number, 1 or more; got {replicates!r}")
    return int(replicates)


def _words(policy: Any, rule: str, draws: str) -> str:
    if isinstance(policy, Rules):
        return repr(policy)
    of = {"mean": "the posterior mean", "each": "one posterior draw for each group"}[draws]
    return f"{rule} rule" + (f", {of}" if isinstance(policy, Fit) else "")


def warn_of_strides(outcomes: Sequence[Outcome]) -> None:
    """In a periodic box a long step looks like a short one the other way."""
    for outcome in outcomes:
        arena = outcome.design.arena
        if not isinstance(arena, Periodic):
            continue
        moved = np.abs(np.diff(outcome.positions, axis=0))
        if np.nanmax(moved / np.asarray(arena.sides), initial=0.0) >= 0.5:
            warn(
                f"animals cross half of the periodic box {arena} in one frame: headings cannot be "
                "read off their places, take tracker_headings=True"
            )
            return


def _warn_of_absent(outcomes: Sequence[Outcome]) -> None:
    """Members that are not in view at the start have no simulated double."""
    for outcome in outcomes:
        members = outcome.design.members
        absent = int(np.isnan(outcome.headings[0]).sum())
        if absent and outcome.replicate == 0:
            warn(
                f"{absent} of {len(members)} members of group {outcome.design.label!r} are not in "
                "view at the start, or never have a heading, and are not simulated"
            )


def _warn_of_stateless(outcomes: Sequence[Outcome]) -> None:
    lost = sum(outcome.stateless for outcome in outcomes)
    taken = sum((len(o.positions) - 1) * len(o.design.members) for o in outcomes)
    if taken and lost > 0.01 * taken:
        warn(
            f"in {lost / taken:.0%} of their decisions animals had no state (nobody to be seen, at "
            "the target, a landmark not seen, no turn that the passive dynamics allow): they "
            "turned without preferences, or went straight on"
        )
