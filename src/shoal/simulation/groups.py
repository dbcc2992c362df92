"""Groups that live by a fit, a solution, a cost-to-go, or the rules of a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError, checked_seed
from shoal.lmdp import Solution
from shoal.lmdp.policies import as_grid, checked_discount
from shoal.passive import PassiveOperator, as_operator
from shoal.posterior import Fit
from shoal.progress import Report, reporting
from shoal.simulation.batches import Course, Outcome, run_designs
from shoal.simulation.behaviour import Behaviour
from shoal.simulation.designs import Design, Surroundings
from shoal.simulation.following import RULES, FollowPolicy, checked_space
from shoal.states import StateSpace
from shoal.tracks import Collection, Periodic, Tracks
from shoal.tracks.record import warn
from shoal.version import __version__

DRAWS = ("mean", "each")


@runtime_checkable
class Rules(Protocol):
    """A model whose rules are known, such as ``Vicsek()``: it says how its animals behave."""

    def behaviour(self) -> Behaviour:
        """What its animals do."""
        ...


@dataclass(frozen=True, eq=False)
class Policy:
    """What animals live by: states, passive dynamics, one or more costs-to-go, a discount."""

    space: StateSpace
    passive: PassiveOperator
    log_z: Float[np.ndarray, "draws J"]

    @classmethod
    def of(cls, given: Any, passive: Any, space: Any, discount: float, draws: str) -> "Policy":
        """From a fit, a solution, or a cost-to-go with what belongs to it."""
        if isinstance(given, Fit):
            return cls._of_fit(given, passive, space, draws)
        if space is None:
            raise InputError(
                "to move, animals must perceive their state: pass space=shoal.StateSpace(…) made "
                "of features such as LocalMisalignment()"
            )
        if isinstance(given, Solution):
            if passive is not None:
                raise InputError("a Solution knows its passive dynamics: pass it alone")
            if given.horizon == "finite":
                raise InputError(
                    "a finite horizon has another policy at every step: simulate_decisions follows "
                    "it, moving animals cannot"
                )
            operator, discount = as_operator(given.passive), given.discount
            values = given.cost_to_go
        else:
            if passive is None:
                raise InputError("a bare cost-to-go needs passive= to decide by")
            operator, values = as_operator(passive, space), given
        if operator.size != space.size:
            raise InputError(
                f"a policy over {operator.size} states does not fit a space of {space.size}"
            )
        grid = np.asarray(as_grid(values, operator, "cost_to_go")).reshape(1, -1)
        return cls(space, operator, -checked_discount(discount) * grid)

    @classmethod
    def _of_fit(cls, fit: Fit, passive: Any, space: Any, draws: str) -> "Policy":
        if passive is not None:
            raise InputError("a Fit knows its passive dynamics: pass it alone")
        if space is not None and space.axes != fit.model.space.axes:
            raise InputError(
                f"the axes {space.names} of space= are not those of the fit, "
                f"{fit.model.space.names}"
            )
        costs = fit.cost_to_go.values.reshape(-1, fit.model.space.size)
        if draws == "mean":
            costs = costs.mean(axis=0, keepdims=True)
        chosen = fit.model.space if space is None else space
        return cls(chosen, fit.model.operator(), -float(fit.model.discount) * costs)

    def targets(self) -> list[Any]:
        """The targets of its features, fixed points and names."""
        found = [getattr(part, "target", None) for part in self.space.parts]
        return [target for target in found if target is not None]

    def goal(self) -> Any:
        """Where its animals may stop: the first target that does not move."""
        return next((target for target in self.targets() if not isinstance(target, str)), None)


def simulate(  # noqa: PLR0913  (every choice a user has)
    policy: Any,
    *,
    start: Any = None,
    steps: Any = None,
    seed: Any,
    rule: Any = "stochastic",
    draws: Any = "mean",
    replicates: Any = None,
    speed: Any = None,
    arena: Any = None,
    walls: Any = "reflect",
    stop: Any = None,
    target: Any = None,
    reach: Any = None,
    space: Any = None,
    passive: Any = None,
    discount: Any = 1.0,
    fps: Any = None,
    length_unit: str = "",
    heading_frames: Any = 1,
    minimum_step: Any = 0.0,
    tracker_headings: Any = False,
    progress: bool | Report | None = None,
) -> Any:
    """Animals that perceive their group, choose among turns, and move; as Tracks.

    Parameters
    ----------
    policy
        A Fit; a Solution, with ``space``; a cost-to-go, with ``space``, ``passive`` and
        ``discount``; or a model with known rules, ``Vicsek(…)`` or ``Couzin(…)``.
    start
        Tracks, whose members begin where they were first seen together; several Tracks, for a
        simulated group each; or ``shoal.Release(…)``.
    steps
        Frames after the start; by default as many as the tracks have.
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
        ``Rectangle(…)``, ``Circle(…)``, ``Periodic(…)``, ``"unbounded"``; None: that of the tracks.
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
        How headings at the start are read off tracks, see ``shoal.headings``.
    progress
        True for a bar, False for none, None for a bar on a terminal.

    Returns
    -------
    Tracks for one group, a Collection for several. In a periodic box places go on beyond its edge,
    so that paths stay whole. Headings are part of the Tracks.

    Examples
    --------
    >>> import shoal
    >>> box = shoal.Periodic(0, 0, 1, 1)
    >>> flock = shoal.simulate(
    ...     shoal.Vicsek(radius=0.1, noise=10), start=shoal.Release(50), steps=20, speed=0.03,
    ...     arena=box, seed=1,
    ... )
    >>> flock
    Tracks(50 animals, 21 frames, 0 of 1050 fixes missing)
    """
    surroundings = Surroundings(
        steps, speed, arena, walls, stop, target, reach, fps, length_unit, heading_frames,
        minimum_step, tracker_headings,
    )  # fmt: skip
    several = replicates is not None
    count = _checked_count(replicates) if several else 1
    with reporting(progress) as report:
        outcomes = simulated(
            policy, surroundings, start, checked_seed(seed), rule=rule, draws=draws,
            replicates=count, space=space, passive=passive, discount=discount, report=report,
        )  # fmt: skip
        told = f"simulated by shoal {__version__}: {_words(policy, rule, draws)}, seed {seed}"
        warn_of_strides(outcomes)
        tracks = [as_tracks(outcome, told, several) for outcome in outcomes]
    return tracks[0] if len(tracks) == 1 and not several else Collection(tracks)


def simulated(  # noqa: PLR0913  (what simulate takes, resolved)
    policy: Any,
    surroundings: Surroundings,
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
) -> list[Outcome]:
    """What became of every group, as arrays."""
    if rule not in RULES:
        raise InputError(f"rule is one of {', '.join(RULES)}; got {rule!r}")
    if draws not in DRAWS:
        raise InputError(f"draws is 'mean' or 'each'; got {draws!r}")
    course = Course(surroundings.walls, surroundings.stop or "", decisions)
    if isinstance(policy, Rules) and not isinstance(policy, type):
        designs = surroundings.designs(start)
        _warn_of_radius(getattr(policy, "reach", None), designs)
        outcomes = run_designs(policy.behaviour(), designs, replicates, seed, course, report)
        return _in_order(outcomes, designs)
    found = Policy.of(policy, passive, space, discount, draws)
    checked_space(found.space)
    designs = _designs(found, surroundings, start)
    return _followed(found, designs, course, seed, rule, between, replicates, report)


def simulated_designs(
    policy: Any,
    designs: Sequence[Design],
    surroundings: Surroundings,
    seed: int,
    *,
    space: StateSpace,
    replicates: int,
    report: Report,
) -> list[Outcome]:
    """What became of groups whose designs were made by hand, under the stochastic rule."""
    found = Policy.of(policy, None, space, 1.0, "mean")
    course = Course(surroundings.walls, surroundings.stop or "")
    return _followed(found, list(designs), course, seed, "stochastic", True, replicates, report)


def _followed(
    policy: Policy,
    designs: list[Design],
    course: Course,
    seed: int,
    rule: str,
    between: bool,
    replicates: int,
    report: Report,
) -> list[Outcome]:
    space, placed = _with_group_targets(policy.space, designs)
    draw = _dealt(len(policy.log_z), replicates * len(designs), seed)
    used, which = np.unique(draw, return_inverse=True)
    behaviour = FollowPolicy.of(space, policy.passive, policy.log_z[used], which, rule, between)
    outcomes = run_designs(behaviour, placed, replicates, seed, course, report)
    ordered = _in_order(outcomes, placed)
    _warn_of_stateless(ordered)
    return ordered


def _in_order(outcomes: Iterable[Outcome], designs: Sequence[Design]) -> list[Outcome]:
    """Replicate by replicate, each in the order of the designs."""
    place = {id(design): number for number, design in enumerate(designs)}
    return sorted(outcomes, key=lambda outcome: (outcome.replicate, place[id(outcome.design)]))


def _designs(policy: Policy, surroundings: Surroundings, start: Any) -> list[Design]:
    """Designs with the places that a policy needs, checked to be such that it can be followed."""
    groups = [] if not isinstance(start, Iterable) else list(start)
    members = {name for group in groups for name in getattr(group, "members", ())}
    named = [target for target in policy.targets() if isinstance(target, str)]
    landmarks = list(dict.fromkeys(name for name in named if name not in members))
    designs = surroundings.designs(groups or start, landmarks, policy.goal())
    for name in set(named) - set(landmarks):
        if len({design.members for design in designs}) > 1:
            raise InputError(
                f"the target {name!r} is a member, and the groups have different members: simulate "
                "them one by one"
            )
    for part in policy.space.parts:
        _warn_of_radius(getattr(part, "radius", None), designs)
        _check_walls(part, designs)
        if getattr(part, "social", False) and any(len(d.members) < 2 for d in designs):
            raise InputError(f"{part.axis.name} needs neighbours, and a group has a single animal")  # type: ignore[union-attr]
    return designs


def _dealt(draws: int, groups: int, seed: int) -> np.ndarray:
    """A draw for each group: all different while there are enough of them."""
    rng = np.random.default_rng([seed, 2**31])
    rounds = -(-groups // draws)
    return np.concatenate([rng.permutation(draws) for _ in range(rounds)])[:groups]


def _with_group_targets(
    space: StateSpace, designs: Sequence[Design]
) -> tuple[StateSpace, list[Design]]:
    """Targets that differ from group to group become landmarks that stand still."""
    parts, changed = [], list(designs)
    for part in space.parts:
        target = getattr(part, "target", None)
        if isinstance(target, tuple) and target and isinstance(target[0], tuple):
            name, points = f"target of {part.axis.name}", dict(target)  # type: ignore[union-attr]
            for number, design in enumerate(changed):
                if design.label not in points:
                    raise InputError(
                        f"there is no target for group {design.label!r}, only for "
                        f"{', '.join(points)}"
                    )
                path = np.tile(np.asarray(points[design.label], dtype=float), (design.steps, 1))
                changed[number] = replace(design, places=design.places | {name: path})
            part = replace(part, target=name)  # type: ignore[type-var]  # noqa: PLW2901
        parts.append(part)
    return StateSpace(*parts), changed


def as_tracks(outcome: Outcome, told: str, several: bool) -> Tracks:
    """One group's tracks, with a label of its own where there are several from one start."""
    design = outcome.design
    label = f"{design.label} {outcome.replicate + 1}".strip() if several else design.label
    return Tracks.from_arrays(
        outcome.positions,
        fps=design.fps,
        individuals=design.members,
        group=label,
        length_unit=design.length_unit,
        heading=outcome.headings,
        covariates=design.covariates,
        arena=design.arena,
        notes=[told],
    )


