"""Costs that are smooth, not constant on bins: whether fits bring them back.

    python bench/smooth_costs.py [--seeds 20] [--wants attraction distance nothing]
    python bench/smooth_costs.py --bearing           three features: some minutes for a few groups
    python bench/smooth_costs.py --contrast 1        how much dearer far is than the best distance
    python bench/smooth_costs.py --last 1.5          bins of the user, the last one open from there
    python bench/smooth_costs.py --last 1.5 --closed bins of the user that end there
    python bench/smooth_costs.py --open              no periodic box: animals may lose each other

Five animals choose among 2,000 moves each, drawn from passive ones, by p̄ e^{−q} with
q = A (1 − cos misalignment) + g(distance of the nearest neighbour); its bearing costs nothing.
Tracks are made by a plain loop of this file that shares nothing with shoal; bins are those that
the command line would take.

Wants: ``attraction``, g is least at 0.8, rises towards 0 and levels off far away; ``distance``,
nothing but the rise towards 0; ``nothing``, g = 0. Contrasts are means over all states of the other
features, at bins with 20 decisions or more. "Drawn" are the same as figures show them, others
equal. "Said" counts sentences of the page.
"""

import argparse
import time
import warnings
from typing import Any

import numpy as np

import shoal
from shoal.cli.compiling import keep_programs
from shoal.posterior.choices import statements
from shoal.posterior.decision_fit import without_levels
from shoal.posterior.preferences import preferences
from shoal.workflows.features import feature_of

ANIMALS, MOVES, OFTEN = 5, 2000, 20
SPREAD, TYPICAL, VARIATION, FOLLOW = 10.0, 0.1, 0.3, 0.5
BEST, REACH, NEAR = 0.8, 1.0, 2.0


def of_angle(degrees: Any, chosen: Any) -> Any:
    return chosen.align * (1 - np.cos(np.deg2rad(degrees)))


def of_distance(far: Any, wants: str, chosen: Any) -> Any:
    """Smooth: both parts have slope 0 where they meet, at the best distance."""
    rise = NEAR * np.clip(1 - far / BEST, 0, None) ** 2
    fall = chosen.contrast * (1 - np.exp(-((np.clip(far - BEST, 0, None) / REACH) ** 2)))
    return {"attraction": rise + fall, "distance": rise, "nothing": 0.0 * far}[wants]


def tracks_of(wants: str, seed: int, chosen: Any) -> Any:
    """Places of all animals, frame by frame (time, animals, 2), by a plain loop."""
    rng = np.random.default_rng([seed, 77])
    side = np.inf if chosen.open else chosen.side
    place = rng.uniform(-0.5, 0.5, (ANIMALS, 2)) * (3.0 if chosen.open else side)
    heading = rng.uniform(-np.pi, np.pi, ANIMALS)
    step, walked = np.full(ANIMALS, TYPICAL), []
    shape, one = VARIATION**-2, np.eye(ANIMALS, dtype=bool)
    kept, own = np.exp(-np.deg2rad(SPREAD)), np.arange(ANIMALS)
    for _ in range(chosen.frames):
        walked.append(place)
        # a wrapped Cauchy turn with mean direction 0 and mean length ``kept``
        u = np.tan(np.pi * (rng.random((ANIMALS, MOVES)) - 0.5))
        turn = 2 * np.arctan((1 - kept) / (1 + kept) * u)
        mean = (1 - FOLLOW) * TYPICAL + FOLLOW * step[:, None]
        length = mean * rng.gamma(shape, 1 / shape, (ANIMALS, MOVES))
        way = heading[:, None] + turn
        onto = place[:, None] + length[..., None] * np.stack([np.cos(way), np.sin(way)], axis=2)
        gap = place[None, None] - onto[:, :, None]  # deciding, move, other, x and y
        if np.isfinite(side):
            gap -= side * np.round(gap / side)
        far = np.where(one[:, None], np.inf, np.hypot(gap[..., 0], gap[..., 1])).min(axis=2)
        unit = np.stack([np.cos(heading), np.sin(heading)], axis=1)
        x, y = (unit.sum(axis=0) - unit).T
        angle = np.rad2deg(np.arctan2(y, x)[:, None] - way)
        cost = of_angle(angle, chosen) + of_distance(far, wants, chosen)
        chance = np.cumsum(np.exp(cost.min(axis=1, keepdims=True) - cost), axis=1)
        pick = (chance < rng.random((ANIMALS, 1)) * chance[:, -1:]).sum(axis=1)
        place, heading, step = onto[own, pick], way[own, pick], length[own, pick]
    return np.array(walked)


