"""What simulated animals live by: a fit, a solution or a cost-to-go, ready to be followed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from shoal.errors import InputError
from shoal.lmdp import Solution
from shoal.lmdp.policies import as_grid, checked_discount
from shoal.moves import Turns
from shoal.moves.reading import check_moves
from shoal.passive import Passive, PassiveOperator, as_operator
from shoal.posterior import DecisionFit, Fit
from shoal.simulation.behaviour import Behaviour
from shoal.simulation.choosing_moves import FollowMoves, MoveNumbers
from shoal.simulation.designs import Design, Scenario
from shoal.simulation.following import FollowPolicy
from shoal.simulation.turning import CoupledTurns, FollowTurns
from shoal.states import Custom, Folded, Scene, StateSpace
from shoal.tracks import Periodic
from shoal.tracks.record import warn


@dataclass(frozen=True, eq=False)
class Policy:
    """What animals live by: states, passive dynamics, one or more costs-to-go, a discount.

    Where the passive dynamics are turns, ``turns`` says how far animals turn; where animals choose
    among moves, ``moves`` says how likely these are without preferences.
    """

    space: StateSpace
    passive: PassiveOperator | None
    log_z: Float[np.ndarray, "draws J"]
    turns: CoupledTurns | None = None
    moves: MoveNumbers | None = None

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
            values, passive = given.cost_to_go, given.passive
        elif isinstance(passive, Turns):
            costs = np.asarray(given, dtype=float)
            if costs.shape != space.shape:
                raise InputError(f"costs of shape {costs.shape} do not fit states {space.shape}")
            check_moves(passive, space)
            numbers = MoveNumbers.of(passive, space)
            return cls(space, None, -costs.reshape(1, -1), None, numbers)
        else:
            if passive is None:
                raise InputError("a bare cost-to-go needs passive= to decide by")
            operator, values = as_operator(passive, space), given
        if operator.size != space.size:
            raise InputError(
                f"a policy over {operator.size} states does not fit a space of {space.size}"
            )
        grid = np.asarray(as_grid(values, operator, "cost_to_go")).reshape(1, -1)
        log_z = -checked_discount(discount) * grid
        turns = CoupledTurns.of(passive, space)
        return cls(space, _unfolded(passive, operator, space), log_z, turns)

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
        if isinstance(fit, DecisionFit):
            return cls(chosen, None, -costs, None, MoveNumbers.of_fit(fit, draws))
        passive = _unfolded(fit.passive, fit.operator, chosen)
        turns = CoupledTurns.of_fit(fit, draws)
        return cls(chosen, passive, -float(fit.model.discount) * costs, turns)

    def targets(self) -> list[Any]:
        """The targets of its features, fixed points and names."""
        found = [getattr(part, "target", None) for part in self.space.parts]
        return [target for target in found if target is not None]

    def goal(self) -> Any:
        """Where its animals may stop: the first target that does not move."""
        return next((target for target in self.targets() if not isinstance(target, str)), None)

    def designs(self, scenario: Scenario, start: Any) -> list[Design]:
        """Designs with the places that this needs, checked to be such that it can be followed."""
        groups = [] if not isinstance(start, Iterable) else list(start)
        members = {name for group in groups for name in getattr(group, "members", ())}
        named = [target for target in self.targets() if isinstance(target, str)]
        landmarks = list(dict.fromkeys(name for name in named if name not in members))
        designs = scenario.designs(groups or start, landmarks, self.goal())
        for name in set(named) - set(landmarks):
            if len({design.members for design in designs}) > 1:
                raise InputError(
                    f"the target {name!r} is a member, and the groups have different members: "
                    "simulate them one by one"
                )
        parts: Any = self.space.parts
        for part in parts:
            warn_of_radius(getattr(part, "radius", None), designs)
            _check_walls(part, designs)
            if getattr(part, "social", False) and any(len(d.members) < 2 for d in designs):
                raise InputError(
                    f"{part.axis.name} needs neighbours, and a group has a single animal"
                )
            if isinstance(part, Custom):
                for design in designs:
                    _try_function(part, design)
        return designs

    def followed(
        self,
        designs: Sequence[Design],
        replicates: int,
        seed: int,
        rule: str = "stochastic",
        between: bool = True,
        together: bool = False,
    ) -> tuple[Behaviour, list[Design]]:
        """The behaviour of so many groups, and designs with the targets that it needs.

        Every group has a draw of its own, or with ``together`` all groups of a replicate share one.
        """
        space, placed = _with_group_targets(self.space, designs)
        if together:
            draw = np.repeat(_dealt(len(self.log_z), replicates, seed), len(designs))
        else:
            draw = _dealt(len(self.log_z), replicates * len(designs), seed)
        used, which = np.unique(draw, return_inverse=True)
        log_z = self.log_z[used]
        if self.moves is not None:
            return FollowMoves.of(space, self.moves.only(used), log_z, which, rule), placed
        assert self.passive is not None
        if self.turns is not None:
            turns = self.turns.only(used)
            return FollowTurns.of(space, turns, log_z, which, rule, between), placed
        return FollowPolicy.of(space, self.passive, log_z, which, rule, between), placed


def _unfolded(passive: Any, operator: PassiveOperator, space: StateSpace) -> PassiveOperator:
    """P̄ on the whole circles behind absolute angles, where a specification says what it is."""
    circles = [axis.circle if isinstance(axis, Folded) else axis for axis in space.axes]
    specified = isinstance(passive, Passive) and not isinstance(passive, PassiveOperator)
    if specified and any(isinstance(axis, Folded) for axis in space.axes):
        return as_operator(passive, StateSpace(*circles))
    return operator


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


def _try_function(part: Custom, design: Design) -> None:
    """A user's function is called once where an error can be seen for what it is."""
    (positions, headings), _ = design.drawn(np.random.default_rng(0))
    places = {name: positions[None, i] for i, name in enumerate(design.members)}
    places |= {name: path[:1] for name, path in design.places.items()}
    scene = Scene(
        positions[None], headings[None], design.fps, design.label, places, design.arena,
        design.members,
    )  # fmt: skip
    try:
        part.values(scene)
    except InputError:
        raise
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"the function for {part.axis.name!r} failed on one frame of group {design.label!r} "
            f"({words:.200})"
        ) from error


def _check_walls(part: Any, designs: Sequence[Design]) -> None:
    """A distance to walls needs walls."""
    if part.axis.name != "wall_distance" or part.arena is not None:
        return
    for design in designs:
        if design.arena is None or isinstance(design.arena, Periodic):
            raise InputError(
                f"wall_distance needs the walls around group {design.label!r}: pass "
                "arena=shoal.tracks.Rectangle(left, bottom, right, top) or "
                "shoal.tracks.Circle(x, y, radius)"
            )


def warn_of_radius(radius: Any, designs: Sequence[Design]) -> None:
    """A neighbourhood wider than half a periodic box meets itself."""
    arenas = {design.arena for design in designs if isinstance(design.arena, Periodic)}
    for arena in arenas:
        if radius is not None and radius > min(arena.sides) / 2:
            warn(
                f"a radius of {radius:g} is more than half of the periodic box {arena}: animals "
                "would see others by more than one way round, and count the shortest only"
            )
