"""Whether steps are so small that bins hide them."""

from typing import Any

from shoal.passive.random_walk import RandomWalk
from shoal.passive.turn_coupled import TurnCoupled
from shoal.passive.unknown import Unknown
from shoal.passive.walk_mixture import WalkMixture
from shoal.states import Axis, Circular, Folded, Interval, StateSpace

FIELDS = {
    RandomWalk: ("sd",),
    WalkMixture: ("sd",),
    TurnCoupled: ("spread", "noise", "tails", "step"),
}


def narrow_axes(passive: Any, space: StateSpace) -> list[str]:
    """A sentence for each axis whose steps are narrower than half a bin.

    Steps are judged by all known widths that act on the axis, added up; one that is unknown may be
    anything.
    """
    fields = FIELDS.get(type(passive))
    if fields is None:
        return []
    found = []
    parts = passive.parameters(space)
    for n, axis in enumerate(space.axes):
        own = [p for p in parts if p.field in fields and p.axis in (n, None)]
        if isinstance(passive, TurnCoupled) and not isinstance(axis, Circular):
            own = [p for p in own if p.axis == n]
        if not own or any(isinstance(p.given, Unknown) for p in own):
            continue
        step, bin_width = sum(float(p.given) for p in own), _bin(axis)
        if bin_width is not None and step < bin_width / 2:
            found.append(
                f"steps of {axis.name.replace('_', ' ')} ({step:.3g} {axis.unit}) are narrower "
                f"than half of its bins ({bin_width:.3g} {axis.unit} wide): most transitions stay "
                "where they were and say little; take more bins or a longer lag"
            )
    return found


def _bin(axis: Axis) -> float | None:
    if isinstance(axis, Circular | Folded | Interval):
        return float(axis.widths.max())
    return None