def space_of(tracks: Any, chosen: Any) -> Any:
    """As the command line makes it: --state local:others,neighbour-distance[,neighbour-bearing]."""
    word = "neighbour-distance"
    if chosen.last and chosen.closed:
        word += ":edges=" + "/".join(f"{edge:.4g}" for edge in np.linspace(0, chosen.last, 11))
    elif chosen.last:
        word += f":max={chosen.last:g}"
    words = ["local:others", word, *(["neighbour-bearing"] if chosen.bearing else [])]
    scenes, bins = [shoal.states.Scene.of(tracks)], 18 if len(words) > 2 else 36
    parts = [feature_of(one, None, tracks.arena, "", lambda: scenes, bins) for one in words]
    return shoal.StateSpace(*parts)


def contrasts(space: Any, arrivals: Any) -> dict[str, tuple[int, int, int]]:
    """By name: an axis, and the two of its bins that are compared."""
    every = set(range(arrivals.ndim))
    seen = [arrivals.sum(axis=tuple(every - {n})) >= OFTEN for n in (0, 1)]
    angles, middles = space.axes[0].centres, space.axes[1].centres
    turned, known = np.where(seen[0], np.abs(angles), -1), np.flatnonzero(seen[1])
    best = int(known[np.argmin(np.abs(middles[known] - BEST))])
    return {
        "opposed − aligned": (0, int(np.argmax(turned)), int(np.argmin(np.abs(angles)))),
        "far − preferred": (1, int(known[-1]), best),
        "near − preferred": (1, int(known[0]), best),
    }


def along(costs: Any, axis: int, features: int) -> Any:
    """The mean over all states of the other features."""
    return costs.mean(axis=tuple(n - features for n in range(features) if n != axis))


def told(draws: Any, right: float) -> dict[str, float]:
    (low, high), error, sd = np.quantile(draws, [0.025, 0.975]), draws.mean() - right, draws.std()
    held, there = low <= right <= high, low > 0 or high < 0
    return {"held": held, "there": there, "truth": right, "error": error, "z": error / sd, "sd": sd}


def one_group(wants: str, seed: int, chosen: Any) -> dict[str, Any]:
    """Tracks, fit, and what it says beside what is so."""
    half = chosen.side / 2
    arena = None if chosen.open else shoal.tracks.Periodic(-half, -half, half, half)
    tracks = shoal.Tracks.from_arrays(tracks_of(wants, seed, chosen), arena=arena)
    start = time.perf_counter()
    space, moves = space_of(tracks, chosen), shoal.Steps(candidates=128)
    read = shoal.decisions(tracks, space, moves, progress=False)
    model = shoal.Model(space, moves, shoal.Smooth())
    fit: Any = model.fit(read, "laplace", draws=250, progress=False)
    took = time.perf_counter() - start
    angle, far, *_ = np.meshgrid(*[axis.centres for axis in space.axes], indexing="ij")
    truth = of_angle(angle, chosen) + of_distance(far, wants, chosen)
    q = fit.sampled.values.reshape(-1, *truth.shape)
    draws = without_levels(q[None], fit.lines, read.arrivals)[0]
    right = without_levels(truth[None, None], fit.lines, read.arrivals)[0, 0]
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    known = read.arrivals >= OFTEN
    found: dict[str, Any] = {
        "total": read.total,
        "bins": space.axes[1].size,
        "edge": space.axes[1].edges[-1],
        "beyond": np.mean(read.decided[:, 1] > space.axes[1].edges[-1]),
        "lost": read.dropped.get("neighbour_distance: undefined or outside its bins", 0),
        "inside": ((low <= right) & (right <= high))[known],
        "worst": np.abs(draws.mean(axis=0) - right)[known].max(initial=0.0),
        "sd": draws.std(axis=0)[known].mean() if known.any() else np.nan,
        "said": {one.key: one.claim for one in statements(fit) if one.supported},
        "took": took,
        "warned": fit.diagnostics(),
    }
    shown = preferences(fit, [(n,) for n in range(truth.ndim)])
    for name, (axis, one, other) in contrasts(space, read.arrivals).items():
        lines, values = along(q, axis, truth.ndim), along(truth, axis, truth.ndim)
        exact = float(values[one] - values[other])
        curve = shown[axis].draws
        for word, drawn in ((name, lines), (f"drawn: {name}", curve)):
            found[word] = told(drawn[:, one] - drawn[:, other], exact)
            found[word]["at"] = space.axes[axis].centres[one]
    return found