def _checked_count(replicates: Any) -> int:
    if not hasattr(replicates, "__index__") or replicates < 1:
        raise InputError(f"replicates are a whole number, 1 or more; got {replicates!r}")
    return int(replicates)


def _words(policy: Any, rule: str, draws: str) -> str:
    if isinstance(policy, Rules):
        return repr(policy)
    of = {"mean": "the posterior mean", "each": "one posterior draw for each group"}[draws]
    return f"{rule} rule" + (f", {of}" if isinstance(policy, Fit) else "")


def _check_walls(part: Any, designs: Sequence[Design]) -> None:
    """A distance to walls needs walls."""
    if part.axis.name != "wall_distance" or part.arena is not None:
        return
    for design in designs:
        if design.arena is None or isinstance(design.arena, Periodic):
            raise InputError(
                f"wall_distance needs the walls around group {design.label!r}: pass "
                "arena=shoal.Rectangle(left, bottom, right, top) or shoal.Circle(x, y, radius)"
            )


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


def _warn_of_radius(radius: Any, designs: Sequence[Design]) -> None:
    arenas = {design.arena for design in designs if isinstance(design.arena, Periodic)}
    for arena in arenas:
        if radius is not None and radius > min(arena.sides) / 2:
            warn(
                f"a radius of {radius:g} is more than half of the periodic box {arena}: animals "
                "would see others by more than one way round, and count the shortest only"
            )


def _warn_of_stateless(outcomes: Sequence[Outcome]) -> None:
    lost = sum(outcome.stateless for outcome in outcomes)
    taken = sum((len(o.positions) - 1) * len(o.design.members) for o in outcomes)
    if taken and lost > 0.01 * taken:
        warn(
            f"in {lost / taken:.0%} of their decisions animals had no state, since they saw nobody "
            "or were at the target: they turned by the passive dynamics then"
        )
