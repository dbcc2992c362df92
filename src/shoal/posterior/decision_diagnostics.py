"""The diagnostics of a fit to decisions: candidates, turns that depend on each other, bins."""

import math
from typing import TYPE_CHECKING, Any

from shoal.posterior.data_diagnostics import note_entered, note_learned
from shoal.posterior.diagnostics import SPOILT, Diagnostics, Findings
from shoal.posterior.method_diagnostics import judge_method

if TYPE_CHECKING:
    from shoal.posterior.fit import Fit

ROUGH = 0.2
"""Posterior sds that half as many candidates may move a cost by, before it is said."""

CORRELATED = 0.1
"""The correlation of successive turns beyond which it is said."""

FLAT, FAR_TOO_FLAT = 0.05, 0.2
"""The shares that wide bins take off costs of distances at which it is said, and not trusted."""

BEYOND, FAR_BEYOND = 0.05, 0.2
"""The shares of decisions beyond the last bin at which it is said, and costs are not trusted."""


def diagnose_decisions(fit: "Fit") -> Diagnostics:
    """Judge a fit to decisions."""
    found = Findings()
    judge_method(fit, found)
    shift = found.numbers["quadrature_shift"] = float(fit.facts["quadrature_shift"])
    count = fit.model.passive.candidates
    if shift > 1:
        found.failures.append(
            f"Too few candidate moves for costs this sharp: with half of the {count} a cost would "
            f"move by {shift:.1f} of its standard deviation. Use more, "
            f"{type(fit.model.passive).__name__}(candidates={4 * count}); on the command line "
            f"--candidates {4 * count}."
        )
    elif shift > ROUGH:
        found.notes.append(
            f"With half of the {count} candidate moves a cost would move by {shift:.2f} of its "
            f"standard deviation; candidates={2 * count} is more exact."
        )
    _note_turns(fit, found)
    _note_together(fit, found)
    _note_beyond(fit, found)
    _note_flat(fit, found)
    note_entered(fit, found)
    note_learned(fit, found)
    return found.diagnostics()


def thinning_against_noise(together: float) -> int:
    """Of how many frames to keep one, so that errors make up a twentieth of the variance of turns.

    Errors of places alone give successive turns a correlation of −2/3: each heading has its error
    with one sign in the turn towards it and with the other in the turn away from it, and shares a
    place with the next. Over k frames an error is k times smaller and turns vary k times more.

    >>> [thinning_against_noise(rho) for rho in (-0.1, -0.3, -0.6)]
    [2, 3, 6]
    """
    share = min(1.5 * abs(together), 0.98)
    return math.ceil((19 * share / (1 - share)) ** (1 / 3))


def _note_turns(fit: "Fit", found: Findings) -> None:
    """Turns that depend on the turn before, while the passive moves say that they do not."""
    together = found.numbers["turn_correlation"] = float(fit.facts["turn_correlation"])
    if fit.model.passive.persistence != 0 or not abs(together) > CORRELATED:
        return
    if together > 0:
        found.notes.append(
            f"Successive turns go the same way, more than costs explain (correlation "
            f"{together:.2f}): animals that are turning go on turning, which these passive moves "
            f"do not know. Try {type(fit.model.passive).__name__}(persistence=True); on the "
            "command line --persistence learned."
        )
    else:
        every = found.numbers["thin_by"] = float(thinning_against_noise(together))
        words = (
            f"Successive turns go opposite ways, more than costs explain (correlation "
            f"{together:.2f}), as errors of measurement make them: noise in headings looks like a "
            f"wish to align. Keep one frame in {every:.0f} or fewer: tracks.thin({every:.0f}); on "
            f"the command line --every {every:.0f}."
        )
        (found.failures if together < -SPOILT else found.notes).append(words)


def _note_together(fit: "Fit", found: Findings) -> None:
    """Turns that animals make together; fits of older files do not know."""
    together = float(fit.facts.get("frame_correlation", math.nan))
    if not together > max(CORRELATED, 3 / math.sqrt(fit.facts.get("frame_pairs", 1.0))):
        return
    found.numbers["frame_correlation"] = together
    found.notes.append(
        f"Animals of a group turn the same way in the same frame, more than costs explain "
        f"(correlation {together:.2f}): they react to each other within one move, or to something "
        "that is no feature. Intervals are then too short, and simulated groups too loose. Shorter "
        "moves help (a smaller number in tracks.thin; on the command line --every), and features "
        "of what they react to."
    )


def _note_flat(fit: "Fit", found: Findings) -> None:
    """Costs of distances that bins make too flat; fits of older files do not know."""
    for axis, share in fit.facts.get("too_flat", {}).items():
        if share > FLAT:
            found.numbers[f"too_flat_{axis}"] = share
            (found.failures if share > FAR_TOO_FLAT else found.notes).append(
                f"Steps are short beside the bins of the {axis.replace('_', ' ')}, and there is no "
                f"room for narrower ones: its costs come out about {share:.0%} too flat. Take "
                "fewer features or fewer bins of angles, a shorter range of distances, or longer "
                "moves (a larger number in tracks.thin; on the command line --every)."
            )


def _note_beyond(fit: "Fit", found: Findings) -> None:
    """Decisions beyond the last bin of a distance or speed; fits of older files do not know."""
    axes: Any = fit.model.space.axes
    for axis in axes:
        share, far = fit.facts.get("beyond_bins", {}).get(axis.name, (0.0, 0.0))
        if not share > BEYOND:
            continue
        found.numbers[f"beyond_{axis.name}"] = share
        name, last = axis.name.replace("_", " "), axis.edges[-1]
        words = (
            f"{share:.0%} of the decisions are beyond the last bin of the {name} (above {last:g}). "
            "Costs do not change there, so that those of the last bins come out too much alike. "
            f"Use bins up to {far:.2g} or more: edges= in Python; on the command line "
            f":max={far:.2g} after the feature, such as neighbour-distance:max=10."
        )
        (found.failures if share > FAR_BEYOND else found.notes).append(words)