def report(wants: str, groups: list[dict[str, Any]], chosen: Any) -> None:
    """A table for all groups that want the same."""
    number = len(groups)

    def mean(name: str) -> float:
        return float(np.mean([one[name] for one in groups]))

    print(f"\n### {wants}, contrast {chosen.contrast:g}, align {chosen.align:g}\n")
    print("| contrast | at | truth | mean error | mean sd | rms z | held | said to be there |")
    print("|---|---|---|---|---|---|---|---|")
    for name in [key for key in groups[0] if " − " in key]:
        each = {key: np.array([one[name][key] for one in groups]) for key in groups[0][name]}
        at = f"{np.mean(np.abs(each['at'])):.2f}"
        print(
            f"| {name} | {at} | {each['truth'].mean():+.2f} | {each['error'].mean():+.2f} | "
            f"{each['sd'].mean():.2f} | {np.sqrt(np.mean(each['z'] ** 2)):.2f} | "
            f"{each['held'].sum()} of {number} | {each['there'].sum()} of {number} |"
        )
    every = np.concatenate([one["inside"] for one in groups])
    shares = np.array([one["inside"].mean() for one in groups if one["inside"].size])
    error = shares.std(ddof=1) / np.sqrt(shares.size) if shares.size > 1 else np.nan
    worst, sd = max(one["worst"] for one in groups), np.nanmean([one["sd"] for one in groups])
    doubted = sum(not one["warned"].trusted for one in groups)
    print(
        f"\nStates: {every.mean():.1%} ± {error:.1%} of {every.size} hold the truth, mean sd "
        f"{sd:.2f}, off by {worst:.2f} at most.\n"
        f"Decisions: {mean('total'):.0f} a group, {mean('beyond'):.1%} of them beyond the last "
        f"edge ({mean('edge'):.2f}; {mean('bins'):.1f} bins), {mean('lost'):.0f} left out since "
        f"too far. A fit took {mean('took'):.1f} s. Not trusted: {doubted}."
    )
    for key in sorted({key for one in groups for key in one["said"]}):
        claims = [one["said"][key] for one in groups if key in one["said"]]
        print(f"Said, {key}: {len(claims)} of {number}, such as “{claims[0]}”.")
    print(*sorted({words for one in groups for words in one["warned"].failures}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--wants", nargs="+", default=["attraction", "distance"])
    parser.add_argument("--contrast", type=float, default=3.0)
    parser.add_argument("--align", type=float, default=0.8)
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--side", type=float, default=6.0, help="of the periodic box")
    parser.add_argument("--bearing", action="store_true", help="a third feature, of no cost")
    parser.add_argument("--open", action="store_true")
    parser.add_argument("--last", type=float, default=0.0, help="where bins of the user end")
    parser.add_argument("--closed", action="store_true", help="the last bin is not open")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    keep_programs()
    for wants in chosen.wants:
        seeds = range(chosen.first, chosen.first + chosen.seeds)
        groups = [one_group(wants, seed, chosen) for seed in seeds]
        report(wants, groups, chosen)


if __name__ == "__main__":
    main()
