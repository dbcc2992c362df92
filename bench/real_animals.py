"""Bits per held-out decision on real animals: costs, baselines and cloning, a row for each.

Frames are thinned until successive turns do not go opposite ways (errors of measurement make them);
what is held out plays no part in it. How much of a turn is repeated in the next one is taken once
from what is learned from, as how much of a step is; all else about passive moves is learned. Gains
are over passive moves alone, with standard errors over groups where there are 6 or more, else over
blocks of time. A gain of turns is that of turns with any passive steps.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import shoal
from cloning import cloned
from shoal.moves import MoveFamily
from shoal.passive.estimating import most_probable
from shoal.posterior import Score
from shoal.selection.baselines import given, move_ladder
from shoal.selection.holding_out import group_rows, parts_of
from shoal.selection.matching import common
from shoal.selection.side_by_side import _entry

ALL_TO_LEARN, ALL_TO_SCORE, GROUPS = 8_000, 6_000, 6
SETS = {
    "sheep": ("sheep-dog/drives_data.mat", 5),
    "guppy pairs": ("guppy-pairs-robofish", 5),
    "fish-escape": ("fish-escape5", 5),
    "sticklebacks": ("sticklebacks5/fish-5.csv", 2),
    "pigeons": ("pigeons10/ffA2_1.mat", 1),
    "goats": ("goats-gps16", 2),
    "guppies": ("bode-guppy/observed_male_guppies_digitised.csv", 2),
}
"""Where the tracks are, and one frame in how many is kept."""

JUDGED = "smooth costs of all three"
"""The one model by which it is said whether costs gain: the best of several would flatter."""

KEPT = (
    "alignment (Vicsek)",
    "zones (Couzin)",
    "linear terms (step selection)",
    "smooth costs without interactions",
    "smooth costs of all three",
)
NAMES = {"smooth costs": "smooth costs of all three"}


def real(folder: Path, only: str = "") -> None:
    """All data sets, or one; others that go straight on come last, for all of them."""
    print("| data | moves | model | learned | held out | blocks | gain (bits) | s | warning |")
    print("|---|---|---|---|---|---|---|---|---|", flush=True)
    judged: dict[str, bool] = {}
    for models in (by_steps, by_turns, by_steps_ahead):
        for name, (place, every) in SETS.items():
            if only in ("", name):
                gains = models(name, *_tracks(folder / place, every))
                for gain, error in gains:
                    judged[name] = gain > 2 * error
    told = [name for name, clear in judged.items() if clear]
    print(f"\n{JUDGED}: more than two standard errors on {len(told)}: {', '.join(told)}.")


def _tracks(place: Path, every: int) -> tuple[list[Any], dict[str, Any]]:
    """The groups, and what an animal of them may perceive."""
    tracks: Any = shoal.read_tracks(place)
    groups = [tracks] if isinstance(tracks, shoal.Tracks) else list(tracks)
    groups = [group.thin(every) for group in groups if len(group.members) > 1]
    gaps = [shoal.Distance((0, 1)).values(shoal.states.Scene.of(group)).ravel() for group in groups]
    edges = np.nanquantile(np.concatenate(gaps), np.linspace(0.12, 0.95, 8))
    align = shoal.LocalMisalignment(include_self=False, bins=12)
    bearing = shoal.Bearing(bins=12)
    gap = shoal.Distance(np.unique(np.concatenate([[0.0], edges])), beyond=True)
    return groups, {
        "all three": shoal.StateSpace(align, gap, bearing),
        "distance and bearing": shoal.StateSpace(gap, bearing),
        "alignment": shoal.StateSpace(align),
        "both angles": shoal.StateSpace(align, bearing),
    }


def by_steps(name: str, groups: list[Any], spaces: dict[str, Any]) -> list[tuple[float, float]]:
    """Steps: rules, regressions, smooth costs, cloning."""
    steps = _persistent(groups, shoal.Steps())
    base = shoal.decisions(groups, spaces["all three"], steps)
    pair = shoal.decisions(groups, spaces["distance and bearing"], steps)
    base = common(base, [("pair", pair)])
    candidates = [replace(c, name=NAMES.get(c.name, c.name)) for c in move_ladder(base)]
    candidates = [c for c in candidates if c.name in KEPT]
    candidates.append(_smooth("distance and bearing", pair))
    found = _rows(name, "steps", base, candidates)
    part, apart = _part(base)
    begun = time.perf_counter()
    logs = cloned(*part) / np.log(2)
    _row((name, "steps", "cloning (neural network)"), part, _score(logs, part[1], apart), begun)
    return found


def by_turns(name: str, groups: list[Any], spaces: dict[str, Any]) -> list[tuple[float, float]]:
    """Turns: alignment alone, and both angles."""
    turns = _persistent(groups, shoal.Turns())
    both = shoal.decisions(groups, spaces["both angles"], turns)
    one = shoal.decisions(groups, spaces["alignment"], turns)
    both = common(both, [("alignment", one)])
    return _rows(name, "turns", both, [_smooth("alignment", one), _smooth("both angles", both)])


def by_steps_ahead(
    name: str, groups: list[Any], spaces: dict[str, Any]
) -> list[tuple[float, float]]:
    """Steps among others that go straight on."""
    steps = _persistent(groups, shoal.Steps(others="ahead"))
    read = shoal.decisions(groups, spaces["all three"], steps)
    return _rows(name, "steps", read, [_smooth("all three, others ahead", read)])


def _persistent(groups: list[Any], moves: Any) -> Any:
    """With the persistence of turns that describes best what is learned from."""
    space = shoal.StateSpace(shoal.LocalMisalignment(bins=72))
    read = shoal.decisions(groups, space, replace(moves, persistence=True, candidates=8))
    family = MoveFamily.of(read.moves, space)
    found = family.values(jnp.asarray(most_probable(family, _part(read)[0][0].moved)))
    persistence = float(found[family.names.index("persistence of turns")])
    return replace(moves, persistence=round(persistence, 2))


def _smooth(words: str, read: Any) -> Any:
    model = shoal.Model(read.space, read.moves, shoal.Smooth())
    return given(f"smooth costs of {words}", model, (read, read))


def _part(read: Any) -> tuple[tuple[Any, Any], bool]:
    """What to learn from and what to score, and whether whole groups are held out."""
    apart = len(read.records.groups) >= GROUPS
    parts, _ = parts_of(read, "group:0.67" if apart else "time:0.67", 1)
    return (_some(parts[0][0], ALL_TO_LEARN), _some(parts[0][1], ALL_TO_SCORE)), apart


def _some(read: Any, most: int) -> Any:
    """Evenly spread, where there are more than are wanted."""
    rows = np.unique(np.linspace(0, read.total - 1, min(most, read.total)).astype(int))
    return read.take(rows)


def _rows(name: str, moves: str, read: Any, candidates: list[Any]) -> list[tuple[float, float]]:
    """A row for each model; the gain of the one that is judged."""
    part, apart = _part(read)
    found = []
    for candidate in [move_ladder(read)[0], *candidates]:
        begun = time.perf_counter()
        _, entry = _entry((0, candidate), [part], method="laplace", draws=100, seed=1, apart=apart)
        if not candidate.costs:
            BASES[name, moves] = entry.score
        gain = _row((name, moves, candidate.name), part, entry.score, begun, entry.doubts)
        if candidate.name == JUDGED:
            found.append(gain)
    return found


BASES: dict[tuple[str, str], Score] = {}
"""Scores of passive moves alone."""


def _score(bits: np.ndarray, held: Any, apart: bool) -> Score:
    rows = group_rows(held) if apart else held.block_rows()
    sums = np.array([bits[block].sum() for block in rows])
    return Score(sums, np.array([float(len(block)) for block in rows]))


def _row(
    names: tuple[str, str, str], part: Any, score: Score, begun: float, doubts: Any = ()
) -> tuple[float, float]:
    seen, held = part
    base = BASES[names[:2]]
    gain, error = score.minus(base)
    words = f"{gain:+.3f} ± {error:.3f}" + (" **" if gain > 2 * error else "")
    if score is base:
        words = f"{base.bits:.3f} ± {base.standard_error:.3f} in all"
    print(
        f"| {' | '.join(names)} | {seen.total} | {held.total} | {len(score.counts)} | {words} | "
        f"{time.perf_counter() - begun:.0f} | {', '.join(doubts)} |",
        flush=True,
    )
    return gain, error
